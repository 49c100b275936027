/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the run command says of a panel, where it writes, and what it takes from the profile of
 * --against.
 */
#include "cli_run.h"
#include "json_util.h"
#include "space_fixture.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct run r; /* large, and zero to begin with */
static struct cli c;

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/tunesweep-test-XXXXXX");
	memset(&r, 0, sizeof(r));
	c = (struct cli){.command = &command_run, .interrupt_fd = -1, .quiet = true};
	r.c = &c;
	return mkdtemp(folder) ? setenv("XDG_STATE_HOME", folder, 1) : -1;
}

static int remove_folder(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void give(const char *option, const char *value)
{
	const struct cli_option *o;
	for (size_t i = 0; (o = cli_option_at(&command_run, i)); i++) {
		if (strcmp(o->name, option) == 0) {
			c.values[i] = value;
			return;
		}
	}
	fail_msg("run has no option --%s", option);
}

/* What f prints on one of the standard streams; the caller's. */
static char *printed(FILE **stream, void (*f)(void))
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size), *was = *stream;
	assert_non_null(memory);
	*stream = memory;
	f();
	*stream = was;
	fclose(memory);
	return text;
}

static struct panel panel;

static void print_panel(void)
{
	run_panel_print(&panel);
}

static void nothing_measured_says_nothing(void **state)
{
	(void)state;
	panel = (struct panel){0};
	auto_free char *text = printed(&stdout, print_panel);
	assert_string_equal(text, "");
	assert_null(run_panel_json(&panel));
}

static void what_got_worse_is_told(void **state)
{
	const struct interval unknown = {.estimate = NAN, .lo = NAN, .hi = NAN};
	(void)state;
	panel = (struct panel){0};
	panel.item[PANEL_STREAMS_16] = (struct panel_item){
		.pairs = 6,
		.worse = true,
		.throughput = {.estimate = -20.04, .lo = -22, .hi = -INFINITY},
		.service_demand = {.estimate = 1.5, .lo = 1, .hi = 2},
		.latency_p99 = unknown,
	};
	panel.item[PANEL_REQUESTS] = (struct panel_item){
		.pairs = 5,
		.throughput = unknown,
		.service_demand = unknown,
		.latency_p99 = {.estimate = -3, .lo = -5, .hi = -1},
	};
	auto_free char *text = printed(&stdout, print_panel);
	assert_string_equal(text,
			    "The best under other tests, a few pairs each:\n"
			    "  16 streams              WORSE: throughput -20.0 % service demand "
			    "+1.5 %\n"
			    "  request and response           p99 latency -3.0 %\n");

	auto_json json_t *list = run_panel_json(&panel);
	auto_json json_t *expected = json_pack(
		"[{s:s, s:i, s:b, s:f, s:[f,n], s:f, s:[f,f], s:n, s:[n,n]},"
		" {s:s, s:i, s:b, s:n, s:[n,n], s:n, s:[n,n], s:f, s:[f,f]}]",
		"test", "16 streams", "pairs", 6, "worse", 1, "throughput_percent", -20.04,
		"throughput_interval", -22.0, "service_demand_percent", 1.5,
		"service_demand_interval", 1.0, 2.0, "latency_p99_percent", "latency_p99_interval",
		"test", "request and response", "pairs", 5, "worse", 0, "throughput_percent",
		"throughput_interval", "service_demand_percent", "service_demand_interval",
		"latency_p99_percent", -3.0, "latency_p99_interval", -5.0, -1.0);
	assert_non_null(expected);
	assert_true(json_equal(list, expected));
}

static bool is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void a_run_has_its_own_folder_below_the_state(void **state)
{
	char dir[4096], expected[256];
	struct err e = {0};
	(void)state;
	strcpy(r.record.id, "20310310-020000-abc");
	assert_int_equal(run_check_output(&r, &e), 0);
	assert_int_equal(run_output_folder(&r, dir, sizeof(dir), &e), 0);
	snprintf(expected, sizeof(expected), "%s/tunesweep/runs/%s", folder, r.record.id);
	assert_string_equal(dir, expected);
	assert_true(is_folder(dir));
}

static void the_folder_that_was_asked_for_is_made(void **state)
{
	char dir[4096], wanted[128];
	struct err e = {0};
	(void)state;
	snprintf(wanted, sizeof(wanted), "%s/a/b", folder);
	give("output", wanted);
	assert_int_equal(run_output_folder(&r, dir, sizeof(dir), &e), 0);
	assert_string_equal(dir, wanted);
	assert_true(is_folder(wanted));
	assert_int_equal(run_check_output(&r, &e), 0);
}

/* Refused before the night, with the path. */
static void a_folder_that_cannot_be_is_refused(void **state)
{
	char file[128], below[160];
	struct err e = {0};
	(void)state;
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(below, sizeof(below), "%s/run", file);
	fclose(fopen(file, "w"));
	give("output", below);
	assert_true(run_check_output(&r, &e) < 0);
	assert_non_null(strstr(e.text, file));
	give("output", "/proc/self"); /* nobody makes files there */
	if (access("/proc/self", W_OK) < 0) {
		assert_true(run_check_output(&r, &e) < 0);
		assert_non_null(strstr(e.text, "-o /proc/self"));
	}
}

static void without_a_state_directory_it_says_so(void **state)
{
	char dir[4096], long_one[4000];
	struct err e = {0};
	(void)state;
	memset(long_one, 'x', sizeof(long_one));
	long_one[0] = '/';
	long_one[sizeof(long_one) - 1] = '\0';
	setenv("XDG_STATE_HOME", long_one, 1);
	assert_true(run_output_folder(&r, dir, sizeof(dir), &e) < 0);
	assert_true(*e.text);
}

static const char spec_text[] = HOSTS
	"  - {set: net.ipv4.tcp_rmem, field: default, host: b, range: [16KiB, 4MiB]}\n"
	"  - {set: net.ipv4.tcp_rmem, field: max, host: b, range: [1MiB, 64MiB]}\n"
	"  - {set: net.ipv4.tcp_congestion_control, host: a, choices: [cubic, reno]}\n"
	"  - {set: net.core.somaxconn, host: a, range: [16, 4096]}\n";

static int load_against(const char *settings, struct err *e)
{
	static char file[128];
	snprintf(file, sizeof(file), "%s/profile.yaml", folder);
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	fprintf(f, "tunesweep_profile: 1\nname: mine\nsettings:\n%s", settings);
	fclose(f);
	give("against", file);
	return run_load_against(&r, e);
}

static int make_space(void **state)
{
	json_t *notes = NULL;
	if (make_folder(state)) {
		return -1;
	}
	r.spec = parse(spec_text);
	r.space = make(r.spec, &notes);
	json_decref(notes);
	return 0;
}

static int remove_space(void **state)
{
	space_destroy(r.space);
	spec_free(r.spec);
	return remove_folder(state);
}

static void fields_of_a_whole_vector_are_taken_apart(void **state)
{
	struct err e = {0};
	(void)state;
	if (load_against("  - {set: net.ipv4.tcp_rmem, host: b, value: [4096, 262144, 8388608]}\n"
			 "  - {set: net.ipv4.tcp_congestion_control, host: a, value: reno}\n",
			 &e)) {
		fail_msg("%s", e.text);
	}
	assert_string_equal(r.against_name, "mine");
	assert_int_equal(r.against.v[0].i, 262144);
	assert_int_equal(r.against.v[1].i, 8388608);
	assert_string_equal(r.against.v[2].text, "reno");
	assert_int_equal(r.against.v[3].i, 4096); /* not named: its baseline */
}

static void one_field_alone_leaves_the_others(void **state)
{
	struct err e = {0};
	(void)state;
	assert_int_equal(
		load_against("  - {set: net.ipv4.tcp_rmem, field: max, value: 8MiB}\n", &e), 0);
	assert_int_equal(r.against.v[0].i, 131072);
	assert_int_equal(r.against.v[1].i, 8388608);
}

static void load_with_strangers(void)
{
	struct err e = {0};
	c.quiet = false;
	assert_int_equal(load_against("  - {set: net.ipv4.tcp_wmem, field: max, host: b, value: "
				      "8MiB}\n"
				      "  - {set: net.core.somaxconn, host: b, value: 128}\n"
				      "  - {set: net.core.somaxconn, host: a, value: 256}\n",
				      &e),
			 0);
}

static void what_is_not_searched_is_told(void **state)
{
	(void)state;
	auto_free char *text = printed(&stderr, load_with_strangers);
	assert_int_equal(r.against.v[3].i, 256);
	assert_non_null(strstr(text, "net.ipv4.tcp_wmem is not searched here"));
	assert_non_null(strstr(text, "net.core.somaxconn is not searched here")); /* on host b */
}

static void a_profile_that_changes_nothing_here_is_refused(void **state)
{
	struct err e = {0};
	(void)state;
	assert_true(load_against("  - {set: net.core.somaxconn, host: a, value: 4096}\n", &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
	assert_non_null(strstr(e.text, "nothing of this space"));
	assert_true(load_against("  - {set: net.core.somaxcon, host: a, value: 1}\n", &e) < 0);
	assert_int_equal(e.class, ERR_USAGE);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
#define IN_SPACE(f)  cmocka_unit_test_setup_teardown(f, make_space, remove_space)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_measured_says_nothing),
		cmocka_unit_test(what_got_worse_is_told),
		IN_FOLDER(a_run_has_its_own_folder_below_the_state),
		IN_FOLDER(the_folder_that_was_asked_for_is_made),
		IN_FOLDER(a_folder_that_cannot_be_is_refused),
		IN_FOLDER(without_a_state_directory_it_says_so),
		IN_SPACE(fields_of_a_whole_vector_are_taken_apart),
		IN_SPACE(one_field_alone_leaves_the_others),
		IN_SPACE(what_is_not_searched_is_told),
		IN_SPACE(a_profile_that_changes_nothing_here_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
