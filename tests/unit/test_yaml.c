/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strict YAML: what is refused on opening and by the readers, always with file:line:column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "yaml.h"
#include <cmocka.h>
#include <errno.h>
#include <string.h>

static struct yaml *open_text(const char *text)
{
	struct yaml *y = NULL;
	struct err e = {0};
	if (yaml_open_text("t.yaml", text, strlen(text), &y, &e)) {
		fail_msg("%s", e.text);
	}
	return y;
}

static void assert_says(const struct err *e, const char *what)
{
	if (!strstr(e->text, what)) {
		fail_msg("'%s' does not say '%s'", e->text, what);
	}
	assert_int_equal(e->class, ERR_USAGE);
}

static void test_walk(void **state)
{
	(void)state;
	struct yaml *y = open_text(
		"name: x\nlist: [1, two, {three: 3}]\nempty:\nquoted: \"yes\"\n");
	struct yaml_at root = yaml_root(y), list = yaml_get(root, "list");
	assert_int_equal(yaml_kind(root), YAML_MAP);
	assert_int_equal(yaml_count(root), 4);
	assert_string_equal(yaml_text(yaml_key(root, 1)), "list");
	assert_int_equal(yaml_count(list), 3);
	assert_string_equal(yaml_text(yaml_item(list, 1)), "two");
	assert_int_equal(yaml_line(yaml_item(list, 1)), 2);
	assert_int_equal(yaml_column(yaml_item(list, 1)), 11);
	assert_int_equal(yaml_kind(yaml_get(yaml_item(list, 2), "three")), YAML_SCALAR);
	assert_true(yaml_quoted(yaml_get(root, "quoted")));
	/* What is not there is absent, however it is asked for. */
	assert_int_equal(yaml_kind(yaml_get(root, "nothing")), YAML_ABSENT);
	assert_int_equal(yaml_kind(yaml_get(list, "list")), YAML_ABSENT);
	assert_int_equal(yaml_kind(yaml_item(list, 3)), YAML_ABSENT);
	assert_int_equal(yaml_kind(yaml_value(root, 4)), YAML_ABSENT);
	assert_int_equal(yaml_kind(yaml_get(yaml_get(root, "nothing"), "x")), YAML_ABSENT);
	assert_string_equal(yaml_text(list), "");
	yaml_close(y);
	yaml_close(NULL);
}

static void test_refused_forms(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"", "empty"},
		{"# only a comment\n", "empty"},
		{"a: 1\na: 2\n", "t.yaml:2:1: the key 'a' is there twice, first in line 1"},
		{"a: {b: 1, b: 2}\n", "t.yaml:1:11"},
		{"a: &x 1\n", "t.yaml:1:4: anchors"},
		{"a: &x 1\nb: *x\n", "anchors"},
		{"a: !!int 1\n", "t.yaml:1:4: tags"},
		{"a: !mine 1\n", "tags"},
		{"a: ! 1\n", "tags"},
		{"a: 1\n---\nb: 2\n", "second document"},
		{"%YAML 1.1\n---\na: 1\n", "directives"},
		{"? [a, b]\n: 1\n", "plain word"},
		{"on: 1\n", "t.yaml:1:1: 'on' cannot be a key"},
		{"x: {Yes: 1}\n", "'Yes' cannot be a key"},
		{"~: 1\n", "cannot be a key"},
		{"a: [1, 2\nb: 3\n", "t.yaml:2:"},
		{"a: \"x\\0y\"\n", "NUL"},
		{"a:\n\tb: 1\n", "t.yaml:2:1"},
		{"a: \xff\n", "t.yaml:1:4"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct yaml *y = NULL;
		struct err e = {0};
		int r = yaml_open_text("t.yaml", bad[i].text, strlen(bad[i].text), &y, &e);
		if (!r) {
			fail_msg("taken: %s", bad[i].text);
		}
		assert_null(y);
		assert_says(&e, bad[i].says);
		assert_says(&e, "t.yaml:");
	}
}

static void test_limits(void **state)
{
	(void)state;
	enum { BIG = (1 << 20) + 1 };
	struct yaml *y;
	struct err e = {0};
	auto_free char *text = malloc(BIG);
	memset(text, ' ', BIG);
	assert_int_equal(yaml_open_text("t.yaml", text, BIG, &y, &e), -EINVAL);
	assert_says(&e, "t.yaml: larger than 1 MiB");
	memset(text, '[', 100000);
	assert_int_equal(yaml_open_text("t.yaml", text, 100000, &y, &e), -EINVAL);
	assert_says(&e, "nested too deeply");
	for (size_t i = 1; i < 199999; i += 2) {
		memcpy(text + i, "1,", 2);
	}
	text[0] = '[';
	text[199999] = ']';
	assert_int_equal(yaml_open_text("t.yaml", text, 200000, &y, &e), -EINVAL);
	assert_says(&e, "too many values");
	size_t used = 0;
	for (int i = 0; i < 2001; i++) {
		used += (size_t)sprintf(text + used, "k%d: 1\n", i);
	}
	assert_int_equal(yaml_open_text("t.yaml", text, used, &y, &e), -EINVAL);
	assert_says(&e, "t.yaml:1:1: too many keys");
	assert_int_equal(yaml_open_file("/nonexistent/x.yaml", &y, &e), -ENOENT);
	assert_says(&e, "cannot read /nonexistent/x.yaml: No such file");
	assert_int_equal(yaml_open_file("/", &y, &e), -EISDIR);
	assert_int_equal(e.class, ERR_USAGE);
}

static void test_check_keys(void **state)
{
	(void)state;
	static const char *const keys[] = {"set", "range", "scale", NULL};
	struct err e = {0};
	struct yaml *y = open_text("a: {set: 1, rang: 2}\nb: [1]\nc: {set: 1}\nd: {zzz: 1}\n");
	struct yaml_at root = yaml_root(y);
	assert_int_equal(yaml_check_keys(yaml_get(root, "a"), keys, &e), -EINVAL);
	assert_says(&e, "t.yaml:1:13: unknown key 'rang'; did you mean 'range'? (allowed: set, ");
	assert_int_equal(yaml_check_keys(yaml_get(root, "b"), keys, &e), -EINVAL);
	assert_says(&e, "t.yaml:2:4: a map is wanted");
	assert_int_equal(yaml_check_keys(yaml_get(root, "c"), keys, &e), 0);
	assert_int_equal(yaml_check_keys(yaml_get(root, "d"), keys, &e), -EINVAL);
	assert_null(strstr(e.text, "did you mean"));
	yaml_close(y);
}

static void test_text_reader(void **state)
{
	(void)state;
	static const char *const bad[] = {"yes",       "no",	    "on",	"off", "True",
					  "null",      "~",	    "",		"[a]", "{a: b}",
					  "\"a\\nb\"", "\"a\\tb\"", "abcdefghi"};
	static const char *const good[] = {"\"yes\"", "'no'", "\"\"", "a b", "0x10", "10.0.0.1"};
	char text[64], out[9];
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = {0};
		snprintf(text, sizeof(text), "a: %s\n", bad[i]);
		struct yaml *y = open_text(text);
		if (!yaml_as_text(yaml_get(yaml_root(y), "a"), out, sizeof(out), &e)) {
			fail_msg("taken: %s", text);
		}
		assert_says(&e, "t.yaml:1:");
		yaml_close(y);
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		snprintf(text, sizeof(text), "a: %s\n", good[i]);
		struct yaml *y = open_text(text);
		assert_int_equal(yaml_as_text(yaml_get(yaml_root(y), "a"), out, sizeof(out), NULL),
				 0);
		yaml_close(y);
	}
	struct err e = {0};
	struct yaml *y = open_text("a: yes\n");
	assert_int_equal(yaml_as_text(yaml_get(yaml_root(y), "a"), out, sizeof(out), &e), -EINVAL);
	assert_says(&e, "write \"yes\" if you mean");
	assert_int_equal(yaml_as_text(yaml_get(yaml_root(y), "b"), out, sizeof(out), &e), -EINVAL);
	assert_says(&e, "missing");
	yaml_close(y);
}

static void test_number_readers(void **state)
{
	(void)state;
	struct err e = {0};
	int64_t i;
	double r;
	bool b;
	int w;
	struct value v;
	static const char *const words[] = {"log", "linear", NULL};
	struct yaml *y = open_text("i: 5\nq: '5'\nz: 010\nr: 2.5\ns: 16k\nt: 20ms\nb: on\np: 5%\n"
				   "g: 1Gbit/s\nw: lag\nn: -1\n");
	struct yaml_at root = yaml_root(y);
	assert_int_equal(yaml_as_int(yaml_get(root, "i"), 0, 5, &i, &e), 0);
	assert_int_equal(yaml_as_int(yaml_get(root, "i"), 6, 9, &i, &e), -EINVAL);
	assert_says(&e, "t.yaml:1:4: 5 is not in the range 6 to 9");
	assert_int_equal(yaml_as_int(yaml_get(root, "n"), 0, 5, &i, &e), -EINVAL);
	assert_int_equal(yaml_as_int(yaml_get(root, "q"), 0, 5, &i, &e), -EINVAL);
	assert_says(&e, "without quotes");
	assert_int_equal(yaml_as_int(yaml_get(root, "z"), 0, 99, &i, &e), -EINVAL);
	assert_says(&e, "t.yaml:3:4: '010' could be octal (8)");
	assert_int_equal(yaml_as_real(yaml_get(root, "r"), 0, 2.5, &r, &e), 0);
	assert_int_equal(yaml_as_real(yaml_get(root, "r"), 0, 2.4, &r, &e), -EINVAL);
	assert_says(&e, "0 to 2.4");
	assert_int_equal(yaml_as_size(yaml_get(root, "s"), &i, &e), -EINVAL);
	assert_says(&e, "t.yaml:5:4: '16k' is ambiguous");
	assert_int_equal(yaml_as_time(yaml_get(root, "t"), &r, &e), 0);
	assert_int_equal(yaml_as_bool(yaml_get(root, "b"), &b, &e), 0);
	assert_true(b);
	assert_int_equal(yaml_as_fraction(yaml_get(root, "p"), &r, &e), 0);
	assert_int_equal(yaml_as_rate(yaml_get(root, "g"), &r, &e), 0);
	assert_int_equal(yaml_as_word(yaml_get(root, "w"), words, &w, &e), -EINVAL);
	assert_says(&e, "did you mean 'log'? (allowed: log, linear)");
	assert_int_equal(yaml_as_time(yaml_get(root, "absent"), &r, &e), -EINVAL);
	assert_says(&e, "a time is missing");
	assert_int_equal(yaml_as_value(yaml_get(root, "b"), VALUE_INT, UNIT_COUNT, &v, &e),
			 -EINVAL);
	assert_int_equal(yaml_as_value(yaml_get(root, "t"), VALUE_INT, UNIT_US, &v, &e), 0);
	assert_true(v.i == 20000);
	assert_int_equal(yaml_as_value(yaml_get(root, "b"), VALUE_TEXT, UNIT_NONE, &v, &e),
			 -EINVAL);
	yaml_close(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),	    cmocka_unit_test(test_refused_forms),
		cmocka_unit_test(test_limits),	    cmocka_unit_test(test_check_keys),
		cmocka_unit_test(test_text_reader), cmocka_unit_test(test_number_readers),
	};
	return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
