/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The strict reading of plain numbers and booleans; what has a unit is scalar_unit.c's. It knows
 * neither YAML nor tunables; the yaml layer, the profile and the command line call it. What could
 * be read in two ways is refused with what to write instead. Independent of the locale.
 */
#include "scalar_private.h"
#include "value.h"
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static size_t digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* A number that begins with a zero has two readings, or is not decimal. */
static int refuse_zero(const char *s, const char *d, struct err *e)
{
	if (strchr("xXoObB", d[1]) && d[1]) {
		return err_usage(e, "'%s': write the number in decimal", s);
	}
	if (!isdigit((unsigned char)d[1])) {
		return 0;
	}
	const char *plain = d + strspn(d, "0");
	if (!isdigit((unsigned char)*plain)) {
		plain--;
	}
	size_t octal = strspn(d, "01234567");
	if (octal == digits(d)) {
		return err_usage(e, "'%s' could be octal (%llu) or decimal (%s): write %s or %llu",
				 s, strtoull(d, NULL, 8), plain, plain, strtoull(d, NULL, 8));
	}
	return err_usage(e, "'%s': write the number without leading zeros, %s", s, plain);
}

static int refuse_start(const char *s, const char *d, const char *what, struct err *e)
{
	const char *name = *d == '.' ? d + 1 : d;
	if (!*s) {
		return err_usage(e, "an empty value is not %s", what);
	}
	if (!strcasecmp(name, "inf") || !strcasecmp(name, "nan") || !strcasecmp(name, "infinity")) {
		return err_usage(e, "'%s' is not %s: write a finite number", s, what);
	}
	if (*s == '+' && isdigit((unsigned char)s[1])) {
		return err_usage(e, "'%s': write %s, without the sign", s, s + 1);
	}
	if (*d == '.' && isdigit((unsigned char)d[1])) {
		return err_usage(e, "'%s': write a digit before the point, 0%s", s, d);
	}
	if (isspace((unsigned char)*s)) {
		return err_usage(e, "'%s': write it without blanks in front", s);
	}
	return err_usage(e, "'%s' is not %s", s, what);
}

/* What may follow digits in other notations than ours. */
static int refuse_after(const char *s, const char *p, struct err *e)
{
	if (*p == '_') {
		return err_usage(e, "'%s': write the digits without underscores", s);
	}
	if (*p == ':') {
		return err_usage(e, "'%s' could be read to the base of 60: write one number%s", s,
				 ", for a time with its unit (90s, 5min)");
	}
	if (*p == ',') {
		return err_usage(e, "'%s': write a point for decimals, and no separators", s);
	}
	if (*p == '.') {
		return err_usage(e, "'%s': write digits after the point, or no point", s);
	}
	return 0;
}

int scalar_written(const char *s, const char *what, struct written *w, struct err *e)
{
	memset(w, 0, sizeof(*w));
	const char *p = s;
	w->negative = *p == '-';
	p += w->negative;
	if (!isdigit((unsigned char)*p)) {
		return refuse_start(s, p, what, e);
	}
	if (*p == '0' && refuse_zero(s, p, e)) {
		return -EINVAL;
	}
	p += digits(p);
	if (p[0] == '.' && isdigit((unsigned char)p[1])) {
		w->fraction = true;
		p += 1 + digits(p + 1);
	}
	size_t sign = (p[0] == 'e' || p[0] == 'E') && (p[1] == '+' || p[1] == '-');
	if ((p[0] == 'e' || p[0] == 'E') && isdigit((unsigned char)p[1 + sign])) {
		w->exponent = true;
		p += 1 + sign + digits(p + 1 + sign);
	}
	if (refuse_after(s, p, e)) {
		return -EINVAL;
	}
	w->length = (size_t)(p - s);
	w->unit = p + (*p == ' ' && p[1]);
	return 0;
}

/* The number without its unit, in the C locale whatever the program's. */
int scalar_written_real(const char *s, const struct written *w, double *out, struct err *e)
{
	char buf[64];
	if (w->length >= sizeof(buf)) {
		return err_usage(e, "'%.40s...' has too many digits", s);
	}
	memcpy(buf, s, w->length);
	buf[w->length] = 0;
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
	if (!c) {
		return err_set(e, -ENOMEM, "out of memory");
	}
	*out = strtod_l(buf, NULL, c);
	freelocale(c);
	return isfinite(*out) ? 0 : err_usage(e, "'%s' is too large", s);
}

/* Number times factor as an integer, exact or refused. */
int scalar_written_int(const char *s, const struct written *w, double factor, const char *what,
		       int64_t *out, struct err *e)
{
	double real;
	if (!w->fraction && !w->exponent && factor == rint(factor)) {
		errno = 0;
		long long i = strtoll(s, NULL, 10);
		if (errno || __builtin_mul_overflow(i, (long long)factor, (long long *)out)) {
			return err_usage(e, "'%s' is too large", s);
		}
		return 0;
	}
	if (scalar_written_real(s, w, &real, e)) {
		return -EINVAL;
	}
	real *= factor;
	double whole = rint(real);
	if (fabs(whole) > 9007199254740992.0) {
		return err_usage(e, "'%s' is too large", s);
	}
	if (fabs(real - whole) > 1e-9 * fabs(whole)) {
		return err_usage(e, "'%s' is not %s", s, what);
	}
	*out = (int64_t)whole;
	return 0;
}

static int plain_number(const char *s, const char *what, struct written *w, struct err *e)
{
	if (scalar_written(s, what, w, e)) {
		return -EINVAL;
	}
	if (*w->unit || s[w->length]) {
		return err_usage(e, "'%s' is not %s: no unit or other text is allowed here", s,
				 what);
	}
	return 0;
}

int scalar_int(const char *s, int64_t *out, struct err *e)
{
	struct written w;
	if (plain_number(s, "an integer", &w, e)) {
		return -EINVAL;
	}
	if (w.fraction || w.exponent) {
		return err_usage(e, "'%s' is not an integer: write digits only", s);
	}
	return scalar_written_int(s, &w, 1, "an integer", out, e);
}

int scalar_real(const char *s, double *out, struct err *e)
{
	struct written w;
	int r = plain_number(s, "a number", &w, e);
	return r ? r : scalar_written_real(s, &w, out, e);
}

int scalar_bool(const char *s, bool *out, struct err *e)
{
	static const char *const words[] = {"false", "off", "true", "on"};
	static const char *const other[] = {"no", "n", "0", "disabled", "yes", "y", "1", "enabled"};
	for (size_t i = 0; i < 4; i++) {
		if (!strcmp(s, words[i])) {
			*out = i >= 2;
			return 0;
		}
		if (!strcasecmp(s, words[i])) {
			return err_usage(e, "'%s': write %s", s, words[i]);
		}
	}
	for (size_t i = 0; i < 8; i++) {
		if (!strcasecmp(s, other[i])) {
			return err_usage(e, "'%s' is not a boolean: write %s", s,
					 i >= 4 ? "true or on" : "false or off");
		}
	}
	return err_usage(e, "'%s' is not a boolean: write true, false, on or off", s);
}
