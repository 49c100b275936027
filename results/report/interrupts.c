/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a report says of interrupts that came to other CPUs than they were meant for: an affinity
 * that was written and did not take effect, or that somebody has changed meanwhile. By the counts
 * that the samples' details hold. Called by report/body.c.
 */
#include "cleanup.h"
#include "json_util.h"
#include "report_private.h"
#include <stdint.h>
#include <string.h>

#define SHARE_TOLD 0.01 /* a vector moves at its next interrupt: a few late ones are no news */

/* {"DEVICE of HOST": {"came": n, "astray": n, "samples": n, "cpus": {CPU: n}}} */
static void add_device(json_t *sums, const char *host, const char *device, const json_t *one)
{
	json_t *came = json_object_get(one, "cpus"), *count;
	json_t *strays = json_object_get(one, "astray_cpus");
	const char *cpu;
	json_int_t total = 0, astray = json_integer_value(json_object_get(one, "astray"));
	char key[256];
	json_object_foreach(came, cpu, count)
	{
		total += json_integer_value(count);
	}
	if ((double)astray <= SHARE_TOLD * (double)total) {
		return;
	}
	snprintf(key, sizeof(key), "%.100s of %.100s", device, host);
	json_t *sum = json_object_get(sums, key);
	if (!sum) {
		sum = json_pack("{s:i, s:i, s:i, s:{}}", "came", 0, "astray", 0, "samples", 0,
				"cpus");
		json_object_set_new(sums, key, sum);
	}
	json_int_t before = json_integer_value(json_object_get(sum, "came"));
	json_object_set_new(sum, "came", json_integer(before + total));
	before = json_integer_value(json_object_get(sum, "astray"));
	json_object_set_new(sum, "astray", json_integer(before + astray));
	before = json_integer_value(json_object_get(sum, "samples"));
	json_object_set_new(sum, "samples", json_integer(before + 1));
	json_t *cpus = json_object_get(sum, "cpus");
	json_object_foreach(strays, cpu, count)
	{
		before = json_integer_value(json_object_get(cpus, cpu));
		json_object_set_new(cpus, cpu, json_integer(before + json_integer_value(count)));
	}
}

void report_add_interrupts(json_t *sums, const json_t *interrupts)
{
	json_t *devices, *one;
	const char *host, *device;
	json_object_foreach((json_t *)interrupts, host, devices)
	{
		json_object_foreach(devices, device, one)
		{
			add_device(sums, host, device, one);
		}
	}
}

/* Where the run was read with the details and not summed up yet; new. */
static json_t *sums_of(const json_t *run)
{
	json_t *trials = json_object_get(run, "trials"), *trial, *sample, *sums = json_object();
	size_t i, j;
	json_array_foreach(trials, i, trial)
	{
		json_array_foreach(json_object_get(trial, "samples"), j, sample)
		{
			const json_t *detail = report_detail(run, sample);
			report_add_interrupts(sums, json_object_get(detail, "interrupts"));
		}
	}
	return sums;
}

static void cpus_text(json_t *cpus, char *buf, size_t size)
{
	const char *cpu;
	json_t *count;
	size_t used = 0;
	*buf = 0;
	json_object_foreach(cpus, cpu, count)
	{
		used += used < size ? (size_t)snprintf(buf + used, size - used, "%sCPU %s: %lld",
						       used ? ", " : "", cpu,
						       (long long)json_integer_value(count))
				    : 0;
	}
}

static void add_row(struct report_table *t, const char *whose, const json_t *sum)
{
	static const char *const numbers[] = {"astray", "came", "samples"};
	char buf[512];
	report_table_add(t, whose);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		report_table_add(t, report_value(json_object_get(sum, numbers[i]), buf, 32));
	}
	cpus_text(json_object_get(sum, "cpus"), buf, sizeof(buf));
	report_table_add(t, buf);
}

void report_say_interrupts(const json_t *run, const struct report_writer *w, FILE *out)
{
	static const char *const heads[] = {"interrupts of", "#astray", "#of",
					    "#in samples",   "where",	NULL};
	json_t *known = json_object_get(run, "interrupts"), *sum;
	auto_json json_t *all = known ? json_incref(known) : sums_of(run);
	const char *whose;
	struct report_table t;
	report_table_init(&t, heads);
	json_object_foreach(all, whose, sum)
	{
		add_row(&t, whose, sum);
	}
	report_section(w, out, "Interrupts astray",
		       "Warning: they came to CPUs that their affinity does not name, so "
		       "irq.affinity did not do what it says. Who else sets it "
		       "(irqbalance, a driver that was reset)? tunesweep doctor looks.",
		       &t);
}
