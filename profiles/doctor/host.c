/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The doctor on the machine as a whole: virtual or not, its clocks, the age of its firmware, the
 * IOMMU. Called by doctor.c's table.
 */
#include "doctor_private.h"
#include <time.h>

void check_virtual(struct doctor *d)
{
	char info[8192], vendor[64], product[64];
	doctor_text(d, info, sizeof(info), "/proc/cpuinfo"); /* the first CPU is enough */
	if (!strstr(info, " hypervisor ") && !strstr(info, " hypervisor\n")) {
		return;
	}
	doctor_text(d, vendor, sizeof(vendor), "/sys/class/dmi/id/sys_vendor");
	doctor_text(d, product, sizeof(product), "/sys/class/dmi/id/product_name");
	doctor_tell(d, "note",
		    (struct doctor_words){
			    "neighbours and the host take part in every number; nodes and CPUs "
			    "that are seen here need not be the real ones",
			    "pin the virtual CPUs and measure longer; do not carry a profile over "
			    "to hardware"},
		    "this is a virtual machine (%s%s%s)", vendor, *vendor && *product ? " " : "",
		    *vendor || *product ? product : "of an unknown kind");
}

void check_clock(struct doctor *d)
{
	char source[32];
	doctor_text(d, source, sizeof(source),
		    "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (!strcmp(source, "hpet") || !strcmp(source, "acpi_pm") || !strcmp(source, "jiffies")) {
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "each look at the clock costs a microsecond or more, and the "
				    "network stack looks for each packet",
				    "find out in the kernel's log why tsc was given up; on healthy "
				    "hardware: clocksource=tsc tsc=reliable"},
			    "the clock source is %s", source);
	}
	if (d->source->clock_synced && d->source->clock_synced() == 0) {
		doctor_tell(d, "note",
			    (struct doctor_words){
				    "nights and hosts cannot be put in order by their times; "
				    "measurements themselves do not suffer",
				    "start chrony, or: timedatectl set-ntp true"},
			    "the clock is not synchronised");
	}
}

/* The NIC's firmware has a version and no date; the machine's has both. */
void check_firmware(struct doctor *d)
{
	enum { OLD_YEARS = 3 };
	char date[32], version[64];
	struct tm then = {0};
	doctor_text(d, date, sizeof(date), "/sys/class/dmi/id/bios_date");
	if (sscanf(date, "%d/%d/%d", &then.tm_mon, &then.tm_mday, &then.tm_year) != 3) {
		return;
	}
	then.tm_mon--;
	then.tm_year -= 1900;
	double years = (double)(d->source->now - (int64_t)timegm(&then)) / (365.25 * 86400);
	if (years >= OLD_YEARS) {
		doctor_text(d, version, sizeof(version), "/sys/class/dmi/id/bios_version");
		doctor_tell(d, "note",
			    (struct doctor_words){
				    "microcode, PCIe and memory settings are as old; mitigations "
				    "may cost more than they have to",
				    "look for an update with the maker, or: fwupdmgr get-updates"},
			    "the machine's firmware%s%s is %.0f years old (%s)",
			    *version ? " " : "", version, years, date);
	}
}

void check_iommu(struct doctor *d)
{
	enum { GROUPS_MAX = 1 };
	char(*one)[64] = &(char[64]){0}, type[32], line[2048];
	if (sysfile_list(d->root, "/sys/class/iommu", one, GROUPS_MAX) < 1) {
		return;
	}
	for (size_t i = 0; i < d->n_nics; i++) {
		doctor_text(d, type, sizeof(type), "/sys/class/net/%s/device/iommu_group/type",
			    d->nics[i]);
		if (strncmp(type, "DMA", 3)) {
			continue; /* identity, or nothing is known */
		}
		bool strict = !strcmp(type, "DMA");
		doctor_text(d, line, sizeof(line), "/proc/cmdline");
		doctor_tell(d, strict ? "problem" : "note",
			    (struct doctor_words){
				    strict ? "each buffer is mapped and unmapped at once: at high "
					     "rates a large part of the CPU goes there"
					   : "buffers are mapped and unmapped in batches: some CPU "
					     "per packet",
				    "where the machine runs no untrusted devices or guests: "
				    "iommu=pt on the kernel's command line"},
			    "the IOMMU translates for %s (%s)%s", d->nics[i],
			    strict ? "strict" : "lazy",
			    strstr(line, "iommu=pt") ? " in spite of iommu=pt" : "");
	}
}
