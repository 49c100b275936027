/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep exec: runs a program where the profile's run-scope settings say (NUMA policy, CPUs),
 * and names those that only the program itself can ask for. The profile is read by a child without
 * privilege, since the program shall have all that its caller has.
 */
#include "cleanup.h"
#include "cli.h"
#include "numa_place.h"
#include "protocol.h"
#include "targets.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define READ_MS 10000

static const struct cli_option options[] = {
	{"host", 0, "NAME", "whose settings, of a profile with several hosts", true},
	{NULL, 0, NULL, NULL, false},
};

/* The host that is named, without a VIA that has no meaning here; "" if none is. */
static const char *named_host(const struct cli *c, char *buf, size_t size)
{
	snprintf(buf, size, "%s", c->n_repeated ? c->repeated[0] : "");
	buf[strcspn(buf, "=")] = '\0';
	return buf;
}

/* The host whose settings these are: the one that is named, or the only one. */
static int choose_host(const struct cli *c, const struct profile *p, char *host, size_t size,
		       struct err *e)
{
	const char *other = "";
	named_host(c, host, size);
	for (size_t i = 0; i < p->n_application; i++) {
		const char *h = p->application[i].host;
		if (!*h || strcmp(h, host) == 0) {
			continue;
		}
		if (*other && strcmp(other, h) != 0 && !*host) {
			return err_usage(e,
					 "the profile has settings for programs on %s and on %s: "
					 "say whose by --host",
					 other, h);
		}
		other = h;
	}
	if (!*host) {
		snprintf(host, size, "%s", other);
	}
	return 0;
}

static void describe(const struct profile *p, const char *host, json_t *out)
{
	json_t *left = json_array();
	for (size_t i = 0; i < p->n_application; i++) {
		const struct profile_setting *s = &p->application[i];
		const struct setting *of = &s->assignment.setting;
		char text[VALUE_TEXT_MAX];
		if (*s->host && strcmp(s->host, host) != 0) {
			continue;
		}
		if (of->tunable->backend == BACKEND_NUMA) {
			json_object_set_new(out, of->name, value_to_json(&s->assignment.value));
			json_object_set_new(out, "device", json_string(of->device));
			continue;
		}
		value_format(&s->assignment.value, of->tunable->unit, text, sizeof(text));
		json_array_append_new(left, json_sprintf("%s = %s", of->name, text));
	}
	json_object_set_new(out, "left", left);
}

static int read_profile(struct cli *c, json_t *out, struct err *e)
{
	struct profile p;
	char host[64];
	int rc = launcher_drop_privileges(e);
	rc = rc ? rc : targets_load_profile(c, &p, e);
	if (rc) {
		return rc;
	}
	rc = choose_host(c, &p, host, sizeof(host), e);
	if (rc == 0) {
		describe(&p, host, out);
	}
	profile_clear(&p);
	return rc;
}

/* Never returns. */
static void reader(struct cli *c, int fd)
{
	struct err e = {0};
	struct channel ch;
	json_t *told = json_object();
	if (channel_init(&ch, fd, fd)) {
		_exit(1);
	}
	int rc = read_profile(c, told, &e);
	json_t *answer = rc ? protocol_error(NULL, &e) : protocol_ok(NULL);
	json_object_update(answer, told);
	rc = channel_send(&ch, answer, &e);
	if (rc == -EMSGSIZE) {
		channel_send(&ch, protocol_error(NULL, &e), &e);
	}
	_exit(0);
}

static int ask_reader(struct cli *c, json_t **told, struct err *e)
{
	int p[2];
	struct channel ch;
	if (pipe2(p, O_CLOEXEC)) {
		return err_set(e, -errno, "pipe: %s", strerror(errno));
	}
	auto_close int in = p[0];
	auto_close int out = p[1];
	pid_t pid = fork();
	if (pid == 0) {
		reader(c, out);
	}
	if (pid < 0 || channel_init(&ch, in, in)) {
		return err_set(e, -errno, "fork: %s", strerror(errno));
	}
	close(take_fd(out));
	int rc = channel_recv(&ch, READ_MS, told, e);
	channel_clear(&ch);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
	return rc ? rc : protocol_result(*told, e);
}

/* For this process, and so for the program that it becomes. */
static int place(const json_t *told, struct err *e)
{
	const struct sysroot real = {""};
	const char *policy = json_string_value(json_object_get(told, "numa.policy"));
	const char *cpu = json_string_value(json_object_get(told, "numa.cpu"));
	const char *device = json_string_value(json_object_get(told, "device"));
	struct numa_policy p;
	cpu_set_t cpus;
	int rc = cpu ? numa_place_cpus(&real, device ? device : "", cpu, &cpus, e) : 0;
	if (rc == 0 && cpu && sched_setaffinity(0, sizeof(cpus), &cpus)) {
		rc = err_set(e, -errno, "numa.cpu: %s: %s", cpu, strerror(errno));
	}
	if (rc == 0 && policy) {
		rc = numa_policy_parse(policy, &p, e);
		rc = rc ? rc : numa_policy_apply(&p, e);
	}
	return rc;
}

static void tell_left(const struct cli *c, const json_t *told)
{
	size_t i;
	json_t *line;
	json_array_foreach(json_object_get(told, "left"), i, line)
	{
		cli_note(c, "the program itself must ask for %s", json_string_value(line));
	}
}

/* Returns only if it fails. */
static int become(char **argv, struct err *e)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	return err_set(e, -errno, "%s: %s", argv[0], strerror(errno));
}

static int run(struct cli *c)
{
	struct err e = {0};
	auto_json json_t *told = NULL;
	int rc = ask_reader(c, &told, &e);
	rc = rc ? rc : place(told, &e);
	if (rc == 0) {
		tell_left(c, told);
		fflush(NULL);
		c->args[c->n_args] = NULL; /* within argv: the command's own name was there, too */
		become(c->args + 1, &e);
	}
	return cli_fail(c, &e);
}

const struct command command_exec = {
	.name = "exec",
	.arguments = "PROFILE[:ROLE] -- COMMAND [ARGUMENT...]",
	.min_args = 2,
	.max_args = -1,
	.summary = "Run a program where a profile says: NUMA policy and CPUs",
	.options = options,
	.keeps_privilege = true,
	.run = run,
};
