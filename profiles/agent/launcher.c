/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The main process's side of the launcher: forks it, asks it, ends it, and gives up the main
 * process's own privileges. What is asked is done in launcher_serve.c.
 */
#include "launcher.h"
#include "cleanup.h"
#include "launcher_private.h"
#include "privilege.h"
#include "protocol.h"
#include "push.h"
#include "spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define START_MS   30000 /* a transport such as ssh may take its time only after exec */
#define LAB_MS	   20000
#define RESTORE_MS 120000

struct launcher {
	int sock;
	pid_t pid;
	pid_t link_pid;
	json_int_t id;	      /* of the last request */
	pthread_mutex_t busy; /* one request at a time, whichever thread asks */
};

/* Never returns. It keeps standard error alone: not the main process's pipes, so that nobody waits
 * for their end because of it. */
static void launcher_process(int sock, pid_t owner)
{
	setpgid(0, 0);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "ts-launcher");
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 0);
	dup2(null, 1);
	int kept = fcntl(sock, F_DUPFD_CLOEXEC, 16);
	dup3(kept, 3, O_CLOEXEC);
	close_range(4, ~0u, 0);
	launcher_serve(3, owner);
	_exit(0);
}

int launcher_start(struct launcher **out, struct err *e)
{
	int pair[2];
	pid_t owner = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		return err_set(e, errno, "cannot make a socket: %s", strerror(errno));
	}
	struct launcher *l = calloc(1, sizeof(*l));
	pid_t pid = l ? fork() : -1;
	if (pid == 0) {
		launcher_process(pair[1], owner);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		free(l);
		return err_set(e, errno, "cannot start the launcher: %s", strerror(errno));
	}
	signal(SIGPIPE, SIG_IGN); /* a dead agent is an error that is told, not our end */
	*l = (struct launcher){.sock = pair[0], .pid = pid};
	pthread_mutex_init(&l->busy, NULL);
	*out = l;
	return 0;
}

/* The answer to request id; one that comes too late for its own request is dropped. */
static int await_answer(struct launcher *l, int timeout_ms, json_t **answer, int fds[2],
			struct err *e)
{
	for (;;) {
		int rc = wire_recv(l->sock, timeout_ms, answer, fds, e);
		if (rc || json_integer_value(json_object_get(*answer, "id")) == l->id) {
			return rc;
		}
		json_decref(*answer);
		for (int i = 0; i < 2; i++) {
			cleanup_close(&fds[i]);
		}
	}
}

/* One request and its answer; the caller owns the answer and the descriptors. */
static int ask(struct launcher *l, json_t *request, int timeout_ms, json_t **answer, int fds[2],
	       struct err *e)
{
	auto_json json_t *mine = request;
	fds[0] = fds[1] = -1;
	*answer = NULL;
	pthread_mutex_lock(&l->busy);
	if (!request || json_object_set_new(request, "id", json_integer(++l->id))) {
		pthread_mutex_unlock(&l->busy);
		return err_set(e, -EINVAL, "a name that is not UTF-8 cannot be passed on");
	}
	int rc = wire_send(l->sock, mine, NULL, 0, e);
	if (rc == 0) {
		rc = await_answer(l, timeout_ms, answer, fds, e);
	}
	pthread_mutex_unlock(&l->busy);
	return rc == 0 ? protocol_result(*answer, e) : rc;
}

static json_t *json_argv(char *const argv[])
{
	json_t *list = json_array();
	for (size_t i = 0; argv && argv[i]; i++) {
		if (json_array_append_new(list, json_string(argv[i]))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static int start_program(struct launcher *l, json_t *request, int *in, int *out, pid_t *pid,
			 struct err *e)
{
	auto_json json_t *answer = NULL;
	int fds[2];
	int rc = ask(l, request, START_MS, &answer, fds, e);
	auto_close int to = fds[0];
	auto_close int from = fds[1];
	if (rc) {
		return rc;
	}
	if (to < 0 || from < 0) {
		return err_set(e, -EBADMSG, "the launcher sent no pipes");
	}
	*pid = (pid_t)json_integer_value(json_object_get(answer, "pid"));
	*in = take_fd(to);
	*out = take_fd(from);
	return 0;
}

int launcher_open_agent(struct launcher *l, const struct host_via *via, int *in, int *out,
			pid_t *pid, struct err *e)
{
	json_t *argv = json_argv(via->kind == VIA_COMMAND ? via->argv : NULL);
	bool push = via->kind == VIA_COMMAND && via->push;
	json_t *request = json_pack("{s:s, s:i, s:i, s:s, s:o, s:s, s:b}", "op", "agent", "kind",
				    (int)via->kind, "end", via->lab_end, "netns", via->netns,
				    "argv", argv, "agent", via->agent, "push", push);
	int rc = start_program(l, request, in, out, pid, e);
	if (rc || !push) {
		return rc;
	}
	rc = agent_push(*in, *out, e);
	if (rc) {
		close(*in);
		close(*out);
		*in = *out = -1;
	}
	return rc;
}

int launcher_spawn(struct launcher *l, char *const argv[], int *in, int *out, pid_t *pid,
		   struct err *e)
{
	json_t *request = json_pack("{s:s, s:o}", "op", "spawn", "argv", json_argv(argv));
	return start_program(l, request, in, out, pid, e);
}

static int ask_plain(struct launcher *l, json_t *request, int timeout_ms, struct err *e)
{
	auto_json json_t *answer = NULL;
	int fds[2];
	return ask(l, request, timeout_ms, &answer, fds, e);
}

int launcher_kill(struct launcher *l, pid_t pid, struct err *e)
{
	return ask_plain(l, json_pack("{s:s, s:i}", "op", "kill", "pid", (int)pid), START_MS, e);
}

int launcher_lab_create(struct launcher *l, const struct lab_link *link, struct lab_info *out,
			struct err *e)
{
	auto_json json_t *answer = NULL;
	int fds[2], pid = 0;
	const char *text[7];
	json_t *request = json_pack("{s:s, s:f, s:f, s:I, s:f}", "op", "lab", "delay",
				    link->delay_s, "rate", link->rate_bps, "queue",
				    (json_int_t)link->queue_bytes, "loss", link->loss);
	int rc = ask(l, request, LAB_MS, &answer, fds, e);
	if (rc) {
		return rc;
	}
	if (json_unpack(answer, "{s:[ss], s:[ss], s:[ss], s:s, s:i}", "netns", &text[0], &text[1],
			"address", &text[2], &text[3], "device", &text[4], &text[5], "emulator",
			&text[6], "link_pid", &pid)) {
		return err_set(e, -EBADMSG, "the launcher's answer is not understood");
	}
	*out = (struct lab_info){.link_pid = pid};
	for (int i = 0; i < 2; i++) {
		snprintf(out->netns[i], sizeof(out->netns[i]), "%s", text[i]);
		snprintf(out->address[i], sizeof(out->address[i]), "%s", text[2 + i]);
		snprintf(out->device[i], sizeof(out->device[i]), "%s", text[4 + i]);
	}
	snprintf(out->emulator, sizeof(out->emulator), "%s", text[6]);
	l->link_pid = pid;
	return 0;
}

int launcher_lab_destroy(struct launcher *l, struct err *e)
{
	l->link_pid = 0;
	return ask_plain(l, json_pack("{s:s}", "op", "unlab"), LAB_MS, e);
}

int launcher_lab_counters(struct launcher *l, json_t **out, struct err *e)
{
	auto_json json_t *answer = NULL;
	int fds[2];
	int rc = ask(l, json_pack("{s:s}", "op", "counters"), START_MS, &answer, fds, e);
	if (rc == 0) {
		*out = json_incref(json_object_get(answer, "ways"));
	}
	return rc;
}

double launcher_lab_cpu_seconds(struct launcher *l)
{
	clockid_t clock;
	struct timespec t;
	if (!l->link_pid || clock_getcpuclockid(l->link_pid, &clock) || clock_gettime(clock, &t)) {
		return 0;
	}
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int launcher_restore(struct launcher *l, json_t **report, struct err *e)
{
	auto_json json_t *answer = NULL;
	int fds[2];
	if (report) {
		*report = NULL;
	}
	int rc = ask(l, json_pack("{s:s}", "op", "restore"), RESTORE_MS, &answer, fds, e);
	json_t *list = json_object_get(answer, "report");
	if (report && json_array_size(list)) {
		*report = json_incref(list);
	}
	return rc;
}

int launcher_applied(struct launcher *l, json_t **paths, struct err *e)
{
	auto_json json_t *answer = NULL;
	int fds[2];
	int rc = ask(l, json_pack("{s:s}", "op", "applied"), START_MS, &answer, fds, e);
	*paths = rc ? NULL : json_incref(json_object_get(answer, "paths"));
	return rc;
}

void launcher_stop(struct launcher *l)
{
	if (!l) {
		return;
	}
	close(l->sock);
	auto_close int pidfd = (int)syscall(SYS_pidfd_open, l->pid, 0);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	while (poll(&p, 1, LAUNCHER_LINGER_MS + 5000) < 0 && errno == EINTR) {
	}
	waitpid(l->pid, NULL, WNOHANG);
	free(l);
}

/* Read-only for this process, with everything mounted below; /proc/sys is no mount of its own. */
static int protect(const char *path, struct err *e)
{
	struct mount_attr ro = {.attr_set = MOUNT_ATTR_RDONLY};
	if (mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &ro, sizeof(ro)) == 0) {
		return 0;
	}
	return err_set(e, errno, "cannot make %s read-only for the controller: %s", path,
		       strerror(errno));
}

static int protect_kernel_settings(struct err *e)
{
	static const char *const TOUCHED[] = {"/proc", "/sys", NULL};
	int rc = spawn_isolate_mounts(TOUCHED);
	if (rc) {
		return err_set(e, rc, "cannot make a mount namespace: %s", strerror(-rc));
	}
	if (mount("/proc/sys", "/proc/sys", "none", MS_BIND | MS_REC, NULL)) {
		return err_set(e, errno, "cannot bind /proc/sys: %s", strerror(errno));
	}
	rc = protect("/proc/sys", e);
	return rc ? rc : protect("/sys", e);
}

int launcher_drop_privileges(struct err *e)
{
	/* An ordinary user has nothing to drop but what files could give. */
	int rc = geteuid() == 0 ? protect_kernel_settings(e) : 0;
	return rc ? rc : privilege_keep(NULL, 0, e);
}
