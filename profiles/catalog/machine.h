/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of the catalogue: interrupts, packet steering, CPUs and the NUMA placement of the endpoints.
 * A part of catalog.c's table, read there only.
 */

