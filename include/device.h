/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Network interfaces as the session knows them: by index, so that a renamed one is still itself
 * and another one under the old name is not; what they are bound to; whether they carry a signal;
 * and which one leads to an address. For the session, the agent and the back ends.
 */
#ifndef TUNESWEEP_DEVICE_H
#define TUNESWEEP_DEVICE_H

#include "err.h"
#include "sysfile.h"
#include <net/if.h>
#include <stdbool.h>

struct device_binding { /* what a journal writes down of a device */
	int ifindex;
	char bus[64];	  /* "0000:00:03.0"; "" for what hangs on no bus (veth, bridge, ...) */
	char address[64]; /* permanent hardware address, "" if it has none */
};

/* What stands under this name now. -ENODEV */
int device_bind(const struct sysroot *root, const char *name, struct device_binding *out,
		struct err *e);

/* The same device's index now: its own, or that of the interface that its bus address has after a
 * driver was bound anew. -ENODEV: it is gone, or another one has its number. */
int device_find(const struct sysroot *root, const struct device_binding *b, int *ifindex,
		struct err *e);

/* Present name of an index, or index of a name, on the machine or in a recorded tree. -ENODEV */
int device_name(const struct sysroot *root, int ifindex, char name[IF_NAMESIZE], struct err *e);
int device_index(const struct sysroot *root, const char *name, int *ifindex, struct err *e);

/* Whether it is up and has a signal. */
bool device_carries(const struct sysroot *root, int ifindex);

/* Waits until it does, at most ms. -ENETDOWN */
int device_wait_carrier(const struct sysroot *root, int ifindex, int ms, struct err *e);

struct device_way {		  /* to an address */
	char device[IF_NAMESIZE]; /* that leads to it, or that has it */
	bool own;		  /* it is this host's */
	bool direct;		  /* there is no router between */
};

/* address: IPv4 or IPv6 as text. -ENETUNREACH */
int device_way_to(const char *address, struct device_way *out, struct err *e);
/* Its device alone. */
int device_toward(const char *address, char name[IF_NAMESIZE], struct err *e);

#endif
