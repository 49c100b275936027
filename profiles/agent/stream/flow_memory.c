/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that a flow's thread sends from or receives into: filled with what is not all zeros,
 * so that nothing on the way can find it easy, and so touched by the thread that uses it.
 */
#include "flow_private.h"
#include <string.h>
#include <sys/mman.h>

void *flow_map(struct flow_lane *lane, size_t size)
{
	uint64_t x = UINT64_C(0x9e3779b97f4a7c15);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		return NULL;
	}
	for (size_t i = 0; i + sizeof(x) <= size; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(p + i, &x, sizeof(x));
	}
	atomic_store(&lane->memory, p);
	return p;
}

void flow_unmap(struct flow_lane *lane, void *p, size_t size)
{
	atomic_store(&lane->memory, NULL);
	munmap(p, size);
}
