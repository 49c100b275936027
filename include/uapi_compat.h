/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of the kernel's interface that the headers of Linux 6.1 do not have yet: a program built
 * there sets them on newer kernels, too. Used by the netlink back ends.
 */
#ifndef TUNESWEEP_UAPI_COMPAT_H
#define TUNESWEEP_UAPI_COMPAT_H

/* linux/if_link.h, since 6.3: the limits of IPv4 alone */
enum { COMPAT_IFLA_GSO_IPV4_MAX_SIZE = 63, COMPAT_IFLA_GRO_IPV4_MAX_SIZE = 64 };

/* linux/netdev.h, since 6.6, and what it has had since 6.8 (napi-get), 6.13 (napi-set) and 6.17 */
enum { COMPAT_NETDEV_NAPI_GET = 11, COMPAT_NETDEV_NAPI_SET = 14 };
enum {
	COMPAT_NAPI_IFINDEX = 1,
	COMPAT_NAPI_ID = 2,
	COMPAT_NAPI_DEFER_HARD_IRQS = 5,
	COMPAT_NAPI_GRO_FLUSH_TIMEOUT,
	COMPAT_NAPI_IRQ_SUSPEND_TIMEOUT,
	COMPAT_NAPI_THREADED
};

#endif
