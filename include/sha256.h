/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SHA-256 (FIPS 180-4) of a short text, for the name of a spec in results. Not for secrets and not
 * fast; none of the libraries that are linked has one.
 */
#ifndef TUNESWEEP_SHA256_H
#define TUNESWEEP_SHA256_H

#include <stddef.h>

/* Writes 64 lower-case hex digits and a NUL. */
void sha256_hex(const void *data, size_t size, char out[65]);

#endif
