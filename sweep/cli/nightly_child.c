/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * This program's commands run, doctor and apply as children of the launcher, which has the
 * privilege that they drop by themselves. What one does cannot end the night, and it is ended by a
 * signal when the night is over, so that it rolls back. Called by the night through struct
 * nightly_world.
 */
#include "cleanup.h"
#include "cli_nightly.h"
#include "clock_ms.h"
#include "files.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>

enum { WORDS_MAX = 64, LOOK_MS = 200, MERCY_MS = 120000 };

/* A child of the launcher cannot be waited for here: the shell, which outlives the signal that ends
 * the program, says how it ended. */
static const char script[] = "trap : INT; \"$@\"; printf '\\ntunesweep-exit %d\\n' \"$?\"";

struct child {
	pid_t pid;
	int out;
	char *text; /* all that it printed */
	size_t size;
	FILE *sink;
};

static int start(struct nightly *n, const char *const *words, struct child *c, struct err *e)
{
	const char *argv[WORDS_MAX + 6] = {"/bin/sh", "-c", script, "sh", n->c->program};
	size_t k = 5;
	int in = -1;
	if (!*n->c->program) {
		return err_set(e, -ENOENT, "cannot find this program: there is no /proc");
	}
	for (size_t i = 0; words[i]; i++) {
		argv[k++] = words[i];
	}
	c->sink = open_memstream(&c->text, &c->size);
	if (!c->sink) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	int rc = launcher_spawn(n->c->launcher, (char *const *)argv, &in, &c->out, &c->pid, e);
	cleanup_close(&in);
	if (rc == 0) {
		fcntl(c->out, F_SETFL, O_NONBLOCK);
	}
	return rc;
}

/* true: there will be no more. */
static bool take_output(struct child *c)
{
	char buf[4096];
	ssize_t got;
	while ((got = read(c->out, buf, sizeof(buf))) > 0) {
		fwrite(buf, 1, (size_t)got, c->sink);
	}
	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

/* Ends it in good order when the user or the clock wants that, and by force when it will not. */
static void await(struct nightly *n, struct child *c, double seconds)
{
	int64_t end = isfinite(seconds) ? clock_ms() + (int64_t)(seconds * 1000) : INT64_MAX;
	int64_t force = INT64_MAX;
	while (!take_output(c)) {
		struct pollfd p = {.fd = c->out, .events = POLLIN};
		struct err ignored;
		poll(&p, 1, LOOK_MS);
		if (force == INT64_MAX && (clock_ms() > end || cli_interrupted(n->c))) {
			kill(-c->pid, SIGINT);
			force = clock_ms() + MERCY_MS;
		}
		if (clock_ms() > force) {
			launcher_kill(n->c->launcher, c->pid, &ignored);
			force = INT64_MAX - 1;
		}
	}
}

/* Cuts the shell's last line off. -1: the program did not come to its end. */
static int take_status(struct child *c)
{
	int status = -1;
	fclose(c->sink);
	char *last = c->text ? strstr(c->text, "\ntunesweep-exit ") : NULL;
	if (last && sscanf(last, "\ntunesweep-exit %d", &status) == 1) {
		*last = '\0';
	}
	return status;
}

/* Runs this program with these words; printed is the caller's. */
static int run_self(struct nightly *n, const char *const *words, double seconds, char **printed,
		    int *status, struct err *e)
{
	struct child c = {.out = -1};
	int rc = start(n, words, &c, e);
	if (rc == 0) {
		await(n, &c, seconds);
	}
	if (c.sink) {
		*status = take_status(&c);
	}
	cleanup_close(&c.out);
	*printed = c.text;
	return rc;
}

int nightly_child_sweep(void *ctx, const struct nightly_call *call, json_t **result, int *status,
			struct err *e)
{
	struct nightly *n = ctx;
	char file[PATH_MAX];
	const char *words[] = {"run",	  call->spec,  "-o", call->dir,
			       "--store", call->store, "-q", call->resume ? "--resume" : NULL,
			       NULL};
	auto_free char *printed = NULL;
	struct err none = {0};
	snprintf(file, sizeof(file), "%.4000s/result.json", call->dir);
	unlink(file); /* of another night */
	int rc = run_self(n, words, call->seconds, &printed, status, e);
	if (rc == 0 && files_load_json(file, result, &none) < 0) {
		*result = NULL;
	}
	return rc;
}

int nightly_child_doctor(void *ctx, json_t **report, int *status, struct err *e)
{
	const char *words[] = {"doctor", "--json", "-q", NULL};
	auto_free char *printed = NULL;
	int rc = run_self(ctx, words, INFINITY, &printed, status, e);
	*report = rc == 0 && printed ? json_loads(printed, 0, NULL) : NULL;
	return rc;
}

/* --host NAME=VIA as the spec reaches the host; the words are the caller's. */
static char *host_word(const struct spec_host *h, struct err *e)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = h->via.kind == VIA_LAB ? NULL : open_memstream(&text, &size);
	if (!f) {
		err_usage(e, "host %s is a lab's: nothing can be applied there", h->name);
		return NULL;
	}
	fprintf(f, "%s=%s%s", h->name,
		h->via.kind == VIA_LOCAL   ? "local"
		: h->via.kind == VIA_NETNS ? "netns:"
					   : "",
		h->via.kind == VIA_NETNS ? h->via.netns : "");
	for (size_t i = 0; h->via.kind == VIA_COMMAND && h->via.argv[i]; i++) {
		fprintf(f, "%s%s", i ? " " : "", h->via.argv[i]);
	}
	fclose(f);
	return text;
}

int nightly_child_apply(void *ctx, const struct spec *spec, const char *profile, struct err *e)
{
	const char *words[WORDS_MAX] = {"apply", profile, "-q"};
	auto_free char *printed = NULL;
	char *hosts[SPEC_HOSTS_MAX] = {0};
	size_t k = 3;
	int rc = 0, status = 0;
	for (size_t i = 0; rc == 0 && i < spec->n_hosts; i++) {
		hosts[i] = host_word(&spec->hosts[i], e);
		rc = hosts[i] ? 0 : -EINVAL;
		words[k++] = "--host";
		words[k++] = hosts[i];
	}
	rc = rc ? rc : run_self(ctx, words, INFINITY, &printed, &status, e);
	for (size_t i = 0; i < spec->n_hosts; i++) {
		free(hosts[i]);
	}
	if (rc == 0 && status != 0) {
		rc = err_set(e, -EIO, "apply %s ended with status %d", profile, status);
		e->class = status == CLI_NOT_RESTORED ? ERR_RESTORE : ERR_SYSTEM;
	}
	return rc;
}

int nightly_lock(struct nightly *n, struct err *e)
{
	char path[PATH_MAX], holder[32] = "";
	snprintf(path, sizeof(path), "%.4000s/lock", n->config.state);
	n->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (n->lock < 0) {
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	}
	if (flock(n->lock, LOCK_EX | LOCK_NB) < 0) {
		ssize_t got = pread(n->lock, holder, sizeof(holder) - 1, 0);
		holder[got > 0 ? strcspn(holder, "\n") : 0] = '\0';
		return err_set(e, -EBUSY, "another night is under way (pid %s)",
			       *holder ? holder : "unknown");
	}
	int size = snprintf(holder, sizeof(holder), "%d\n", (int)getpid());
	if (ftruncate(n->lock, 0) < 0 || pwrite(n->lock, holder, (size_t)size, 0) != size) {
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	}
	return 0;
}
