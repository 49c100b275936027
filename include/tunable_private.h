/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a back end offers, seen by tunable*.c and the files under profiles/tunable/ only. A back end
 * may leave an operation NULL: then such settings cannot be read or written.
 */
#ifndef TUNESWEEP_TUNABLE_PRIVATE_H
#define TUNESWEEP_TUNABLE_PRIVATE_H

#include "tunable.h"

struct tunable_ops {
	/* Fills settable, why_not, present and choices; the range is filled in from the catalogue
	 * before. As tunable_probe. */
	int (*probe)(const struct sysroot *root, const struct setting *s, const char *field,
		     struct tunable_range *range, struct err *e);
	/* The kernel's text; the caller makes it canonical. */
	int (*read)(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e);
	int (*write)(const struct sysroot *root, const struct setting *s, const char *text,
		     struct err *e);
	bool by_name; /* wants the present name of the device, which may have been renamed */
	/* As tunable_plan and tunable_word; NULL where texts stand for themselves. */
	int (*plan)(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e);
	bool (*word)(const struct sysroot *root, const struct setting *s, const char *text,
		     struct value *out);
	/* Canonical names of settings that a catalogue name with a star stands for on this host
	 * (and the device of s, whose write changes them along); returns how many. */
	size_t (*expand)(const struct sysroot *root, const struct setting *s, const char *pattern,
			 char (*names)[TUNABLE_NAME_MAX], size_t max);
	/* Is b a part of what a sets (a feature of tso)? Asks no host. */
	bool (*covers)(const struct setting *a, const struct setting *b);
};

extern const struct tunable_ops sysctl_ops;
extern const struct tunable_ops link_ops;
extern const struct tunable_ops ethtool_ops;
extern const struct tunable_ops route_ops;
extern const struct tunable_ops qdisc_ops;

/* Index and present name of a setting's device. -ENODEV: gone; -EINVAL: nobody has named one. */
int setting_device(const struct sysroot *root, const struct setting *s, int *ifindex,
		   char name[IF_NAMESIZE], struct err *e);

/* Fills present and settable by reading; false, with the reason in why_not, if that fails. */
bool setting_present(const struct sysroot *root, const struct setting *s, const char *field,
		     const struct tunable_ops *ops, struct tunable_range *range);
extern const struct tunable_ops napi_ops, irq_ops, irqbalance_ops, rps_ops, rps_flow_ops;
extern const struct tunable_ops cpu_ops, cpu_latency_ops;
extern const struct tunable_ops msix_ops, msix_vectors_ops, ipoib_ops;

/* 0 for "" and for the name of one of its fields. */
int tunable_check_field(const struct setting *s, const char *field, struct err *e);

#endif
