/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The letters of the test command, each with its units and both of its sides, into what is asked of
 * the engine: netperf's meanings, and what is refused with which sentence.
 */
#include "cleanup.h"
#include "cli_test.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define WORDS_MAX 16

/* Reads a line of words as the command does; what it makes of them is the caller's to clear. */
static int options_of(const char *line, struct test_options *o, struct err *e)
{
	static char words[512];
	char *argv[WORDS_MAX + 1] = {(char *)"test"}, *save = NULL;
	int argc = 1;
	struct cli c = {.command = &command_test};
	snprintf(words, sizeof(words), "%s", line);
	for (char *w = strtok_r(words, " ", &save); w && argc < WORDS_MAX;
	     w = strtok_r(NULL, " ", &save)) {
		argv[argc++] = w;
	}
	memset(o, 0, sizeof(*o));
	*e = (struct err){0};
	int rc = cli_parse(&c, argc, argv, e);
	return rc ? rc : test_options_read(&c, o, e);
}

static struct test_options *must(const char *line)
{
	struct err e;
	struct test_options *o = calloc(1, sizeof(*o));
	assert_non_null(o);
	if (options_of(line, o, &e) < 0) {
		fail_msg("%s: %s", line, e.text);
	}
	return o;
}

static void options_free(struct test_options **o)
{
	test_options_clear(*o);
	free(*o);
}

#define auto_options __attribute__((cleanup(options_free))) struct test_options

/* The value of a socket at one end (0: near, 1: far); the last one counts. -1: not set. */
static int64_t value_at(const struct test_options *o, const char *name, int end)
{
	int64_t value = -1;
	for (size_t i = 0; i < o->spec.test.n_fixed; i++) {
		const struct spec_fixed *f = &o->spec.test.fixed[i];
		if (strcmp(f->name, name) == 0 && (f->end < 0 || f->end == end)) {
			value = f->value;
		}
	}
	return value;
}

static void sizes(const char *text, int64_t bytes)
{
	static const char *const letters[][2] = {{"-m", "message_size"}, {"-M", "receive_size"}};
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++) {
		char line[64];
		snprintf(line, sizeof(line), "%s %s", letters[i][0], text);
		auto_options *o = must(line);
		assert_int_equal(value_at(o, letters[i][1], 0), bytes);
		assert_int_equal(value_at(o, letters[i][1], 1), bytes);
		assert_int_equal(o->spec.test.n_fixed, 1);
	}
}

/* netperf's: capitals are powers of 1024, small letters of 1000. */
static void test_sizes(void **state)
{
	(void)state;
	sizes("1", 1);
	sizes("1460", 1460);
	sizes("64K", 65536);
	sizes("64k", 64000);
	sizes("2M", 2 << 20);
	sizes("2m", 2000000);
	sizes("256M", 256 << 20);
	sizes("64KiB", 65536);
	sizes("64kB", 64000);
}

static void buffers(const char *line, int64_t near_send, int64_t near_receive, int64_t far_send,
		    int64_t far_receive)
{
	auto_options *o = must(line);
	assert_int_equal(value_at(o, "send_buffer", 0), near_send);
	assert_int_equal(value_at(o, "receive_buffer", 0), near_receive);
	assert_int_equal(value_at(o, "send_buffer", 1), far_send);
	assert_int_equal(value_at(o, "receive_buffer", 1), far_receive);
}

/* -s: the near end's send buffer and receive buffer; -S: the far end's. One value is both. */
static void test_buffers(void **state)
{
	(void)state;
	buffers("-s 128K", 131072, 131072, -1, -1);
	buffers("-S 128K", -1, -1, 131072, 131072);
	buffers("-s 64K,128k", 65536, 128000, -1, -1);
	buffers("-S 1M,2M", -1, -1, 1 << 20, 2 << 20);
	buffers("-s 64K,", 65536, -1, -1, -1);
	buffers("-S ,64K", -1, -1, -1, 65536);
	buffers("-s 1K,2K -S 3K,4K", 1024, 2048, 3072, 4096);
	buffers("-s 1G,1g", 1 << 30, 1000000000, -1, -1);
	buffers("-s 0", 0, 0, -1, -1);
	buffers("--preset netperf-canonical", 131072, 131072, 131072, 131072);
	/* what is said beside the preset counts */
	buffers("--preset netperf-canonical -S 64K", 131072, 131072, 65536, 65536);
	auto_options *o = must("--preset netperf-canonical");
	assert_int_equal(value_at(o, "message_size", 0), 32768);
	auto_options *other = must("--preset netperf-canonical -m 16K");
	assert_int_equal(value_at(other, "message_size", 0), 16384);
}

static void test_ring(void **state)
{
	(void)state;
	auto_options *one = must("-W 8");
	assert_int_equal(value_at(one, "ring", 0), 8);
	auto_options *two = must("-W 16,4");
	assert_int_equal(value_at(two, "ring", 0), 16);
	/* of the receives alone: they all go to one buffer */
	auto_options *receives = must("-W ,4");
	assert_int_equal(value_at(receives, "ring", 0), -1);
}

static void cpus(const char *line, int near, int far)
{
	auto_options *o = must(line);
	const struct spec_test *t = &o->spec.test;
	assert_int_equal(t->n_cpus[0], near >= 0);
	assert_int_equal(t->n_cpus[1], far >= 0);
	assert_true(near < 0 || t->cpus[0][0] == near);
	assert_true(far < 0 || t->cpus[1][0] == far);
}

static void test_cpus(void **state)
{
	(void)state;
	cpus("-T 1", 1, 1);
	cpus("-T 0,1", 0, 1);
	cpus("-T 2,", 2, -1);
	cpus("-T ,3", -1, 3);
	cpus("-l 1", -1, -1);
	/* the lightest way chooses its own, unless they are named */
	auto_options *own = must("--drive light"), *named = must("--drive light -T 0");
	assert_true(own->spec.test.own_cpus);
	assert_false(named->spec.test.own_cpus);
}

static void repeats(const char *line, int most, int least, double level, double width)
{
	auto_options *o = must(line);
	assert_int_equal(o->repeats_max, most);
	assert_int_equal(o->repeats_min, least);
	assert_true(fabs(o->level - level) < 1e-12);
	assert_true(fabs(o->width - width) < 1e-12);
}

/* The width is the full one, 5 is 2.5 % to either side; the two numbers of -i come in any order. */
static void test_repeats(void **state)
{
	(void)state;
	repeats("-l 1", 1, 1, 0.95, 0.05);
	repeats("-i 10,3", 10, 3, 0.95, 0.05);
	repeats("-i 3,10", 10, 3, 0.95, 0.05);
	repeats("-i 7", 7, 7, 0.95, 0.05);
	repeats("-I 99,5", 10, 3, 0.99, 0.05);
	repeats("-I 99", 10, 3, 0.99, 0.05);
	repeats("-I 99.9,2.5 -i 30,5", 30, 5, 0.999, 0.025);
}

static void test_others(void **state)
{
	(void)state;
	auto_options *plain = must("-q");
	assert_string_equal(plain->spec.test.type, "tcp_stream");
	assert_string_equal(plain->spec.test.engine, "builtin");
	assert_int_equal(plain->spec.test.streams, 1);
	assert_int_equal(plain->spec.test.port, 0);
	assert_true(plain->spec.test.duration == 2 && plain->unit == 0);
	assert_true(plain->loopback && !plain->spec.test.light && !plain->spec.test.no_warmup);
	assert_int_equal(plain->spec.test.n_fixed, 0);
	auto_options *o = must("-t UDP_STREAM -l 500ms -P 16 -p 12865 -f M --rate 1Gbit/s");
	assert_string_equal(o->spec.test.type, "udp_stream");
	assert_true(o->spec.test.duration == 0.5 && o->spec.test.rate == 1e9);
	assert_int_equal(o->spec.test.streams, 16);
	assert_int_equal(o->spec.test.port, 12865);
	assert_int_equal(o->unit, 'M');
	auto_options *seconds = must("-l 0.25 --warmup off --receive discard --send zerocopy");
	assert_true(seconds->spec.test.duration == 0.25);
	assert_true(seconds->spec.test.no_warmup && seconds->spec.test.discard);
	assert_string_equal(seconds->spec.test.send, "zerocopy");
	auto_options *six = must("--to netns:far --address fe80::2%eth0");
	assert_string_equal(six->spec.hosts[1].address, "fe80::2%eth0");
	assert_false(six->loopback);
	auto_options *far = must("--to tx1");
	assert_string_equal(far->spec.hosts[1].via.argv[0], "ssh");
	assert_string_equal(far->spec.hosts[1].via.argv[1], "tx1");
}

static void refused(const char *line, const char *word)
{
	struct err e;
	struct test_options *o = calloc(1, sizeof(*o));
	assert_non_null(o);
	if (options_of(line, o, &e) >= 0) {
		fail_msg("%s: was taken", line);
	}
	if (e.class != ERR_USAGE || !strstr(e.text, word)) {
		fail_msg("%s: no '%s' in '%s'", line, word, e.text);
	}
	options_free(&o);
}

static void test_refusals(void **state)
{
	(void)state;
	refused("-m 2G", "too large");
	/* what the catalogue says of a socket is known before a host is asked */
	refused("-m 0", "-m: socket.message_size: 0 is not in the range 1 to");
	refused("-M 1G", "-M: socket.receive_size: 1073741824 is not");
	refused("-m 16q", "-m");
	refused("-m -1", "-m");
	refused("-m K", "-m");
	refused("-m 1,2", "-m");
	refused("-s 1,2,3", "-s");
	refused("-s ,", "-s");
	refused("-S 64KB", "-S");
	refused("-W 0", "-W");
	refused("-W 5000", "-W");
	refused("-T -1", "-T");
	refused("-T 1024", "-T");
	refused("-T 0-3", "-T");
	refused("-i 0", "-i");
	refused("-i 1001", "-i");
	refused("-i 1,2,3", "-i");
	refused("-I 100,5", "-I");
	refused("-I 49,5", "-I");
	refused("-I 95,0", "-I");
	refused("-I nan,5", "-I");
	refused("-I 95,nan", "-I");
	refused("-P 0", "--streams");
	refused("-P 129", "--streams");
	refused("-p 65536", "--port");
	refused("-f x", "-f");
	refused("-f Mb", "-f");
	refused("-l 0", "-l");
	refused("-l -10", "-l");
	refused("-l 1h30", "-l");
	refused("-l nan", "-l");
	refused("-l 1,5", "-l");
	refused("-t tcp_crr", "tcp_rr");
	refused("--engine iperf", "iperf3");
	refused("--preset canonical", "netperf-canonical");
	refused("--rate 1G", "--rate");
	refused("--rate 1Gbit/s", "udp_stream");
	refused("-t tcp_maerts --send gso", "for udp_stream");
	refused("-t udp_stream --receive discard", "copy or gro");
	refused("-t tcp_rr --send zerocopy", "not for tcp_rr");
	refused("-m 1K -m 2K", "twice");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	 cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_ring),	 cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_repeats),	 cmocka_unit_test(test_others),
		cmocka_unit_test(test_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
