/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run --resume: which run is taken up, and what it has measured. Also says what was seen of a
 * pool's pairs. Called by cmd_run.c.
 */
#include "cleanup.h"
#include "cli_run.h"
#include "json_util.h"
#include <stdio.h>
#include <string.h>

/* The newest run of this name that did not come to its end: its id, or -ENOENT. */
static int find_unfinished(struct run *r, char *id, size_t size, struct err *e)
{
	auto_json json_t *runs = NULL;
	json_t *one;
	size_t i;
	int rc = store_list_runs(r->store, &runs, e);
	if (rc < 0) {
		return rc;
	}
	json_array_foreach(runs, i, one)
	{
		const char *status = json_get_text(one, "status", "");
		if (strcmp(json_get_text(one, "name", ""), r->spec->name) == 0 &&
		    (!strcmp(status, "unfinished") || !strcmp(status, "interrupted") ||
		     !strcmp(status, "failed"))) {
			snprintf(id, size, "%s", json_get_text(one, "run", ""));
			return 0;
		}
	}
	return err_usage(e, "there is no unfinished run of '%s' to resume", r->spec->name);
}

/* Takes up an unfinished run: its id, its seed and what it has measured. */
int run_resume(struct run *r, struct err *e)
{
	auto_json json_t *run = NULL;
	int rc = find_unfinished(r, r->record.id, sizeof(r->record.id), e);
	rc = rc < 0 ? rc : store_get_run_brief(r->store, r->record.id, &run, e);
	rc = rc < 0 ? rc
		    : replay_check_spec(r->record.id, json_get_text(run, "spec", ""), r->spec->text,
					e);
	if (rc == 0) {
		r->spec->seed = (uint64_t)json_integer_value(json_object_get(run, "seed"));
		rc = replay_load(run, r->space, &r->replay, e);
	}
	if (rc < 0) {
		*r->record.id = '\0'; /* that run is not this one's to end */
		return rc;
	}
	cli_note(r->c, "resuming run %s: %zu samples are there", r->record.id, r->replay.n);
	return 0;
}

void run_tell_pairs(const struct run *r)
{
	json_t *one;
	size_t i;
	json_array_foreach(r->result.pairs, i, one)
	{
		const char *why = json_get_text(one, "why", "");
		if (*why) {
			cli_note(r->c, "pair %lld: %s (level %.2f, noise %.1f %%)%s",
				 (long long)json_integer_value(json_object_get(one, "pair")), why,
				 json_get_number(one, "level"), 100 * json_get_number(one, "noise"),
				 json_is_true(json_object_get(one, "used")) ? "" : ": left out");
		}
	}
}
