/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of the catalogue: what belongs to one interface, its link, its hardware, its routes and its
 * queueing discipline. A part of catalog.c's table, read there only.
 */
