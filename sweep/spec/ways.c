/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keys of a spec's test that say how its streams send and receive: properties of the test,
 * which no search changes. Called by spec/test.c.
 */
#include "spec_private.h"

#include "cleanup.h"
#include <stdio.h>
#include <string.h>

static bool is_there(struct yaml_at at)
{
	return yaml_kind(at) != YAML_ABSENT;
}

static int parse_words(struct spec_test *t, struct yaml_at test, struct err *e)
{
	static const char *const sends[] = {"plain", "sendfile", "splice", "zerocopy", "gso", NULL};
	static const char *const receives[] = {"copy", "discard", "gro", NULL};
	static const char *const warmups[] = {"auto", "none", NULL};
	static const char *const cpus[] = {"any", "shared", NULL};
	const struct {
		const char *key, *const *words;
		int found;
	} all[] = {{"send", sends, 0},
		   {"receive", receives, 0},
		   {"warmup", warmups, 0},
		   {"cpus", cpus, 0}};
	int found[ARRAY_SIZE(all)] = {0, 0, 0, t->light};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct yaml_at at = yaml_get(test, all[i].key);
		int rc = is_there(at) ? yaml_as_word(at, all[i].words, &found[i], e) : 0;
		if (rc) {
			return rc;
		}
	}
	snprintf(t->send, sizeof(t->send), "%s", sends[found[0]]);
	t->discard = found[1] == 1;
	t->gro = found[1] == 2;
	t->no_warmup = found[2];
	/* The lightest way shares CPUs between the two ends of a stream, where they have the same.
	 */
	t->own_cpus = found[3];
	return 0;
}

const char *spec_ways_clash(const struct spec_test *t)
{
	bool udp = strcmp(t->type, "udp_stream") == 0, gso = strcmp(t->send, "gso") == 0;
	bool sends_plain = !*t->send || strcmp(t->send, "plain") == 0;
	bool plain = sends_plain && !t->discard && !t->gro;
	if (t->rate > 0 && !udp) {
		return "rate is what a udp_stream offers; a TCP stream is held back by "
		       "socket.pacing_rate";
	}
	if ((gso || t->gro) && !udp) {
		return "send gso and receive gro are for udp_stream";
	}
	if (udp && (!(sends_plain || gso) || t->discard)) {
		return "udp_stream sends plain or gso and receives copy or gro";
	}
	return plain || strcmp(t->type, "tcp_rr") ? NULL : "send and receive are not for tcp_rr";
}

int spec_parse_ways(struct spec_test *t, struct yaml_at test, struct err *e)
{
	struct yaml_at rate = yaml_get(test, "rate"), port = yaml_get(test, "port");
	struct yaml_at background = yaml_get(test, "background");
	int64_t n = 0;
	int rc = parse_words(t, test, e);
	if (rc == 0 && is_there(rate)) {
		rc = yaml_as_rate(rate, &t->rate, e);
		if (rc == 0 && t->rate <= 0) {
			return yaml_error(rate, e, "rate: above 0 bit/s");
		}
	}
	if (rc == 0 && is_there(port)) {
		rc = yaml_as_int(port, 1, 65535, &n, e);
		t->port = (int)n;
	}
	if (rc == 0 && is_there(background)) {
		rc = yaml_as_time(background, &t->background, e);
		if (rc == 0 && (t->background < 0 || t->background > 60)) {
			return yaml_error(background, e, "background: 0s to 60s");
		}
	}
	if (rc == 0 && spec_ways_clash(t)) {
		return yaml_error(test, e, "%s", spec_ways_clash(t));
	}
	return rc;
}
