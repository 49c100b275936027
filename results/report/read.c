/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a report needs of a run, read from the store: of very many samples only what is shown, so
 * that a long sweep's report does not take its whole record into memory. Called by the run and
 * report commands.
 */
#include "report.h"
#include "report_private.h"
#include "store.h"
#include <errno.h>
#include <string.h>

static void see_interrupts(void *ctx, const json_t *part)
{
	report_add_interrupts(ctx, part);
}

/* Some samples are shown over time or held against others, of all the interrupts are looked at; the
 * rest of their details stays in the store. */
static int add_details(struct store *store, json_t *run, struct err *e)
{
	int64_t sample[REPORT_DETAILS];
	const char *id = json_string_value(json_object_get(run, "run"));
	size_t n = report_detail_samples(run, sample, REPORT_DETAILS);
	json_t *details = json_object(), *interrupts = json_object();
	json_object_set_new(run, "details", details);
	json_object_set_new(run, "interrupts", interrupts);
	if (!id || !details || !interrupts) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int rc = store_each_detail(store, id, "interrupts", see_interrupts, interrupts, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		char key[32];
		json_t *detail = NULL;
		rc = store_get_detail(store, id, sample[i], &detail, e);
		snprintf(key, sizeof(key), "%lld", (long long)sample[i]);
		if (rc == 0) {
			json_object_set_new(details, key, detail);
		}
	}
	return rc;
}

int report_read(struct store *store, const char *id, const char *format, json_t **run,
		struct err *e)
{
	/* the last two for report/outliers.c */
	static const char *const shown[] = {"score",  "throughput",  "service_demand", "limited_by",
					    "reason", "retransmits", "seconds",	       NULL};
	if (!strcmp(format, "json")) {
		return store_get_run(store, id, run, e);
	}
	if (!strcmp(format, "csv")) {
		return store_get_run_brief(store, id, run, e);
	}
	int rc = store_get_run_keys(store, id, shown, run, e);
	return rc < 0 ? rc : add_details(store, *run, e);
}
