/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of the catalogue: interrupts, packet steering, CPUs and the NUMA placement of the endpoints.
 * A part of catalog.c's table, read there only. A choice "#-#" stands for any list of CPUs, a # at
 * the end of another one for a number.
 */
DEVICE_ENTRY("irq.affinity", BACKEND_IRQ, SAFE, VALUE_TEXT, UNIT_NONE, 0, 0,
	     .choices = WORDS("spread", "local-node", "one", "same-as-receiver", "#-#",
			      TUNABLE_AS_FOUND),
	     .affects = {"irq.irqbalance"}, .kernel_wide = true, .capabilities = OF_ROOT,
	     .help = "CPUs to which the interrupts of the device's queues come, one for each "
		     "queue: spread over all, those of its node, one, the endpoint's, or a "
		     "list in turn."),
	{.name = "irq.irqbalance",
	 .backend = BACKEND_IRQBALANCE,
	 .scope = SCOPE_HOST,
	 .class = SAFE,
	 .type = VALUE_TEXT,
	 .choices = WORDS("running", "paused", TUNABLE_AS_FOUND),
	 .kernel_wide = true,
	 .capabilities = CAPABILITY(CAP_KILL),
	 .help = "The daemon that moves interrupts by itself. A sweep over irq.affinity pauses it; "
		 "apply has it spare the interrupts that are set, or pauses it where it has no "
		 "socket."},
	DEVICE_ENTRY(
		"msix.vectors", BACKEND_MSIX_VECTORS, CLASS_DRIVER_REBIND, VALUE_INT, UNIT_COUNT, 0,
		4096, .kernel_wide = true,
		.help = "MSI-X vectors that the device has in use; its driver makes them for its "
			"channels."),
	DEVICE_ENTRY(
		"msix.mode", BACKEND_MSIX, CLASS_DRIVER_REBIND, VALUE_TEXT, UNIT_NONE, 0, 0,
		.choices = WORDS("msix", "msi", "intx"), .cost = COST_REBIND, .kernel_wide = true,
		.capabilities = CAPABILITY(CAP_SYS_ADMIN) | OF_ROOT,
		.affects = {"irq.affinity", "rps.cpus", "xps.cpus", "link.mtu"},
		.help = "How the device interrupts: a message a queue, one message, or a line. "
			"Its driver is bound anew."),
	DEVICE_ENTRY(
		"rps.cpus", BACKEND_STEER, SAFE, VALUE_TEXT, UNIT_NONE, 0, 0,
		.choices = WORDS("none", "spread", "local-node", "#-#", TUNABLE_AS_FOUND),
		.capabilities = OF_ROOT,
		.help = "CPUs that go on with received packets of each queue: none (the one that "
			"was interrupted), all of them shared out, those of the device's node, "
			"or a list."),
	DEVICE_ENTRY(
		"rps.flow_entries", BACKEND_STEER_FLOWS, SAFE, VALUE_INT, UNIT_COUNT, 0, 1 << 29,
		.capabilities = OF_ROOT,
		.help = "Flows of each queue that are steered to the CPU of their reader; wants "
			"net.core.rps_sock_flow_entries too."),
	DEVICE_ENTRY(
		"xps.cpus", BACKEND_STEER, SAFE, VALUE_TEXT, UNIT_NONE, 0, 0,
		.choices = WORDS("none", "spread", "local-node", "#-#", TUNABLE_AS_FOUND),
		.capabilities = OF_ROOT,
		.help = "CPUs that send through each transmit queue: none (by hash), all of them "
			"shared out, those of the device's node, or a list."),
	{.name = "cpu.governor",
	 .backend = BACKEND_CPU,
	 .scope = SCOPE_HOST,
	 .class = SAFE,
	 .type = VALUE_TEXT,
	 .affects = {"cpu.energy_preference"},
	 .kernel_wide = true,
	 .capabilities = OF_ROOT,
	 .help = "Who chooses the frequency of the CPUs."},
	{.name = "cpu.energy_preference",
	 .backend = BACKEND_CPU,
	 .scope = SCOPE_HOST,
	 .class = SAFE,
	 .type = VALUE_TEXT,
	 .kernel_wide = true,
	 .capabilities = OF_ROOT,
	 .help = "What the CPUs themselves weigh more, speed or energy."},
	{.name = "cpu.latency",
	 .backend = BACKEND_CPU_LATENCY,
	 .scope = SCOPE_HOST,
	 .class = SAFE,
	 .type = VALUE_INT,
	 .unit = UNIT_US,
	 .min = 0,
	 .max = 2000000000,
	 .held = true,
	 .kernel_wide = true,
	 .help = "How long a CPU may take to wake: deeper sleep is not entered. Held while the "
		 "test "
		 "runs; 2000 s is no wish."},
	{.name = "numa.policy",
	 .backend = BACKEND_NUMA,
	 .scope = SCOPE_RUN,
	 .class = SAFE,
	 .type = VALUE_TEXT,
	 .choices = WORDS("default", "local", "interleave", "bind:#", "preferred:#"),
	 .help = "Where the endpoint's memory comes from."},
	{.name = "numa.cpu",
	 .backend = BACKEND_NUMA,
	 .scope = SCOPE_RUN,
	 .class = SAFE,
	 .type = VALUE_TEXT,
	 .choices = WORDS("nic-node", "other-node", "all", "#-#"),
	 .help = "CPUs on which the endpoint may run: those of the device's node, of another, all, "
		 "or a list."},
