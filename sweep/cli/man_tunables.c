/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The catalogue as the list of tunesweep-tunables(7), so that the page cannot say other than the
 * program does. Printed for the build by tunesweep help --mdoc tunables.
 */
#include "cli.h"
#include "tunable.h"
#include "value.h"
#include <string.h>

/* A dot or quote at the start of a line cannot occur: text always follows a macro or a word. */
void cli_print_roff(const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '\\':
			fputs("\\e", stdout);
			break;
		case '-':
			fputs("\\-", stdout);
			break;
		case '"':
			fputs("\\(dq", stdout);
			break;
		default:
			putchar(*text);
		}
	}
}

const char *cli_unit_word(enum value_unit unit)
{
	switch (unit) {
	case UNIT_BYTES:
		return "bytes";
	case UNIT_US:
		return "us";
	case UNIT_NS:
		return "ns";
	case UNIT_BITRATE:
		return "bit/s";
	case UNIT_PACKETS:
		return "packets";
	default:
		return "";
	}
}

static const char *class_words(enum tunable_class class)
{
	switch (class) {
	case CLASS_UNSAFE:
		return "touches safety or compatibility: wants allow: [unsafe]";
	case CLASS_DISRUPTIVE:
		return "can drop the link: wants allow: [disruptive]";
	case CLASS_DRIVER_REBIND:
		return "binds the driver anew: wants allow: [driver-rebind]";
	default:
		return NULL;
	}
}

/* Values, in words: "bytes", "boolean", or the words that are taken. */
static void print_values(const struct tunable *t)
{
	const char *unit = cli_unit_word(t->unit);
	if (t->type == VALUE_BOOL) {
		puts("Boolean.");
	} else if (t->choices && t->choices[0]) {
		fputs("One of", stdout);
		for (size_t i = 0; t->choices[i]; i++) {
			fputs(i ? ", " : " ", stdout);
			cli_print_roff(t->choices[i]);
		}
		puts(".");
	} else if (*unit) {
		printf("In %s.\n", unit);
	}
	if (t->fields[0]) {
		fputs("Fields:", stdout);
		for (size_t i = 0; i < sizeof(t->fields) / sizeof(t->fields[0]) && t->fields[i];
		     i++) {
			printf("%s %s", i ? "," : "", t->fields[i]);
		}
		puts(".");
	}
}

static void print_entry(const struct tunable *t)
{
	const char *class = class_words(t->class);
	fputs(".It Cm ", stdout);
	cli_print_roff(t->name);
	putchar('\n');
	cli_print_roff(t->help);
	putchar('\n');
	print_values(t);
	if (t->affects[0]) {
		fputs("Changes along with it:", stdout);
		for (size_t i = 0; i < sizeof(t->affects) / sizeof(t->affects[0]) && t->affects[i];
		     i++) {
			fputs(i ? ", " : " ", stdout);
			cli_print_roff(t->affects[i]);
		}
		puts(".");
	}
	if (class) {
		putchar('(');
		cli_print_roff(class);
		puts(")");
	}
}

static void print_scope(enum tunable_scope scope)
{
	size_t n;
	const struct tunable *all = tunable_catalog(&n);
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < n; i++) {
		if (all[i].scope == scope) {
			print_entry(&all[i]);
		}
	}
	puts(".El");
}

void cli_mdoc_tunables(void)
{
	puts(".Ss Of the host: journaled, read back, rolled back");
	print_scope(SCOPE_HOST);
	puts(".Ss Of the test's own sockets and processes: they end with it");
	print_scope(SCOPE_RUN);
}
