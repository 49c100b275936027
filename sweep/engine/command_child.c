/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One process of a command engine and the lines that it writes: started through the launcher, or
 * directly where there is none (no hosts, no privilege). Nothing here waits. Called by command.c.
 */
#include "command_private.h"

#include "cleanup.h"
#include "spawn.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* A child of the launcher cannot be waited for here, so the shell says how the program ended. */
static const char once_script[] = "\"$@\"; "
				  "printf '\\n{\"tunesweep_exit\": %d}\\n' \"$?\"";
static const char serve_script[] = "exec \"$@\"";

int command_child_init(struct command_child *c, struct launcher *l, struct err *e)
{
	*c = (struct command_child){.launcher = l, .in = -1, .out = -1};
	c->line = malloc(COMMAND_LINE_MAX);
	c->last = malloc(COMMAND_LINE_MAX);
	return c->line && c->last ? 0 : err_set(e, -ENOMEM, "out of memory for the engine");
}

void command_child_clear(struct command_child *c)
{
	command_child_kill(c);
	free(c->line);
	free(c->last);
	c->line = c->last = NULL;
}

static int start_here(struct command_child *c, char *const argv[], struct err *e)
{
	struct spawned child;
	int rc = spawn_program(argv, -1, &child, e);
	if (rc == 0) {
		c->pid = child.pid;
		c->in = child.in;
		c->out = child.out;
	}
	return rc;
}

static size_t count_words(char *const argv[])
{
	size_t n = 0;
	while (argv[n]) {
		n++;
	}
	return n;
}

int command_child_start(struct command_child *c, char *const argv[], bool serve, struct err *e)
{
	size_t n = count_words(argv);
	auto_free const char **words = calloc(n + 5, sizeof(*words));
	if (!words) {
		return err_set(e, -ENOMEM, "out of memory for the engine");
	}
	words[0] = "/bin/sh";
	words[1] = "-c";
	words[2] = serve ? serve_script : once_script;
	words[3] = "sh";
	memcpy(words + 4, argv, n * sizeof(*words));
	command_child_forget_lines(c);
	c->ended = c->exited = false;
	int rc = c->launcher ? launcher_spawn(c->launcher, (char *const *)words, &c->in, &c->out,
					      &c->pid, e)
			     : start_here(c, (char *const *)words, e);
	if (rc == 0) {
		fcntl(c->in, F_SETFL, O_NONBLOCK);
		fcntl(c->out, F_SETFL, O_NONBLOCK);
	}
	return rc;
}

/* write(2) to a pipe whose reader may be gone, without SIGPIPE. */
static ssize_t write_quietly(int fd, const char *text, size_t size)
{
	sigset_t pipe_only, old;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &old);
	ssize_t n = write(fd, text, size);
	int error = n < 0 ? errno : 0;
	if (error == EPIPE) {
		sigtimedwait(&pipe_only, NULL, &(struct timespec){0});
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = error;
	return n;
}

int command_child_write(struct command_child *c, const char *line, struct err *e)
{
	size_t size = strlen(line);
	ssize_t n = write_quietly(c->in, line, size);
	if (n == (ssize_t)size || (n < 0 && errno == EPIPE)) {
		return 0; /* a program need not read its parameters; one that died is seen later */
	}
	return err_set(e, -EIO, "the command does not read its input: the parameters do not fit");
}

/* A NUL byte, which would end the line before its end, makes a line that is not blank. */
static bool is_blank(const struct command_child *c)
{
	return !c->cut && strspn(c->line, " \t\r") == c->used;
}

static void keep_line(struct command_child *c)
{
	memcpy(c->last, c->line, c->used + 1);
	c->has_last = true;
	c->too_long = c->cut;
	c->has_nul = !c->cut && memchr(c->line, '\0', c->used);
}

static void take_line(struct command_child *c)
{
	c->line[c->used] = '\0';
	int status;
	if (!c->cut && sscanf(c->line, "{\"tunesweep_exit\": %d}", &status) == 1) {
		c->exited = true;
		c->status = status;
	} else if (!is_blank(c) && !(c->first_counts && c->has_last)) {
		keep_line(c);
	}
	c->used = 0;
	c->cut = false;
}

static void take_bytes(struct command_child *c, const char *buf, size_t n)
{
	c->total += n;
	for (size_t i = 0; i < n; i++) {
		if (buf[i] == '\n') {
			take_line(c);
		} else if (c->used + 1 < COMMAND_LINE_MAX) {
			c->line[c->used++] = buf[i];
		} else {
			c->cut = true;
		}
	}
}

void command_child_read(struct command_child *c, bool stop_at_line)
{
	char buf[4096];
	c->first_counts = stop_at_line;
	while (!c->ended && !c->exited && c->total <= COMMAND_OUTPUT_MAX &&
	       !(stop_at_line && c->has_last)) {
		ssize_t n = read(c->out, buf, sizeof(buf));
		if (n > 0) {
			take_bytes(c, buf, (size_t)n);
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			c->ended = true;
			take_line(c); /* a last line without its newline */
		} else if (errno == EAGAIN) {
			break;
		}
	}
}

void command_child_forget_lines(struct command_child *c)
{
	c->used = c->total = 0;
	c->has_last = c->too_long = c->has_nul = c->cut = false;
}

void command_child_kill(struct command_child *c)
{
	struct err ignored;
	if (c->in >= 0) {
		close(take_fd(c->in));
	}
	if (c->out >= 0) {
		close(take_fd(c->out));
	}
	if (c->pid > 0 && c->launcher) {
		launcher_kill(c->launcher, c->pid, &ignored);
	} else if (c->pid > 0) {
		kill(-c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	c->pid = 0;
}
