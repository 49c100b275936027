/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The second small process: it waits for the agent's death, and rolls back what the agent could
 * not. It shares nothing with the agent but the session's lock and a pipe that tells whether there
 * is anything to put back. Started by the agent on open.
 */
#include "agent_private.h"
#include "cleanup.h"
#include "confine.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { KEPT_PIPE = 3, KEPT_AGENT, KEPT_LOCK, KEPT_KERNEL, KEPT_END };

/* Everything else is closed: the controller's pipes above all, whose end it would hide. The
 * kernel's lock is the last, since there may be none. */
static void keep_only(int pipe_fd, int pidfd, int lock_fd, int kernel_fd)
{
	int from[] = {pipe_fd, pidfd, lock_fd, kernel_fd};
	int end = kernel_fd < 0 ? KEPT_KERNEL : KEPT_END;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 0);
	dup2(null, 1);
	for (int i = KEPT_PIPE; i < end; i++) { /* above all that is overwritten next */
		from[i - KEPT_PIPE] = fcntl(from[i - KEPT_PIPE], F_DUPFD_CLOEXEC, 16);
	}
	for (int i = KEPT_PIPE; i < end; i++) {
		dup3(from[i - KEPT_PIPE], i, O_CLOEXEC);
	}
	close_range((unsigned)end, ~0u, 0);
}

static void ignore_signals(void)
{
	static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT};
	sigset_t none;
	for (size_t i = 0; i < ARRAY_SIZE(SIGNALS); i++) {
		signal(SIGNALS[i], SIG_IGN);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void await_death(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	while (poll(&p, 1, -1) != 1) {
	}
}

/* The last byte that came: 'd' something is set, 'c' nothing or committed. */
static bool left_dirty(int pipe_fd)
{
	char text[512], last = 'd';
	ssize_t n;
	fcntl(pipe_fd, F_SETFL, O_NONBLOCK);
	while ((n = read(pipe_fd, text, sizeof(text))) > 0) {
		last = text[n - 1];
	}
	return last == 'd';
}

static void say(const char *what, const char *layer, const char *detail)
{
	char line[1000];
	int n = snprintf(line, sizeof(line),
			 "tunesweep-agent: the agent was killed: its %s %s%s%s\n", layer, what,
			 detail[0] ? ": " : "", detail);
	if (write(STDERR_FILENO, line, (size_t)n) != n) {
		return; /* nobody listens; the journal tells the next command */
	}
}

static int put_back(const struct session_place *place, const char *layer, int kernel_fd)
{
	struct err e = {0};
	struct session *s = NULL;
	struct session_report report = {0};
	int rc = session_adopt(place, layer, KEPT_LOCK, kernel_fd, &s, &e);
	if (rc == 0 && !s) { /* nothing was set */
		return 0;
	}
	if (rc == 0) {
		rc = session_rollback(s, false, &report, &e);
	}
	if (rc == 0 && report.n_conflict) {
		say("settings were put back", layer, "but for those that someone else had changed");
	} else if (rc == 0) {
		say("settings were put back", layer, "");
	} else {
		say("settings could not be put back", layer, e.text);
	}
	session_report_clear(&report);
	session_close(s);
	return rc ? 1 : 0;
}

static void guardian_process(const struct session_place *place, const char *layer, bool kernel)
{
	struct err e = {0};
	setsid();
	prctl(PR_SET_NAME, "ts-guardian");
	ignore_signals();
	if (chdir("/")) {
		_exit(1);
	}
	if (confine(CONFINE_GUARDIAN, &e)) {
		say("guardian goes on without a filter of its own", layer, e.text);
	}
	await_death(KEPT_AGENT);
	_exit(left_dirty(KEPT_PIPE) ? put_back(place, layer, kernel ? KEPT_KERNEL : -1) : 0);
}

int guardian_start(struct guardian *g, const struct session_place *place, const char *layer,
		   int lock_fd, int kernel_fd, struct err *e)
{
	int p[2];
	/* Before the fork: our number cannot belong to anyone else yet. */
	auto_close int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (self < 0 || pipe2(p, O_CLOEXEC)) {
		return err_set(e, errno, "cannot watch this process: %s", strerror(errno));
	}
	auto_close int listen = p[0];
	auto_close int tell = p[1];
	pid_t pid = fork();
	if (pid == 0) {
		keep_only(listen, self, lock_fd, kernel_fd);
		guardian_process(place, layer, kernel_fd >= 0);
	}
	if (pid < 0) {
		return err_set(e, errno, "cannot start the guardian: %s", strerror(errno));
	}
	*g = (struct guardian){.pid = pid, .tell = take_fd(tell), .dirty = true};
	return 0;
}

void guardian_tell(struct guardian *g, bool dirty)
{
	if (!g->pid || g->dirty == dirty) {
		return;
	}
	g->dirty = dirty;
	if (write(g->tell, dirty ? "d" : "c", 1) != 1) {
		return; /* it is dead: SIGCHLD follows, and another is started */
	}
}

/* It has nothing left to do once it was told that all is clean: no need to wait for our death. */
void guardian_end(struct guardian *g)
{
	if (!g->pid) {
		return;
	}
	close(g->tell);
	kill(g->pid, SIGKILL);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR) {
	}
	*g = (struct guardian){.tell = -1};
}
