/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A drop-in for the program's own systemd unit: where its memory comes from and where it runs. The
 * rest of the run scope only the program can ask for; each is named in a comment.
 */
#include "cleanup.h"
#include "export_format.h"
#include <string.h>

static const char *refuses(const struct export_object *o)
{
	(void)o;
	return "of the machine, not of a program (--format sysctl, link, udev or shell)";
}

/* NULL if systemd has no words for it. */
static const char *policy_lines(const char *word, char *buf, size_t size)
{
	static const char *const plain[] = {"default", "local"};
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		if (strcmp(word, plain[i]) == 0) {
			snprintf(buf, size, "NUMAPolicy=%s\n", word);
			return buf;
		}
	}
	if (strcmp(word, "interleave") == 0) {
		return "NUMAPolicy=interleave\nNUMAMask=all\n";
	}
	const char *node = export_after(word, "bind:");
	const char *preferred = export_after(word, "preferred:");
	const char *mask = node ? node : preferred;
	if (!mask || !*mask || mask[strspn(mask, "0123456789")]) {
		return NULL;
	}
	snprintf(buf, size, "NUMAPolicy=%s\nNUMAMask=%s\n", node ? "bind" : "preferred", mask);
	return buf;
}

static void write_setting(FILE *f, const struct profile_setting *s)
{
	const char *name = s->assignment.setting.name, *text = s->assignment.value.text;
	char buf[VALUE_TEXT_MAX + 64];
	const char *lines = strcmp(name, "numa.policy") == 0 ? policy_lines(text, buf, sizeof(buf))
							     : NULL;
	if (lines) {
		fputs(lines, f);
	} else if (strcmp(name, "numa.cpu") == 0 && *text && !text[strspn(text, "0123456789,-")]) {
		fprintf(f, "CPUAffinity=%s\n", text);
	} else if (strcmp(name, "numa.cpu") == 0) {
		fprintf(f, "# CPUAffinity=: write the CPUs that '%s' means on that machine\n",
			export_is_plain(text) ? text : "?");
	} else {
		value_format(&s->assignment.value, s->assignment.setting.tunable->unit, buf,
			     sizeof(buf));
		fprintf(f, "# The program itself asks for it: %s = %s\n", name,
			export_is_plain(buf) ? buf : "?");
	}
}

static int write_file(FILE *f, const struct export_job *j, struct err *e)
{
	const struct profile *p = j->request->profile;
	(void)e;
	fputs("[Service]\n", f);
	for (size_t i = 0; i < p->n_application; i++) {
		const struct profile_setting *s = &p->application[i];
		if (!*s->host || strcmp(s->host, j->request->host) == 0) {
			write_setting(f, s);
		}
	}
	return 0;
}

const struct export_format export_dropin = {
	.name = "systemd-dropin",
	.suffix = ".conf",
	.where = "Belongs in /etc/systemd/system/UNIT.service.d/tunesweep-%s.conf of the program's "
		 "UNIT.",
	.takes_application = true,
	.refuses = refuses,
	.write = write_file,
};
