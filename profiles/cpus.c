/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of CPUs from and to the kernel's two spellings. It opens nothing. Called by the back ends
 * that place interrupts, queues and processes.
 */
#include "cpus.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const char *text, struct err *e)
{
	return err_usage(e, "'%.60s' is not a list of CPUs such as 0-3,8 (each below %d)", text,
			 CPU_SETSIZE);
}

/* One number and what follows it; -1 for none or one that is too large. */
static long number_at(const char **p)
{
	char *end;
	if (!isdigit((unsigned char)**p)) {
		return -1;
	}
	errno = 0;
	long n = strtol(*p, &end, 10);
	*p = end;
	return errno || n >= CPU_SETSIZE ? -1 : n;
}

int cpus_parse_list(const char *text, cpu_set_t *out, struct err *e)
{
	CPU_ZERO(out);
	if (!*text) {
		return 0;
	}
	for (const char *p = text;; p++) {
		long from = number_at(&p), to = from;
		if (from >= 0 && *p == '-') {
			p++;
			to = number_at(&p);
		}
		if (from < 0 || to < from || (*p && *p != ',')) {
			return refuse(text, e);
		}
		for (long i = from; i <= to; i++) {
			CPU_SET(i, out);
		}
		if (!*p) {
			return 0;
		}
	}
}

int cpus_parse_mask(const char *text, cpu_set_t *out, struct err *e)
{
	static const char digits[] = "0123456789abcdef";
	size_t bit = 0;
	CPU_ZERO(out);
	for (const char *p = text + strlen(text); p-- > text;) {
		const char *d = *p == ',' ? NULL : strchr(digits, tolower((unsigned char)*p));
		int value = d ? (int)(d - digits) : 0;
		if (*p == ',') {
			continue;
		}
		for (int i = 0; i < 4; i++, bit++) {
			if (!d || (value >> i & 1 && bit >= CPU_SETSIZE)) {
				return err_usage(e, "'%.60s' is not a mask of CPUs", text);
			}
			if (value >> i & 1) {
				CPU_SET(bit, out);
			}
		}
	}
	return 0;
}

int cpus_format_list(const cpu_set_t *set, char *out, size_t size)
{
	size_t used = 0;
	*out = 0;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, set)) {
			continue;
		}
		int last = i;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set)) {
			last++;
		}
		int n = snprintf(out + used, size - used, last > i ? "%s%d-%d" : "%s%d",
				 used ? "," : "", i, last);
		if (n < 0 || (size_t)n >= size - used) {
			return -ENAMETOOLONG;
		}
		used += (size_t)n;
		i = last;
	}
	return 0;
}

static unsigned word_of(const cpu_set_t *set, int word)
{
	unsigned value = 0;
	for (int i = 0; i < 32; i++) {
		value |= CPU_ISSET(word * 32 + i, set) ? 1U << i : 0;
	}
	return value;
}

int cpus_format_mask(const cpu_set_t *set, char *out, size_t size)
{
	int word = CPU_SETSIZE / 32 - 1;
	while (word > 0 && !word_of(set, word)) {
		word--;
	}
	int n = snprintf(out, size, "%x", word_of(set, word));
	size_t used = (size_t)n;
	while (word-- > 0 && used < size) {
		n = snprintf(out + used, size - used, ",%08x", word_of(set, word));
		used += (size_t)n;
	}
	return used < size ? 0 : -ENAMETOOLONG;
}

int cpus_first(const cpu_set_t *set)
{
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, set)) {
			return i;
		}
	}
	return -1;
}

bool cpus_within(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both;
	CPU_AND(&both, a, b);
	return CPU_EQUAL(&both, a);
}
