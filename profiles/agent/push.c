/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent taken along. All that is sent is one script, the program within it as base64: a shell
 * may read further than it executes, so nothing may follow until it has answered. The program is
 * started from an open descriptor after its file is gone: whatever happens to it, nothing is left
 * there.
 */
#include "push.h"
#include "cleanup.h"
#include "clock_ms.h"
#include "launcher_private.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum { PUSH_MS = 120000, AGENT_MAX = 64 << 20, LINE_MAX_BYTES = 512 };

static const char BEFORE[] =
	"LC_ALL=C; export LC_ALL; umask 077\n"
	"fail() { echo \"tunesweep-failed $*\"; exit 1; }\n"
	"here=$(uname -s)-$(uname -m)\n"
	"[ \"$here\" = Linux-%s ] || fail \"it is $here, the agent is for Linux-%s\"\n"
	"command -v base64 >/dev/null || fail 'it has no base64'\n"
	"dir=\n"
	"for p in \"$XDG_RUNTIME_DIR\" /run /dev/shm /tmp /var/tmp; do\n"
	"  [ -n \"$p\" ] && [ -w \"$p\" ] || continue\n"
	"  t=$(mktemp -d \"$p/.tunesweep-XXXXXX\" 2>/dev/null) || continue\n"
	"  printf '#!/bin/sh\\nexit 0\\n' >\"$t/x\" && chmod 700 \"$t/x\" && \"$t/x\" 2>/dev/null "
	"&& "
	"dir=$t && break\n"
	"  rm -rf \"$t\"\n"
	"done\n"
	"[ -n \"$dir\" ] || fail 'there is no folder that programs may be started from'\n"
	"trap 'rm -rf \"$dir\"' EXIT\n"
	"base64 -d >\"$dir/agent\" <<'TUNESWEEP_AGENT' || fail 'the agent could not be written'\n";
static const char AFTER[] = "TUNESWEEP_AGENT\n"
			    "chmod 700 \"$dir/agent\" && exec 9<\"$dir/agent\" || fail 'no agent'\n"
			    "rm -rf \"$dir\"; trap - EXIT\n"
			    "echo tunesweep-pushed\n"
			    "exec /proc/self/fd/9\n";

static void put_base64(FILE *out, const unsigned char *s, size_t n)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0, column = 0; i < n; i += 3) {
		unsigned v = (unsigned)s[i] << 16 | (i + 1 < n ? (unsigned)s[i + 1] << 8 : 0) |
			     (i + 2 < n ? s[i + 2] : 0u);
		fputc(digit[v >> 18], out);
		fputc(digit[v >> 12 & 63], out);
		fputc(i + 1 < n ? digit[v >> 6 & 63] : '=', out);
		fputc(i + 2 < n ? digit[v & 63] : '=', out);
		if (++column == 18 || i + 3 >= n) {
			fputc('\n', out);
			column = 0;
		}
	}
}

static int read_agent(unsigned char **program, size_t *size, struct err *e)
{
	char path[PATH_MAX];
	struct stat st;
	int rc = launcher_agent_path("", path, sizeof(path) - 8, e);
	if (rc) {
		return rc;
	}
	strcat(path, "-static");
	auto_fclose FILE *f = fopen(path, "re");
	if (!f || fstat(fileno(f), &st) < 0) {
		return err_set(e, -errno, "there is no agent to take along: %s: %s", path,
			       strerror(errno));
	}
	*size = (size_t)st.st_size;
	*program = st.st_size > 0 && st.st_size < AGENT_MAX ? malloc(*size) : NULL;
	if (!*program || fread(*program, 1, *size, f) != *size) {
		return err_set(e, -EIO, "%s: it cannot be read", path);
	}
	return 0;
}

static char *make_script(size_t *size, struct err *e)
{
	auto_free unsigned char *program = NULL;
	struct utsname u;
	char *text = NULL;
	size_t n = 0;
	if (read_agent(&program, &n, e)) {
		return NULL;
	}
	FILE *f = uname(&u) == 0 ? open_memstream(&text, size) : NULL;
	if (!f) {
		err_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	fprintf(f, BEFORE, u.machine, u.machine);
	put_base64(f, program, n);
	fputs(AFTER, f);
	if (fclose(f) != 0) {
		free(text);
		err_set(e, -ENOMEM, "out of memory");
		return NULL;
	}
	return text;
}

static int gone(struct err *e)
{
	return err_set(e, -EHOSTDOWN, "it has left before the agent was there");
}

/* Waits for one of the pipes: events of to, or input at from. */
static int await(int to, int from, int64_t end, bool *readable, struct err *e)
{
	struct pollfd p[2] = {{.fd = from, .events = POLLIN}, {.fd = to, .events = POLLOUT}};
	int64_t left = end - clock_ms();
	int n = left > 0 ? poll(p, to >= 0 ? 2 : 1, (int)left) : 0;
	if (n == 0) {
		return err_set(e, -EHOSTDOWN, "the agent was not there within %d s",
			       PUSH_MS / 1000);
	}
	*readable = n > 0 && p[0].revents;
	return 0;
}

static int send_script(int to, int from, const char *text, size_t size, int64_t end, struct err *e)
{
	bool readable;
	int flags = fcntl(to, F_GETFL);
	int rc = 0;
	fcntl(to, F_SETFL, flags | O_NONBLOCK);
	for (size_t at = 0; rc == 0 && at < size;) {
		rc = await(to, from, end, &readable, e);
		if (rc || readable) { /* it speaks early: of what went wrong */
			break;
		}
		ssize_t n = write(to, text + at, size - at);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			rc = gone(e);
		}
		at += n > 0 ? (size_t)n : 0;
	}
	fcntl(to, F_SETFL, flags);
	return rc;
}

/* Byte by byte: what follows the line is the agent's. Lines before it are a log-in's greeting. */
static int read_line(int from, int64_t end, char line[LINE_MAX_BYTES], struct err *e)
{
	size_t used = 0;
	bool readable;
	for (;;) {
		char c;
		int rc = await(-1, from, end, &readable, e);
		if (rc) {
			return rc;
		}
		ssize_t n = read(from, &c, 1);
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
			return gone(e);
		}
		if (n == 1 && c == '\n') {
			line[used] = '\0';
			return 0;
		}
		if (n == 1 && used + 1 < LINE_MAX_BYTES) {
			line[used++] = c;
		}
	}
}

int agent_push(int to, int from, struct err *e)
{
	int64_t end = clock_ms() + PUSH_MS;
	static const char failed[] = "tunesweep-failed ";
	char line[LINE_MAX_BYTES];
	size_t size = 0;
	auto_free char *script = make_script(&size, e);
	int rc = script ? send_script(to, from, script, size, end, e) : e->code;
	while (rc == 0) {
		rc = read_line(from, end, line, e);
		if (rc == 0 && strcmp(line, "tunesweep-pushed") == 0) {
			return 0;
		}
		if (rc == 0 && strncmp(line, failed, strlen(failed)) == 0) {
			rc = err_set(e, -ENOEXEC, "the agent cannot be taken there: %s",
				     line + strlen(failed));
		}
	}
	return rc;
}
