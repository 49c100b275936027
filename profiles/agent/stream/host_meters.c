/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens what the endpoints' process reads of its host, and carries the descriptors over into it.
 * Called by the agent's endpoints.c before privilege is given up.
 */
#include "host_meters.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void host_meters_open(const struct sysroot *root, struct host_meters *out)
{
	struct err e = {0};
	memset(out, 0, sizeof(*out));
	out->timer_list = sysfile_open(root, "/proc/timer_list", &e);
	out->timer_list = out->timer_list < 0 ? -1 : out->timer_list;
	out->n_energy = energy_open(root, out->energy, out->no_energy, sizeof(out->no_energy));
	if (cpu_perf_open_hardware(root, &out->perf, &e) < 0) {
		snprintf(out->no_perf, sizeof(out->no_perf), "%.95s", e.text);
	}
}

int host_meters_count(const struct host_meters *m)
{
	return (m->timer_list >= 0) + m->n_energy + m->perf.n;
}

/* Calls what for each descriptor, in one order. */
static void each(struct host_meters *m, void (*what)(int *fd, int *arg), int *arg)
{
	if (m->timer_list >= 0) {
		what(&m->timer_list, arg);
	}
	for (int i = 0; i < m->n_energy; i++) {
		what(&m->energy[i].fd, arg);
	}
	for (int i = 0; i < m->perf.n; i++) {
		what(&m->perf.fd[i], arg);
	}
}

static void close_one(int *fd, int *unused)
{
	(void)unused;
	close(*fd);
	*fd = -1;
}

static void lift_one(int *fd, int *least)
{
	int high = fcntl(*fd, F_DUPFD_CLOEXEC, *least);
	close(*fd);
	*fd = high;
}

static void move_one(int *fd, int *next)
{
	int old = *fd;
	*fd = dup3(old, *next, O_CLOEXEC);
	close(old);
	++*next;
}

void host_meters_close(struct host_meters *m)
{
	each(m, close_one, NULL);
	m->n_energy = m->perf.n = 0;
}

void host_meters_lift(struct host_meters *m, int least)
{
	each(m, lift_one, &least);
}

int host_meters_renumber(struct host_meters *m, int from)
{
	each(m, move_one, &from);
	return from;
}
