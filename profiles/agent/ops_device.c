/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's operations about devices: which one leads to an address, and what the user allows on
 * those that others depend on. What is not allowed is refused here, on the host itself, whoever
 * asks. Reached by dispatch.c's table, and by the operations that set.
 */
#include "agent_ops.h"
#include "cleanup.h"
#include "device.h"
#include "guard.h"
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int op_device(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	const char *address;
	struct device_way way;
	(void)s;
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s:s}", OPS_HEAD_INTO(h),
			   "toward", &address)) {
		return ops_misunderstood(e, &why);
	}
	int rc = device_way_to(address, &way, e);
	if (rc == 0) {
		json_object_set_new(answer, "device", json_string(way.device));
		json_object_set_new(answer, "own", json_boolean(way.own));
		json_object_set_new(answer, "direct", json_boolean(way.direct));
	}
	return rc;
}

static unsigned bit_of(const char *word)
{
	for (unsigned i = 0; word && allow_words[i]; i++) {
		if (!strcmp(allow_words[i], word)) {
			return 1u << i;
		}
	}
	return 0;
}

int op_allow(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	struct ops_head h;
	json_error_t why;
	json_t *list, *one;
	size_t i;
	(void)answer;
	if (json_unpack_ex(request, &why, JSON_STRICT, "{" OPS_HEAD ", s:o}", OPS_HEAD_INTO(h),
			   "words", &list)) {
		return ops_misunderstood(e, &why);
	}
	unsigned allowed = 0;
	json_array_foreach(list, i, one)
	{
		unsigned bit = bit_of(json_string_value(one));
		if (!bit) {
			return err_usage(e, "there is no such word to allow anything");
		}
		allowed |= bit;
	}
	s->allowed = allowed;
	return 0;
}

/* The other end of the connection by which the controller is reached: a socket, or a log-in. In a
 * namespace that was entered by name the log-in came another way. */
void ops_find_control(struct agent_state *s)
{
	struct sockaddr_storage peer = {0};
	socklen_t size = sizeof(peer);
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&peer;
	const struct sockaddr_in *four = (const struct sockaddr_in *)&peer;
	const char *login = getenv("SSH_CONNECTION"); /* client's address, port, own ... */
	if (getpeername(s->input, (struct sockaddr *)&peer, &size) == 0 &&
	    (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) {
		inet_ntop(peer.ss_family,
			  peer.ss_family == AF_INET6 ? (const void *)&six->sin6_addr
						     : (const void *)&four->sin_addr,
			  s->control, sizeof(s->control));
	} else if (login && !s->place.netns_path) {
		snprintf(s->control, sizeof(s->control), "%.*s", (int)strcspn(login, " "), login);
	}
}

int ops_guard(const struct agent_state *s, const struct setting *setting, struct err *e)
{
	return guard_check(&s->place.root, setting, s->allowed, s->control, e);
}

int ops_guard_all(const struct agent_state *s, const struct assignment *a, size_t n, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = ops_guard(s, &a[i].setting, e);
	}
	return rc;
}
