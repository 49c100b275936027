/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A listen or connect request, checked and with the defaults of its drive filled in. Opens no
 * socket. Called by serve.c for each of the two requests.
 */
#include "stream_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KIB	     INT64_C(1024)
#define MIB	     (1024 * KIB)
#define MEMORY_MAX   (1024 * MIB)
#define CLASSIC_CALL (128 * KIB)
#define LIGHT_CALL   (2 * MIB)

#define WISH(member, lo, hi)                                                                       \
	{                                                                                          \
#member, offsetof(struct stream_wishes, member), lo, hi                            \
	}

/* 0 of a buffer or limit means: leave it to the kernel. */
static const struct wish {
	const char *name;
	size_t offset;
	int64_t min, max;
} wishes[] = {
	WISH(send_buffer, 0, INT32_MAX),
	WISH(receive_buffer, 0, INT32_MAX),
	WISH(message_size, 1, 256 * MIB),
	WISH(receive_size, 1, 256 * MIB),
	WISH(nodelay, 0, 1),
	WISH(cork, 0, 1),
	WISH(notsent_lowat, 0, INT32_MAX),
	WISH(receive_lowat, 0, INT32_MAX),
	WISH(busy_poll, 0, 10000000),
	WISH(pacing_rate, 0, INT64_MAX),
	WISH(ring, 1, 4096),
};

static int64_t *wish_of(struct stream_wishes *w, const struct wish *k)
{
	return (int64_t *)((char *)w + k->offset);
}

static const struct wish *wish_find(const char *name)
{
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		if (strcmp(wishes[i].name, name) == 0) {
			return &wishes[i];
		}
	}
	return NULL;
}

static int wishes_parse(const json_t *socket, struct stream_wishes *out, struct err *e)
{
	const char *name;
	json_t *v;
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		*wish_of(out, &wishes[i]) = STREAM_NOT_ASKED;
	}
	if (socket && !json_is_object(socket)) {
		return err_usage(e, "stream: \"socket\" must be an object");
	}
	json_object_foreach((json_t *)socket, name, v)
	{
		const struct wish *k = wish_find(name);
		if (!k) {
			return err_usage(e, "stream: there is no socket.%s", name);
		}
		if (!json_is_integer(v) && !json_is_boolean(v)) {
			return err_usage(e, "stream: socket.%s must be a whole number", name);
		}
		int64_t x = json_is_integer(v) ? json_integer_value(v) : json_is_true(v);
		if (x < k->min || x > k->max) {
			return err_usage(e, "stream: socket.%s is %lld, allowed is %lld to %lld",
					 name, (long long)x, (long long)k->min, (long long)k->max);
		}
		*wish_of(out, k) = x;
	}
	return 0;
}

static int text_parse(const json_t *request, const char *key, char *out, size_t size, struct err *e)
{
	const char *s = json_string_value(json_object_get(request, key));
	if (!s || !*s || strlen(s) >= size) {
		return err_usage(e, "stream: \"%s\" must be a text of 1 to %zu characters", key,
				 size - 1);
	}
	snprintf(out, size, "%s", s);
	return 0;
}

static int number_parse(const json_t *request, const char *key, int lo, int hi, int unset, int *out,
			struct err *e)
{
	const json_t *v = json_object_get(request, key);
	if (!v) {
		*out = unset;
		return 0;
	}
	json_int_t x = json_integer_value(v);
	if (!json_is_integer(v) || x < lo || x > hi) {
		return err_usage(e, "stream: \"%s\" must be a number from %d to %d", key, lo, hi);
	}
	*out = (int)x;
	return 0;
}

static int type_parse(const json_t *request, struct stream_options *o, struct err *e)
{
	char type[24], drive[16];
	int r = text_parse(request, "type", type, sizeof(type), e);
	if (r < 0) {
		return r;
	}
	bool reverse = strcmp(type, "tcp_maerts") == 0;
	if (!reverse && strcmp(type, "tcp_stream") != 0) {
		return err_usage(e,
				 "the test type %s is not there yet in the built-in engine; "
				 "there are tcp_stream and tcp_maerts",
				 type);
	}
	o->sends = o->connects != reverse;
	r = text_parse(request, "drive", drive, sizeof(drive), e);
	if (r < 0) {
		return r;
	}
	o->light = strcmp(drive, "light") == 0;
	if (!o->light && strcmp(drive, "classic") != 0) {
		return err_usage(e, "stream: the drive is classic or light, not %s", drive);
	}
	return 0;
}

static int sizes_fill(struct stream_options *o, struct err *e)
{
	int64_t asked = o->sends ? o->asked.message_size : o->asked.receive_size;
	int64_t ring = o->sends && o->asked.ring > 0 ? o->asked.ring : 1;
	int64_t size = asked > 0 ? asked : o->light ? LIGHT_CALL : CLASSIC_CALL;
	if (size * ring * o->streams > MEMORY_MAX) {
		return err_usage(e,
				 "stream: %d streams with %lld buffers of %lld bytes are over the "
				 "limit of 1GiB",
				 o->streams, (long long)ring, (long long)size);
	}
	o->call_size = (size_t)size;
	o->ring = (int)ring;
	return 0;
}

int stream_options_parse(const json_t *request, bool connects, struct stream_options *out,
			 struct err *e)
{
	memset(out, 0, sizeof(*out));
	out->connects = connects;
	out->autotune = json_is_true(json_object_get(request, "autotune"));
	int r = type_parse(request, out, e);
	if (r == 0) {
		r = text_parse(request, "address", out->address, sizeof(out->address), e);
	}
	if (r == 0) {
		r = text_parse(request, "token", out->token, sizeof(out->token), e);
	}
	if (r == 0) {
		r = number_parse(request, "port", connects ? 1 : 0, 65535, 0, &out->port, e);
	}
	if (r == 0) {
		r = number_parse(request, "streams", 1, STREAM_STREAMS_MAX, 1, &out->streams, e);
	}
	if (r == 0) {
		r = wishes_parse(json_object_get(request, "socket"), &out->asked, e);
	}
	if (r == 0 && connects && out->port == 0) {
		r = err_usage(e, "stream: connect wants a port");
	}
	return r < 0 ? r : sizes_fill(out, e);
}

const char *stream_role(const struct stream_options *o)
{
	return o->sends ? "sender" : "receiver";
}
