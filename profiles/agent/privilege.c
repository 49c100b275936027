/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cutting the calling process's privileges down by libcap. It decides nothing about who keeps what.
 */
#include "privilege.h"
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NOBODY 65534

static bool listed(const cap_value_t *keep, size_t n, cap_value_t cap)
{
	for (size_t i = 0; i < n; i++) {
		if (keep[i] == cap) {
			return true;
		}
	}
	return false;
}

/* Taking from the bounding set wants CAP_SETPCAP; who does not have it has nothing to give up
 * that no_new_privs would not withhold. */
static int shrink_bounding_set(const cap_value_t *keep, size_t n, struct err *e)
{
	for (cap_value_t cap = 0; cap < cap_max_bits(); cap++) {
		if (listed(keep, n, cap) || cap_get_bound(cap) <= 0) {
			continue;
		}
		if (cap_drop_bound(cap) && errno != EPERM) {
			return err_set(e, errno, "cannot drop a capability: %s", strerror(errno));
		}
	}
	return 0;
}

static int set_capabilities(const cap_value_t *keep, size_t n, struct err *e)
{
	cap_t now = cap_get_proc(), want = cap_init();
	int rc = now && want ? 0 : -1;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		cap_flag_value_t held = CAP_CLEAR;
		rc = cap_get_flag(now, keep[i], CAP_PERMITTED, &held);
		if (rc == 0 && held == CAP_SET) {
			rc = cap_set_flag(want, CAP_PERMITTED, 1, &keep[i], CAP_SET) |
			     cap_set_flag(want, CAP_EFFECTIVE, 1, &keep[i], CAP_SET);
		}
	}
	if (rc == 0) {
		rc = cap_set_proc(want);
	}
	int code = errno;
	cap_free(now);
	cap_free(want);
	return rc ? err_set(e, code, "cannot give capabilities up: %s", strerror(code)) : 0;
}

int privilege_keep(const cap_value_t *keep, size_t n, struct err *e)
{
	int rc = shrink_bounding_set(keep, n, e);
	if (rc) {
		return rc;
	}
	cap_reset_ambient();
	rc = set_capabilities(keep, n, e);
	if (rc == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
		rc = err_set(e, errno, "cannot set no_new_privs: %s", strerror(errno));
	}
	return rc;
}

static int change_user(struct err *e)
{
	if (geteuid() != 0) {
		return 0;
	}
	/* EINVAL: that user is not mapped here; EPERM of setgroups: a user namespace denies it. */
	if (setgroups(0, NULL) && errno != EPERM) {
		return err_set(e, errno, "cannot drop groups: %s", strerror(errno));
	}
	if ((setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)) &&
	    errno != EINVAL) {
		return err_set(e, errno, "cannot become user %d: %s", NOBODY, strerror(errno));
	}
	return 0;
}

int privilege_become_nobody(pid_t parent, struct err *e)
{
	int rc = shrink_bounding_set(NULL, 0, e);
	if (rc == 0) {
		rc = change_user(e);
	}
	if (rc == 0) {
		rc = privilege_keep(NULL, 0, e);
	}
	/* Only now: a change of user clears it. The parent may have died before. */
	if (rc == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)) {
		rc = err_set(e, -ESRCH, "the parent process is gone");
	}
	return rc;
}
