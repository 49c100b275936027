/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PROFILE argument of the profile commands: a path first, else the name of a profile in
 * /etc/tunesweep/profiles or among those that came with the program, with the role that this
 * machine plays behind a colon (so that one word does for a systemd unit's instance).
 */
#include "cleanup.h"
#include "targets.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* Beside the program: installed (bin and share are neighbours), or in the tree it was built in. */
static bool find_named(const struct cli *c, const char *name, char *path)
{
	static const char *const folders[] = {"/../share/tunesweep/profiles",
					      "/../profiles/shipped"};
	snprintf(path, PATH_MAX, "/etc/tunesweep/profiles/%s.yaml", name);
	if (is_file(path)) {
		return true;
	}
	const char *slash = strrchr(c->program, '/');
	int length = slash ? (int)(slash - c->program) : 0;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, PATH_MAX, "%.*s%s/%s.yaml", length, c->program, folders[i], name);
		if (is_file(path)) {
			return true;
		}
	}
	return false;
}

/* As if --host ROLE=local had been given. */
static int take_role(struct cli *c, const char *role, struct err *e)
{
	if (!*role) {
		return err_usage(e, "%s: a role is wanted behind the colon", c->args[0]);
	}
	if (c->n_repeated == CLI_HOSTS_MAX) {
		return err_usage(e, "--host is given more than %d times", CLI_HOSTS_MAX);
	}
	if (snprintf(c->role, sizeof(c->role), "%s=local", role) >= (int)sizeof(c->role)) {
		return err_usage(e, "%s: the role's name is too long", c->args[0]);
	}
	c->repeated[c->n_repeated++] = c->role;
	return 0;
}

/* The path of an installed profile by NAME or NAME:ROLE; role (may be NULL) gets what follows the
 * colon, or NULL. */
static bool find_word(const struct cli *c, const char *word, char *path, const char **role)
{
	char name[100];
	const char *colon = strchr(word, ':');
	size_t length = colon ? (size_t)(colon - word) : strlen(word);
	if (role) {
		*role = colon ? colon + 1 : NULL;
	}
	if (strchr(word, '/') || length >= sizeof(name)) {
		return false;
	}
	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	return find_named(c, name, path);
}

/* A file's path with a colon and something behind it, where no file has that whole name. */
static bool has_role(const char *word)
{
	char path[PATH_MAX];
	const char *colon = strrchr(word, ':');
	snprintf(path, sizeof(path), "%.*s", colon ? (int)(colon - word) : 0, word);
	return colon && !is_file(word) && is_file(path);
}

bool targets_is_profile(const struct cli *c, const char *word)
{
	char path[PATH_MAX];
	return is_file(word) || find_word(c, word, path, NULL);
}

int targets_load_profile(struct cli *c, struct profile *p, struct err *e)
{
	char path[PATH_MAX];
	const char *word = c->args[0], *role = NULL;
	if (is_file(word) || !find_word(c, word, path, &role)) {
		return has_role(word) ? err_usage(e,
						  "%s: a role goes with the name of an installed "
						  "profile; of a file say --host ROLE=local",
						  word)
				      : profile_load(word, p, e);
	}
	int rc = role ? take_role(c, role, e) : 0;
	return rc ? rc : profile_load(path, p, e);
}
