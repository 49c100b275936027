/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The inside of a session, shared by profiles/session*.c alone: its lock, the settings it tracks
 * with the values that are its own, and the journal's records of them. Records are
 *   {"op":"old",  "set":NAME, "device":D, "text":T}  value before the first change; of a device
 *                 also "ifindex", "bus" and "address", so that another one is never taken for it
 *   {"op":"set",  ...}  intent, on disk before the write
 *   {"op":"took", ...}  what was read back after it
 *   {"op":"drop", "set":NAME, "device":D}  back at its old value and no longer ours
 *   {"op":"commit", "profile":P, "since":T}  what is set now shall stay
 */
#ifndef TUNESWEEP_SESSION_PRIVATE_H
#define TUNESWEEP_SESSION_PRIVATE_H

#include "device.h"
#include "journal.h"
#include "session.h"

struct tracked {
	struct setting setting;
	struct device_binding device; /* of a device's setting */
	char old[SETTING_TEXT_MAX];
	char last[SETTING_TEXT_MAX]; /* what was read back last, else meant last; "" if never set */
	char **ours;		     /* distinct texts that were meant or read back */
	size_t n_ours;
	bool touched; /* there was an intent, or it was changed along with another */
	bool pending; /* an intent without its read-back: whatever it holds is ours */
};

struct session {
	struct sysroot root;
	char *prefix, *run_dir;
	char dir[256];
	struct journal_header header;
	int lock_fd;
	int kernel_fd; /* the kernel's lock, -1 while nothing of the kernel's is tracked */
	struct journal *journal;  /* NULL after a rollback, until something is tracked again */
	struct tracked **tracked; /* in the order in which they were first seen */
	size_t n;
	bool committed;
	bool keep;	  /* its journal was not understood: leave it as it is */
	char profile[64]; /* as opened; the header has that of the last commit */
};

struct change { /* of one setting, in one call of session_set */
	struct tracked *t;
	char before[SETTING_TEXT_MAX], want[SETTING_TEXT_MAX], after[SETTING_TEXT_MAX];
	bool write;
	char word[VALUE_TEXT_MAX]; /* that want was made from; "" if it was no such word */
	bool looks; /* another change of this call may change it along: it is read before */
};

struct plan {
	struct change *changes;
	size_t n;
};

/* Texts of one setting, compared field by field as numbers. */
static inline bool same_text(const char *a, const char *b)
{
	return value_text_equal(a, b);
}

/* Lock: 0 and the descriptor, or -EBUSY with the holder in the sentence. */
int session_lock(const char *run_dir, const char *dir, const char *layer, int *fd, struct err *e);
/* 0 if nobody holds that layer, else -EBUSY with the holder; asks again for wait_ms. */
int session_lock_probe(const char *dir, const char *layer, int wait_ms, struct err *e);
void session_lock_note(int fd, const char *layer); /* writes who holds it */
void session_unlock(int fd, const char *dir, const char *layer, bool remove);
uint64_t session_pid_start(void);

/* The kernel's lock, for whoever sets what is kernel_wide: 0 if it is held already; -EBUSY with the
 * holder after wait_ms. */
int session_lock_kernel(struct session *s, int wait_ms, struct err *e);

/* Tracked settings. */
struct tracked *session_find(const struct session *s, const struct setting *setting);
struct tracked *session_add(struct session *s, const struct setting *setting, const char *old,
			    struct err *e);
void session_forget(struct session *s, struct tracked *t);
void session_forget_all(struct session *s);
int session_replay(struct session *s, const json_t *records, struct err *e);
bool tracked_owns(const struct tracked *t, const char *text); /* field by field */

/* Appends a record of t, and keeps in mind what it says. */
int session_record(struct session *s, struct tracked *t, const char *op, const char *text,
		   bool sync, struct err *e);
/* Records that a setting is back at its old value, and forgets it. */
int session_drop(struct session *s, const struct setting *setting, struct err *e);
int session_mark_commit(struct session *s, struct err *e);

/* Around a write of a setting that changes others along with it: from before to after whatever
 * those hold is ours, then what was read. Errors are left to the write itself. */
void session_affect_begin(struct session *s, const struct setting *setting);
void session_affect_end(struct session *s, const struct setting *setting);
/* Does writing the one change the other along with it? */
bool session_affects(struct session *s, const struct setting *setting, const struct setting *other);

/* Which device a setting of one means, while it is still there; and the same device again, when a
 * journal is read (setting.ifindex: -1 if it is gone). */
int session_bind(struct session *s, struct setting *setting, struct device_binding *b,
		 struct err *e);
void session_find_device(struct session *s, struct tracked *t, const json_t *record);

/* Writes one setting; where that may drop the link, waits until it carries again. */
int session_write(struct session *s, const struct setting *setting, const char *text,
		  struct err *e);

/* What changes others along goes before them. Sets write and looks of each. */
void session_order(struct plan *p);
/* Has another change of this call changed what was read back of this one? */
bool session_was_changed(struct session *s, const struct change *c);

/* The journal is made when it is first needed, and after a rollback again. */
int session_need_journal(struct session *s, struct err *e);

#endif
