/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record on disk that lets a machine be put back after any crash: old values, written and
 * synced before the first change. It knows files and records, not tunables' meaning and not when
 * to roll back; the session decides that. Format: one record a line, an FNV-1a checksum in hex, a
 * blank, a JSON object. Reading stops at the first line that is torn or does not match.
 */
#ifndef TUNESWEEP_JOURNAL_H
#define TUNESWEEP_JOURNAL_H

#include "err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct journal;

struct journal_header {
	char layer[16]; /* "sweep" or "applied" */
	char boot_id[40];
	uint64_t netns_cookie; /* see netns.h; 0 if unknown */
	char netns_path[128];  /* /run/netns/NAME, or "" */
	pid_t pid;	       /* the holder (the agent), and its start time in clock ticks */
	uint64_t pid_start;
	int64_t since;	  /* seconds since the epoch */
	char profile[64]; /* name of what is applied, or of the sweep */
};

/* Creates DIR/LAYER.journal with its header, synced with its folder. -EEXIST if there is one. */
int journal_create(const char *dir, const struct journal_header *h, struct journal **out,
		   struct err *e);

/* Opens an existing one for appending; records (may be NULL) gets a new array of the believed
 * records, the header not among them. -ENOENT if there is none; -EBADMSG if not even the header
 * can be believed. A torn tail is cut off. */
int journal_open(const char *dir, const char *layer, struct journal_header *h, json_t **records,
		 struct journal **out, struct err *e);

/* Removes what a journal_create that was killed has left: it never had a journal's name. */
void journal_tidy(const char *dir, const char *layer);

/* Appends one record; with sync it is on disk when this returns. */
int journal_append(struct journal *j, const json_t *record, bool sync, struct err *e);

int journal_remove(struct journal *j,
		   struct err *e);     /* unlinks; journal_close still has to follow */
void journal_close(struct journal *j); /* keeps the file */

#endif
