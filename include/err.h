/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a failure is told: a negative errno as the return value, and one sentence for the user in a
 * struct err, written where the failure happened. Callers add context at most once (err_wrap).
 * Nothing here prints.
 */
#ifndef TUNESWEEP_ERR_H
#define TUNESWEEP_ERR_H

/* Whose fault it is decides the exit status (INTERFACE: 3, 2, 4). */
enum err_class {
	ERR_SYSTEM,  /* the system refuses: permission, missing device, host not reached */
	ERR_USAGE,   /* what the user wrote is wrong: option, spec, profile */
	ERR_RESTORE, /* something could not be put back */
};

struct err {
	int code; /* negative errno, 0 if nothing failed */
	enum err_class class;
	char text[768];
};

/* Writes the sentence with class ERR_SYSTEM and returns code (negative; made so if not). */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same with class ERR_USAGE and code -EINVAL, which is returned. */
int err_usage(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " in front of the sentence that is there; code and class stay. Returns the code.
 */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
