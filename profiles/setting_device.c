/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all back ends of devices share: which interface a setting means, and the first half of a
 * probe. It sets nothing. Called by the files under profiles/tunable/.
 */
#include "device.h"
#include "tunable_private.h"
#include <errno.h>
#include <stdio.h>

int setting_device(const struct sysroot *root, const struct setting *s, int *ifindex,
		   char name[IF_NAMESIZE], struct err *e)
{
	if (!*s->device) {
		return err_usage(e, "%s belongs to a device, and none is named", s->name);
	}
	*ifindex = s->ifindex;
	if (s->ifindex < 0) {
		return err_set(e, -ENODEV, "%s: the device %s of then is gone", s->name, s->device);
	}
	if (s->ifindex) {
		return device_name(root, s->ifindex, name, e);
	}
	snprintf(name, IF_NAMESIZE, "%s", s->device);
	return device_index(root, name, ifindex, e);
}

bool setting_present(const struct sysroot *root, const struct setting *s, const char *field,
		     const struct tunable_ops *ops, struct tunable_range *range)
{
	char text[SETTING_TEXT_MAX];
	struct err why = {0};
	range->settable = !ops->read(root, s, text, sizeof(text), &why) &&
			  !setting_field(s, field, text, &range->present, &why);
	if (!range->settable) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
	}
	return range->settable;
}
