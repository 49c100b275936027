/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back ends of cpu.governor and cpu.energy_preference: a word for each cpufreq policy; all get
 * the same one, and each gets its own one back. cpu_latency.c has the third. Called by tunable.c
 * through cpu_ops.
 */
#include "cleanup.h"
#include "tunable_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "/sys/devices/system/cpu/cpufreq"

enum { POLICIES_MAX = 1024 };

struct kind {
	const char *name, *file, *available;
};

static const struct kind *kind_of(const struct setting *s)
{
	static const struct kind kinds[] = {
		{"cpu.governor", "scaling_governor", "scaling_available_governors"},
		{"cpu.energy_preference", "energy_performance_preference",
		 "energy_performance_available_preferences"},
	};
	return &kinds[strcmp(s->name, kinds[0].name) != 0];
}

/* "policy0", "policy4", ...: those that have the file; -ENOENT for none. The caller frees. */
static int policies(const struct sysroot *root, const struct kind *kind, char (**names)[64],
		    struct err *e)
{
	*names = calloc(POLICIES_MAX, sizeof(**names));
	int n = *names ? sysfile_list(root, FOLDER, *names, POLICIES_MAX) : -ENOMEM;
	int kept = 0;
	for (int i = 0; i < n; i++) {
		char path[192];
		snprintf(path, sizeof(path), FOLDER "/%s/%s", (*names)[i], kind->file);
		if (!strncmp((*names)[i], "policy", 6) && sysfile_exists(root, path)) {
			memmove((*names)[kept++], (*names)[i], sizeof((*names)[i]));
		}
	}
	return kept ? kept
		    : err_set(e, -ENOENT, "this machine has no %s (a virtual machine seldom has)",
			      kind->file);
}

static int policy_read(const struct sysroot *root, const struct kind *kind, const char *policy,
		       char word[64], struct err *e)
{
	char path[192];
	snprintf(path, sizeof(path), FOLDER "/%s/%s", policy, kind->file);
	return sysfile_read(root, path, word, 64, e);
}

/* One word if all have the same, else "policy0=powersave policy4=performance". */
static int cpu_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e)
{
	auto_free char(*names)[64] = NULL;
	char first[64], word[64];
	size_t used = 0;
	bool same = true;
	int n = policies(root, kind_of(s), &names, e);
	for (int i = 0; i < n; i++) {
		int r = policy_read(root, kind_of(s), names[i], word, e);
		if (r) {
			return r;
		}
		if (i == 0) {
			strcpy(first, word);
		}
		same = same && !strcmp(first, word);
		used += (size_t)snprintf(text + used, size - used, "%s%s=%s", i ? " " : "",
					 names[i], word);
		if (used >= size) {
			return err_set(e, -ENAMETOOLONG, "%s: too many policies", s->name);
		}
	}
	if (n > 0 && same) {
		snprintf(text, size, "%s", first);
	}
	return n < 0 ? n : 0;
}

/* The word for a policy in such a text; "" if it is not named there. */
static void word_for(const char *text, const char *policy, char word[64])
{
	size_t len = strlen(policy);
	*word = 0;
	if (!strchr(text, '=')) {
		snprintf(word, 64, "%.63s", text);
		return;
	}
	for (const char *p = text; p; p = strchr(p, ' ')) {
		p += strspn(p, " ");
		if (!strncmp(p, policy, len) && p[len] == '=') {
			p += len + 1;
			size_t n = strcspn(p, " ");
			snprintf(word, 64, "%.*s", (int)(n < 63 ? n : 63), p);
			return;
		}
	}
}

static int cpu_write(const struct sysroot *root, const struct setting *s, const char *text,
		     struct err *e)
{
	auto_free char(*names)[64] = NULL;
	const struct kind *kind = kind_of(s);
	int n = policies(root, kind, &names, e), r = n < 0 ? n : 0;
	for (int i = 0; i < n; i++) {
		char path[192], word[64], now[64];
		word_for(text, names[i], word);
		if (!*word ||
		    (!policy_read(root, kind, names[i], now, NULL) && !strcmp(now, word))) {
			continue;
		}
		snprintf(path, sizeof(path), FOLDER "/%s/%s", names[i], kind->file);
		int w = sysfile_write(root, path, word, r ? NULL : e);
		r = r ? r : w;
	}
	return r;
}

static bool cpu_word(const struct sysroot *root, const struct setting *s, const char *text,
		     struct value *out)
{
	(void)root;
	(void)s;
	*out = value_text(strchr(text, '=') ? TUNABLE_AS_FOUND : text);
	return true;
}

static void add_choices(const struct sysroot *root, const struct kind *kind, const char *policy,
			struct tunable_range *range)
{
	char path[192], words[1024], *save = NULL;
	snprintf(path, sizeof(path), FOLDER "/%s/%s", policy, kind->available);
	if (sysfile_read(root, path, words, sizeof(words), NULL)) {
		return;
	}
	for (char *w = strtok_r(words, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
		if (range->n_choices < TUNABLE_CHOICES_MAX &&
		    strlen(w) < sizeof(range->choices[0])) {
			strcpy(range->choices[range->n_choices++], w);
		}
	}
}

static int cpu_probe(const struct sysroot *root, const struct setting *s, const char *field,
		     struct tunable_range *range, struct err *e)
{
	auto_free char(*names)[64] = NULL;
	char text[SETTING_TEXT_MAX], path[192];
	struct err why = {0};
	(void)field;
	(void)e;
	if (policies(root, kind_of(s), &names, &why) < 0 ||
	    cpu_read(root, s, text, sizeof(text), &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	cpu_word(root, s, text, &range->present);
	add_choices(root, kind_of(s), names[0], range);
	snprintf(path, sizeof(path), FOLDER "/%s/%s", names[0], kind_of(s)->file);
	range->settable = sysfile_settable(root, path, range->why_not, sizeof(range->why_not));
	return 0;
}

const struct tunable_ops cpu_ops = {
	.probe = cpu_probe,
	.read = cpu_read,
	.write = cpu_write,
	.word = cpu_word,
};
