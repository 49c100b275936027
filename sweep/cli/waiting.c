/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The asking side of apply --confirm: which applies wait, and one request to one of them. What a
 * killed one has left is removed on the way. Called by confirm, rollback and status.
 */
#include "cleanup.h"
#include "cli_confirm.h"
#include "protocol.h"
#include "run_dir.h"
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define INFO_MS	  15000 /* it may be waiting for a host that does not answer */
#define ANSWER_MS 60000 /* it may have to put back what several hosts have set */

static int connect_to(const char *path, struct err *e)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		int code = errno;
		if (code == ECONNREFUSED) {
			unlink(path);
		}
		return err_set(e, -code, "%s: %s", path, strerror(code));
	}
	return take_fd(fd);
}

static int ask(const char *path, json_t *request, int timeout_ms, json_t **answer, struct err *e)
{
	struct channel ch;
	auto_json json_t *mine = request;
	*answer = NULL;
	auto_close int fd = connect_to(path, e);
	if (fd < 0) {
		return fd;
	}
	if (channel_init(&ch, fd, fd)) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	json_object_set_new(mine, "id", json_integer(1));
	int rc = channel_send(&ch, mine, e);
	rc = rc ? rc : channel_recv(&ch, timeout_ms, answer, e);
	channel_clear(&ch);
	return rc ? rc : protocol_result(*answer, e);
}

int waiting_ask(const json_t *waiting, json_t *request, json_t **answer, struct err *e)
{
	return ask(json_string_value(json_object_get(waiting, "socket")), request, ANSWER_MS,
		   answer, e);
}

static bool holds(const json_t *info, const char *via)
{
	size_t i;
	json_t *host;
	json_array_foreach(json_object_get(info, "hosts"), i, host)
	{
		const char *text = json_string_value(json_object_get(host, "via"));
		if (text && strcmp(text, via) == 0) {
			return true;
		}
	}
	return false;
}

json_t *waiting_list(const char *via)
{
	char run_dir[256], pattern[300];
	glob_t found = {0};
	json_t *list = json_array();
	run_dir_default(run_dir, sizeof(run_dir));
	snprintf(pattern, sizeof(pattern), "%s/confirm-*.sock", run_dir);
	if (glob(pattern, GLOB_NOSORT, NULL, &found)) {
		return list;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct err e = {0};
		auto_json json_t *info = NULL;
		if (ask(found.gl_pathv[i], json_pack("{s:s}", "op", "info"), INFO_MS, &info, &e) ==
			    0 &&
		    (!via || holds(info, via))) {
			json_object_set_new(info, "socket", json_string(found.gl_pathv[i]));
			json_array_append(list, info);
		}
	}
	globfree(&found);
	return list;
}
