/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a spec: the top level, in the order in which the blocks need each other. The blocks are
 * read in spec/; no host is asked here. Called by the commands that take a spec.
 */
#include "spec_private.h"

#include "cleanup.h"
#include <errno.h>
#include <sha2.h>
#include <stdint.h>
#include <string.h>

static const char *const top_keys[] = {"tunesweep", "name",	"hosts", "link",   "test",
				       "objective", "tunables", "allow", "forbid", "search",
				       "proof",	    "pool",	NULL};

static int check_version(struct yaml_at root, struct err *e)
{
	struct yaml_at at = yaml_get(root, "tunesweep");
	if (yaml_kind(at) == YAML_ABSENT && yaml_kind(yaml_get(root, "tunesweep_profile"))) {
		return yaml_error(root, e,
				  "this is a profile (tunesweep apply sets it), not a spec");
	}
	if (yaml_kind(at) == YAML_ABSENT) {
		return yaml_error(root, e, "a spec begins with 'tunesweep: 1'");
	}
	int64_t version;
	int rc = yaml_as_int(at, 0, INT64_MAX, &version, e);
	if (rc == 0 && version != 1) {
		return yaml_error(at, e, "spec version %lld is not known: write 'tunesweep: 1'",
				  (long long)version);
	}
	return rc;
}

static int need(struct yaml_at root, const char *key, const char *what, struct err *e)
{
	if (yaml_kind(yaml_get(root, key)) == YAML_ABSENT) {
		return yaml_error(root, e, "'%s' is missing: %s", key, what);
	}
	return 0;
}

static bool name_is_plain(const char *s)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	return s[0] && s[0] != '.' && s[0] != '-' && s[strspn(s, allowed)] == '\0';
}

/* Without a name the file's own, so that a run can always be found again. */
static void name_from_path(struct spec *s)
{
	const char *base = strrchr(s->path, '/');
	base = base ? base + 1 : s->path;
	size_t n = strcspn(base, ".");
	snprintf(s->name, sizeof(s->name), "%.*s", (int)(n < 63 ? n : 63), base);
	if (!name_is_plain(s->name)) {
		strcpy(s->name, "sweep");
	}
}

static int parse_name(struct spec *s, struct yaml_at at, struct err *e)
{
	if (yaml_kind(at) == YAML_ABSENT) {
		name_from_path(s);
		return 0;
	}
	int rc = yaml_as_text(at, s->name, sizeof(s->name), e);
	if (rc == 0 && !name_is_plain(s->name)) {
		return yaml_error(at, e,
				  "name '%s': letters, digits, dot, dash and underscore only, "
				  "beginning with a letter or digit",
				  s->name);
	}
	return rc;
}

static int parse_blocks(struct spec *s, struct yaml_at root, struct err *e)
{
	int rc = check_version(root, e);
	rc = rc ? rc : yaml_check_keys(root, top_keys, e);
	rc = rc ? rc : need(root, "test", "what is measured: {engine: ...}", e);
	rc = rc ? rc : need(root, "tunables", "a list of what may be changed", e);
	rc = rc ? rc : parse_name(s, yaml_get(root, "name"), e);
	rc = rc ? rc : spec_parse_hosts(s, yaml_get(root, "hosts"), e);
	rc = rc ? rc : spec_parse_pool(s, yaml_get(root, "pool"), e);
	rc = rc ? rc : spec_parse_link(s, yaml_get(root, "link"), e);
	rc = rc ? rc : spec_parse_test(s, yaml_get(root, "test"), e);
	rc = rc ? rc : spec_parse_objective(s, yaml_get(root, "objective"), e);
	rc = rc ? rc : spec_parse_allow(s, yaml_get(root, "allow"), e);
	rc = rc ? rc : spec_parse_tunables(s, yaml_get(root, "tunables"), e);
	rc = rc ? rc : spec_parse_when(s, yaml_get(root, "tunables"), e);
	rc = rc ? rc : spec_parse_forbid(s, yaml_get(root, "forbid"), e);
	rc = rc ? rc : spec_check_machine(s, e);
	rc = rc ? rc : spec_parse_search(s, yaml_get(root, "search"), e);
	rc = rc ? rc : spec_parse_proof(s, yaml_get(root, "proof"), e);
	return rc ? rc : spec_warn(s, e);
}

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory while reading the spec");
}

int spec_parse(const char *name, const char *text, size_t size, struct spec **out, struct err *e)
{
	struct yaml *doc = NULL;
	int rc = yaml_open_text(name, text, size, &doc, e);
	if (rc) {
		return rc;
	}
	struct spec *s = calloc(1, sizeof(*s));
	if (!s || !(s->path = strdup(name)) || !(s->text = strndup(text, size))) {
		rc = no_memory(e);
	} else {
		SHA256Data((const uint8_t *)text, size, s->sha);
		rc = parse_blocks(s, yaml_root(doc), e);
	}
	yaml_close(doc);
	if (rc) {
		spec_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

#define SPEC_SIZE_MAX (1 << 20)

int spec_load(const char *path, struct spec **out, struct err *e)
{
	auto_fclose FILE *f = fopen(path, "re");
	if (!f) {
		return err_usage(e, "%s: %s", path, strerror(errno));
	}
	auto_free char *text = malloc(SPEC_SIZE_MAX + 1);
	if (!text) {
		return no_memory(e);
	}
	size_t size = fread(text, 1, SPEC_SIZE_MAX + 1, f);
	if (ferror(f)) {
		return err_usage(e, "%s: %s", path, strerror(errno));
	}
	if (size > SPEC_SIZE_MAX) {
		return err_usage(e, "%s: larger than 1 MiB: this is no spec", path);
	}
	return spec_parse(path, text, size, out, e);
}

void spec_free(struct spec *s)
{
	if (!s) {
		return;
	}
	for (size_t i = 0; i < s->n_hosts; i++) {
		spec_free_argv(s->hosts[i].via.argv);
	}
	for (size_t i = 0; i < s->n_pairs * SPEC_HOSTS_MAX; i++) {
		spec_free_argv(s->pairs[i / SPEC_HOSTS_MAX].hosts[i % SPEC_HOSTS_MAX].via.argv);
	}
	free(s->pairs);
	for (size_t i = 0; i < s->n_tunables; i++) {
		free(s->tunables[i].choices);
	}
	for (size_t i = 0; i < s->n_rules; i++) {
		free(s->rules[i].text);
		free(s->rules[i].terms);
	}
	free(s->rules);
	for (size_t i = 0; i < s->n_warnings; i++) {
		free(s->warnings[i]);
	}
	spec_free_argv(s->test.command);
	free(s->path);
	free(s->text);
	free(s);
}
