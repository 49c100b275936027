/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A systemd .link file of one device. The first file that matches a device decides all about it,
 * its name, too: so the policies of systemd's own 99-default.link are repeated here.
 */
#include "cleanup.h"
#include "export_format.h"
#include <string.h>

enum unit { NUMBER, SWITCH, MICROSECONDS };

static const struct {
	const char *name, *key;
	enum unit unit;
} keys[] = {
	{"link.mtu", "MTUBytes", NUMBER},
	{"link.txqueuelen", "TransmitQueueLength", NUMBER},
	{"link.gso_max_size", "GenericSegmentOffloadMaxBytes", NUMBER},
	{"link.gso_max_segs", "GenericSegmentOffloadMaxSegments", NUMBER},
	{"nic.channels.rx", "RxChannels", NUMBER},
	{"nic.channels.tx", "TxChannels", NUMBER},
	{"nic.channels.other", "OtherChannels", NUMBER},
	{"nic.channels.combined", "CombinedChannels", NUMBER},
	{"nic.rings.rx", "RxBufferSize", NUMBER},
	{"nic.rings.rx_mini", "RxMiniBufferSize", NUMBER},
	{"nic.rings.rx_jumbo", "RxJumboBufferSize", NUMBER},
	{"nic.rings.tx", "TxBufferSize", NUMBER},
	{"nic.pause.rx", "RxFlowControl", SWITCH},
	{"nic.pause.tx", "TxFlowControl", SWITCH},
	{"nic.pause.autoneg", "AutoNegotiationFlowControl", SWITCH},
	{"nic.coalesce.rx_usecs", "RxCoalesceSec", MICROSECONDS},
	{"nic.coalesce.tx_usecs", "TxCoalesceSec", MICROSECONDS},
	{"nic.coalesce.rx_frames", "RxMaxCoalescedFrames", NUMBER},
	{"nic.coalesce.tx_frames", "TxMaxCoalescedFrames", NUMBER},
	{"nic.coalesce.adaptive_rx", "UseAdaptiveRxCoalesce", SWITCH},
	{"nic.coalesce.adaptive_tx", "UseAdaptiveTxCoalesce", SWITCH},
	{"nic.features.rx", "ReceiveChecksumOffload", SWITCH},
	/* not tso, which is of four features of the kernel: systemd has a word for one of them */
	{"nic.features.tx", "TransmitChecksumOffload", SWITCH},
	{"nic.features.gso", "GenericSegmentationOffload", SWITCH},
	{"nic.features.gro", "GenericReceiveOffload", SWITCH},
	{"nic.features.lro", "LargeReceiveOffload", SWITCH},
	{"nic.features.rx-checksum", "ReceiveChecksumOffload", SWITCH},
	{"nic.features.tx-tcp-segmentation", "TCPSegmentationOffload", SWITCH},
	{"nic.features.tx-tcp6-segmentation", "TCP6SegmentationOffload", SWITCH},
	{"nic.features.tx-generic-segmentation", "GenericSegmentationOffload", SWITCH},
	{"nic.features.rx-gro", "GenericReceiveOffload", SWITCH},
	{"nic.features.rx-gro-hw", "GenericReceiveOffloadHardware", SWITCH},
	{"nic.features.rx-lro", "LargeReceiveOffload", SWITCH},
	{"nic.features.rx-ntuple-filter", "NTupleFilter", SWITCH},
};

static int find_key(const struct export_object *o)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].name, export_setting(o)->name) == 0) {
			return (int)i;
		}
	}
	return -1;
}

static const char *refuses(const struct export_object *o)
{
	const struct setting *s = export_setting(o);
	if (!*s->device) {
		return "no setting of a device (--format sysctl)";
	}
	return find_key(o) < 0 ? "systemd.link(5) has no word for it (--format udev)" : NULL;
}

/* By the bus where it is known: a name that udev gave is not there yet when .link files are read.
 */
static void write_match(FILE *f, const struct export_request *r)
{
	fputs("[Match]\n", f);
	if (r->bus && *r->bus) {
		fprintf(f, "Path=pci-%s\n", r->bus);
	} else {
		fprintf(f,
			"# The device's bus address is not known: this matches the kernel's own "
			"name alone.\nOriginalName=%s\n",
			r->device);
	}
}

static int write_file(FILE *f, const struct export_job *j, struct err *e)
{
	static const char *const suffix[] = {[NUMBER] = "", [SWITCH] = "", [MICROSECONDS] = "us"};
	(void)e;
	write_match(f, j->request);
	fputs("\n[Link]\n"
	      "# as in systemd's 99-default.link, which this file takes the place of\n"
	      "NamePolicy=keep kernel database onboard slot path\n"
	      "AlternativeNamesPolicy=database onboard slot path\n"
	      "MACAddressPolicy=persistent\n",
	      f);
	for (size_t i = 0; i < j->n; i++) {
		const struct export_object *o = &j->objects[i];
		int k = *o->refused ? -1 : find_key(o);
		if (k >= 0) {
			fprintf(f, "%s=%s%s\n", keys[k].key, export_switch(o, "yes", "no"),
				suffix[keys[k].unit]);
		}
	}
	return 0;
}

const struct export_format export_link = {
	.name = "link",
	.suffix = ".link",
	.where = "Belongs in /etc/systemd/network/70-tunesweep-%s-DEVICE.link, one file a device.",
	.wants_whole = true,
	.by_device = true,
	.refuses = refuses,
	.write = write_file,
};
