/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The doctor on other work: CPU, steal and traffic, watched for a moment. Called by doctor.c's
 * table. What is found here spoils measurements; it says nothing about the machine's health.
 */
#include "doctor_private.h"
#include <errno.h>

struct moment {
	uint64_t busy, steal, all; /* ticks of all CPUs */
	uint64_t bytes[DOCTOR_NICS_MAX];
};

static void look(const struct doctor *d, struct moment *m)
{
	char text[512];
	uint64_t t[8] = {0};
	memset(m, 0, sizeof(*m));
	doctor_text(d, text, sizeof(text), "/proc/stat");
	/* user nice system idle iowait irq softirq steal: proc(5) */
	if (sscanf(text,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) >= 7) {
		m->busy = t[0] + t[1] + t[2] + t[5] + t[6];
		m->steal = t[7];
		m->all = m->busy + m->steal + t[3] + t[4];
	}
	for (size_t i = 0; i < d->n_nics; i++) {
		int64_t rx = doctor_number(d, "/sys/class/net/%s/statistics/rx_bytes", d->nics[i]);
		int64_t tx = doctor_number(d, "/sys/class/net/%s/statistics/tx_bytes", d->nics[i]);
		m->bytes[i] = (uint64_t)(rx > 0 ? rx : 0) + (uint64_t)(tx > 0 ? tx : 0);
	}
}

static void watch(double seconds)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	while (nanosleep(&t, &t) < 0 && errno == EINTR) {
	}
}

static void tell_traffic(struct doctor *d, size_t i, double bits)
{
	int64_t speed = doctor_number(d, "/sys/class/net/%s/speed", d->nics[i]);
	double much = speed > 0 ? (double)speed * 1e6 * 0.01 : 10e6;
	if (bits > much) {
		d->device = d->nics[i];
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "it shares wire, queues and CPUs with the measurement, and "
				    "changes while a sweep runs",
				    "stop it, move it to another port, or measure at night"},
			    "other traffic of %.1f Mbit/s", bits / 1e6);
		d->device = NULL;
	}
}

void check_busy(struct doctor *d)
{
	enum { BUSY_PERCENT = 10, STEAL_PERCENT = 1 };
	struct moment before, after;
	double seconds = d->source->watch;
	look(d, &before);
	watch(seconds);
	look(d, &after);
	double all = (double)(after.all - before.all);
	double busy = all > 0 ? 100 * (double)(after.busy - before.busy) / all : 0;
	double steal = all > 0 ? 100 * (double)(after.steal - before.steal) / all : 0;
	if (busy > BUSY_PERCENT) {
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "it takes CPU, cache and memory bandwidth from the "
				    "measurement, and is counted in its service demand",
				    "stop it, or measure when it rests (top shows who it is)"},
			    "%.0f %% of the CPUs are busy with other work", busy);
	}
	if (steal > STEAL_PERCENT) {
		doctor_tell(
			d, "problem",
			(struct doctor_words){"the host takes CPU away in the middle of samples",
					      "ask for dedicated CPUs, or measure another time"},
			"%.0f %% of the CPU time is stolen by the host", steal);
	}
	for (size_t i = 0; seconds > 0 && i < d->n_nics; i++) {
		tell_traffic(d, i, 8 * (double)(after.bytes[i] - before.bytes[i]) / seconds);
	}
}
