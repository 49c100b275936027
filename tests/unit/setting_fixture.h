/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A setting by its name, and what it holds below a root, where a test has no use for a failure.
 */
#ifndef TUNESWEEP_SETTING_FIXTURE_H
#define TUNESWEEP_SETTING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "tunable.h"
#include <cmocka.h>

static inline struct setting setting_of(const char *name, const char *device)
{
	struct setting s;
	struct err e = {0};
	if (tunable_resolve(name, NULL, device, &s, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

/* Valid until the next call. */
static inline const char *setting_present(const struct sysroot *root, const char *name,
					  const char *device)
{
	static char text[SETTING_TEXT_MAX];
	struct err e = {0};
	struct setting s = setting_of(name, device);
	if (tunable_read(root, &s, text, sizeof(text), &e)) {
		fail_msg("%s", e.text);
	}
	return text;
}

#endif
