/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is this host fit to measure, and healthy: looks at the machine, its NICs, and who else sets what
 * is tuned here, and says of each finding what it costs and how to mend it. Sets nothing. The agent
 * asks it on each host (`tunesweep doctor`, and the start of a sweep for doctor_owners).
 */
#ifndef TUNESWEEP_DOCTOR_H
#define TUNESWEEP_DOCTOR_H

#include "err.h"
#include "sysfile.h"
#include <jansson.h>
#include <time.h>

/* What only the kernel's calls tell, and no file. A test passes its own. -1, "" and 0 counts mean
 * "not known". */
#define DOCTOR_OFFLOADS 6

struct doctor_nic {
	int64_t speed_max;	/* Mbit/s, the fastest mode that the card supports */
	int pause_rx, pause_tx; /* booleans */
	int64_t fec_corrected, fec_uncorrectable; /* blocks since the driver's start */
	int64_t symbol_errors;			  /* of the PHY */
	char firmware[64];
	size_t n_off;
	char off[DOCTOR_OFFLOADS][32]; /* offloads that could be on, and are off */
};

struct doctor_source {
	const struct sysroot *root;
	double watch; /* s that traffic and CPU are watched */
	int64_t now;  /* s since 1970 */
	void (*nic)(const char *device, struct doctor_nic *out); /* may be NULL */
	int (*clock_synced)(void); /* 1, 0, or -1 if not known; may be NULL */
};

/* Of the running kernel: root is "/", one second, all calls. */
struct doctor_source doctor_kernel(const struct sysroot *root);

/*
 * {"findings": [{"check": "cpu.governor", "level": "problem" | "note", "device": name or null,
 * "found": sentence, "cost": sentence, "mend": sentence}], "checked": [names of all checks]}.
 * "problem": measurements or throughput suffer; "note": worth knowing. Only NICs with hardware that
 * are up count, or the one named by device.
 */
int doctor_examine(const struct doctor_source *source, const char *device, json_t **out,
		   struct err *e);

/* Who else sets tunables of the catalogue here: [{"who": "/etc/sysctl.d/10-x.conf" or "irqbalance
 * (pid 812)", "sets": ["net.ipv4.tcp_rmem", ...] or ["irq.affinity"]}]. A new array. */
json_t *doctor_owners(const struct sysroot *root);

#endif
