/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of the export formats: what one has to offer, the settings it is given, and the ways
 * in which a setting can be set from a script. Used by profiles/export/ alone.
 */
#ifndef TUNESWEEP_EXPORT_FORMAT_H
#define TUNESWEEP_EXPORT_FORMAT_H

#include "export.h"

struct export_object { /* one kernel object, with all that the profile says of it */
	const struct profile_setting *parts[4]; /* one a field, or one for the whole */
	size_t n_parts;
	char text[VALUE_TEXT_MAX]; /* the whole, as the kernel writes it; "" if not known */
	char refused[160];	   /* why it cannot be expressed, else "" */
};

struct export_job {
	const struct export_request *request;
	char name[64]; /* the profile's, fit for a file's name */
	struct export_object *objects;
	size_t n;
};

struct export_format {
	const char *name, *suffix;
	const char *where; /* of the file, with %s for the profile's name */
	bool wants_whole, by_device;
	bool takes_application; /* the program's own settings are its business, too */
	/* NULL, or one sentence of why the setting cannot be expressed. */
	const char *(*refuses)(const struct export_object *o);
	/* Those that are refused are left out. */
	int (*write)(FILE *f, const struct export_job *j, struct err *e);
};

extern const struct export_format export_sysctl, export_tuned, export_link, export_udev,
	export_dropin, export_shell, export_ansible;

enum export_way_kind {
	WAY_FILE,    /* a text written to path, which may hold one '*' for several */
	WAY_COMMAND, /* program and words, fit for a shell */
};

struct export_way {
	enum export_way_kind kind;
	char path[200], text[VALUE_TEXT_MAX];
	char command[300], undo[300]; /* undo is "" where the old value is not known */
};

/* 0, or -EOPNOTSUPP for a setting that only tunesweep itself can set. */
int export_way(const struct export_object *o, struct export_way *way);

/* For scripts alone: a call of one of the functions in export_call_tools, for what no file and no
 * command says everywhere. -EOPNOTSUPP, and *why (or NULL), for a setting that has none. */
int export_call(const struct export_object *o, char *call, size_t size, const char **why);
extern const char export_call_tools[];

/* Of the setting itself. */
const struct setting *export_setting(const struct export_object *o);
static inline bool export_optional(const struct export_object *o)
{
	return o->parts[0]->optional;
}
/* A plain word: safe within the quotes of every format. */
bool export_is_plain(const char *text);
/* The rest of a name after a prefix ("nic.rings."), or NULL. */
const char *export_after(const char *name, const char *prefix);
/* The only part's value as on and off, or as a number. */
const char *export_switch(const struct export_object *o, const char *on, const char *off);

#endif
