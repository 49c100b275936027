/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers of the kernel's interface that the headers of Linux 6.1 do not have yet: a program built
 * there sets them on newer kernels, too. Used by the netlink back ends.
 */
#ifndef TUNESWEEP_UAPI_COMPAT_H
#define TUNESWEEP_UAPI_COMPAT_H

/* linux/if_link.h, since 6.3: the limits of IPv4 alone */
enum { COMPAT_IFLA_GSO_IPV4_MAX_SIZE = 63, COMPAT_IFLA_GRO_IPV4_MAX_SIZE = 64 };

#endif
