/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of irq.irqbalance: finds the daemon in /proc, stops it, lets it go on, and makes it
 * spare interrupts. It changes no configuration. Called by tunable.c through irqbalance_ops, and by
 * irq.c before it moves an interrupt.
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

#define SPARES "spares "

/* Of all of them: one that goes on moves interrupts. */
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

/* The one daemon to be spoken to; 0 where there are none or several. */
static pid_t only_one(const struct sysroot *root)
{
	char pids[DAEMONS_MAX][64];
	return find(root, pids) == 1 ? atoi(pids[0]) : 0;
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

/* Sorted, each once; what it spares now, or -errno. */
static int spared(const struct sysroot *root, pid_t daemon, int *irqs, struct err *e)
{
	int kept = 0, n = irqbalance_ask(root, daemon, irqs, e);
	if (n > 0) {
		qsort(irqs, (size_t)n, sizeof(*irqs), by_number);
	}
	for (int i = 0; i < n; i++) {
		if (!kept || irqs[i] != irqs[kept - 1]) {
			irqs[kept++] = irqs[i];
		}
	}
	return n < 0 ? n : kept;
}

static int describe(const struct sysroot *root, char *text, size_t size)
{
	int irqs[IRQBALANCE_SPARED_MAX];
	snprintf(text, size, "%s", state_word(root));
	pid_t daemon = strcmp(text, "running") ? 0 : only_one(root);
	int n = daemon ? spared(root, daemon, irqs, NULL) : 0;
	size_t used = n > 0 ? (size_t)snprintf(text, size, SPARES) : 0;
	for (int i = 0; i < n && used < size; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s%d", i ? "," : "", irqs[i]);
	}
	return used < size ? 0 : -E2BIG;
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

static bool holds(const int *all, int n, const int *some, size_t n_some)
{
	for (size_t i = 0; i < n_some; i++) {
		if (n < 1 || !bsearch(&some[i], all, (size_t)n, sizeof(*all), by_number)) {
			return false;
		}
	}
	return true;
}

/* Believed only when it says so itself. */
static int make_spare(const struct sysroot *root, pid_t daemon, const int *irqs, size_t n,
		      struct err *e)
{
	int now[IRQBALANCE_SPARED_MAX];
	int r = irqbalance_tell(root, daemon, irqs, n, e);
	int there = r ? r : spared(root, daemon, now, e);
	if (there < 0) {
		return there;
	}
	return (size_t)there == n && holds(now, there, irqs, n)
		       ? 0
		       : err_set(e, -EIO, "irqbalance spares other interrupts than it was told to");
}

/* True if these are spared now, besides those that were. */
static bool spare_more(const struct sysroot *root, pid_t daemon, const int *irqs, size_t n)
{
	int before[IRQBALANCE_SPARED_MAX], all[2 * IRQBALANCE_SPARED_MAX];
	int had = spared(root, daemon, before, NULL);
	if (had < 0 || n > IRQBALANCE_SPARED_MAX) {
		return false;
	}
	size_t count = (size_t)had;
	memcpy(all, before, count * sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		if (!holds(before, had, &irqs[i], 1)) {
			all[count++] = irqs[i];
		}
	}
	if (count == (size_t)had || !make_spare(root, daemon, all, count, NULL)) {
		return true;
	}
	irqbalance_tell(root, daemon, before, (size_t)had, NULL);
	return false;
}

int irqbalance_spare(const struct sysroot *root, const int *irqs, size_t n, struct err *e)
{
	if (strcmp(state_word(root), "running") != 0) {
		return 0;
	}
	pid_t daemon = only_one(root);
	return daemon && spare_more(root, daemon, irqs, n) ? 0
							   : send_all(root, SIGSTOP, "paused", e);
}

/* A text of describe(): what an unpaused daemon spares. */
static int spare_exactly(const struct sysroot *root, const char *text, struct err *e)
{
	int now[IRQBALANCE_SPARED_MAX], irqs[IRQBALANCE_SPARED_MAX];
	size_t n = 0;
	pid_t daemon = only_one(root);
	const char *p = strncmp(text, SPARES, strlen(SPARES)) ? "" : text + strlen(SPARES);
	for (char *end; *p && n < IRQBALANCE_SPARED_MAX; p = *end == ',' ? end + 1 : end) {
		irqs[n++] = (int)strtol(p, &end, 10);
		if (end == p) {
			return err_set(e, -EINVAL, "'%.60s' is no list of interrupts", text);
		}
	}
	int had = daemon ? spared(root, daemon, now, n ? e : NULL) : 0;
	if (had < 0 || !daemon) { /* who cannot be told anything spares nothing */
		return n ? (had < 0 ? had : err_set(e, -ENOENT, "no irqbalance to be told")) : 0;
	}
	return (size_t)had == n && holds(now, had, irqs, n) ? 0
							    : make_spare(root, daemon, irqs, n, e);
}

static int irqbalance_read(const struct sysroot *root, const struct setting *s, char *text,
			   size_t size, struct err *e)
{
	int r = describe(root, text, size);
	if (!r && !strcmp(text, "absent")) {
		return err_set(e, -ENOENT, "%s: irqbalance does not run here", s->name);
	}
	return r ? err_set(e, r, "%s: irqbalance spares too many interrupts", s->name) : 0;
}

static int irqbalance_write(const struct sysroot *root, const struct setting *s, const char *text,
			    struct err *e)
{
	const char *now = state_word(root);
	bool spares = !strncmp(text, SPARES, strlen(SPARES));
	if (!strcmp(text, "paused") && !strcmp(now, "running")) {
		return send_all(root, SIGSTOP, "paused", e);
	}
	if (!strcmp(now, text) && !strcmp(now, "paused")) {
		return 0;
	}
	if (!strcmp(now, "absent") || (!spares && strcmp(text, "running") != 0)) {
		return err_set(e, -ENOENT, "%s: irqbalance is %s and cannot be made %s", s->name,
			       now, text);
	}
	int r = !strcmp(now, "paused") ? send_all(root, SIGCONT, "running", e) : 0;
	return r ? r : spare_exactly(root, text, e);
}

/* Numbers of interrupts are for the journal; people are told that it is as it was found. */
static bool irqbalance_show(const struct sysroot *root, const struct setting *s, const char *text,
			    struct value *out)
{
	(void)root;
	(void)s;
	*out = value_text(TUNABLE_AS_FOUND);
	return !strncmp(text, SPARES, strlen(SPARES));
}

static int irqbalance_probe(const struct sysroot *root, const struct setting *s, const char *field,
			    struct tunable_range *range, struct err *e)
{
	(void)field;
	(void)e;
	char text[SETTING_TEXT_MAX];
	if (describe(root, text, sizeof(text)) ||
	    !irqbalance_show(root, s, text, &range->present)) {
		range->present = value_text(text);
	}
	range->settable = strcmp(text, "absent") != 0;
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
	.word = irqbalance_show,
};
