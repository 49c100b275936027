/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Release order of kernels. Both strings are read in step, one word at a time; the first words that
 * differ decide. Asks no kernel and no repository. Called when groups are put in order.
 */
#include "kernel_order.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* What may follow the same beginning, in order of release. */
enum rank { RANK_PRE, RANK_END, RANK_POINT, RANK_SUFFIX };

struct word {
	enum rank rank;
	const char *text; /* of the word, without its separator */
	size_t length;
	bool numeric;
};

struct reader {
	const char *at;
	int numbers;	/* read so far */
	bool in_suffix; /* after a -suffix, "." is only punctuation */
};

static bool is_pre_release(const char *s)
{
	static const char *const words[] = {"rc", "pre", "test"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);
		if (!strncmp(s, words[i], n) && isdigit((unsigned char)s[n])) {
			return true;
		}
	}
	return false;
}

/* 3.0 and later have releases of two numbers, which uname shows with .0 behind. */
static bool wants_zero(const struct reader *r)
{
	return r->numbers == 2 && !r->in_suffix && *r->at != '.';
}

static struct word next_word(struct reader *r)
{
	struct word w = {RANK_SUFFIX, r->at, 0, false};
	if (wants_zero(r)) {
		r->numbers++;
		return (struct word){RANK_POINT, "0", 1, true};
	}
	if (!*r->at) {
		w.rank = RANK_END;
		return w;
	}
	char separator = strchr(".-+_~", *r->at) ? *r->at++ : 0;
	w.text = r->at;
	w.numeric = isdigit((unsigned char)*r->at);
	while (*r->at && !strchr(".-+_~", *r->at) &&
	       w.numeric == (isdigit((unsigned char)*r->at) != 0)) {
		r->at++;
	}
	w.length = (size_t)(r->at - w.text);
	if (separator == '-' && is_pre_release(w.text)) {
		w.rank = RANK_PRE;
	} else if (w.numeric && !r->in_suffix && (separator == '.' || r->numbers == 0)) {
		w.rank = RANK_POINT;
		r->numbers++;
	}
	r->in_suffix |= w.rank != RANK_POINT;
	return w;
}

/* By value, also of numbers that fit no integer. */
static int compare_numbers(struct word a, struct word b)
{
	for (; a.length > 1 && *a.text == '0'; a.length--) {
		a.text++;
	}
	for (; b.length > 1 && *b.text == '0'; b.length--) {
		b.text++;
	}
	if (a.length != b.length) {
		return a.length < b.length ? -1 : 1;
	}
	return memcmp(a.text, b.text, a.length);
}

/* "rc" after "pre" after "test": the kernels of 2.4 had test, then pre; those since, rc. */
static int pre_rank(struct word w)
{
	return *w.text == 't' ? 0 : *w.text == 'p' ? 1 : 2;
}

static int compare_words(struct word a, struct word b)
{
	if (a.rank != b.rank) {
		return a.rank < b.rank ? -1 : 1;
	}
	if (a.rank == RANK_PRE && pre_rank(a) != pre_rank(b)) {
		return pre_rank(a) - pre_rank(b);
	}
	if (a.numeric && b.numeric) {
		return compare_numbers(a, b);
	}
	if (a.numeric != b.numeric) {
		return a.numeric ? -1 : 1;
	}
	size_t shorter = a.length < b.length ? a.length : b.length;
	int differ = memcmp(a.text, b.text, shorter);
	return differ ? differ : a.length < b.length ? -1 : a.length > b.length;
}

int kernel_compare(const char *a, const char *b)
{
	struct reader ra = {.at = a}, rb = {.at = b};
	for (;;) {
		struct word wa = next_word(&ra), wb = next_word(&rb);
		int differ = compare_words(wa, wb);
		if (differ) {
			return differ;
		}
		if (wa.rank == RANK_END) {
			return strcmp(a, b);
		}
	}
}
