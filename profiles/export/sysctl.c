/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sysctl.d: a line a key, without quotes, which procps would hand to the kernel, in the slash
 * spelling where a device has a dot (sysctl.d(5)).
 */
#include "export_format.h"

static const char *refuses(const struct export_object *o)
{
	return export_setting(o)->tunable->backend == BACKEND_SYSCTL
		       ? NULL
		       : "no sysctl (--format udev or shell)";
}

static int write_file(FILE *f, const struct export_job *j, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < j->n; i++) {
		const struct export_object *o = &j->objects[i];
		if (!*o->refused) {
			fprintf(f, "%s%s = %s\n", export_optional(o) ? "-" : "",
				export_setting(o)->name, o->text);
		}
	}
	return 0;
}

const struct export_format export_sysctl = {
	.name = "sysctl",
	.suffix = ".conf",
	.where = "Belongs in /etc/sysctl.d/90-tunesweep-%s.conf; sysctl --load reads it at once.",
	.wants_whole = true,
	.refuses = refuses,
	.write = write_file,
};
