/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Those of the test command's letters that hold sizes, pairs and CPUs, into what its sockets and
 * threads are given. Called by test_options.c.
 */
#include "cleanup.h"
#include "cli_test.h"
#include "tunable.h"
#include "value.h"
#include <stdio.h>
#include <string.h>

/* netperf's sizes: K M G are powers of 1024, k m g of 1000; also the strict ones with a unit. */
static int letter_size(const char *option, const char *text, int64_t *out, struct err *e)
{
	static const char letters[] = "KMGkmg";
	static const int64_t factors[] = {1 << 10, 1 << 20, 1 << 30, 1000, 1000000, 1000000000};
	char number[32];
	size_t n = strlen(text);
	const char *letter = n > 1 ? strchr(letters, text[n - 1]) : NULL;
	int64_t factor = 1;
	int rc;
	if (letter && *letter && n < sizeof(number)) {
		snprintf(number, sizeof(number), "%.*s", (int)n - 1, text);
		factor = factors[letter - letters];
		rc = scalar_int(number, out, e);
	} else {
		rc = scalar_size(text, out, e);
	}
	if (rc < 0) {
		return err_wrap(e, "-%s", option);
	}
	if (*out < 0 || *out > INT32_MAX / factor) {
		return err_usage(e, "-%s %s: too large", option, text);
	}
	*out *= factor;
	return 0;
}

/* "A", "A,B", "A," or ",B" in two texts; a single one is both. */
int test_pair_split(const char *option, const char *text, char a[64], char b[64], struct err *e)
{
	const char *comma = strchr(text, ',');
	if (strlen(text) >= 64 || !*text || strcmp(text, ",") == 0 ||
	    (comma && strchr(comma + 1, ','))) {
		return err_usage(e, "-%s %.60s: one value or two with a comma", option, text);
	}
	snprintf(a, 64, "%.*s", comma ? (int)(comma - text) : 63, text);
	snprintf(b, 64, "%s", comma ? comma + 1 : text);
	return 0;
}

/* What a socket is given beside the search: within what the catalogue says of socket.NAME. */
static int fix(struct spec_test *t, const char *option, const char *name, int end, int64_t value,
	       struct err *e)
{
	struct spec_fixed *f = &t->fixed[t->n_fixed];
	char tunable[64];
	struct setting s;
	struct value v = value_int(value);
	snprintf(tunable, sizeof(tunable), "socket.%s", name);
	int rc = tunable_resolve(tunable, "", "", &s, e);
	rc = rc ? rc : tunable_check(&s, "", &v, e);
	if (rc < 0) {
		return err_wrap(e, "-%s", option);
	}
	if (t->n_fixed < SPEC_FIXED_MAX) {
		snprintf(f->name, sizeof(f->name), "%s", name);
		f->end = end;
		f->value = value;
		t->n_fixed++;
	}
	return 0;
}

static int fix_size(const struct cli *c, struct spec_test *t, const char *name, const char *letter,
		    const char *tunable, struct err *e)
{
	const char *text = cli_value(c, name);
	int64_t size;
	if (!text) {
		return 0;
	}
	int rc = letter_size(letter, text, &size, e);
	return rc ? rc : fix(t, letter, tunable, -1, size, e);
}

/* -s and -S: the send buffer and the receive buffer of one end. */
static int fix_buffers(const struct cli *c, struct spec_test *t, const char *name,
		       const char *letter, int end, struct err *e)
{
	static const char *const tunables[] = {"send_buffer", "receive_buffer"};
	char part[2][64];
	const char *text = cli_value(c, name);
	int rc = text ? test_pair_split(letter, text, part[0], part[1], e) : 0;
	for (int i = 0; text && rc == 0 && i < 2; i++) {
		int64_t size;
		if (*part[i]) {
			rc = letter_size(letter, part[i], &size, e);
			rc = rc ? rc : fix(t, letter, tunables[i], end, size, e);
		}
	}
	return rc;
}

int test_read_sizes(const struct cli *c, struct spec_test *t, struct err *e)
{
	static const struct {
		const char *name;
		int64_t value;
	} canonical[] = {{"send_buffer", 128 << 10},
			 {"receive_buffer", 128 << 10},
			 {"message_size", 32 << 10}};
	const char *preset = cli_value(c, "preset");
	if (preset && strcmp(preset, "netperf-canonical") != 0) {
		return err_usage(e, "--preset: there is netperf-canonical, no '%.40s'", preset);
	}
	int rc = 0;
	for (size_t i = 0; preset && rc == 0 && i < ARRAY_SIZE(canonical); i++) {
		rc = fix(t, "-preset", canonical[i].name, -1, canonical[i].value, e);
	}
	rc = rc ? rc : fix_size(c, t, "send-size", "m", "message_size", e);
	rc = rc ? rc : fix_size(c, t, "receive-size", "M", "receive_size", e);
	rc = rc ? rc : fix_buffers(c, t, "local-buffer", "s", 0, e);
	return rc ? rc : fix_buffers(c, t, "remote-buffer", "S", 1, e);
}

int test_number(const char *option, const char *text, int64_t lo, int64_t hi, int64_t *out,
		struct err *e)
{
	if (scalar_int(text, out, e) < 0) {
		return err_wrap(e, "-%s", option);
	}
	if (*out < lo || *out > hi) {
		return err_usage(e, "-%s: %s is not between %lld and %lld", option, text,
				 (long long)lo, (long long)hi);
	}
	return 0;
}

int test_read_cpus(const struct cli *c, struct spec_test *t, struct err *e)
{
	char part[2][64];
	const char *text = cli_value(c, "cpus"), *ring = cli_value(c, "ring");
	int64_t n;
	int rc = text ? test_pair_split("T", text, part[0], part[1], e) : 0;
	for (int i = 0; text && rc == 0 && i < 2; i++) {
		if (*part[i]) {
			rc = test_number("T", part[i], 0, 1023, &n, e);
			t->n_cpus[i] = 1;
			t->cpus[i][0] = (int)n;
		}
	}
	rc = rc || !ring ? rc : test_pair_split("W", ring, part[0], part[1], e);
	/* What is received goes to one buffer: only the sends cycle. */
	if (rc == 0 && ring && *part[0]) {
		rc = test_number("W", part[0], 1, 4096, &n, e);
		rc = rc ? rc : fix(t, "W", "ring", -1, n, e);
	}
	return rc;
}
