/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scope-bound release of what C leaves to the programmer: auto_free, auto_close, auto_fclose and
 * auto_json are put before a local variable and release it on every way out of the block.
 */
#ifndef TUNESWEEP_CLEANUP_H
#define TUNESWEEP_CLEANUP_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f) {
		fclose(*f);
	}
}

static inline void cleanup_json(json_t **j)
{
	json_decref(*j);
}

#define auto_free   __attribute__((cleanup(cleanup_free)))
#define auto_close  __attribute__((cleanup(cleanup_close)))
#define auto_fclose __attribute__((cleanup(cleanup_fclose)))
#define auto_json   __attribute__((cleanup(cleanup_json)))

/* Hands a pointer or descriptor over to the caller: the local no longer releases it. */
#define take_ptr(p)                                                                                \
	__extension__({                                                                            \
		__typeof__(p) took_ = (p);                                                         \
		(p) = NULL;                                                                        \
		took_;                                                                             \
	})
#define take_fd(fd)                                                                                \
	__extension__({                                                                            \
		int took_ = (fd);                                                                  \
		(fd) = -1;                                                                         \
		took_;                                                                             \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
