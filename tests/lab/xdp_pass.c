/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaches an XDP program that lets all packets pass to a device, says "attached", and takes it off
 * again at the end of its input. For the test of the guard. Usage: xdp_pass DEVICE
 */
#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(void)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {0};
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uint64_t)(uintptr_t)pass;
	attr.insn_cnt = sizeof(pass) / sizeof(pass[0]);
	attr.license = (uint64_t)(uintptr_t) "GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

/* It is attached for as long as the link's descriptor is open. */
static int attach(int program, const char *device)
{
	union bpf_attr attr = {0};
	attr.link_create.prog_fd = (uint32_t)program;
	attr.link_create.target_ifindex = if_nametoindex(device);
	attr.link_create.attach_type = BPF_XDP;
	return bpf(BPF_LINK_CREATE, &attr);
}

int main(int argc, char **argv)
{
	char byte;
	int program = argc == 2 ? load() : -1;
	if (program < 0 || attach(program, argv[1]) < 0) {
		printf("failed: %s\n", argc == 2 ? strerror(errno) : "one device is wanted");
		return 1;
	}
	printf("attached\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0) {
	}
	return 0;
}
