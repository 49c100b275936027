/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The doctor's table of checks, run over a host. Each check reads; none sets anything, and none
 * fails: what cannot be read is not known, and nothing is said about it. Called by the agent.
 */
#include "doctor_private.h"
#include <errno.h>

static const struct {
	const char *name;
	void (*run)(struct doctor *d);
	bool of_nic; /* runs for each NIC */
} CHECKS[] = {
	{"cpu.governor", check_governor, false},
	{"cpu.boost", check_boost, false},
	{"cpu.idle_states", check_idle_states, false},
	{"cpu.smt", check_smt, false},
	{"cpu.throttling", check_throttling, false},
	{"numa.nodes", check_nodes, false},
	{"host.virtual", check_virtual, false},
	{"host.busy", check_busy, false},
	{"host.clock", check_clock, false},
	{"host.firmware", check_firmware, false},
	{"iommu.mode", check_iommu, false},
	{"owners", check_owners, false},
	{"pci.link", check_pci_link, true},
	{"nic.node", check_nic_node, true},
	{"nic.link", check_nic_link, true},
	{"nic.errors", check_nic_errors, true},
	{"nic.settings", check_nic_settings, true},
};

/* With hardware behind it, and up; operstate is "unknown" for drivers that do not tell. */
static bool is_looked_at(const struct doctor *d, const char *nic)
{
	char path[128], state[16];
	snprintf(path, sizeof(path), "/sys/class/net/%s/device/uevent", nic);
	return sysfile_exists(d->root, path) &&
	       strcmp(doctor_text(d, state, sizeof(state), "/sys/class/net/%s/operstate", nic),
		      "down") != 0;
}

static int find_nics(struct doctor *d, const char *device, struct err *e)
{
	char path[128];
	int n = sysfile_list(d->root, "/sys/class/net", d->nics, DOCTOR_NICS_MAX);
	for (int i = 0; i < n; i++) {
		if (device ? !strcmp(d->nics[i], device) : is_looked_at(d, d->nics[i])) {
			memmove(d->nics[d->n_nics++], d->nics[i], sizeof(d->nics[0]));
		}
	}
	snprintf(path, sizeof(path), "%.15s", device ? device : "");
	return device && !d->n_nics ? err_set(e, -ENODEV, "there is no device %s", path) : 0;
}

static void run_check(struct doctor *d, size_t i)
{
	size_t times = CHECKS[i].of_nic ? d->n_nics : 1;
	d->check = CHECKS[i].name;
	for (size_t k = 0; k < times; k++) {
		d->device = CHECKS[i].of_nic ? d->nics[k] : NULL;
		CHECKS[i].run(d);
	}
}

int doctor_examine(const struct doctor_source *source, const char *device, json_t **out,
		   struct err *e)
{
	auto_free char(*nics)[64] = calloc(DOCTOR_NICS_MAX, sizeof(*nics));
	struct doctor d = {.source = source, .root = source->root, .nics = nics};
	json_t *checked = json_array();
	if (!nics) {
		json_decref(checked);
		return err_set(e, -ENOMEM, "no memory");
	}
	int rc = find_nics(&d, device && *device ? device : NULL, e);
	if (rc) {
		json_decref(checked);
		return rc;
	}
	d.findings = json_array();
	for (size_t i = 0; i < ARRAY_SIZE(CHECKS); i++) {
		run_check(&d, i);
		json_array_append_new(checked, json_string(CHECKS[i].name));
	}
	*out = json_pack("{s:o, s:o}", "findings", d.findings, "checked", checked);
	return *out ? 0 : err_set(e, -ENOMEM, "no memory");
}
