/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The doctor on one NIC: its way to memory (PCIe, node), its wire, its errors, and what is set
 * against it. Called by doctor.c's table for each NIC.
 */
#include "doctor_private.h"
#include "topology.h"
#include <errno.h>

struct pci_end {	       /* one end of a PCIe link: what it could, and what it does */
	double gt_max, gt_now; /* GT/s a lane; -1 if not known */
	int64_t lanes_max, lanes_now;
};

static double speed_of(const struct doctor *d, const char *folder, const char *file)
{
	char text[64], *end;
	double gt = strtod(doctor_text(d, text, sizeof(text), "%s/%s", folder, file), &end);
	return end > text ? gt : -1; /* "8.0 GT/s PCIe", "Unknown" */
}

static struct pci_end end_at(const struct doctor *d, const char *folder)
{
	struct pci_end p = {
		.gt_max = speed_of(d, folder, "max_link_speed"),
		.gt_now = speed_of(d, folder, "current_link_speed"),
		.lanes_max = doctor_number(d, "%s/max_link_width", folder),
		.lanes_now = doctor_number(d, "%s/current_link_width", folder),
	};
	return p;
}

/* Gbit/s of data in one direction: 8b/10b up to 5 GT/s, then 128b/130b (PCI Express base
 * specification), without the packets' own overhead. */
static double data_rate(double gt, int64_t lanes)
{
	return gt * (gt < 8 ? 0.8 : 128.0 / 130) * (double)lanes;
}

static void tell_narrow(struct doctor *d, const struct pci_end *card, const struct pci_end *slot,
			double could)
{
	bool slot_is_less = slot->gt_max > 0 && slot->lanes_max > 0 &&
			    data_rate(slot->gt_max, slot->lanes_max) <= could * 0.99;
	int64_t wire = doctor_number(d, "/sys/class/net/%s/speed", d->device);
	double now = data_rate(card->gt_now, card->lanes_now);
	/* headers and acknowledgements of the bus take a sixth to a fifth */
	bool hurts = wire <= 0 || now < 1.25 * (double)wire / 1000;
	doctor_tell(d, hurts ? "problem" : "note",
		    (struct doctor_words){
			    hurts ? "the bus carries less than the wire, or hardly as much: "
				    "throughput ends there whatever is tuned"
				  : "the bus still carries the wire's rate; bursts wait longer",
			    slot_is_less ? "move the card to a wider or faster slot"
					 : "reseat the card, look at the slot's settings in the "
					   "firmware, then at the riser"},
		    "PCIe runs at %.4g GT/s x%" PRId64 " (%.0f Gbit/s); the card can do %.4g GT/s "
		    "x%" PRId64 " (%.0f Gbit/s)",
		    card->gt_now, card->lanes_now, now, card->gt_max, card->lanes_max, could);
}

void check_pci_link(struct doctor *d)
{
	char folder[PATH_MAX];
	if (topology_device(d->root, d->device, folder, NULL)) {
		return;
	}
	struct pci_end card = end_at(d, folder), slot = {-1, -1, -1, -1};
	char *slash = strrchr(folder, '/');
	if (slash) {
		*slash = '\0';
		slot = end_at(d, folder);
	}
	if (card.gt_max <= 0 || card.gt_now <= 0 || card.lanes_max <= 0 || card.lanes_now <= 0) {
		return;
	}
	double could = data_rate(card.gt_max, card.lanes_max);
	if (data_rate(card.gt_now, card.lanes_now) < could * 0.99) {
		tell_narrow(d, &card, &slot, could);
	}
}

void check_nic_node(struct doctor *d)
{
	cpu_set_t nodes, local;
	char list[256] = "";
	topology_nodes(d->root, &nodes);
	if (CPU_COUNT(&nodes) < 2) {
		return;
	}
	int node = topology_device_node(d->root, d->device);
	if (node < 0) {
		doctor_tell(d, "note",
			    (struct doctor_words){
				    "local-node policies take all CPUs; half of the traffic may "
				    "cross the sockets' link",
				    "find the slot's node in the board's manual, and name CPUs "
				    "by number"},
			    "the firmware does not say on which of the %d nodes the card is",
			    CPU_COUNT(&nodes));
		return;
	}
	if (topology_node_cpus(d->root, node, &local, NULL) ||
	    cpus_format_list(&local, list, sizeof(list))) {
		return;
	}
	doctor_tell(d, "note",
		    (struct doctor_words){
			    "programs and interrupts on other CPUs reach its buffers over the "
			    "sockets' link",
			    "sweep irq.affinity and numa.cpu (local-node, nic-node)"},
		    "the card is on node %d (CPUs %s)", node, list);
}

void check_nic_link(struct doctor *d)
{
	char duplex[16];
	struct doctor_nic nic = {-1, -1, -1, -1, -1, -1, "", 0, {{0}}};
	int64_t speed = doctor_number(d, "/sys/class/net/%s/speed", d->device);
	if (doctor_number(d, "/sys/class/net/%s/carrier", d->device) == 0) {
		doctor_tell(d, "problem",
			    (struct doctor_words){"nothing can be measured over it",
						  "look at cable, module and switch port"},
			    "there is no carrier");
		return;
	}
	if (d->source->nic) {
		d->source->nic(d->device, &nic);
	}
	if (speed > 0 && nic.speed_max > speed) {
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "throughput ends at the lower speed whatever is tuned",
				    "look at the switch port's speed, the module, and the cable's "
				    "class"},
			    "the link runs at %" PRId64 " Mbit/s; the card can do %" PRId64
			    " Mbit/s",
			    speed, nic.speed_max);
	}
	doctor_text(d, duplex, sizeof(duplex), "/sys/class/net/%s/duplex", d->device);
	if (!strcmp(duplex, "half")) {
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "only one side sends at a time; with a mismatch of the two "
				    "ends there are late collisions and losses",
				    "switch autonegotiation on at both ends"},
			    "the link is half duplex");
	}
}

static void tell_sum(struct doctor *d, const char *const *files, size_t n, const char *what,
		     struct doctor_words w)
{
	char parts[200] = "";
	for (size_t i = 0, used = 0; i < n; i++) {
		int64_t count = doctor_number(d, "/sys/class/net/%s/statistics/%s", d->device,
					      files[i]);
		if (count > 0 && used < sizeof(parts)) {
			used += (size_t)snprintf(parts + used, sizeof(parts) - used,
						 "%s%s %" PRId64, used ? ", " : "", files[i],
						 count);
		}
	}
	if (*parts) {
		doctor_tell(d, "problem", w, "%s since the driver's start: %s", what, parts);
	}
}

void check_nic_errors(struct doctor *d)
{
	static const char *const wire[] = {"rx_crc_errors", "rx_frame_errors", "rx_length_errors",
					   "collisions"};
	static const char *const ring[] = {"rx_missed_errors", "rx_fifo_errors", "rx_over_errors"};
	struct doctor_nic nic = {-1, -1, -1, -1, -1, -1, "", 0, {{0}}};
	tell_sum(d, wire, ARRAY_SIZE(wire), "damaged frames",
		 (struct doctor_words){"each is a lost packet: TCP slows down, and throughput "
				       "differs from sample to sample",
				       "replace cable or module, clean the fibre; then the port"});
	tell_sum(d, ring, ARRAY_SIZE(ring), "frames for which the card had no room",
		 (struct doctor_words){"each is a lost packet", "sweep nic.rings.rx, irq.affinity "
								"and nic.channels.*"});
	if (d->source->nic) {
		d->source->nic(d->device, &nic);
	}
	if (nic.fec_uncorrectable > 0 || nic.symbol_errors > 0) {
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "each is a lost packet or more; the link is at its limit",
				    "replace cable or module, clean the fibre; see that both ends "
				    "use the same FEC"},
			    "the wire's errors: %" PRId64 " blocks that FEC could not mend, "
			    "%" PRId64 " symbol errors",
			    nic.fec_uncorrectable > 0 ? nic.fec_uncorrectable : 0,
			    nic.symbol_errors > 0 ? nic.symbol_errors : 0);
	} else if (nic.fec_corrected > 0) {
		doctor_tell(d, "note",
			    (struct doctor_words){"nothing yet: FEC mends them",
						  "watch whether the number grows fast"},
			    "FEC has mended %" PRId64 " blocks", nic.fec_corrected);
	}
}

void check_nic_settings(struct doctor *d)
{
	struct doctor_nic nic = {-1, -1, -1, -1, -1, -1, "", 0, {{0}}};
	char off[DOCTOR_OFFLOADS * 34] = "";
	if (!d->source->nic) {
		return;
	}
	d->source->nic(d->device, &nic);
	for (size_t i = 0, used = 0; i < nic.n_off && i < DOCTOR_OFFLOADS; i++) {
		used += (size_t)snprintf(off + used, sizeof(off) - used, "%s%s", i ? ", " : "",
					 nic.off[i]);
	}
	if (nic.n_off) {
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "the CPU does for each packet what the card could do: two to "
				    "five times the CPU per KB",
				    "sweep nic.features.*, or: ethtool -K DEVICE FEATURE on"},
			    "offloads that are off and could be on: %s", off);
	}
	if (nic.pause_rx == 1 || nic.pause_tx == 1) {
		doctor_tell(d, "note",
			    (struct doctor_words){
				    "a slow receiver stops the whole port, others' traffic "
				    "included; losses are hidden, and waiting takes their place",
				    "sweep nic.pause.*, or leave it on where the switch is made "
				    "for it"},
			    "pause frames are on (%s%s%s)", nic.pause_rx == 1 ? "rx" : "",
			    nic.pause_rx == 1 && nic.pause_tx == 1 ? ", " : "",
			    nic.pause_tx == 1 ? "tx" : "");
	}
	if (*nic.firmware) {
		doctor_tell(d, "note",
			    (struct doctor_words){
				    "the card does not say how old it is; old firmware is a common "
				    "cause of odd results",
				    "compare the version with the maker's release notes"},
			    "the card's firmware is %s", nic.firmware);
	}
}
