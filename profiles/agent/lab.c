/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes and removes the lab: its namespaces, the process that holds the link's own namespace, and
 * the note by which a later run finds what a dead one left. What lies inside the namespaces is
 * lab_net.c's and link.c's. Called by the launcher.
 */
#include "lab.h"
#include "cleanup.h"
#include "link.h"
#include "netns.h"
#include "privilege.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SET_UP_MS 10000

struct link_answer { /* what the link's process says when it is ready, by a pipe */
	int rc;
	char emulator[16];
	char text[768];
};

static const char *const ADDRESSES[2][3] = {
	/* RFC 2544 and RFC 3849: ranges for benchmarks and for documentation */
	{"198.18.0.1/30", "2001:db8::1/64", NULL},
	{"198.18.0.2/30", "2001:db8::2/64", NULL},
};

static void note_path(const char *run_dir, pid_t owner, char *buf, size_t size)
{
	snprintf(buf, size, "%s/lab-%d", run_dir, (int)owner);
}

static int write_note(const char *run_dir, pid_t owner, struct err *e)
{
	char path[300];
	note_path(run_dir, owner, path, sizeof(path));
	if (mkdir(run_dir, 0755) && errno != EEXIST) {
		return err_set(e, errno, "cannot make %s: %s", run_dir, strerror(errno));
	}
	auto_fclose FILE *f = fopen(path, "we");
	if (!f || fprintf(f, "%llu\n", (unsigned long long)process_start_time(owner)) < 0 ||
	    fflush(f)) {
		return err_set(e, errno, "cannot write %s: %s", path, strerror(errno));
	}
	return 0;
}

static void end_name(pid_t owner, int end, char *buf, size_t size)
{
	snprintf(buf, size, "ts-%d-%c", (int)owner, 'a' + end);
}

static void silence_ipv6(void)
{
	static const char *const PATHS[] = {"/proc/sys/net/ipv6/conf/all/disable_ipv6",
					    "/proc/sys/net/ipv6/conf/default/disable_ipv6"};
	for (size_t i = 0; i < ARRAY_SIZE(PATHS); i++) {
		auto_close int fd = open(PATHS[i], O_WRONLY | O_CLOEXEC);
		if (fd >= 0 && write(fd, "1", 1) != 1) {
			continue; /* noise on the line, no harm */
		}
	}
}

/* In the link's process: its namespace, the ports, netem or the sockets of the user-space link. */
static int link_set_up(const struct lab_link *link, const int netns[2], int port[2], char *emulator,
		       struct err *e)
{
	if (unshare(CLONE_NEWNET)) {
		return err_set(e, errno, "lab: a network namespace is refused: %s",
			       strerror(errno));
	}
	silence_ipv6();
	int rc = lab_net_ports(netns, e);
	if (rc) {
		return rc;
	}
	port[0] = port[1] = -1;
	strcpy(emulator, "netem");
	if (lab_net_netem(link, e) == 0) {
		return 0;
	}
	strcpy(emulator, "user-space");
	for (int i = 0; i < 2; i++) {
		port[i] = link_open_port(i ? "port1" : "port0", e);
		if (port[i] < 0) {
			return port[i];
		}
	}
	return 0;
}

/* Only the ports, the answer's pipe and standard error stay open: no agent's pipe, no lock. */
static void keep_only(int port[2], int *answer)
{
	int want[3] = {*answer, port[0], port[1]};
	for (int i = 0; i < 3; i++) { /* first above what is to be overwritten */
		want[i] = want[i] < 0 ? -1 : fcntl(want[i], F_DUPFD_CLOEXEC, 16);
	}
	for (int i = 0; i < 3; i++) {
		if (want[i] >= 0) {
			dup3(want[i], 3 + i, O_CLOEXEC);
		}
	}
	*answer = 3;
	port[0] = want[1] < 0 ? -1 : 4;
	port[1] = want[2] < 0 ? -1 : 5;
	close_range(want[1] < 0 ? 4 : 6, ~0u, 0);
}

static void tell_launcher(int fd, int rc, const char *emulator, const struct err *e)
{
	struct link_answer a = {.rc = rc};
	snprintf(a.emulator, sizeof(a.emulator), "%s", emulator);
	snprintf(a.text, sizeof(a.text), "%s", rc ? e->text : "");
	if (write(fd, &a, sizeof(a)) != sizeof(a)) {
		_exit(1);
	}
	close(fd);
}

/* The link's process. Never returns. */
static void link_process(const struct lab_link *link, const int netns[2], int answer, pid_t parent,
			 struct link_counters *counters)
{
	struct err e = {0};
	char emulator[16] = "";
	int port[2] = {-1, -1};
	prctl(PR_SET_NAME, "ts-link");
	setpriority(PRIO_PROCESS, 0, -10); /* a late line would be measured as a worse one */
	int rc = link_set_up(link, netns, port, emulator, &e);
	if (rc == 0) {
		keep_only(port, &answer);
		rc = privilege_become_nobody(parent, &e);
	}
	tell_launcher(answer, rc, emulator, &e);
	if (rc) {
		_exit(1);
	}
	if (port[0] >= 0) {
		link_forward(port, link, counters, &e);
		_exit(1);
	}
	for (;;) {
		pause();
	}
}

static int await_link(int fd, struct lab *lab, struct err *e)
{
	struct link_answer a = {0};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (poll(&p, 1, SET_UP_MS) != 1 || read(fd, &a, sizeof(a)) != sizeof(a)) {
		return err_set(e, -EIO, "lab: the link's process did not start");
	}
	if (a.rc) {
		return err_set(e, a.rc, "%s", a.text);
	}
	snprintf(lab->info.emulator, sizeof(lab->info.emulator), "%s", a.emulator);
	lab->info.link_pid = strcmp(a.emulator, "user-space") == 0 ? lab->holder : 0;
	return 0;
}

static int start_link(struct lab *lab, const struct lab_link *link, const int netns[2],
		      struct err *e)
{
	int p[2];
	pid_t parent = getpid();
	lab->counters = mmap(NULL, 2 * sizeof(*lab->counters), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lab->counters == MAP_FAILED || pipe2(p, O_CLOEXEC)) {
		lab->counters = lab->counters == MAP_FAILED ? NULL : lab->counters;
		return err_set(e, errno, "lab: %s", strerror(errno));
	}
	lab->holder = fork();
	if (lab->holder == 0) {
		link_process(link, netns, p[1], parent, lab->counters);
	}
	close(p[1]);
	auto_close int answer = p[0];
	if (lab->holder < 0) {
		return err_set(e, errno, "lab: fork: %s", strerror(errno));
	}
	return await_link(answer, lab, e);
}

/* In a child: the launcher stays in its own namespace. The child's sentence comes by a pipe. */
static int set_up_end(int netns, const char *const addresses[], struct err *e)
{
	int p[2];
	if (pipe2(p, O_CLOEXEC)) {
		return err_set(e, errno, "lab: %s", strerror(errno));
	}
	auto_close int from = p[0];
	pid_t pid = fork();
	if (pid == 0) {
		struct err why = {0};
		int rc = setns(netns, CLONE_NEWNET) ? err_set(&why, errno, "lab: setns refused")
						    : lab_net_end(addresses, &why);
		_exit(rc && write(p[1], why.text, strlen(why.text)) >= 0);
	}
	close(p[1]);
	char text[400] = "";
	ssize_t n = read(from, text, sizeof(text) - 1);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
	return pid < 0 || n != 0 ? err_set(e, -EIO, "%s", n > 0 ? text : "lab: fork failed") : 0;
}

static int build(struct lab *lab, const struct lab_link *link, struct err *e)
{
	auto_close int a = -1;
	auto_close int b = -1;
	for (int i = 0; i < 2; i++) {
		struct lab_info *info = &lab->info;
		snprintf(info->address[i], sizeof(info->address[i]), "%.*s",
			 (int)strcspn(ADDRESSES[i][0], "/"), ADDRESSES[i][0]);
		strcpy(info->device[i], "eth0");
		int rc = netns_create(info->netns[i], e);
		if (rc) {
			return rc;
		}
	}
	a = netns_open(lab->info.netns[0], e);
	b = a < 0 ? -1 : netns_open(lab->info.netns[1], e);
	if (b < 0) {
		return -EIO;
	}
	int rc = start_link(lab, link, (int[]){a, b}, e);
	if (rc == 0) {
		rc = set_up_end(a, ADDRESSES[0], e);
	}
	return rc == 0 ? set_up_end(b, ADDRESSES[1], e) : rc;
}

int lab_create(struct lab *lab, pid_t owner, const char *run_dir, const struct lab_link *link,
	       struct err *e)
{
	*lab = (struct lab){0};
	if (geteuid() != 0) {
		return err_set(e, -EPERM, "the lab makes network namespaces: that wants root");
	}
	lab->owner = owner;
	for (int i = 0; i < 2; i++) {
		end_name(owner, i, lab->info.netns[i], sizeof(lab->info.netns[i]));
		netns_remove(lab->info.netns[i]); /* of a dead process with our number */
	}
	int rc = write_note(run_dir, owner, e);
	if (rc == 0) {
		rc = build(lab, link, e);
	}
	if (rc) {
		lab_destroy(lab, run_dir);
	}
	return rc;
}

static void remove_names(const char *run_dir, pid_t owner)
{
	char path[300], name[64];
	for (int i = 0; i < 2; i++) {
		end_name(owner, i, name, sizeof(name));
		netns_remove(name);
	}
	note_path(run_dir, owner, path, sizeof(path));
	unlink(path);
}

void lab_destroy(struct lab *lab, const char *run_dir)
{
	if (lab->holder > 0) {
		kill(lab->holder, SIGKILL);
		while (waitpid(lab->holder, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	if (lab->counters) {
		munmap(lab->counters, 2 * sizeof(*lab->counters));
	}
	if (lab->owner) {
		remove_names(run_dir, lab->owner);
	}
	*lab = (struct lab){0};
}

/* A note without a start time is of somebody who was killed while writing it. */
static bool owner_is_dead(const char *run_dir, pid_t owner)
{
	char path[300];
	unsigned long long start = 0;
	uint64_t now = process_start_time(owner);
	note_path(run_dir, owner, path, sizeof(path));
	auto_fclose FILE *f = fopen(path, "re");
	if (now == 0) {
		return true;
	}
	return f && fscanf(f, "%llu", &start) == 1 && start != now;
}

/* Every name in a folder that looks like ours: "lab-PID" or "ts-PID-a". */
static int remove_dead_in(const char *folder, const char *format, const char *run_dir)
{
	int removed = 0;
	DIR *d = opendir(folder);
	const struct dirent *entry;
	while (d && (entry = readdir(d))) {
		int pid = 0;
		if (sscanf(entry->d_name, format, &pid) == 1 && pid > 0 &&
		    owner_is_dead(run_dir, (pid_t)pid)) {
			remove_names(run_dir, (pid_t)pid);
			removed++;
		}
	}
	if (d) {
		closedir(d);
	}
	return removed;
}

int lab_remove_dead(const char *run_dir)
{
	int removed = remove_dead_in(run_dir, "lab-%d", run_dir);
	return removed + remove_dead_in(NETNS_DIR, "ts-%d-", run_dir);
}
