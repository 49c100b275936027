/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A POSIX shell script that sets everything or nothing, and has its own way back. Fields of a
 * triple that the profile does not name stay as the machine has them when it runs.
 */
#include "export_format.h"
#include <string.h>

static const char head[] =
	"# Usage: SCRIPT start | stop | status\n"
	"#   start   sets all of it, and keeps the old values; if one is refused, none stays\n"
	"#   stop    puts the old values back\n"
	"#   status  0: all values are set; 1: they are not\n"
	"set -u\n";

/* Old values are written before the first change: a line each, "FILE<tab>TEXT", "!N<tab>" for a
 * command that has a way back, or "!WORDS<tab>" for the command that is the way back. */
static const char tools[] =
	"\n"
	"fail() {\n"
	"\techo \"$0: $*\" >&2\n"
	"\treturn 1\n"
	"}\n"
	"# keep WHAT OLD: once, on disk before the change\n"
	"keep() {\n"
	"\tcut -f 1 \"$state\" 2>/dev/null | grep -qxF -- \"$1\" && return 0\n"
	"\tprintf '%s\\t%s\\n' \"$1\" \"$2\" >>\"$state\" || fail \"cannot write $state\"\n"
	"}\n"
	"# same A B: whatever blanks lie between the numbers\n"
	"same() {\n"
	"\t[ \"$(printf '%s' \"$1\" | tr -s '\\t ' '  ')\" = \"$(printf '%s' \"$2\" | tr -s '\\t ' "
	"'  "
	"')\" ]\n"
	"}\n"
	"# put FILE TEXT [optional]: the kernel may refuse, or take something else\n"
	"put() {\n"
	"\tif [ ! -e \"$1\" ]; then\n"
	"\t\t[ \"${3:-}\" = optional ] && return 0\n"
	"\t\tfail \"there is no $1\"\n"
	"\t\treturn 1\n"
	"\tfi\n"
	"\tif [ \"$check\" = yes ]; then\n"
	"\t\tsame \"$(cat \"$1\")\" \"$2\" || fail \"$1 is '$(cat \"$1\")', not '$2'\"\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tkeep \"$1\" \"$(cat \"$1\")\" || return 1\n"
	"\tprintf '%s\\n' \"$2\" >\"$1\" || { fail \"$1: cannot be set to '$2'\"; return 1; }\n"
	"\tsame \"$(cat \"$1\")\" \"$2\" || fail \"$1 is '$(cat \"$1\")' after '$2' was written\"\n"
	"}\n"
	"# field TEXT N VALUE: the text with its field N replaced\n"
	"field() {\n"
	"\tprintf '%s\\n' \"$1\" | awk -v n=\"$2\" -v v=\"$3\" '{ $n = v; print }'\n"
	"}\n";

static const char tail[] =
	"\n"
	"undo() {\n"
	"\t[ -e \"$state\" ] || return 0\n"
	"\tleft=0\n"
	"\ttab=$(printf '\\t')\n"
	"\tsed '1!G;h;$!d' \"$state\" >\"$state.back\" || return 1\n"
	"\twhile IFS=$tab read -r what old; do\n"
	"\t\tcase $what in\n"
	"\t\t'!'*) undo_command \"${what#!}\" || left=1 ;;\n"
	"\t\t*) { [ ! -e \"$what\" ] || printf '%s\\n' \"$old\" >\"$what\"; } || left=1 ;;\n"
	"\t\tesac\n"
	"\tdone <\"$state.back\"\n"
	"\t[ \"$left\" = 0 ] || { fail \"not all could be put back; the old values are in "
	"$state\"; "
	"return 1; }\n"
	"\trm -f \"$state\" \"$state.back\"\n"
	"}\n"
	"\n"
	"check=no\n"
	"case ${1:-} in\n"
	"start)\n"
	"\tset_all && exit 0\n"
	"\tundo || exit 4\n"
	"\texit 3\n"
	"\t;;\n"
	"stop) undo || exit 4 ;;\n"
	"status)\n"
	"\tcheck=yes\n"
	"\tset_all || exit 1\n"
	"\t;;\n"
	"*)\n"
	"\techo \"usage: $0 start | stop | status\" >&2\n"
	"\texit 2\n"
	"\t;;\n"
	"esac\n";

#define CALL_MAX 2048

static const char *refuses(const struct export_object *o)
{
	struct export_way way;
	char call[CALL_MAX];
	const char *why = NULL;
	if (export_call(o, call, sizeof(call), &why) == 0) {
		return NULL;
	}
	if (why || export_way(o, &way) < 0) {
		return why ? why : "neither a file nor a command sets it alone (tunesweep apply)";
	}
	if (way.kind == WAY_COMMAND && !*way.undo) {
		return "the profile does not say what it was, so that there is no way back";
	}
	return NULL;
}

/* Whatever is in it: between single quotes a shell reads nothing. */
static void put_quoted(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", f);
		} else {
			fputc(*text, f);
		}
	}
	fputc('\'', f);
}

/* What the file shall hold: the whole text, or the present one with fields replaced. */
static void put_text(FILE *f, const struct export_object *o, const char *path)
{
	const struct setting *s = export_setting(o);
	if (*o->text) {
		put_quoted(f, o->text);
		return;
	}
	fputc('"', f);
	for (size_t i = 0; i < o->n_parts; i++) {
		fputs("$(field \"", f);
	}
	fprintf(f, "$(cat '%s')", path);
	for (size_t i = 0; i < o->n_parts; i++) {
		const struct assignment *a = &o->parts[i]->assignment;
		char word[32];
		fprintf(f, "\" %d %s)", tunable_field_index(s->tunable, a->field) + 1,
			value_format(&a->value, UNIT_NONE, word, sizeof(word)));
	}
	fputc('"', f);
}

static void write_file_setting(FILE *f, const struct export_object *o, const struct export_way *way)
{
	const char *optional = export_optional(o) ? " optional" : "";
	const char *star = strchr(way->path, '*');
	if (star) {
		fprintf(f, "\tfor f in %s; do\n\t\tput \"$f\" ", way->path);
		put_text(f, o, way->path);
		fputs(" optional || return 1\n\tdone\n", f);
		return;
	}
	fputs("\tput ", f);
	put_quoted(f, way->path);
	fputc(' ', f);
	put_text(f, o, way->path);
	fprintf(f, "%s || return 1\n", optional);
}

/* Whether a command's value is set is asked of nobody: the text of these tools is not for reading.
 */
static void write_command(FILE *f, const struct export_object *o, const struct export_way *way,
			  size_t i)
{
	fprintf(f,
		"\tif [ \"$check\" = no ]; then\n\t\tkeep '!%zu' '' || return 1\n\t\t%s%s\n\tfi\n",
		i, way->command, export_optional(o) ? " || true" : " || return 1");
}

static void write_undo_commands(FILE *f, const struct export_job *j)
{
	fputs("\nundo_command() {\n\tcase $1 in\n", f);
	for (size_t i = 0; i < j->n; i++) {
		struct export_way way;
		if (!*j->objects[i].refused && export_way(&j->objects[i], &way) == 0 &&
		    way.kind == WAY_COMMAND) {
			fprintf(f, "\t%zu) %s ;;\n", i, way.undo);
		}
	}
	fputs("\t'ip '* | 'tc '* | 'unqdisc '*)\n\t\t# shellcheck disable=SC2086\n\t\t$1 "
	      "</dev/null\n\t\t;;\n"
	      "\t*) fail \"$state is not of this script\" ;;\n\tesac\n}\n",
	      f);
}

static bool any_call(const struct export_job *j)
{
	char call[CALL_MAX];
	const char *why;
	bool any = false;
	for (size_t i = 0; i < j->n; i++) {
		any = any || (!*j->objects[i].refused &&
			      !export_call(&j->objects[i], call, sizeof(call), &why));
	}
	return any;
}

/* parts: the parameters of what the others have put there, which come after it. */
static void write_setting(FILE *f, const struct export_job *j, size_t i, bool parts)
{
	const struct export_object *o = &j->objects[i];
	struct export_way way;
	char call[CALL_MAX];
	const char *why;
	if (*o->refused ||
	    parts != (export_after(export_setting(o)->name, "qdisc.root.") != NULL)) {
		return;
	}
	if (export_call(o, call, sizeof(call), &why) == 0) {
		fprintf(f, "\t%s%s\n", call, export_optional(o) ? " || true" : " || return 1");
	} else if (export_way(o, &way) == 0 && way.kind == WAY_FILE) {
		write_file_setting(f, o, &way);
	} else {
		write_command(f, o, &way, i);
	}
}

static int write_script(FILE *f, const struct export_job *j, struct err *e)
{
	(void)e;
	fputs(head, f);
	fprintf(f, "state=${TUNESWEEP_STATE:-/run/tunesweep-export-%s}\n", j->name);
	fputs(tools, f);
	fputs(any_call(j) ? export_call_tools : "", f);
	fputs("\nset_all() {\n", f);
	for (size_t i = 0; i < j->n; i++) {
		write_setting(f, j, i, false);
	}
	for (size_t i = 0; i < j->n; i++) {
		write_setting(f, j, i, true);
	}
	fputs("\treturn 0\n}\n", f);
	write_undo_commands(f, j);
	fputs(tail, f);
	return 0;
}

const struct export_format export_shell = {
	.name = "shell",
	.suffix = ".sh",
	.where = "Belongs wherever root runs scripts from; %s is its name below /run, too.",
	.refuses = refuses,
	.write = write_script,
};
