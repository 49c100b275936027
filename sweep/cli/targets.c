/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which hosts a profile command works on, and their agents. Called by apply, rollback, status and
 * verify.
 */
#include "targets.h"
#include "cleanup.h"
#include "value.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VIA_WORDS_MAX 32

const struct cli_option target_options[] = {
	{"host", 0, "NAME=VIA",
	 "a host of the profile: local, netns:NAME, or a command such as 'ssh tx1'", true},
	{NULL, 0, NULL, NULL, false},
};

/* A command's words, split at blanks; the agent's path is appended by the launcher. */
static int split_words(struct target *t, const char *text, struct err *e)
{
	size_t n = 0;
	t->words = strdup(text);
	t->via.argv = calloc(VIA_WORDS_MAX + 1, sizeof(char *));
	if (!t->words || !t->via.argv) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	char *save = NULL;
	for (char *w = strtok_r(t->words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (n == VIA_WORDS_MAX) {
			return err_usage(e, "--host %s: more than %d words", t->name,
					 VIA_WORDS_MAX);
		}
		t->via.argv[n++] = w;
	}
	t->via.kind = VIA_COMMAND;
	return n ? 0 : err_usage(e, "--host %s=: nothing after the equals sign", t->name);
}

static int parse_via(struct target *t, const char *text, struct err *e)
{
	if (strcmp(text, "local") == 0) {
		t->via.kind = VIA_LOCAL;
		return 0;
	}
	if (strncmp(text, "netns:", 6) == 0) {
		t->via.kind = VIA_NETNS;
		if (snprintf(t->via.netns, sizeof(t->via.netns), "%s", text + 6) >=
			    (int)sizeof(t->via.netns) ||
		    !text[6] || strchr(text + 6, '/')) {
			return err_usage(e, "--host %s=%s: not the name of a network namespace",
					 t->name, text);
		}
		return 0;
	}
	if (strcmp(text, "lab") == 0) {
		return err_usage(e,
				 "--host %s=lab: a lab lives only while a sweep runs; write "
				 "local, netns:NAME or a command",
				 t->name);
	}
	static const char *const words[] = {"local"};
	if (!strpbrk(text, "/ ") && nearest_word(text, words, ARRAY_SIZE(words))) {
		return err_usage(e, "--host %s=%s: did you mean local?", t->name, text);
	}
	return split_words(t, text, e);
}

static int parse_host(struct targets *t, const char *text, struct err *e)
{
	struct target *new = &t->items[t->n++];
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;
	if (!equals || length == 0 || length >= sizeof(new->name)) {
		return err_usage(e, "--host %s: write NAME=VIA, for example receiver=netns:rx",
				 text);
	}
	memcpy(new->name, text, length);
	for (size_t i = 0; i + 1 < t->n; i++) {
		if (strcmp(t->items[i].name, new->name) == 0) {
			return err_usage(e, "--host %s is given twice", new->name);
		}
	}
	new->text = equals + 1;
	return parse_via(new, equals + 1, e);
}

static bool is_named(const struct targets *t, const char *host)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->items[i].name, host) == 0) {
			return true;
		}
	}
	return false;
}

/* A --host that the profile does not name sets nothing there, which is said, unless it looks like a
 * slip of the pen. */
static int check_unknown(const struct targets *t, const struct cli *c, const char *host,
			 const char *const *hosts, size_t n, struct err *e)
{
	const char *near = nearest_word(host, hosts, n);
	if (near && strcmp(near, host) != 0 && !is_named(t, near)) {
		return err_usage(e, "--host %s: the profile has no such host; nearest: %s", host,
				 near);
	}
	cli_note(c, "the profile sets nothing on host %s", host);
	return 0;
}

static int check_against(struct targets *t, const struct cli *c, const struct profile *p,
			 struct err *e)
{
	const char *hosts[CLI_HOSTS_MAX];
	size_t n = profile_hosts(p, hosts, CLI_HOSTS_MAX);
	if (n == 1 && !*hosts[0] && t->n == 1) {
		*t->items[0].name = '\0'; /* a profile without hosts is for the one that is named */
	}
	for (size_t i = 0; i < t->n; i++) {
		bool known = false;
		for (size_t k = 0; k < n; k++) {
			known |= strcmp(hosts[k], t->items[i].name) == 0;
		}
		int rc = known ? 0 : check_unknown(t, c, t->items[i].name, hosts, n, e);
		if (rc < 0) {
			return rc;
		}
	}
	if (t->n == 0 && n > 1) {
		return err_usage(e,
				 "the profile is for %zu hosts: say which is where, for example "
				 "--host %s=local (hosts that are not named are skipped)",
				 n, hosts[0]);
	}
	for (size_t k = 0; k < n && t->n > 0; k++) {
		if (!is_named(t, hosts[k])) {
			cli_note(c, "host %s is not named: skipped",
				 *hosts[k] ? hosts[k] : "(none)");
		}
	}
	if (t->n == 0) {
		snprintf(t->items[0].name, sizeof(t->items[0].name), "%s", n ? hosts[0] : "");
		t->items[0].text = "local";
		t->n = 1;
	}
	return 0;
}

int targets_init(struct targets *t, const struct cli *c, const struct profile *p, struct err *e)
{
	*t = (struct targets){0};
	for (int i = 0; i < c->n_repeated; i++) {
		int rc = parse_host(t, c->repeated[i], e);
		if (rc < 0) {
			return rc;
		}
	}
	if (p) {
		return check_against(t, c, p, e);
	}
	if (t->n == 0) { /* this machine; VIA_LOCAL is zero */
		t->items[0].text = "local";
		t->n = 1;
	}
	return 0;
}

void targets_clear(struct targets *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->items[i].words);
		free(t->items[i].via.argv);
	}
	*t = (struct targets){0};
}

int targets_connect(struct targets *t, const struct cli *c, struct err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		struct target *x = &t->items[i];
		int rc = agent_connect(c->launcher, &x->via, target_name(x), &x->agent, e);
		if (rc == -EHOSTDOWN && x->via.kind == VIA_COMMAND) {
			struct err cause = *e;
			return err_set(e, rc,
				       "%.400s before it said a word: is the host reached, and is "
				       "tunesweep-agent installed there?",
				       cause.text);
		}
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

int targets_close(struct targets *t, struct err *e)
{
	int rc_all = 0;
	for (size_t i = t->n; i-- > 0;) {
		struct err one = {0};
		int rc = agent_close(t->items[i].agent, NULL, &one);
		t->items[i].agent = NULL;
		if (rc < 0 && rc_all == 0) {
			rc_all = rc;
			*e = one;
		}
	}
	return rc_all;
}

const char *target_name(const struct target *t)
{
	return *t->name ? t->name : "local";
}

int targets_visit(struct cli *c, const struct profile *p, bool go_on,
		  int (*visit)(void *ctx, struct target *t, struct err *e), void *ctx)
{
	struct targets t;
	struct err first = {0}, one = {0};
	int rc = targets_init(&t, c, p, &first);
	if (rc == 0) {
		rc = targets_connect(&t, c, &first);
	}
	for (size_t i = 0; i < t.n && (rc == 0 || (go_on && t.items[i].agent)); i++) {
		int failed = visit(ctx, &t.items[i], &one);
		if (failed < 0 && rc < 0) {
			cli_note(c, "%s", one.text); /* the first error is the answer */
		} else if (failed < 0) {
			first = one;
			rc = failed;
		}
	}
	int closing = targets_close(&t, &one);
	if (closing < 0 && rc == 0) {
		first = one;
		rc = closing;
	}
	targets_clear(&t);
	return rc < 0 ? cli_fail(c, &first) : CLI_DONE;
}

size_t target_assignments(const struct target *t, const struct profile *p, struct assignment *a)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_settings; i++) {
		if (strcmp(p->settings[i].host, t->name) == 0) {
			a[n++] = p->settings[i].assignment;
		}
	}
	return n;
}
