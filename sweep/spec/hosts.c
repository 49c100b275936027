/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks hosts and link of a spec: how each host is reached, and what the lab's link is like.
 * Called by spec.c; nothing is connected here.
 */
#include "spec_private.h"

#include "cleanup.h"
#include <errno.h>
#include <string.h>

struct spec_place spec_place_of(struct yaml_at at)
{
	return (struct spec_place){.line = yaml_line(at), .column = yaml_column(at)};
}

void spec_free_argv(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++) {
		free(argv[i]);
	}
	free(argv);
}

int spec_parse_argv(struct yaml_at list, char ***out, struct err *e)
{
	size_t n = yaml_count(list);
	if (yaml_kind(list) != YAML_LIST || n == 0) {
		return yaml_error(list, e,
				  "a command is a list of its words: [PROGRAM, ARGUMENT, ...]");
	}
	char **argv = calloc(n + 1, sizeof(*argv));
	if (!argv) {
		return err_set(e, -ENOMEM, "out of memory while reading the spec");
	}
	for (size_t i = 0; i < n; i++) {
		struct yaml_at item = yaml_item(list, i);
		if (yaml_kind(item) != YAML_SCALAR) {
			spec_free_argv(argv);
			return yaml_error(item, e, "a word of a command is wanted here");
		}
		argv[i] = strdup(yaml_text(item));
		if (!argv[i]) {
			spec_free_argv(argv);
			return err_set(e, -ENOMEM, "out of memory while reading the spec");
		}
	}
	if (!argv[0][0]) {
		spec_free_argv(argv);
		return yaml_error(list, e, "the first word of a command is its program, not empty");
	}
	*out = argv;
	return 0;
}

static int parse_via_word(struct host_via *via, struct yaml_at at, struct err *e)
{
	static const char *const words[] = {"local", "lab", "netns:NAME"};
	char text[96];
	int rc = yaml_as_text(at, text, sizeof(text), e);
	if (rc) {
		return rc;
	}
	if (strcmp(text, "local") == 0) {
		via->kind = VIA_LOCAL;
		return 0;
	}
	if (strcmp(text, "lab") == 0) {
		via->kind = VIA_LAB;
		return 0;
	}
	if (strncmp(text, "netns:", 6) == 0) {
		const char *name = text + 6;
		if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 ||
		    strcmp(name, "..") == 0 || strlen(name) >= sizeof(via->netns)) {
			return yaml_error(at, e,
					  "'%s': the name of a network namespace is wanted after "
					  "netns: (as 'ip netns' lists them)",
					  text);
		}
		via->kind = VIA_NETNS;
		snprintf(via->netns, sizeof(via->netns), "%.63s", name);
		return 0;
	}
	const char *near = nearest_word(text, words, ARRAY_SIZE(words));
	return yaml_error(at, e,
			  "'%s' is no way to a host: local, lab, netns:NAME, or a command as a "
			  "list, e.g. [ssh, tx1]%s%s%s",
			  text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int parse_via(struct host_via *via, struct yaml_at at, struct err *e)
{
	if (yaml_kind(at) == YAML_LIST) {
		via->kind = VIA_COMMAND;
		return spec_parse_argv(at, &via->argv, e);
	}
	return parse_via_word(via, at, e);
}

static int parse_host_fields(struct spec_host *h, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"via", "address", "agent", NULL};
	int rc = yaml_check_keys(map, keys, e);
	if (rc) {
		return rc;
	}
	struct yaml_at via = yaml_get(map, "via");
	if (yaml_kind(via) == YAML_ABSENT) {
		return yaml_error(map, e,
				  "host '%s' wants 'via': local, lab, netns:NAME, or a command "
				  "as a list, e.g. [ssh, tx1]",
				  h->name);
	}
	rc = parse_via(&h->via, via, e);
	struct yaml_at address = yaml_get(map, "address"), agent = yaml_get(map, "agent");
	if (rc == 0 && yaml_kind(address) != YAML_ABSENT) {
		rc = yaml_as_text(address, h->address, sizeof(h->address), e);
	}
	if (rc == 0 && yaml_kind(agent) != YAML_ABSENT) {
		rc = yaml_as_text(agent, h->via.agent, sizeof(h->via.agent), e);
		if (rc == 0 && h->via.agent[0] != '/') {
			return yaml_error(agent, e, "'%s': the agent's path begins with '/'",
					  h->via.agent);
		}
	}
	return rc;
}

int spec_parse_host(struct spec_host *h, struct yaml_at at, struct err *e)
{
	return yaml_kind(at) == YAML_MAP ? parse_host_fields(h, at, e) : parse_via(&h->via, at, e);
}

static int parse_host(struct spec *s, struct yaml_at key, struct yaml_at map, struct err *e)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	struct spec_host *h = &s->hosts[s->n_hosts];
	int rc = yaml_as_text(key, h->name, sizeof(h->name), e);
	if (rc) {
		return rc;
	}
	if (!h->name[0] || h->name[strspn(h->name, allowed)]) {
		return yaml_error(key, e,
				  "host name '%s': letters, digits, dot, dash and underscore only",
				  h->name);
	}
	h->place = spec_place_of(key);
	s->n_hosts++; /* counted first: spec_free then finds what via holds */
	return parse_host_fields(h, map, e);
}

/* The lab has two ends; hosts take them in the order in which they are written. */
static int number_lab_ends(struct spec *s, struct yaml_at hosts, struct err *e)
{
	int n = 0;
	for (size_t i = 0; i < s->n_hosts; i++) {
		if (s->hosts[i].via.kind == VIA_LAB) {
			s->hosts[i].via.lab_end = n++;
		}
	}
	if (n == 0 || n == 2) {
		return 0;
	}
	return yaml_error(hosts, e, "the lab has two ends: two hosts 'via: lab', not %d", n);
}

int spec_parse_hosts(struct spec *s, struct yaml_at hosts, struct err *e)
{
	if (yaml_kind(hosts) == YAML_ABSENT) {
		return 0;
	}
	if (yaml_kind(hosts) != YAML_MAP) {
		return yaml_error(hosts, e, "hosts are written as NAME: {via: ...}");
	}
	size_t n = yaml_count(hosts);
	if (n > SPEC_HOSTS_MAX) {
		return yaml_error(hosts, e, "%zu hosts: at most %d", n, SPEC_HOSTS_MAX);
	}
	for (size_t i = 0; i < n; i++) {
		int rc = parse_host(s, yaml_key(hosts, i), yaml_value(hosts, i), e);
		if (rc) {
			return rc;
		}
	}
	return number_lab_ends(s, hosts, e);
}

int spec_find_host(const struct spec *s, struct yaml_at at, int *out, struct err *e)
{
	char name[64];
	int rc = yaml_as_text(at, name, sizeof(name), e);
	if (rc) {
		return rc;
	}
	if (s->n_hosts == 0) {
		return yaml_error(at, e, "host '%s': this spec has no 'hosts'", name);
	}
	const char *names[SPEC_HOSTS_MAX];
	for (size_t i = 0; i < s->n_hosts; i++) {
		names[i] = s->hosts[i].name;
		if (strcmp(names[i], name) == 0) {
			*out = (int)i;
			return 0;
		}
	}
	char list[SPEC_HOSTS_MAX * 34] = "";
	for (size_t i = 0; i < s->n_hosts; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "", names[i]);
	}
	const char *near = nearest_word(name, names, s->n_hosts);
	return yaml_error(at, e, "there is no host '%s'%s%s%s (hosts: %s)", name,
			  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", list);
}

static bool has_lab(const struct spec *s)
{
	for (size_t i = 0; i < s->n_hosts; i++) {
		if (s->hosts[i].via.kind == VIA_LAB) {
			return true;
		}
	}
	return false;
}

static int parse_link_fields(struct lab_link *l, struct yaml_at link, struct err *e)
{
	struct yaml_at delay = yaml_get(link, "delay"), rate = yaml_get(link, "rate");
	struct yaml_at queue = yaml_get(link, "queue"), loss = yaml_get(link, "loss");
	int rc = 0;
	if (yaml_kind(delay) != YAML_ABSENT) {
		rc = yaml_as_time(delay, &l->delay_s, e);
		if (rc == 0 && (l->delay_s < 0 || l->delay_s > 10)) {
			return yaml_error(delay, e, "delay: 0ms to 10s each way");
		}
	}
	if (rc == 0 && yaml_kind(rate) != YAML_ABSENT) {
		rc = yaml_as_rate(rate, &l->rate_bps, e);
		if (rc == 0 && l->rate_bps < 1000) {
			return yaml_error(rate, e,
					  "rate: at least 1 kbit/s; leave it out for no limit");
		}
	}
	if (rc == 0 && yaml_kind(queue) != YAML_ABSENT) {
		rc = yaml_as_size(queue, &l->queue_bytes, e);
		if (rc == 0 && (l->queue_bytes < 4096 || l->queue_bytes > 1LL << 30)) {
			return yaml_error(queue, e, "queue: 4 KiB to 1 GiB");
		}
	}
	if (rc == 0 && yaml_kind(loss) != YAML_ABSENT) {
		rc = yaml_as_fraction(loss, &l->loss, e);
		if (rc == 0 && (l->loss < 0 || l->loss > 0.5)) {
			return yaml_error(loss, e, "loss: 0%% to 50%%");
		}
	}
	return rc;
}

int spec_parse_link(struct spec *s, struct yaml_at link, struct err *e)
{
	static const char *const keys[] = {"delay", "rate", "queue", "loss", NULL};
	if (yaml_kind(link) == YAML_ABSENT) {
		return 0;
	}
	int rc = yaml_check_keys(link, keys, e);
	if (rc) {
		return rc;
	}
	if (!has_lab(s)) {
		return yaml_error(link, e,
				  "'link' shapes the lab's link: it goes with hosts "
				  "'via: lab' only");
	}
	s->has_link = true;
	return parse_link_fields(&s->link, link, e);
}
