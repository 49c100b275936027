/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The transaction in which values are set: snapshot, journal, set, read back, commit or roll back.
 * One session is one layer ("sweep" or "applied") in one network namespace. Called by the agent,
 * its guardian, and the restore after a crash; never by the controller.
 */
#ifndef TUNESWEEP_SESSION_H
#define TUNESWEEP_SESSION_H

#include "err.h"
#include "journal.h"
#include "sysfile.h"
#include "tunable.h"
#include <jansson.h>
#include <stdbool.h>

struct session;

struct session_place {
	struct sysroot root;
	const char *run_dir;	/* "/run/tunesweep" */
	const char *netns_path; /* "/run/netns/NAME" if known, else NULL */
};

enum session_outcome {
	RESTORED,  /* set back and read back */
	UNCHANGED, /* was as before already */
	CONFLICT,  /* someone else has changed it since: left as it is */
	GONE,	   /* device or key is no longer there */
	FAILED,	   /* the kernel refused, or another value was read back */
};

struct session_item { /* what became of one setting in a rollback */
	struct setting setting;
	char old[SETTING_TEXT_MAX], found[SETTING_TEXT_MAX];
	enum session_outcome outcome;
	char reason[160];
};

struct session_report {
	size_t n, n_failed, n_conflict;
	struct session_item *items; /* freed by session_report_clear */
	char note[160];		    /* one sentence, or "": a journal was discarded, and why */
};

/* Takes the namespace's lock and that layer's journal. If a crashed holder left a journal of the
 * same layer, it is rolled back first (report tells; may be NULL). -EBUSY names the holder: pid
 * and since when; also that of the other layer: nothing is applied under a sweep. For "applied" an
 * existing journal of a *finished* apply is continued. */
int session_open(const struct session_place *place, const char *layer, const char *profile,
		 struct session **out, struct session_report *restored, struct err *e);

/* Old values of these settings into the journal, synced; those already there are left. Of vm,
 * kernel, irq, msix and cpu the kernel's lock is taken, too: -EBUSY names who holds it. */
int session_track(struct session *s, const struct setting *settings, size_t n, struct err *e);

/*
 * Sets the values (tracked first if they were not), one write a setting however many of its fields
 * are named, nothing where nothing differs; reads back into effective[n] (may be NULL). After a
 * refused write the settings of this call are put back as they were before it, and the error names
 * the setting: a trial that fails leaves no half of itself.
 */
int session_set(struct session *s, const struct assignment *a, size_t n, struct value *effective,
		struct err *e);

/* Like session_set for a complete configuration: tracked settings that are not named go back to
 * their old values. Used by apply over an applied profile. */
int session_replace(struct session *s, const struct assignment *a, size_t n, struct err *e);

/* Everything back in reverse order, going on after errors; force also overwrites conflicts. The
 * journal goes only when each value has been read back. 0, or -EIO (ERR_RESTORE) naming what could
 * not be restored. A conflict of layer "applied" is such an error, and stays in the journal, the
 * only copy of its old value; one of "sweep" is only reported. Without a session (NULL) there is
 * nothing to do. */
int session_rollback(struct session *s, bool force, struct session_report *report, struct err *e);

/* Layer "applied": what is set now stays when the session is closed; the journal keeps the way
 * back. -EINVAL for "sweep". Whatever is set afterwards wants another commit. The name given to
 * session_open becomes that of what is applied. */
int session_commit(struct session *s, struct err *e);
bool session_committed(const struct session *s); /* nothing was set since the last commit */

/* Layer, profile and since of what is set: of the last commit, else of the opening. */
const struct journal_header *session_header(const struct session *s);

/* For the guardian, which has inherited the locks' descriptors (kernel_fd: -1 if there was none):
 * takes over the journal of its dead agent. *out is NULL (and the descriptors still the caller's)
 * where nothing is to be put back: no journal, or a committed one. */
int session_adopt(const struct session_place *place, const char *layer, int lock_fd, int kernel_fd,
		  struct session **out, struct err *e);

/* For the next command: rolls back what a dead holder has left. 0 with an empty report when there
 * is nothing, when what is there is committed, or when the holder lives. */
int session_restore(const struct session_place *place, const char *layer,
		    struct session_report *report, struct err *e);

/* Waits until nobody holds that layer any more: 0, or -EBUSY with the holder after wait_ms. */
int session_await(const struct session_place *place, const char *layer, int wait_ms, struct err *e);

/* What is set now: per tracked setting old, set and present value (a JSON array of
 * {set, device, old, value, present}). */
int session_status(struct session *s, json_t **out, struct err *e);

/* What no longer is as this session has set it: an array of {set, device, meant, found}. */
int session_drifted(struct session *s, json_t **out, struct err *e);
/* Devices that it tracks an entry of; returns how many, at most max. */
size_t session_devices(const struct session *s, const char *name, char (*devices)[IF_NAMESIZE],
		       size_t max);

/* As tunable_capabilities, of all that it tracks: also of what was there before it was opened. */
uint64_t session_capabilities(const struct session *s);

/* Gives up the lock; the journal stays if anything is still set. */
void session_close(struct session *s);

/* The locks' descriptors, for a guardian that shall go on holding them. The kernel's is -1 until
 * something is tracked that all namespaces share. */
int session_lock_fd(const struct session *s);
int session_kernel_fd(const struct session *s);

void session_report_clear(struct session_report *r);
json_t *session_report_json(const struct session_report *r);

/* Folder of this namespace below run_dir, e.g. "/run/tunesweep/net-4026". */
int session_dir(const struct session_place *place, char *buf, size_t size, struct err *e);

#endif
