/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values and strict scalars: what is taken, what is refused, and that a refusal says what to write
 * instead. Also under a locale with a decimal comma, where the machine has one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "value.h"
#include <cmocka.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static void assert_says(const struct err *e, const char *what, const char *scalar)
{
	if (!strstr(e->text, what)) {
		fail_msg("'%s': the sentence '%s' does not say '%s'", scalar, e->text, what);
	}
	assert_int_equal(e->class, ERR_USAGE);
}

struct refusal {
	const char *scalar, *says;
};

static void test_int(void **state)
{
	(void)state;
	static const struct {
		const char *s;
		int64_t i;
	} good[] = {{"0", 0},
		    {"-1", -1},
		    {"16777216", 16777216},
		    {"9223372036854775807", INT64_MAX},
		    {"-9223372036854775808", INT64_MIN}};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct err e = {0};
		int64_t out = 7;
		assert_int_equal(scalar_int(good[i].s, &out, &e), 0);
		assert_true(out == good[i].i);
	}
	static const struct refusal bad[] = {
		{"", "empty"},
		{"yes", "not an integer"},
		{"010", "write 10 or 8"},
		{"00", "octal"},
		{"08", "without leading zeros, 8"},
		{"-010", "10"},
		{"0x10", "decimal"},
		{"0o17", "decimal"},
		{"0b1", "decimal"},
		{"1:30", "base of 60"},
		{"1_000", "underscores"},
		{"1,5", "point"},
		{"1.5", "digits only"},
		{"1e3", "digits only"},
		{"1.", "after the point"},
		{".5", "0.5"},
		{"+5", "write 5"},
		{".inf", "finite"},
		{"-.inf", "finite"},
		{".NaN", "finite"},
		{" 5", "blanks"},
		{"5 ", "not an integer"},
		{"5k", "no unit"},
		{"--5", "not an integer"},
		{"9223372036854775808", "too large"},
		{"99999999999999999999999999", "too large"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = {0};
		int64_t out;
		assert_int_equal(scalar_int(bad[i].scalar, &out, &e), -EINVAL);
		assert_says(&e, bad[i].says, bad[i].scalar);
	}
}

static void test_real(void **state)
{
	(void)state;
	struct err e = {0};
	double r;
	assert_int_equal(scalar_real("1.5", &r, &e), 0);
	assert_true(r == 1.5);
	assert_int_equal(scalar_real("-2e-3", &r, &e), 0);
	assert_true(r == -0.002);
	assert_int_equal(scalar_real("0.1", &r, &e), 0);
	assert_true(r == 0.1);
	static const struct refusal bad[] = {{".inf", "finite"},     {"nan", "finite"},
					     {"1e999", "too large"}, {"1,5", "point"},
					     {"010.5", "10"},	     {"1.5GB", "no unit"}};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(scalar_real(bad[i].scalar, &r, &e), -EINVAL);
		assert_says(&e, bad[i].says, bad[i].scalar);
	}
}

static void test_size(void **state)
{
	(void)state;
	static const struct {
		const char *s;
		int64_t i;
	} good[] = {{"0", 0},
		    {"4096", 4096},
		    {"64KiB", 65536},
		    {"64 KiB", 65536},
		    {"1MB", 1000000},
		    {"1.5MiB", 1572864},
		    {"4GiB", 4294967296},
		    {"8589934591GiB", 9223372035781033984}};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct err e = {0};
		int64_t out;
		assert_int_equal(scalar_size(good[i].s, &out, &e), 0);
		assert_true(out == good[i].i);
	}
	static const struct refusal bad[] = {
		{"16k", "write 16kB (16000 bytes) or 16KiB (16384 bytes)"},
		{"16K", "write 16kB (16000 bytes) or 16KiB (16384 bytes)"},
		{"2m", "2MB (2000000 bytes) or 2MiB (2097152 bytes)"},
		{"1G", "1GiB (1073741824 bytes)"},
		{"16KB", "16KiB"},
		{"16kib", "16KiB"},
		{"16Mb", "16MB"},
		{"16XB", "unknown unit 'XB'"},
		{"-1KiB", "negative"},
		{"0.3KiB", "whole number of bytes"},
		{"1:30", "60"},
		{"9223372036854775807KiB", "too large"},
		{"KiB", "not a size"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = {0};
		int64_t out;
		assert_int_equal(scalar_size(bad[i].scalar, &out, &e), -EINVAL);
		assert_says(&e, bad[i].says, bad[i].scalar);
	}
}

static void test_time_rate_fraction(void **state)
{
	(void)state;
	struct err e = {0};
	double r;
	assert_int_equal(scalar_time("20ms", &r, &e), 0);
	assert_true(fabs(r - 0.020) < 1e-12);
	assert_int_equal(scalar_time("30min", &r, &e), 0);
	assert_true(r == 1800);
	assert_int_equal(scalar_time("0", &r, &e), 0);
	assert_int_equal(scalar_time("30", &r, &e), -EINVAL);
	assert_says(&e, "with a unit", "30");
	assert_int_equal(scalar_time("1m", &r, &e), -EINVAL);
	assert_says(&e, "unknown unit 'm'", "1m");
	assert_int_equal(scalar_time("-1s", &r, &e), -EINVAL);
	assert_int_equal(scalar_rate("2Gbit/s", &r, &e), 0);
	assert_true(r == 2e9);
	assert_int_equal(scalar_rate("9.5 Gbit/s", &r, &e), 0);
	assert_true(r == 9.5e9);
	assert_int_equal(scalar_rate("10G", &r, &e), -EINVAL);
	assert_says(&e, "Gbit/s", "10G");
	assert_int_equal(scalar_fraction("5%", &r, &e), 0);
	assert_true(r == 0.05);
	assert_int_equal(scalar_fraction("0.05", &r, &e), -EINVAL);
	assert_says(&e, "%", "0.05");
	assert_int_equal(scalar_fraction("101%", &r, &e), -EINVAL);
}

static void test_bool(void **state)
{
	(void)state;
	struct err e = {0};
	bool b = false;
	assert_int_equal(scalar_bool("on", &b, &e), 0);
	assert_true(b);
	assert_int_equal(scalar_bool("false", &b, &e), 0);
	assert_false(b);
	static const struct refusal bad[] = {{"yes", "true or on"}, {"no", "false or off"},
					     {"1", "true or on"},   {"0", "false or off"},
					     {"True", "true"},	    {"ON", "on"},
					     {"maybe", "true"},	    {"", "true"}};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(scalar_bool(bad[i].scalar, &b, &e), -EINVAL);
		assert_says(&e, bad[i].says, bad[i].scalar);
	}
}

static void test_equal(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		bool same;
	} texts[] = {{"4096\t131072\t33554432", "4096 131072 33554432", true},
		     {"4096 131072 33554432", "4096 131072 33554433", false},
		     {"4096 131072", "4096 131072 33554432", false},
		     {"04096", "4096", true},
		     {"cubic", "cubic\n", true},
		     {"cubic", "bbr", false},
		     {"cubic", "cubi", false},
		     {"", "", true},
		     {"", "0", false},
		     {"18446744073709551615", "18446744073709551614", false},
		     {"10x", "10", false}};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct value a = value_text(texts[i].a), b = value_text(texts[i].b);
		assert_int_equal(value_equal(&a, &b), texts[i].same);
		assert_int_equal(value_equal(&b, &a), texts[i].same);
	}
	struct value one = value_int(1), yes = value_bool(true), none = {0};
	assert_false(value_equal(&one, &yes)); /* a boolean is not the number 1 */
	assert_false(value_equal(&one, &none));
	assert_true(value_equal(&none, &none));
}

static void assert_formats(struct value v, enum value_unit unit, enum value_type type,
			   const char *text)
{
	char buf[64];
	struct value back;
	struct err e = {0};
	assert_string_equal(value_format(&v, unit, buf, sizeof(buf)), text);
	assert_int_equal(value_parse(text, type, unit, &back, &e), 0);
	assert_true(value_equal(&v, &back));
}

static void test_format_reads_back(void **state)
{
	(void)state;
	assert_formats(value_int(1048576), UNIT_BYTES, VALUE_INT, "1MiB");
	assert_formats(value_int(1048577), UNIT_BYTES, VALUE_INT, "1048577");
	assert_formats(value_int(0), UNIT_BYTES, VALUE_INT, "0");
	assert_formats(value_int(-1), UNIT_BYTES, VALUE_INT, "-1");
	assert_formats(value_int(4294967295), UNIT_BYTES, VALUE_INT, "4294967295");
	assert_formats(value_int(8000), UNIT_US, VALUE_INT, "8ms");
	assert_formats(value_int(50), UNIT_US, VALUE_INT, "50us");
	assert_formats(value_int(0), UNIT_US, VALUE_INT, "0");
	assert_formats(value_int(1000000), UNIT_NS, VALUE_INT, "1ms");
	assert_formats(value_int(2000000000), UNIT_BITRATE, VALUE_INT, "2Gbit/s");
	assert_formats(value_int(1000), UNIT_PACKETS, VALUE_INT, "1000");
	assert_formats(value_real(0.1), UNIT_NONE, VALUE_REAL, "0.1");
	assert_formats(value_real(1.0 / 3), UNIT_NONE, VALUE_REAL, "0.3333333333333333");
	assert_formats(value_bool(true), UNIT_NONE, VALUE_BOOL, "true");
	assert_formats(value_text("bbr"), UNIT_NONE, VALUE_TEXT, "bbr");
}

static void test_json(void **state)
{
	(void)state;
	const struct value all[] = {value_int(INT64_MAX),
				    value_real(0.1),
				    value_bool(false),
				    value_text("4096 1 2"),
				    {0}};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_json json_t *j = value_to_json(&all[i]);
		struct value back;
		assert_non_null(j);
		assert_int_equal(value_from_json(j, &back, NULL), 0);
		assert_true(value_equal(&all[i], &back));
	}
	struct value nan = value_real(NAN), out;
	auto_json json_t *null = value_to_json(&nan);
	assert_true(json_is_null(null));
	auto_json json_t *list = json_array();
	assert_int_equal(value_from_json(list, &out, NULL), -EINVAL);
	char many[VALUE_TEXT_MAX + 1];
	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = 0;
	auto_json json_t *text = json_string(many);
	assert_int_equal(value_from_json(text, &out, NULL), -EINVAL);
	struct err e = {0};
	assert_int_equal(value_parse(many, VALUE_TEXT, UNIT_NONE, &out, &e), -EINVAL);
	assert_says(&e,
		    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...' is longer than 255 characters",
		    many);
	assert_int_equal(value_parse("5", VALUE_NONE, UNIT_NONE, &out, &e), -EINVAL);
	assert_says(&e, "'5': nothing can be written here", "5");
}

static void test_nearest(void **state)
{
	(void)state;
	static const char *const words[] = {"range", "scale", "choices", "net.ipv4.tcp_rmem", NULL};
	assert_string_equal(nearest_word("rang", words, SIZE_MAX), "range");
	assert_string_equal(nearest_word("chioces", words, 4), "choices");
	assert_string_equal(nearest_word("net.ipv4.tcp_rmen", words, SIZE_MAX),
			    "net.ipv4.tcp_rmem");
	assert_null(nearest_word("something else", words, SIZE_MAX));
	assert_null(nearest_word("", words, SIZE_MAX));
	assert_null(nearest_word("x", words, 0));
	char many[300];
	memset(many, 'r', sizeof(many) - 1);
	many[sizeof(many) - 1] = 0;
	assert_null(nearest_word(many, words, SIZE_MAX));
}

/* A comma as the decimal separator must neither be read nor written. */
static void test_comma_locale(void **state)
{
	(void)state;
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
	bool set = false;
	for (size_t i = 0; !set && i < ARRAY_SIZE(names); i++) {
		set = setlocale(LC_ALL, names[i]) != NULL;
	}
	if (!set) {
		skip();
	}
	test_real(NULL);
	test_size(NULL);
	test_format_reads_back(NULL);
	test_json(NULL);
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_int),
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_time_rate_fraction),
		cmocka_unit_test(test_bool),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_format_reads_back),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_comma_locale),
	};
	return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
