/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of a forbid expression and their places. It knows no tunables. Called by spec/forbid.c.
 */
#include "forbid_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BLANK	" \t\n"
#define SPECIAL BLANK "()<>=!&|'\""

/* Where the scalar's own text stands in the file; NULL if that cannot be told (folded, escaped). */
static const char *raw_text(const struct forbid *f)
{
	const char *line = f->s->text;
	for (unsigned n = yaml_line(f->at); line && n > 1; n--) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	size_t column = yaml_column(f->at) - 1 + yaml_quoted(f->at);
	return line && strlen(line) > column ? line + column : NULL;
}

int forbid_error(struct forbid *f, const char *fmt, ...)
{
	char sentence[600];
	const char *raw = raw_text(f);
	struct spec_place place = f->rule->place;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	if (raw && strncmp(raw, f->text, f->token.at) == 0) {
		place.column += (unsigned)(f->token.at + yaml_quoted(f->at));
	}
	return spec_error(f->s, place, f->e, "forbid: %s", sentence);
}

static int take(struct forbid *f, enum token_kind kind, const char *from, size_t n)
{
	f->token.kind = kind;
	if (n >= sizeof(f->token.text)) {
		return forbid_error(f, "a word of %zu characters", n);
	}
	memcpy(f->token.text, from, n);
	f->token.text[n] = '\0';
	return 0;
}

static int take_comparison(struct forbid *f, const char *p)
{
	static const struct {
		const char *text;
		enum spec_op op;
	} ops[] = {{"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE},
		   {">=", OP_GE}, {"<", OP_LT},	 {">", OP_GT}};
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		size_t n = strlen(ops[i].text);
		if (strncmp(p, ops[i].text, n) == 0) {
			f->token.op = ops[i].op;
			f->next += n;
			return take(f, TOKEN_COMPARE, p, n);
		}
	}
	return *p == '=' ? forbid_error(f, "write '==' for 'is equal to'")
	       : *p == '!'
		       ? forbid_error(f, "'!' alone means nothing here: != is 'is not equal to'")
		       : forbid_error(f, "write 'and' and 'or', not '%c'", *p);
}

static int take_quoted(struct forbid *f, const char *p)
{
	const char *end = strchr(p + 1, *p);
	if (!end) {
		return forbid_error(f, "the quote is not closed");
	}
	f->token.quoted = true;
	f->next += (size_t)(end - p) + 1;
	return take(f, TOKEN_WORD, p + 1, (size_t)(end - p) - 1);
}

static int take_word(struct forbid *f, const char *p)
{
	static const struct {
		const char *text;
		enum token_kind kind;
	} words[] = {{"and", TOKEN_AND}, {"or", TOKEN_OR}};
	size_t n = strcspn(p, SPECIAL);
	f->next += n;
	int rc = take(f, TOKEN_WORD, p, n);
	for (size_t i = 0; rc == 0 && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(f->token.text, words[i].text) == 0) {
			f->token.kind = words[i].kind;
		}
	}
	if (rc == 0 && strcmp(f->token.text, "not") == 0) {
		return forbid_error(f, "there is no 'not': turn the comparison round");
	}
	return rc;
}

int forbid_next(struct forbid *f)
{
	f->next += strspn(f->text + f->next, BLANK);
	const char *p = f->text + f->next;
	f->token = (struct token){.at = f->next};
	switch (*p) {
	case '\0':
		return take(f, TOKEN_END, "the end", 7);
	case '(':
	case ')':
		f->next++;
		return take(f, *p == '(' ? TOKEN_OPEN : TOKEN_CLOSE, p, 1);
	case '\'':
	case '"':
		return take_quoted(f, p);
	case '<':
	case '>':
	case '=':
	case '!':
	case '&':
	case '|':
		return take_comparison(f, p);
	default:
		return take_word(f, p);
	}
}
