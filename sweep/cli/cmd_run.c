/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep run: one sweep from the spec to the files it leaves. The order matters: everything is
 * rolled back before anything is written or printed about the result, and it is rolled back
 * however the sweep ends.
 */
#include "boots.h"
#include "cleanup.h"
#include "cli.h"
#include "cli_run.h"
#include "json_util.h"
#include "rivals.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"output", 'o', "DIR", "where best.yaml, report.html and result.json go", false},
	{"samples", 0, "N", "budget of the search in measurements, instead of the spec's", false},
	{"time", 0, "T", "time limit of the search, e.g. 10min", false},
	{"seed", 0, "N", "seed of the search, instead of the spec's", false},
	{"against", 0, "PROFILE", "prove the winner against this profile, too", false},
	{"warm", 0, NULL, "begin with what earlier runs on machines of this kind have measured",
	 false},
	{"boots", 0, "N", "prove over N boots: give the same command again after each reboot",
	 false},
	{"resume", 0, NULL, "go on with the newest unfinished run of this spec", false},
	{"push-agent", 0, NULL, "take the agent along to hosts behind a command (ssh, srun)",
	 false},
	{"dry-run", 0, NULL, "check everything, print the space and the cost, set nothing", false},
	{NULL, 0, NULL, NULL, false},
};

static int load_spec(struct run *r, struct err *e)
{
	int64_t samples, seed;
	int rc = spec_load(r->c->args[0], &r->spec, e);
	if (rc < 0) {
		return rc;
	}
	samples = r->spec->samples;
	seed = (int64_t)r->spec->seed;
	if ((rc = cli_int(r->c, "samples", 1, 1000000, &samples, e)) < 0 ||
	    (rc = cli_int(r->c, "seed", 0, INT64_MAX, &seed, e)) < 0 ||
	    (rc = cli_time(r->c, "time", &r->spec->time, e)) < 0) {
		return rc;
	}
	if (cli_value(r->c, "push-agent")) {
		hosts_push_agents(r->spec);
	}
	r->spec->samples = (int)samples;
	r->spec->seed = (uint64_t)seed;
	for (size_t i = 0; i < r->spec->n_warnings; i++) {
		cli_note(r->c, "warning: %s", r->spec->warnings[i]);
	}
	return 0;
}

static int begin_record(struct run *r, struct err *e)
{
	auto_json json_t *hosts = hosts_fingerprints(&r->hosts);
	int rc = r->store ? 0 : cli_open_store(r->c, true, &r->store, e);
	if (rc < 0) {
		return rc;
	}
	r->machines = json_incref(hosts);
	if (cli_value(r->c, "resume")) {
		return run_resume(r, e);
	}
	r->record = (struct store_run){
		.name = r->spec->name,
		.spec = r->spec->text,
		.spec_sha = r->spec->sha,
		.seed = r->spec->seed,
		.hosts = hosts,
	};
	rc = store_begin_run(r->store, &r->record, e);
	r->record.hosts = NULL;
	return rc;
}

/* Whoever else sets what is swept may undo it in the middle, and the best profile later. */
static void tell_rivals(const struct run *r)
{
	auto_json json_t *list = rivals_of(&r->hosts);
	json_t *one, *set;
	size_t i, k;
	json_array_foreach(list, i, one)
	{
		json_array_foreach(json_object_get(one, "sets"), k, set)
		{
			cli_note(r->c, "%s: %s sets %s, too", json_get_text(one, "host", ""),
				 json_get_text(one, "who", ""), json_string_value(set));
		}
	}
}

static int take_nodes(struct run *r, struct err *e)
{
	int rc = allocation_open(r->spec, r->c->launcher, r->c->interrupt_fd, &r->nodes, e);
	return rc < 0 ? rc : fleet_from_slurm(r->spec, r->nodes.nodes, r->nodes.job, e);
}

/* Hosts, space and engine: all that can be refused is refused before anything is set. */
static int prepare(struct run *r, struct err *e)
{
	struct space_source source = {hosts_probe, &r->hosts};
	auto_json json_t *skipped = NULL;
	json_t *one;
	size_t i;
	int rc = r->spec->slurm_pairs ? take_nodes(r, e) : 0;
	r->engine = rc < 0 ? NULL : engine_find(r->spec->test.engine, e);
	if (!r->engine) {
		return rc < 0 ? rc : -EINVAL;
	}
	rc = hosts_open(r->spec, r->c->launcher, &r->hosts, e);
	if (rc < 0) {
		return rc;
	}
	r->hosts_up = true;
	tell_rivals(r);
	rc = hosts_find_devices(&r->hosts, r->spec, e);
	rc = rc < 0 ? rc : space_create(r->spec, &source, &r->space, &skipped, e);
	json_array_foreach(skipped, i, one)
	{
		cli_note(r->c, "left out: %s", json_string_value(one));
	}
	return rc < 0 ? rc : run_load_against(r, e);
}

static struct agent *agent_of(const struct run *r, int host)
{
	return host < 0 ? NULL : r->hosts.agents[host];
}

/* Also for the panel, whose test is another. */
static int create_engine(void *ctx, const struct spec *spec, void **state, struct err *e)
{
	struct run *r = ctx;
	struct engine_env env = {
		.spec = spec,
		.space = r->space,
		.launcher = r->c->launcher,
		.sender = agent_of(r, r->spec->test.from),
		.receiver = agent_of(r, r->spec->test.to),
		.receiver_address = r->hosts.receiver_address,
		.seed = r->spec->seed,
	};
	return r->engine->create(&env, state, e);
}

static void make_env(struct run *r, struct trial_env *out)
{
	struct trial_env env = {
		.spec = r->spec,
		.space = r->space,
		.engine = r->engine,
		.engine_state = r->engine_state,
		.interrupt_fd = r->c->interrupt_fd,
		.replay = &r->replay,
		.deadline = INFINITY,
	};
	memcpy(env.agents, r->hosts.agents, sizeof(env.agents));
	*out = env;
}

static int sweep(struct run *r, struct err *e)
{
	struct trial_env env;
	bool panel = strcmp(r->spec->test.engine, "builtin") == 0;
	struct loop_options o = {.store = r->store,
				 .run = r->record.id,
				 .against = *r->against_name ? &r->against : NULL,
				 .warm = cli_value(r->c, "warm") ? &r->warm : NULL,
				 .engine = panel ? create_engine : NULL,
				 .progress = run_print_progress,
				 .ctx = r};
	make_env(r, &env);
	int rc = r->spec->n_pairs ? fleet_open(r->spec, r->c->launcher, &env, &r->fleet, e) : 0;
	rc = rc ? rc : loop_run(&env, &o, &r->result, e);
	run_print_progress_end(r);
	run_tell_pairs(r);
	return rc;
}

static int load_warm(struct run *r, struct err *e)
{
	auto_json json_t *hosts = hosts_fingerprints(&r->hosts);
	if (!cli_value(r->c, "warm")) {
		return 0;
	}
	int rc = warm_load(r->store, r->space, hosts, r->record.id, &r->warm, e);
	if (rc == 0) {
		cli_note(r->c, "warm start: %zu samples of %d earlier runs", r->warm.n,
			 r->warm.runs);
	}
	return rc;
}

static int measure_all(struct run *r, struct err *e)
{
	auto_json json_t *restored = NULL;
	int rc = r->earlier ? 0 : begin_record(r, e);
	rc = rc < 0 ? rc : load_warm(r, e);
	if (rc == 0) {
		rc = hosts_open_sessions(&r->hosts, r->space, &restored, e);
	}
	if (rc == 0) {
		rc = create_engine(r, r->spec, &r->engine_state, e);
	}
	if (rc == 0 && r->earlier) {
		struct trial_env env;
		make_env(r, &env);
		return run_boots_measure(r, &env, e);
	}
	return rc < 0 ? rc : sweep(r, e);
}

/* Rolls back whatever happened; what it could not restore outweighs every other error. */
static int put_back(struct run *r, int rc, struct err *e)
{
	struct err closing = {0};
	if (r->engine_state) {
		r->engine->destroy(r->engine_state);
	}
	if (!r->hosts_up) {
		return rc;
	}
	struct err of_pool = {0};
	int rc_pool = fleet_close(r->fleet, NULL, &of_pool);
	int rc_close = hosts_close(&r->hosts, &r->rollback, &closing);
	if (rc_pool < 0 && (rc_close == 0 || closing.class != ERR_RESTORE)) {
		closing = of_pool;
		rc_close = rc_pool;
	}
	r->restored = rc_close == 0 || closing.class != ERR_RESTORE;
	if (rc_close < 0 && (rc == 0 || closing.class == ERR_RESTORE)) {
		*e = closing;
		return rc_close;
	}
	return rc;
}

static int dry_run(struct run *r)
{
	auto_free char *text = space_text(r->space);
	double sample = r->spec->test.duration + 1;
	printf("%s", text ? text : "");
	printf("search: %d samples, about %.0f s, at most %.0f s\n", r->spec->samples,
	       r->spec->samples * sample, r->spec->time);
	printf("proof: at most %d pairs, about %.0f s, at most %.0f s\n", r->spec->proof_pairs,
	       2 * r->spec->proof_pairs * sample, r->spec->proof_time);
	printf("nothing was set\n");
	return CLI_DONE;
}

static bool is_complete(const struct run *r, int rc)
{
	return rc == 0 && r->result.has_best && r->result.baseline_sample.ok;
}

static bool is_interrupted(const struct run *r, int rc)
{
	return r->result.interrupted || (rc < 0 && cli_interrupted(r->c));
}

/* The error on stderr alone: with --json the result, which follows, is the one object on stdout. */
static int tell_error(struct run *r, const struct err *e)
{
	bool json = r->c->json;
	r->c->json = json && !*r->record.id;
	int status = cli_fail(r->c, e);
	r->c->json = json;
	return status;
}

/* Files, store and the last words. measured: how the sweep itself went; rc: and the way back. */
static int finish(struct run *r, int measured, int rc, struct err *e)
{
	int status = is_complete(r, rc) ? CLI_DONE : CLI_REFUSED;
	bool lost = measured == -EHOSTDOWN; /* what was measured before is good: it can go on */
	const char *word = is_interrupted(r, measured) || lost ? "interrupted"
			   : is_complete(r, measured)	       ? "complete"
							       : "failed";
	if (rc < 0 && (!is_interrupted(r, rc) || e->class == ERR_RESTORE)) {
		status = tell_error(r, e);
	}
	if (!r->restored) {
		status = CLI_NOT_RESTORED;
	} else if (is_interrupted(r, rc)) {
		status = CLI_INTERRUPTED;
	}
	if (*r->record.id) {
		struct err writing = {0};
		if (run_write_files(r, word, &writing) < 0) {
			int failed = tell_error(r, &writing);
			status = status == CLI_DONE ? failed : status;
		}
	}
	if (lost && *r->record.id) {
		cli_note(r->c, "run --resume goes on where the host was lost");
	}
	if (status == CLI_INTERRUPTED) {
		cli_note(r->c, "interrupted; everything is rolled back%s",
			 *r->record.id ? ", and run --resume goes on from here" : "");
	}
	return status;
}

/* A boot that was not measured to its end is not counted, and the run waits on. */
static int finish_boot(struct run *r, int measured, int rc, struct err *e)
{
	bool interrupted = measured == -EINTR;
	int status = rc < 0 && (!interrupted || e->class == ERR_RESTORE) ? tell_error(r, e)
									 : CLI_DONE;
	if (!r->restored) {
		return CLI_NOT_RESTORED;
	}
	if (interrupted) {
		cli_note(r->c, "interrupted; everything is rolled back");
		return CLI_INTERRUPTED;
	}
	return rc < 0 ? status : run_boots_write(r, e) < 0 ? cli_fail(r->c, e) : CLI_DONE;
}

static void run_clear(struct run *r)
{
	loop_result_clear(&r->result);
	replay_clear(&r->replay);
	warm_clear(&r->warm);
	space_destroy(r->space);
	store_close(r->store);
	allocation_close(&r->nodes);
	spec_free(r->spec);
	json_decref(r->rollback);
	json_decref(r->earlier);
	json_decref(r->machines);
	cleanup_close(&r->folder_fd);
}

static int run(struct cli *c)
{
	struct run r = {.c = c, .restored = true, .folder_fd = -1, .nodes = {.in = -1, .out = -1}};
	struct err e = {0};
	loop_result_init(&r.result);
	bool dry = cli_value(c, "dry-run") != NULL;
	int rc = load_spec(&r, &e), status = CLI_DONE;
	if (rc == 0) {
		rc = dry ? run_check_places(&r, &e) : run_check_output(&r, &e);
	}
	if (rc == 0 && !dry && r.spec->n_hosts > 0) {
		status = cli_restore_crashed(c);
	}
	if (status == CLI_DONE) {
		rc = rc == 0 ? prepare(&r, &e) : rc;
		int boots = rc == 0 && !dry ? run_boots_find(&r, &e) : BOOTS_NONE;
		rc = boots < 0 ? boots : rc;
		if (rc == 0 && dry) {
			status = dry_run(&r);
		} else if (boots == BOOTS_SAME) {
			status = run_boots_tell_same(&r);
		} else if (rc == 0) {
			rc = measure_all(&r, &e);
		}
		int measured = rc;
		rc = put_back(&r, rc, &e);
		if (status != CLI_NO && (!dry || rc < 0)) {
			status = r.earlier ? finish_boot(&r, measured, rc, &e)
					   : finish(&r, measured, rc, &e);
		}
	}
	run_clear(&r);
	return status;
}

const struct command command_run = {
	.name = "run",
	.arguments = "SPEC.yaml",
	.min_args = 1,
	.max_args = 1,
	.summary = "Sweep: search for the best configuration, prove it, roll back",
	.options = options,
	.needs_launcher = true,
	.run = run,
};
