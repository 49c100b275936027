/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For processes that answer in little time and must not wait for the streams, which fill the CPUs:
 * asks the scheduler for short turns, which it then gives sooner (EEVDF, since Linux 6.12). The
 * share of the CPU stays the same, and what is started later is scheduled as usual. Where the
 * kernel does not know it, nothing happens.
 */
#ifndef TUNESWEEP_SHORT_SLICE_H
#define TUNESWEEP_SHORT_SLICE_H

#include <linux/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORT_SLICE_NS	  200000
#define SHORT_SLICE_RESET 1 /* SCHED_FLAG_RESET_ON_FORK */

struct short_slice_attr { /* struct sched_attr of linux/sched/types.h, which clashes with sched.h */
	__u32 size, policy;
	__u64 flags;
	__s32 nice;
	__u32 priority;
	__u64 runtime, deadline, period;
};

static inline void short_slice(void)
{
	struct short_slice_attr a = {0};
	/* of the calling thread, whose policy and niceness stay */
	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) == 0 && a.policy == 0) {
		a.runtime = SHORT_SLICE_NS;
		a.flags = SHORT_SLICE_RESET;
		syscall(SYS_sched_setattr, 0, &a, 0);
	}
}

#endif
