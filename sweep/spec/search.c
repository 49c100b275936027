/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks objective, search, proof and allow of a spec: what is maximised, with which search
 * and budget, how it is proved, and which classes of tunables may be set. Called by spec.c.
 */
#include "search.h"
#include "spec_private.h"

#include "cleanup.h"
#include <string.h>

static int parse_goal(struct spec *s, struct yaml_at map, bool own, struct err *e)
{
	struct yaml_at up = yaml_get(map, "maximize"), down = yaml_get(map, "minimize");
	if (yaml_kind(up) != YAML_ABSENT && yaml_kind(down) != YAML_ABSENT) {
		return yaml_error(down, e,
				  "'maximize' and 'minimize' in one objective: one of them");
	}
	bool minimize = yaml_kind(down) != YAML_ABSENT;
	struct yaml_at at = minimize ? down : up;
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	char text[128];
	int rc = yaml_as_text(at, text, sizeof(text), e);
	if (rc) {
		return rc;
	}
	rc = objective_parse(&s->objective, text, minimize, own, e);
	return rc ? yaml_error_at(at, e) : 0;
}

static int parse_require(struct objective *o, struct yaml_at list, bool own, struct err *e)
{
	if (yaml_kind(list) == YAML_ABSENT) {
		return 0;
	}
	if (yaml_kind(list) != YAML_LIST) {
		return yaml_error(list, e, "require: a list, e.g. [throughput >= 9 Gbit/s]");
	}
	if (yaml_count(list) > OBJECTIVE_REQUIRE_MAX) {
		return yaml_error(list, e, "require: at most %d", OBJECTIVE_REQUIRE_MAX);
	}
	o->n_require = 0;
	for (size_t i = 0; i < yaml_count(list); i++) {
		struct yaml_at at = yaml_item(list, i);
		char text[128];
		int rc = yaml_as_text(at, text, sizeof(text), e);
		if (rc) {
			return rc;
		}
		if (requirement_parse(&o->require[o->n_require], text, own, e)) {
			return yaml_error_at(at, e);
		}
		o->n_require++;
	}
	return 0;
}

int spec_parse_objective(struct spec *s, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"maximize", "minimize", "require", "guards", NULL};
	static const char *const guards[] = {"default", "strict", "none", NULL};
	objective_init(&s->objective);
	if (yaml_kind(map) == YAML_ABSENT) {
		return 0;
	}
	bool own = strcmp(s->test.engine, "command") == 0;
	int rc = yaml_check_keys(map, keys, e);
	rc = rc ? rc : parse_goal(s, map, own, e);
	rc = rc ? rc : parse_require(&s->objective, yaml_get(map, "require"), own, e);
	struct yaml_at at = yaml_get(map, "guards");
	if (rc == 0 && yaml_kind(at) != YAML_ABSENT) {
		int i = 0;
		rc = yaml_as_word(at, guards, &i, e);
		s->objective.guards = (enum guards)i;
	}
	return rc;
}

int spec_parse_search(struct spec *s, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"algorithm", "samples", "time", "seed", NULL};
	strcpy(s->algorithm, "auto");
	s->samples = 60;
	s->time = 30 * 60;
	s->seed = 1;
	if (yaml_kind(map) == YAML_ABSENT) {
		return 0;
	}
	int rc = yaml_check_keys(map, keys, e);
	struct yaml_at algorithm = yaml_get(map, "algorithm"), samples = yaml_get(map, "samples");
	struct yaml_at time = yaml_get(map, "time"), seed = yaml_get(map, "seed");
	if (rc == 0 && yaml_kind(algorithm) != YAML_ABSENT) {
		rc = yaml_as_text(algorithm, s->algorithm, sizeof(s->algorithm), e);
		if (rc == 0 && !search_known(s->algorithm, e)) {
			return yaml_error_at(algorithm, e);
		}
	}
	int64_t n;
	if (rc == 0 && yaml_kind(samples) != YAML_ABSENT) {
		rc = yaml_as_int(samples, 1, 1000000, &n, e);
		s->samples = rc ? 0 : (int)n;
	}
	if (rc == 0 && yaml_kind(time) != YAML_ABSENT) {
		rc = yaml_as_time(time, &s->time, e);
		if (rc == 0 && s->time <= 0) {
			return yaml_error(time, e, "time: above 0");
		}
	}
	if (rc == 0 && yaml_kind(seed) != YAML_ABSENT) {
		rc = yaml_as_int(seed, 0, INT64_MAX, &n, e);
		s->seed = rc ? 0 : (uint64_t)n;
	}
	return rc;
}

int spec_parse_proof(struct spec *s, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"pairs", "time", "panel", NULL};
	s->proof_pairs = 60;
	s->proof_time = 15 * 60;
	s->proof_panel = true;
	if (yaml_kind(map) == YAML_ABSENT) {
		return 0;
	}
	int rc = yaml_check_keys(map, keys, e);
	struct yaml_at pairs = yaml_get(map, "pairs"), time = yaml_get(map, "time");
	struct yaml_at panel = yaml_get(map, "panel");
	if (rc == 0 && yaml_kind(pairs) != YAML_ABSENT) {
		int64_t n = 0;
		rc = yaml_as_int(pairs, 0, 10000, &n, e);
		s->proof_pairs = (int)n;
	}
	if (rc == 0 && yaml_kind(time) != YAML_ABSENT) {
		rc = yaml_as_time(time, &s->proof_time, e);
		if (rc == 0 && s->proof_time <= 0) {
			return yaml_error(time, e, "time: above 0; 'pairs: 0' is no proof at all");
		}
	}
	if (rc == 0 && yaml_kind(panel) != YAML_ABSENT) {
		rc = yaml_as_bool(panel, &s->proof_panel, e);
	}
	return rc;
}

int spec_parse_allow(struct spec *s, struct yaml_at list, struct err *e)
{
	if (yaml_kind(list) == YAML_ABSENT) {
		return 0;
	}
	if (yaml_kind(list) != YAML_LIST) {
		return yaml_error(list, e, "allow: a list, e.g. [disruptive]");
	}
	for (size_t i = 0; i < yaml_count(list); i++) {
		int word;
		int rc = yaml_as_word(yaml_item(list, i), allow_words, &word, e);
		if (rc) {
			return rc;
		}
		s->allow |= 1u << word;
	}
	return 0;
}
