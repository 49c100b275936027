/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options by table: a command names its own, the common ones are added, and parsing and help come
 * from the same rows. Called by main.c and the commands.
 */
#include "cleanup.h"
#include "cli.h"
#include "value.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option common_options[] = {
	{"json", 0, NULL, "print JSON", false},
	{"store", 0, "FILE", "the store of results (default: results.db in the state directory)",
	 false},
	{"quiet", 'q', NULL, "say only what was asked for", false},
	{"verbose", 'v', NULL, "say more", false},
	{"help", 'h', NULL, "print this help", false},
	{"version", 0, NULL, "print the version", false},
};

static size_t count_own(const struct command *c)
{
	size_t n = 0;
	while (c->options && c->options[n].name) {
		n++;
	}
	return n;
}

const struct cli_option *cli_option_at(const struct command *c, size_t i)
{
	size_t own = count_own(c);
	if (i < own) {
		return &c->options[i];
	}
	return i - own < ARRAY_SIZE(common_options) ? &common_options[i - own] : NULL;
}

const struct command *cli_find_command(const struct command *const *commands, const char *name,
				       struct err *e)
{
	const char *names[64];
	size_t n = 0;
	for (; commands[n]; n++) {
		if (strcmp(name, commands[n]->name) == 0) {
			return commands[n];
		}
		names[n < ARRAY_SIZE(names) ? n : 0] = commands[n]->name;
	}
	const char *near = nearest_word(name, names, n < ARRAY_SIZE(names) ? n : ARRAY_SIZE(names));
	err_usage(e, "there is no command '%.100s'%s%s%s (tunesweep --help lists them)", name,
		  near ? "; nearest: '" : "", near ? near : "", near ? "'" : "");
	return NULL;
}

static int option_index(const struct command *c, const char *name)
{
	const struct cli_option *o;
	for (size_t i = 0; (o = cli_option_at(c, i)); i++) {
		if (strcmp(o->name, name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

const char *cli_value(const struct cli *c, const char *name)
{
	int i = option_index(c->command, name);
	return i < 0 ? NULL : c->values[i];
}

/* getopt's two tables from ours; val is the index plus 1000. */
static void make_getopt_tables(const struct command *c, struct option *longs, char *shorts)
{
	const struct cli_option *o;
	*shorts++ = '+';
	*shorts++ = ':';
	for (size_t i = 0; (o = cli_option_at(c, i)); i++) {
		longs[i] = (struct option){o->name, o->argument ? required_argument : no_argument,
					   NULL, 1000 + (int)i};
		if (o->letter) {
			*shorts++ = o->letter;
			if (o->argument) {
				*shorts++ = ':';
			}
		}
	}
	*shorts = '\0';
}

static int by_letter(const struct command *c, int letter)
{
	const struct cli_option *o;
	for (size_t i = 0; (o = cli_option_at(c, i)); i++) {
		if (o->letter == letter) {
			return (int)i;
		}
	}
	return -1;
}

static int bad_option(const struct cli *c, const char *word, struct err *e)
{
	const char *names[CLI_OPTIONS_MAX];
	size_t n = 0;
	const struct cli_option *o;
	for (; (o = cli_option_at(c->command, n)); n++) {
		names[n] = o->name;
	}
	const char *near = strncmp(word, "--", 2) == 0 ? nearest_word(word + 2, names, n) : NULL;
	return err_usage(e, "%s: there is no option '%s'%s%s (tunesweep %s --help lists them)",
			 c->command->name, word, near ? "; nearest: --" : "", near ? near : "",
			 c->command->name);
}

static int take_option(struct cli *c, int index, const char *argument, struct err *e)
{
	const struct cli_option *o = cli_option_at(c->command, (size_t)index);
	if (o->repeats) {
		if (c->n_repeated == CLI_HOSTS_MAX) {
			return err_usage(e, "--%s is given more than %d times", o->name,
					 CLI_HOSTS_MAX);
		}
		c->repeated[c->n_repeated++] = argument;
	} else if (c->values[index] && o->argument) {
		return err_usage(e, "--%s is given twice", o->name);
	}
	c->values[index] = o->argument ? argument : "";
	return 0;
}

/* getopt takes beginnings of names; a script must not break when a longer name is added. */
static bool is_spelt_out(const struct command *c, int index, const char *word)
{
	const char *name = cli_option_at(c, (size_t)index)->name;
	return strncmp(word, "--", 2) != 0 ||
	       (strncmp(word + 2, name, strlen(name)) == 0 &&
		(word[2 + strlen(name)] == '\0' || word[2 + strlen(name)] == '='));
}

/* Options and arguments may be mixed; what follows "--" is arguments. */
static int parse_words(struct cli *c, int argc, char **argv, struct err *e)
{
	struct option longs[CLI_OPTIONS_MAX + 1] = {0};
	char shorts[2 * CLI_OPTIONS_MAX + 4];
	int opt;
	make_getopt_tables(c->command, longs, shorts);
	opterr = 0;
	optind = 1;
	c->args = argv;
	while (optind < argc) {
		char *word = argv[optind];
		opt = getopt_long(argc, argv, shorts, longs, NULL);
		if (opt == -1 && optind < argc && strcmp(word, "--") != 0) {
			c->args[c->n_args++] = argv[optind++];
			continue;
		}
		if (opt == -1) {
			break;
		}
		if (opt == ':') {
			return err_usage(e, "%s: %s wants an argument", c->command->name, word);
		}
		int index = opt >= 1000 ? opt - 1000 : opt == '?' ? -1 : by_letter(c->command, opt);
		if (index >= 0 && !is_spelt_out(c->command, index, word)) {
			index = -1;
		}
		int rc = index < 0 ? bad_option(c, word, e) : take_option(c, index, optarg, e);
		if (rc < 0) {
			return rc;
		}
	}
	while (optind < argc) {
		c->args[c->n_args++] = argv[optind++];
	}
	return 0;
}

bool cli_has_word(int argc, char **argv, const char *word)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], word) == 0) {
			return true;
		}
	}
	return false;
}

int cli_parse(struct cli *c, int argc, char **argv, struct err *e)
{
	const struct command *k = c->command;
	int rc = parse_words(c, argc, argv, e);
	c->json = cli_value(c, "json") != NULL || (rc < 0 && cli_has_word(argc, argv, "--json"));
	if (rc < 0) {
		return rc;
	}
	if (cli_value(c, "help")) {
		cli_help(k);
		return 1;
	}
	if (cli_value(c, "version")) {
		printf("tunesweep %s\n", TUNESWEEP_VERSION);
		return 1;
	}
	c->quiet = cli_value(c, "quiet") != NULL;
	c->verbose = cli_value(c, "verbose") != NULL;
	if (c->n_args < k->min_args) {
		return err_usage(e, "%s: missing argument: tunesweep %s %s", k->name, k->name,
				 k->arguments);
	}
	if (k->max_args >= 0 && c->n_args > k->max_args) {
		return err_usage(e, "%s: unexpected argument '%s'", k->name, c->args[k->max_args]);
	}
	return 0;
}

void cli_help(const struct command *c)
{
	const struct cli_option *o;
	char summary[200];
	printf("Usage: tunesweep %s [OPTION...]%s%s\n\n", c->name, *c->arguments ? " " : "",
	       c->arguments);
	snprintf(summary, sizeof(summary), "%s.", c->summary);
	cli_print_wrapped(stdout, summary, 0, 0);
	putchar('\n');
	if (c->details) {
		cli_print_wrapped(stdout, c->details, 0, 0);
		putchar('\n');
	}
	for (size_t i = 0; (o = cli_option_at(c, i)); i++) {
		char left[64];
		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name,
			 o->argument ? " " : "", o->argument ? o->argument : "");
		int at = printf("  %-28s ", left);
		cli_print_wrapped(stdout, o->help, (size_t)at, 31);
	}
}

int cli_int(const struct cli *c, const char *name, int64_t lo, int64_t hi, int64_t *out,
	    struct err *e)
{
	const char *text = cli_value(c, name);
	if (!text) {
		return 0;
	}
	if (scalar_int(text, out, e) < 0) {
		return err_wrap(e, "--%s", name);
	}
	if (*out < lo || *out > hi) {
		return err_usage(e, "--%s: %s is not between %lld and %lld", name, text,
				 (long long)lo, (long long)hi);
	}
	return 0;
}

int cli_time(const struct cli *c, const char *name, double *seconds, struct err *e)
{
	const char *text = cli_value(c, name);
	if (!text) {
		return 0;
	}
	if (scalar_time(text, seconds, e) < 0) {
		return err_wrap(e, "--%s", name);
	}
	return *seconds > 0 ? 0 : err_usage(e, "--%s: %s is not a time above zero", name, text);
}
