/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep restore: puts back what killed runs and applies have left on this machine, in all its
 * network namespaces, and nothing else: what is applied stays. Every command that sets something
 * does the same first; this one is for the timer that looks after a crash.
 */
#include "cli.h"

const struct command command_restore = {
	.name = "restore",
	.arguments = "",
	.summary = "Put back what a crash has left; what is applied stays",
	.needs_launcher = true,
	.run = cli_restore_crashed,
};
