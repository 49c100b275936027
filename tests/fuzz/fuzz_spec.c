/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A spec from anywhere: it is taken, or refused with a sentence that names its place. Of one that
 * is taken the space is made, or refused likewise; each of its points has a configuration, which is
 * allowed or not, and whose own point has the same.
 */
#include "cleanup.h"
#include "fuzz.h"
#include "space.h"
#include "spec.h"
#include <string.h>

const char *const fuzz_folders[] = {"sweep/specs", "tests/golden/spec", NULL};

static void make_space(const struct spec *spec)
{
	static struct configuration c, again; /* large */
	struct space *s = NULL;
	struct err e = {0};
	if (space_create(spec, NULL, &s, NULL, &e) < 0) {
		FUZZ_MUST(e.code < 0 && e.text[0]);
		return;
	}
	for (int i = 0; i <= 4; i++) {
		double u[SPEC_TUNABLES_MAX];
		for (size_t k = 0; k < SPEC_TUNABLES_MAX; k++) {
			u[k] = (k % 2 ? 4 - i : i) / 4.0;
		}
		space_decode(s, u, &c);
		FUZZ_MUST(c.n == s->n);
		space_allows(s, &c);
		space_encode(s, &c, u);
		space_decode(s, u, &again);
		FUZZ_MUST(configuration_equal(&c, &again));
	}
	space_destroy(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec *s = NULL;
	struct err e = {0};
	if (spec_parse("fuzz.yaml", (const char *)data, size, &s, &e) == 0) {
		make_space(s);
		spec_free(s);
		return 0;
	}
	FUZZ_MUST(e.code < 0 && e.text[0]);
	return 0;
}

size_t fuzz_seed(size_t i, char *buf, size_t size)
{
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	if (i >= n) {
		return 0;
	}
	const char *field = rows[i].fields[0];
	int used = snprintf(buf, size,
			    "tunesweep: 1\nname: x\nhosts: {a: {via: local}, b: {via: local}}\n"
			    "test: {type: tcp_stream, from: a, to: b, duration: 1s}\n"
			    "allow: [unsafe, disruptive, unlisted, driver-rebind]\n"
			    "tunables:\n  - {set: \"%s\", %s%s%s host: a, choices: [1, 2]}\n",
			    rows[i].name, field ? "field: " : "", field ? field : "",
			    field ? "," : "");
	return used > 0 && (size_t)used < size ? (size_t)used : 0;
}
