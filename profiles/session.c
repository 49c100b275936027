/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life of a session: lock and journal of one layer in one network namespace, what a crash has
 * left there, commit and close. Setting is session/set.c's, putting back session/rollback.c's.
 * Called by the agent, its guardian and the restore after a crash.
 */
#include "cleanup.h"
#include "netns.h"
#include "session_private.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int session_dir(const struct session_place *place, char *buf, size_t size, struct err *e)
{
	int n = snprintf(buf, size, "%s/net-%" PRIu64, place->run_dir, netns_cookie());
	return n > 0 && (size_t)n < size
		       ? 0
		       : err_set(e, -ENAMETOOLONG, "%s: the path is too long", place->run_dir);
}

static void fill_header(struct session *s, const struct session_place *place, const char *layer,
			const char *profile)
{
	struct journal_header *h = &s->header;
	snprintf(h->layer, sizeof(h->layer), "%s", layer);
	snprintf(h->profile, sizeof(h->profile), "%s", profile ? profile : "");
	snprintf(h->netns_path, sizeof(h->netns_path), "%s",
		 place->netns_path ? place->netns_path : "");
	sysfile_read(&s->root, "/proc/sys/kernel/random/boot_id", h->boot_id, sizeof(h->boot_id),
		     NULL);
	h->netns_cookie = netns_cookie();
	h->pid = getpid();
	h->pid_start = session_pid_start();
	h->since = time(NULL);
}

static void session_free(struct session *s)
{
	session_forget_all(s);
	journal_close(s->journal);
	free(s->prefix);
	free(s->run_dir);
	free(s);
}

static struct session *session_new(const struct session_place *place, const char *layer,
				   const char *profile, struct err *e)
{
	if (strcmp(layer, "sweep") && strcmp(layer, "applied")) {
		err_usage(e, "there is no layer '%.40s' (allowed: sweep, applied)", layer);
		return NULL;
	}
	struct session *s = calloc(1, sizeof(*s));
	if (!s) {
		err_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	s->lock_fd = s->kernel_fd = -1;
	s->prefix = strdup(place->root.prefix ? place->root.prefix : "");
	s->run_dir = strdup(place->run_dir);
	s->root.prefix = s->prefix;
	if (!s->prefix || !s->run_dir) {
		err_set(e, -ENOMEM, "out of memory");
		session_free(s);
		return NULL;
	}
	if (session_dir(place, s->dir, sizeof(s->dir), e)) {
		session_free(s);
		return NULL;
	}
	snprintf(s->profile, sizeof(s->profile), "%s", profile ? profile : "");
	fill_header(s, place, layer, profile);
	return s;
}

/* Another boot, or another namespace: what the journal speaks of does not exist any more. */
static bool of_elsewhere(const struct journal_header *now, const struct journal_header *then)
{
	bool boot = *now->boot_id && *then->boot_id && strcmp(now->boot_id, then->boot_id);
	bool net = now->netns_cookie && then->netns_cookie &&
		   now->netns_cookie != then->netns_cookie;
	return boot || net;
}

/* Opens the layer's journal, if there is one, and knows what it tracks. note: why it was thrown
 * away, of size 160. */
static int load_journal(struct session *s, char *note, struct err *e)
{
	struct journal_header then;
	auto_json json_t *records = NULL;
	int r = journal_open(s->dir, s->header.layer, &then, &records, &s->journal, e);
	if (r == -ENOENT) {
		return 0;
	}
	if (r) {
		return r;
	}
	if (of_elsewhere(&s->header, &then)) {
		snprintf(note, 160, "a journal of another boot or namespace (%.60s) was discarded",
			 then.profile);
		r = journal_remove(s->journal, e);
		journal_close(s->journal);
		s->journal = NULL;
		return r;
	}
	r = session_replay(s, records, e);
	if (!s->committed) {
		snprintf(s->header.profile, sizeof(s->header.profile), "%s", then.profile);
	}
	return r;
}

/* What a crashed holder has left, before anything new is begun. */
static int recover(struct session *s, struct session_report *report, struct err *e)
{
	struct session_report own = {0};
	char note[sizeof(own.note)] = "";
	int r = load_journal(s, note, e);
	if (!r && s->journal && !s->committed) {
		r = session_rollback(s, false, &own, e);
		r = r && s->committed ? 0 : r; /* conflicts are kept as what is applied */
	}
	snprintf(own.note, sizeof(own.note), "%s", note);
	if (report) {
		*report = own;
	} else {
		session_report_clear(&own);
	}
	if (r) {
		s->keep = true;
		err_wrap(e, "what a crash has left");
	}
	return r;
}

/* What is applied must not be changed under a sweep, whose baseline it is, and a sweep must not
 * begin in the middle of an apply. What a crashed sweep has left lies on top, and goes back first.
 */
static int check_other_layer(const struct session_place *place, const struct session *s,
			     struct err *e)
{
	if (strcmp(s->header.layer, "sweep") == 0) {
		return session_lock_probe(s->dir, "applied", 2000, e);
	}
	struct session_report left = {0};
	int r = session_restore(place, "sweep", &left, e);
	session_report_clear(&left);
	return r ? r : session_lock_probe(s->dir, "sweep", 0, e);
}

int session_open(const struct session_place *place, const char *layer, const char *profile,
		 struct session **out, struct session_report *restored, struct err *e)
{
	*out = NULL;
	if (restored) {
		memset(restored, 0, sizeof(*restored));
	}
	struct session *s = session_new(place, layer, profile, e);
	if (!s) {
		return e && e->code ? e->code : -ENOMEM;
	}
	int r = session_lock(s->run_dir, s->dir, layer, &s->lock_fd, e);
	if (r) {
		session_free(s);
		return r;
	}
	session_lock_note(s->lock_fd, layer);
	r = check_other_layer(place, s, e);
	r = r ? r : recover(s, restored, e);
	if (!r && !s->committed) {
		fill_header(s, place, layer, profile);
	}
	r = r ? r : session_need_journal(s, e);
	if (r) {
		session_close(s);
		return r;
	}
	*out = s;
	return 0;
}

int session_adopt(const struct session_place *place, const char *layer, int lock_fd, int kernel_fd,
		  struct session **out, struct err *e)
{
	char note[160];
	*out = NULL;
	struct session *s = session_new(place, layer, NULL, e);
	if (!s) {
		return e && e->code ? e->code : -ENOMEM;
	}
	int r = load_journal(s, note, e);
	if (r || !s->journal || s->committed) {
		session_free(s);
		return r;
	}
	s->lock_fd = lock_fd;
	s->kernel_fd = kernel_fd;
	session_lock_note(lock_fd, layer);
	if (kernel_fd >= 0) {
		session_lock_note(kernel_fd, "kernel");
	}
	*out = s;
	return 0;
}

int session_restore(const struct session_place *place, const char *layer,
		    struct session_report *report, struct err *e)
{
	struct err busy = {0};
	memset(report, 0, sizeof(*report));
	struct session *s = session_new(place, layer, NULL, e);
	if (!s) {
		return e && e->code ? e->code : -ENOMEM;
	}
	if (access(s->dir, F_OK)) { /* nothing was ever set here: leave no trace of having looked */
		session_free(s);
		return 0;
	}
	int r = session_lock(s->run_dir, s->dir, layer, &s->lock_fd, &busy);
	if (r) {
		session_free(s);
		return r == -EBUSY ? 0 : err_set(e, r, "%s", busy.text);
	}
	r = recover(s, report, e);
	session_close(s);
	return r;
}

int session_await(const struct session_place *place, const char *layer, int wait_ms, struct err *e)
{
	char dir[256];
	int r = session_dir(place, dir, sizeof(dir), e);
	return r ? r : session_lock_probe(dir, layer, wait_ms, e);
}

int session_commit(struct session *s, struct err *e)
{
	if (strcmp(s->header.layer, "applied")) {
		return err_set(e, -EINVAL, "the %s layer is always rolled back", s->header.layer);
	}
	if (*s->profile) {
		snprintf(s->header.profile, sizeof(s->header.profile), "%s", s->profile);
		s->header.since = time(NULL);
	}
	return session_mark_commit(s, e);
}

bool session_committed(const struct session *s)
{
	return s->committed;
}

const struct journal_header *session_header(const struct session *s)
{
	return &s->header;
}

int session_status(struct session *s, json_t **out, struct err *e)
{
	json_t *array = json_array();
	for (size_t i = 0; array && i < s->n; i++) {
		const struct tracked *t = s->tracked[i];
		char present[SETTING_TEXT_MAX];
		bool there = !tunable_read(&s->root, &t->setting, present, sizeof(present), NULL);
		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:s, s:s?, s:s?}", "set",
						t->setting.name, "device", t->setting.device, "old",
						t->old, "value", t->touched ? t->last : NULL,
						"present", there ? present : NULL));
	}
	*out = array;
	return array ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static bool anything_set(const struct session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->tracked[i]->touched) {
			return true;
		}
	}
	return false;
}

void session_close(struct session *s)
{
	if (!s) {
		return;
	}
	bool needed = s->keep || (s->committed ? s->n > 0 : anything_set(s));
	if (s->journal && !needed && !journal_remove(s->journal, NULL)) {
		journal_close(s->journal);
		s->journal = NULL;
	}
	if (s->lock_fd >= 0) {
		journal_tidy(s->dir, s->header.layer);
		session_unlock(s->lock_fd, s->dir, s->header.layer, !s->journal);
	}
	cleanup_close(&s->kernel_fd);
	session_free(s);
}

int session_lock_fd(const struct session *s)
{
	return s->lock_fd;
}

int session_kernel_fd(const struct session *s)
{
	return s->kernel_fd;
}
