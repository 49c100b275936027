/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's operations on its session: open, set, roll back, commit, leave. What is to be put
 * back when the agent dies is told to the guardian before each change. Reached by dispatch.c's
 * table.
 */
#include "agent_ops.h"
#include "cleanup.h"
#include "confine.h"
#include "privilege.h"
#include "run_dir.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static int need_session(const struct agent_state *s, struct err *e)
{
	return s->session ? 0 : err_usage(e, "nothing is open on this host");
}

/* CAP_NET_ADMIN, CAP_KILL for the child of another user, and what the entries want besides: those
 * that the request names, and those that the journal holds from before. */
static int cut_down(const struct agent_state *s, const struct setting *settings, size_t n,
		    struct err *e)
{
	cap_value_t keep[64];
	size_t n_keep = 0;
	uint64_t wanted = UINT64_C(1) << CAP_NET_ADMIN | UINT64_C(1) << CAP_KILL;
	wanted |= session_capabilities(s->session);
	for (size_t i = 0; i < n; i++) {
		wanted |= tunable_capabilities(&settings[i]);
	}
	if (geteuid() == 0) { /* root owns the files that others need it for */
		wanted &= ~(UINT64_C(1) << CAP_DAC_OVERRIDE);
	}
	for (cap_value_t cap = 0; cap < 64; cap++) {
		if (wanted >> cap & 1) {
			keep[n_keep++] = cap;
		}
	}
	int rc = privilege_keep(keep, n_keep, e);
	return rc ? rc : confine(CONFINE_AGENT, e);
}

int agent_guard(struct agent_state *s, struct err *e)
{
	int rc = guardian_start(&s->guardian, &s->place, s->layer, session_lock_fd(s->session),
				session_kernel_fd(s->session), e);
	if (rc == 0) {
		s->guardians++;
		guardian_tell(&s->guardian, s->dirty);
	}
	return rc;
}

static void tell_restored(struct agent_state *s, const struct session_report *r, json_t *answer)
{
	char line[200];
	json_object_set_new(answer, "restored", session_report_json(r));
	if (r->n) {
		snprintf(line, sizeof(line), "put back %zu settings that a crashed run had left",
			 r->n);
		s->note(line);
	} else if (r->note[0]) {
		s->note(r->note);
	}
}

/* The child is forked first: it must not have the lock, and users cannot be changed later. */
static int open_session(struct agent_state *s, const struct setting *settings, size_t n,
			json_t *answer, struct err *e)
{
	struct session_report restored = {0};
	int rc = run_dir_check(s->place.run_dir, e);
	rc = rc ? rc : endpoints_start(&s->endpoints, e);
	if (rc == 0) {
		rc = session_open(&s->place, s->layer, s->profile, &s->session, &restored, e);
	}
	tell_restored(s, &restored, answer);
	session_report_clear(&restored);
	if (rc) {
		s->session = NULL;
		return rc;
	}
	/* A sweep always ends as it began; what is applied may be there already and stays. */
	s->dirty = strcmp(s->layer, "sweep") == 0;
	rc = cut_down(s, settings, n, e);
	if (rc == 0) { /* before the guardian, which inherits the kernel's lock if that takes it */
		rc = session_track(s->session, settings, n, e);
	}
	if (rc == 0) {
		rc = agent_guard(s, e);
	}
	if (rc) {
		struct err later = {0};
		agent_finish(s, NULL, &later);
	}
	return rc;
}

/* What ends with this process cannot be kept after it. */
static int check_keepable(const char *layer, const struct setting *settings, size_t n,
			  struct err *e)
{
	for (size_t i = 0; strcmp(layer, "applied") == 0 && i < n; i++) {
		if (settings[i].tunable->held) {
			return err_usage(e,
					 "%s lasts only as long as the process that asks for it: a "
					 "sweep can try it, apply cannot keep it",
					 settings[i].name);
		}
	}
	return 0;
}

int op_open(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	const char *layer, *profile;
	const json_t *list;
	size_t n;
	auto_free struct setting *settings = calloc(OPS_SETTINGS_MAX, sizeof(*settings));
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s:s, s:s, s:o}",
			   OPS_HEAD_INTO(h), "layer", &layer, "profile", &profile, "settings",
			   &list)) {
		return ops_misunderstood(e, &why);
	}
	if (s->session) {
		return err_usage(e, "the %s layer is open already", s->layer);
	}
	if (strcmp(layer, "sweep") != 0 && strcmp(layer, "applied") != 0) {
		return err_usage(e, "there is no layer \"%s\": sweep or applied", layer);
	}
	int rc = settings ? ops_take_settings(s, list, settings, &n, e)
			  : err_set(e, -ENOMEM, "no memory");
	rc = rc ? rc : check_keepable(layer, settings, n, e);
	if (rc) {
		return rc;
	}
	snprintf(s->layer, sizeof(s->layer), "%s", layer);
	snprintf(s->profile, sizeof(s->profile), "%s", profile);
	/* Who only looks at what is applied needs no folder to be told that it is nothing. */
	struct err none = {0};
	s->vacant = strcmp(layer, "applied") == 0 && !*profile && n == 0 &&
		    run_dir_check(s->place.run_dir, &none) == -ENOENT;
	if (s->vacant) {
		json_object_set_new(answer, "restored", json_array());
		return 0;
	}
	return open_session(s, settings, n, answer, e);
}

static void mark(struct agent_state *s, bool dirty)
{
	s->dirty = dirty;
	guardian_tell(&s->guardian, dirty);
}

/* What was not named on open is tracked now. If that takes the kernel's lock, a guardian that holds
 * it, too, replaces the former one, before anything is set. */
static int track_more(struct agent_state *s, const struct assignment *a, size_t n, struct err *e)
{
	auto_free struct setting *settings = calloc(n + 1, sizeof(*settings));
	int before = session_kernel_fd(s->session);
	if (!settings) {
		return err_set(e, -ENOMEM, "no memory");
	}
	for (size_t i = 0; i < n; i++) {
		settings[i] = a[i].setting;
	}
	int rc = session_track(s->session, settings, n, e);
	if (rc == 0 && before < 0 && session_kernel_fd(s->session) >= 0) {
		struct guardian former = s->guardian;
		rc = agent_guard(s, e);
		guardian_end(rc ? &(struct guardian){0} : &former);
	}
	return rc;
}

/* For the time of a sweep nobody else shall move any interrupt; what is applied only takes its own
 * out of irqbalance's hands. */
static int pause_irqbalance(struct agent_state *s, const struct assignment *a, size_t n,
			    struct err *e)
{
	struct assignment pause = {.value = value_text("paused")};
	char now[SETTING_TEXT_MAX];
	bool moves = false;
	for (size_t i = 0; i < n; i++) {
		moves = moves || a[i].setting.tunable->backend == BACKEND_IRQ;
	}
	if (!moves || strcmp(s->layer, "sweep") != 0 ||
	    tunable_resolve("irq.irqbalance", "", "", &pause.setting, NULL) ||
	    tunable_read(&s->place.root, &pause.setting, now, sizeof(now), NULL)) {
		return 0;
	}
	return session_set(s->session, &pause, 1, NULL, e);
}

int op_set(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	auto_free struct assignment *a = NULL;
	size_t n;
	int rc = need_session(s, e);
	if (rc == 0) {
		rc = ops_take_assignments(s, request, &a, &n, e);
	}
	rc = rc ? rc : ops_guard_all(s, a, n, e);
	if (rc) {
		return rc;
	}
	auto_free struct value *effective = calloc(n + 1, sizeof(*effective));
	rc = track_more(s, a, n, e);
	if (rc) {
		return rc;
	}
	mark(s, true);
	rc = pause_irqbalance(s, a, n, e);
	rc = rc ? rc : session_set(s->session, a, n, effective, e);
	json_t *list = json_array();
	for (size_t i = 0; rc == 0 && effective && i < n; i++) {
		json_array_append_new(list, value_to_json(&effective[i]));
	}
	json_object_set_new(answer, "effective", list);
	return rc;
}

int op_replace(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	auto_free struct assignment *a = NULL;
	size_t n;
	(void)answer;
	int rc = need_session(s, e);
	if (rc == 0) {
		rc = ops_take_assignments(s, request, &a, &n, e);
	}
	rc = rc ? rc : ops_guard_all(s, a, n, e);
	rc = rc ? rc : track_more(s, a, n, e);
	if (rc) {
		return rc;
	}
	mark(s, true);
	return session_replace(s->session, a, n, e);
}

int op_rollback(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	int force, rc = s->vacant ? 0 : need_session(s, e);
	struct session_report report = {0};
	if (rc == 0 && json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s:b}",
				      OPS_HEAD_INTO(h), "force", &force)) {
		rc = ops_misunderstood(e, &why);
	}
	if (rc) {
		return rc;
	}
	mark(s, true);
	rc = session_rollback(s->session, force, &report, e);
	json_object_set_new(answer, "report", session_report_json(&report));
	session_report_clear(&report);
	if (rc == 0) {
		mark(s, false);
	}
	return rc;
}

int op_commit(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	(void)answer;
	int rc = ops_only_head(request, e);
	rc = rc ? rc : need_session(s, e);
	if (rc == 0 && strcmp(s->layer, "applied") != 0) {
		rc = err_usage(e, "what a sweep sets is never kept");
	}
	rc = rc ? rc : session_commit(s->session, e);
	if (rc == 0) {
		mark(s, false);
	}
	return rc;
}

int op_status(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	json_t *settings = NULL;
	int rc = ops_only_head(request, e);
	if (rc == 0 && s->vacant) {
		return json_object_update_new(answer,
					      json_pack("{s:s, s:s, s:i, s:[]}", "layer", s->layer,
							"profile", "", "since", 0, "settings"));
	}
	rc = rc ? rc : need_session(s, e);
	rc = rc ? rc : session_status(s->session, &settings, e);
	if (rc == 0) {
		const struct journal_header *h = session_header(s->session);
		json_object_set_new(answer, "layer", json_string(h->layer));
		json_object_set_new(answer, "profile", json_string(h->profile));
		json_object_set_new(answer, "since", json_integer((json_int_t)h->since));
		json_object_set_new(answer, "settings", settings);
	}
	return rc;
}

int agent_finish(struct agent_state *s, json_t **report, struct err *e)
{
	int rc = 0;
	if (!s->session) {
		return 0;
	}
	if (s->dirty) {
		struct session_report r = {0};
		rc = session_rollback(s->session, false, &r, e);
		if (report) {
			*report = session_report_json(&r);
		}
		session_report_clear(&r);
	}
	s->dirty = false;
	guardian_tell(&s->guardian, false);
	guardian_end(&s->guardian);
	session_close(s->session);
	s->session = NULL;
	return rc;
}

int op_bye(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	json_t *report = NULL;
	int rc = ops_only_head(request, e);
	if (rc) {
		return rc;
	}
	rc = agent_finish(s, &report, e);
	json_object_set_new(answer, "report", report ? report : json_array());
	s->leaving = true;
	return rc;
}
