/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Slurm's nodes, had through its own programs, which the launcher starts. A shell keeps salloc: it
 * reads until nobody writes any more, and then ends it, so that a controller that is killed holds
 * no nodes. Nothing is set on any of them here.
 */
#include "allocation.h"
#include "cleanup.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16, RELEASE_MS = 10000, SINFO_MS = 30000 };

/* Both ends of salloc's life: the allocation tells its number and nodes, and lasts as long as the
 * program that runs within it. */
static const char keeper[] = "\"$@\" </dev/null & salloc=$!\n"
			     "exec >&-\n"
			     "read -r line\n"
			     "kill $salloc 2>/dev/null\n"
			     "wait $salloc\n",
		  inside[] = "echo \"$SLURM_JOB_ID $SLURM_JOB_NODELIST\"\n"
			     "exec sleep 2147483647\n";

static bool has_word(const char *list, const char *word, size_t length)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		if (n == length && strncmp(list, word, n) == 0) {
			return true;
		}
		list += n + (list[n] == ',');
	}
	return false;
}

int allocation_fits(const char *constraint, const char *features)
{
	bool any = false, all = true;
	if (!*constraint || strpbrk(constraint, "[]()* ")) {
		return -EINVAL;
	}
	for (const char *at = constraint;; at++) {
		size_t n = strcspn(at, "&|");
		all = all && has_word(features, at, n);
		at += n;
		if (n == 0) {
			return -EINVAL;
		}
		if (*at != '&') {
			any |= all;
			all = true;
		}
		if (!*at) {
			return any;
		}
	}
}

/* One line, or the end of the output; waits at most ms (-1: for ever). 1: there is a line. */
static int read_line(int fd, int interrupt_fd, int ms, char *buf, size_t size, struct err *e)
{
	size_t used = 0;
	struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = interrupt_fd, .events = POLLIN}};
	while (used + 1 < size) {
		int n = poll(p, 2, ms);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (p[1].revents) {
			return err_set(e, -EINTR, "interrupted while waiting for Slurm's nodes");
		}
		if (n <= 0) {
			return err_set(e, -ETIMEDOUT, "Slurm does not answer");
		}
		ssize_t got = read(fd, buf + used, 1);
		if (got <= 0 || buf[used] == '\n') {
			buf[used] = '\0';
			return got > 0;
		}
		used++;
	}
	return err_set(e, -EMSGSIZE, "Slurm's answer is too long");
}

/* salloc and its words, "--partition=P" only where the spec names one. Freed by the caller. */
static char **salloc_words(const struct spec *s)
{
	char nodes[32], name[96], partition[160], constraint[300];
	snprintf(nodes, sizeof(nodes), "--nodes=%zu", 2 * s->slurm_pairs);
	snprintf(name, sizeof(name), "--job-name=%s", s->name);
	snprintf(partition, sizeof(partition), "--partition=%s", s->slurm_partition);
	snprintf(constraint, sizeof(constraint), "--constraint=%s", s->slurm_constraint);
	const char *words[] = {"setsid", /* a killed launcher kills the groups that it started */
			       "/bin/sh",
			       "-c",
			       keeper,
			       "sh",
			       "salloc",
			       "--exclusive",
			       "--kill-command=TERM",
			       nodes,
			       name,
			       *s->slurm_partition ? partition : NULL,
			       *s->slurm_constraint ? constraint : NULL,
			       "/bin/sh",
			       "-c",
			       inside};
	char **argv = calloc(ARRAY_SIZE(words) + 1, sizeof(*argv));
	for (size_t i = 0, n = 0; argv && i < ARRAY_SIZE(words); i++) {
		if (words[i]) {
			argv[n++] = strdup(words[i]);
		}
	}
	return argv;
}

static void free_words(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++) {
		free(argv[i]);
	}
	free(argv);
}

static int ask_salloc(const struct spec *s, struct launcher *l, int interrupt_fd,
		      struct allocation *a, struct err *e)
{
	char line[sizeof(a->nodes) + 32];
	pid_t pid;
	char **argv = salloc_words(s);
	int rc = argv ? launcher_spawn(l, argv, &a->in, &a->out, &pid, e)
		      : err_set(e, -ENOMEM, "out of memory");
	free_words(argv);
	rc = rc ? rc : read_line(a->out, interrupt_fd, -1, line, sizeof(line), e);
	if (rc < 0) {
		return rc;
	}
	if (rc == 0 || sscanf(line, "%31s %4095s", a->job, a->nodes) != 2) {
		return err_set(e, -EAGAIN,
			       "pool: slurm: no nodes were to be had (salloc's own words stand "
			       "above)");
	}
	return 0;
}

/* "NODE FEATURES" of each node, as sinfo prints them. */
static int check_features(const struct spec *s, int out, struct err *e)
{
	char line[4096], node[256], features[3072];
	int seen = 0, rc;
	while ((rc = read_line(out, -1, SINFO_MS, line, sizeof(line), e)) == 1) {
		if (sscanf(line, "%255s %3071s", node, features) != 2) {
			continue;
		}
		int fits = allocation_fits(s->slurm_constraint, features);
		if (fits < 0) {
			return err_usage(e,
					 "pool: slurm: constraint '%s': within a job only words "
					 "joined by & and | can be checked; leave it to sbatch",
					 s->slurm_constraint);
		}
		if (!fits) {
			return err_usage(e,
					 "pool: slurm: constraint '%s': node %s of this job has "
					 "only %s",
					 s->slurm_constraint, node, features);
		}
		seen++;
	}
	return rc < 0 ? rc
	       : seen ? 0
		      : err_set(e, -EIO, "pool: slurm: sinfo does not tell this job's features");
}

static int check_constraint(const struct spec *s, struct launcher *l, const char *nodes,
			    struct err *e)
{
	char list[sizeof(((struct allocation *)0)->nodes) + 16];
	const char *const argv[] = {"sinfo", "--noheader", "--Node", list, "--format=%N %f", NULL};
	auto_close int in = -1;
	auto_close int out = -1;
	pid_t pid;
	snprintf(list, sizeof(list), "--nodes=%.4095s", nodes);
	int rc = launcher_spawn(l, (char *const *)argv, &in, &out, &pid, e);
	return rc ? rc : check_features(s, out, e);
}

/* The job that this runs in; Slurm has told it what it is. */
static int use_job(const struct spec *s, struct launcher *l, struct allocation *a, struct err *e)
{
	const char *nodes = getenv("SLURM_JOB_NODELIST"), *in = getenv("SLURM_JOB_PARTITION");
	if (!nodes || !*nodes || strlen(nodes) >= sizeof(a->nodes)) {
		return err_usage(e,
				 "pool: slurm: SLURM_JOB_NODELIST does not name this job's nodes");
	}
	snprintf(a->nodes, sizeof(a->nodes), "%s", nodes);
	if (*s->slurm_partition && in && !has_word(s->slurm_partition, in, strlen(in))) {
		return err_usage(e, "pool: slurm: partition '%s': this job is in %s",
				 s->slurm_partition, in);
	}
	return *s->slurm_constraint ? check_constraint(s, l, nodes, e) : 0;
}

int allocation_open(const struct spec *s, struct launcher *l, int interrupt_fd,
		    struct allocation *out, struct err *e)
{
	*out = (struct allocation){.in = -1, .out = -1};
	const char *job = getenv("SLURM_JOB_ID");
	return job && *job ? use_job(s, l, out, e) : ask_salloc(s, l, interrupt_fd, out, e);
}

/* The nodes are free when salloc has gone. */
void allocation_close(struct allocation *a)
{
	char line[256];
	struct err ignored;
	if (a->in < 0) {
		return;
	}
	close(take_fd(a->in));
	while (read_line(a->out, -1, RELEASE_MS, line, sizeof(line), &ignored) == 1) {
	}
	close(take_fd(a->out));
}
