/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of the test command, with netperf's letters and meanings, into a spec's test and
 * hosts. Opens nothing; sizes, buffers and CPUs are test_sizes.c's. Called by cmd_test.c.
 */
#include "cleanup.h"
#include "cli_test.h"
#include "value.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct cli_option test_option_table[] = {
	{"type", 't', "TYPE", "tcp_stream, tcp_maerts, tcp_bidir, udp_stream or tcp_rr", false},
	{"to", 0, "HOST", "netns:NAME, lab, a host for ssh, or a command's words", false},
	{"push-agent", 0, NULL, "take the agent along to that host", false},
	{"from", 0, "HOST", "where the test starts, if not here", false},
	{"lab", 0, NULL, "between two network namespaces of its own", false},
	{"address", 0, "ADDRESS", "where the receiver listens, as a number", false},
	{"port", 'p', "PORT", "where the receiver listens", false},
	{"duration", 'l', "SECS", "how long to measure, after the warm-up (default 2)", false},
	{"iterations", 'i', "MAX,MIN", "repeat until the confidence is reached", false},
	{"confidence", 'I', "LEVEL,WIDTH", "the level and the full width in percent: 95,5", false},
	{"send-size", 'm', "SIZE", "bytes a send call (K M G are 1024, k m g 1000)", false},
	{"receive-size", 'M', "SIZE", "bytes a receive call", false},
	{"local-buffer", 's', "SIZE", "socket buffers of the near end: both, or SEND,RECEIVE",
	 false},
	{"remote-buffer", 'S', "SIZE", "socket buffers of the far end", false},
	{"ring", 'W', "SEND,RECV", "buffers that the sends cycle over", false},
	{"cpus", 'T', "CPU,CPU", "CPU of the near and of the far end; one number: both", false},
	{"streams", 'P', "STREAMS", "connections at a time, each with its thread", false},
	{"unit", 'f', "UNIT", "of the printed rate: G M K bytes (1024), g m k bits (1000)", false},
	{"engine", 0, "ENGINE", "builtin (default), netperf or iperf3", false},
	{"drive", 0, "DRIVE", "classic: as programs do; light: the lightest way", false},
	{"preset", 0, "PRESET", "netperf-canonical: 128 KiB socket buffers, 32 KiB sends", false},
	{"send", 0, "WAY", "plain, sendfile, splice, zerocopy, or gso (datagrams)", false},
	{"receive", 0, "WAY", "copy, discard (under another metric's name), or gro (datagrams)",
	 false},
	{"rate", 0, "RATE", "what a udp_stream offers, e.g. 1Gbit/s", false},
	{"warmup", 0, "auto|off", "wait for the steady state, or count from the first byte", false},
	{NULL, 0, NULL, NULL, false},
};

static int read_repeats(const struct cli *c, struct test_options *o, struct err *e)
{
	char part[2][64];
	int64_t most = 1, least = 1;
	const char *i = cli_value(c, "iterations"), *I = cli_value(c, "confidence");
	o->level = 0.95;
	o->width = 0.05;
	int rc = i ? test_pair_split("i", i, part[0], part[1], e) : 0;
	if (rc == 0 && i) {
		rc = test_number("i", part[0], 1, 1000, &most, e);
		rc = rc ? rc : test_number("i", part[1], 1, 1000, &least, e);
	} else if (I) {
		most = 10;
		least = 3;
	}
	if (rc == 0 && least > most) { /* netperf takes them in either order */
		int64_t swap = least;
		least = most;
		most = swap;
	}
	o->repeats_max = (int)most;
	o->repeats_min = (int)least;
	rc = rc || !I ? rc : test_pair_split("I", I, part[0], part[1], e);
	if (rc == 0 && I) {
		double level, width = 5;
		rc = scalar_real(part[0], &level, e);
		rc = rc || !strchr(I, ',') || !*part[1] ? rc : scalar_real(part[1], &width, e);
		if (rc < 0) {
			return err_wrap(e, "-I");
		}
		if (!(level >= 50 && level < 100 && width > 0 && width <= 100)) {
			return err_usage(e, "-I %s: a level of 50 to 99.99 and a width in percent",
					 I);
		}
		o->level = level / 100;
		o->width = width / 100;
	}
	return rc;
}

static int read_word(const struct cli *c, const char *name, const char *const *words, int *out,
		     struct err *e)
{
	const char *text = cli_value(c, name);
	size_t n = 0;
	*out = 0;
	for (; words[n]; n++) {
		if (text && strcasecmp(text, words[n]) == 0) {
			*out = (int)n;
			return 0;
		}
	}
	if (!text) {
		return 0;
	}
	char all[200] = "";
	for (size_t i = 0; i < n; i++) {
		size_t used = strlen(all);
		snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", words[i]);
	}
	const char *near = nearest_word(text, words, n);
	return err_usage(e, "--%s: there is no '%.40s'%s%s (%s)", name, text,
			 near ? "; nearest: " : "", near ? near : "", all);
}

static int read_words(const struct cli *c, struct spec_test *t, struct err *e)
{
	static const char *const types[] = {"tcp_stream", "tcp_maerts", "tcp_bidir",
					    "udp_stream", "tcp_rr",	NULL};
	static const char *const engines[] = {"builtin", "netperf", "iperf3", NULL};
	static const char *const drives[] = {"classic", "light", NULL};
	static const char *const sends[] = {"plain", "sendfile", "splice", "zerocopy", "gso", NULL};
	static const char *const receives[] = {"copy", "discard", "gro", NULL};
	static const char *const warmups[] = {"auto", "off", NULL};
	int type = 0, engine = 0, light = 0, send = 0, discard = 0, off = 0;
	int rc = read_word(c, "type", types, &type, e);
	rc = rc ? rc : read_word(c, "engine", engines, &engine, e);
	rc = rc ? rc : read_word(c, "drive", drives, &light, e);
	rc = rc ? rc : read_word(c, "send", sends, &send, e);
	rc = rc ? rc : read_word(c, "receive", receives, &discard, e);
	rc = rc ? rc : read_word(c, "warmup", warmups, &off, e);
	snprintf(t->type, sizeof(t->type), "%s", types[type]);
	snprintf(t->engine, sizeof(t->engine), "%s", engines[engine]);
	snprintf(t->send, sizeof(t->send), "%s", sends[send]);
	t->light = light;
	t->discard = discard == 1;
	t->gro = discard == 2;
	t->no_warmup = off;
	t->own_cpus = light && !cli_value(c, "cpus");
	return rc;
}

/* netperf writes seconds as a bare number. */
static int read_duration(const struct cli *c, struct spec_test *t, struct err *e)
{
	const char *text = cli_value(c, "duration");
	t->duration = 2;
	if (!text) {
		return 0;
	}
	int rc = isalpha((unsigned char)text[strlen(text) ? strlen(text) - 1 : 0])
			 ? scalar_time(text, &t->duration, e)
			 : scalar_real(text, &t->duration, e);
	if (rc < 0) {
		return err_wrap(e, "-l");
	}
	return t->duration >= 0.01 && t->duration <= 3600
		       ? 0
		       : err_usage(e, "-l %s: 0.01 to 3600 seconds", text);
}

static int read_numbers(const struct cli *c, struct test_options *o, struct err *e)
{
	struct spec_test *t = &o->spec.test;
	const char *unit = cli_value(c, "unit"), *rate = cli_value(c, "rate");
	int64_t streams = 1, port = 0;
	int rc = cli_int(c, "streams", 1, 128, &streams, e);
	rc = rc ? rc : cli_int(c, "port", 1, 65535, &port, e);
	rc = rc ? rc : read_duration(c, t, e);
	if (rc == 0 && rate && scalar_rate(rate, &t->rate, e) < 0) {
		return err_wrap(e, "--rate");
	}
	if (rc == 0 && unit && (strlen(unit) != 1 || !strchr("GMKgmk", *unit))) {
		return err_usage(e, "-f %.20s: one of G M K (bytes) g m k (bits)", unit);
	}
	o->unit = unit ? *unit : 0;
	t->streams = (int)streams;
	t->port = (int)port;
	t->background = t->no_warmup ? 0 : 0.1;
	return rc;
}

/* A command in words, split at blanks; one word alone is a host for ssh. */
static int take_command(struct test_options *o, struct host_via *via, const char *text,
			struct err *e)
{
	char *rest, *word;
	size_t n = 0;
	if (asprintf(&o->words, "%s%s", strchr(text, ' ') ? "" : "ssh ", text) < 0) {
		o->words = NULL;
		return err_set(e, -ENOMEM, "no memory");
	}
	via->argv = calloc(strlen(o->words) / 2 + 2, sizeof(char *));
	if (!via->argv) {
		return err_set(e, -ENOMEM, "no memory");
	}
	for (word = strtok_r(o->words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		via->argv[n++] = word;
	}
	via->kind = VIA_COMMAND;
	return 0;
}

static int read_host(struct test_options *o, int end, const char *text, bool lab, struct err *e)
{
	struct spec_host *h = &o->spec.hosts[end];
	snprintf(h->name, sizeof(h->name), "%s", end ? "receiver" : "sender");
	h->via.kind = lab ? VIA_LAB : VIA_LOCAL;
	h->via.lab_end = end;
	if (!text || strcmp(text, "local") == 0 || lab) {
		return 0;
	}
	if (strncmp(text, "netns:", 6) == 0 && text[6]) {
		h->via.kind = VIA_NETNS;
		snprintf(h->via.netns, sizeof(h->via.netns), "%.63s", text + 6);
		return 0;
	}
	if (!*text || o->words) {
		return err_usage(e, "--to '%s': netns:NAME, lab, a host, or a command", text);
	}
	return take_command(o, &h->via, text, e);
}

static int read_hosts(const struct cli *c, struct test_options *o, struct err *e)
{
	const char *to = cli_value(c, "to"), *from = cli_value(c, "from");
	const char *address = cli_value(c, "address");
	bool lab = cli_value(c, "lab") || (to && strcmp(to, "lab") == 0);
	o->spec.n_hosts = 2;
	o->spec.test.from = 0;
	o->spec.test.to = 1;
	o->loopback = !lab && !to && !from;
	int rc = read_host(o, 0, from, lab, e);
	rc = rc ? rc : read_host(o, 1, to, lab, e);
	if (address) {
		snprintf(o->spec.hosts[1].address, sizeof(o->spec.hosts[1].address), "%.63s",
			 address);
	}
	return rc;
}

int test_options_read(const struct cli *c, struct test_options *o, struct err *e)
{
	memset(o, 0, sizeof(*o));
	objective_init(&o->spec.objective);
	snprintf(o->spec.name, sizeof(o->spec.name), "test");
	int rc = read_words(c, &o->spec.test, e);
	rc = rc ? rc : read_hosts(c, o, e);
	if (cli_value(c, "push-agent")) {
		hosts_push_agents(&o->spec);
	}
	rc = rc ? rc : read_numbers(c, o, e);
	if (rc == 0 && spec_ways_clash(&o->spec.test)) {
		return err_usage(e, "%s", spec_ways_clash(&o->spec.test));
	}
	rc = rc ? rc : test_read_sizes(c, &o->spec.test, e);
	rc = rc ? rc : test_read_cpus(c, &o->spec.test, e);
	return rc ? rc : read_repeats(c, o, e);
}

void test_options_clear(struct test_options *o)
{
	for (size_t i = 0; i < 2; i++) {
		if (o->spec.hosts[i].via.kind == VIA_COMMAND) {
			free(o->spec.hosts[i].via.argv);
		}
	}
	free(o->words);
}
