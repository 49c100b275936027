/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The waiting side of apply --confirm: it keeps the agents awake and answers on its socket until it
 * is confirmed or until something ends it. It prints nothing: nobody listens any more. Called by
 * apply.
 */
#include "cleanup.h"
#include "cli_confirm.h"
#include "clock_ms.h"
#include "protocol.h"
#include "run_dir.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#define REQUEST_MS 2000 /* within the agents' patience */

struct waiter {
	int fd;
	struct sockaddr_un at;
	char profile[64];
	struct targets *targets;
	time_t until;
	enum { WAITING, CONFIRMED, TOLD_TO_END } state;
};

int waiter_open(struct waiter **out, const char *profile, struct err *e)
{
	char run_dir[256];
	struct waiter *w = calloc(1, sizeof(*w));
	if (!w) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	run_dir_default(run_dir, sizeof(run_dir));
	w->at.sun_family = AF_UNIX;
	*out = w;
	w->fd = -1;
	if (snprintf(w->at.sun_path, sizeof(w->at.sun_path), "%s/confirm-%d.sock", run_dir,
		     (int)getpid()) >= (int)sizeof(w->at.sun_path)) {
		return err_set(e, -ENAMETOOLONG, "%s: too long for a socket in it", run_dir);
	}
	snprintf(w->profile, sizeof(w->profile), "%s", profile);
	w->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mkdir(run_dir, 0755);
	unlink(w->at.sun_path); /* of a dead process with our number */
	mode_t old = umask(0177);
	int rc = w->fd < 0 || bind(w->fd, (struct sockaddr *)&w->at, sizeof(w->at)) ||
				 listen(w->fd, 8)
			 ? err_set(e, -errno, "cannot listen for a confirm on %s: %s",
				   w->at.sun_path, strerror(errno))
			 : 0;
	umask(old);
	return rc;
}

void waiter_close(struct waiter *w)
{
	if (!w) {
		return;
	}
	unlink(w->at.sun_path);
	cleanup_close(&w->fd);
	free(w);
}

static json_t *describe(const struct waiter *w)
{
	json_t *hosts = json_array();
	for (size_t i = 0; i < w->targets->n; i++) {
		const struct target *t = &w->targets->items[i];
		json_array_append_new(hosts,
				      json_pack("{s:s, s:s}", "name", t->name, "via", t->text));
	}
	return json_pack("{s:s, s:I, s:i, s:o}", "profile", w->profile, "until",
			 (json_int_t)w->until, "pid", (int)getpid(), "hosts", hosts);
}

static int tell_status(struct waiter *w, const json_t *request, json_t *answer, struct err *e)
{
	const char *via = json_string_value(json_object_get(request, "via"));
	for (size_t i = 0; via && i < w->targets->n; i++) {
		json_t *status = NULL;
		if (strcmp(w->targets->items[i].text, via) != 0) {
			continue;
		}
		int rc = agent_status(w->targets->items[i].agent, &status, e);
		if (rc == 0) {
			json_object_set_new(answer, "status", status);
		}
		return rc;
	}
	return err_set(e, -ENOENT, "no such host is held here");
}

static int carry_out(struct waiter *w, const json_t *request, json_t *answer, struct err *e)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	if (op && strcmp(op, "info") == 0) {
		auto_json json_t *told = describe(w);
		return json_object_update(answer, told);
	}
	if (op && strcmp(op, "status") == 0) {
		return tell_status(w, request, answer, e);
	}
	if (op && strcmp(op, "confirm") == 0) {
		int rc = targets_commit(w->targets, e);
		w->state = rc == 0 ? CONFIRMED : TOLD_TO_END;
		return rc;
	}
	if (op && strcmp(op, "rollback") == 0) {
		w->state = TOLD_TO_END;
		return targets_close(w->targets, e);
	}
	return err_usage(e, "an apply that waits is asked for info, status, confirm or rollback");
}

/* The socket is our user's alone; root may ask everybody. */
static bool is_ours(int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

/* One request of one caller. */
static void serve(struct waiter *w)
{
	struct channel ch;
	struct err e = {0};
	auto_json json_t *request = NULL;
	auto_close int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || !is_ours(fd) || channel_init(&ch, fd, fd)) {
		return;
	}
	if (channel_recv(&ch, REQUEST_MS, &request, &e) == 0) {
		auto_json json_t *told = json_object();
		int rc = carry_out(w, request, told, &e);
		auto_json json_t *answer = rc ? protocol_error(request, &e) : protocol_ok(request);
		json_object_update(answer, told);
		channel_send(&ch, answer, &e);
	}
	channel_clear(&ch);
}

/* A host that is lost puts itself back; then so must the others. */
static int keep_awake(struct targets *t, struct err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		int rc = agent_ping(t->items[i].agent, e);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

/* Returns why it ended. */
static const char *wait_loop(struct waiter *w, struct cli *c, int64_t deadline, struct err *lost)
{
	int64_t ping = 0;
	for (;;) {
		int64_t now = clock_ms(), next = ping < deadline ? ping : deadline;
		struct pollfd p[] = {{.fd = w->fd, .events = POLLIN},
				     {.fd = c->interrupt_fd, .events = POLLIN}};
		int n = poll(p, ARRAY_SIZE(p), next > now ? (int)(next - now) : 0);
		if (n > 0 && p[1].revents) {
			return "it was ended by a signal";
		}
		if (n > 0 && p[0].revents) {
			serve(w);
		}
		if (w->state != WAITING) {
			return w->state == CONFIRMED ? "it was confirmed" : "it was told to";
		}
		if (clock_ms() >= deadline) {
			return "no confirm came in time";
		}
		if (clock_ms() >= ping && keep_awake(w->targets, lost) < 0) {
			return lost->text;
		}
		ping = clock_ms() >= ping ? clock_ms() + PROTOCOL_HEARTBEAT_MS : ping;
	}
}

enum waiter_end waiter_wait(struct waiter *w, struct cli *c, struct targets *t, double seconds,
			    char *reason, size_t size, struct err *e)
{
	struct err lost = {0};
	w->targets = t;
	w->until = time(NULL) + (time_t)seconds;
	int64_t deadline = clock_ms() + (int64_t)(seconds * 1000);
	snprintf(reason, size, "%s", wait_loop(w, c, deadline, &lost));
	if (w->state == CONFIRMED) {
		return WAITER_CONFIRMED;
	}
	targets_close(t, e);
	return WAITER_ENDED;
}

/* The agents of those that were committed already can still put everything back. */
int targets_commit(struct targets *t, struct err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		int rc = agent_commit(t->items[i].agent, e);
		for (size_t k = 0; rc < 0 && k < i; k++) {
			struct err later = {0};
			if (agent_rollback(t->items[k].agent, false, NULL, &later) < 0 &&
			    later.class == ERR_RESTORE) {
				*e = later;
				rc = later.code;
			}
		}
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}
