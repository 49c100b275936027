/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/*
 * A NIC that is made up, for the test machine: its driver keeps every parameter that ethtool's
 * netlink interface of Linux 6.1 knows and no emulated NIC has (mini rings, buffer lengths, frames
 * and times of coalescing in both directions, adaptive moderation, CQE mode, other channels,
 * private flags), within limits as hardware has them, so that they can be set, refused, rounded and
 * read back through the real kernel. It carries no packets: what is sent is counted and dropped.
 * Built by kernel.sh.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/netdevice.h>

#define QUEUES	  8
#define RING_MOST 4096
#define RING_STEP 8
#define TIME_MOST 1000 /* us */
#define FLAGS	  2

static const char flag_names[FLAGS][ETH_GSTRING_LEN] = {"legacy-rx", "link-down-on-close"};

struct made {
	struct ethtool_channels channels;
	struct ethtool_ringparam ring;
	struct ethtool_coalesce coalesce;
	u32 buffer; /* bytes of a receive buffer */
	u32 flags;
	bool cqe_rx, cqe_tx;
};

static struct net_device *made_device;

static int made_open(struct net_device *dev)
{
	netif_carrier_on(dev);
	netif_tx_start_all_queues(dev);
	return 0;
}

static int made_stop(struct net_device *dev)
{
	netif_tx_stop_all_queues(dev);
	netif_carrier_off(dev);
	return 0;
}

static netdev_tx_t made_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += skb->len;
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops made_ops = {
	.ndo_open = made_open,
	.ndo_stop = made_stop,
	.ndo_start_xmit = made_xmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void made_get_channels(struct net_device *dev, struct ethtool_channels *c)
{
	*c = ((struct made *)netdev_priv(dev))->channels;
}

static int made_set_channels(struct net_device *dev, struct ethtool_channels *c)
{
	struct made *m = netdev_priv(dev);
	unsigned int rx = c->combined_count + c->rx_count, tx = c->combined_count + c->tx_count;
	int rc;

	if (rx > QUEUES || tx > QUEUES)
		return -EINVAL;
	rc = netif_set_real_num_queues(dev, tx, rx);
	if (rc)
		return rc;
	m->channels.rx_count = c->rx_count;
	m->channels.tx_count = c->tx_count;
	m->channels.combined_count = c->combined_count;
	m->channels.other_count = c->other_count;
	return 0;
}

static void made_get_ring(struct net_device *dev, struct ethtool_ringparam *r,
			  struct kernel_ethtool_ringparam *k, struct netlink_ext_ack *ack)
{
	struct made *m = netdev_priv(dev);

	*r = m->ring;
	k->rx_buf_len = m->buffer;
}

static int made_set_ring(struct net_device *dev, struct ethtool_ringparam *r,
			 struct kernel_ethtool_ringparam *k, struct netlink_ext_ack *ack)
{
	struct made *m = netdev_priv(dev);

	if (k->rx_buf_len < 512 || k->rx_buf_len > 16384 || k->rx_buf_len % 512) {
		NL_SET_ERR_MSG_MOD(ack, "a buffer is 512 to 16384 bytes, in steps of 512");
		return -EINVAL;
	}
	m->ring.rx_pending = ALIGN(r->rx_pending, RING_STEP);
	m->ring.rx_mini_pending = ALIGN(r->rx_mini_pending, RING_STEP);
	m->ring.rx_jumbo_pending = ALIGN(r->rx_jumbo_pending, RING_STEP);
	m->ring.tx_pending = ALIGN(r->tx_pending, RING_STEP);
	m->buffer = k->rx_buf_len;
	return 0;
}

static int made_get_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			     struct kernel_ethtool_coalesce *k, struct netlink_ext_ack *ack)
{
	struct made *m = netdev_priv(dev);

	*c = m->coalesce;
	k->use_cqe_mode_rx = m->cqe_rx;
	k->use_cqe_mode_tx = m->cqe_tx;
	return 0;
}

static int made_set_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			     struct kernel_ethtool_coalesce *k, struct netlink_ext_ack *ack)
{
	struct made *m = netdev_priv(dev);

	if (c->rx_coalesce_usecs > TIME_MOST || c->tx_coalesce_usecs > TIME_MOST) {
		NL_SET_ERR_MSG_MOD(ack, "no interrupt is held back for longer than 1000 us");
		return -ERANGE;
	}
	m->coalesce = *c;
	/* A driver that moderates by itself has values of its own. */
	if (c->use_adaptive_rx_coalesce) {
		m->coalesce.rx_coalesce_usecs = 8;
		m->coalesce.rx_max_coalesced_frames = 128;
	}
	m->cqe_rx = k->use_cqe_mode_rx;
	m->cqe_tx = k->use_cqe_mode_tx;
	return 0;
}

static int made_count_strings(struct net_device *dev, int set)
{
	return set == ETH_SS_PRIV_FLAGS ? FLAGS : -EOPNOTSUPP;
}

static void made_get_strings(struct net_device *dev, u32 set, u8 *to)
{
	if (set == ETH_SS_PRIV_FLAGS)
		memcpy(to, flag_names, sizeof(flag_names));
}

static u32 made_get_flags(struct net_device *dev)
{
	return ((struct made *)netdev_priv(dev))->flags;
}

static int made_set_flags(struct net_device *dev, u32 flags)
{
	((struct made *)netdev_priv(dev))->flags = flags;
	return 0;
}

static const struct ethtool_ops made_ethtool = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES |
				     ETHTOOL_COALESCE_USE_ADAPTIVE | ETHTOOL_COALESCE_USE_CQE,
	.supported_ring_params = ETHTOOL_RING_USE_RX_BUF_LEN,
	.get_link = ethtool_op_get_link,
	.get_channels = made_get_channels,
	.set_channels = made_set_channels,
	.get_ringparam = made_get_ring,
	.set_ringparam = made_set_ring,
	.get_coalesce = made_get_coalesce,
	.set_coalesce = made_set_coalesce,
	.get_sset_count = made_count_strings,
	.get_strings = made_get_strings,
	.get_priv_flags = made_get_flags,
	.set_priv_flags = made_set_flags,
};

static void made_fill(struct made *m)
{
	m->channels = (struct ethtool_channels){.max_rx = 4,
						.max_tx = 4,
						.max_combined = 4,
						.max_other = 2,
						.combined_count = 4,
						.other_count = 1};
	m->ring = (struct ethtool_ringparam){.rx_max_pending = RING_MOST,
					     .rx_mini_max_pending = RING_MOST,
					     .rx_jumbo_max_pending = RING_MOST,
					     .tx_max_pending = RING_MOST,
					     .rx_pending = 512,
					     .rx_mini_pending = 256,
					     .rx_jumbo_pending = 128,
					     .tx_pending = 512};
	m->coalesce = (struct ethtool_coalesce){.rx_coalesce_usecs = 50,
						.rx_max_coalesced_frames = 64,
						.tx_coalesce_usecs = 100,
						.tx_max_coalesced_frames = 32};
	m->buffer = 2048;
}

static int __init made_init(void)
{
	static const u8 address[ETH_ALEN] = {0x52, 0x54, 0, 0, 4, 0};
	int rc;

	made_device = alloc_etherdev_mqs(sizeof(struct made), QUEUES, QUEUES);
	if (!made_device)
		return -ENOMEM;
	strscpy(made_device->name, "made%d", IFNAMSIZ);
	made_device->netdev_ops = &made_ops;
	made_device->ethtool_ops = &made_ethtool;
	eth_hw_addr_set(made_device, address);
	made_fill(netdev_priv(made_device));
	netif_carrier_off(made_device);
	rc = netif_set_real_num_tx_queues(made_device, 4);
	if (!rc)
		rc = netif_set_real_num_rx_queues(made_device, 4);
	if (!rc)
		rc = register_netdev(made_device);
	if (rc)
		free_netdev(made_device);
	return rc;
}

static void __exit made_exit(void)
{
	unregister_netdev(made_device);
	free_netdev(made_device);
}

module_init(made_init);
module_exit(made_exit);
MODULE_DESCRIPTION("A NIC that is made up, with every parameter there is");
MODULE_LICENSE("GPL");
