/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A listen or connect request, checked and with the defaults of its drive filled in. Opens no
 * socket. Called by serve.c for each of the two requests.
 */
#include "stream_private.h"
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define KIB	     INT64_C(1024)
#define MIB	     (1024 * KIB)
#define MEMORY_MAX   (1024 * MIB)
#define CLASSIC_CALL (128 * KIB)
#define LIGHT_CALL   (4 * MIB)
#define UDP_CALL     1472 /* what an Ethernet frame holds over IPv4 */

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

static const char *const types[] = {
	[STREAM_TCP] = "tcp_stream", [STREAM_MAERTS] = "tcp_maerts", [STREAM_BIDIR] = "tcp_bidir",
	[STREAM_UDP] = "udp_stream", [STREAM_RR] = "tcp_rr",	     NULL};
static const char *const drives[] = {"classic", "light", NULL};
static const char *const sends[] = {
	[SEND_PLAIN] = "plain",	      [SEND_SENDFILE] = "sendfile", [SEND_SPLICE] = "splice",
	[SEND_ZEROCOPY] = "zerocopy", [SEND_GSO] = "gso",	    NULL};
static const char *const receives[] = {"copy", "discard", "gro", NULL};

/* One of the words; the first if the key is absent and may be. */
static int word_parse(const json_t *request, const char *key, const char *const *words,
		      bool optional, int *out, struct err *e)
{
	char word[24];
	*out = 0;
	if (optional && !json_object_get(request, key)) {
		return 0;
	}
	int r = text_parse(request, key, word, sizeof(word), e);
	for (int i = 0; r == 0 && words[i]; i++) {
		if (strcmp(word, words[i]) == 0) {
			*out = i;
			return 0;
		}
	}
	return r < 0 ? r : err_usage(e, "stream: there is no %s %s", key, word);
}

static int ways_check(const struct stream_options *o, struct err *e)
{
	bool bundles = o->send == SEND_GSO || o->gro;
	bool plain = o->send == SEND_PLAIN && !o->discard && !o->gro;
	if (bundles && o->type != STREAM_UDP) {
		return err_usage(e, "stream: send gso and receive gro are for udp_stream");
	}
	if (o->type == STREAM_UDP && !plain && (!bundles || o->discard)) {
		return err_usage(e,
				 "stream: udp_stream sends plain or gso and receives copy or gro");
	}
	return plain || o->type != STREAM_RR
		       ? 0
		       : err_usage(e, "stream: \"send\" and \"receive\" are not for tcp_rr");
}

static int type_parse(const json_t *request, struct stream_options *o, struct err *e)
{
	int type, light, send = 0, receive = 0;
	int r = word_parse(request, "type", types, false, &type, e);
	r = r < 0 ? r : word_parse(request, "drive", drives, false, &light, e);
	r = r < 0 ? r : word_parse(request, "send", sends, true, &send, e);
	r = r < 0 ? r : word_parse(request, "receive", receives, true, &receive, e);
	if (r < 0) {
		return r;
	}
	o->type = (enum stream_type)type;
	o->leads = o->connects != (type == STREAM_MAERTS);
	o->sends = o->leads || type == STREAM_BIDIR;
	o->receives = !o->leads || type == STREAM_BIDIR || type == STREAM_RR;
	o->light = light;
	o->send = (enum stream_send)send;
	o->discard = receive == 1;
	o->gro = receive == 2;
	return ways_check(o, e);
}

static int64_t size_or(int64_t asked, int64_t other)
{
	return asked > 0 ? asked : other;
}

static int udp_sizes_fill(struct stream_options *o, struct err *e)
{
	int64_t size = size_or(o->asked.message_size, UDP_CALL);
	if (size < UDP_HEADER || size > UDP_SIZE_MAX) {
		return err_usage(e, "stream: a datagram of %lld bytes; %d to %d are possible",
				 (long long)size, UDP_HEADER, UDP_SIZE_MAX);
	}
	o->send_size = (size_t)size;
	/* A receiver cannot know what size comes. */
	o->receive_size = UDP_SIZE_MAX;
	o->ring = 1;
	return 0;
}

static int sizes_fill(struct stream_options *o, struct err *e)
{
	int64_t call = o->type == STREAM_RR ? 1 : o->light ? LIGHT_CALL : CLASSIC_CALL;
	int64_t ring = o->sends ? size_or(o->asked.ring, 1) : 1;
	if (o->type == STREAM_UDP) {
		return udp_sizes_fill(o, e);
	}
	o->send_size = (size_t)size_or(o->asked.message_size, call);
	o->receive_size = (size_t)size_or(o->asked.receive_size, call);
	o->ring = (int)ring;
	int64_t memory = (o->sends ? (int64_t)o->send_size * ring : 0) +
			 (o->receives ? (int64_t)o->receive_size : 0);
	if (memory * o->streams > MEMORY_MAX) {
		return err_usage(e,
				 "stream: %d streams with %lld bytes of buffers each are over the "
				 "limit of 1GiB",
				 o->streams, (long long)memory);
	}
	return 0;
}

static int list_parse(const json_t *request, const char *key, int hi, int *out, int *n,
		      struct err *e)
{
	const json_t *list = json_object_get(request, key);
	*n = (int)json_array_size(list);
	if ((list && !json_is_array(list)) || *n > STREAM_STREAMS_MAX) {
		return err_usage(e, "stream: \"%s\" must be a list of at most %d", key,
				 STREAM_STREAMS_MAX);
	}
	for (int i = 0; i < *n; i++) {
		const json_t *v = json_array_get(list, (size_t)i);
		json_int_t x = json_integer_value(v);
		if (!json_is_integer(v) || x < 0 || x > hi) {
			return err_usage(e, "stream: \"%s\" holds what is no number from 0 to %d",
					 key, hi);
		}
		out[i] = (int)x;
	}
	return 0;
}

static int lists_parse(const json_t *request, struct stream_options *o, struct err *e)
{
	const json_t *rate = json_object_get(request, "rate");
	int r = list_parse(request, "cpus", CPU_SETSIZE - 1, o->cpus, &o->n_cpus, e);
	r = r < 0 ? r : list_parse(request, "local_ports", 65535, o->local, &o->n_local, e);
	if (r < 0 || !rate) {
		return r;
	}
	o->rate = json_number_value(rate);
	if (!json_is_number(rate) || !(o->rate >= 0) || o->rate > 1e15) {
		return err_usage(e, "stream: \"rate\" must be a number of bits a second");
	}
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
	if (r == 0) {
		r = placement_parse(json_object_get(request, "numa"), out->address, &out->placement,
				    e);
	}
	if (r == 0 && connects && out->port == 0) {
		r = err_usage(e, "stream: connect wants a port");
	}
	r = r < 0 ? r : lists_parse(request, out, e);
	return r < 0 ? r : sizes_fill(out, e);
}

const char *stream_role(const struct stream_options *o)
{
	return o->leads ? "sender" : "receiver";
}
