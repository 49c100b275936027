/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep import: published or foreign results into the store. Reads a file whole, or nothing.
 */
#include "cleanup.h"
#include "cli.h"
#include "import.h"
#include "json_util.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FILE_MAX (256 << 20)

static const struct cli_option options[] = {
	{"format", 0, "F", "csv, netperf, iperf3 or flent (default: told by the content)", false},
	{"name", 0, "NAME", "name of the run in the store (default: the file's)", false},
	{"label", 0, "K=V", "a label for all results: kernel=6.1.0, variant=\"patch 1\"", true},
	{NULL, 0, NULL, NULL, false},
};

static int read_file(const char *path, char **text, size_t *size, struct err *e)
{
	auto_fclose FILE *f = strcmp(path, "-") ? fopen(path, "re") : fdopen(dup(0), "r");
	if (!f) {
		return err_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
	}
	auto_free char *buf = NULL;
	size_t n = 0, room = 0, got = 1;
	while (got && n < FILE_MAX) {
		if (room - n < 65536) {
			char *more = realloc(buf, room = 2 * room + 131072);
			if (!more) {
				return err_set(e, -ENOMEM, "%s: out of memory", path);
			}
			buf = more;
		}
		got = fread(buf + n, 1, room - n - 1, f);
		n += got;
	}
	if (ferror(f) || n >= FILE_MAX) {
		return err_set(e, ferror(f) ? -EIO : -EFBIG, "cannot read %s: %s", path,
			       ferror(f) ? strerror(errno) : "larger than 256 MiB");
	}
	buf[n] = 0;
	*size = n;
	*text = take_ptr(buf);
	return 0;
}

static int labels_of(const struct cli *c, json_t *labels, struct err *e)
{
	for (int i = 0; i < c->n_repeated; i++) {
		const char *equals = strchr(c->repeated[i], '=');
		char name[64];
		if (!equals || equals == c->repeated[i] || !equals[1] ||
		    equals - c->repeated[i] >= (long)sizeof(name)) {
			return err_usage(e, "--label takes NAME=VALUE, not \"%s\"", c->repeated[i]);
		}
		snprintf(name, sizeof(name), "%.*s", (int)(equals - c->repeated[i]),
			 c->repeated[i]);
		json_object_set_new(labels, name, json_text_or_null(equals + 1));
	}
	return 0;
}

/* The file's name without folder and ending. */
static void default_name(const char *path, char *buf, size_t size)
{
	const char *slash = strrchr(path, '/');
	snprintf(buf, size, "%s", slash ? slash + 1 : path);
	char *dot = strrchr(buf, '.');
	if (dot && dot != buf) {
		*dot = 0;
	}
	if (!*buf || !strcmp(buf, "-")) {
		snprintf(buf, size, "imported");
	}
}

static int keep(const struct cli *c, const char *text, const json_t *rows, const json_t *labels,
		struct err *e)
{
	struct store *store = NULL;
	char name[128], id[64];
	const char *given = cli_value(c, "name");
	default_name(c->args[0], name, sizeof(name));
	int rc = cli_open_store(c, true, &store, e);
	if (rc == 0) {
		rc = import_store(store, given ? given : name, text, rows, labels, id, sizeof(id),
				  e);
	}
	store_close(store);
	if (rc == 0 && c->json) {
		auto_json json_t *o = json_pack("{s:s, s:I}", "run", id, "samples",
						(json_int_t)json_array_size(rows));
		cli_print_json(o);
	} else if (rc == 0) {
		printf("%s: %zu samples imported\n", id, json_array_size(rows));
	}
	return rc;
}

static int run(struct cli *c)
{
	struct err e = {0};
	auto_free char *text = NULL;
	auto_json json_t *rows = NULL, *labels = json_object();
	size_t size = 0;
	int rc = labels_of(c, labels, &e);
	rc = rc ? rc : read_file(c->args[0], &text, &size, &e);
	rc = rc ? rc : import_parse(c->args[0], text, size, cli_value(c, "format"), &rows, &e);
	rc = rc ? rc : keep(c, text, rows, labels, &e);
	return rc < 0 ? cli_fail(c, &e) : CLI_DONE;
}

const struct command command_import = {
	.name = "import",
	.arguments = "FILE",
	.min_args = 1,
	.max_args = 1,
	.summary = "Take published or foreign results into the store",
	.options = options,
	.run = run,
};
