/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison in sentences. Only results/compare.c and results/compare/ include this.
 */
#ifndef TUNESWEEP_COMPARE_WORDS_H
#define TUNESWEEP_COMPARE_WORDS_H

#include <jansson.h>

/* Array of sentences out of compare.h's object (without "words"). */
json_t *compare_words(const json_t *comparison);

#endif
