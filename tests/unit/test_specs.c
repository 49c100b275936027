/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ready sweeps in sweep/specs: each is read without an error or a warning, has a proof, and
 * sets what its name says. Specs that must be warned of, with the words.
 */
#include "cleanup.h"
#include "spec.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct spec *load(const char *name)
{
	char path[512];
	struct spec *s = NULL;
	struct err e = {0};
	snprintf(path, sizeof(path), "sweep/specs/%s", name);
	if (spec_load(path, &s, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

static int is_yaml(const struct dirent *d)
{
	size_t n = strlen(d->d_name);
	return n > 5 && strcmp(d->d_name + n - 5, ".yaml") == 0;
}

static void every_one_is_read(void **state)
{
	(void)state;
	struct dirent **files;
	int n = scandir("sweep/specs", &files, is_yaml, alphasort);
	assert_true(n >= 6);
	for (int i = 0; i < n; i++) {
		struct spec *s = load(files[i]->d_name);
		if (s->n_warnings && strcmp(files[i]->d_name, "lab.yaml")) { /* it shows some */
			fail_msg("%s: %s", files[i]->d_name, s->warnings[0]);
		}
		assert_true(s->n_tunables >= 6);
		assert_true(s->proof_pairs >= 12 && s->samples >= 40);
		spec_free(s);
		free(files[i]);
	}
	free(files);
}

/* Tunables that work against each other: tests/golden/warn has specs, and beside each what it is
 * told, a line a warning (UPDATE_GOLDEN=1 writes them anew). */
static void assert_warnings(const char *name)
{
	char path[512], said[8192] = "", golden[8192] = "";
	size_t used = 0;
	struct spec *s = NULL;
	struct err e = {0};
	snprintf(path, sizeof(path), "tests/golden/warn/%s", name);
	if (spec_load(path, &s, &e)) {
		fail_msg("%s", e.text);
	}
	for (size_t i = 0; i < s->n_warnings; i++) {
		const char *after = strstr(s->warnings[i], name);
		used += (size_t)snprintf(said + used, sizeof(said) - used, "%s\n",
					 after ? after : s->warnings[i]);
	}
	spec_free(s);
	strcpy(strrchr(path, '.'), ".said");
	auto_fclose FILE *f = fopen(path, getenv("UPDATE_GOLDEN") ? "w+" : "r");
	assert_non_null(f);
	if (getenv("UPDATE_GOLDEN")) {
		fputs(said, f);
		rewind(f);
	}
	golden[fread(golden, 1, sizeof(golden) - 1, f)] = 0;
	assert_string_equal(said, golden);
}

static void warnings_are_those_on_file(void **state)
{
	(void)state;
	struct dirent **files;
	int n = scandir("tests/golden/warn", &files, is_yaml, alphasort);
	assert_true(n >= 10);
	for (int i = 0; i < n; i++) {
		assert_warnings(files[i]->d_name);
		free(files[i]);
	}
	free(files);
}

static bool sets(const struct spec *s, const char *name)
{
	for (size_t i = 0; i < s->n_tunables; i++) {
		if (!strcmp(s->tunables[i].target.setting.name, name)) {
			return true;
		}
	}
	return false;
}

/* UDP's two that belong together, and for the rest what nobody would leave out. */
static void they_set_what_they_are_named_for(void **state)
{
	(void)state;
	static const struct {
		const char *file, *tunable[3];
	} wanted[] = {
		{"tcp-stream.yaml", {"net.ipv4.tcp_rmem", "net.ipv4.tcp_congestion_control", NULL}},
		{"udp-stream.yaml", {"socket.message_size", "link.mtu", NULL}},
		{"numa.yaml", {"numa.policy", "numa.cpu", NULL}},
		{"irq.yaml", {"irq.affinity", "rps.cpus", "xps.cpus"}},
		{"nic.yaml", {"nic.features.tso", "nic.rings.rx", "nic.channels.combined"}},
	};
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct spec *s = load(wanted[i].file);
		for (size_t k = 0; k < 3 && wanted[i].tunable[k]; k++) {
			if (!sets(s, wanted[i].tunable[k])) {
				fail_msg("%s: no %s", wanted[i].file, wanted[i].tunable[k]);
			}
		}
		spec_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_one_is_read),
		cmocka_unit_test(warnings_are_those_on_file),
		cmocka_unit_test(they_set_what_they_are_named_for),
	};
	return cmocka_run_group_tests_name("specs", tests, NULL, NULL);
}
