/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command that goes on after its invocation has returned: it runs in a child with a session of
 * its own, which outlives shell and ssh; the caller passes on what it prints until it is ready.
 * Called by main.c before the launcher is started, so that all processes belong to the child.
 */
#include "cleanup.h"
#include "cli_confirm.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { OUT, ERR, READY, N_PIPES };

/* Standard output and standard error of what stays behind: nobody waits for their end. */
static int become_background(struct cli *c, int pipes[N_PIPES][2])
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(pipes[OUT][1], STDOUT_FILENO);
	dup2(pipes[ERR][1], STDERR_FILENO);
	close(null);
	/* The reading ends stay: whoever writes later (ssh above all) must not die of it. */
	close(pipes[READY][0]);
	close(pipes[OUT][1]);
	close(pipes[ERR][1]);
	c->ready_fd = pipes[READY][1];
	return -1;
}

void background_ready(struct cli *c, int status)
{
	unsigned char byte = (unsigned char)status;
	fflush(stdout);
	if (c->ready_fd > 0 && chdir("/") == 0 && write(c->ready_fd, &byte, 1) == 1) {
		close(c->ready_fd);
	}
	c->ready_fd = 0;
}

/* false at the end of input. */
static bool pass_on(int from, int to)
{
	char text[4096];
	ssize_t n = read(from, text, sizeof(text));
	for (ssize_t done = 0, m; done < n; done += m) {
		m = write(to, text + done, (size_t)(n - done));
		if (m < 0) { /* nobody listens: that is no reason to stop */
			break;
		}
	}
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* What was written before it was ready is in the pipes by then. */
static void pass_on_rest(struct pollfd p[N_PIPES])
{
	static const int to[] = {STDOUT_FILENO, STDERR_FILENO};
	for (int i = OUT; i <= ERR; i++) {
		while (poll(&p[i], 1, 0) == 1 && (p[i].revents & POLLIN) &&
		       pass_on(p[i].fd, to[i])) {
		}
	}
}

static int status_of_child(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_REFUSED;
}

/* Until it is ready, or has ended. An interrupt of the caller is passed on: it rolls back. */
static int relay(struct cli *c, pid_t pid, struct pollfd p[N_PIPES + 1])
{
	for (;;) {
		unsigned char byte;
		if (poll(p, N_PIPES + 1, -1) < 0 && errno != EINTR) {
			return CLI_REFUSED;
		}
		if (p[N_PIPES].revents) {
			kill(pid, SIGTERM);
			p[N_PIPES].fd = -1;
		}
		for (int i = OUT; i <= ERR; i++) {
			if (p[i].revents && !pass_on(p[i].fd, i == OUT ? 1 : 2)) {
				p[i].fd = -1;
			}
		}
		if (p[READY].revents) {
			ssize_t n = read(p[READY].fd, &byte, 1);
			pass_on_rest(p);
			c->ready_fd = 0;
			return n == 1 ? byte : status_of_child(pid);
		}
	}
}

int background_fork(struct cli *c, struct err *e)
{
	int pipes[N_PIPES][2];
	for (int i = 0; i < N_PIPES; i++) {
		if (pipe2(pipes[i], O_CLOEXEC)) {
			return cli_fail(c, (err_set(e, -errno, "pipe: %s", strerror(errno)), e));
		}
	}
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		return become_background(c, pipes);
	}
	if (pid < 0) {
		return cli_fail(c, (err_set(e, -errno, "fork: %s", strerror(errno)), e));
	}
	struct pollfd p[N_PIPES + 1] = {[N_PIPES] = {.fd = c->interrupt_fd, .events = POLLIN}};
	for (int i = 0; i < N_PIPES; i++) {
		close(pipes[i][1]);
		p[i] = (struct pollfd){.fd = pipes[i][0], .events = POLLIN};
	}
	return relay(c, pid, p);
}
