/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep help: what --help says, and the same tables as words for shell completion and as mdoc
 * for the manual pages, so that none of the three can drift from the parser. Prints only.
 */
#include "cli.h"
#include <ctype.h>
#include <string.h>

static const struct cli_option options[] = {
	{"mdoc", 0, NULL, "print what the manual page has from the program's own tables", false},
	{"words", 0, NULL, "print commands, or a command's options, a line each, for completion",
	 false},
	{0},
};

void cli_usage(const struct command *const *commands, FILE *out)
{
	fputs("Usage: tunesweep COMMAND [OPTION...] [ARGUMENT...]\n\n", out);
	for (size_t i = 0; commands[i]; i++) {
		int at = fprintf(out, "  %-11s ", commands[i]->name);
		cli_print_wrapped(out, commands[i]->summary, (size_t)at, 14);
	}
	fputc('\n', out);
	cli_print_wrapped(
		out,
		"tunesweep COMMAND --help tells more. Exit status: 0 done, 1 the answer "
		"is no, 2 usage, 3 the system refuses, 4 something could not be restored, "
		"130 interrupted.",
		0, 0);
}

/* Usage words to mdoc arguments: "[" and "]" have their macros, the rest is Ar. */
static void print_arguments(const char *words)
{
	bool optional = strchr(words, '[') != NULL;
	fputs(*words ? (optional ? ".Op Ar " : ".Ar ") : "", stdout);
	for (; *words; words++) {
		if (*words != '[' && *words != ']') {
			putchar(*words);
		}
	}
	fputs("\n", stdout);
}

static void mdoc_command(const struct command *c)
{
	const struct cli_option *o;
	printf(".Sh NAME\n.Nm tunesweep-%s\n.Nd ", c->name);
	putchar(tolower((unsigned char)c->summary[0]));
	cli_print_roff(c->summary + 1);
	printf("\n.Sh SYNOPSIS\n.Nm tunesweep\n.Cm %s\n.Op Ar OPTION ...\n", c->name);
	if (*c->arguments) {
		print_arguments(c->arguments);
	}
	puts(".\\\" TEXT\n.Pp\nThe options are as follows:\n.Bl -tag -width Ds");
	for (size_t i = 0; (o = cli_option_at(c, i)); i++) {
		fputs(".It", stdout);
		if (o->letter) {
			printf(" Fl %c", o->letter);
			if (o->argument) {
				printf(" Ar %s", o->argument);
			}
			fputs(" ,", stdout);
		}
		printf(" Fl \\-%s", o->name);
		if (o->argument) {
			printf(" Ar %s", o->argument);
		}
		fputs("\n", stdout);
		cli_print_roff(o->help);
		fputs(".\n", stdout);
	}
	puts(".El");
}

/* The list of commands of tunesweep.1. */
static void mdoc_commands(const struct cli *c)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; c->commands[i]; i++) {
		printf(".It Xr tunesweep-%s 1\n", c->commands[i]->name);
		cli_print_roff(c->commands[i]->summary);
		puts(".");
	}
	puts(".El");
}

static void words_of_command(const struct command *c)
{
	const struct cli_option *o;
	for (size_t i = 0; (o = cli_option_at(c, i)); i++) {
		printf("--%s%s%s\n", o->name, o->argument ? " " : "",
		       o->argument ? o->argument : "");
	}
}

static int run_help(struct cli *c)
{
	struct err e = {0};
	bool mdoc = cli_value(c, "mdoc"), words = cli_value(c, "words");
	if (mdoc && c->n_args && !strcmp(c->args[0], "tunables")) {
		cli_mdoc_tunables();
		return CLI_DONE;
	}
	const struct command *one = c->n_args ? cli_find_command(c->commands, c->args[0], &e)
					      : NULL;
	if (c->n_args && !one) {
		return cli_fail(c, &e);
	}
	if (!one && !mdoc && !words) {
		cli_usage(c->commands, stdout);
	} else if (!one && mdoc) {
		mdoc_commands(c);
	} else if (!one) {
		for (size_t i = 0; c->commands[i]; i++) {
			puts(c->commands[i]->name);
		}
	} else if (mdoc) {
		mdoc_command(one);
	} else if (words) {
		words_of_command(one);
	} else {
		cli_help(one);
	}
	return CLI_DONE;
}

const struct command command_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.max_args = 1,
	.summary = "Say how a command is used",
	.options = options,
	.run = run_help,
};
