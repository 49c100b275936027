/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep confirm: keeps what apply --confirm has set. That it can be typed is the proof that the
 * machine can still be reached.
 */
#include "cleanup.h"
#include "cli_confirm.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

/* Those that the arguments name: the profile, and every host that is given. */
static json_t *choose(const struct cli *c, const struct targets *t)
{
	json_t *all = waiting_list(c->n_repeated ? t->items[0].text : NULL), *one;
	json_t *chosen = json_array();
	size_t i;
	json_array_foreach(all, i, one)
	{
		if (!c->n_args || strcmp(c->args[0], text_of(one, "profile")) == 0) {
			json_array_append(chosen, one);
		}
	}
	json_decref(all);
	return chosen;
}

static int several(const json_t *chosen, struct err *e)
{
	char list[400] = "";
	size_t i;
	json_t *one, *host;
	json_array_foreach((json_t *)chosen, i, one)
	{
		size_t used = strlen(list), k;
		snprintf(list + used, sizeof(list) - used, "%s%s on", i ? "; " : "",
			 text_of(one, "profile"));
		json_array_foreach(json_object_get(one, "hosts"), k, host)
		{
			used = strlen(list);
			snprintf(list + used, sizeof(list) - used, " %s", text_of(host, "via"));
		}
	}
	return err_usage(e,
			 "several wait for a confirm (%s): name the profile, or the host by "
			 "--host NAME=VIA",
			 list);
}

static int confirm(const struct cli *c, const struct targets *t, struct err *e)
{
	auto_json json_t *chosen = choose(c, t), *answer = NULL;
	const json_t *one = json_array_get(chosen, 0);
	if (!one) {
		return err_set(e, -ENOENT,
			       "nothing waits for a confirm here: it was confirmed, or has been "
			       "rolled back (tunesweep status tells)");
	}
	if (json_array_size(chosen) > 1) {
		return several(chosen, e);
	}
	int rc = waiting_ask(one, json_pack("{s:s}", "op", "confirm"), &answer, e);
	if (rc == 0 && c->json) {
		auto_json json_t *told = json_pack("{s:s}", "confirmed", text_of(one, "profile"));
		cli_print_json(told);
	} else if (rc == 0) {
		cli_note(c, "%s stays (tunesweep rollback puts everything back)",
			 text_of(one, "profile"));
	}
	return rc;
}

static int run(struct cli *c)
{
	struct targets t;
	struct err e = {0};
	int rc = targets_init(&t, c, NULL, &e);
	rc = rc ? rc : confirm(c, &t, &e);
	targets_clear(&t);
	return rc < 0 ? cli_fail(c, &e) : CLI_DONE;
}

const struct command command_confirm = {
	.name = "confirm",
	.arguments = "[PROFILE]",
	.max_args = 1,
	.summary = "Keep what apply --confirm has set",
	.options = target_options,
	.run = run,
};
