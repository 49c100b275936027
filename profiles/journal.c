/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The journal's files and records: a line each, an FNV-1a checksum in hex, a blank, a JSON object.
 * It knows neither tunables nor when to roll back; the session, which holds the lock, is its only
 * caller.
 */
#include "journal.h"
#include "cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SUM_DIGITS = 16, RECORD_MAX = 8192 };

struct journal {
	int fd;
	off_t size;  /* up to the end of the last whole record */
	bool broken; /* a write failed and could not be undone: nothing more is appended */
	char path[PATH_MAX];
};

/* FNV-1a, 64 bits: offset basis and prime of the FNV reference (Fowler, Noll, Vo). */
static uint64_t checksum(const char *s, size_t size)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < size; i++) {
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
	}
	return h;
}

static int journal_path(const char *dir, const char *layer, const char *suffix, char *out,
			struct err *e)
{
	int n = snprintf(out, PATH_MAX, "%s/%s.journal%s", dir, layer, suffix);
	return n < PATH_MAX ? 0 : err_set(e, -ENAMETOOLONG, "%s: the path is too long", dir);
}

static int sync_folder(const char *dir, struct err *e)
{
	auto_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd)) {
		return err_set(e, -errno, "cannot sync %s: %s", dir, strerror(errno));
	}
	return 0;
}

static int write_whole(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n ? -errno : -ENOSPC;
		}
		text += n;
		size -= (size_t)n;
	}
	return 0;
}

int journal_append(struct journal *j, const json_t *record, bool sync, struct err *e)
{
	char line[RECORD_MAX + SUM_DIGITS + 3];
	char *body = line + SUM_DIGITS + 1;
	size_t size = json_dumpb(record, body, RECORD_MAX, JSON_COMPACT | JSON_SORT_KEYS);
	if (!size || size > RECORD_MAX) {
		return err_set(e, -EMSGSIZE, "%s: a record does not fit", j->path);
	}
	if (j->broken) {
		return err_set(e, -EIO, "%s: writing has failed before", j->path);
	}
	char sum[SUM_DIGITS + 1];
	snprintf(sum, sizeof(sum), "%016" PRIx64, checksum(body, size));
	memcpy(line, sum, SUM_DIGITS);
	line[SUM_DIGITS] = ' ';
	body[size] = '\n';
	size += SUM_DIGITS + 2;
	int r = write_whole(j->fd, line, size);
	if (r) {
		j->broken = ftruncate(j->fd, j->size) != 0;
		return err_set(e, r, "cannot write %s: %s", j->path, strerror(-r));
	}
	j->size += (off_t)size;
	if (sync && fdatasync(j->fd)) {
		j->broken = true; /* what is on the disk is not known any more */
		return err_set(e, -errno, "cannot sync %s: %s", j->path, strerror(errno));
	}
	return 0;
}

static json_t *header_json(const struct journal_header *h)
{
	return json_pack("{s:i, s:s, s:s, s:I, s:s, s:i, s:I, s:I, s:s}", "journal", 1, "layer",
			 h->layer, "boot_id", h->boot_id, "netns_cookie",
			 (json_int_t)h->netns_cookie, "netns_path", h->netns_path, "pid",
			 (int)h->pid, "pid_start", (json_int_t)h->pid_start, "since",
			 (json_int_t)h->since, "profile", h->profile);
}

static bool header_parse(const json_t *j, struct journal_header *h)
{
	const char *layer, *boot, *path, *profile;
	json_int_t cookie, start, since;
	int version, pid;
	memset(h, 0, sizeof(*h));
	if (json_unpack((json_t *)j, "{s:i, s:s, s:s, s:I, s:s, s:i, s:I, s:I, s:s}", "journal",
			&version, "layer", &layer, "boot_id", &boot, "netns_cookie", &cookie,
			"netns_path", &path, "pid", &pid, "pid_start", &start, "since", &since,
			"profile", &profile) ||
	    version != 1) {
		return false;
	}
	snprintf(h->layer, sizeof(h->layer), "%s", layer);
	snprintf(h->boot_id, sizeof(h->boot_id), "%s", boot);
	snprintf(h->netns_path, sizeof(h->netns_path), "%s", path);
	snprintf(h->profile, sizeof(h->profile), "%s", profile);
	h->netns_cookie = (uint64_t)cookie;
	h->pid = pid;
	h->pid_start = (uint64_t)start;
	h->since = since;
	return true;
}

static struct journal *journal_new(const char *path, int fd)
{
	struct journal *j = calloc(1, sizeof(*j));
	if (j) {
		j->fd = fd;
		snprintf(j->path, sizeof(j->path), "%s", path);
	}
	return j;
}

/* The header is complete before the journal has its name, so that a journal that exists always
 * says whose it is. link(2) does not replace. */
static int publish(struct journal *j, const char *dir, const char *path,
		   const struct journal_header *h, struct err *e)
{
	auto_json json_t *header = header_json(h);
	if (!header) {
		return err_set(e, -EINVAL, "%s: the header is not UTF-8", path);
	}
	int r = journal_append(j, header, true, e);
	if (r) {
		return r;
	}
	if (link(j->path, path)) {
		return err_set(e, -errno, "cannot create %s: %s", path, strerror(errno));
	}
	r = sync_folder(dir, e);
	if (r) {
		unlink(path);
	}
	return r;
}

int journal_create(const char *dir, const struct journal_header *h, struct journal **out,
		   struct err *e)
{
	char path[PATH_MAX], temporary[PATH_MAX];
	*out = NULL;
	int r = journal_path(dir, h->layer, "", path, e);
	r = r ? r : journal_path(dir, h->layer, ".new", temporary, e);
	if (r) {
		return r;
	}
	unlink(temporary); /* may be another name of an older journal: never truncate it */
	int fd = open(temporary, O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0) {
		return err_set(e, -errno, "cannot create %s: %s", temporary, strerror(errno));
	}
	struct journal *j = journal_new(temporary, fd);
	if (!j) {
		close(fd);
		unlink(temporary);
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = publish(j, dir, path, h, e);
	unlink(temporary);
	snprintf(j->path, sizeof(j->path), "%s", path);
	if (r) {
		journal_close(j);
		return r;
	}
	*out = j;
	return 0;
}

void journal_tidy(const char *dir, const char *layer)
{
	char path[PATH_MAX];
	if (!journal_path(dir, layer, ".new", path, NULL)) {
		unlink(path);
	}
}

static int read_whole(int fd, char **text, size_t *size)
{
	struct stat st;
	if (fstat(fd, &st)) {
		return -errno;
	}
	*size = 0;
	*text = malloc((size_t)st.st_size + 1);
	if (!*text) {
		return -ENOMEM;
	}
	while (*size < (size_t)st.st_size) {
		ssize_t n = pread(fd, *text + *size, (size_t)st.st_size - *size, (off_t)*size);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		if (!n) {
			break;
		}
		*size += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* The record that begins at p, or NULL if it is torn or was changed. */
static json_t *parse_record(const char *p, const char *end, const char **next)
{
	char sum[SUM_DIGITS + 1];
	const char *nl = memchr(p, '\n', (size_t)(end - p));
	if (!nl || nl - p < SUM_DIGITS + 3 || p[SUM_DIGITS] != ' ') {
		return NULL;
	}
	const char *body = p + SUM_DIGITS + 1;
	size_t size = (size_t)(nl - body);
	snprintf(sum, sizeof(sum), "%016" PRIx64, checksum(body, size));
	if (memcmp(sum, p, SUM_DIGITS)) {
		return NULL;
	}
	*next = nl + 1;
	json_t *j = json_loadb(body, size, JSON_REJECT_DUPLICATES, NULL);
	if (j && !json_is_object(j)) {
		json_decref(j);
		return NULL;
	}
	return j;
}

static int believe(const char *text, size_t size, struct journal_header *h, json_t *records,
		   off_t *believed)
{
	const char *p = text, *end = text + size;
	auto_json json_t *header = parse_record(p, end, &p);
	if (!header || !header_parse(header, h)) {
		return -EBADMSG;
	}
	for (;;) {
		*believed = p - text;
		json_t *record = parse_record(p, end, &p);
		if (!record) {
			return 0;
		}
		if (json_array_append_new(records, record)) {
			return -ENOMEM;
		}
	}
}

static int load(struct journal *j, struct journal_header *h, json_t *records, struct err *e)
{
	auto_free char *text = NULL;
	size_t size = 0;
	int r = read_whole(j->fd, &text, &size);
	if (r) {
		return err_set(e, r, "cannot read %s: %s", j->path, strerror(-r));
	}
	r = believe(text, size, h, records, &j->size);
	if (r) {
		return err_set(e, r, "%s is not a journal that can be believed", j->path);
	}
	if ((off_t)size > j->size && ftruncate(j->fd, j->size)) {
		return err_set(e, -errno, "cannot cut the torn end off %s: %s", j->path,
			       strerror(errno));
	}
	return 0;
}

int journal_open(const char *dir, const char *layer, struct journal_header *h, json_t **records,
		 struct journal **out, struct err *e)
{
	char path[PATH_MAX];
	auto_json json_t *array = json_array();
	*out = NULL;
	int r = journal_path(dir, layer, "", path, e);
	if (r) {
		return r;
	}
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return err_set(e, -errno, "cannot open %s: %s", path, strerror(errno));
	}
	struct journal *j = array ? journal_new(path, fd) : NULL;
	if (!j) {
		close(fd);
		return err_set(e, -ENOMEM, "out of memory");
	}
	r = load(j, h, array, e);
	if (r) {
		journal_close(j);
		return r;
	}
	if (records) {
		*records = json_incref(array);
	}
	*out = j;
	return 0;
}

int journal_remove(struct journal *j, struct err *e)
{
	char dir[PATH_MAX];
	if (unlink(j->path) && errno != ENOENT) {
		return err_set(e, -errno, "cannot remove %s: %s", j->path, strerror(errno));
	}
	snprintf(dir, sizeof(dir), "%s", j->path);
	*strrchr(dir, '/') = 0;
	return sync_folder(dir, e);
}

void journal_close(struct journal *j)
{
	if (j) {
		close(j->fd);
		free(j);
	}
}
