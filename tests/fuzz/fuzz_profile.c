/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile from a stranger: whatever is taken is in the catalogue or allowed as unlisted, and
 * within its range.
 */
#include "cleanup.h"
#include "fuzz.h"
#include "profile.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const char *const fuzz_folders[] = {"profiles/shipped", NULL};

static void check(const struct profile *p)
{
	for (size_t i = 0; i < p->n_settings; i++) {
		const struct assignment *a = &p->settings[i].assignment;
		const struct tunable *t = a->setting.tunable;
		FUZZ_MUST(t && t->scope == SCOPE_HOST && !strstr(a->setting.name, ".."));
		FUZZ_MUST(t->class != CLASS_UNLISTED || (p->allow & 1u << CLASS_UNLISTED));
		FUZZ_MUST(!tunable_check(&a->setting, a->field, &a->value, NULL));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct profile p;
	struct err e = {0};
	snprintf(path, sizeof(path), "%s/fuzz-profile-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	int fd = mkostemp(path, O_CLOEXEC);
	FUZZ_MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	int rc = profile_load(path, &p, &e);
	unlink(path);
	if (rc == 0) {
		check(&p);
		profile_clear(&p);
		return 0;
	}
	FUZZ_MUST(e.text[0]);
	return 0;
}

size_t fuzz_seed(size_t i, char *buf, size_t size)
{
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	if (i >= n) {
		return 0;
	}
	const char *field = rows[i].fields[0];
	int used = snprintf(buf, size,
			    "tunesweep_profile: 1\nname: x\nallow: [unsafe, disruptive]\n"
			    "settings:\n  - {set: \"%s\", %s%s%s value: %lld}\n",
			    rows[i].name, field ? "field: " : "", field ? field : "",
			    field ? "," : "", (long long)rows[i].max);
	return used > 0 && (size_t)used < size ? (size_t)used : 0;
}
