/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What other people's benchmarks write on their output: iperf3's JSON, netperf's keys, a command's
 * own line. A sample whose numbers can be, or a sentence.
 */
#include "cleanup.h"
#include "command_private.h"
#include "fuzz.h"
#include "peer_private.h"
#include "spec.h"
#include <math.h>
#include <string.h>

const char *const fuzz_folders[] = {NULL};

static const char *const TYPES[] = {"tcp_stream", "tcp_maerts", "tcp_bidir", "udp_stream",
				    "tcp_rr"};

/* Nothing that is measured is below zero, but for what a command calls its score. */
static void check(const struct sample *s)
{
	for (int m = 0; s->ok && m < METRIC_COUNT; m++) {
		FUZZ_MUST(m == METRIC_SCORE || !(s->m[m] < 0));
	}
	FUZZ_MUST(s->n_extra <= SAMPLE_EXTRA_MAX);
	FUZZ_MUST(memchr(s->reason, 0, sizeof(s->reason)));
	json_decref(sample_to_json(s));
}

static void ask(const struct peer_tool *tool, const char *type, bool one_host, const char *text)
{
	struct spec_test test = {.streams = 1};
	struct peer_sample asked = {.test = &test,
				    .address = "192.0.2.1",
				    .port = 5201,
				    .duration = 1,
				    .one_host = one_host};
	struct sample got = {0};
	struct err e = {0};
	snprintf(test.type, sizeof(test.type), "%s", type);
	int rc = tool->parse(&asked, text, &got, &e);
	FUZZ_MUST(rc == 0 ? got.ok : rc < 0 && e.text[0]);
	FUZZ_MUST(!(got.m[METRIC_CPU_SENDER] > 1 || got.m[METRIC_CPU_RECEIVER] > 1));
	check(&got);
	sample_clear(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct objective o;
	struct sample got;
	auto_free char *text = malloc(size + 1);
	FUZZ_MUST(text);
	memcpy(text, data, size);
	text[size] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(TYPES); i++) {
		ask(&peer_iperf3, TYPES[i], false, text);
		ask(&peer_netperf, TYPES[i], i % 2, text);
	}
	objective_init(&o);
	sample_init(&got);
	FUZZ_MUST(command_answer(text, &o, &got) ? got.ok : !got.ok && got.reason[0]);
	check(&got);
	sample_clear(&got);
	return 0;
}

size_t fuzz_seed(size_t i, char *buf, size_t size)
{
	static const char *const SEEDS[] = {
		"{\"start\":{\"version\":\"iperf 3.12\"},\"intervals\":[],\"end\":{\"streams\":[{"
		"\"sender\":{\"mean_rtt\":120,\"max_snd_cwnd\":1000000}}],\"sum_sent\":{\"bytes\":"
		"125000000,\"bits_per_second\":1e9,\"retransmits\":3,\"seconds\":1},"
		"\"sum_received\":{\"bytes\":124000000,\"bits_per_second\":9.9e8,\"seconds\":1},"
		"\"sum_received_bidir_reverse\":{\"bits_per_second\":8e8},\"sum_sent_bidir_reverse"
		"\":{\"retransmits\":1},\"cpu_utilization_percent\":{\"host_total\":10}}}",
		"{\"start\":{\"version\":\"iperf 3.12\"},\"end\":{\"sum\":{\"bits_per_second\":1e9,"
		"\"packets\":1000,\"lost_packets\":10,\"seconds\":1}}}",
		"{\"error\":\"unable to connect to server: Connection refused\"}",
		"THROUGHPUT=9410.12\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=2.00\n"
		"LOCAL_CPU_UTIL=12.5\nREMOTE_CPU_UTIL=30.1\nLOCAL_SD=0.4\nREMOTE_SD=0.9\n"
		"LOCAL_SEND_THROUGHPUT=9500\nREMOTE_RECV_THROUGHPUT=9400\nLOCAL_SEND_CALLS=1000\n"
		"REMOTE_RECV_CALLS=990\nLOCAL_TRANSPORT_RETRANS=5\nREMOTE_TRANSPORT_RETRANS=-1\n",
		"THROUGHPUT=41234.5\nTHROUGHPUT_UNITS=Trans/s\nELAPSED_TIME=2.00\n"
		"P50_LATENCY=20\nP99_LATENCY=45\nLOCAL_CPU_UTIL=-1\nREMOTE_CPU_UTIL=100.2\n",
		"{\"throughput\":1e9,\"service_demand\":0.5,\"own\":3}",
		"{\"score\":-4,\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,"
		"\"i\":9}",
	};
	return i < ARRAY_SIZE(SEEDS) ? (size_t)snprintf(buf, size, "%s", SEEDS[i]) : 0;
}
