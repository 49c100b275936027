/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep export: a profile in the words of sysctl.d, TuneD, systemd, udev, a shell script or
 * Ansible, one file a host. Reads only; a host is asked for what the profile leaves out.
 */
#include "changes.h"
#include "cleanup.h"
#include "export.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct cli_option options[] = {
	{"format", 0, "FORMAT", "sysctl, tuned, link, udev, systemd-dropin, shell or ansible",
	 false},
	{"host", 0, "NAME=VIA",
	 "a host of the profile, asked for the fields that the profile leaves out", true},
	{"device", 0, "D", "only this device (of --format link)", false},
	{"output", 'o', "FILE|DIR", "write it there: a file, or a folder for several hosts", false},
	{NULL, 0, NULL, NULL, false},
};

struct exporting { /* of one export command */
	struct cli *c;
	const struct profile *p;
	const struct export_format *format;
	struct targets t;
	bool many;     /* more than one file */
	json_t *files; /* of what was written, for --json */
};

struct asking { /* of one host, for one file */
	struct exporting *x;
	struct target *t;
};

/* Connects when a host is first asked: most exports need none. */
static int need_agent(struct exporting *x, struct target *t, struct err *e)
{
	if (!t->text) {
		return err_set(e, -ENOENT, "nobody has said where host %s is", t->name);
	}
	return t->agent ? 0 : agent_connect(x->c->launcher, &t->via, target_name(t), &t->agent, e);
}

static int present_text(void *ctx, const struct setting *s, char *text, size_t size)
{
	struct asking *a = ctx;
	struct err e = {0};
	struct tunable_range range;
	int rc = need_agent(a->x, a->t, &e);
	rc = rc ? rc : agent_probe(a->t->agent, s, "", &range, &e);
	if (rc || range.present.type != VALUE_TEXT) {
		return rc ? rc : -ENODATA;
	}
	return snprintf(text, size, "%s", range.present.text) < (int)size ? 0 : -ENAMETOOLONG;
}

/* The device's bus address, by the profile or by the host that was asked for fields. */
static const char *bus_of(const struct exporting *x, const struct target *t, const char *device)
{
	const json_t *host = t->agent ? agent_info(t->agent)->host : NULL;
	const json_t *sources[] = {x->p->machine, host};
	size_t k;
	json_t *nic;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		json_array_foreach(json_object_get(sources[i], "nics"), k, nic)
		{
			const char *name = json_string_value(json_object_get(nic, "device"));
			const char *bus = json_string_value(json_object_get(nic, "bus"));
			if (name && bus && strcmp(name, device) == 0 && strchr(bus, ':')) {
				return bus;
			}
		}
	}
	return "";
}

/* The file for one host, or one device of it; "" for standard output. */
static int choose_path(const struct exporting *x, const char *host, const char *device, char *path,
		       size_t size, struct err *e)
{
	const char *output = cli_value(x->c, "output");
	struct stat st;
	*path = '\0';
	if (!output) {
		return 0;
	}
	bool folder = x->many || (stat(output, &st) == 0 && S_ISDIR(st.st_mode));
	snprintf(path, size, "%s", output);
	if (folder) {
		snprintf(path, size, "%s/%s%s%s%s%s%s", output, x->p->name, *host ? "-" : "", host,
			 *device ? "-" : "", device, export_suffix(x->format));
	}
	for (char *p = path + (folder ? strlen(output) + 1 : strlen(path)); *p; p++) {
		*p = *p == '/' ? '_' : *p;
	}
	if (x->many && mkdir(output, 0755) && errno != EEXIST) {
		return err_set(e, -errno, "-o %s: %s", output, strerror(errno));
	}
	return 0;
}

static int put_out(const struct exporting *x, const char *path, const char *text, struct err *e)
{
	if (!*path) {
		fputs(x->c->json ? "" : text, stdout);
		return 0;
	}
	FILE *f = fopen(path, "we");
	if (!f) {
		return err_set(e, -errno, "-o %s: %s", path, strerror(errno));
	}
	if (strcmp(export_suffix(x->format), ".sh") == 0) {
		fchmod(fileno(f), 0755);
	}
	bool bad = fputs(text, f) < 0;
	if (fclose(f) || bad) {
		return err_set(e, -EIO, "-o %s: cannot be written", path);
	}
	if (x->many && !x->c->json) {
		printf("%s\n", path);
	}
	return 0;
}

static void tell(const struct exporting *x, const json_t *lines, const char *head)
{
	size_t i;
	json_t *line;
	json_array_foreach((json_t *)lines, i, line)
	{
		cli_note(x->c, "%s%s", head, json_string_value(line));
	}
}

static void remember(struct exporting *x, const struct target *t, const char *device,
		     const char *path, const char *text, json_t *left, json_t *filled)
{
	json_array_append_new(x->files,
			      json_pack("{s:s, s:s, s:s?, s:s, s:O, s:O}", "host", t->name,
					"device", device, "path", *path ? path : NULL, "text", text,
					"not_expressed", left, "from_the_machine", filled));
}

static int write_one(struct exporting *x, struct target *t, const char *device, struct err *e)
{
	char path[4096] = "";
	struct asking a = {x, t};
	struct err unknown = {0};
	if (*device && need_agent(x, t, &unknown) < 0) {
		cli_note(x->c, "the bus address of %s is not known: %s", device, unknown.text);
	}
	auto_json json_t *left = json_array(), *filled = json_array();
	struct export_request r = {.profile = x->p,
				   .host = t->name,
				   .device = *device ? device : NULL,
				   .bus = *device ? bus_of(x, t, device) : "",
				   .present = present_text,
				   .ctx = &a};
	if (!export_wants_whole(x->format)) {
		r.present = NULL;
	}
	auto_free char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	if (!f) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int rc = export_write(x->format, &r, f, left, filled, e);
	fclose(f);
	rc = rc ? rc : choose_path(x, t->name, device, path, sizeof(path), e);
	rc = rc ? rc : put_out(x, path, text, e);
	if (rc == 0) {
		tell(x, filled, "");
		tell(x, left, "not expressed: ");
		remember(x, t, device, path, text, left, filled);
	}
	return rc;
}

/* Devices of a host's settings, each once; borrowed. Returns how many. */
static size_t devices_of(const struct exporting *x, const struct target *t, const char *out[],
			 size_t max)
{
	const char *only = cli_value(x->c, "device");
	size_t n = 0;
	for (size_t i = 0; i < x->p->n_settings; i++) {
		const struct profile_setting *s = &x->p->settings[i];
		const char *device = s->assignment.setting.device;
		bool known = strcmp(s->host, t->name) != 0 || !*device ||
			     (only && strcmp(only, device) != 0);
		for (size_t k = 0; !known && k < n; k++) {
			known = strcmp(out[k], device) == 0;
		}
		if (!known && n < max) {
			out[n++] = device;
		}
	}
	return n;
}

static int write_all(struct exporting *x, struct err *e)
{
	enum { DEVICES_MAX = 64 };
	const char *devices[CLI_HOSTS_MAX][DEVICES_MAX] = {{""}};
	size_t n[CLI_HOSTS_MAX], files = 0;
	for (size_t i = 0; i < x->t.n; i++) {
		n[i] = 1;
		devices[i][0] = "";
		if (export_by_device(x->format)) {
			n[i] = devices_of(x, &x->t.items[i], devices[i], DEVICES_MAX);
		}
		files += n[i];
	}
	x->many = files > 1;
	if (files == 0) {
		return err_usage(e, "the profile has no settings of a device: there is no file to "
				    "write");
	}
	if (x->many && !x->c->json && !cli_value(x->c, "output")) {
		return err_usage(e,
				 "that makes %zu files: say where by -o DIR, or which by "
				 "--host or --device",
				 files);
	}
	for (size_t i = 0; i < x->t.n; i++) {
		for (size_t k = 0; k < n[i]; k++) {
			int rc = write_one(x, &x->t.items[i], devices[i][k], e);
			if (rc < 0) {
				return rc;
			}
		}
	}
	return 0;
}

static void add_host(struct targets *t, const char *host)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->items[i].name, host) == 0) {
			return;
		}
	}
	if (t->n < CLI_HOSTS_MAX) {
		snprintf(t->items[t->n++].name, sizeof(t->items[0].name), "%s", host);
	}
}

/* Those of --host, else all that the profile names: of several nobody knows which is where, and
 * none is asked. */
static int choose_hosts(struct exporting *x, struct err *e)
{
	if (x->c->n_repeated) {
		return targets_init(&x->t, x->c, x->p, e);
	}
	for (size_t i = 0; i < x->p->n_settings; i++) {
		add_host(&x->t, x->p->settings[i].host);
	}
	for (size_t i = 0; i < x->p->n_application; i++) {
		const char *host = x->p->application[i].host;
		if (*host || x->t.n == 0) { /* without a host it is everybody's */
			add_host(&x->t, host);
		}
	}
	if (x->t.n <= 1) {
		x->t.n = 1;
		x->t.items[0].text = "local";
	}
	return 0;
}

static int choose_format(struct exporting *x, struct err *e)
{
	const char *word = cli_value(x->c, "format");
	const char *near = word ? nearest_word(word, export_formats(), SIZE_MAX) : NULL;
	x->format = word ? export_find(word) : NULL;
	if (x->format) {
		return 0;
	}
	return err_usage(e,
			 "%s%s%s%s: --format sysctl, tuned, link, udev, systemd-dropin, shell or "
			 "ansible",
			 word ? "there is no format " : "which format", word ? word : "",
			 near ? "; nearest: " : "", near ? near : "");
}

static int run(struct cli *c)
{
	struct profile p;
	struct err e = {0}, closing = {0};
	struct exporting x = {.c = c, .p = &p};
	if (choose_format(&x, &e) < 0 || targets_load_profile(c, &p, &e) < 0) {
		return cli_fail(c, &e);
	}
	auto_json json_t *files = json_array();
	x.files = files;
	int rc = choose_hosts(&x, &e);
	rc = rc ? rc : write_all(&x, &e);
	int rc_close = targets_close(&x.t, &closing);
	targets_clear(&x.t);
	profile_clear(&p);
	if (rc < 0 || rc_close < 0) {
		return cli_fail(c, rc < 0 ? &e : &closing);
	}
	if (c->json) {
		cli_print_json(files);
	}
	return CLI_DONE;
}

const struct command command_export = {
	.name = "export",
	.arguments = "PROFILE[:ROLE]",
	.min_args = 1,
	.max_args = 1,
	.summary = "Write a profile for sysctl.d, TuneD, systemd, udev, a shell or Ansible",
	.options = options,
	.needs_launcher = true,
	.run = run,
};
