/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one table of all that can be set, joined from a file of rows a family; a new tunable is a row
 * there. A star in a sysctl's name stands for one component, a star at the end of another name for
 * all the rest. Data only: tunable.c and the commands that list the catalogue read it.
 */
#include "tunable.h"
#include <limits.h>
#include <linux/capability.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): these are initialisers */
#define BOOLEAN(name, class, says)                                                                 \
	{                                                                                          \
		name, BACKEND_SYSCTL, SCOPE_HOST, class, VALUE_BOOL, UNIT_NONE, 0, 1, {NULL},      \
			NULL, {NULL}, .help = says                                                 \
	}
#define NUMBER(name, class, unit, min, max, says)                                                  \
	{                                                                                          \
		name, BACKEND_SYSCTL, SCOPE_HOST, class, VALUE_INT, unit, min, max, {NULL}, NULL,  \
			{NULL}, .help = says                                                       \
	}
#define TRIPLE(name, unit, min, max, says)                                                         \
	{                                                                                          \
		name, BACKEND_SYSCTL, SCOPE_HOST, CLASS_SAFE, VALUE_INT, unit, min, max,           \
			{"min", "default", "max"}, NULL, {NULL}, .help = says                      \
	}
#define WORD(name, class, says)                                                                    \
	{                                                                                          \
		name, BACKEND_SYSCTL, SCOPE_HOST, class, VALUE_TEXT, UNIT_NONE, 0, 0, {NULL},      \
			NULL, {NULL}, .help = says                                                 \
	}
#define CAPABILITY(number) (UINT64_C(1) << (number))
/* Root owns these files, and needs it not; whoever else may set them does. */
#define OF_ROOT CAPABILITY(CAP_DAC_OVERRIDE)
/* As NUMBER, of what all network namespaces share. */
#define KERNEL_NUMBER(entry, kind, in, low, high, says)                                            \
	{                                                                                          \
		.name = entry, .backend = BACKEND_SYSCTL, .scope = SCOPE_HOST, .class = kind,      \
		.type = VALUE_INT, .unit = in, .min = low, .max = high, .kernel_wide = true,       \
		.help = says                                                                       \
	}
/* One of two that exclude each other. */
#define EITHER(entry, in, low, high, other, says)                                                  \
	{                                                                                          \
		.name = entry, .backend = BACKEND_SYSCTL, .scope = SCOPE_HOST,                     \
		.class = CLASS_SAFE, .type = VALUE_INT, .unit = in, .min = low, .max = high,       \
		.affects = {other}, .excludes = other, .kernel_wide = true, .help = says           \
	}
#define SAFE	   CLASS_SAFE
#define UNSAFE	   CLASS_UNSAFE
#define DISRUPTIVE CLASS_DISRUPTIVE
#define SOCKET(name, type, unit, min, max, says)                                                   \
	{                                                                                          \
		"socket." name, BACKEND_SOCKET, SCOPE_RUN, CLASS_SAFE, type, unit, min, max,       \
			{NULL}, NULL, {NULL}, .help = says                                         \
	}
/* An entry of one interface. */
#define DEVICE_ENTRY(entry, back, kind, value, in, low, high, ...)                                 \
	{                                                                                          \
		.name = entry, .backend = back, .scope = SCOPE_HOST, .class = kind, .type = value, \
		.unit = in, .min = low, .max = high, .device = true, __VA_ARGS__                   \
	}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
static const char *const route_features[] = {"none", "ecn", NULL};

static const struct tunable rows[] = {
#include "catalog/sysctl.h"
/* one interface and what hangs on it */
#include "catalog/nic.h"
/* interrupts, steering and CPUs */
#include "catalog/machine.h"
/* sockets and processes of the test */
#include "catalog/run.h"
};

/* NOLINTEND(bugprone-macro-parentheses) */
const struct tunable *tunable_catalog(size_t *n)
{
	*n = sizeof(rows) / sizeof(rows[0]);
	return rows;
}
