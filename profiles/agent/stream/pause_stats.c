/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pause frames among a driver's own statistics (what ethtool -S shows), for drivers that do not
 * give them to netlink: by the names under which they are known. Called by pause.c.
 */
#include "cleanup.h"
#include "pause.h"
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define STATS_MAX 65536

/* A row is one driver's family. XON is a pause frame, too: one of no time at all. */
static const struct {
	const char *rx[2], *tx[2];
} families[] = {
	{{"rx_flow_control_xoff", "rx_flow_control_xon"},
	 {"tx_flow_control_xoff", "tx_flow_control_xon"}}, /* e1000, e1000e, igb, igc, ixgbe */
	{{"port.link_xoff_rx", "port.link_xon_rx"},
	 {"port.link_xoff_tx", "port.link_xon_tx"}}, /* i40e */
	{{"link_xoff_rx.nic", "link_xon_rx.nic"},
	 {"link_xoff_tx.nic", "link_xon_tx.nic"}},					/* ice */
	{{"rx_xoff_pause_rcvd", "rx_xon_pause_rcvd"}, {"tx_xoff_sent", "tx_xon_sent"}}, /* tg3 */
	{{"rx_pause_ctrl_phy", NULL}, {"tx_pause_ctrl_phy", NULL}},			/* mlx5 */
	{{"rx_pause_frames", NULL}, {"tx_pause_frames", NULL}},				/* bnxt */
	{{"rx_pause_frames", NULL}, {"tx_pauseframes", NULL}},				/* be2net */
	{{"mac_rx_mac_pause_num", NULL}, {"mac_tx_mac_pause_num", NULL}},		/* hns3 */
};

static bool call(int fd, const char *device, void *data)
{
	struct ifreq r = {.ifr_data = data};
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device);
	return ioctl(fd, SIOCETHTOOL, &r) == 0;
}

static uint32_t stats_count(int fd, const char *device)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t n;
	} q = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_STATS}};
	bool told = call(fd, device, &q) && q.info.sset_mask;
	return told && q.n <= STATS_MAX ? q.n : 0;
}

/* Sum of those of up to two names that are there; NaN if none is. */
static double sum_of(const char *const name[2], const struct ethtool_gstrings *names,
		     const struct ethtool_stats *stats)
{
	double sum = NAN;
	for (uint32_t i = 0; i < names->len && i < stats->n_stats; i++) {
		const char *at = (const char *)names->data + (size_t)i * ETH_GSTRING_LEN;
		for (int k = 0; k < 2 && name[k]; k++) {
			if (strncmp(at, name[k], ETH_GSTRING_LEN) == 0) {
				sum = (isfinite(sum) ? sum : 0) + (double)stats->data[i];
			}
		}
	}
	return sum;
}

static void find(const struct ethtool_gstrings *names, const struct ethtool_stats *stats,
		 struct pause_count *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		struct pause_count c = {sum_of(families[i].rx, names, stats),
					sum_of(families[i].tx, names, stats)};
		if (isfinite(c.rx) && isfinite(c.tx)) {
			*out = c;
			return;
		}
	}
}

bool pause_stats_read(const char *device, struct pause_count *out)
{
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t n = fd >= 0 ? stats_count(fd, device) : 0;
	/* The kernel writes as many as there are by then: with more channels, more. */
	size_t room = 4 * (size_t)n + 256;
	auto_free struct ethtool_gstrings *names =
		n ? calloc(1, sizeof(*names) + room * ETH_GSTRING_LEN) : NULL;
	auto_free struct ethtool_stats *stats =
		n ? calloc(1, sizeof(*stats) + room * sizeof(stats->data[0])) : NULL;
	if (!names || !stats) {
		return false;
	}
	*names = (struct ethtool_gstrings){
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = n};
	*stats = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = n};
	if (!call(fd, device, names) || !call(fd, device, stats) || stats->n_stats != names->len) {
		return false;
	}
	find(names, stats, out);
	return pause_known(out);
}
