/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Specs: every bad one of tests/golden/spec with the exact sentence it is refused with, good ones
 * with every key, defaults, warnings, and the hash that names them.
 */
#include "cleanup.h"
#include "spec.h"
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GOLDEN "tests/golden/spec"

static char *read_file(const char *path)
{
	auto_fclose FILE *f = fopen(path, "re");
	if (!f) {
		fail_msg("cannot read %s (run from the top of the tree)", path);
	}
	char *text = calloc(1, 65536);
	assert_non_null(text);
	text[fread(text, 1, 65535, f)] = '\0';
	return text;
}

static void refused(const char *name, const char *text, const char *sentence)
{
	struct spec *s = NULL;
	struct err e = {.code = 0};
	if (spec_parse(name, text, strlen(text), &s, &e) == 0) {
		fail_msg("%s is taken, but should be refused with: %s", name, sentence);
	}
	assert_null(s);
	assert_int_equal(e.class, ERR_USAGE);
	assert_string_equal(e.text, sentence);
}

static int is_yaml(const struct dirent *d)
{
	size_t n = strlen(d->d_name);
	return n > 5 && strcmp(d->d_name + n - 5, ".yaml") == 0;
}

static void bad_specs_are_refused_with_their_sentence(void **state)
{
	(void)state;
	struct dirent **files;
	int n = scandir(GOLDEN, &files, is_yaml, alphasort);
	assert_true(n > 100);
	for (int i = 0; i < n; i++) {
		char path[512];
		snprintf(path, sizeof(path), GOLDEN "/%s", files[i]->d_name);
		auto_free char *text = read_file(path);
		strcpy(strrchr(path, '.'), ".err");
		auto_free char *sentence = read_file(path);
		sentence[strcspn(sentence, "\n")] = '\0';
		refused(files[i]->d_name, text, sentence);
		free(files[i]);
	}
	free(files);
}

static void files_that_are_no_specs(void **state)
{
	(void)state;
	enum { BIG = (1 << 20) + 1 };
	char path[] = "/tmp/test-spec-XXXXXX";
	struct spec *s = NULL;
	struct err e = {0};
	auto_free char *text = malloc(BIG);
	int fd = mkstemp(path);
	assert_true(fd >= 0 && text);
	memset(text, '#', BIG);
	assert_int_equal(write(fd, text, BIG), BIG);
	close(fd);
	assert_int_equal(spec_load(path, &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, ": larger than 1 MiB: this is no spec"));
	unlink(path);
	assert_int_equal(spec_load(path, &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "No such file"));
	assert_int_equal(spec_load("/", &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "/: "));
	assert_null(s);
}

static struct spec *taken(const char *text)
{
	struct spec *s = NULL;
	struct err e;
	if (spec_parse("dir/good.v2.yaml", text, strlen(text), &s, &e)) {
		fail_msg("refused: %s", e.text);
	}
	return s;
}

static const char full[] =
	"tunesweep: 1\n"
	"name: tcp-stream-10g\n"
	"hosts:\n"
	"  sender:   {via: local}\n"
	"  receiver: {via: [ssh, -p, 2222, rx1], address: 192.0.2.2, agent: /usr/libexec/ta}\n"
	"  third:    {via: netns:blue}\n"
	"test:\n"
	"  engine: builtin\n"
	"  type: tcp_stream\n"
	"  from: third\n"
	"  to: receiver\n"
	"  duration: 500ms\n"
	"  streams: 4\n"
	"  drive: light\n"
	"  confidence: {level: 99%, width: 2.5%, samples: [3, 9]}\n"
	"objective:\n"
	"  maximize: throughput / service_demand\n"
	"  require: [throughput >= 9 Gbit/s, retransmits_per_GB <= 100]\n"
	"  guards: strict\n"
	"tunables:\n"
	"  - {set: net.ipv4.tcp_rmem, field: default, host: receiver, range: [16KiB, 4MiB], scale: "
	"log}\n"
	"  - {set: net/ipv4/tcp_rmem, field: max, host: receiver, range: [1MiB, 64MiB], step: "
	"4KiB}\n"
	"  - {set: net.ipv4.tcp_rmem, field: max, host: third, range: auto, optional: true}\n"
	"  - {set: net.ipv4.tcp_congestion_control, host: sender, choices: available}\n"
	"  - {set: net.ipv4.tcp_sack, host: sender}\n"
	"  - {set: socket.send_buffer, choices: [0, 1MiB]}\n"
	"allow: [unsafe, disruptive, driver-rebind, unlisted]\n"
	"search: {algorithm: GN_DIRECT_L, samples: 7, time: 2min, seed: 99}\n"
	"proof: {pairs: 5, time: 90s}\n";

static void every_key_arrives(void **state)
{
	(void)state;
	struct spec *s = taken(full);
	assert_string_equal(s->name, "tcp-stream-10g");
	assert_string_equal(s->text, full);
	assert_int_equal(s->n_hosts, 3);
	assert_int_equal(s->hosts[0].via.kind, VIA_LOCAL);
	assert_int_equal(s->hosts[1].via.kind, VIA_COMMAND);
	assert_string_equal(s->hosts[1].via.argv[2], "2222");
	assert_null(s->hosts[1].via.argv[4]);
	assert_string_equal(s->hosts[1].address, "192.0.2.2");
	assert_string_equal(s->hosts[1].via.agent, "/usr/libexec/ta");
	assert_string_equal(s->hosts[2].via.netns, "blue");
	assert_int_equal(s->test.from, 2);
	assert_int_equal(s->test.to, 1);
	assert_true(s->test.duration == 0.5 && s->test.light);
	assert_int_equal(s->test.streams, 4);
	assert_int_equal(s->test.samples_min, 3);
	assert_int_equal(s->test.samples_max, 9);
	assert_true(s->test.confidence_level == 0.99 && s->test.confidence_width == 0.025);
	assert_int_equal(s->objective.n_require, 2);
	assert_true(s->objective.require[0].limit == 9e9 && s->objective.require[0].at_least);
	assert_int_equal(s->objective.guards, GUARDS_STRICT);
	assert_int_equal(s->allow, 15);
	assert_string_equal(s->algorithm, "GN_DIRECT_L");
	assert_int_equal(s->samples, 7);
	assert_true(s->time == 120 && s->proof_time == 90);
	assert_int_equal(s->seed, 99);
	assert_int_equal(s->proof_pairs, 5);
	spec_free(s);
}

static void tunables_arrive(void **state)
{
	(void)state;
	struct spec *s = taken(full);
	const struct spec_tunable *t = s->tunables;
	assert_int_equal(s->n_tunables, 6);
	assert_string_equal(t[0].target.setting.name, "net.ipv4.tcp_rmem");
	assert_string_equal(t[0].target.field, "default");
	assert_true(t[0].host == 1 && t[0].log && t[0].lo == 16384 && t[0].hi == 4194304);
	assert_int_equal(t[0].type, VALUE_INT);
	assert_int_equal(t[0].place.line, 21);
	assert_int_equal(t[0].place.column, 11);
	assert_string_equal(t[1].target.setting.name, "net.ipv4.tcp_rmem");
	assert_true(!t[1].log && t[1].step == 4096);
	assert_int_equal(t[2].domain, DOMAIN_RANGE_AUTO);
	assert_true(t[2].optional);
	assert_int_equal(t[3].domain, DOMAIN_CHOICES_AVAILABLE);
	assert_int_equal(t[4].n_choices, 2); /* a boolean has its two by itself */
	assert_int_equal(t[5].host, -1);
	assert_int_equal(t[5].choices[0].i, 0); /* 0: not set */
	assert_int_equal(t[5].choices[1].i, 1 << 20);
	spec_free(s);
}

static void what_is_left_out_has_its_default(void **state)
{
	(void)state;
	struct spec *s = taken("tunesweep: 1\n"
			       "test: {engine: command, command: [./bench, --flag, 10]}\n"
			       "tunables:\n"
			       "  - {set: param.x, range: [1, 10]}\n");
	assert_string_equal(s->name, "good");
	assert_string_equal(s->test.command[2], "10");
	assert_true(s->test.from == -1 && s->test.to == -1 && s->n_hosts == 0);
	assert_true(s->test.duration == 2 && s->test.timeout == 80 && !s->test.serve);
	assert_true(s->test.samples_min == 1 && s->test.samples_max == 1);
	assert_true(s->objective.is_default && s->objective.guards == GUARDS_DEFAULT);
	assert_string_equal(s->algorithm, "auto");
	assert_true(s->samples == 60 && s->time == 1800 && s->seed == 1);
	assert_true(s->proof_pairs == 60 && s->proof_time == 900);
	assert_int_equal(s->n_warnings, 0);
	spec_free(s);
}

static void parameters_have_the_type_that_is_written(void **state)
{
	(void)state;
	struct spec *s = taken(
		"tunesweep: 1\n"
		"test: {engine: command, command: [x], serve: true, timeout: 3s}\n"
		"objective: {minimize: my_cost}\n"
		"tunables:\n"
		"  - {set: param.i, range: [1, 10], default: 4}\n"
		"  - {set: param.r, range: [1, 2.5], default: 2}\n"
		"  - {set: param.f, range: [1, 10], type: float}\n"
		"  - {set: param.s, range: [16KiB, 1MiB], scale: log}\n"
		"  - {set: param.b, choices: [off, on]}\n"
		"  - {set: param.w, choices: [fast, \"010\", \"on\"], default: fast}\n"
		"  - {set: param.m, choices: [1, 2.5]}\n");
	const enum value_type types[] = {VALUE_INT,  VALUE_REAL, VALUE_REAL, VALUE_INT,
					 VALUE_BOOL, VALUE_TEXT, VALUE_REAL};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		assert_int_equal(s->tunables[i].type, types[i]);
	}
	assert_int_equal(s->tunables[0].target.value.i, 4);
	assert_true(s->tunables[1].target.value.r == 2);
	assert_true(s->tunables[3].lo == 16384);
	assert_string_equal(s->tunables[5].choices[1].text, "010");
	assert_int_equal(s->tunables[6].choices[0].type, VALUE_REAL);
	assert_true(s->test.serve && s->test.timeout == 3 && s->objective.minimize);
	spec_free(s);
}

static void warns_where_tunables_work_against_each_other(void **state)
{
	(void)state;
	static const char head[] = "tunesweep: 1\n"
				   "hosts: {a: {via: lab}, b: {via: lab}}\n"
				   "test: {engine: builtin}\n"
				   "tunables:\n"
				   "  - {set: net.core.rmem_max, host: b, range: [1MiB, 8MiB]}\n";
	char text[1024];
	struct spec *s = taken(head);
	assert_int_equal(s->n_warnings, 1); /* nothing else looks at it */
	assert_non_null(strstr(s->warnings[0], "dir/good.v2.yaml:5:11: net.core.rmem_max caps"));
	spec_free(s);
	snprintf(text, sizeof(text),
		 "%s  - {set: socket.receive_buffer, range: [1MiB, 8MiB]}\n"
		 "  - {set: net.ipv4.tcp_rmem, field: max, host: b, range: [1MiB, 8MiB]}\n",
		 head);
	s = taken(text);
	assert_int_equal(s->n_warnings, 1);
	assert_non_null(strstr(s->warnings[0], "autotuning off"));
	spec_free(s);
}

static void warns_of_a_default_outside_the_range(void **state)
{
	(void)state;
	static const struct {
		const char *rest;
		size_t warnings;
	} cases[] = {
		{"range: [0, 9], default: 9", 0},
		{"range: [0, 9], default: 10", 1},
		{"range: [0.5, 9.5], default: 0.25", 1},
		{"range: [0.5, 9.5], default: 1", 0},
		{"range: [1, 9]", 0},
		{"choices: [1, 20], default: 20", 0},
		{"range: [-9007199254740991, 9007199254740991], type: int, default: 5", 0},
		{"range: [-1e307, 1e307], type: float", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[512];
		snprintf(text, sizeof(text),
			 "tunesweep: 1\n"
			 "test: {engine: command, command: [/bin/true]}\n"
			 "tunables:\n"
			 "  - {set: param.x, %s}\n",
			 cases[i].rest);
		struct spec *s = taken(text);
		assert_int_equal(s->n_warnings, cases[i].warnings);
		if (s->n_warnings) {
			assert_non_null(strstr(s->warnings[0], "the default is outside the range"));
		}
		spec_free(s);
	}
}

/* A spec cut off anywhere is refused or taken, and never more than that. */
static void no_beginning_of_a_spec_does_harm(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(full); n++) {
		struct spec *s = NULL;
		struct err e = {.code = 0};
		auto_free char *text = malloc(n + 1); /* exact size: reading beyond is seen */
		assert_non_null(text);
		memcpy(text, full, n);
		if (spec_parse("cut.yaml", text, n, &s, &e) == 0) {
			spec_free(s);
		} else {
			assert_true(strncmp(e.text, "cut.yaml:", 9) == 0);
		}
	}
}

/* Every byte of a good spec replaced by one that means something to YAML. */
static void no_byte_does_harm(void **state)
{
	(void)state;
	static const char bytes[] = "{}[]:,-\n\t\"'#&*!|>%@0 \x01\xff";
	char text[sizeof(full)];
	for (size_t i = 0; i + 1 < sizeof(full); i++) {
		struct spec *s = NULL;
		struct err e;
		memcpy(text, full, sizeof(full));
		text[i] = bytes[i % (sizeof(bytes) - 1)];
		if (spec_parse("x.yaml", text, strlen(text), &s, &e) == 0) {
			spec_free(s);
		}
	}
}

static void a_file_that_is_not_there_is_the_users_error(void **state)
{
	(void)state;
	struct spec *s = NULL;
	struct err e;
	assert_true(spec_load("/nonexistent/spec.yaml", &s, &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
	assert_non_null(strstr(e.text, "/nonexistent/spec.yaml: "));
}

static void the_demo_is_a_spec(void **state)
{
	(void)state;
	struct spec *s = NULL;
	struct err e;
	if (spec_load("sweep/specs/lab.yaml", &s, &e)) {
		fail_msg("%s", e.text);
	}
	assert_int_equal(s->n_tunables, 8);
	assert_true(s->has_link && s->link.delay_s == 0.02 && s->link.rate_bps == 2e9);
	assert_true(s->hosts[0].via.lab_end == 0 && s->hosts[1].via.lab_end == 1);
	/* Fixed buffers beside autotuned ones are told */
	assert_int_equal(s->n_warnings, 2);
	spec_free(s);
}

/* As sha256sum(1) says it of the same bytes. */
static void a_spec_is_named_by_its_text(void **state)
{
	(void)state;
	static const char text[] =
		"tunesweep: 1\n"
		"name: named\n"
		"test: {engine: command, command: [./bench]}\n"
		"objective: {maximize: score}\n"
		"tunables: [{set: param.x, range: [0, 100], type: int, default: 10}]\n";
	struct spec *s = NULL;
	struct err e;
	if (spec_parse("named.yaml", text, strlen(text), &s, &e)) {
		fail_msg("%s", e.text);
	}
	assert_string_equal(s->sha,
			    "0f54333e0627d8d00a419398fc4e1034289713ba100593c2268257b07c3e307a");
	spec_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_specs_are_refused_with_their_sentence),
		cmocka_unit_test(files_that_are_no_specs),
		cmocka_unit_test(every_key_arrives),
		cmocka_unit_test(tunables_arrive),
		cmocka_unit_test(what_is_left_out_has_its_default),
		cmocka_unit_test(parameters_have_the_type_that_is_written),
		cmocka_unit_test(warns_where_tunables_work_against_each_other),
		cmocka_unit_test(warns_of_a_default_outside_the_range),
		cmocka_unit_test(no_beginning_of_a_spec_does_harm),
		cmocka_unit_test(no_byte_does_harm),
		cmocka_unit_test(a_file_that_is_not_there_is_the_users_error),
		cmocka_unit_test(the_demo_is_a_spec),
		cmocka_unit_test(a_spec_is_named_by_its_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
