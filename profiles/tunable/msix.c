/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The back ends of msix.mode and msix.vectors. The mode is the PCI device's attribute msi_bus (may
 * it send messages at all?), which takes effect when its driver is bound anew; between messages of
 * one kind and the other the driver chooses. A new binding makes a new interface: name, MTU,
 * addresses and routes go into the setting's text, "msix bus=0000:00:04.0 driver=e1000e up ...", so
 * that the journal holds them while the interface is gone. Called by tunable.c.
 */
#include "cleanup.h"
#include "device_irqs.h"
#include "link_state.h"
#include "topology.h"
#include "tunable_private.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCI "/sys/bus/pci"

enum { NETDEV_MS = 10000 };

struct binding {
	char mode[8], bus[16], driver[32];
};

static const char *present_mode(const struct sysroot *root, const char *device)
{
	auto_free struct device_irq *irqs = calloc(DEVICE_IRQS_MAX, sizeof(*irqs));
	int n = irqs ? device_irqs_list(root, device, irqs, DEVICE_IRQS_MAX, NULL) : 0;
	return irq_mode_name(n > 0 ? irqs[0].mode : IRQ_INTX);
}

static int find_binding(const struct sysroot *root, const char *device, struct binding *b,
			struct err *e)
{
	char folder[PATH_MAX], link[PATH_MAX + 16], driver[PATH_MAX];
	int r = topology_device(root, device, folder, e);
	if (r) {
		return r;
	}
	const char *bus = strrchr(folder, '/') + 1;
	snprintf(link, sizeof(link), "%s/msi_bus", folder);
	if (!sysfile_exists(root, link) || strlen(bus) >= sizeof(b->bus)) {
		return err_set(e, -EOPNOTSUPP, "%s is no PCI device with messages", device);
	}
	snprintf(link, sizeof(link), "%s/driver", folder);
	if (sysfile_resolve(root, link, driver, sizeof(driver))) {
		return err_set(e, -ENODEV, "%s has no driver now", device);
	}
	snprintf(b->mode, sizeof(b->mode), "%s", present_mode(root, device));
	snprintf(b->bus, sizeof(b->bus), "%s", bus);
	snprintf(b->driver, sizeof(b->driver), "%.31s", strrchr(driver, '/') + 1);
	return 0;
}

/* "absent" while the driver is not bound: a journal of a crash in between says what was there. */
static int msix_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		     struct err *e)
{
	struct binding b;
	struct err why = {0};
	int r = find_binding(root, s->device, &b, &why);
	if (r == -ENODEV) {
		snprintf(text, size, "absent");
		return 0;
	}
	if (r) {
		return err_set(e, r, "%s", why.text);
	}
	snprintf(text, size, "%s bus=%s driver=%s", b.mode, b.bus, b.driver);
	return *root->prefix ? 0 : link_state_append(s->device, text, size, e);
}

static int parse(const char *text, struct binding *b, struct err *e)
{
	if (sscanf(text, "%7s bus=%15s driver=%31s", b->mode, b->bus, b->driver) != 3 ||
	    strchr(b->bus, '/') || strchr(b->driver, '/')) {
		return err_set(e, -EINVAL, "msix.mode: '%.60s' does not say which device", text);
	}
	return 0;
}

/* The interface of a PCI device, also one below a virtio device. */
static bool netdev_of(const struct sysroot *root, const char *bus, char name[64])
{
	char path[192], below[8][64];
	snprintf(path, sizeof(path), PCI "/devices/%s/net", bus);
	if (sysfile_list(root, path, below, 1) == 1) {
		strcpy(name, below[0]);
		return true;
	}
	snprintf(path, sizeof(path), PCI "/devices/%s", bus);
	auto_free char(*all)[64] = calloc(128, sizeof(*all));
	int n = all ? sysfile_list(root, path, all, 128) : 0;
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), PCI "/devices/%s/%s/net", bus, all[i]);
		if (!strncmp(all[i], "virtio", 6) && sysfile_list(root, path, below, 1) == 1) {
			strcpy(name, below[0]);
			return true;
		}
	}
	return false;
}

static int await_netdev(const struct sysroot *root, const struct binding *b, char name[64],
			struct err *e)
{
	for (int ms = 0; ms < NETDEV_MS; ms += 20) {
		if (netdev_of(root, b->bus, name)) {
			return 0;
		}
		poll(NULL, 0, 20);
	}
	return err_set(e, -ENODEV, "driver %s made no interface of %s within %d s", b->driver,
		       b->bus, NETDEV_MS / 1000);
}

static int bind_anew(const struct sysroot *root, const struct binding *b, struct err *e)
{
	char path[192];
	snprintf(path, sizeof(path), PCI "/devices/%s/msi_bus", b->bus);
	int r = sysfile_write(root, path, strcmp(b->mode, "intx") != 0 ? "1" : "0", e);
	if (r) {
		return r;
	}
	snprintf(path, sizeof(path), PCI "/devices/%s/driver", b->bus);
	if (sysfile_exists(root, path)) {
		snprintf(path, sizeof(path), PCI "/drivers/%s/unbind", b->driver);
		r = sysfile_write(root, path, b->bus, e);
	}
	snprintf(path, sizeof(path), PCI "/drivers/%s/bind", b->driver);
	return r ? r : sysfile_write(root, path, b->bus, e);
}

static int msix_write(const struct sysroot *root, const struct setting *s, const char *text,
		      struct err *e)
{
	struct binding b;
	char now[64];
	int r = parse(text, &b, e);
	r = r ? r : bind_anew(root, &b, e);
	r = r ? r : await_netdev(root, &b, now, e);
	return r ? r : link_state_restore(now, s->device, text, e);
}

/* Messages are on or off by the device's attribute. Which kind is the driver's own choice, by a
 * parameter that it reads when it is loaded, for all its devices at once: no host is asked to give
 * those up for one of them. */
static int check_kind(const char *word, const char *now, const struct setting *s, struct err *e)
{
	struct binding b;
	bool other = strcmp(word, "intx") && strncmp(now, "intx ", 5) &&
		     (strncmp(now, word, strlen(word)) || now[strlen(word)] != ' ');
	if (!other || parse(now, &b, NULL)) {
		return 0;
	}
	return err_set(e, -EOPNOTSUPP,
		       "driver %s has chosen %s for %s: %s wants a parameter of its own when it is "
		       "loaded, for all its devices (modinfo -p %s; e1000e: IntMode)",
		       b.driver, b.mode, s->device, word, b.driver);
}

static int msix_plan(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		     struct err *e)
{
	char now[SETTING_TEXT_MAX], word[16];
	if (strchr(text, ' ')) {
		return 0;
	}
	snprintf(word, sizeof(word), "%.15s", text);
	int r = msix_read(root, s, now, sizeof(now), e);
	if (r || !strchr(now, ' ')) {
		return r ? r : err_set(e, -ENODEV, "there is no device %s", s->device);
	}
	r = check_kind(word, now, s, e);
	if (r) {
		return r;
	}
	int n = snprintf(text, size, "%s%s", word, strchr(now, ' '));
	return (size_t)n < size ? 0 : err_set(e, -ENAMETOOLONG, "%s: too long", s->name);
}

static bool msix_word(const struct sysroot *root, const struct setting *s, const char *text,
		      struct value *out)
{
	char word[16];
	(void)root;
	(void)s;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, " "), text);
	*out = value_text(word);
	return true;
}

/* What the driver has chosen with messages allowed, and none at all. What it would choose in an
 * intx device is seen only by trying. */
static int msix_probe(const struct sysroot *root, const struct setting *s, const char *field,
		      struct tunable_range *range, struct err *e)
{
	struct binding b;
	struct err why = {0};
	(void)field;
	(void)e;
	if (find_binding(root, s->device, &b, &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	range->present = value_text(b.mode);
	range->settable = true;
	strcpy(range->choices[0], !strcmp(b.mode, "intx") ? "msix" : b.mode);
	strcpy(range->choices[1], "intx");
	range->n_choices = 2;
	return 0;
}

static int vectors_read(const struct sysroot *root, const struct setting *s, char *text,
			size_t size, struct err *e)
{
	auto_free struct device_irq *irqs = calloc(DEVICE_IRQS_MAX, sizeof(*irqs));
	int n = irqs ? device_irqs_list(root, s->device, irqs, DEVICE_IRQS_MAX, e)
		     : err_set(e, -ENOMEM, "out of memory");
	int vectors = 0;
	for (int i = 0; i < n; i++) {
		vectors += irqs[i].mode == IRQ_MSIX;
	}
	snprintf(text, size, "%d", vectors);
	return n < 0 ? n : 0;
}

static int vectors_probe(const struct sysroot *root, const struct setting *s, const char *field,
			 struct tunable_range *range, struct err *e)
{
	char text[16];
	struct err why = {0};
	(void)field;
	(void)e;
	if (vectors_read(root, s, text, sizeof(text), &why)) {
		snprintf(range->why_not, sizeof(range->why_not), "%.159s", why.text);
		return 0;
	}
	range->present = value_int(atoi(text));
	snprintf(range->why_not, sizeof(range->why_not),
		 "the driver makes its vectors for its channels: set nic.channels.* instead");
	return 0;
}

const struct tunable_ops msix_ops = {
	.probe = msix_probe,
	.read = msix_read,
	.write = msix_write,
	.plan = msix_plan,
	.word = msix_word,
};

const struct tunable_ops msix_vectors_ops = {
	.by_name = true,
	.probe = vectors_probe,
	.read = vectors_read,
};
