/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading and asking the host's policy. It sets nothing and knows no request. Called by the agent
 * at its start, and for each setting and value that it is asked for.
 */
#include "policy.h"
#include "cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define POLICY_FOLDER	"/etc/tunesweep"
#define POLICY_FILE	POLICY_FOLDER "/policy.json"
#define POLICY_SIZE_MAX (1 << 20)
#define OVERFLOW_UID	65534

struct policy {
	json_t *everyone, *user; /* rules; NULL: nothing is narrowed */
};

static int refuse(struct err *e, const char *why)
{
	return err_set(e, -EBADMSG, "%s: %s: nothing may be set here", POLICY_FILE, why);
}

/* In a user namespace root's files seem to be nobody's. */
static bool is_mapped(void)
{
	char map[64] = "";
	unsigned inside = 1, outside = 1, n = 0;
	auto_close int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, map, sizeof(map) - 1);
	return got <= 0 || (sscanf(map, "%u %u %u", &inside, &outside, &n) == 3 && n == UINT32_MAX);
}

static int check_owner(const struct stat *st, const char *what, bool is_test, struct err *e)
{
	bool root = st->st_uid == 0 || (st->st_uid == OVERFLOW_UID && !is_mapped());
	if (!root && !(is_test && st->st_uid == geteuid())) {
		return err_set(e, -EPERM, "%s does not belong to root: nothing may be set here",
			       what);
	}
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		return err_set(e, -EPERM,
			       "%s can be written by others than root: nothing may be set here",
			       what);
	}
	return 0;
}

static int open_checked(int at, const char *path, int flags, const char *what, bool is_test,
			struct err *e)
{
	struct stat st;
	auto_close int fd = openat(at, path,
				   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags);
	if (fd < 0) {
		return errno == ENOENT
			       ? -ENOENT
			       : err_set(e, -errno, "cannot open %s: %s", what, strerror(errno));
	}
	if (fstat(fd, &st) || (!flags && !S_ISREG(st.st_mode))) {
		return refuse(e, "not a file");
	}
	int rc = check_owner(&st, what, is_test, e);
	return rc ? rc : take_fd(fd);
}

static json_t *read_file(int fd, struct err *e)
{
	auto_free char *text = malloc(POLICY_SIZE_MAX);
	size_t used = 0;
	json_error_t why;
	while (text && used < POLICY_SIZE_MAX) {
		ssize_t n = read(fd, text + used, POLICY_SIZE_MAX - used);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			break;
		}
		used += (size_t)n;
	}
	json_t *j = text && used < POLICY_SIZE_MAX
			    ? json_loadb(text, used, JSON_REJECT_DUPLICATES, &why)
			    : NULL;
	if (!j) {
		err_set(e, -EBADMSG, "%s:%d:%d: not JSON (%.100s): nothing may be set here",
			POLICY_FILE, text ? why.line : 0, text ? why.column : 0,
			text ? why.text : "no memory");
	}
	return j;
}

static bool is_class(const char *word)
{
	static const char *const WORDS[] = {"safe", "unsafe", "disruptive", "unlisted",
					    "driver-rebind"};
	for (size_t i = 0; word && i < ARRAY_SIZE(WORDS); i++) {
		if (!strcmp(word, WORDS[i])) {
			return true;
		}
	}
	return false;
}

static const char *class_word(enum tunable_class class)
{
	switch (class) {
	case CLASS_SAFE:
		return "safe";
	case CLASS_UNSAFE:
		return "unsafe";
	case CLASS_DISRUPTIVE:
		return "disruptive";
	case CLASS_UNLISTED:
		return "unlisted";
	default:
		return "driver-rebind";
	}
}

static bool is_text_list(const json_t *list, bool classes)
{
	size_t i;
	json_t *one;
	if (!json_is_array(list)) {
		return false;
	}
	json_array_foreach((json_t *)list, i, one)
	{
		const char *text = json_string_value(one);
		if (!text || (classes && !is_class(text))) {
			return false;
		}
	}
	return true;
}

static bool is_ranges(json_t *ranges)
{
	const char *name;
	json_t *pair;
	if (!json_is_object(ranges)) {
		return false;
	}
	json_object_foreach(ranges, name, pair)
	{
		if (json_array_size(pair) != 2 || !json_is_integer(json_array_get(pair, 0)) ||
		    !json_is_integer(json_array_get(pair, 1))) {
			return false;
		}
	}
	return true;
}

static int check_rule(json_t *rule, struct err *e)
{
	const char *key;
	json_t *value;
	if (!json_is_object(rule)) {
		return refuse(e, "a rule must be an object");
	}
	json_object_foreach(rule, key, value)
	{
		bool good = !strcmp(key, "names")     ? is_text_list(value, false)
			    : !strcmp(key, "classes") ? is_text_list(value, true)
			    : !strcmp(key, "ranges")  ? is_ranges(value)
						      : false;
		if (!good) {
			return err_set(e, -EBADMSG,
				       "%s: \"%.60s\" is not understood in a rule: nothing may be "
				       "set here",
				       POLICY_FILE, key);
		}
	}
	return 0;
}

static int take_users(struct policy *p, json_t *users, uid_t uid, struct err *e)
{
	char own[32];
	const char *key;
	json_t *rule;
	if (!json_is_object(users)) {
		return refuse(e, "\"users\" must be an object");
	}
	json_object_foreach(users, key, rule)
	{
		bool number = *key && !key[strspn(key, "0123456789")];
		if (!number && strcmp(key, "*")) {
			return refuse(e, "a user must be a number or \"*\"");
		}
		if (check_rule(rule, e)) {
			return -EBADMSG;
		}
	}
	snprintf(own, sizeof(own), "%u", (unsigned)uid);
	rule = json_object_get(users, own);
	p->user = json_incref(rule ? rule : json_object_get(users, "*"));
	return 0;
}

static int take_policy(struct policy *p, json_t *j, uid_t uid, struct err *e)
{
	int version, rc = 0;
	json_t *everyone = NULL, *users = NULL;
	json_error_t why;
	if (json_unpack_ex(j, &why, JSON_STRICT, "{s:i, s?o, s?o}", "tunesweep_policy", &version,
			   "everyone", &everyone, "users", &users)) {
		return refuse(e, why.text);
	}
	if (version != 1) {
		return refuse(e, "\"tunesweep_policy\" must be 1");
	}
	if (everyone) {
		rc = check_rule(everyone, e);
		p->everyone = rc ? NULL : json_incref(everyone);
	}
	return !rc && users ? take_users(p, users, uid, e) : rc;
}

int policy_load(const struct sysroot *root, uid_t uid, struct policy **out, struct err *e)
{
	char folder[512];
	bool is_test = root->prefix[0];
	*out = NULL;
	snprintf(folder, sizeof(folder), "%s%s", root->prefix, POLICY_FOLDER);
	auto_close int dir = open_checked(AT_FDCWD, folder, O_DIRECTORY, POLICY_FOLDER, is_test, e);
	if (dir < 0) {
		return dir == -ENOENT ? 0 : dir;
	}
	auto_close int fd = open_checked(dir, "policy.json", 0, POLICY_FILE, is_test, e);
	if (fd < 0) {
		return fd == -ENOENT ? 0 : fd;
	}
	auto_json json_t *j = read_file(fd, e);
	if (!j) {
		return -EBADMSG;
	}
	struct policy *p = calloc(1, sizeof(*p));
	int rc = p ? take_policy(p, j, uid, e) : err_set(e, -ENOMEM, "no memory");
	if (rc) {
		policy_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void policy_free(struct policy *p)
{
	if (p) {
		json_decref(p->everyone);
		json_decref(p->user);
		free(p);
	}
}

/* No list narrows nothing. */
static bool in_list(const json_t *rule, const char *key, const char *text)
{
	const json_t *list = json_object_get(rule, key);
	size_t i;
	json_t *one;
	if (!list) {
		return true;
	}
	json_array_foreach((json_t *)list, i, one)
	{
		if (!fnmatch(json_string_value(one), text, FNM_NOESCAPE)) {
			return true;
		}
	}
	return false;
}

static int check_setting(const json_t *rule, const struct setting *s, struct err *e)
{
	const char *class = class_word(s->tunable->class);
	if (!in_list(rule, "names", s->name)) {
		return err_set(e, -EPERM, "%s: %s does not let it be set", s->name, POLICY_FILE);
	}
	if (!in_list(rule, "classes", class)) {
		return err_set(e, -EPERM, "%s: %s lets nothing of class %s be set", s->name,
			       POLICY_FILE, class);
	}
	return 0;
}

int policy_check_setting(const struct policy *p, const struct setting *s, struct err *e)
{
	int rc = p ? check_setting(p->everyone, s, e) : 0;
	return !rc && p ? check_setting(p->user, s, e) : rc;
}

static int check_number(const json_t *rule, const struct setting *s, const char *field,
			const char *word, struct err *e)
{
	char name[TUNABLE_NAME_MAX + TUNABLE_FIELD_MAX + 2];
	const char *pattern;
	json_t *pair;
	int64_t i;
	snprintf(name, sizeof(name), "%s%s%s", s->name, *field ? "." : "", field);
	json_object_foreach(json_object_get(rule, "ranges"), pattern, pair)
	{
		int64_t min = json_integer_value(json_array_get(pair, 0));
		int64_t max = json_integer_value(json_array_get(pair, 1));
		if (fnmatch(pattern, s->name, FNM_NOESCAPE) &&
		    fnmatch(pattern, name, FNM_NOESCAPE)) {
			continue;
		}
		if (scalar_int(word, &i, NULL) || i < min || i > max) {
			return err_set(e, -EPERM,
				       "%s: %s lets it be from %" PRId64 " to %" PRId64
				       ", not '%.40s'",
				       name, POLICY_FILE, min, max, word);
		}
	}
	return 0;
}

/* Each number of a value: of all fields at once, or of an unlisted key. */
static int check_value(const json_t *rule, const struct setting *s, const char *field,
		       const struct value *v, struct err *e)
{
	char text[VALUE_TEXT_MAX], *save = NULL;
	const struct tunable *t = s->tunable;
	size_t i = 0;
	value_format(v, UNIT_NONE, text, sizeof(text));
	if (v->type == VALUE_BOOL) {
		snprintf(text, sizeof(text), "%d", v->i != 0);
	}
	for (char *w = strtok_r(text, " \t", &save); w; w = strtok_r(NULL, " \t", &save), i++) {
		bool whole = !*field && i < ARRAY_SIZE(t->fields) && t->fields[i];
		int rc = check_number(rule, s, whole ? t->fields[i] : field, w, e);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

int policy_check_value(const struct policy *p, const struct setting *s, const char *field,
		       const struct value *v, struct err *e)
{
	int rc = policy_check_setting(p, s, e);
	rc = !rc && p ? check_value(p->everyone, s, field, v, e) : rc;
	return !rc && p ? check_value(p->user, s, field, v, e) : rc;
}
