/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Other programs' results: iperf3's JSON, netperf's text, tables. Rows, or a sentence.
 */
#include "cleanup.h"
#include "fuzz.h"
#include "import.h"
#include <string.h>

const char *const fuzz_folders[] = {"tests/data", NULL};

static const char *const FORMATS[] = {NULL, "csv", "netperf", "iperf3", "flent"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(FORMATS); i++) {
		json_t *rows = NULL;
		struct err e = {0};
		int rc = import_parse("fuzz", (const char *)data, size, FORMATS[i], &rows, &e);
		FUZZ_MUST(rc == 0 ? json_is_array(rows) : e.text[0] != 0);
		json_decref(rows);
	}
	return 0;
}

size_t fuzz_seed(size_t i, char *buf, size_t size)
{
	static const char *const SEEDS[] = {
		"{\"start\":{\"test_start\":{\"protocol\":\"TCP\",\"num_streams\":1,\"duration\":1}"
		"}"
		",\"intervals\":[],\"end\":{\"sum_sent\":{\"bits_per_second\":1e9,\"retransmits\":0"
		",\"seconds\":1},\"sum_received\":{\"bits_per_second\":1e9,\"seconds\":1},"
		"\"cpu_utilization_percent\":{\"host_total\":10,\"remote_total\":20}}}",
		"MIGRATED TCP STREAM TEST\nRecv   Send    Send\nSocket Socket  Message  Elapsed\n"
		"Size   Size    Size     Time     Throughput\nbytes  bytes   bytes    secs.    "
		"10^6bits/sec\n\n131072  16384  16384    10.00    9410.12\n",
		"kernel,throughput_Mbps,rmem_max\n6.1.0,9400,212992\n6.6.0,9500,212992\n",
		"{\"version\":4,\"metadata\":{},\"results\":{\"TCP upload\":[1,2,3]},"
		"\"x_values\":[0,1,2]}",
	};
	return i < ARRAY_SIZE(SEEDS) ? (size_t)snprintf(buf, size, "%s", SEEDS[i]) : 0;
}
