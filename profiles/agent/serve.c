/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's loop: a line in, an answer out, and the dead-man's switch. Whatever ends it (end of
 * input, silence, a signal, bye) what was set and not committed is rolled back. Called by main.c.
 */
#include "agent_private.h"
#include "cleanup.h"
#include "clock_ms.h"
#include "short_slice.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUARDIANS_MAX  5
#define REFUSALS_MAX   20
#define STATUS_OK      0
#define STATUS_REFUSED 3
#define STATUS_RESTORE 4

static int block_signals(void)
{
	sigset_t set;
	/* A child that is only stopped ends no wait: whoever asks it has a limit. */
	struct sigaction children = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
	sigaction(SIGCHLD, &children, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A guardian that somebody killed is replaced, so that there is one whenever something is set. */
static void reap(struct agent_state *s)
{
	struct err e = {0};
	if (s->guardian.pid && waitpid(s->guardian.pid, NULL, WNOHANG) == s->guardian.pid) {
		close(s->guardian.tell);
		s->guardian = (struct guardian){.tell = -1};
		if (s->session && s->guardians < GUARDIANS_MAX && agent_guard(s, &e)) {
			s->note(e.text);
		}
	}
	if (s->endpoints.pid && waitpid(s->endpoints.pid, NULL, WNOHANG) == s->endpoints.pid) {
		close(s->endpoints.channel.in);
		channel_clear(&s->endpoints.channel);
		s->endpoints.pid = 0;
	}
}

/* true: leave. */
static bool take_signals(struct agent_state *s)
{
	struct signalfd_siginfo info;
	bool leave = false;
	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			reap(s);
		} else {
			leave = true;
		}
	}
	return leave;
}

/* What no controller of this version would ask is told on this host, too: one line each, without
 * what could forge another, and not without end. */
static void tell_refusal(struct agent_state *s, const struct err *e)
{
	char line[300];
	bool hostile = e->class == ERR_USAGE || e->code == -EPERM || e->code == -EBADMSG;
	if (!hostile || s->refusals > REFUSALS_MAX) {
		return;
	}
	bool last = s->refusals++ == REFUSALS_MAX;
	snprintf(line, sizeof(line), "refused: %.250s%s", e->text,
		 last ? " (what else is refused is not told)" : "");
	for (char *p = line; *p; p++) {
		*p = (unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p;
	}
	s->note(line);
}

/* What a failed operation has to tell beside the sentence (a report) goes along with it. */
static int answer_request(struct agent_state *s, struct channel *c, json_t *request)
{
	struct err e = {0};
	auto_json json_t *told = json_object();
	int rc = agent_dispatch(s, request, told, &e);
	if (rc) {
		tell_refusal(s, &e);
	}
	auto_json json_t *answer = rc ? protocol_error(request, &e) : protocol_ok(request);
	json_object_update(answer, told);
	rc = channel_send(c, answer, &e);
	if (rc == -EMSGSIZE) {
		auto_json json_t *failed = protocol_error(request, &e);
		rc = channel_send(c, failed, &e);
	}
	return rc;
}

/* One line, if a whole one is there. < 0: the controller is gone or cannot be followed any more. */
static int take_line(struct agent_state *s, struct channel *c, int64_t *heard)
{
	struct err e = {0};
	auto_json json_t *request = NULL;
	int rc = channel_recv(c, 0, &request, &e);
	if (rc == -ETIMEDOUT) {
		return 0;
	}
	if (rc == -EBADMSG) {
		tell_refusal(s, &e);
	}
	if (rc == -EBADMSG && c->used < PROTOCOL_LINE_MAX) {
		auto_json json_t *answer = protocol_error(NULL, &e);
		return channel_send(c, answer, &e);
	}
	if (rc == 0) {
		rc = answer_request(s, c, request);
		*heard = clock_ms(); /* the time that a request took is not silence */
	}
	return rc;
}

/* Milliseconds until silence has lasted too long; -1: no limit, for nothing is open. */
static int patience(const struct agent_state *s, int64_t heard)
{
	if (!s->session) {
		return -1;
	}
	int64_t left = heard + s->silence_ms - clock_ms();
	return left > 0 ? (int)left : 0;
}

/* true: a signal ended it, and the controller may still be there. */
static bool loop(struct agent_state *s, struct channel *c)
{
	int64_t heard = clock_ms();
	while (!s->leaving) {
		struct pollfd p[2] = {{.fd = c->in, .events = POLLIN},
				      {.fd = s->signal_fd, .events = POLLIN}};
		int limit = channel_pending(c) ? 0 : patience(s, heard);
		int n = poll(p, 2, limit);
		if (n < 0 && errno != EINTR) {
			return false;
		}
		if (n > 0 && p[1].revents && take_signals(s)) {
			return true;
		}
		if (channel_pending(c) || (n > 0 && p[0].revents)) {
			if (take_line(s, c, &heard) < 0) {
				return false;
			}
		}
		if (patience(s, heard) == 0) {
			s->note("the controller is silent");
			return false;
		}
	}
	return false;
}

/* An agent that a signal ends still says how it went. */
static void tell_end(struct channel *c, json_t *report, int rc, const struct err *cause)
{
	struct err none = {0};
	auto_json json_t *head = json_pack("{s:i}", "id", 0);
	auto_json json_t *words = rc ? protocol_error(head, cause) : protocol_ok(head);
	json_object_set_new(words, "op", json_string("end"));
	json_object_set(words, "report", report);
	channel_send(c, words, &none);
}

static int finish(struct agent_state *s, struct channel *c, bool tells, struct err *e)
{
	auto_json json_t *report = NULL;
	tells &= s->session != NULL;
	int rc = agent_finish(s, &report, e);
	if (tells) {
		report = report ? report : json_array();
		tell_end(c, report, rc, e);
	}
	return rc;
}

int agent_serve(int in, int out, const struct agent_options *o, void (*note)(const char *line))
{
	struct channel c;
	struct err e = {0};
	struct agent_state s = {.place = {.root = {.prefix = o->root}, .run_dir = o->run_dir},
				.silence_ms = o->silence_ms,
				.input = in,
				.guardian = {.tell = -1},
				.note = note};
	snprintf(s.netns_path, sizeof(s.netns_path), "%s", o->netns_path);
	s.place.netns_path = s.netns_path[0] ? s.netns_path : NULL;
	ops_find_control(&s);
	short_slice();
	s.signal_fd = block_signals();
	if (s.signal_fd < 0 || channel_init(&c, in, out)) {
		note("cannot start");
		return STATUS_REFUSED;
	}
	policy_load(&s.place.root, getuid(), &s.policy, &s.policy_error);
	bool by_signal = loop(&s, &c);
	int rc = finish(&s, &c, by_signal, &e);
	if (rc) {
		note(e.text);
	}
	endpoints_stop(&s.endpoints);
	channel_clear(&c);
	policy_free(s.policy);
	close(s.signal_fd);
	return rc ? STATUS_RESTORE : STATUS_OK;
}
