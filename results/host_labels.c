/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run's fingerprints as labels: what kernel, driver, firmware and machine its hosts had, in one
 * text each. Decides nothing. Called for each run that is read for a table.
 */
#include "cleanup.h"
#include "host.h"
#include "json_util.h"
#include <stdlib.h>
#include <string.h>

enum { TEXTS_MAX = 16 };

struct texts { /* distinct, borrowed */
	const char *text[TEXTS_MAX];
	size_t n;
};

static void add_text(struct texts *t, const char *text)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!strcmp(t->text[i], text)) {
			return;
		}
	}
	if (*text && t->n < TEXTS_MAX) {
		t->text[t->n++] = text;
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void set_joined(json_t *labels, const char *name, struct texts *t)
{
	char joined[1024] = "";
	qsort(t->text, t->n, sizeof(t->text[0]), by_text);
	for (size_t i = 0, at = 0; i < t->n && at < sizeof(joined); i++) {
		at += (size_t)snprintf(joined + at, sizeof(joined) - at, "%s%s", i ? " + " : "",
				       t->text[i]);
	}
	if (t->n) {
		json_object_set_new(labels, name, json_text_or_null(joined));
	}
}

/* What each host says under key. */
static void add_hosts(json_t *labels, const char *name, json_t *hosts, const char *key)
{
	struct texts t = {.n = 0};
	const char *host;
	json_t *fingerprint;
	json_object_foreach(hosts, host, fingerprint)
	{
		add_text(&t, json_get_text(fingerprint, key, ""));
	}
	set_joined(labels, name, &t);
}

/* What each real network device says: those without a driver are virtual. */
static void add_nics(json_t *labels, const char *name, json_t *hosts)
{
	struct texts t = {.n = 0};
	const char *host;
	json_t *fingerprint, *nic;
	size_t i;
	json_object_foreach(hosts, host, fingerprint)
	{
		json_array_foreach(json_object_get(fingerprint, "nics"), i, nic)
		{
			if (json_is_string(json_object_get(nic, "driver"))) {
				add_text(&t, json_get_text(nic, name, ""));
			}
		}
	}
	set_joined(labels, name, &t);
}

void host_labels(json_t *labels, json_t *hosts)
{
	add_hosts(labels, "kernel", hosts, "kernel");
	add_nics(labels, "driver", hosts);
	add_nics(labels, "firmware", hosts);
	add_hosts(labels, "machine", hosts, "cpu");
	add_hosts(labels, "boot", hosts, "boot_id");
}
