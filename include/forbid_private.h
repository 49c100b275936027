/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of one forbid expression: what spec/forbid.c (grammar) and spec/forbid_lexer.c (words
 * and places) share. Nobody else includes this.
 */
#ifndef TUNESWEEP_FORBID_PRIVATE_H
#define TUNESWEEP_FORBID_PRIVATE_H

#include "spec_private.h"

enum token_kind {
	TOKEN_END,
	TOKEN_WORD, /* a name or a value */
	TOKEN_COMPARE,
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_OPEN,
	TOKEN_CLOSE
};

struct token {
	enum token_kind kind;
	enum spec_op op; /* of TOKEN_COMPARE */
	bool quoted;
	size_t at; /* offset in the expression */
	char text[VALUE_TEXT_MAX];
};

struct forbid { /* one expression being read */
	struct spec *s;
	struct spec_rule *rule;
	struct yaml_at at;
	const char *text;
	size_t next; /* offset behind the token */
	struct token token;
	int depth;
	struct err *e;
};

/* Reads the next word into token. */
int forbid_next(struct forbid *f);

/* ERR_USAGE at the token's own line and column. */
int forbid_error(struct forbid *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
