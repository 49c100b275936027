/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For processes that answer in little time and must not wait for the streams, which fill the CPUs:
 * asks the scheduler for short turns, which it then gives sooner (EEVDF, since Linux 6.12). The
 * share of the CPU and the niceness stay the same. Threads and children inherit it, so that those
 * that move the streams ask for turns of the usual length again. Where the kernel does not know
 * it, nothing happens.
 */
#ifndef TUNESWEEP_SHORT_SLICE_H
#define TUNESWEEP_SHORT_SLICE_H

#include <linux/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHORT_SLICE_NS 200000

struct slice_attr { /* struct sched_attr of linux/sched/types.h, which clashes with sched.h */
	__u32 size, policy;
	__u64 flags;
	__s32 nice;
	__u32 priority;
	__u64 runtime, deadline, period;
};

/* Of the calling thread; 0: the usual one. */
static inline void slice_set(__u64 ns)
{
	struct slice_attr a = {0};
	if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) == 0 && a.policy == 0) {
		a.runtime = ns;
		syscall(SYS_sched_setattr, 0, &a, 0);
	}
}

static inline void short_slice(void)
{
	slice_set(SHORT_SLICE_NS);
}

static inline void usual_slice(void)
{
	slice_set(0);
}

#endif
