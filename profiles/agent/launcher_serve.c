/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The launcher's own process: a table of requests, the list of what it started, and the end. When
 * the main process is gone, however it went, its ends of the agents' pipes are closed and the
 * agents put everything back by themselves; this process waits for them and removes the lab.
 */
#include "cleanup.h"
#include "clock_ms.h"
#include "lab.h"
#include "launcher_private.h"
#include "netns.h"
#include "protocol.h"
#include "push.h"
#include "run_dir.h"
#include "spawn.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#define CHILDREN_MAX 256
#define ARGV_MAX     256
#define LOOK_MS	     100
#define AGENT_FOLDERS                                                                              \
	"/usr/local/libexec:/usr/libexec:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/"      \
	"sbin:/bin"

struct child {
	pid_t pid;
	bool agent;
};

struct server {
	pid_t owner;
	char run_dir[256];
	bool has_lab;
	bool in_user_namespace; /* from then on lab hosts alone can be reached */
	struct lab lab;
	size_t n;
	struct child child[CHILDREN_MAX];
	int reply_fds[2]; /* to send along with the answer, then closed here */
};

typedef int handler(struct server *s, json_t *request, json_t *answer, struct err *e);

static void reap(struct server *s)
{
	for (size_t i = 0; i < s->n;) {
		if (waitpid(s->child[i].pid, NULL, WNOHANG) == s->child[i].pid) {
			s->child[i] = s->child[--s->n];
		} else {
			i++;
		}
	}
}

static int start(struct server *s, char *const argv[], int netns_fd, bool agent, json_t *answer,
		 struct err *e)
{
	struct spawned new;
	if (s->n == CHILDREN_MAX) {
		return err_set(e, -EAGAIN, "more than %d programs at once", CHILDREN_MAX);
	}
	int rc = spawn_program(argv, netns_fd, &new, e);
	if (rc) {
		return rc;
	}
	s->child[s->n++] = (struct child){.pid = new.pid, .agent = agent};
	s->reply_fds[0] = new.in;
	s->reply_fds[1] = new.out;
	json_object_set_new(answer, "pid", json_integer(new.pid));
	return 0;
}

/* Borrowed strings of a JSON array; returns how many, or -errno. */
static int take_argv(const json_t *list, char *argv[ARGV_MAX], struct err *e)
{
	size_t n = json_array_size(list);
	if (n == 0 || n > ARGV_MAX - 2) {
		return err_set(e, -EINVAL, "a command of %zu words cannot be started", n);
	}
	for (size_t i = 0; i < n; i++) {
		argv[i] = (char *)json_string_value(json_array_get(list, i));
		if (!argv[i]) {
			return err_set(e, -EINVAL, "a command with a word that is no text");
		}
	}
	argv[n] = NULL;
	return (int)n;
}

static int do_spawn(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	char *argv[ARGV_MAX];
	int n = take_argv(json_object_get(request, "argv"), argv, e);
	return n < 0 ? n : start(s, argv, -1, false, answer, e);
}

static int start_in_netns(struct server *s, const char *name, char *agent, json_t *answer,
			  struct err *e)
{
	char path[128];
	auto_close int fd = netns_open(name, e);
	if (fd < 0) {
		return fd;
	}
	snprintf(path, sizeof(path), "%s/%s", NETNS_DIR, name);
	char option[] = "--netns-path";
	char *argv[] = {agent, option, path, NULL};
	return start(s, argv, fd, true, answer, e);
}

/* What a transport is to start. Words without blanks and special characters, since ssh joins them
 * for a shell and others do not: env looks for the agent along a path, here and there. */
static int start_through(struct server *s, const json_t *words, char *agent, bool own_path,
			 bool push, json_t *answer, struct err *e)
{
	char *argv[ARGV_MAX], path[4096 + 128];
	int n = take_argv(words, argv, e);
	if (n < 0 || n > ARGV_MAX - 4) {
		return n < 0 ? n : err_set(e, -EINVAL, "a command of %d words is too long", n);
	}
	if (push) {
		argv[n++] = (char *)PUSH_SHELL;
	} else if (own_path) {
		argv[n++] = agent;
	} else {
		snprintf(path, sizeof(path), "PATH=%.*s:%s", (int)(strrchr(agent, '/') - agent),
			 agent, AGENT_FOLDERS);
		argv[n++] = (char *)"env";
		argv[n++] = path;
		argv[n++] = (char *)"tunesweep-agent";
	}
	argv[n] = NULL;
	return start(s, argv, -1, true, answer, e);
}

static int do_agent(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	int kind, end, push;
	const char *netns, *override;
	char agent[4096];
	json_t *words;
	if (json_unpack(request, "{s:i, s:i, s:s, s:o, s:s, s:b}", "kind", &kind, "end", &end,
			"netns", &netns, "argv", &words, "agent", &override, "push", &push)) {
		return err_set(e, -EINVAL, "a request that the launcher does not understand");
	}
	int rc = launcher_agent_path(override, agent, sizeof(agent), e);
	if (rc) {
		return rc;
	}
	if (kind == VIA_LAB) {
		if (!s->has_lab || end < 0 || end > 1) {
			return err_set(e, -ENOENT, "there is no lab");
		}
		return start_in_netns(s, s->lab.info.netns[end], agent, answer, e);
	}
	if (s->in_user_namespace) {
		return err_set(e, -EPERM,
			       "beside a lab without root there can be no other hosts than the "
			       "lab's");
	}
	if (kind == VIA_NETNS) {
		return start_in_netns(s, netns, agent, answer, e);
	}
	if (kind == VIA_COMMAND) {
		return start_through(s, words, agent, override[0] != 0, push, answer, e);
	}
	char *local[] = {agent, NULL};
	return start(s, local, -1, true, answer, e);
}

/* Only what was started here and is still ours: a number may belong to somebody else by now. */
static int do_kill(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	(void)answer;
	json_int_t pid = json_integer_value(json_object_get(request, "pid"));
	reap(s);
	for (size_t i = 0; i < s->n; i++) {
		if (s->child[i].pid == pid) {
			kill((pid_t)-pid, SIGKILL);
			return 0;
		}
	}
	return err_set(e, -ESRCH, "process %d has left already", (int)pid);
}

static int do_lab(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	struct lab_link link;
	json_int_t queue;
	bool was_user = geteuid() != 0;
	if (s->has_lab) {
		return err_set(e, -EEXIST, "there is a lab already");
	}
	if (json_unpack(request, "{s:F, s:F, s:I, s:F}", "delay", &link.delay_s, "rate",
			&link.rate_bps, "queue", &queue, "loss", &link.loss)) {
		return err_set(e, -EINVAL, "a link that the launcher does not understand");
	}
	link.queue_bytes = queue;
	int rc = geteuid() == 0 ? 0 : lab_enter_user_namespace(e);
	if (rc) {
		return rc;
	}
	s->in_user_namespace |= was_user;
	run_dir_default(s->run_dir, sizeof(s->run_dir));
	rc = lab_create(&s->lab, s->owner, s->run_dir, &link, e);
	if (rc) {
		return rc;
	}
	s->has_lab = true;
	const struct lab_info *i = &s->lab.info;
	auto_json json_t *told = json_pack("{s:[ss], s:[ss], s:[ss], s:s, s:i}", "netns",
					   i->netns[0], i->netns[1], "address", i->address[0],
					   i->address[1], "device", i->device[0], i->device[1],
					   "emulator", i->emulator, "link_pid", (int)i->link_pid);
	return json_object_update(answer, told);
}

static int do_unlab(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	(void)request;
	(void)answer;
	(void)e;
	if (s->has_lab) {
		lab_destroy(&s->lab, s->run_dir);
	}
	s->has_lab = false;
	return 0;
}

static int do_counters(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	(void)request;
	(void)e;
	json_t *ways = json_array();
	for (int i = 0; s->has_lab && s->lab.info.link_pid && i < 2; i++) {
		struct link_counters c = s->lab.counters[i];
		json_array_append_new(ways,
				      json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "frames",
						(json_int_t)c.frames, "bytes", (json_int_t)c.bytes,
						"queue_drops", (json_int_t)c.queue_drops,
						"loss_drops", (json_int_t)c.loss_drops,
						"ring_drops", (json_int_t)c.ring_drops,
						"send_drops", (json_int_t)c.send_drops));
	}
	return json_object_set_new(answer, "ways", ways);
}

static int do_restore(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	(void)request;
	auto_json json_t *report = json_array();
	int rc = launcher_restore_all(s->run_dir, report, e);
	json_object_set(answer, "report", report);
	return rc;
}

static int do_applied(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	(void)request;
	json_t *paths = json_array();
	json_object_set_new(answer, "paths", paths);
	return launcher_find_applied(s->run_dir, paths, e);
}

static const struct {
	const char *op;
	handler *run;
} REQUESTS[] = {
	{"agent", do_agent},	 {"spawn", do_spawn},	  {"kill", do_kill},
	{"lab", do_lab},	 {"unlab", do_unlab},	  {"counters", do_counters},
	{"restore", do_restore}, {"applied", do_applied},
};

static int dispatch(struct server *s, json_t *request, json_t *answer, struct err *e)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	for (size_t i = 0; op && i < ARRAY_SIZE(REQUESTS); i++) {
		if (strcmp(op, REQUESTS[i].op) == 0) {
			return REQUESTS[i].run(s, request, answer, e);
		}
	}
	return err_set(e, -ENOSYS, "the launcher has no such request");
}

/* What a failed request has to tell beside the error (the report of a restore) goes along. */
static void send_answer(struct server *s, int sock, json_t *request, json_t *told, int rc,
			const struct err *why)
{
	struct err e = {0};
	auto_json json_t *answer = rc ? protocol_error(request, why) : protocol_ok(request);
	json_object_update(answer, told);
	size_t n = s->reply_fds[0] >= 0 ? 2 : 0;
	if (wire_send(sock, answer, s->reply_fds, n, &e) == -EMSGSIZE) {
		auto_json json_t *failed = protocol_error(request, &e);
		wire_send(sock, failed, NULL, 0, &e);
	}
	for (int i = 0; i < 2; i++) {
		cleanup_close(&s->reply_fds[i]);
		s->reply_fds[i] = -1;
	}
}

static int serve_one(struct server *s, int sock)
{
	int fds[2];
	struct err e = {0};
	auto_json json_t *request = NULL;
	int rc = wire_recv(sock, -1, &request, fds, &e);
	if (rc == -EPIPE) {
		return rc;
	}
	auto_json json_t *told = json_object();
	if (rc == 0) {
		rc = dispatch(s, request, told, &e);
	}
	send_answer(s, sock, request, told, rc, &e);
	return 0;
}

static void signal_all(const struct server *s, bool agents, int sig)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->child[i].agent == agents) {
			kill(-s->child[i].pid, sig);
		}
	}
}

/* An agent is never killed here: one that takes longer goes on putting back, without us. */
static void end_everything(struct server *s, int sigfd)
{
	int64_t end = clock_ms() + LAUNCHER_LINGER_MS;
	bool asked = false;
	signal_all(s, false, SIGKILL);
	for (reap(s); s->n && clock_ms() < end; reap(s)) {
		struct signalfd_siginfo info;
		struct pollfd p = {.fd = sigfd, .events = POLLIN};
		if (poll(&p, 1, LOOK_MS) == 1 && read(sigfd, &info, sizeof(info)) < 0) {
			break;
		}
		if (!asked && end - clock_ms() < LAUNCHER_LINGER_MS / 3) {
			signal_all(s, true, SIGTERM);
			asked = true;
		}
	}
	if (s->has_lab) {
		lab_destroy(&s->lab, s->run_dir);
	}
}

void launcher_serve(int sock, pid_t owner)
{
	struct server s = {.owner = owner, .reply_fds = {-1, -1}};
	sigset_t chld;
	run_dir_default(s.run_dir, sizeof(s.run_dir));
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	auto_close int sigfd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	for (;;) {
		struct pollfd p[2] = {{.fd = sock, .events = POLLIN},
				      {.fd = sigfd, .events = POLLIN}};
		if (poll(p, 2, -1) < 0 && errno != EINTR) {
			break;
		}
		struct signalfd_siginfo info;
		while (read(sigfd, &info, sizeof(info)) == sizeof(info)) {
			reap(&s);
		}
		if (p[0].revents && serve_one(&s, sock)) {
			break;
		}
	}
	end_everything(&s, sigfd);
}
