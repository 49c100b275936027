/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trial's changes cost beside its measurement: ten sysctls set by a session, journal and
 * read-back included, in a network namespace of its own. Needs root.
 */
#include "cleanup.h"
#include "session.h"
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define N      10
#define ROUNDS 1000

static const struct {
	const char *name, *field;
	int64_t value[2];
} CHANGES[N] = {
	{"net.ipv4.tcp_rmem", "max", {6291456, 8388608}},
	{"net.ipv4.tcp_wmem", "max", {4194304, 8388608}},
	{"net.ipv4.tcp_notsent_lowat", "", {131072, 262144}},
	{"net.ipv4.tcp_base_mss", "", {1024, 1200}},
	{"net.ipv4.tcp_mtu_probing", "", {0, 1}},
	{"net.ipv4.tcp_limit_output_bytes", "", {1048576, 4194304}},
	{"net.ipv4.tcp_min_tso_segs", "", {2, 4}},
	{"net.ipv4.tcp_pacing_ss_ratio", "", {200, 300}},
	{"net.ipv4.tcp_pacing_ca_ratio", "", {120, 150}},
	{"net.ipv4.tcp_tso_win_divisor", "", {3, 4}},
};

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int fill(struct assignment a[N], int which, struct err *e)
{
	for (size_t i = 0; i < N; i++) {
		int rc = tunable_resolve(CHANGES[i].name, CHANGES[i].field, "", &a[i].setting, e);
		if (rc) {
			return rc;
		}
		strcpy(a[i].field, CHANGES[i].field);
		a[i].value = value_int(CHANGES[i].value[which]);
	}
	return 0;
}

static int measure(struct session *s, double us[ROUNDS], struct err *e)
{
	static struct assignment a[2][N];
	struct value effective[N];
	int rc = fill(a[0], 0, e);
	rc = rc ? rc : fill(a[1], 1, e);
	for (int i = 0; rc == 0 && i < ROUNDS; i++) {
		double begin = now_us();
		rc = session_set(s, a[(i + 1) % 2], N, effective, e);
		us[i] = now_us() - begin;
	}
	return rc;
}

int main(void)
{
	static double us[ROUNDS];
	char folder[] = "/dev/shm/tunesweep-bench-XXXXXX", command[64];
	struct session *s = NULL;
	struct err e = {0};
	if (unshare(CLONE_NEWNET) || !mkdtemp(folder)) {
		printf("settings: needs root for a network namespace\n");
		return 1;
	}
	struct session_place place = {.root = {""}, .run_dir = folder};
	int rc = session_open(&place, "sweep", "bench", &s, NULL, &e);
	rc = rc ? rc : measure(s, us, &e);
	struct err later = {0};
	int back = s ? session_rollback(s, false, NULL, &later) : 0;
	session_close(s);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (rc || back || system(command)) {
		printf("settings: %s%s\n", e.text, later.text);
		return 1;
	}
	qsort(us, ROUNDS, sizeof(*us), by_size);
	printf("settings: %d sysctls set, journaled and read back: median %.0f us, 99 %% within "
	       "%.0f us (%d rounds)\n",
	       N, us[ROUNDS / 2], us[ROUNDS * 99 / 100], ROUNDS);
	return 0;
}
