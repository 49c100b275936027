/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a device may lose its link for a moment: looks at what depends on it. It sets nothing and
 * asks nobody but the kernel. Called by the agent before it sets.
 */
#include "guard.h"
#include "cleanup.h"
#include "device.h"
#include "netlink_private.h"
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

const char *const allow_words[ALLOW_WORDS_MAX + 1] = {
	"disruptive",	     "unsafe", "unlisted",     "driver-rebind",	 "member", "xdp",
	"virtual-functions", "rdma",   "network-root", "control-device",
};

struct facts {
	char member_of[32]; /* "bond"; "" if of nothing */
	bool xdp;
};

static void take(struct nlmsghdr *h, void *ctx)
{
	struct facts *f = ctx;
	struct nlattr *info = nlmsg_find_attr(h, sizeof(struct ifinfomsg), IFLA_LINKINFO);
	struct nlattr *master = nlmsg_find_attr(h, sizeof(struct ifinfomsg), IFLA_MASTER);
	struct nlattr *xdp = nlmsg_find_attr(h, sizeof(struct ifinfomsg), IFLA_XDP);
	struct nlattr *kind = info ? nla_find(nla_data(info), nla_len(info), IFLA_INFO_SLAVE_KIND)
				   : NULL;
	struct nlattr *attached = xdp ? nla_find(nla_data(xdp), nla_len(xdp), IFLA_XDP_ATTACHED)
				      : NULL;
	if (master) {
		snprintf(f->member_of, sizeof(f->member_of), "%.*s", kind ? nla_len(kind) : 6,
			 kind ? (const char *)nla_data(kind) : "switch");
	}
	f->xdp = attached && nla_get_u8(attached) != XDP_ATTACHED_NONE;
}

static void ask_kernel(int ifindex, struct facts *f)
{
	auto_netlink struct netlink n = {0};
	struct ifinfomsg link = {.ifi_index = ifindex};
	if (!netlink_open(&n, NULL, NULL)) {
		netlink_ask(&n, netlink_rtnl(RTM_GETLINK, 0, &link, sizeof(link)), take, f, "link",
			    NULL);
	}
}

static bool has_file(const struct sysroot *root, const char *device, const char *file)
{
	char path[128];
	snprintf(path, sizeof(path), "/sys/class/net/%s/device%s", device, file);
	return sysfile_exists(root, path);
}

static bool has_virtual_functions(const struct sysroot *root, const char *device)
{
	char path[128], text[32];
	snprintf(path, sizeof(path), "/sys/class/net/%s/device/sriov_numvfs", device);
	return !sysfile_read(root, path, text, sizeof(text), NULL) && atoi(text) > 0;
}

/* The type of the last file system that was mounted on /. */
static bool is_root_remote(const struct sysroot *root)
{
	static const char *const remote[] = {"nfs", "nfs4", "cifs", "smb3", "ceph"};
	auto_free char *mounts = calloc(1, 65536);
	char where[256], type[64], *save = NULL;
	bool found = false;
	if (!mounts || sysfile_read(root, "/proc/self/mounts", mounts, 65536, NULL)) {
		return false;
	}
	for (char *l = strtok_r(mounts, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (sscanf(l, "%*s %255s %63s", where, type) != 2 || strcmp(where, "/")) {
			continue;
		}
		found = false;
		for (size_t i = 0; i < ARRAY_SIZE(remote); i++) {
			found = found || !strcmp(type, remote[i]);
		}
	}
	return found;
}

static bool carries_control(const char *device, const char *control)
{
	char toward[IF_NAMESIZE];
	return *control && !device_toward(control, toward, NULL) && !strcmp(toward, device);
}

static int refuse(const struct setting *s, unsigned allowed, unsigned bit, const char *device,
		  const char *why, struct err *e)
{
	const char *word = NULL;
	for (size_t i = 0; i < ALLOW_WORDS_MAX; i++) {
		word = bit == 1u << i ? allow_words[i] : word;
	}
	return allowed & bit ? 0
			     : err_set(e, -EPERM,
				       "%s may drop the link of %s, which %s: it wants 'allow: "
				       "[%s]'",
				       s->name, device, why, word);
}

int guard_check(const struct sysroot *root, const struct setting *s, unsigned allowed,
		const char *control, struct err *e)
{
	char name[IF_NAMESIZE], member[64];
	struct facts f = {0};
	int ifindex;
	bool may_drop = s->tunable->class == CLASS_DISRUPTIVE ||
			s->tunable->class == CLASS_DRIVER_REBIND;
	if (!may_drop || !s->tunable->device || device_index(root, s->device, &ifindex, NULL)) {
		return 0; /* what is not there is refused by whoever looks for it */
	}
	snprintf(name, sizeof(name), "%s", s->device);
	if (!root->prefix || !*root->prefix) {
		ask_kernel(ifindex, &f);
	}
	snprintf(member, sizeof(member), "is a member of a %s", f.member_of);
	const struct {
		unsigned bit;
		bool holds;
		const char *why;
	} reasons[] = {
		{ALLOW_CONTROL, carries_control(name, control), "carries the control connection"},
		{ALLOW_MEMBER, *f.member_of, member},
		{ALLOW_XDP, f.xdp, "has an XDP program"},
		{ALLOW_VFS, has_virtual_functions(root, name), "has virtual functions in use"},
		{ALLOW_RDMA, has_file(root, name, "/infiniband"), "serves RDMA, too"},
		{ALLOW_ROOT, has_file(root, name, "") && is_root_remote(root),
		 "the root file system may come over"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		int rc = reasons[i].holds
				 ? refuse(s, allowed, reasons[i].bit, name, reasons[i].why, e)
				 : 0;
		if (rc) {
			return rc;
		}
	}
	return 0;
}
