/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the checks of the doctor share: how they read, and how they say what they found. Seen by
 * profiles/doctor/ alone. A check is one function; doctor.c has the table of them.
 */
#ifndef TUNESWEEP_DOCTOR_PRIVATE_H
#define TUNESWEEP_DOCTOR_PRIVATE_H

#include "cleanup.h"
#include "doctor.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCTOR_NICS_MAX = 64 };

struct doctor {
	const struct doctor_source *source;
	const struct sysroot *root;
	char (*nics)[64]; /* those that are looked at */
	size_t n_nics;
	const char *check;  /* which one runs */
	const char *device; /* of a check of a NIC, else NULL */
	json_t *findings;
};

struct doctor_words { /* printf text is made by the caller where it varies */
	const char *cost, *mend;
};

/* level: "problem" or "note". */
void doctor_tell(struct doctor *d, const char *level, struct doctor_words w, const char *found, ...)
	__attribute__((format(printf, 4, 5)));

/* Text of a small file, "" if there is none; returns buf. path by printf. */
const char *doctor_text(const struct doctor *d, char *buf, size_t size, const char *path, ...)
	__attribute__((format(printf, 4, 5)));
/* A whole number, also one with words behind it ("8.0 GT/s PCIe" is 8); -1 if there is none. */
int64_t doctor_number(const struct doctor *d, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

void check_governor(struct doctor *d);
void check_boost(struct doctor *d);
void check_idle_states(struct doctor *d);
void check_smt(struct doctor *d);
void check_throttling(struct doctor *d);
void check_nodes(struct doctor *d);
void check_virtual(struct doctor *d);
void check_clock(struct doctor *d);
void check_firmware(struct doctor *d);
void check_iommu(struct doctor *d);
void check_busy(struct doctor *d);
void check_owners(struct doctor *d);

void check_pci_link(struct doctor *d); /* of d->device, as those that follow */
void check_nic_node(struct doctor *d);
void check_nic_link(struct doctor *d);
void check_nic_errors(struct doctor *d);
void check_nic_settings(struct doctor *d);

#endif
