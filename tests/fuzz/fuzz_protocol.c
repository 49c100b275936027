/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a stranger may send to an agent: lines by the channel, requests one after the other by the
 * table of operations and by the reading of values. The host is a recorded one, and its run folder
 * cannot be: nothing is ever open, no request may set anything, and what is read as an assignment
 * is in the catalogue. (Streams and the flushing of caches start processes and reach the kernel:
 * they are left out.)
 */
#include "agent_ops.h"
#include "cleanup.h"
#include "fuzz.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const char *const fuzz_folders[] = {NULL};

static void quiet(const char *line)
{
	FUZZ_MUST(!strchr(line, '\n'));
}

static void ask(struct agent_state *s, json_t *request)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	struct err e = {0};
	auto_json json_t *answer = json_object();
	auto_free struct assignment *a = NULL;
	size_t n = 0;
	if (!op || (strcmp(op, "stream") != 0 && strcmp(op, "settle") != 0)) {
		int rc = agent_dispatch(s, request, answer, &e);
		FUZZ_MUST(rc == 0 || e.text[0]);
		FUZZ_MUST(!s->session);
	}
	if (ops_take_assignments(s, request, &a, &n, &e) == 0) {
		for (size_t i = 0; i < n; i++) {
			FUZZ_MUST(a[i].setting.tunable && !strstr(a[i].setting.name, ".."));
			FUZZ_MUST(!strchr(a[i].setting.name, '\n'));
			FUZZ_MUST(!tunable_check(&a[i].setting, a[i].field, &a[i].value, NULL));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent_state s = {
		.place = {.root = {"tests/sysroot/host"}, .run_dir = "/nonexistent/run"},
		.guardian = {.tell = -1},
		.note = quiet};
	struct channel c;
	int p[2];
	struct err e = {0};
	size = size < 60000 ? size : 60000;
	FUZZ_MUST(!pipe2(p, O_CLOEXEC) && !channel_init(&c, p[0], p[1]));
	FUZZ_MUST(write(p[1], data, size) == (ssize_t)size);
	close(p[1]);
	for (int i = 0; i < 70000; i++) {
		auto_json json_t *request = NULL;
		int rc = channel_recv(&c, 0, &request, &e);
		if (rc == 0) {
			ask(&s, request);
		} else if (rc == -EPIPE || rc != -EBADMSG) {
			break;
		}
	}
	channel_clear(&c);
	close(p[0]);
	return 0;
}

static const char *const PLAIN[] = {
	"{\"v\":1,\"id\":1,\"op\":\"hello\"}\n{\"v\":1,\"id\":2,\"op\":\"ping\"}\n",
	"{\"v\":1,\"id\":1,\"op\":\"status\"}\n",
	"{\"v\":1,\"id\":1,\"op\":\"rollback\",\"force\":false}\n",
	"{\"v\":1,\"id\":1,\"op\":\"commit\"}\n{\"v\":1,\"id\":1,\"op\":\"bye\"}\n",
	"{\"v\":1,\"id\":1,\"op\":\"restore\",\"wait_ms\":1}\n",
	"{\"v\":1,\"id\":1,\"op\":\"allow\",\"words\":[\"disruptive\",\"unsafe\",\"unlisted\"]}\n"
	"{\"v\":1,\"id\":2,\"op\":\"device\",\"toward\":\"127.0.0.1\"}\n"
	"{\"v\":1,\"id\":3,\"op\":\"device\",\"toward\":\"::1\"}\n",
	"{\"v\":1,\"id\":1,\"op\":\"check\"}\n{\"v\":1,\"id\":2,\"op\":\"owners\"}\n"
	"{\"v\":1,\"id\":3,\"op\":\"doctor\",\"device\":\"lo\"}\n",
	"{\"v\":1,\"id\":1,\"op\":\"open\",\"layer\":\"applied\",\"profile\":\"\",\"settings\":[]}"
	"\n"
	"{\"v\":1,\"id\":2,\"op\":\"status\"}\n{\"v\":1,\"id\":3,\"op\":\"replace\",\"values\":"
	"[{\"set\":\"net.ipv4.tcp_rmem\",\"device\":\"\",\"field\":\"max\",\"value\":\"8MiB\"}]}\n",
};

/* For each name of the catalogue: opening, asking and setting it. */
size_t fuzz_seed(size_t i, char *buf, size_t size)
{
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	if (i < ARRAY_SIZE(PLAIN)) {
		return (size_t)snprintf(buf, size, "%s", PLAIN[i]);
	}
	i -= ARRAY_SIZE(PLAIN);
	if (i >= n) {
		return 0;
	}
	const char *field = rows[i].fields[0] ? rows[i].fields[0] : "";
	int used = snprintf(
		buf, size,
		"{\"v\":1,\"id\":1,\"op\":\"open\",\"layer\":\"sweep\",\"profile\":\"x\","
		"\"settings\":[{\"set\":\"%s\",\"device\":\"\"}]}\n"
		"{\"v\":1,\"id\":2,\"op\":\"probe\",\"set\":\"%s\",\"device\":\"lo\",\"field\":\"%"
		"s\"}\n"
		"{\"v\":1,\"id\":3,\"op\":\"set\",\"values\":[{\"set\":\"%s\",\"device\":\"\","
		"\"field\":\"%s\",\"value\":%lld}]}\n",
		rows[i].name, rows[i].name, field, rows[i].name, field, (long long)rows[i].max);
	return used > 0 && (size_t)used < size ? (size_t)used : 0;
}
