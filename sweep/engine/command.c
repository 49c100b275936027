/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any benchmark as an engine: a program that takes its parameters as one line of JSON and answers
 * with another; started once a sample, or once for all (serve). It knows no hosts and sets nothing.
 * Called by the loop through engine.c.
 */
#include "command_private.h"
#include "engine.h"

#include "cleanup.h"
#include "spec.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define POLL_MS	   5
#define DEATHS_MAX 2 /* of a served command, without an answer in between */

struct command {
	const struct spec *spec;
	struct command_child child;
	double deadline;
	int deaths;
	bool running;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	while (path && *path) {
		char file[4096];
		size_t n = strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, program);
		if (access(file, X_OK) == 0) {
			return true;
		}
		path += n + (path[n] == ':');
	}
	return false;
}

/* A program that is not there would only show as many failed samples. */
static int check_program(const struct spec *s, struct err *e)
{
	const char *program = s->test.command[0];
	bool found = strchr(program, '/') ? access(program, X_OK) == 0 : in_path(program);
	if (found) {
		return 0;
	}
	return spec_error(s, s->test.place, e, "the command '%.200s' cannot be found or run",
			  program);
}

static int command_create(const struct engine_env *env, void **state, struct err *e)
{
	int rc = check_program(env->spec, e);
	if (rc) {
		return rc;
	}
	struct command *c = calloc(1, sizeof(*c));
	if (!c) {
		return err_set(e, -ENOMEM, "out of memory for the engine");
	}
	c->spec = env->spec;
	rc = command_child_init(&c->child, env->launcher, e);
	if (rc) {
		command_child_clear(&c->child);
		free(c);
		return rc;
	}
	*state = c;
	return 0;
}

static json_t *make_params(const struct engine_run *run)
{
	json_t *params = json_object();
	for (size_t i = 0; params && run->space && i < run->space->n; i++) {
		const struct dimension *d = &run->space->dims[i];
		const char *name = d->target.setting.name;
		if (d->target.setting.tunable->backend == BACKEND_PARAM) {
			json_object_set_new(params, name + strlen("param."),
					    value_to_json(&run->config->v[i]));
		}
	}
	return params;
}

static char *make_line(const struct engine_run *run)
{
	auto_json json_t *request = json_pack("{s:o, s:i}", "params", make_params(run), "sample",
					      run->number);
	auto_free char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	char *line = NULL;
	return text && asprintf(&line, "%s\n", text) > 0 ? line : NULL;
}

static int give_up(struct err *e)
{
	return err_set(e, -EHOSTDOWN,
		       "the served command has ended %d times without an answer in between",
		       DEATHS_MAX);
}

/* A served command that is alive is used again; what it said unasked is dropped. */
static int make_child(struct command *c, struct err *e)
{
	if (c->spec->test.serve && c->child.pid > 0) {
		command_child_read(&c->child, false);
		if (!c->child.ended) {
			command_child_forget_lines(&c->child);
			return 0;
		}
		c->deaths++;
	}
	command_child_kill(&c->child);
	if (c->deaths >= DEATHS_MAX) {
		return give_up(e);
	}
	return command_child_start(&c->child, c->spec->test.command, c->spec->test.serve, e);
}

static int command_start(void *state, const struct engine_run *run, struct err *e)
{
	struct command *c = state;
	auto_free char *line = make_line(run);
	if (!line) {
		return err_set(e, -ENOMEM, "out of memory for the engine");
	}
	int rc = make_child(c, e);
	if (rc) {
		return rc;
	}
	c->deadline = now() + c->spec->test.timeout;
	c->running = true;
	rc = command_child_write(&c->child, line, e);
	if (rc == 0 && !c->spec->test.serve) {
		close(take_fd(c->child.in)); /* end of input: nothing more will come */
	}
	return rc;
}

static int say_status(const struct command_child *c, struct sample *out)
{
	if (c->status == 126 || c->status == 127) {
		return sample_fail(out, "the command cannot be run (exit status %d)", c->status);
	}
	if (c->status > 128) {
		return sample_fail(out, "the command was ended by signal %d", c->status - 128);
	}
	return sample_fail(out, "the command ended with exit status %d", c->status);
}

static void finish_line(struct command *c, struct sample *out)
{
	if (c->child.too_long) {
		sample_fail(out, "the command's last line is longer than 64 KiB");
	} else if (c->child.has_nul) {
		sample_fail(out, "the command's last line has a NUL byte, which is no JSON");
	} else if (!c->child.has_last) {
		sample_fail(out, "the command has written nothing");
	} else {
		command_answer(c->child.last, &c->spec->objective, out);
	}
}

/* 1 when a sample is finished, 0 while the program runs. */
static int poll_once(struct command *c, struct sample *out)
{
	command_child_read(&c->child, false);
	if (!c->child.exited && !c->child.ended) {
		return 0;
	}
	if (c->child.exited && c->child.status != 0) {
		say_status(&c->child, out);
	} else if (!c->child.exited) {
		sample_fail(out, "the command was killed");
	} else {
		finish_line(c, out);
	}
	return 1;
}

static int poll_served(struct command *c, struct sample *out, struct err *e)
{
	command_child_read(&c->child, true);
	if (c->child.has_last) {
		finish_line(c, out);
		c->deaths = 0;
		return 1;
	}
	if (!c->child.ended) {
		return 0;
	}
	command_child_kill(&c->child);
	if (++c->deaths >= DEATHS_MAX) {
		return give_up(e);
	}
	sample_fail(out, "the served command has ended");
	return 1;
}

/* A served command that is late is not listened to any more: its answer would be the next one's. */
static int check_limits(struct command *c, struct sample *out)
{
	if (c->child.total > COMMAND_OUTPUT_MAX) {
		sample_fail(out, "the command has written more than 16 MiB");
	} else if (now() > c->deadline) {
		sample_fail(out, "the command has not answered within %g s", c->spec->test.timeout);
	} else {
		return 0;
	}
	command_child_kill(&c->child);
	return 1;
}

static int command_poll(void *state, struct sample *out, int *poll_ms, struct err *e)
{
	struct command *c = state;
	*poll_ms = POLL_MS;
	int rc = c->spec->test.serve ? poll_served(c, out, e) : poll_once(c, out);
	if (rc == 0) {
		rc = check_limits(c, out);
	}
	c->running = rc == 0;
	return rc;
}

static void command_stop(void *state)
{
	struct command *c = state;
	if (c->running || !c->spec->test.serve) {
		command_child_kill(&c->child);
	}
	c->running = false;
}

static void command_destroy(void *state)
{
	struct command *c = state;
	command_child_clear(&c->child);
	free(c);
}

const struct engine_ops engine_command = {
	.name = "command",
	.help = "any benchmark: a program that reads parameters and writes metrics as JSON",
	.create = command_create,
	.start = command_start,
	.poll = command_poll,
	.stop = command_stop,
	.destroy = command_destroy,
};
