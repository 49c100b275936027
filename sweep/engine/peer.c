/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs another stream test for one sample: its server on the receiving host, its client on the
 * sending one, both through the launcher, in groups of their own, in the C locale, within a limit.
 * It understands nothing of what they write. Called by netperf.c and iperf3.c.
 */
#include "cleanup.h"
#include "monotonic.h"
#include "peer_private.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SERVER_S  0.3 /* until the server listens; if it does not yet, the client tries again */
#define RETRIES	  5
#define SLACK_S	  15.0
#define POLL_MS	  50
#define PORT_FROM 15210

static const char client_script[] = "\"$@\" 2>&1; printf '\\ntunesweep_exit %d\\n' \"$?\"";

struct child {
	pid_t pid;
	int in, out;
};

struct peer {
	const struct peer_tool *tool;
	struct engine_env env;
	struct peer_sample sample;
	struct child server, client;
	char *text;
	size_t used;
	int tries;
	double begin_at, deadline; /* of the client, s */
};

void peer_word(struct peer_words *w, const char *fmt, ...)
{
	va_list ap;
	size_t room = sizeof(w->storage) - w->used;
	if (w->n + 1 >= PEER_WORDS_MAX) {
		return;
	}
	va_start(ap, fmt);
	int n = vsnprintf(w->storage + w->used, room, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < room) {
		w->word[w->n++] = w->storage + w->used;
		w->word[w->n] = NULL;
		w->used += (size_t)n + 1;
	}
}

/* What leads to a host: a namespace is entered, another machine is reached as its agent is. */
static void words_to(struct peer_words *w, const struct spec_host *host, const struct agent *agent)
{
	if (host->via.kind == VIA_NETNS || host->via.kind == VIA_LAB) {
		peer_word(w, "nsenter");
		peer_word(w, "--net=%s", agent_info(agent)->netns_path);
	}
	for (size_t i = 0; host->via.kind == VIA_COMMAND && host->via.argv[i]; i++) {
		peer_word(w, "%s", host->via.argv[i]);
	}
	peer_word(w, "env");
	peer_word(w, "LC_ALL=C");
}

int peer_create(const struct peer_tool *tool, const struct engine_env *env, void **state,
		struct err *e)
{
	int rc = tool->check(&env->spec->test, e);
	if (rc < 0) {
		return rc;
	}
	if (!env->sender || !env->receiver || !env->launcher) {
		return err_usage(e, "the engine %s wants two hosts: test.from and test.to",
				 tool->name);
	}
	struct peer *p = calloc(1, sizeof(*p));
	if (p) {
		p->text = malloc(PEER_TEXT_MAX);
	}
	if (!p || !p->text) {
		free(p);
		return err_set(e, -ENOMEM, "%s: no memory", tool->name);
	}
	const struct agent_info *a = agent_info(env->sender), *b = agent_info(env->receiver);
	p->tool = tool;
	p->env = *env;
	p->server = p->client = (struct child){0, -1, -1};
	p->sample = (struct peer_sample){.test = &env->spec->test,
					 .address = env->receiver_address,
					 .one_host = strcmp(a->boot_id, b->boot_id) == 0};
	*state = p;
	return 0;
}

static void child_end(struct peer *p, struct child *c)
{
	struct err ignored;
	if (c->in >= 0) {
		close(c->in);
	}
	if (c->out >= 0) {
		close(c->out);
	}
	if (c->pid > 0) {
		launcher_kill(p->env.launcher, c->pid, &ignored);
	}
	*c = (struct child){0, -1, -1};
}

static int child_start(struct peer *p, struct peer_words *w, struct child *c, struct err *e)
{
	if (w->n + 1 >= PEER_WORDS_MAX) {
		return err_set(e, -E2BIG, "%s: too many words in its command", p->tool->name);
	}
	int rc = launcher_spawn(p->env.launcher, w->word, &c->in, &c->out, &c->pid, e);
	if (rc == 0) {
		fcntl(c->out, F_SETFL, O_NONBLOCK);
	}
	return rc;
}

/* Of a value at one end, is it that end which it is for? The buffer that data is sent from is the
 * data's sender's, the other one its receiver's. end: 0 near, 1 far, < 0 both. */
static bool is_for_data(const struct spec_test *t, const char *name, int end)
{
	int sender = strcmp(t->type, "tcp_maerts") == 0;
	if (end < 0 || strcmp(t->type, "tcp_bidir") == 0) {
		return true;
	}
	if (strcmp(name, "send_buffer") == 0) {
		return end == sender;
	}
	return strcmp(name, "receive_buffer") != 0 || end != sender;
}

/* The values of the run and those that are fixed, for whoever can set them. */
json_t *peer_socket_values(const struct spec_test *t, const struct engine_run *run)
{
	static const char prefix[] = "socket.";
	json_t *o = json_object();
	for (size_t i = 0; i < t->n_fixed; i++) {
		if (is_for_data(t, t->fixed[i].name, t->fixed[i].end)) {
			json_object_set_new(o, t->fixed[i].name, json_integer(t->fixed[i].value));
		}
	}
	for (size_t i = 0; run->space && run->config && i < run->space->n; i++) {
		const struct dimension *d = &run->space->dims[i];
		const char *name = d->target.setting.name;
		int host = d->tunable->host, end = host < 0 ? -1 : host == t->to;
		if (strncmp(name, prefix, sizeof(prefix) - 1) == 0 &&
		    is_for_data(t, name + sizeof(prefix) - 1, end)) {
			json_object_set_new(o, name + sizeof(prefix) - 1,
					    value_to_json(&run->config->v[i]));
		}
	}
	return o;
}

static int client_begin(struct peer *p, struct err *e)
{
	auto_free struct peer_words *w = calloc(1, sizeof(*w));
	if (!w) {
		return err_set(e, -ENOMEM, "%s: no memory", p->tool->name);
	}
	const struct spec *spec = p->env.spec;
	peer_word(w, "/bin/sh");
	peer_word(w, "-c");
	peer_word(w, "%s", client_script);
	peer_word(w, "sh");
	words_to(w, &spec->hosts[spec->test.from], p->env.sender);
	int rc = p->tool->client(&p->sample, w, e);
	p->used = 0;
	p->begin_at = INFINITY;
	p->tries++;
	return rc < 0 ? rc : child_start(p, w, &p->client, e);
}

int peer_start(void *state, const struct engine_run *run, struct err *e)
{
	struct peer *p = state;
	const struct spec *spec = p->env.spec;
	auto_free struct peer_words *w = calloc(1, sizeof(*w));
	if (!w) {
		return err_set(e, -ENOMEM, "%s: no memory", p->tool->name);
	}
	json_decref(p->sample.socket);
	p->sample.socket = peer_socket_values(p->sample.test, run);
	p->sample.duration = ceil(run->duration);
	p->sample.port = spec->test.port > 0 ? spec->test.port : PORT_FROM + run->number % 64;
	p->tries = 0;
	p->begin_at = monotonic_seconds() + SERVER_S;
	p->deadline = p->begin_at + p->sample.duration + p->tool->extra + SLACK_S;
	peer_word(w, "/bin/sh");
	peer_word(w, "-c");
	peer_word(w, "exec \"$@\" >/dev/null 2>&1");
	peer_word(w, "sh");
	words_to(w, &spec->hosts[spec->test.to], p->env.receiver);
	p->tool->server(&p->sample, w);
	return child_start(p, w, &p->server, e);
}

/* True at its end. */
static bool client_read(struct peer *p)
{
	for (;;) {
		ssize_t n = read(p->client.out, p->text + p->used, PEER_TEXT_MAX - 1 - p->used);
		if (n <= 0) {
			p->text[p->used] = '\0';
			return n == 0 || (errno != EAGAIN && errno != EINTR);
		}
		p->used += (size_t)n;
	}
}

static const char *excerpt_of(char *text)
{
	char *p = text + strspn(text, " \t\r\n{");
	for (char *c = p; *c; c++) {
		*c = *c == '\n' || *c == '\r' || *c == '\t' ? ' ' : *c;
	}
	return *p ? p : "it wrote nothing";
}

static int client_end(struct peer *p, struct sample *out, struct err *e)
{
	const struct spec *spec = p->env.spec;
	char *mark = strstr(p->text, "\ntunesweep_exit ");
	int status = mark ? atoi(mark + 16) : -1;
	if (mark) {
		*mark = '\0';
	}
	child_end(p, &p->client);
	if (status == 127 || status == 126) {
		return err_set(e, -ENOENT,
			       "%s is not installed on host %s (install it there, or use "
			       "the engine builtin)",
			       p->tool->name, spec->hosts[spec->test.from].name);
	}
	if (status == 0) {
		return p->tool->parse(&p->sample, p->text, out, e);
	}
	bool refused = strcasestr(p->text, "refused") || strcasestr(p->text, "establish control");
	if (refused && p->tries <= RETRIES) {
		p->begin_at = monotonic_seconds() + SERVER_S;
		return 1;
	}
	return err_set(e, -EIO, "%s to %s port %d ended with status %d: %.200s%s", p->tool->name,
		       p->sample.address, p->sample.port, status, excerpt_of(p->text),
		       refused ? " (is its server installed there?)" : "");
}

int peer_poll(void *state, struct sample *out, int *poll_ms, struct err *e)
{
	struct peer *p = state;
	*poll_ms = POLL_MS;
	if (p->client.pid == 0) {
		return monotonic_seconds() < p->begin_at ? 0 : client_begin(p, e);
	}
	if (client_read(p)) {
		int rc = client_end(p, out, e);
		return rc < 0 ? rc : rc == 0;
	}
	if (monotonic_seconds() > p->deadline || p->used >= PEER_TEXT_MAX - 1) {
		return err_set(e, -EIO, "%s to %s port %d has not ended within %g s", p->tool->name,
			       p->sample.address, p->sample.port,
			       p->sample.duration + p->tool->extra + SLACK_S);
	}
	return 0;
}

void peer_stop(void *state)
{
	struct peer *p = state;
	child_end(p, &p->client);
	child_end(p, &p->server);
}

void peer_destroy(void *state)
{
	struct peer *p = state;
	if (p) {
		peer_stop(p);
		json_decref(p->sample.socket);
		free(p->text);
		free(p);
	}
}
