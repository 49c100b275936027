/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Profiles: what is taken, what is refused with its place, and that what is written reads back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "profile.h"
#include <cmocka.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static char folder[64], file[96];

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test-profile-XXXXXX");
	if (!mkdtemp(folder)) {
		return -1;
	}
	snprintf(file, sizeof(file), "%s/p.yaml", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static int load(const char *text, struct profile *p, struct err *e)
{
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return profile_load(file, p, e);
}

static void must_load(const char *text, struct profile *p)
{
	struct err e = {0};
	if (load(text, p, &e)) {
		fail_msg("%s", e.text);
	}
}

#define HEAD "tunesweep_profile: 1\nname: x\n"

static void test_by_hand(void **state)
{
	(void)state;
	struct profile p;
	must_load(HEAD "settings:\n"
		       "  - {set: net.ipv4.tcp_rmem, value: [4KiB, 128KiB, 16MiB]}\n"
		       "  - {set: net/ipv4/tcp_wmem, field: max, value: 16777216, host: sender}\n"
		       "  - set: net.ipv4.tcp_congestion_control\n"
		       "    value: bbr\n"
		       "  - {set: net.ipv4.tcp_autocorking, value: off}\n"
		       "  - {set: net.core.busy_poll, value: 50us}\n"
		       "application:\n"
		       "  - {set: socket.message_size, value: 1MiB}\n"
		       "  - {set: param.x, value: 0.5}\n"
		       "  - {set: param.y, value: word}\n",
		  &p);
	assert_string_equal(p.name, "x");
	assert_int_equal(p.n_settings, 5);
	assert_int_equal(p.n_application, 3);
	assert_string_equal(p.settings[0].assignment.value.text, "4096 131072 16777216");
	assert_string_equal(p.settings[1].assignment.setting.name, "net.ipv4.tcp_wmem");
	assert_string_equal(p.settings[1].host, "sender");
	assert_true(p.settings[1].assignment.value.i == 16777216);
	assert_int_equal(p.settings[1].was.type, VALUE_NONE);
	assert_true(isnan(p.settings[1].effect.percent));
	assert_int_equal(p.settings[3].assignment.value.type, VALUE_BOOL);
	assert_true(p.settings[4].assignment.value.i == 50);
	assert_true(p.application[0].assignment.value.i == 1048576);
	assert_int_equal(p.application[1].assignment.value.type, VALUE_REAL);
	assert_int_equal(p.application[2].assignment.value.type, VALUE_TEXT);
	const char *hosts[4];
	assert_int_equal(profile_hosts(&p, hosts, 4), 2);
	assert_string_equal(hosts[0], "");
	assert_string_equal(hosts[1], "sender");
	assert_int_equal(profile_hosts(&p, hosts, 1), 1);
	profile_clear(&p);
	must_load(HEAD "settings: []\n", &p);
	assert_int_equal(p.n_settings, 0);
	profile_clear(&p);
}

static const struct {
	const char *text, *says;
} refused[] = {
	{"name: x\nsettings: []\n", "not a profile"},
	{"tunesweep: 1\nname: x\n", "a spec of a sweep"},
	{"tunesweep_profile: 2\nname: x\nsettings: []\n", ":1:20: 2 is not in the range"},
	{"tunesweep_profile: 1\nsettings: []\n", "'name' is missing"},
	{HEAD, "'settings' is missing"},
	{HEAD "setings: []\n", ":3:1: unknown key 'setings'; did you mean 'settings'"},
	{HEAD "settings: {}\n", "a list is wanted"},
	{HEAD "settings: [5]\n", "a map is wanted"},
	{HEAD "settings: [{value: 5}]\n", "'set' is missing"},
	{HEAD "settings: [{set: net.core.somaxconn}]\n", "'value' is missing"},
	{HEAD "settings: [{set: net.core.somaxconn, valeu: 5}]\n", "did you mean 'value'"},
	{HEAD "settings:\n  - {set: vm.min_free_kbyte, value: 5}\n",
	 ":4:11: unknown tunable 'vm.min_free_kbyte'; did you mean"},
	{HEAD "settings: [{set: kernel.modprobe, value: /tmp/x}]\n", "unknown tunable"},
	{HEAD "settings: [{set: net/../kernel/modprobe, value: x}]\n", "'..'"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmen, value: 5}]\n",
	 "did you mean 'net.ipv4.tcp_rmem'?); if you mean it, write allow: [unlisted]"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmem, value: 5}]\n", "a list of all its fields"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmem, value: [1, 2]}]\n", "wants 3 numbers"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmem, value: [1, 2, 3, 4]}]\n", "wants 3 numbers"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmem, value: [3, 2, 1]}]\n", "not be below"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmem, value: [1, 2, 16M]}]\n", "ambiguous"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmem, value: \"1 2 3\"}]\n",
	 "a list of all its fields"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmem, field: max, value: 3GiB}]\n",
	 "3221225472 is not in the range"},
	{HEAD "settings: [{set: net.ipv4.tcp_rmem, field: max, value: yes}]\n", ":3:56: "},
	{HEAD "settings: [{set: net.core.somaxconn, value: true}]\n", "not an integer"},
	{HEAD "settings: [{set: net.core.somaxconn, value: 0100}]\n", "octal"},
	{HEAD "settings: [{set: net.ipv4.tcp_autocorking, value: 1}]\n", "true or on"},
	{HEAD "settings: [{set: net.ipv4.tcp_congestion_control, value: no}]\n", "write \"no\""},
	{HEAD "settings: [{set: socket.message_size, value: 1MiB}]\n", "under 'application'"},
	{HEAD "application: [{set: net.core.somaxconn, value: 5}]\n", "under 'settings'"},
	{HEAD "settings:\n  - {set: net.core.somaxconn, value: 5}\n"
	      "  - {set: net/core/somaxconn, value: 6}\n",
	 ":5:11: net.core.somaxconn is there twice, first in line 4"},
	{HEAD "settings:\n  - {set: net.ipv4.tcp_rmem, value: [1, 2, 3]}\n"
	      "  - {set: net.ipv4.tcp_rmem, field: max, value: 6}\n",
	 "twice"},
	{HEAD "settings: [{set: net.core.somaxconn, value: 5, effect: {interval: [1, 2]}}]\n",
	 "is missing"},
	{HEAD "settings: [{set: net.core.somaxconn, value: 5, "
	      "effect: {percent: 1, interval: [1]}}]\n",
	 "two numbers"},
	{HEAD "allow: [everything]\nsettings: []\n", "unknown word"},
	{HEAD "settings:\n  - {set: net.ipv4.ip_forward, value: true}\n",
	 "touches safety or compatibility; if you mean it, write allow: [unsafe]"},
	{HEAD "allow: [unlisted]\nsettings:\n  - {set: net.ipv4.tcp_syncookies, value: 0}\n",
	 "allow: [unsafe]"},
	{HEAD "settings:\n  - {set: link.mtu, value: 9000}\n", "of which device is link.mtu?"},
	{HEAD "settings:\n  - {set: net.ipv4.tcp_ecn, value: 1, optional: 1}\n", ":4:"},
	{HEAD "machine: 5\nsettings: []\n", "a map is wanted"},
	{"tunesweep_profile: 1\nname: yes\nsettings: []\n", "write \"yes\""},
	{"tunesweep_profile: 1\nname: \"\"\nsettings: []\n", "empty"},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct profile p;
		struct err e = {0};
		if (!load(refused[i].text, &p, &e)) {
			fail_msg("taken: %s", refused[i].text);
		}
		assert_int_equal(e.class, ERR_USAGE);
		if (!strstr(e.text, refused[i].says) || !strstr(e.text, "/p.yaml:")) {
			fail_msg("'%s' does not say '%s'", e.text, refused[i].says);
		}
		assert_null(p.settings);
	}
	struct profile p;
	struct err e = {0};
	assert_int_equal(profile_load("/nonexistent/p.yaml", &p, &e), -ENOENT);
	assert_int_equal(e.class, ERR_USAGE);
}

static void test_unlisted_with_its_word(void **state)
{
	(void)state;
	struct profile p;
	must_load(HEAD "allow: [unlisted]\nsettings:\n"
		       "  - {set: net.ipv4.tcp_invalid_ratelimit, value: 500}\n"
		       "  - {set: net.ipv4.ip_local_port_range, value: [32768, 60999]}\n"
		       "  - {set: net.ipv4.something, value: word}\n",
		  &p);
	assert_int_equal(p.settings[0].assignment.value.type, VALUE_INT);
	assert_string_equal(p.settings[1].assignment.value.text, "32768 60999");
	profile_clear(&p);
}

static struct profile_setting setting(const char *name, const char *field, const char *host,
				      struct value v, struct value was)
{
	struct profile_setting s = {.was = was, .effect = {NAN, NAN, NAN, NAN}};
	assert_int_equal(tunable_resolve(name, field, NULL, &s.assignment.setting, NULL), 0);
	snprintf(s.assignment.field, sizeof(s.assignment.field), "%s", field);
	snprintf(s.host, sizeof(s.host), "%s", host);
	s.assignment.value = v;
	return s;
}

static bool same_number(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-12;
}

static void assert_same_settings(const struct profile_setting *a, const struct profile_setting *b,
				 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(a[i].host, b[i].host);
		assert_true(setting_same(&a[i].assignment.setting, &b[i].assignment.setting));
		assert_string_equal(a[i].assignment.field, b[i].assignment.field);
		assert_true(value_equal(&a[i].assignment.value, &b[i].assignment.value));
		assert_true(value_equal(&a[i].was, &b[i].was));
		assert_true(same_number(a[i].effect.percent, b[i].effect.percent));
		assert_true(same_number(a[i].effect.lo, b[i].effect.lo));
		assert_true(same_number(a[i].effect.hi, b[i].effect.hi));
		assert_true(same_number(a[i].effect.level, b[i].effect.level));
	}
}

static const char machine_text[] =
	"{\"kernel\": \"6.1.0\", \"cpu\": \"A \\\"B\\\" \\u00e9: #1, {x}\", "
	"\"numa_nodes\": 2,"
	" \"nics\": [{\"device\": \"eth0\", \"pci\": \"8086:1592\", \"speed\": null}],"
	" \"on\": \"off\", \"empty\": \"\", \"n\": \"1e3\", \"flag\": true}";
static const char evidence_text[] =
	"{\"gain\": {\"percent\": 12.0, \"interval\": [11.2, 1e300]}, \"list\": [],"
	" \"big\": 9007199254740993, \"date\": \"2026-01-01\"}";

static void test_round_trip(void **state)
{
	(void)state;
	struct value none = {0};
	struct profile_setting host[] = {
		setting("net.ipv4.tcp_rmem", "max", "receiver", value_int(16777216),
			value_int(6291456)),
		setting("net.ipv4.tcp_wmem", "", "sender: \"a\", {b}",
			value_text("4096 16384 4194305"), value_text("1 2 3")),
		setting("net.ipv4.tcp_congestion_control", "", "yes", value_text("on"), none),
		setting("net.ipv4.tcp_autocorking", "", "", value_bool(false), value_bool(true)),
		setting("net/ipv4/conf/eth0.100/rp_filter", "", "", value_int(2), value_int(0)),
		setting("net.ipv4.tcp_comp_sack_delay_ns", "", "", value_int(1500), none),
		setting("net.ipv4.tcp_adv_win_scale", "", "", value_int(-2), value_int(1)),
		setting("net.ipv4.ip_local_port_range", "", "", value_text("32768 60999"), none),
		setting("net.ipv4.no_such_key", "", "", value_text("010"), value_int(5)),
	};
	struct profile_setting run[] = {
		setting("socket.pacing_rate", "", "", value_int(2500000000), none),
		setting("param.a", "", "", value_real(3), none),
		setting("param.b", "", "", value_real(0.1), none),
		setting("param.c", "", "", value_text("1:30"), none),
		setting("param.d", "", "", value_bool(true), none),
	};
	host[0].effect = (struct profile_effect){8.1, 7.0, 9.25, 0.95};
	host[1].effect = (struct profile_effect){-1.0 / 3, NAN, NAN, NAN};
	auto_json json_t *machine = json_loads(machine_text, 0, NULL);
	auto_json json_t *evidence = json_loads(evidence_text, 0, NULL);
	assert_non_null(machine);
	assert_non_null(evidence);
	struct profile out = {.machine = machine,
			      .evidence = evidence,
			      .settings = host,
			      .n_settings = ARRAY_SIZE(host),
			      .application = run,
			      .n_application = ARRAY_SIZE(run)};
	strcpy(out.name, "null");
	struct profile in;
	struct err e = {0};
	if (profile_save(&out, file, &e) || profile_load(file, &in, &e)) {
		fail_msg("%s", e.text);
	}
	assert_string_equal(in.name, "null");
	assert_int_equal(in.n_settings, out.n_settings);
	assert_int_equal(in.n_application, out.n_application);
	assert_same_settings(out.settings, in.settings, in.n_settings);
	assert_same_settings(out.application, in.application, in.n_application);
	assert_true(json_equal(machine, in.machine));
	assert_true(json_equal(evidence, in.evidence));
	profile_clear(&in);
}

static void test_save_replaces(void **state)
{
	(void)state;
	struct profile empty = {.name = "nothing"}, in;
	struct err e = {0};
	assert_int_equal(load("an older file", &in, &e), -EINVAL);
	assert_int_equal(profile_save(&empty, file, &e), 0);
	assert_int_equal(profile_load(file, &in, &e), 0);
	assert_int_equal(in.n_settings, 0);
	profile_clear(&in);
}

static void test_saved_text(void **state)
{
	(void)state;
	char text[1024];
	struct err e = {0};
	struct profile_setting host = setting("net.ipv4.tcp_rmem", "max", "receiver",
					      value_int(16777216), value_int(6291456));
	host.effect = (struct profile_effect){8.1, 7.0, 9.0, NAN};
	struct profile p = {.settings = &host, .n_settings = 1};
	strcpy(p.name, "tcp-stream-10g");
	assert_int_equal(profile_save(&p, file, &e), 0);
	FILE *f = fopen(file, "r");
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	assert_string_equal(text, "tunesweep_profile: 1\n"
				  "name: tcp-stream-10g\n"
				  "settings:\n"
				  "  - {set: net.ipv4.tcp_rmem, field: max, host: receiver, "
				  "value: 16MiB, was: 6MiB, "
				  "effect: {percent: 8.1, interval: [7.0, 9.0]}}\n");
}

static void test_save_fails_whole(void **state)
{
	(void)state;
	struct profile p = {.name = "x"}, in;
	struct err e = {0};
	char path[128];
	assert_int_equal(profile_save(&p, file, &e), 0);
	snprintf(path, sizeof(path), "%s/none/p.yaml", folder);
	assert_int_equal(profile_save(&p, path, &e), -ENOENT);
	snprintf(path, sizeof(path), "%s/dir", folder);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(profile_save(&p, path, &e), -EISDIR);
	snprintf(path, sizeof(path), "ls %s | grep -q new", folder);
	assert_int_not_equal(system(path), 0); /* no temporary file is left */
	assert_int_equal(profile_load(file, &in, &e), 0);
	profile_clear(&in);
}

static void test_comma_locale(void **state)
{
	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
		skip();
	}
	test_round_trip(NULL);
	test_saved_text(NULL);
	setlocale(LC_ALL, "C");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void test_allowed_classes(void **state)
{
	(void)state;
	struct profile p;
	struct err e = {0};
	char text[1000] = "";
	must_load(HEAD "allow: [unsafe]\nsettings:\n"
		       "  - {set: net.ipv4.tcp_sack, value: true}\n"
		       "  - {set: link.mtu, device: eth0, value: 9000, optional: true}\n",
		  &p);
	assert_false(p.settings[0].optional);
	assert_true(p.settings[1].optional);
	assert_int_equal(profile_save(&p, file, &e), 0);
	profile_clear(&p);
	FILE *f = fopen(file, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	assert_non_null(strstr(text, "\nallow: [disruptive, unsafe]\n"));
	assert_int_equal(profile_load(file, &p, &e), 0);
	assert_true(p.settings[1].optional);
	profile_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_by_hand),
		TEST(test_refused),
		TEST(test_unlisted_with_its_word),
		TEST(test_allowed_classes),
		TEST(test_round_trip),
		TEST(test_save_replaces),
		TEST(test_saved_text),
		TEST(test_save_fails_whole),
		TEST(test_comma_locale),
	};
	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
