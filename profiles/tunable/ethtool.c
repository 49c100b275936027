/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back end of NICs, by generic netlink "ethtool": sends each entry to its part. Never by the
 * text of a tool. Called by tunable.c through ethtool_ops.
 */
#include "ethtool.h"
#include <string.h>

static const struct tunable_ops *part_of(const struct setting *s)
{
	if (!strcmp(s->name, "nic.rss_queues")) {
		return &ethtool_rss_ops;
	}
	bool bits = !strncmp(s->name, "nic.features.", 13) || !strncmp(s->name, "nic.flags.", 10);
	return bits ? &ethtool_bit_ops : &ethtool_number_ops;
}

static int ethtool_probe(const struct sysroot *root, const struct setting *s, const char *field,
			 struct tunable_range *range, struct err *e)
{
	return part_of(s)->probe(root, s, field, range, e);
}

static int ethtool_read(const struct sysroot *root, const struct setting *s, char *text,
			size_t size, struct err *e)
{
	return part_of(s)->read(root, s, text, size, e);
}

static int ethtool_write(const struct sysroot *root, const struct setting *s, const char *text,
			 struct err *e)
{
	return part_of(s)->write(root, s, text, e);
}

static size_t ethtool_expand(const struct sysroot *root, const struct setting *s,
			     const char *pattern, char (*names)[TUNABLE_NAME_MAX], size_t max)
{
	return ethtool_bit_ops.expand(root, s, pattern, names, max);
}

static bool ethtool_covers(const struct setting *a, const struct setting *b)
{
	return part_of(a) == &ethtool_bit_ops && ethtool_bit_ops.covers(a, b);
}

const struct tunable_ops ethtool_ops = {
	.probe = ethtool_probe,
	.read = ethtool_read,
	.write = ethtool_write,
	.expand = ethtool_expand,
	.covers = ethtool_covers,
};
