/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which interface is which: names, indexes, bus and permanent addresses, carrier. It sets nothing.
 * Called by the session, the agent and the back ends of devices.
 */
#include "device.h"
#include "cleanup.h"
#include "netlink_private.h"
#include <errno.h>
#include <limits.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <time.h>

enum { POLL_MS = 20, DEVICES_MAX = 1024 };

static bool recorded(const struct sysroot *root)
{
	return root && root->prefix && *root->prefix;
}

static int gone(int ifindex, struct err *e)
{
	return err_set(e, -ENODEV, "the network device with index %d is gone", ifindex);
}

static long long number_of(const struct sysroot *root, const char *name, const char *file)
{
	char path[128], text[32];
	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, file);
	return sysfile_read(root, path, text, sizeof(text), NULL) ? -1 : strtoll(text, NULL, 10);
}

int device_index(const struct sysroot *root, const char *name, int *ifindex, struct err *e)
{
	*ifindex = recorded(root) ? (int)number_of(root, name, "ifindex")
				  : (int)if_nametoindex(name);
	if (*ifindex > 0) {
		return 0;
	}
	*ifindex = 0;
	return err_set(e, -ENODEV, "there is no network device %.15s", name);
}

int device_name(const struct sysroot *root, int ifindex, char name[IF_NAMESIZE], struct err *e)
{
	if (!recorded(root)) {
		return ifindex > 0 && if_indextoname((unsigned)ifindex, name) ? 0
									      : gone(ifindex, e);
	}
	auto_free char(*names)[64] = calloc(DEVICES_MAX, sizeof(*names));
	int n = names ? sysfile_list(root, "/sys/class/net", names, DEVICES_MAX) : 0;
	for (int i = 0; i < n; i++) {
		if (number_of(root, names[i], "ifindex") == ifindex) {
			snprintf(name, IF_NAMESIZE, "%.15s", names[i]);
			return 0;
		}
	}
	return gone(ifindex, e);
}

static void bus_address(const struct sysroot *root, const char *name, char *out, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/device",
		 recorded(root) ? root->prefix : "", name);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	const char *slash = strrchr(target, '/');
	snprintf(out, size, "%.63s", slash ? slash + 1 : target);
}

static void take_address(struct nlmsghdr *h, void *ctx)
{
	struct device_binding *b = ctx;
	struct nlattr *a = nlmsg_find_attr(h, sizeof(struct ifinfomsg), IFLA_PERM_ADDRESS);
	const unsigned char *p = a ? nla_data(a) : NULL;
	size_t used = 0;
	for (int i = 0; a && i < nla_len(a) && used + 4 < sizeof(b->address); i++) {
		used += (size_t)snprintf(b->address + used, sizeof(b->address) - used, "%s%02x",
					 i ? ":" : "", p[i]);
	}
}

int device_bind(const struct sysroot *root, const char *name, struct device_binding *out,
		struct err *e)
{
	memset(out, 0, sizeof(*out));
	int rc = device_index(root, name, &out->ifindex, e);
	if (rc) {
		return rc;
	}
	bus_address(root, name, out->bus, sizeof(out->bus));
	if (recorded(root)) {
		return 0;
	}
	auto_netlink struct netlink n = {0};
	struct ifinfomsg link = {.ifi_index = out->ifindex};
	rc = netlink_open(&n, NULL, e);
	return rc ? rc
		  : netlink_ask(&n, netlink_rtnl(RTM_GETLINK, 0, &link, sizeof(link)), take_address,
				out, name, e);
}

static bool is_same(const struct device_binding *a, const struct device_binding *b)
{
	return !strcmp(a->bus, b->bus) && !strcmp(a->address, b->address);
}

/* After a driver was bound anew: the interface that hangs on the same bus address. */
static int find_on_bus(const struct sysroot *root, const struct device_binding *b, int *ifindex)
{
	auto_free char(*names)[64] = calloc(DEVICES_MAX, sizeof(*names));
	int n = names ? sysfile_list(root, "/sys/class/net", names, DEVICES_MAX) : 0;
	for (int i = 0; i < n; i++) {
		struct device_binding now;
		if (!device_bind(root, names[i], &now, NULL) && is_same(&now, b)) {
			*ifindex = now.ifindex;
			return 0;
		}
	}
	return -ENODEV;
}

int device_find(const struct sysroot *root, const struct device_binding *b, int *ifindex,
		struct err *e)
{
	char name[IF_NAMESIZE];
	struct device_binding now;
	if (!device_name(root, b->ifindex, name, NULL) && !device_bind(root, name, &now, NULL) &&
	    is_same(&now, b)) {
		*ifindex = b->ifindex;
		return 0;
	}
	return *b->bus && !find_on_bus(root, b, ifindex) ? 0 : gone(b->ifindex, e);
}

bool device_carries(const struct sysroot *root, int ifindex)
{
	char name[IF_NAMESIZE];
	return !device_name(root, ifindex, name, NULL) && number_of(root, name, "carrier") == 1;
}

int device_wait_carrier(const struct sysroot *root, int ifindex, int ms, struct err *e)
{
	char name[IF_NAMESIZE] = "?";
	for (int waited = 0; !device_carries(root, ifindex); waited += POLL_MS) {
		if (waited >= ms) {
			device_name(root, ifindex, name, NULL);
			return err_set(e, -ENETDOWN, "the link of %s did not come back in %d ms",
				       name, ms);
		}
		struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
		nanosleep(&pause, NULL);
	}
	return 0;
}
