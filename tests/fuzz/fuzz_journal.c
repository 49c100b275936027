/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A journal that anything may have happened to: what is believed is objects only, and once the torn
 * end is cut off, opening it again believes the same. Each input as it is, and with the sums of its
 * lines made right: else hardly one would get beyond those.
 */
#include "cleanup.h"
#include "fuzz.h"
#include "journal.h"
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

const char *const fuzz_folders[] = {NULL};

#define SUM_LENGTH 17 /* of a line: 16 digits and a space */

static size_t believed(const char *dir, bool *readable)
{
	struct journal *j;
	struct journal_header h;
	struct err e = {0};
	auto_json json_t *records = NULL;
	size_t i;
	json_t *one;
	*readable = journal_open(dir, "sweep", &h, &records, &j, &e) == 0;
	if (!*readable) {
		FUZZ_MUST(e.text[0]);
		return 0;
	}
	journal_close(j);
	FUZZ_MUST(memchr(h.profile, 0, sizeof(h.profile)));
	json_array_foreach(records, i, one)
	{
		FUZZ_MUST(json_is_object(one));
	}
	return json_array_size(records);
}

static void look_at(const uint8_t *data, size_t size)
{
	char dir[64], path[128];
	bool first, again;
	snprintf(dir, sizeof(dir), "%s/fuzz-journal-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	FUZZ_MUST(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sweep.journal", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	FUZZ_MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	size_t n = believed(dir, &first);
	FUZZ_MUST(believed(dir, &again) == n && first == again);
	unlink(path);
	rmdir(dir);
}

static uint64_t sum(const uint8_t *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ s[i]) * 0x100000001b3u;
	}
	return h;
}

/* Each line that is long enough gets the sum that it must have. */
static void correct_sums(uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t n = end ? (size_t)(end - data) - at : size - at;
		if (n > SUM_LENGTH) {
			char text[SUM_LENGTH + 1];
			snprintf(text, sizeof(text), "%016" PRIx64 " ",
				 sum(data + at + SUM_LENGTH, n - SUM_LENGTH));
			memcpy(data + at, text, SUM_LENGTH);
		}
		at += n + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free uint8_t *copy = malloc(size + 1);
	look_at(data, size);
	if (copy) {
		memcpy(copy, data, size);
		correct_sums(copy, size);
		look_at(copy, size);
	}
	return 0;
}

static int line(char *buf, size_t size, const char *body)
{
	return snprintf(buf, size, "%016" PRIx64 " %s\n", sum((const uint8_t *)body, strlen(body)),
			body);
}

/* The first i records of a session, after the header. */
size_t fuzz_seed(size_t i, char *buf, size_t size)
{
	static const char *const RECORDS[] = {
		"{\"boot_id\":\"b\",\"journal\":1,\"layer\":\"sweep\",\"netns_cookie\":1,"
		"\"netns_path\":\"\",\"pid\":1,\"pid_start\":2,\"profile\":\"p\",\"since\":3}",
		"{\"device\":\"\",\"op\":\"old\",\"set\":\"net.ipv4.tcp_rmem\",\"text\":\"4096 "
		"131072 6291456\"}",
		"{\"device\":\"\",\"op\":\"set\",\"set\":\"net.ipv4.tcp_rmem\",\"text\":\"4096 "
		"131072 8388608\"}",
		"{\"device\":\"\",\"op\":\"took\",\"set\":\"net.ipv4.tcp_rmem\",\"text\":\"4096 "
		"131072 8388608\"}",
		"{\"device\":\"\",\"op\":\"drop\",\"set\":\"net.ipv4.tcp_rmem\"}",
		"{\"op\":\"commit\",\"profile\":\"p\",\"since\":4}",
	};
	size_t used = 0;
	for (size_t k = 0; k <= i && i < ARRAY_SIZE(RECORDS); k++) {
		used += (size_t)line(buf + used, size - used, RECORDS[k]);
	}
	return used;
}
