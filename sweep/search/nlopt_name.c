/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of NLopt's algorithms can be used: those that need no gradient and are compiled in.
 * Called by search.c when a name is looked up, and by nlopt.c.
 */
#include "search_private.h"

#include <errno.h>
#include <nlopt.h>
#include <string.h>

/* Debian's libnlopt is built without C++: StoGO and AGS are names only ("NOT COMPILED"). */
static bool is_compiled(nlopt_algorithm a)
{
	return strstr(nlopt_algorithm_name(a), "NOT COMPILED") == NULL;
}

/* GN_, LN_: no derivative; GD_, LD_: with; G_ and the plain ones take a local one from us. */
static bool wants_gradient(const char *name)
{
	return (name[0] == 'G' || name[0] == 'L') && name[1] == 'D' && name[2] == '_';
}

int search_nlopt_find(const char *name, int *algorithm, struct err *e)
{
	nlopt_algorithm a = nlopt_algorithm_from_string(name);
	if ((int)a < 0 || a >= NLOPT_NUM_ALGORITHMS) {
		return -ENOENT;
	}
	if (wants_gradient(name) || a == NLOPT_GD_STOGO || a == NLOPT_GD_STOGO_RAND) {
		return err_usage(e,
				 "NLopt's %s wants gradients, and a measurement has none: take a "
				 "derivative-free one, e.g. GN_DIRECT_L or LN_SBPLX",
				 name);
	}
	if (!is_compiled(a)) {
		return err_usage(e, "NLopt's %s is not compiled into the library on this machine",
				 name);
	}
	*algorithm = (int)a;
	return 0;
}
