/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of JSON over pipes: halves, several at once, 64 KiB, garbage, silence, a dead other side,
 * and answers of the wrong shape.
 */
#include "cleanup.h"
#include "protocol.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct rig {
	int to[2];
	struct channel c; /* reads to[0], writes to[1] */
};

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	assert_non_null(r);
	assert_return_code(pipe(r->to), errno);
	assert_int_equal(channel_init(&r->c, r->to[0], r->to[1]), 0);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;
	channel_clear(&r->c);
	close(r->to[0]);
	if (r->to[1] >= 0) {
		close(r->to[1]);
	}
	free(r);
	return 0;
}

static void put(struct rig *r, const char *text)
{
	assert_int_equal(write(r->to[1], text, strlen(text)), (ssize_t)strlen(text));
}

static void test_round_trip(void **state)
{
	struct rig *r = *state;
	struct err e = {0};
	auto_json json_t *out = json_pack("{s:i, s:s}", "id", 7, "op", "line\nbreak");
	json_t *in = NULL;
	assert_int_equal(channel_send(&r->c, out, &e), 0);
	assert_int_equal(channel_recv(&r->c, 1000, &in, &e), 0);
	assert_true(json_equal(in, out));
	assert_false(channel_pending(&r->c));
	json_decref(in);
}

static void test_halves_and_several(void **state)
{
	struct rig *r = *state;
	struct err e = {0};
	json_t *in = NULL;
	put(r, "{\"a\":");
	assert_int_equal(channel_recv(&r->c, 0, &in, &e), -ETIMEDOUT);
	put(r, "1}\n{\"b\":2}\n{\"c\"");
	assert_int_equal(channel_recv(&r->c, 1000, &in, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(in, "a")), 1);
	json_decref(in);
	assert_true(channel_pending(&r->c));
	assert_int_equal(channel_recv(&r->c, 0, &in, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(in, "b")), 2);
	json_decref(in);
	assert_false(channel_pending(&r->c));
	close(r->to[1]);
	r->to[1] = -1;
	assert_int_equal(channel_recv(&r->c, 1000, &in, &e), -EPIPE);
	assert_non_null(strstr(e.text, "inside a line"));
	assert_null(in);
}

static void test_garbage_is_refused_and_passed_over(void **state)
{
	static const char *const BAD[] = {"\n",
					  "x\n",
					  "[1]\n",
					  "7\n",
					  "{\"a\":1}{\"b\":2}\n",
					  "{\"a\":1,\"a\":2}\n",
					  "{\"a\":\n",
					  "{\"a\":NaN}\n",
					  "\"s\"\n",
					  "{\"a\":\"\\u0000\"}\n",
					  "{\"a\":\"\xff\"}\n"};
	struct rig *r = *state;
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
		struct err e = {0};
		json_t *in = NULL;
		put(r, BAD[i]);
		put(r, "{\"good\":true}\n");
		assert_int_equal(channel_recv(&r->c, 1000, &in, &e), -EBADMSG);
		assert_null(in);
		assert_true(e.text[0]);
		assert_int_equal(channel_recv(&r->c, 1000, &in, &e), 0);
		json_decref(in);
	}
}

/* The longest line that is allowed comes through a pipe that holds exactly 64 KiB; one byte more
 * is refused by the sender, and by the receiver if somebody sends it all the same. */
static void test_longest_line(void **state)
{
	struct rig *r = *state;
	struct err e = {0};
	json_t *in = NULL;
	auto_free char *text = malloc(PROTOCOL_LINE_MAX + 2);
	memset(text, 'x', PROTOCOL_LINE_MAX + 2);
	size_t room = PROTOCOL_LINE_MAX - 1 - strlen("{\"a\":\"\"}");
	auto_json json_t *fits = json_pack("{s:s%}", "a", text, room);
	assert_int_equal(channel_send(&r->c, fits, &e), 0);
	assert_int_equal(channel_recv(&r->c, 1000, &in, &e), 0);
	assert_true(json_equal(in, fits));
	json_decref(in);

	auto_json json_t *over = json_pack("{s:s%}", "a", text, room + 1);
	assert_int_equal(channel_send(&r->c, over, &e), -EMSGSIZE);
	assert_int_equal(write(r->to[1], text, PROTOCOL_LINE_MAX), PROTOCOL_LINE_MAX);
	assert_int_equal(channel_recv(&r->c, 1000, &in, &e), -EBADMSG);
	assert_int_equal(channel_recv(&r->c, 0, &in, &e), -EBADMSG);
}

static void test_silence_has_a_limit(void **state)
{
	struct rig *r = *state;
	struct err e = {0};
	json_t *in = NULL;
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	put(r, "{");
	assert_int_equal(channel_recv(&r->c, 50, &in, &e), -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &b);
	double s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
	assert_true(s >= 0.045 && s < 5);
}

static void test_other_side_gone(void **state)
{
	(void)state;
	struct err e = {0};
	struct channel c;
	int p[2];
	assert_return_code(pipe(p), errno);
	assert_int_equal(channel_init(&c, -1, p[1]), 0);
	signal(SIGPIPE, SIG_IGN);
	close(p[0]);
	auto_json json_t *msg = json_pack("{s:i}", "id", 1);
	assert_int_equal(channel_send(&c, msg, &e), -EPIPE);
	channel_clear(&c);
	close(p[1]);
}

static void test_only_objects_are_sent(void **state)
{
	struct rig *r = *state;
	struct err e = {0};
	auto_json json_t *list = json_array();
	assert_int_equal(channel_send(&r->c, list, &e), -EINVAL);
	assert_int_equal(channel_send(&r->c, NULL, &e), -EINVAL);
}

static void test_answers(void **state)
{
	(void)state;
	struct err e = {.code = -EPERM, .class = ERR_RESTORE, .text = "no \"way\""}, got = {0};
	auto_json json_t *request = json_pack("{s:i}", "id", 42);
	auto_json json_t *ok = protocol_ok(request);
	assert_int_equal(json_integer_value(json_object_get(ok, "id")), 42);
	assert_int_equal(protocol_result(ok, &got), 0);
	auto_json json_t *bad = protocol_error(request, &e);
	assert_int_equal(protocol_result(bad, &got), -EPERM);
	assert_int_equal(got.class, ERR_RESTORE);
	assert_string_equal(got.text, "no \"way\"");

	struct err odd = {.code = -EIO, .text = "caf\xe9"};
	auto_json json_t *not_utf8 = protocol_error(NULL, &odd);
	assert_int_equal(protocol_result(not_utf8, &got), -EIO);
}

static void test_answers_of_wrong_shape(void **state)
{
	static const char *const BAD[] = {
		"{}",
		"{\"ok\":1}",
		"{\"ok\":\"true\"}",
		"{\"ok\":false}",
		"{\"ok\":false,\"error\":3,\"class\":\"usage\"}",
		"{\"ok\":false,\"error\":\"x\"}",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
		struct err e = {0};
		auto_json json_t *j = json_loads(BAD[i], 0, NULL);
		assert_non_null(j);
		assert_int_equal(protocol_result(j, &e), -EBADMSG);
	}
	struct err e = {0};
	auto_json json_t *positive = json_pack("{s:b,s:i,s:s,s:s}", "ok", 0, "code", 5, "class",
					       "usage", "error", "x");
	assert_true(protocol_result(positive, &e) < 0); /* an error never reads as success */
	assert_true(protocol_result(NULL, &e) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_halves_and_several, setup, teardown),
		cmocka_unit_test_setup_teardown(test_garbage_is_refused_and_passed_over, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_longest_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silence_has_a_limit, setup, teardown),
		cmocka_unit_test(test_other_side_gone),
		cmocka_unit_test_setup_teardown(test_only_objects_are_sent, setup, teardown),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_answers_of_wrong_shape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
