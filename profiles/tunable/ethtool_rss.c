/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nic.rss_queues: over how many receive queues the RSS table spreads, equally. By ioctl: generic
 * netlink sets the table on the newest kernels only. All queues is the driver's own spread and is
 * set by a reset, since a table that somebody has set holds the number of channels up. Called by
 * ethtool.c.
 */
#include "cleanup.h"
#include "ethtool.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { TABLE_MAX = 4096 };

struct table {
	struct ethtool_rxfh_indir head;
	uint32_t queue[TABLE_MAX];
};

static int call(int ifindex, void *command)
{
	struct ifreq request = {0};
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || !if_indextoname((unsigned)ifindex, request.ifr_name)) {
		return fd < 0 ? -errno : -ENODEV;
	}
	request.ifr_data = command;
	return ioctl(fd, SIOCETHTOOL, &request) ? -errno : 0;
}

static int count_queues(int ifindex, uint32_t *n)
{
	struct ethtool_rxnfc rings = {.cmd = ETHTOOL_GRXRINGS};
	int rc = call(ifindex, &rings);
	*n = (uint32_t)rings.data;
	return rc ? rc : *n ? 0 : -EOPNOTSUPP;
}

static int read_table(int ifindex, struct table *t)
{
	memset(&t->head, 0, sizeof(t->head));
	t->head.cmd = ETHTOOL_GRXFHINDIR;
	int rc = call(ifindex, t); /* how large it is */
	if (rc || !t->head.size || t->head.size > TABLE_MAX) {
		return rc ? rc : -EOPNOTSUPP;
	}
	t->head.cmd = ETHTOOL_GRXFHINDIR;
	return call(ifindex, t);
}

static int rss_reset(int ifindex, struct err *e)
{
	struct ethtool_rxfh_indir reset = {.cmd = ETHTOOL_SRXFHINDIR, .size = 0};
	int rc = call(ifindex, &reset);
	return rc && rc != -EOPNOTSUPP ? err_set(e, rc, "reset of the RSS table: %s", strerror(-rc))
				       : 0;
}

static uint32_t highest(const struct table *t)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < t->head.size; i++) {
		most = t->queue[i] > most ? t->queue[i] : most;
	}
	return most;
}

/* Each of the first n queues as often as the others, give or take one. */
static bool is_balanced(const struct table *t, uint32_t n)
{
	auto_free uint32_t *often = calloc(n, sizeof(*often));
	for (uint32_t i = 0; often && i < t->head.size; i++) {
		often[t->queue[i]]++;
	}
	for (uint32_t i = 0; often && i < n; i++) {
		if (often[i] != t->head.size / n && often[i] != (t->head.size + n - 1) / n) {
			return false;
		}
	}
	return often != NULL;
}

/* What a write of the same number makes again: our own spread, or over all queues the driver's,
 * which some lay out in blocks. */
static bool can_come_back(const struct table *t, uint32_t queues)
{
	uint32_t n = highest(t) + 1;
	for (uint32_t i = 0; i < t->head.size; i++) {
		if (t->queue[i] != i % n) {
			return n == queues && is_balanced(t, n);
		}
	}
	return true;
}

int ethtool_rss_spare(int ifindex, uint32_t queues, struct err *e)
{
	auto_free struct table *t = malloc(sizeof(*t));
	uint32_t now;
	if (!t || count_queues(ifindex, &now) || read_table(ifindex, t) || highest(t) < queues) {
		return 0;
	}
	if (!can_come_back(t, now)) {
		return err_set(e, -EBUSY,
			       "the RSS table was set by hand and uses the queues that "
			       "would go: it could not be put back");
	}
	return rss_reset(ifindex, e);
}

static int rss_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		    struct err *e)
{
	auto_free struct table *t = malloc(sizeof(*t));
	char name[IF_NAMESIZE];
	uint32_t queues;
	int ifindex, rc = setting_device(root, s, &ifindex, name, e);
	if (rc || !t) {
		return rc ? rc : err_set(e, -ENOMEM, "out of memory");
	}
	rc = read_table(ifindex, t);
	if (rc) {
		return err_set(e, rc, "%s has no RSS table that can be read (%s)", name,
			       strerror(-rc));
	}
	if (count_queues(ifindex, &queues) || !can_come_back(t, queues)) {
		return err_set(e, -EOPNOTSUPP,
			       "the RSS table of %s was set by hand, to no equal spread: it could "
			       "not be put back",
			       name);
	}
	snprintf(text, size, "%" PRIu32, highest(t) + 1);
	return 0;
}

static int rss_write(const struct sysroot *root, const struct setting *s, const char *text,
		     struct err *e)
{
	auto_free struct table *t = malloc(sizeof(*t));
	char name[IF_NAMESIZE];
	int64_t wanted;
	uint32_t queues;
	int ifindex, rc = setting_device(root, s, &ifindex, name, e);
	rc = rc ? rc : scalar_int(text, &wanted, e);
	if (rc || !t) {
		return rc ? rc : err_set(e, -ENOMEM, "out of memory");
	}
	rc = count_queues(ifindex, &queues);
	rc = rc ? rc : read_table(ifindex, t);
	if (!rc && (wanted < 1 || wanted > queues)) {
		return err_set(e, -EINVAL, "%s: %s has %" PRIu32 " receive queues", s->name, name,
			       queues);
	}
	if (!rc && wanted == queues) {
		return rss_reset(ifindex, e);
	}
	for (uint32_t i = 0; !rc && i < t->head.size; i++) {
		t->queue[i] = i % (uint32_t)wanted;
	}
	if (!rc) {
		t->head.cmd = ETHTOOL_SRXFHINDIR;
		rc = call(ifindex, t);
	}
	return rc ? err_set(e, rc, "%s on %s: %s", s->name, name, strerror(-rc)) : 0;
}

static int rss_probe(const struct sysroot *root, const struct setting *s, const char *field,
		     struct tunable_range *range, struct err *e)
{
	char name[IF_NAMESIZE];
	uint32_t queues;
	int ifindex;
	if (!setting_present(root, s, field, &ethtool_rss_ops, range)) {
		return 0;
	}
	int rc = setting_device(root, s, &ifindex, name, e);
	if (!rc && !count_queues(ifindex, &queues)) {
		range->max = queues;
	}
	return rc;
}

const struct tunable_ops ethtool_rss_ops = {
	.probe = rss_probe,
	.read = rss_read,
	.write = rss_write,
};
