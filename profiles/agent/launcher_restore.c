/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finding what crashed runs left: journals below the run folder, the namespaces that they belong
 * to, and labs of dead owners. Putting back is the agent's (its session knows how and whether the
 * holder still lives): one is started in each namespace and asked to. Used by the launcher.
 */
#include "cleanup.h"
#include "lab.h"
#include "launcher_private.h"
#include "netns.h"
#include "protocol.h"
#include "spawn.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define RESTORE_MS 30000
#define WAIT_MS	   5000
#define LOOK_MS	   5

static const char *const LAYERS[] = {"sweep", "applied"}; /* the upper one first */

int launcher_agent_path(const char *override, char *buf, size_t size, struct err *e)
{
	if (override[0]) {
		snprintf(buf, size, "%s", override);
		return 0;
	}
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	if (n <= 0) {
		return err_set(e, errno, "cannot find this program: %s", strerror(errno));
	}
	buf[n] = 0;
	char *slash = strrchr(buf, '/');
	size_t at = slash ? (size_t)(slash + 1 - buf) : 0;
	snprintf(buf + at, size - at, "tunesweep-agent");
	if (access(buf, X_OK) < 0) { /* installed: bin/ and libexec/ are neighbours */
		snprintf(buf + at, size - at, "../libexec/tunesweep-agent");
	}
	return 0;
}

static bool has_journal(const char *dir, const char *layer)
{
	char path[600];
	snprintf(path, sizeof(path), "%s/%s.journal", dir, layer);
	return access(path, F_OK) == 0;
}

static bool any_journal(const char *dir)
{
	bool any = false;
	for (size_t i = 0; i < ARRAY_SIZE(LAYERS); i++) {
		any |= has_journal(dir, LAYERS[i]);
	}
	return any;
}

/* Opens a layer's lock file. The session writes there who holds it: {"pid", "pid_start", ...}. */
static int open_lock(const char *dir, const char *layer)
{
	char path[600];
	snprintf(path, sizeof(path), "%s/%s.lock", dir, layer);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_guardian(pid_t pid)
{
	char path[64], name[32] = "";
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	auto_fclose FILE *f = fopen(path, "re");
	return f && fgets(name, sizeof(name), f) && strcmp(name, "ts-guardian\n") == 0;
}

/* Held by a guardian whose agent is dead: it is putting back right now. */
static bool being_restored(const char *dir, const char *layer)
{
	char text[512];
	auto_close int fd = open_lock(dir, layer);
	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0) {
		return false;
	}
	ssize_t n = pread(fd, text, sizeof(text), 0);
	auto_json json_t *holder = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
	pid_t pid = (pid_t)json_integer_value(json_object_get(holder, "pid"));
	json_int_t start = json_integer_value(json_object_get(holder, "pid_start"));
	return pid > 0 && (process_start_time(pid) != (uint64_t)start || is_guardian(pid));
}

static void await_guardian(const char *dir, const char *layer)
{
	for (int waited = 0; waited < WAIT_MS && being_restored(dir, layer); waited += LOOK_MS) {
		poll(NULL, 0, LOOK_MS);
	}
}

/* A namespace that is gone took its values along. Its lock cannot be held, unless by somebody
 * whom this process does not see: then it is not gone. */
static void discard(const char *dir, const char *layer, json_t *report)
{
	char path[600];
	auto_close int fd = open_lock(dir, layer);
	if (!has_journal(dir, layer) || (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB))) {
		return;
	}
	snprintf(path, sizeof(path), "%s/%s.journal", dir, layer);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s.lock", dir, layer);
	unlink(path);
	rmdir(dir); /* fails while the other layer is there */
	json_array_append_new(
		report, json_pack("{s:s, s:s, s:[], s:s}", "netns", "", "layer", layer, "items",
				  "note", "the network namespace is gone, and its values with it"));
}

static int ask_agent(struct channel *c, json_t **answer, struct err *e)
{
	auto_json json_t *request = json_pack("{s:i, s:i, s:s}", "v", PROTOCOL_VERSION, "id", 1,
					      "op", "restore");
	int rc = channel_send(c, request, e);
	if (rc == 0) {
		rc = channel_recv(c, RESTORE_MS, answer, e);
	}
	return rc;
}

/* Adds {"netns", "layer", "items", "note"} for each layer that the agent tells of. */
static int take_report(const char *path, const json_t *answer, json_t *report, struct err *e)
{
	size_t i;
	json_t *layer;
	const json_t *layers = json_object_get(answer, "layers");
	json_array_foreach(layers, i, layer)
	{
		json_t *told = json_deep_copy(layer);
		json_object_set_new(told, "netns", json_string(path));
		json_array_append_new(report, told);
	}
	return protocol_result(answer, e);
}

static int restore_there(const char *run_dir, int netns_fd, const char *path, json_t *report,
			 struct err *e)
{
	char agent[4096];
	struct spawned a;
	struct channel c;
	auto_json json_t *answer = NULL;
	int rc = launcher_agent_path("", agent, sizeof(agent), e);
	if (rc) {
		return rc;
	}
	char *argv[] = {agent,		 (char *)"--run-dir",
			(char *)run_dir, (char *)"--netns-path",
			(char *)path,	 NULL};
	rc = spawn_program(argv, netns_fd, &a, e);
	if (rc) {
		return rc;
	}
	rc = channel_init(&c, a.out, a.in);
	if (rc == 0) {
		rc = ask_agent(&c, &answer, e);
	}
	channel_clear(&c);
	close(a.in);
	close(a.out);
	while (waitpid(a.pid, NULL, 0) < 0 && errno == EINTR) {
	}
	return rc ? rc : take_report(path, answer, report, e);
}

/* The namespace of a folder, whose name has the cookie: its descriptor, or -1 with *own or *gone.
 */
static int find_namespace(const char *dir, char *path, size_t size, bool *own, bool *gone,
			  struct err *e)
{
	uint64_t cookie = strtoull(strrchr(dir, '/') + strlen("/net-"), NULL, 10);
	path[0] = 0;
	*gone = false;
	*own = cookie == netns_cookie();
	int fd = *own ? -1 : netns_find(cookie, path, size);
	if (*own || fd >= 0) {
		return fd;
	}
	*gone = fd == -ESRCH;
	return *gone ? -1
		     : err_set(e, fd, "cannot look for the network namespace of %s: %s", dir,
			       strerror(-fd));
}

static int restore_dir(const char *run_dir, const char *name, json_t *report, struct err *e)
{
	char dir[512], path[128];
	bool own, gone;
	snprintf(dir, sizeof(dir), "%s/%s", run_dir, name);
	if (!any_journal(dir)) {
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(LAYERS); i++) {
		await_guardian(dir, LAYERS[i]);
	}
	auto_close int fd = find_namespace(dir, path, sizeof(path), &own, &gone, e);
	if (fd < 0 && !own && !gone) {
		return fd;
	}
	if (gone) {
		for (size_t i = 0; i < ARRAY_SIZE(LAYERS); i++) {
			discard(dir, LAYERS[i], report);
		}
		return 0;
	}
	if (strncmp(path, NETNS_DIR "/", strlen(NETNS_DIR) + 1) != 0) {
		path[0] = 0; /* found by a process: that is no name to keep */
	}
	return restore_there(run_dir, fd, path, report, e);
}

int launcher_restore_all(const char *run_dir, json_t *report, struct err *e)
{
	int worst = 0;
	DIR *d = opendir(run_dir);
	const struct dirent *entry;
	while (d && (entry = readdir(d))) {
		struct err why = {0};
		if (strncmp(entry->d_name, "net-", 4) != 0 ||
		    restore_dir(run_dir, entry->d_name, report, &why) == 0) {
			continue;
		}
		if (!worst || why.class == ERR_RESTORE) {
			*e = why;
			worst = why.code;
		}
	}
	if (d) {
		closedir(d);
	}
	lab_remove_dead(run_dir);
	return worst;
}

int launcher_find_applied(const char *run_dir, json_t *paths, struct err *e)
{
	int rc = 0;
	DIR *d = opendir(run_dir);
	const struct dirent *entry;
	while (d && rc == 0 && (entry = readdir(d))) {
		char dir[512], path[128];
		bool own, gone;
		snprintf(dir, sizeof(dir), "%s/%s", run_dir, entry->d_name);
		if (strncmp(entry->d_name, "net-", 4) != 0 || !has_journal(dir, "applied")) {
			continue;
		}
		auto_close int fd = find_namespace(dir, path, sizeof(path), &own, &gone, e);
		if (fd >= 0 || own) {
			json_array_append_new(paths, json_string(path));
		} else if (!gone) {
			rc = fd;
		}
	}
	if (d) {
		closedir(d);
	}
	return rc;
}
