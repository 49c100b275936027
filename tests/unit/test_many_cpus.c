/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host with 1,024 CPUs, made up as files: what an endpoint reads of it at an end of a window fits
 * into a line of the protocol, whole, and after long uptimes.
 */
#include "cleanup.h"
#include "protocol.h"
#include "stream_read.h"
#include "sysroot_fixture.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define CPUS	   CPU_METER_CPUS_MAX
#define AGENT_WRAP 64 /* bytes that the agent puts around an answer */

static char *text_of_stat(void)
{
	char *text = malloc(CPUS * 128);
	size_t n = (size_t)sprintf(text, "cpu  1 2 3 4 5 6 7 8 9 10\n");
	for (int i = 0; i < CPUS; i++) {
		/* a year of each, in ticks */
		n += (size_t)sprintf(text + n,
				     "cpu%d 3153600000 1 1 3153600000 1 1 315360%04d 31536%05d 0 "
				     "0\n",
				     i, i, i);
	}
	sprintf(text + n, "intr 12345 0 0\n");
	return text;
}

static char *text_of_softnet(void)
{
	char *text = malloc(CPUS * 128);
	size_t n = 0;
	for (int i = 0; i < CPUS; i++) {
		n += (size_t)sprintf(text + n,
				     "ffff%04x 0000000%d 00000003 00000000 00000000 00000000\n", i,
				     i % 2);
	}
	return text;
}

/* s: what the clock shows; all that passes from one text to the next, each CPU is busy. */
static void timer_list_write(FILE *f, long long s)
{
	rewind(f);
	fprintf(f, "Timer List Version: v0.10\nHRTIMER_MAX_CLOCK_BASES: 8\nnow at %lld%09d nsecs\n",
		s, 0);
	for (int i = 0; i < CPUS; i++) {
		fprintf(f, "\ncpu: %d\n clock 0:\n  .tick_stopped   : 0\n", i);
		fprintf(f, "  .idle_entrytime : 1000000000 nsecs\n");
		fprintf(f, "  .idle_sleeptime : 15768000%07d nsecs\n", i);
		fprintf(f, "  .iowait_sleeptime: 0 nsecs\n");
	}
	fflush(f);
}

struct many {
	FILE *timers;
	struct read_meters meters;
	struct endpoint *ep;
};

static void many_begin(struct many *m)
{
	struct err e = {0};
	struct stream_options o;
	struct sysroot root = sysroot_make("server");
	int port;
	auto_free char *stat = text_of_stat();
	auto_free char *softnet = text_of_softnet();
	auto_json json_t *request = json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s}", "op", "listen",
					      "type", "tcp_stream", "address", "127.0.0.1", "port",
					      0, "streams", 1, "token", "a-token", "drive",
					      "classic");
	sysroot_put("/proc/stat", stat);
	sysroot_put("/proc/net/softnet_stat", softnet);
	sysroot_put("/proc/net/snmp", "Tcp: RetransSegs InErrs\nTcp: 18446744073709551615 3\n");
	m->meters = (struct read_meters){.root = root};
	m->timers = tmpfile();
	assert_non_null(m->timers);
	timer_list_write(m->timers, 31000000);
	assert_int_equal(cpu_meter_create(fileno(m->timers), NULL, &m->meters.cpu, &e), 0);
	assert_int_equal(stream_options_parse(request, false, &o, &e), 0);
	assert_int_equal(endpoint_create(&o, NULL, &m->ep, &port, &e), 0);
}

static void many_end(struct many *m)
{
	endpoint_destroy(m->ep);
	cpu_meter_destroy(m->meters.cpu);
	fclose(m->timers);
}

static json_t *end_of_window(struct many *m)
{
	json_t *answer = json_pack("{s:I, s:b}", "id", (json_int_t)123456789, "ok", 1);
	read_answer(&m->meters, m->ep, READ_ENDS, answer);
	return answer;
}

static size_t line_of(const json_t *answer)
{
	return json_dumpb(answer, NULL, 0, JSON_COMPACT) + AGENT_WRAP;
}

static double last_of(const json_t *answer, const char *object, const char *list)
{
	const json_t *all = json_object_get(json_object_get(answer, object), list);
	assert_int_equal(json_array_size(all), CPUS);
	return json_number_value(json_array_get(all, CPUS - 1));
}

static void test_one_line(void **state)
{
	(void)state;
	struct many m;
	many_begin(&m);
	timer_list_write(m.timers, 31100000);
	auto_json json_t *answer = end_of_window(&m);
	/* whole, as it was made up */
	json_t *cpu = json_object_get(answer, "cpu");
	assert_string_equal(json_string_value(json_object_get(cpu, "source")), "timer_list");
	assert_int_equal(json_integer_value(json_object_get(cpu, "cpus")), CPUS);
	assert_true(fabs(json_number_value(json_object_get(cpu, "busy")) - 1e5 * CPUS) < 1e-3);
	assert_true(last_of(answer, "cpu", "per_cpu_us") == 1e11);
	assert_true(last_of(answer, "host", "softirq_ms") == 31536010240.0);
	assert_true(last_of(answer, "host", "steal_ms") == 31536010230.0);
	assert_true(last_of(answer, "host", "softnet_packets") == 0xffff03ff);
	json_t *host = json_object_get(answer, "host");
	assert_true(json_number_value(json_object_get(host, "softnet_drops")) == CPUS / 2);
	assert_true(json_number_value(json_object_get(host, "softnet_squeezed")) == 3 * CPUS);
	assert_in_range(line_of(answer), CPUS * 30, PROTOCOL_LINE_MAX);
	many_end(&m);
}

/* With what else may be long in an answer, the lists go, and the sums stay. */
static void test_shortened(void **state)
{
	(void)state;
	struct many m;
	many_begin(&m);
	timer_list_write(m.timers, 31100000);
	auto_json json_t *answer = end_of_window(&m);
	json_t *latency = json_array();
	for (int i = 0; i < LATENCY_BUCKETS; i++) {
		json_array_append_new(latency, json_pack("[i, I]", i, (json_int_t)4294967295));
	}
	json_object_set_new(answer, "latency", latency);
	assert_true(line_of(answer) > PROTOCOL_LINE_MAX);
	read_shorten(answer);
	assert_true(line_of(answer) <= PROTOCOL_LINE_MAX);
	json_t *cpu = json_object_get(answer, "cpu"), *host = json_object_get(answer, "host");
	assert_null(json_object_get(cpu, "per_cpu_us"));
	assert_true(fabs(json_number_value(json_object_get(cpu, "busy")) - 1e5 * CPUS) < 1e-3);
	assert_null(json_object_get(host, "softirq_ms"));
	assert_true(json_number_value(json_object_get(host, "softnet_drops")) == CPUS / 2);
	assert_int_equal(json_array_size(json_object_get(answer, "latency")), LATENCY_BUCKETS);
	many_end(&m);
}

/* More CPUs than the meter takes: the lists end there. */
static void test_too_many(void **state)
{
	(void)state;
	struct sysroot root = sysroot_make("server");
	auto_free char *text = text_of_softnet();
	auto_free char *twice = NULL;
	assert_true(asprintf(&twice, "%s%s", text, text) > 0);
	sysroot_put("/proc/net/softnet_stat", twice);
	auto_json json_t *host = host_counters(&root, "", true);
	assert_int_equal(json_array_size(json_object_get(host, "softnet_packets")), CPUS);
	assert_true(json_number_value(json_object_get(host, "softnet_drops")) == CPUS);
	/* between the ends of a window only the sums */
	auto_json json_t *sums = host_counters(&root, "", false);
	assert_null(json_object_get(sums, "softnet_packets"));
	assert_null(json_object_get(sums, "softirq_ms"));
	assert_true(json_number_value(json_object_get(sums, "softnet_drops")) == CPUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_one_line, sysroot_teardown),
		cmocka_unit_test_teardown(test_shortened, sysroot_teardown),
		cmocka_unit_test_teardown(test_too_many, sysroot_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
