/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of bench runs: regret a surface, paired ratios, tests until as good. Called by the bench
 * program only.
 */
#ifndef TUNESWEEP_SEARCH_REPORT_H
#define TUNESWEEP_SEARCH_REPORT_H

/* argv: the method that the others are compared with, then files of runs. Exit status. */
int bench_report(int argc, char **argv);

#endif
