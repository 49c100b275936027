/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep doctor: are these hosts fit to measure, and healthy; what each finding costs and how to
 * mend it; and how small a gain can be told from the noise. Sets nothing.
 */
#include "cleanup.h"
#include "cli.h"
#include "json_util.h"
#include "noise.h"
#include "rivals.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAMPLES_DEFAULT 10
#define NOISY_SIGMA	0.05

static const struct cli_option options[] = {
	{"device", 0, "D", "look at this NIC alone (without a spec)", false},
	{"samples", 0, "N", "how often the same is measured for the noise; 0: not (default 10)",
	 false},
	{NULL, 0, NULL, NULL, false},
};

/* Without a spec: this machine, and the test's own noise over loopback. */
static const char here[] = "tunesweep: 1\n"
			   "name: doctor\n"
			   "hosts: {here: {via: local}}\n"
			   "test: {type: tcp_stream, from: here, to: here, duration: 300ms}\n"
			   "tunables: [{set: socket.message_size, choices: [128KiB, 256KiB]}]\n";

struct visit { /* what the hosts have told */
	struct cli *c;
	struct spec *spec;
	struct hosts hosts;
	json_t *told;	/* {host: examination} */
	json_t *rivals; /* of a spec */
	struct noise noise;
	bool noise_known;
};

static int load(struct visit *v, struct err *e)
{
	if (v->c->n_args) {
		return spec_load(v->c->args[0], &v->spec, e);
	}
	return spec_parse("doctor", here, strlen(here), &v->spec, e);
}

static int examine(struct visit *v, struct err *e)
{
	const char *device = cli_value(v->c, "device");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < v->spec->n_hosts; i++) {
		json_t *one = NULL;
		bool seen = false;
		for (size_t k = 0; k < i; k++) {
			seen |= v->hosts.agents[k] == v->hosts.agents[i];
		}
		if (seen) {
			continue;
		}
		rc = agent_doctor(v->hosts.agents[i], device && !v->c->n_args ? device : "", &one,
				  e);
		if (rc == 0) {
			json_object_set_new(v->told, v->spec->hosts[i].name, one);
		}
	}
	return rc;
}

static int measure(struct visit *v, struct err *e)
{
	int64_t samples = SAMPLES_DEFAULT;
	int rc = cli_int(v->c, "samples", 0, 1000, &samples, e);
	if (rc || !samples || v->spec->test.from < 0) {
		return rc;
	}
	rc = noise_measure(&v->hosts, (int)samples, v->c->interrupt_fd, &v->noise, e);
	v->noise_known = rc == 0;
	return rc;
}

static int visit_all(struct visit *v, struct err *e)
{
	struct err closing = {0};
	int rc = hosts_open(v->spec, v->c->launcher, &v->hosts, e);
	if (rc) {
		return rc;
	}
	rc = examine(v, e);
	if (rc == 0) {
		v->rivals = v->c->n_args ? rivals_of(&v->hosts) : json_array();
		rc = measure(v, e);
	}
	int rc_close = hosts_close(&v->hosts, NULL, &closing);
	if (rc == 0 && rc_close < 0) {
		*e = closing;
	}
	return rc ? rc : rc_close;
}

static bool too_noisy(const struct noise *n)
{
	return n->failed == n->samples || n->score_sigma > NOISY_SIGMA;
}

/* Fit to measure: no problem anywhere, and the noise is bearable. */
static bool is_fit(const struct visit *v)
{
	const char *host;
	json_t *one, *finding;
	size_t i;
	json_object_foreach(v->told, host, one)
	{
		json_array_foreach(json_object_get(one, "findings"), i, finding)
		{
			if (!strcmp(json_get_text(finding, "level", ""), "problem")) {
				return false;
			}
		}
	}
	return !v->noise_known || !too_noisy(&v->noise);
}

static json_t *noise_json(const struct noise *n)
{
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "samples", n->samples,
			 "failed", n->failed, "throughput", json_number_or_null(n->throughput),
			 "throughput_percent", json_number_or_null(100 * n->throughput_sigma),
			 "service_demand_percent", json_number_or_null(100 * n->demand_sigma),
			 "score_percent", json_number_or_null(100 * n->score_sigma),
			 "smallest_gain_percent", json_number_or_null(n->smallest_gain), "pairs",
			 n->pairs, "failure", json_text_or_null(n->failure));
}

static void print_findings(const char *host, const json_t *examination)
{
	const json_t *findings = json_object_get(examination, "findings"), *one;
	size_t i;
	printf("%s: %zu checks, %zu findings\n", host,
	       json_array_size(json_object_get(examination, "checked")), json_array_size(findings));
	json_array_foreach((json_t *)findings, i, one)
	{
		const char *device = json_get_text(one, "device", "");
		printf("  %-7s %s%s%s: %s\n          costs: %s\n          mend:  %s\n",
		       json_get_text(one, "level", ""), json_get_text(one, "check", ""),
		       *device ? " " : "", device, json_get_text(one, "found", ""),
		       json_get_text(one, "cost", ""), json_get_text(one, "mend", ""));
	}
}

static void print_noise(const struct noise *n)
{
	if (n->failed == n->samples) {
		printf("noise: not one of %d samples succeeded: %s\n", n->samples, n->failure);
		return;
	}
	if (!isfinite(n->throughput_sigma)) {
		printf("noise: %d samples of the same, %d failed: fewer than 3 good ones tell no "
		       "spread\n",
		       n->samples, n->failed);
		return;
	}
	printf("noise: %d samples of the same, %d failed; one differs by %.2g %% in throughput",
	       n->samples, n->failed, 100 * n->throughput_sigma);
	if (isfinite(n->demand_sigma)) {
		printf(", %.2g %% in service demand", 100 * n->demand_sigma);
	}
	if (isfinite(n->smallest_gain)) {
		printf("\n       a gain under %.2g %% is hard to prove with %d pairs",
		       n->smallest_gain, n->pairs);
	}
	printf("%s\n", too_noisy(n) ? " (problem: find out what else works here)" : "");
}

static void print_rivals(const json_t *rivals)
{
	const json_t *one, *name;
	size_t i, k;
	json_array_foreach((json_t *)rivals, i, one)
	{
		printf("%s: %s sets what this spec sets:", json_get_text(one, "host", ""),
		       json_get_text(one, "who", ""));
		json_array_foreach(json_object_get(one, "sets"), k, name)
		{
			printf(" %s", json_string_value(name));
		}
		putchar('\n');
	}
}

static void print_all(const struct visit *v)
{
	const char *host;
	json_t *one;
	if (v->c->json) {
		auto_json json_t *j = json_pack(
			"{s:b, s:O, s:O, s:o}", "fit", is_fit(v), "hosts", v->told, "rivals",
			v->rivals, "noise", v->noise_known ? noise_json(&v->noise) : json_null());
		cli_print_json(j);
		return;
	}
	json_object_foreach(v->told, host, one)
	{
		print_findings(host, one);
	}
	print_rivals(v->rivals);
	if (v->noise_known) {
		print_noise(&v->noise);
	}
	printf("%s\n", is_fit(v) ? "fit to measure" : "not fit to measure: see the problems above");
}

static int run(struct cli *c)
{
	struct visit v = {.c = c, .told = json_object()};
	struct err e = {0};
	int status, rc = load(&v, &e);
	if (rc == 0 && v.spec->n_hosts == 0) {
		rc = err_usage(&e, "%s names no hosts: there is nobody to examine", c->args[0]);
	}
	rc = rc ? rc : visit_all(&v, &e);
	if (rc == -EINTR || (rc < 0 && cli_interrupted(c))) {
		status = CLI_INTERRUPTED;
	} else if (rc < 0) {
		status = cli_fail(c, &e);
	} else {
		print_all(&v);
		status = is_fit(&v) ? CLI_DONE : CLI_NO;
	}
	json_decref(v.told);
	json_decref(v.rivals);
	spec_free(v.spec);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "[SPEC]",
	.max_args = 1,
	.summary = "Is this machine fit to measure, and healthy",
	.options = options,
	.needs_launcher = true,
	.run = run,
};
