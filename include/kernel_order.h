/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order in which kernels were released, told by their version strings alone. Also good for
 * drivers and firmware, whose numbers are compared as numbers.
 */
#ifndef TUNESWEEP_KERNEL_ORDER_H
#define TUNESWEEP_KERNEL_ORDER_H

/*
 * < 0, 0, > 0 as strcmp. Word by word: -rcN (and -preN, -testN) before the release, before its .N,
 * before a -suffix; numbers as numbers. "6.1" is the same release as "6.1.0". Strings that are the
 * same release in two spellings still differ, so that the order is total.
 */
int kernel_compare(const char *a, const char *b);

#endif
