/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of irq.irqbalance: finds the daemon in /proc, stops it and lets it go on. It changes
 * no configuration. Called by tunable.c through irqbalance_ops, and by irq.c before it moves an
 * interrupt.
 */
#include "irqbalance.h"
#include "cleanup.h"
#include "tunable_private.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

enum { DAEMONS_MAX = 8 }; /* one a container at the most */

static size_t find(const struct sysroot *root, char (*pids)[64])
{
	int n = sysfile_find(root, "/proc/", "comm", "irqbalance", pids, DAEMONS_MAX);
	return n < 0 ? 0 : (size_t)n;
}

/* The letter after the name's bracket in /proc/PID/stat (proc(5)). */
static char state_of(const struct sysroot *root, const char *pid)
{
	char path[96], text[1024];
	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	if (sysfile_read(root, path, text, sizeof(text), NULL)) {
		return 0;
	}
	const char *p = strrchr(text, ')');
	return p && p[1] == ' ' ? p[2] : 0;
}

static const char *state_word(const struct sysroot *root)
{
	char pids[DAEMONS_MAX][64];
	size_t n = find(root, pids), stopped = 0, there = 0;
	for (size_t i = 0; i < n; i++) {
		char c = state_of(root, pids[i]);
		there += c && c != 'Z' && c != 'X';
		stopped += c == 'T';
	}
	return !there ? "absent" : stopped == there ? "paused" : "running";
}

/* The descriptor first, the name again after it: a number may have got another owner. */
static int send_to(const struct sysroot *root, const char *pid, int signal_number, struct err *e)
{
	char path[96], comm[32];
	auto_close int fd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);
	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	if (fd < 0 || sysfile_read(root, path, comm, sizeof(comm), NULL) ||
	    strcmp(comm, "irqbalance") != 0) {
		return 0; /* it has left */
	}
	if (syscall(SYS_pidfd_send_signal, fd, signal_number, NULL, 0) && errno != ESRCH) {
		return err_set(e, -errno, "cannot %s irqbalance (process %s): %s",
			       signal_number == SIGSTOP ? "pause" : "let go", pid, strerror(errno));
	}
	return 0;
}

/* A stop is seen a moment after it was sent. */
static void await(const struct sysroot *root, const char *word)
{
	for (int i = 0; i < 100 && strcmp(state_word(root), word) != 0; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

static int send_all(const struct sysroot *root, int signal_number, const char *then, struct err *e)
{
	char pids[DAEMONS_MAX][64];
	size_t n = *root->prefix ? 0 : find(root, pids); /* never a process of a recorded tree */
	int r = 0;
	for (size_t i = 0; !r && i < n; i++) {
		r = send_to(root, pids[i], signal_number, e);
	}
	if (n && !r) {
		await(root, then);
	}
	return r;
}

int irqbalance_pause(const struct sysroot *root, struct err *e)
{
	return strcmp(state_word(root), "running") != 0 ? 0 : send_all(root, SIGSTOP, "paused", e);
}

static int irqbalance_read(const struct sysroot *root, const struct setting *s, char *text,
			   size_t size, struct err *e)
{
	(void)s;
	(void)e;
	snprintf(text, size, "%s", state_word(root));
	return 0;
}

static int irqbalance_write(const struct sysroot *root, const struct setting *s, const char *text,
			    struct err *e)
{
	const char *now = state_word(root);
	bool pause = !strcmp(text, "paused");
	if (!strcmp(now, text)) {
		return 0;
	}
	if (!strcmp(now, "absent") || (!pause && strcmp(text, "running") != 0)) {
		return err_set(e, -ENOENT, "%s: irqbalance is %s and cannot be made %s", s->name,
			       now, text);
	}
	return send_all(root, pause ? SIGSTOP : SIGCONT, text, e);
}

static int irqbalance_probe(const struct sysroot *root, const struct setting *s, const char *field,
			    struct tunable_range *range, struct err *e)
{
	(void)s;
	(void)field;
	(void)e;
	range->present = value_text(state_word(root));
	range->settable = strcmp(range->present.text, "absent") != 0;
	if (!range->settable) {
		snprintf(range->why_not, sizeof(range->why_not), "irqbalance does not run here");
	}
	strcpy(range->choices[0], "running");
	strcpy(range->choices[1], "paused");
	range->n_choices = 2;
	return 0;
}

const struct tunable_ops irqbalance_ops = {
	.probe = irqbalance_probe,
	.read = irqbalance_read,
	.write = irqbalance_write,
};
