/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the configuration of nights; the format stands in nightly.h. It looks at no machine and
 * opens no spec. Called by the nightly command.
 */
#include "cleanup.h"
#include "nightly.h"
#include "yaml.h"
#include <errno.h>
#include <math.h>
#include <string.h>

const char *const nightly_formats[] = {"text", "json", "prometheus", NULL};

static bool is_there(struct yaml_at at)
{
	return yaml_kind(at) != YAML_ABSENT;
}

/* A path, relative to the folder of the configuration. */
static int read_path(const char *config, struct yaml_at at, char out[PATH_MAX], struct err *e)
{
	char text[1024];
	if (!is_there(at)) {
		return 0;
	}
	int rc = yaml_as_text(at, text, sizeof(text), e);
	if (rc == 0 && !*text) {
		return yaml_error(at, e, "a path is wanted here");
	}
	const char *slash = strrchr(config, '/');
	int folder = *text == '/' || !slash ? 0 : (int)(slash + 1 - config);
	if (rc == 0 && snprintf(out, PATH_MAX, "%.*s%s", folder, config, text) >= PATH_MAX) {
		return yaml_error(at, e, "too long a path");
	}
	return rc;
}

static int read_minute(struct yaml_at at, const char *what, int *minute, struct err *e)
{
	char text[16] = "";
	int h, m, end = 0;
	int rc = is_there(at) && yaml_quoted(at) ? yaml_as_text(at, text, sizeof(text), e) : 0;
	if (rc == 0 && (sscanf(text, "%2d:%2d%n", &h, &m, &end) != 2 || text[end] || h < 0 ||
			h > 23 || m < 0 || m > 59)) {
		return yaml_error(
			at, e, "window: %s is a time of the day in quotes, e.g. \"23:00\"", what);
	}
	*minute = rc ? 0 : 60 * h + m;
	return rc;
}

static int read_window(struct nightly_config *c, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"from", "to", NULL};
	if (!is_there(map)) {
		return 0;
	}
	int rc = yaml_check_keys(map, keys, e);
	rc = rc ? rc : read_minute(yaml_get(map, "from"), "from", &c->from, e);
	rc = rc ? rc : read_minute(yaml_get(map, "to"), "to", &c->to, e);
	if (rc == 0 && c->from == c->to) {
		return yaml_error(map, e,
				  "window: from and to are the same; without a window any "
				  "time is night");
	}
	return rc;
}

static int read_in_use(struct nightly_limits *l, const char *config, struct yaml_at map,
		       struct err *e)
{
	static const char *const keys[] = {"load", "logins", "traffic", "inhibit", NULL};
	int64_t logins = 0;
	l->load = l->logins = l->traffic = INFINITY;
	if (!is_there(map)) {
		return 0;
	}
	int rc = yaml_check_keys(map, keys, e);
	if (rc == 0 && is_there(yaml_get(map, "load"))) {
		rc = yaml_as_real(yaml_get(map, "load"), 0, 1e6, &l->load, e);
	}
	if (rc == 0 && is_there(yaml_get(map, "logins"))) {
		rc = yaml_as_int(yaml_get(map, "logins"), 0, 1000000, &logins, e);
		l->logins = (double)logins;
	}
	if (rc == 0 && is_there(yaml_get(map, "traffic"))) {
		rc = yaml_as_rate(yaml_get(map, "traffic"), &l->traffic, e);
	}
	return rc ? rc : read_path(config, yaml_get(map, "inhibit"), l->inhibit, e);
}

static int read_share(struct yaml_at at, double *out, struct err *e)
{
	int rc = is_there(at) ? yaml_as_fraction(at, out, e) : 0;
	if (rc == 0 && is_there(at) && !(*out > 0 && *out < 1)) {
		return yaml_error(at, e, "between 0%% and 100%%");
	}
	return rc;
}

static int read_metrics(struct nightly_compare *k, struct yaml_at list, struct err *e)
{
	const char *names[COMPARE_METRICS + 1] = {0};
	for (size_t m = 0; m < COMPARE_METRICS; m++) {
		names[m] = compare_metric_names[m];
	}
	k->metric[COMPARE_THROUGHPUT] = k->metric[COMPARE_SERVICE_DEMAND] = true;
	if (!is_there(list)) {
		return 0;
	}
	if (yaml_kind(list) != YAML_LIST || yaml_count(list) == 0) {
		return yaml_error(list, e, "metrics: a list, e.g. [throughput]");
	}
	memset(k->metric, 0, sizeof(k->metric));
	for (size_t i = 0; i < yaml_count(list); i++) {
		int m;
		int rc = yaml_as_word(yaml_item(list, i), names, &m, e);
		if (rc) {
			return rc;
		}
		k->metric[m] = true;
	}
	return 0;
}

static int read_count(struct yaml_at at, int64_t hi, int64_t *out, struct err *e)
{
	return is_there(at) ? yaml_as_int(at, 1, hi, out, e) : 0;
}

static int read_compare(struct nightly_compare *k, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"nights",  "samples",	 "threshold",
					   "metrics", "false_discovery", "between_nights",
					   NULL};
	*k = (struct nightly_compare){.nights = 14,
				      .samples = 8,
				      .threshold = 0.05,
				      .false_discovery = 0.05,
				      .between_nights = NAN};
	int rc = is_there(map) ? yaml_check_keys(map, keys, e) : 0;
	rc = rc ? rc : read_count(yaml_get(map, "nights"), 1000, &k->nights, e);
	rc = rc ? rc : read_count(yaml_get(map, "samples"), 1000, &k->samples, e);
	if (rc == 0 && k->samples < 4) {
		return yaml_error(yaml_get(map, "samples"), e,
				  "samples: under 4 nothing can be told from a night");
	}
	rc = rc ? rc : read_share(yaml_get(map, "threshold"), &k->threshold, e);
	rc = rc ? rc : read_share(yaml_get(map, "false_discovery"), &k->false_discovery, e);
	rc = rc ? rc : read_share(yaml_get(map, "between_nights"), &k->between_nights, e);
	return rc ? rc : read_metrics(k, yaml_get(map, "metrics"), e);
}

static int read_keep(struct nightly_config *c, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"days", "size", NULL};
	if (!is_there(map)) {
		return 0;
	}
	int rc = yaml_check_keys(map, keys, e);
	rc = rc ? rc : read_count(yaml_get(map, "days"), 36500, &c->keep_days, e);
	if (rc == 0 && is_there(yaml_get(map, "size"))) {
		rc = yaml_as_size(yaml_get(map, "size"), &c->keep_bytes, e);
		if (rc == 0 && c->keep_bytes < 1 << 20) {
			return yaml_error(yaml_get(map, "size"), e, "size: at least 1MiB");
		}
	}
	return rc;
}

static int read_write(struct nightly_config *c, const char *config, struct yaml_at map,
		      struct err *e)
{
	int rc = is_there(map) ? yaml_check_keys(map, nightly_formats, e) : 0;
	for (int i = 0; rc == 0 && nightly_formats[i]; i++) {
		rc = read_path(config, yaml_get(map, nightly_formats[i]), c->write[i], e);
	}
	return rc;
}

static int read_when(struct nightly_sweep *s, struct yaml_at map, struct err *e)
{
	static const char *const keys[] = {"kernel",   "cpu",	 "product", "hypervisor",
					   "hostname", "driver", "pci",	    NULL};
	if (!is_there(map)) {
		return 0;
	}
	int rc = yaml_check_keys(map, keys, e);
	s->n_when = yaml_count(map);
	for (size_t i = 0; rc == 0 && i < s->n_when; i++) {
		snprintf(s->when_key[i], sizeof(s->when_key[i]), "%s", yaml_text(yaml_key(map, i)));
		rc = yaml_as_text(yaml_value(map, i), s->when_pattern[i],
				  sizeof(s->when_pattern[i]), e);
	}
	return rc;
}

static int read_sweep(struct nightly_config *c, const char *config, struct yaml_at map,
		      struct err *e)
{
	static const char *const keys[] = {"spec", "when", "every", NULL};
	struct nightly_sweep *s = &c->sweeps[c->n_sweeps++];
	*s = (struct nightly_sweep){.every = 1};
	int rc = yaml_check_keys(map, keys, e);
	if (rc == 0 && !is_there(yaml_get(map, "spec"))) {
		return yaml_error(map, e, "a sweep wants its 'spec': a file");
	}
	rc = rc ? rc : read_path(config, yaml_get(map, "spec"), s->spec, e);
	rc = rc ? rc : read_count(yaml_get(map, "every"), 10000, &s->every, e);
	return rc ? rc : read_when(s, yaml_get(map, "when"), e);
}

static int read_sweeps(struct nightly_config *c, const char *config, struct yaml_at root,
		       struct err *e)
{
	struct yaml_at list = yaml_get(root, "sweeps");
	if (yaml_kind(list) != YAML_LIST || yaml_count(list) == 0) {
		return yaml_error(is_there(list) ? list : root, e,
				  "'sweeps' is a list of what to run: [{spec: FILE}, ...]");
	}
	if (yaml_count(list) > NIGHTLY_SWEEPS_MAX) {
		return yaml_error(list, e, "at most %d sweeps", NIGHTLY_SWEEPS_MAX);
	}
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < yaml_count(list); i++) {
		rc = read_sweep(c, config, yaml_item(list, i), e);
	}
	return rc;
}

static int read_version(struct yaml_at root, struct err *e)
{
	struct yaml_at at = yaml_get(root, "tunesweep_nightly");
	int64_t version = 0;
	int rc = is_there(at) ? yaml_as_int(at, 0, INT64_MAX, &version, e) : 0;
	return rc == 0 && version != 1
		       ? yaml_error(is_there(at) ? at : root, e,
				    "a configuration of nights begins with 'tunesweep_nightly: 1'")
		       : rc;
}

static int read_word(struct yaml_at at, const char *const *words, int *out, struct err *e)
{
	return is_there(at) ? yaml_as_word(at, words, out, e) : 0;
}

static int read_all(const char *path, struct yaml_at root, struct nightly_config *c, struct err *e)
{
	static const char *const keys[] = {"tunesweep_nightly",
					   "state",
					   "window",
					   "in_use",
					   "doctor",
					   "compare",
					   "apply",
					   "keep",
					   "write",
					   "sweeps",
					   NULL};
	static const char *const doctor[] = {"advise", "required", "off", NULL};
	static const char *const apply[] = {"never", "verified", NULL};
	int rc = read_version(root, e);
	rc = rc ? rc : yaml_check_keys(root, keys, e);
	rc = rc ? rc : read_path(path, yaml_get(root, "state"), c->state, e);
	rc = rc ? rc : read_window(c, yaml_get(root, "window"), e);
	rc = rc ? rc : read_in_use(&c->in_use, path, yaml_get(root, "in_use"), e);
	rc = rc ? rc : read_word(yaml_get(root, "doctor"), doctor, &c->doctor, e);
	rc = rc ? rc : read_compare(&c->compare, yaml_get(root, "compare"), e);
	rc = rc ? rc : read_word(yaml_get(root, "apply"), apply, &c->apply, e);
	rc = rc ? rc : read_keep(c, yaml_get(root, "keep"), e);
	rc = rc ? rc : read_write(c, path, yaml_get(root, "write"), e);
	return rc ? rc : read_sweeps(c, path, root, e);
}

int nightly_config_load(const char *path, const char *state_default, struct nightly_config *out,
			struct err *e)
{
	struct yaml *doc = NULL;
	memset(out, 0, sizeof(*out));
	snprintf(out->state, sizeof(out->state), "%s", state_default);
	int rc = yaml_open_file(path, &doc, e);
	if (rc == 0) {
		rc = read_all(path, yaml_root(doc), out, e);
		yaml_close(doc);
	}
	return rc;
}
