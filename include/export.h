/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile in the words of what a machine has already: sysctl.d, TuneD, systemd, udev, a shell
 * script, Ansible. A family: each format is a table of its own (export_private.h) that names what
 * it cannot express. Nothing is set and no machine is asked here; `export` does that. Called by the
 * command alone.
 */
#ifndef TUNESWEEP_EXPORT_H
#define TUNESWEEP_EXPORT_H

#include "err.h"
#include "profile.h"
#include <jansson.h>
#include <stdio.h>

struct export_format;

/* NULL-terminated names of all formats. */
const char *const *export_formats(void);
/* NULL if there is none of that name. */
const struct export_format *export_find(const char *name);
/* What a file's name ends in (".conf"), and where it belongs
 * ("/etc/sysctl.d/90-tunesweep-NAME.conf", for the comment and for people). */
const char *export_suffix(const struct export_format *f);

/* Wants every field of a setting, so that those that the profile does not name are to be asked of
 * the machine. */
bool export_wants_whole(const struct export_format *f);
/* One file is of one device. */
bool export_by_device(const struct export_format *f);

/* A setting's present text (tunable_read), or -errno where it is not known. */
typedef int export_present(void *ctx, const struct setting *s, char *text, size_t size);

struct export_request {
	const struct profile *profile;
	const char *host;	 /* as in the profile; "" for one without hosts */
	const char *device;	 /* of a format by device */
	const char *bus;	 /* the device's bus address ("0000:03:00.0"), or "" if not known */
	export_present *present; /* may be NULL */
	void *ctx;
};

/* Writes the file of one host. left: array of "KEY: why not", one a setting that the format cannot
 * express; filled: array of "KEY: text", one a setting whose other fields came from the machine. */
int export_write(const struct export_format *f, const struct export_request *r, FILE *out,
		 json_t *left, json_t *filled, struct err *e);

#endif
