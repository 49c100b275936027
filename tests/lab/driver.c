/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Launcher, lab and agents by hand: reads one command a line, answers with one line, "ok ..." or
 * "error CODE CLASS sentence". For the scripts in this folder; no part of the product.
 */
#include "agent.h"
#include "cleanup.h"
#include "launcher.h"
#include <errno.h>
#include <string.h>

#define WORDS_MAX  64
#define AGENTS_MAX 8

struct driver {
	struct launcher *l;
	struct agent *agent[AGENTS_MAX];
	struct lab_info lab;
	char *word[WORDS_MAX];
	int n;
};

static int answer(int rc, const struct err *e, const char *text)
{
	static const char *const CLASSES[] = {"system", "usage", "restore"};
	if (rc < 0) {
		printf("error %d %s %s\n", e->code, CLASSES[e->class], e->text);
	} else {
		printf("ok %s\n", text);
	}
	return fflush(stdout);
}

static int answer_json(int rc, const struct err *e, json_t *j)
{
	auto_free char *text = j ? json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("null");
	if (rc < 0 && j) { /* what is told beside the error */
		fprintf(stderr, "%s\n", text);
	}
	json_decref(j);
	return answer(rc, e, text);
}

static const char *word(const struct driver *d, int i)
{
	return i < d->n ? d->word[i] : "";
}

/* The agent with the name of word 1. */
static struct agent **find(struct driver *d)
{
	for (int i = 0; i < AGENTS_MAX; i++) {
		if (d->agent[i] && strcmp(agent_name(d->agent[i]), word(d, 1)) == 0) {
			return &d->agent[i];
		}
	}
	return NULL;
}

static void do_lab(struct driver *d)
{
	struct err e = {0};
	struct lab_link link = {.delay_s = atof(word(d, 1)) / 1e3,
				.rate_bps = atof(word(d, 2)) * 1e6,
				.queue_bytes = atoll(word(d, 3)),
				.loss = atof(word(d, 4))};
	char text[300] = "";
	int rc = launcher_lab_create(d->l, &link, &d->lab, &e);
	snprintf(text, sizeof(text), "%s %s %s %s %s %d", d->lab.netns[0], d->lab.netns[1],
		 d->lab.address[0], d->lab.address[1], d->lab.emulator, (int)d->lab.link_pid);
	answer(rc, &e, text);
}

static void do_agent(struct driver *d)
{
	struct err e = {0};
	struct host_via via = {.kind = VIA_LOCAL};
	const char *how = word(d, 2);
	struct agent **free_place = d->agent;
	while (*free_place) {
		free_place++;
	}
	if (strncmp(how, "lab", 3) == 0) {
		via.kind = VIA_LAB;
		via.lab_end = atoi(how + 3);
	} else if (strncmp(how, "netns:", 6) == 0) {
		via.kind = VIA_NETNS;
		snprintf(via.netns, sizeof(via.netns), "%s", how + 6);
	} else if (strcmp(how, "cmd") == 0) {
		via.kind = VIA_COMMAND;
		via.argv = &d->word[3];
	} else if (how[0] == '/') {
		snprintf(via.agent, sizeof(via.agent), "%s", how);
	}
	answer(agent_connect(d->l, &via, word(d, 1), free_place, &e), &e, word(d, 1));
}

static void do_info(struct driver *d)
{
	const struct agent_info *i = agent_info(*find(d));
	struct err e = {0};
	answer_json(0, &e,
		    json_pack("{s:s, s:s, s:s, s:I, s:i, s:O}", "boot_id", i->boot_id, "address",
			      i->address, "netns_path", i->netns_path, "cookie",
			      (json_int_t)i->netns_cookie, "cpus", i->cpus, "host", i->host));
}

static void do_open(struct driver *d)
{
	struct err e = {0};
	struct setting s[WORDS_MAX];
	json_t *restored = NULL;
	size_t n = 0;
	int rc = 0;
	for (int i = 3; i < d->n && rc == 0; i++) {
		rc = tunable_resolve(d->word[i], "", "", &s[n++], &e);
	}
	if (rc == 0) {
		rc = agent_open(*find(d), word(d, 2), "lab-test", s, n, &restored, &e);
	}
	answer_json(rc, &e, restored);
}

static int take(struct driver *d, struct assignment *a, struct err *e)
{
	const char *field = strcmp(word(d, 3), "-") == 0 ? "" : word(d, 3);
	int rc = tunable_resolve(word(d, 2), field, "", &a->setting, e);
	if (rc) {
		return rc;
	}
	snprintf(a->field, sizeof(a->field), "%s", field);
	const struct tunable *t = a->setting.tunable;
	return value_parse(word(d, 4), t->type, t->unit, &a->value, e);
}

static void do_set(struct driver *d)
{
	struct err e = {0};
	struct assignment a = {0};
	struct value v = {0};
	int rc = take(d, &a, &e);
	if (rc == 0) {
		rc = agent_set(*find(d), &a, 1, &v, &e);
	}
	answer_json(rc, &e, value_to_json(&v));
}

static void do_replace(struct driver *d)
{
	struct err e = {0};
	struct assignment a = {0};
	int rc = d->n > 2 ? take(d, &a, &e) : 0;
	if (rc == 0) {
		rc = agent_replace(*find(d), &a, d->n > 2 ? 1 : 0, &e);
	}
	answer(rc, &e, "");
}

static void do_probe(struct driver *d)
{
	struct err e = {0};
	struct setting s;
	struct tunable_range r = {0};
	int rc = tunable_resolve(word(d, 2), word(d, 3), "", &s, &e);
	if (rc == 0) {
		rc = agent_probe(*find(d), &s, word(d, 3), &r, &e);
	}
	answer_json(rc, &e,
		    json_pack("{s:b, s:s, s:o, s:i}", "settable", r.settable, "why_not", r.why_not,
			      "present", value_to_json(&r.present), "choices", (int)r.n_choices));
}

static void do_stream(struct driver *d)
{
	struct err e = {0};
	json_t *reply = NULL;
	auto_json json_t *request = json_loads(word(d, 2), 0, NULL);
	int rc = agent_stream(*find(d), request, 5000, &reply, &e);
	answer_json(rc, &e, reply);
}

static void do_rollback(struct driver *d)
{
	struct err e = {0};
	json_t *report = NULL;
	int rc = agent_rollback(*find(d), false, &report, &e);
	answer_json(rc, &e, report);
}

static void do_commit(struct driver *d)
{
	struct err e = {0};
	answer(agent_commit(*find(d), &e), &e, "");
}

static void do_status(struct driver *d)
{
	struct err e = {0};
	json_t *status = NULL;
	int rc = agent_status(*find(d), &status, &e);
	answer_json(rc, &e, status);
}

static void do_ping(struct driver *d)
{
	struct err e = {0};
	answer(agent_ping(*find(d), &e), &e, "");
}

static void do_close(struct driver *d)
{
	struct err e = {0};
	json_t *report = NULL;
	struct agent **a = find(d);
	int rc = agent_close(*a, &report, &e);
	*a = NULL;
	answer_json(rc, &e, report);
}

static void do_spawn(struct driver *d)
{
	struct err e = {0};
	char text[4096] = "";
	int in = -1, out = -1;
	pid_t pid = 0;
	int rc = launcher_spawn(d->l, &d->word[1], &in, &out, &pid, &e);
	if (rc == 0) {
		close(in);
		ssize_t n = read(out, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = 0;
		text[strcspn(text, "\n")] = 0;
	}
	answer(rc, &e, text);
}

static void do_kill(struct driver *d)
{
	struct err e = {0};
	answer(launcher_kill(d->l, atoi(word(d, 1)), &e), &e, "");
}

static void do_restore(struct driver *d)
{
	struct err e = {0};
	json_t *report = NULL;
	int rc = launcher_restore(d->l, &report, &e);
	answer_json(rc, &e, report);
}

static void do_drop(struct driver *d)
{
	struct err e = {0};
	(void)d;
	answer(launcher_drop_privileges(&e), &e, "");
}

static void do_write(struct driver *d)
{
	FILE *f = fopen(word(d, 1), "we");
	struct err e = {0};
	int rc = f ? 0 : err_set(&e, -EACCES, "refused");
	if (f) {
		rc = fputs(word(d, 2), f) < 0 || fclose(f) ? err_set(&e, -EACCES, "refused") : 0;
	}
	answer(rc, &e, "");
}

static void do_cpu(struct driver *d)
{
	char text[40];
	struct err e = {0};
	snprintf(text, sizeof(text), "%.6f", launcher_lab_cpu_seconds(d->l));
	answer(0, &e, text);
}

static void do_counters(struct driver *d)
{
	struct err e = {0};
	json_t *out = NULL;
	int rc = launcher_lab_counters(d->l, &out, &e);
	answer_json(rc, &e, out);
}

static void do_unlab(struct driver *d)
{
	struct err e = {0};
	answer(launcher_lab_destroy(d->l, &e), &e, "");
}

static const struct {
	const char *name;
	void (*run)(struct driver *d);
	bool wants_agent;
} COMMANDS[] = {
	{"lab", do_lab, false},		  {"unlab", do_unlab, false},
	{"agent", do_agent, false},	  {"info", do_info, true},
	{"open", do_open, true},	  {"set", do_set, true},
	{"replace", do_replace, true},	  {"probe", do_probe, true},
	{"stream", do_stream, true},	  {"commit", do_commit, true},
	{"status", do_status, true},	  {"ping", do_ping, true},
	{"close", do_close, true},	  {"rollback", do_rollback, true},
	{"spawn", do_spawn, false},	  {"kill", do_kill, false},
	{"restore", do_restore, false},	  {"drop", do_drop, false},
	{"write", do_write, false},	  {"cpu", do_cpu, false},
	{"counters", do_counters, false},
};

static void run(struct driver *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(COMMANDS); i++) {
		if (strcmp(COMMANDS[i].name, word(d, 0)) == 0) {
			if (!COMMANDS[i].wants_agent || find(d)) {
				COMMANDS[i].run(d);
				return;
			}
		}
	}
	printf("error 0 usage no such command or agent\n");
	fflush(stdout);
}

int main(void)
{
	struct driver d = {0};
	struct err e = {0};
	char *line = NULL;
	size_t size = 0;
	if (launcher_start(&d.l, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		d.n = 0;
		for (char *w = strtok(line, " "); w && d.n < WORDS_MAX - 1; w = strtok(NULL, " ")) {
			d.word[d.n++] = w;
		}
		d.word[d.n] = NULL;
		if (d.n && strcmp(d.word[0], "quit") == 0) {
			break;
		}
		run(&d);
	}
	free(line);
	for (int i = 0; i < AGENTS_MAX; i++) {
		agent_close(d.agent[i], NULL, &e);
	}
	launcher_stop(d.l);
	return 0;
}
