/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who else sets what is tuned here: files that are loaded at boot or by hand (sysctl.d(5),
 * systemd.link(5)), and services that set things while they run. Called by the doctor's table and
 * by the agent for the start of a sweep.
 */
#include "doctor_private.h"
#include "tunable.h"
#include <dirent.h>

struct service {
	const char *comm;    /* as /proc/PID/comm has it: at most 15 bytes */
	const char *sets[4]; /* patterns of tunables; NULL-terminated */
	struct doctor_words words;
};

#define ON_START "it may set them again when it starts, is updated, or a device comes up"

static const struct service services[] = {
	{"irqbalance",
	 {"irq.affinity", NULL},
	 {"it moves interrupts every ten seconds",
	  "a sweep over irq.affinity pauses it; for the rest: systemctl stop irqbalance"}},
	{"tuned",
	 {"net.*", "vm.*", "cpu.*", NULL},
	 {"it sets what its profile names when it starts or changes, some of it at run time",
	  "tuned-adm off, or export the best profile with --format tuned"}},
	{"NetworkManager",
	 {"link.mtu", "nic.features.*", "nic.rings.*", NULL},
	 {ON_START, "put them into the connection (ethtool.*, 802-3-ethernet.mtu)"}},
	{"systemd-network",
	 {"link.*", "nic.*", NULL},
	 {ON_START, "put them into a .link or .network file (export --format link)"}},
	{"dockerd", {"net.ipv4.ip_forward", "net.ipv4.conf.*", NULL}, {ON_START, "expect it"}},
	{"containerd", {"net.ipv4.conf.*", NULL}, {ON_START, "expect it"}},
	{"crio", {"net.ipv4.ip_forward", "net.ipv4.conf.*", NULL}, {ON_START, "expect it"}},
	{"kubelet",
	 {"vm.*", "kernel.*", "net.ipv4.conf.*", NULL},
	 {ON_START, "expect it (--protect-kernel-defaults makes it refuse instead)"}},
	{"kube-proxy", {"net.netfilter.*", NULL}, {ON_START, "set it in its configuration"}},
	{"power-profiles-", {"cpu.*", NULL}, {ON_START, "powerprofilesctl set performance"}},
	{"thermald", {"cpu.*", NULL}, {"it brings the clock down when it gets hot", "expect it"}},
	{"numad",
	 {"numa.*", "kernel.numa_balancing", NULL},
	 {"it moves processes and their memory between nodes", "systemctl stop numad"}},
};

/* A file below the root prefix that is neither in /proc nor in /sys; read only. */
static FILE *open_file(const struct sysroot *root, const char *path)
{
	char full[PATH_MAX];
	snprintf(full, sizeof(full), "%s%s", root->prefix, path);
	return fopen(full, "re");
}

/* "who" with one more name; the same name twice is one. */
static void add(json_t *list, const char *who, const char *set)
{
	json_t *one, *found = NULL, *name;
	size_t i;
	json_array_foreach(list, i, one)
	{
		if (!strcmp(json_string_value(json_object_get(one, "who")), who)) {
			found = json_object_get(one, "sets");
		}
	}
	if (!found) {
		found = json_array();
		json_array_append_new(list, json_pack("{s:s, s:o}", "who", who, "sets", found));
	}
	json_array_foreach(found, i, name)
	{
		if (!strcmp(json_string_value(name), set)) {
			return;
		}
	}
	json_array_append_new(found, json_string(set));
}

/* "key = value", "-key = value" (errors are ignored); '#' and ';' begin comments. A key that is no
 * tunable of ours is nobody's business. */
static void read_sysctl_file(const struct sysroot *root, const char *path, json_t *list)
{
	char line[512];
	auto_fclose FILE *f = open_file(root, path);
	while (f && fgets(line, sizeof(line), f)) {
		struct setting s;
		char *key = line + strspn(line, " \t-"), *end = key + strcspn(key, " \t=\n");
		if (*key == '#' || *key == ';' || !*key || !strchr(line, '=')) {
			continue;
		}
		*end = '\0';
		if (strncmp(key, "net", 3) && strncmp(key, "vm", 2) && strncmp(key, "kernel", 6)) {
			continue;
		}
		if (!tunable_resolve(key, "", "", &s, NULL)) {
			add(list, path, s.name);
		} else if (strchr(key, '*')) {
			add(list, path, key); /* a pattern: told as it is written */
		}
	}
}

struct link_word {
	const char *key, *sets;
};

static void read_link_file(const struct sysroot *root, const char *path, json_t *list)
{
	static const struct link_word words[] = {
		{"MTUBytes", "link.mtu"},
		{"TransmitQueueLength", "link.txqueuelen"},
		{"GenericSegmentOffloadMaxBytes", "link.gso_max_size"},
		{"GenericSegmentOffloadMaxSegments", "link.gso_max_segs"},
		{"RxChannels", "nic.channels.rx"},
		{"TxChannels", "nic.channels.tx"},
		{"CombinedChannels", "nic.channels.combined"},
		{"RxBufferSize", "nic.rings.rx"},
		{"TxBufferSize", "nic.rings.tx"},
		{"RxFlowControl", "nic.pause.rx"},
		{"TxFlowControl", "nic.pause.tx"},
		{"RxCoalesceSec", "nic.coalesce.rx_usecs"},
		{"UseAdaptiveRxCoalesce", "nic.coalesce.adaptive_rx"},
		{"TCPSegmentationOffload", "nic.features.tso"},
		{"GenericSegmentationOffload", "nic.features.gso"},
		{"GenericReceiveOffload", "nic.features.gro"},
		{"LargeReceiveOffload", "nic.features.lro"},
	};
	char line[512];
	auto_fclose FILE *f = open_file(root, path);
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, " \t=\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			if (!strcmp(line, words[i].key)) {
				add(list, path, words[i].sets);
			}
		}
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void read_folder(const struct sysroot *root, const char *folder, const char *ending,
			void (*read_file)(const struct sysroot *, const char *, json_t *),
			json_t *list)
{
	enum { FILES_MAX = 128 };
	char full[PATH_MAX], path[PATH_MAX];
	auto_free char(*names)[256] = calloc(FILES_MAX, sizeof(*names));
	size_t n = 0, length, tail = strlen(ending);
	snprintf(full, sizeof(full), "%s%s", root->prefix, folder);
	DIR *dir = names ? opendir(full) : NULL;
	for (struct dirent *f = dir ? readdir(dir) : NULL; f && n < FILES_MAX; f = readdir(dir)) {
		length = strlen(f->d_name);
		if (f->d_name[0] != '.' && length > tail &&
		    !strcmp(f->d_name + length - tail, ending)) {
			strcpy(names[n++], f->d_name);
		}
	}
	if (dir) {
		closedir(dir);
	}
	if (n) {
		qsort(names, n, sizeof(*names), by_text);
	}
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		read_file(root, path, list);
	}
}

/* Ends of the lists of sysctl.d(5) and systemd.link(5). */
static void read_files(const struct sysroot *root, json_t *list)
{
	static const char *const tops[] = {"/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"};
	char folder[64], first[PATH_MAX], second[PATH_MAX], full[64];
	snprintf(full, sizeof(full), "%.40s/usr/lib", root->prefix);
	for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
		if (!strcmp(tops[i], "/lib")) { /* mostly a link to /usr/lib: not told twice */
			snprintf(first, sizeof(first), "%s/lib", root->prefix);
			snprintf(second, sizeof(second), "%s/usr/lib", root->prefix);
			auto_free char *a = realpath(first, NULL), *b = realpath(second, NULL);
			if (!a || (b && !strcmp(a, b))) {
				continue;
			}
		}
		snprintf(folder, sizeof(folder), "%s/sysctl.d", tops[i]);
		read_folder(root, folder, ".conf", read_sysctl_file, list);
		snprintf(folder, sizeof(folder), "%s/systemd/network", tops[i]);
		read_folder(root, folder, ".link", read_link_file, list);
	}
	read_sysctl_file(root, "/etc/sysctl.conf", list);
}

/* The first process of a service; false if it does not run. */
static bool find_service(const struct sysroot *root, const struct service *s, char *who,
			 size_t size)
{
	char pid[1][64];
	if (sysfile_find(root, "/proc/", "comm", s->comm, pid, 1) < 1) {
		return false;
	}
	snprintf(who, size, "%s (pid %s)", s->comm, pid[0]);
	return true;
}

json_t *doctor_owners(const struct sysroot *root)
{
	json_t *list = json_array();
	char who[128];
	read_files(root, list);
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		if (!find_service(root, &services[i], who, sizeof(who))) {
			continue;
		}
		for (const char *const *set = services[i].sets; *set; set++) {
			add(list, who, *set);
		}
	}
	return list;
}

static struct doctor_words words_for(const char *who)
{
	struct doctor_words w = {"a boot, or `sysctl --system`, sets them again over an applied "
				 "profile",
				 "take them out there, or export the best profile as a later file"};
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		size_t n = strlen(services[i].comm);
		if (!strncmp(who, services[i].comm, n) && who[n] == ' ') {
			w = services[i].words;
		}
	}
	return w;
}

void check_owners(struct doctor *d)
{
	auto_json json_t *list = doctor_owners(d->root);
	json_t *one, *set;
	size_t i, k;
	json_array_foreach(list, i, one)
	{
		char sets[200] = "";
		size_t used = 0;
		const char *who = json_string_value(json_object_get(one, "who"));
		json_array_foreach(json_object_get(one, "sets"), k, set)
		{
			if (used < sizeof(sets)) {
				used += (size_t)snprintf(sets + used, sizeof(sets) - used, "%s%s",
							 k ? ", " : "", json_string_value(set));
			}
		}
		if (used >= sizeof(sets)) {
			strcpy(sets + sizeof(sets) - 5, " ...");
		}
		doctor_tell(d, "note", words_for(who), "%s sets %s", who, sets);
	}
}
