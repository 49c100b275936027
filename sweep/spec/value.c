/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One value of a tunable as a spec writes it: strictly by the catalogue's type and unit, or, of a
 * command's parameter, by what it looks like. Ranges and choices are made of these in
 * spec/domain.c. Called by spec/domain.c.
 */
#include "spec_private.h"

#include <string.h>

bool spec_is_param(const struct spec_tunable *t)
{
	return t->target.setting.tunable->backend == BACKEND_PARAM;
}

/* Words that look like something else must be quoted to be words. */
static int param_word(struct yaml_at at, struct value *out, struct err *e)
{
	char text[VALUE_TEXT_MAX];
	int rc = yaml_as_text(at, text, sizeof(text), e);
	if (rc) {
		return rc;
	}
	struct value ignored;
	enum value_type meant = strpbrk(text, "eE") ? VALUE_REAL : VALUE_INT;
	if (!yaml_quoted(at) && strchr("0123456789.+-", text[0]) &&
	    value_parse(text, meant, UNIT_NONE, &ignored, e)) {
		return yaml_error_at(at, e);
	}
	*out = value_text(text);
	return 0;
}

/* A parameter has no catalogue row: an integer or a size, else a number, a boolean, a word. */
int spec_parse_param_value(struct yaml_at at, struct value *out, struct err *e)
{
	const char *text = yaml_text(at);
	int64_t i;
	double r;
	bool b;
	if (yaml_kind(at) != YAML_SCALAR) {
		return yaml_error(at, e, "one value is wanted here");
	}
	if (!yaml_quoted(at)) {
		if (scalar_int(text, &i, NULL) == 0 || scalar_size(text, &i, NULL) == 0) {
			*out = value_int(i);
			return 0;
		}
		if (scalar_real(text, &r, NULL) == 0) {
			*out = value_real(r);
			return 0;
		}
		if (scalar_bool(text, &b, NULL) == 0) {
			*out = value_bool(b);
			return 0;
		}
	}
	return param_word(at, out, e);
}

static int catalogue_value(const struct spec_tunable *t, struct yaml_at at, struct value *out,
			   struct err *e)
{
	const struct tunable *row = t->target.setting.tunable;
	if (yaml_kind(at) != YAML_SCALAR) {
		return yaml_error(at, e, "one value is wanted here");
	}
	if (t->type == VALUE_TEXT) {
		char text[VALUE_TEXT_MAX];
		int rc = yaml_as_text(at, text, sizeof(text), e);
		if (rc) {
			return rc;
		}
		*out = value_text(text);
	} else if (value_parse(yaml_text(at), t->type, row->unit, out, e)) {
		return yaml_error_at(at, e);
	}
	if (tunable_check(&t->target.setting, t->target.field, out, e)) {
		return yaml_error_at(at, e);
	}
	return 0;
}

int spec_parse_value(const struct spec_tunable *t, struct yaml_at at, struct value *out,
		     struct err *e)
{
	return spec_is_param(t) ? spec_parse_param_value(at, out, e)
				: catalogue_value(t, at, out, e);
}
