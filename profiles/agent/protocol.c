/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of JSON over a pair of descriptors, with limits on size and time, and the two shapes of an
 * answer. It knows no operation by name. Used by the controller's client, the agent and the
 * endpoints' child.
 */
#include "protocol.h"
#include "cleanup.h"
#include "clock_ms.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

int channel_init(struct channel *c, int in, int out)
{
	*c = (struct channel){.in = in, .out = out, .buf = malloc(PROTOCOL_LINE_MAX)};
	return c->buf ? 0 : -ENOMEM;
}

void channel_clear(struct channel *c)
{
	free(c->buf);
	*c = (struct channel){.in = -1, .out = -1};
}

/* 1 when an event is there, 0 after the time, < 0 on error. deadline < 0: no limit. */
static int wait_for(int fd, short events, int64_t deadline)
{
	for (;;) {
		int64_t left = deadline < 0 ? -1 : deadline - clock_ms();
		if (deadline >= 0 && left < 0) {
			left = 0;
		}
		struct pollfd p = {.fd = fd, .events = events};
		int n = poll(&p, 1, left > INT_MAX ? INT_MAX : (int)left);
		if (n >= 0) {
			return n;
		}
		if (errno != EINTR) {
			return -errno;
		}
	}
}

/* A descriptor that polls as writable takes PIPE_BUF bytes without blocking, whatever its flags:
 * so nobody's open file description has to be made non-blocking. */
static int write_all(int fd, const char *p, size_t left, struct err *e)
{
	int64_t deadline = clock_ms() + PROTOCOL_SILENCE_MS;
	while (left) {
		int rc = wait_for(fd, POLLOUT, deadline);
		if (rc == 0) {
			return err_set(e, -ETIMEDOUT, "the other side takes no data");
		}
		ssize_t n = rc < 0 ? -1 : write(fd, p, left < PIPE_BUF ? left : PIPE_BUF);
		if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
			continue;
		}
		if (n < 0) {
			return err_set(e, errno, "cannot send: %s", strerror(errno));
		}
		p += n;
		left -= (size_t)n;
	}
	return 0;
}

int channel_send(struct channel *c, const json_t *msg, struct err *e)
{
	auto_free char *text = json_is_object(msg) ? json_dumps(msg, JSON_COMPACT) : NULL;
	if (!text) {
		return err_set(e, -EINVAL, "a message that is not a JSON object cannot be sent");
	}
	size_t n = strlen(text);
	if (n + 1 > PROTOCOL_LINE_MAX) {
		return err_set(e, -EMSGSIZE, "a message of %zu bytes is longer than %d", n,
			       PROTOCOL_LINE_MAX);
	}
	text[n] = '\n'; /* in place of the terminator: one write for a short line */
	return write_all(c->out, text, n + 1, e);
}

bool channel_pending(const struct channel *c)
{
	return memchr(c->buf, '\n', c->used);
}

/* Takes the first line off the buffer and parses it. */
static int take_line(struct channel *c, size_t len, json_t **msg, struct err *e)
{
	json_error_t why;
	json_t *j = json_loadb(c->buf, len, JSON_REJECT_DUPLICATES, &why);
	c->used -= len + 1;
	memmove(c->buf, c->buf + len + 1, c->used);
	if (!j) {
		return err_set(e, -EBADMSG, "not a line of JSON: %s", why.text);
	}
	if (!json_is_object(j)) {
		json_decref(j);
		return err_set(e, -EBADMSG, "a line of JSON that is not an object");
	}
	*msg = j;
	return 0;
}

static int fill(struct channel *c, int64_t deadline, struct err *e)
{
	int rc = wait_for(c->in, POLLIN, deadline);
	if (rc == 0) {
		return err_set(e, -ETIMEDOUT, "no line in time");
	}
	ssize_t n = rc < 0 ? -1 : read(c->in, c->buf + c->used, PROTOCOL_LINE_MAX - c->used);
	if (n == 0 || (n < 0 && errno == ECONNRESET)) {
		return err_set(e, -EPIPE, c->used ? "end of input inside a line" : "end of input");
	}
	if (n < 0) {
		return errno == EINTR || errno == EAGAIN
			       ? 0
			       : err_set(e, errno, "cannot read: %s", strerror(errno));
	}
	c->used += (size_t)n;
	return 0;
}

int channel_recv(struct channel *c, int timeout_ms, json_t **msg, struct err *e)
{
	int64_t deadline = timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
	*msg = NULL;
	for (;;) {
		const char *end = memchr(c->buf, '\n', c->used);
		if (end) {
			return take_line(c, (size_t)(end - c->buf), msg, e);
		}
		if (c->used == PROTOCOL_LINE_MAX) {
			return err_set(e, -EBADMSG, "a line longer than %d bytes",
				       PROTOCOL_LINE_MAX);
		}
		int rc = fill(c, deadline, e);
		if (rc) {
			return rc;
		}
	}
}

static json_t *answer(const json_t *request, bool ok)
{
	json_t *id = json_object_get(request, "id");
	return json_pack("{s:I, s:b}", "id", json_integer_value(id), "ok", ok);
}

json_t *protocol_ok(const json_t *request)
{
	return answer(request, true);
}

static const char *const CLASSES[] = {
	[ERR_SYSTEM] = "system", [ERR_USAGE] = "usage", [ERR_RESTORE] = "restore"};

json_t *protocol_error(const json_t *request, const struct err *e)
{
	json_t *a = answer(request, false);
	/* The sentence may quote bytes that are not UTF-8: those cannot travel. */
	json_t *text = json_string(e->text);
	json_object_set_new(a, "code", json_integer(e->code));
	json_object_set_new(a, "class", json_string(CLASSES[e->class]));
	json_object_set_new(a, "error", text ? text : json_string("error text is not UTF-8"));
	return a;
}

int protocol_result(const json_t *msg, struct err *e)
{
	const json_t *ok = json_object_get(msg, "ok");
	if (json_is_true(ok)) {
		return 0;
	}
	const char *text = json_string_value(json_object_get(msg, "error"));
	const char *class = json_string_value(json_object_get(msg, "class"));
	json_int_t code = json_integer_value(json_object_get(msg, "code"));
	if (!json_is_false(ok) || !text || !class) {
		return err_set(e, -EBADMSG, "an answer that is neither ok nor an error");
	}
	int rc = err_set(e, code < 0 && code > -4096 ? (int)code : -EIO, "%s", text);
	for (size_t i = 0; e && i < ARRAY_SIZE(CLASSES); i++) {
		if (strcmp(class, CLASSES[i]) == 0) {
			e->class = (enum err_class)i;
		}
	}
	return rc;
}
