/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The block test of a spec: which engine measures what, between which hosts, for how long. Called
 * by spec.c after the hosts are known.
 */
#include "simulated.h"
#include "spec_private.h"

#include "cleanup.h"
#include <string.h>

static const char *const engines[] = {"builtin", "netperf", "iperf3", "command", "simulated", NULL};
static const char *const types[] = {"tcp_stream", "tcp_maerts", "tcp_bidir",
				    "udp_stream", "tcp_rr",	NULL};

static bool is_engine(const struct spec_test *t, const char *name)
{
	return strcmp(t->engine, name) == 0;
}

/* Those that send between two hosts. */
static bool is_stream_engine(const struct spec_test *t)
{
	return is_engine(t, "builtin") || is_engine(t, "netperf") || is_engine(t, "iperf3");
}

static int parse_engine(struct spec_test *t, struct yaml_at at, struct err *e)
{
	int i = 0;
	if (yaml_kind(at) != YAML_ABSENT) {
		int rc = yaml_as_word(at, engines, &i, e);
		if (rc) {
			return rc;
		}
	}
	snprintf(t->engine, sizeof(t->engine), "%s", engines[i]);
	return 0;
}

static int parse_type(struct spec_test *t, struct yaml_at at, struct err *e)
{
	int i = 0;
	if (yaml_kind(at) != YAML_ABSENT) {
		int rc = yaml_as_word(at, types, &i, e);
		if (rc) {
			return rc;
		}
	}
	snprintf(t->type, sizeof(t->type), "%s", types[i]);
	return 0;
}

/* Keys that belong to other engines would be silently without effect. */
static int check_engine_keys(const struct spec_test *t, struct yaml_at test, struct err *e)
{
	static const struct {
		const char *key, *engine;
	} owned[] = {{"command", "command"},   {"serve", "command"},	  {"timeout", "command"},
		     {"surface", "simulated"}, {"noise", "simulated"},	  {"drive", "builtin"},
		     {"receive", "builtin"},   {"background", "builtin"}, {"cpus", "builtin"}};
	static const char *const of_streams[] = {"type", "streams", "from", "to",
						 "send", "rate",    "port", "warmup"};
	for (size_t i = 0; i < ARRAY_SIZE(of_streams); i++) {
		struct yaml_at at = yaml_get(test, of_streams[i]);
		if (yaml_kind(at) != YAML_ABSENT && !is_stream_engine(t)) {
			return yaml_error(
				at, e,
				"'%s' goes with 'engine: builtin', netperf or iperf3; here "
				"it is %s",
				of_streams[i], t->engine);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++) {
		struct yaml_at at = yaml_get(test, owned[i].key);
		if (yaml_kind(at) != YAML_ABSENT && !is_engine(t, owned[i].engine)) {
			return yaml_error(at, e, "'%s' goes with 'engine: %s'; here it is %s",
					  owned[i].key, owned[i].engine, t->engine);
		}
	}
	return 0;
}

static int parse_command(struct spec_test *t, struct yaml_at test, struct err *e)
{
	struct yaml_at command = yaml_get(test, "command"), serve = yaml_get(test, "serve");
	struct yaml_at timeout = yaml_get(test, "timeout");
	t->timeout = 10 * t->duration + 60;
	if (!is_engine(t, "command")) {
		return 0;
	}
	if (yaml_kind(command) == YAML_ABSENT) {
		return yaml_error(test, e,
				  "'engine: command' wants 'command': a list, e.g. [./bench, "
				  "--flag]");
	}
	int rc = spec_parse_argv(command, &t->command, e);
	if (rc == 0 && yaml_kind(serve) != YAML_ABSENT) {
		rc = yaml_as_bool(serve, &t->serve, e);
	}
	if (rc == 0 && yaml_kind(timeout) != YAML_ABSENT) {
		rc = yaml_as_time(timeout, &t->timeout, e);
		if (rc == 0 && (t->timeout <= 0 || t->timeout > 86400)) {
			return yaml_error(timeout, e, "timeout: above 0, at most 24h");
		}
	}
	return rc;
}

static int parse_simulated(struct spec_test *t, struct yaml_at test, struct err *e)
{
	struct yaml_at surface = yaml_get(test, "surface"), noise = yaml_get(test, "noise");
	if (!is_engine(t, "simulated")) {
		return 0;
	}
	snprintf(t->surface, sizeof(t->surface), "ridge");
	t->noise = 0.03;
	int rc = 0;
	if (yaml_kind(surface) != YAML_ABSENT) {
		int i;
		rc = yaml_as_word(surface, surface_names(), &i, e);
		if (rc == 0) {
			snprintf(t->surface, sizeof(t->surface), "%s", surface_names()[i]);
		}
	}
	if (rc == 0 && yaml_kind(noise) != YAML_ABSENT) {
		rc = yaml_as_fraction(noise, &t->noise, e);
	}
	return rc;
}

/* Without from and to: the first host sends to the second, or one host to itself. */
static int parse_ends(struct spec *s, struct yaml_at test, struct err *e)
{
	struct spec_test *t = &s->test;
	struct yaml_at from = yaml_get(test, "from"), to = yaml_get(test, "to");
	t->from = t->to = -1;
	if (!is_stream_engine(t)) {
		return 0;
	}
	if (s->n_hosts == 0) {
		return yaml_error(test, e,
				  "engine %s sends between hosts: 'hosts' is missing (with "
				  "'engine: command' or 'simulated' it may be left out)",
				  t->engine);
	}
	t->from = 0;
	t->to = s->n_hosts > 1 ? 1 : 0;
	int rc = 0;
	if (yaml_kind(from) != YAML_ABSENT) {
		rc = spec_find_host(s, from, &t->from, e);
	}
	if (rc == 0 && yaml_kind(to) != YAML_ABSENT) {
		rc = spec_find_host(s, to, &t->to, e);
	}
	if (rc == 0 && t->from == t->to && s->n_hosts > 1) {
		return yaml_error(test, e, "'from' and 'to' are both '%s': two hosts are wanted",
				  s->hosts[t->from].name);
	}
	if (rc == 0 && s->n_hosts > 2 &&
	    (yaml_kind(from) == YAML_ABSENT || yaml_kind(to) == YAML_ABSENT)) {
		return yaml_error(test, e, "there are %zu hosts: say 'from' and 'to'", s->n_hosts);
	}
	return rc;
}

static int parse_measure(struct spec_test *t, struct yaml_at test, struct err *e)
{
	static const char *const drives[] = {"classic", "light", NULL};
	struct yaml_at duration = yaml_get(test, "duration"), streams = yaml_get(test, "streams");
	struct yaml_at drive = yaml_get(test, "drive");
	t->duration = 2;
	t->streams = 1;
	int rc = 0;
	if (yaml_kind(duration) != YAML_ABSENT) {
		rc = yaml_as_time(duration, &t->duration, e);
		if (rc == 0 && (t->duration < 0.01 || t->duration > 3600)) {
			return yaml_error(duration, e, "duration: 10ms to 1h");
		}
	}
	if (rc == 0 && yaml_kind(streams) != YAML_ABSENT) {
		int64_t n = 1;
		rc = yaml_as_int(streams, 1, 128, &n, e);
		t->streams = (int)n;
	}
	if (rc == 0 && yaml_kind(drive) != YAML_ABSENT) {
		int i = 0;
		rc = yaml_as_word(drive, drives, &i, e);
		t->light = i == 1;
	}
	return rc;
}

static int parse_repeats(struct spec_test *t, struct yaml_at samples, struct err *e)
{
	if (yaml_kind(samples) != YAML_LIST || yaml_count(samples) != 2) {
		return yaml_error(samples, e, "samples: [LEAST, MOST], e.g. [2, 8]");
	}
	int64_t lo, hi;
	int rc = yaml_as_int(yaml_item(samples, 0), 2, 1000, &lo, e);
	rc = rc ? rc : yaml_as_int(yaml_item(samples, 1), 2, 1000, &hi, e);
	if (rc) {
		return rc;
	}
	if (lo > hi) {
		return yaml_error(samples, e,
				  "samples: the range is upside down: write [%lld, %lld]",
				  (long long)hi, (long long)lo);
	}
	t->samples_min = (int)lo;
	t->samples_max = (int)hi;
	return 0;
}

static int parse_confidence(struct spec_test *t, struct yaml_at at, struct err *e)
{
	static const char *const keys[] = {"level", "width", "samples", NULL};
	t->samples_min = t->samples_max = 1;
	t->confidence_level = 0.95;
	t->confidence_width = 0.05;
	if (yaml_kind(at) == YAML_ABSENT) {
		return 0;
	}
	int rc = yaml_check_keys(at, keys, e);
	if (rc) {
		return rc;
	}
	t->samples_min = 2;
	t->samples_max = 8;
	struct yaml_at level = yaml_get(at, "level"), width = yaml_get(at, "width");
	struct yaml_at samples = yaml_get(at, "samples");
	if (yaml_kind(level) != YAML_ABSENT) {
		rc = yaml_as_fraction(level, &t->confidence_level, e);
		if (rc == 0 && (t->confidence_level < 0.5 || t->confidence_level > 0.9999)) {
			return yaml_error(level, e, "level: 50%% to 99.99%%");
		}
	}
	if (rc == 0 && yaml_kind(width) != YAML_ABSENT) {
		rc = yaml_as_fraction(width, &t->confidence_width, e);
		if (rc == 0 && (t->confidence_width <= 0 || t->confidence_width > 1)) {
			return yaml_error(width, e, "width: above 0%%, at most 100%%");
		}
	}
	if (rc == 0 && yaml_kind(samples) != YAML_ABSENT) {
		rc = parse_repeats(t, samples, e);
	}
	return rc;
}

int spec_parse_test(struct spec *s, struct yaml_at test, struct err *e)
{
	static const char *const keys[] = {
		"engine",  "type",  "from",    "to",	  "duration",	"streams", "drive",
		"command", "serve", "timeout", "surface", "confidence", "noise",   "send",
		"receive", "rate",  "port",    "warmup",  "background", "cpus",	   NULL};
	struct spec_test *t = &s->test;
	t->place = spec_place_of(test);
	int rc = yaml_check_keys(test, keys, e);
	rc = rc ? rc : parse_engine(t, yaml_get(test, "engine"), e);
	rc = rc ? rc : check_engine_keys(t, test, e);
	rc = rc ? rc : parse_type(t, yaml_get(test, "type"), e);
	rc = rc ? rc : parse_ends(s, test, e);
	rc = rc ? rc : parse_measure(t, test, e);
	rc = rc ? rc : spec_parse_ways(t, test, e);
	rc = rc ? rc : parse_command(t, test, e);
	rc = rc ? rc : parse_simulated(t, test, e);
	return rc ? rc : parse_confidence(t, yaml_get(test, "confidence"), e);
}
