/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of link.ipoib_mode: the attribute "mode" of an IP over InfiniBand interface. The
 * kernel changes the MTU with it, which the session has on its list. Called by tunable.c through
 * ipoib_ops.
 */
#include "tunable_private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void path_of(const struct setting *s, char *path, size_t size)
{
	snprintf(path, size, "/sys/class/net/%s/mode", s->device);
}

/* Other devices have no such file. */
static int ipoib_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		      struct err *e)
{
	char path[96];
	path_of(s, path, sizeof(path));
	int r = sysfile_read(root, path, text, size, NULL);
	return r == -ENOENT ? err_set(e, -EOPNOTSUPP, "%s is not IP over InfiniBand", s->device)
	       : r	    ? err_set(e, r, "%s: cannot read its mode: %s", s->device, strerror(-r))
			    : 0;
}

static int ipoib_write(const struct sysroot *root, const struct setting *s, const char *text,
		       struct err *e)
{
	char path[96];
	path_of(s, path, sizeof(path));
	return sysfile_write(root, path, text, e);
}

static int ipoib_probe(const struct sysroot *root, const struct setting *s, const char *field,
		       struct tunable_range *range, struct err *e)
{
	char text[32], path[96];
	struct err why = {0};
	(void)field;
	(void)e;
	path_of(s, path, sizeof(path));
	if (ipoib_read(root, s, text, sizeof(text), &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	range->present = value_text(text);
	range->settable = sysfile_settable(root, path, range->why_not, sizeof(range->why_not));
	strcpy(range->choices[0], "datagram");
	strcpy(range->choices[1], "connected");
	range->n_choices = 2;
	return 0;
}

const struct tunable_ops ipoib_ops = {
	.by_name = true,
	.probe = ipoib_probe,
	.read = ipoib_read,
	.write = ipoib_write,
};
