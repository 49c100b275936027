/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Foreign results: the published files become what they say, and what is damaged is refused with
 * its place, leaving nothing in the store.
 */
#include "observation_fixture.h"
#include <errno.h>
#include <math.h>

static double metric(const json_t *rows, size_t i, const char *name)
{
	return json_get_number(json_object_get(json_array_get(rows, i), "metrics"), name);
}

static const char *label(const json_t *rows, size_t i, const char *name)
{
	return json_get_text(json_object_get(json_array_get(rows, i), "labels"), name, "");
}

static double value(const json_t *rows, size_t i, const char *name)
{
	return json_get_number(json_object_get(json_array_get(rows, i), "values"), name);
}

static json_t *parse_file(const char *name)
{
	size_t size;
	auto_free char *text = read_whole(name, &size);
	return parse_text(name, text);
}

static void published_files(void **state)
{
	(void)state;
	auto_json json_t *kernels = parse_file("tests/data/ipoib-kernel-timeline.csv");
	assert_int_equal(json_array_size(kernels), 27);
	assert_true(metric(kernels, 0, "throughput") == 464 * 8e6);
	assert_string_equal(label(kernels, 7, "variant"), "patch 1");
	assert_string_equal(label(kernels, 26, "machine"), "b");
	auto_json json_t *memory = parse_file("tests/data/ipoib-tcp-mem-2.6.16-rc5.csv");
	assert_int_equal(json_array_size(memory), 11);
	assert_true(value(memory, 9, "net.ipv4.tcp_rmem.default") == 524288);
	assert_true(isnan(value(memory, 10, "net.ipv4.tcp_rmem.default")));
	assert_string_equal(label(memory, 10, "note"), "kernel defaults");
	auto_json json_t *udp = parse_file("tests/data/udp-2.4-mtu.csv");
	assert_true(value(udp, 3, "socket.message_size") == 7270);
	assert_true(value(udp, 3, "link.mtu") == 9000);
	assert_true(fabs(metric(udp, 3, "throughput") - 597.3e6) < 1);
	auto_json json_t *reboot = parse_file("tests/data/ipoib-reboot-variance.csv");
	assert_string_equal(label(reboot, 2, "boot"), "2");
}

/* Both sides, and never half a sum. */
static void published_service_demand(void **state)
{
	(void)state;
	auto_json json_t *rows = parse_file("tests/data/netperf-service-demand.csv");
	assert_int_equal(json_array_size(rows), 6);
	assert_true(fabs(metric(rows, 0, "service_demand") - (4.869 + 4.489)) < 1e-9);
	assert_true(fabs(metric(rows, 0, "throughput") - 410302.39 * 8192) < 1);
	assert_true(fabs(metric(rows, 0, "cpu_receiver") - 0.9209) < 1e-9);
	assert_true(isnan(metric(rows, 3, "service_demand")));
	assert_true(metric(rows, 3, "service_demand_sender") == 2.642);
	assert_true(isnan(metric(rows, 3, "service_demand_receiver")));
	assert_true(isnan(metric(rows, 3, "cpu_receiver")));
}

static void refused(const char *text, const char *place, const char *says)
{
	struct err e = {0};
	json_t *rows = NULL;
	assert_int_equal(import_parse("f", text, strlen(text), NULL, &rows, &e), -EINVAL);
	assert_int_equal(e.class, ERR_USAGE);
	assert_null(rows);
	if (strncmp(e.text, place, strlen(place)) || !strstr(e.text, says)) {
		fail_msg("wanted \"%s\" at %s, got: %s", says, place, e.text);
	}
}

static void bad_csv(void **state)
{
	(void)state;
	refused("kernel,speed\n6.1,5\n", "f:1:1:", "column is missing: throughput");
	refused("# note\n\nkernel,speed\n6.1,5\n", "f:3:1:", "column is missing");
	refused("kernel,throughput\n6.1\n", "f:2:1:", "one is missing");
	refused("kernel,throughput\n6.1,5\n6.2,5,6\n", "f:3:7:", "point");
	refused("kernel,throughput_Mbps\n6.1,\"3,5\"\n", "f:2:", "decimal separator");
	refused("kernel,throughput\n6.1,NaN\n", "f:2:5:", "not a finite number");
	refused("kernel,throughput\n6.1,nan\n", "f:2:5:", "leave it empty");
	refused("kernel,throughput\n6.1,inf\n", "f:2:5:", "not a finite number");
	refused("kernel,throughput\n6.1,1e999\n", "f:2:5:", "not a finite number");
	refused("kernel,throughput\n6.1,0x10\n", "f:2:5:", "not a finite number");
	refused("kernel,throughput\n6.1,\n", "f:2:5:", "missing");
	refused("kernel,throughput\n6.1,-1\n", "f:2:5:", "negative");
	refused("kernel,throughput\n6.1,12 apples\n", "f:2:5:", "not a finite number");
	refused("kernel;throughput\n6.1;3,5\n", "f:1:1:", "semicolons");
	refused("kernel,throughput,kernel\n", "f:1:19:", "twice");
	refused("kernel,,throughput\n", "f:1:8:", "no name");
	refused("kernel,throughput\n\"6.1,5\n", "f:2:1:", "not closed");
	refused("kernel,throughput\n\"6.1\"x,5\n", "f:2:6:", "comma is missing");
	refused("kernel,throughput\n", "f", "no result");
	refused("", "f:1:1:", "column is missing");
}

static void good_csv(void **state)
{
	(void)state;
	auto_json json_t *rows = parse_text(
		"f", "\xef\xbb\xbfkernel,note,throughput_Gbps,net.ipv4.tcp_rmem.max@rx,rtt\r\n"
		     "6.10,\"a \"\"b\"\", c\",1.5,4194304,\r\n# end\r\n6.1,,2,,80.5");
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(label(rows, 0, "kernel"), "6.10"); /* not 6.1 */
	assert_string_equal(label(rows, 0, "note"), "a \"b\", c");
	assert_true(metric(rows, 0, "throughput") == 1.5e9);
	assert_true(isnan(metric(rows, 0, "rtt")));
	assert_true(metric(rows, 1, "rtt") == 80.5);
	assert_true(value(rows, 0, "net.ipv4.tcp_rmem.max@rx") == 4194304);
}

static void netperf_classic(void **state)
{
	(void)state;
	auto_json json_t *rows = parse_text(
		"f",
		"MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.2 () "
		"port 0 AF_INET\n"
		"Recv   Send    Send                          Utilization       Service Demand\n"
		"Socket Socket  Message  Elapsed              Send     Recv     Send    Recv\n"
		"Size   Size    Size     Time     Throughput  local    remote   local   remote\n"
		"bytes  bytes   bytes    secs.    KBytes  /s  % S      % S      us/KB   us/KB\n\n"
		" 87380  16384  16384    10.00      410302.39   99.89    92.09    4.869   4.489\n"
		"TCP STREAM TEST from here\n"
		"Recv   Send    Send\n"
		"bytes  bytes   bytes    secs.    10^6bits/sec\n\n"
		"131072  16384  65536    5.00     9415.20\n");
	assert_int_equal(json_array_size(rows), 2);
	assert_true(fabs(metric(rows, 0, "throughput") - 410302.39 * 8192) < 1);
	assert_true(fabs(metric(rows, 0, "service_demand") - 9.358) < 1e-9);
	assert_true(fabs(metric(rows, 0, "cpu_sender") - 0.9989) < 1e-9);
	assert_true(fabs(metric(rows, 1, "throughput") - 9415.2e6) < 1);
	assert_true(value(rows, 1, "socket.message_size") == 65536);
	assert_true(isnan(metric(rows, 1, "service_demand")));
}

static void netperf_udp(void **state)
{
	(void)state;
	auto_json json_t *rows = parse_text(
		"f", "UDP UNIDIRECTIONAL SEND TEST from 0.0.0.0 ()\n"
		     "Socket  Message  Elapsed      Messages\n"
		     "Size    Size     Time         Okay Errors   Throughput\n"
		     "bytes   bytes    secs            #      #   10^6bits/sec\n\n"
		     "212992    1472   10.00      812345      0     956.60\n"
		     "212992           10.00      500000            588.80\n");
	assert_int_equal(json_array_size(rows), 1);
	assert_true(fabs(metric(rows, 0, "throughput") - 588.8e6) < 1); /* what arrived */
	assert_true(fabs(metric(rows, 0, "offered") - 956.6e6) < 1);
	assert_true(metric(rows, 0, "lost") == 312345);
	assert_true(value(rows, 0, "socket.message_size") == 1472);
}

static void netperf_omni(void **state)
{
	(void)state;
	auto_json json_t *rows = parse_text(
		"f", "OMNI Send TEST from 0.0.0.0\nTHROUGHPUT=24015.98\n"
		     "THROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=10.00\nLOCAL_CPU_UTIL=50.5\n"
		     "LOCAL_SD=0.402\nREMOTE_SD=-1.000\nLOCAL_RELEASE=6.1.0-18-amd64\n"
		     "THROUGHPUT=1.5\nTHROUGHPUT_UNITS=GBytes/s\nLOCAL_SD=0.4\nREMOTE_SD=0.5\n");
	assert_int_equal(json_array_size(rows), 2);
	assert_true(fabs(metric(rows, 0, "throughput") - 24015.98e6) < 1);
	assert_string_equal(label(rows, 0, "kernel"), "6.1.0-18-amd64");
	assert_true(isnan(metric(rows, 0, "service_demand")));
	assert_true(fabs(metric(rows, 1, "throughput") - 1.5 * 8 * 1073741824) < 1);
	assert_true(fabs(metric(rows, 1, "service_demand") - 0.9) < 1e-12);
}

static void bad_netperf(void **state)
{
	(void)state;
	refused("TCP STREAM TEST\nbytes bytes bytes secs. 10^6bits/sec\n1 2 3 x 5\n",
		"f:3:7:", "not a finite number");
	refused("TCP STREAM TEST\nbytes bytes bytes secs. 10^6bits/sec\n1 2 3 4\n",
		"f:3:7:", "5 numbers");
	refused("TCP STREAM TEST\nbytes bytes bytes secs. 10^6bits/sec\n", "f:3:1:", "ends within");
	refused("TCP STREAM TEST\nbytes bytes bytes secs. 10^6bits/sec\n1 2 3 10,00 3,5\n",
		"f:3:7:", "decimal separator");
	refused("THROUGHPUT=NaN\n", "f:1:12:", "not a finite number");
	refused("THROUGHPUT=1\nTHROUGHPUT_UNITS=furlongs\n", "f:2:18:", "no unit");
	refused("THROUGHPUT=\n", "f:1:12:", "missing");
	refused("TCP STREAM TEST of nothing\n", "f", "no result");
}

static const char iperf3[] =
	"{\"start\": {\"version\": \"iperf 3.12\", \"system_info\": \"Linux tx1 6.1.0-18-amd64 #1 "
	"SMP x86_64\", \"timestamp\": {\"timesecs\": 1700000000}, \"test_start\": {\"protocol\": "
	"\"TCP\", \"blksize\": 131072}}, \"intervals\": [], \"end\": {\"sum_sent\": "
	"{\"retransmits\": 7, \"bits_per_second\": 2e9}, \"sum_received\": {\"seconds\": 10.0, "
	"\"bits_per_second\": 1.9e9}}}";

static void json_of_iperf3(void **state)
{
	(void)state;
	auto_json json_t *rows = parse_text("f", iperf3);
	assert_true(metric(rows, 0, "throughput") == 1.9e9);
	assert_true(metric(rows, 0, "retransmits") == 7);
	assert_string_equal(label(rows, 0, "kernel"), "6.1.0-18-amd64");
	assert_string_equal(label(rows, 0, "date"), "2023-11-14");
	assert_true(value(rows, 0, "socket.message_size") == 131072);
	auto_json json_t *udp = parse_text(
		"f", "{\"start\": {\"test_start\": {\"protocol\": \"UDP\"}}, \"end\": {\"sum\": "
		     "{\"bits_per_second\": 1e9, \"lost_percent\": 25, \"packets\": 1000, "
		     "\"lost_packets\": 250}}}");
	assert_true(metric(udp, 0, "throughput") == 0.75e9);
	assert_true(metric(udp, 0, "lost") == 250);
}

static void json_of_flent(void **state)
{
	(void)state;
	auto_json json_t *rows = parse_text(
		"f", "{\"metadata\": {\"KERNEL_RELEASE\": \"6.5.0\", \"NAME\": \"tcp_upload\", "
		     "\"TITLE\": \"\", \"TIME\": \"2024-05-06T07:08:09Z\", \"LENGTH\": 60}, "
		     "\"results\": {\"Ping (ms) ICMP\": [1, 2], \"TCP upload\": [900, null, "
		     "1000]}, \"x_values\": [0, 1, 2]}");
	assert_true(fabs(metric(rows, 0, "throughput") - 950e6) < 1);
	assert_string_equal(label(rows, 0, "kernel"), "6.5.0");
	assert_string_equal(label(rows, 0, "date"), "2024-05-06");
}

static void bad_json(void **state)
{
	(void)state;
	char half[200];
	snprintf(half, sizeof(half), "%.199s", iperf3);
	refused(half, "f:1:", "not whole JSON");
	refused("{\n \"start\": {},\n \"end\": {\"x\": 3,5}\n}", "f:3:", "not whole JSON");
	refused("{\n\"end\": {\"x\": NaN}}", "f:2:", "not whole JSON");
	refused("{\"a\": 1}", "f:1:1:", "neither iperf3's nor flent's");
	refused("[1, 2]", "f:1:1:", "neither");
	refused("{\"start\": {}, \"end\": {}, \"error\": \"unable to connect\"}",
		"f:1:1:", "unable to connect");
	refused("{\"start\": {}, \"end\": {\"sum_received\": {\"bits_per_second\": null}}}",
		"f:1:1:", "sum_received");
	refused("{\"metadata\": {}, \"results\": {\"Ping (ms) ICMP\": [1]}}", "f:1:1:", "series");
	refused("{\"metadata\": {}, \"results\": {\"TCP upload\": [null]}}",
		"f:1:1:", "TCP upload");
	struct err e = {0};
	json_t *rows = NULL;
	assert_true(import_parse("f", "a\0b", 3, NULL, &rows, &e) < 0);
	assert_true(import_parse("f", "", 0, "cvs", &rows, &e) < 0);
	assert_non_null(strstr(e.text, "did you mean csv?"));
}

/* Rows that differ only in numbers are samples of one trial; all or nothing. */
static void into_the_store(void **state)
{
	(void)state;
	struct store *s = open_store(true);
	import_into(s, "twice", "kernel,rmem_max,throughput\n6.1,4096,5\n6.1,4096,6\n6.2,4096,7\n");
	auto_json json_t *run = get(s, "latest");
	json_t *trials = json_object_get(run, "trials"), *first = json_array_get(trials, 0);
	assert_string_equal(json_get_text(run, "status", ""), "imported");
	assert_int_equal(json_array_size(trials), 2);
	assert_int_equal(json_array_size(json_object_get(first, "samples")), 2);
	assert_string_equal(json_get_text(json_object_get(first, "labels"), "kernel", ""), "6.1");
	assert_true(json_get_number(json_object_get(first, "values"), "net.ipv4.tcp_rmem.max") ==
		    4096);
	auto_json json_t *list = NULL;
	struct err e = {0};
	assert_int_equal(store_list_runs(s, &list, &e), 0);
	assert_true(json_get_number(json_array_get(list, 0), "samples") == 3);
	store_close(s);
	/* A store that cannot be written gets nothing. */
	s = open_store(false);
	char id[64];
	auto_json json_t *rows = parse_text("f", "kernel,throughput\n6.1,5\n");
	assert_true(import_store(s, "x", "", rows, NULL, id, sizeof(id), &e) < 0);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_files), cmocka_unit_test(published_service_demand),
		cmocka_unit_test(bad_csv),	   cmocka_unit_test(good_csv),
		cmocka_unit_test(netperf_classic), cmocka_unit_test(netperf_udp),
		cmocka_unit_test(netperf_omni),	   cmocka_unit_test(bad_netperf),
		cmocka_unit_test(json_of_iperf3),  cmocka_unit_test(json_of_flent),
		cmocka_unit_test(bad_json),	   IN_FOLDER(into_the_store),
	};
	return cmocka_run_group_tests_name("import", tests, NULL, NULL);
}
