/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list of Ansible tasks: sysctls as a file of sysctl.d, what belongs to devices as udev rules,
 * the rest as a script with its own way back, each loaded when it has changed. Only modules that
 * come with Ansible itself; a profile's text is never a template.
 */
#include "cleanup.h"
#include "export_format.h"
#include <errno.h>
#include <string.h>

static const char *refuses(const struct export_object *o)
{
	const char *why = export_sysctl.refuses(o);
	why = why ? export_udev.refuses(o) : NULL;
	return why ? export_shell.refuses(o) : NULL;
}

/* A script sets what nothing else does. */
static bool is_for(const struct export_format *format, const struct export_object *o)
{
	bool others = format == &export_shell &&
		      (!export_sysctl.refuses(o) || !export_udev.refuses(o));
	return !*o->refused && !others && !format->refuses(o);
}

/* The file of another format, as a block of YAML; *any is whether it says anything. */
static int embed(FILE *f, const struct export_job *j, const struct export_format *format, bool *any,
		 struct err *e)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);
	struct export_job part = {.request = j->request, .n = 0};
	memcpy(part.name, j->name, sizeof(part.name));
	part.objects = calloc(j->n + 1, sizeof(*part.objects));
	int rc = memory && part.objects ? 0 : err_set(e, -ENOMEM, "out of memory");
	for (size_t i = 0; rc == 0 && i < j->n; i++) {
		if (is_for(format, &j->objects[i])) {
			part.objects[part.n++] = j->objects[i];
		}
	}
	rc = rc ? rc : format->write(memory, &part, e);
	free(part.objects);
	if (memory) {
		fclose(memory);
	}
	char *save = NULL;
	*any = rc == 0 && part.n > 0;
	for (char *line = *any && f ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		fprintf(f, "      %s\n", line);
	}
	return rc;
}

static int write_copy(FILE *f, const struct export_job *j, const struct export_format *format,
		      const char *what, const char *path, const char *mode, const char *load,
		      struct err *e)
{
	bool any = false;
	int rc = embed(NULL, j, format, &any, e);
	if (rc || !any) {
		return rc;
	}
	fprintf(f,
		"- name: \"tunesweep %s: %s\"\n"
		"  ansible.builtin.copy:\n"
		"    dest: %s\n"
		"    owner: root\n"
		"    group: root\n"
		"    mode: \"%s\"\n"
		"    content: !unsafe |\n%s",
		j->name, what, path, mode, format == &export_shell ? "      #!/bin/sh\n" : "");
	rc = embed(f, j, format, &any, e);
	fprintf(f,
		"  register: tunesweep_%s\n"
		"\n"
		"- name: \"tunesweep %s: load %s\"\n"
		"  ansible.builtin.shell: %s\n"
		"  when: tunesweep_%s is changed\n"
		"\n",
		format->name, j->name, what, load, format->name);
	return rc;
}

static int write_tasks(FILE *f, const struct export_job *j, struct err *e)
{
	char path[160], load[220];
	fputs("---\n", f);
	snprintf(path, sizeof(path), "/etc/sysctl.d/90-tunesweep-%s.conf", j->name);
	snprintf(load, sizeof(load), "sysctl --load %s", path);
	int rc = write_copy(f, j, &export_sysctl, "sysctls", path, "0644", load, e);
	snprintf(path, sizeof(path), "/etc/udev/rules.d/90-tunesweep-%s.rules", j->name);
	rc = rc ? rc
		: write_copy(f, j, &export_udev, "devices", path, "0644",
			     "udevadm control --reload && udevadm trigger --action=add "
			     "--subsystem-match=net --subsystem-match=cpu",
			     e);
	snprintf(path, sizeof(path), "/usr/local/sbin/tunesweep-%s", j->name);
	snprintf(load, sizeof(load), "%s start", path);
	return rc ? rc : write_copy(f, j, &export_shell, "the rest", path, "0755", load, e);
}

const struct export_format export_ansible = {
	.name = "ansible",
	.suffix = ".yaml",
	.where = "A list of tasks (ansible.builtin.import_tasks) for hosts that get profile %s.",
	.wants_whole = true,
	.refuses = refuses,
	.write = write_tasks,
};
