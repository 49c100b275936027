/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a fuzz target offers. Linked with plain.c it is a test: its seeds and the files below its
 * corpus folders, each as it is and changed many times in ways that repeat. Built by clang with
 * -fsanitize=fuzzer (make fuzz) it runs until it is stopped.
 */
#ifndef TUNESWEEP_FUZZ_H
#define TUNESWEEP_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Must come back from anything; aborts where something does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Seed number i into buf, its length; 0 after the last. Made of the catalogue's own names where
 * they matter. */
size_t fuzz_seed(size_t i, char *buf, size_t size);

extern const char *const fuzz_folders[]; /* of corpus files, from the top of the tree; NULL ends */

#define FUZZ_MUST(holds)                                                                           \
	do {                                                                                       \
		if (!(holds)) {                                                                    \
			__builtin_trap();                                                          \
		}                                                                                  \
	} while (0)

#endif
