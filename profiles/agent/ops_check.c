/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's two operations around a trial: settle, which clears what one trial would hand to the
 * next and counts the interrupts, and check, which says whether what was set still stood at its
 * end, who may have undone it, and where the interrupts came. Reached by dispatch.c's table.
 */
#include "agent_ops.h"
#include "cleanup.h"
#include "netlink.h"
#include <errno.h>
#include <string.h>

static void forget_interrupts(struct agent_state *s)
{
	for (size_t i = 0; i < AGENT_WATCHED_MAX; i++) {
		irq_watch_destroy(s->watched[i]);
		s->watched[i] = NULL;
	}
}

static void count_interrupts(struct agent_state *s)
{
	forget_interrupts(s);
	s->n_watched = s->session ? session_devices(s->session, "irq.affinity", s->watched_devices,
						    AGENT_WATCHED_MAX)
				  : 0;
	for (size_t i = 0; i < s->n_watched; i++) {
		s->watched[i] = irq_watch_create(&s->place.root, s->watched_devices[i]);
	}
}

int op_settle(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	(void)answer;
	int rc = ops_only_head(request, e);
	rc = rc ? rc : netlink_flush_tcp_metrics(e);
	count_interrupts(s);
	/* A kernel without the cache, or an ordinary user, who may not flush it: both measure on.
	 */
	return rc == -ENOENT || rc == -EPERM ? 0 : rc;
}

/* Those that are known to set such things by themselves, and run here. */
static json_t *suspects(const struct sysroot *root)
{
	static const char *const NAMES[] = {"irqbalance",      "tuned",		 "NetworkManager",
					    "systemd-network", "connmand",	 "dhcpcd",
					    "thermald",	       "power-profiles-"};
	json_t *list = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
		char pids[1][64];
		if (sysfile_find(root, "/proc/", "comm", NAMES[i], pids, 1) > 0) {
			json_array_append_new(list,
					      json_sprintf("%s (process %s)", NAMES[i], pids[0]));
		}
	}
	return list;
}

int op_check(struct agent_state *s, json_t *request, json_t *answer, struct err *e)
{
	json_t *drifted = NULL, *interrupts = json_object();
	int rc = ops_only_head(request, e);
	json_object_set_new(answer, "interrupts", interrupts);
	if (rc == 0 && !s->session) {
		rc = err_usage(e, "nothing is open on this host");
	}
	rc = rc ? rc : session_drifted(s->session, &drifted, e);
	if (rc) {
		json_decref(drifted);
		return rc;
	}
	for (size_t i = 0; i < s->n_watched; i++) {
		if (s->watched[i]) {
			json_object_set_new(interrupts, s->watched_devices[i],
					    irq_watch_json(&s->place.root, s->watched[i]));
		}
	}
	bool any = json_array_size(drifted) > 0;
	json_object_set_new(answer, "suspects", any ? suspects(&s->place.root) : json_array());
	json_object_set_new(answer, "drifted", drifted);
	return 0;
}
