#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What others see of NICs that are tuned: a profile of many settings of one device is applied, looked
# at with ethtool(8), which knows nothing of this program, verified, and rolled back. nic.sh has the
# entries one by one.
. tests/vm/guest/common.sh
for d in virt0 e1k0 e1k1 vmx0 vmx1; do ip link set $d up; done
wait_for 10 grep -q 1 /sys/class/net/e1k0/carrier

channels() { ethtool -l "$1" | awk '/^Current/ { c = 1 } c && /^Combined:/ { print $2 }'; }
ring() { ethtool -g "$1" | awk -v k="${2/-/ }" -F ':[ \t]*' '/^Current/ { c = 1 } c && $1 == k { print $2 }'; }
feature() { ethtool -k "$1" | awk -v k="$2:" '$1 == k { print $2 }'; }
moderation() { ethtool -c "$1" | awk -v k="$2:" '$1 == k { print $2 }'; }
pause() { ethtool -a "$1" | awk -v k="$2:" '$1 == k { print $2 }'; }
rss() { ethtool -x "$1" | awk '/^ *[0-9]+:/ { for (i = 2; i <= NF; i++) s[$i] = 1 } /^RSS hash key/ { exit } END { n = 0; for (i in s) n++; print n }'; }
mtu() { cat "/sys/class/net/$1/mtu"; }
# together DEVICE ALLOW ENTRY...: entries are "NAME VALUE WANTED OBSERVER..."
together() {
	local device=$1 allow=$2 entry name value wanted observe before=() i=0 settings=()
	shift 2
	for entry; do
		read -r name value wanted observe <<<"$entry"
		before+=("$($observe 2>&1)")
		settings+=("set: $name, device: $device, value: $value")
	done
	profile_of "$allow" "${settings[@]}" >"$work/nic.yaml"
	if ! "$tunesweep" apply "$work/nic.yaml" >"$work/out" 2>&1; then
		not_ok "$device: all is applied" "$(tail -n 3 "$work/out" | tr '\n' ' ')"
		"$tunesweep" rollback >"$work/out" 2>&1 || not_ok "$device: rollback" "$(tail -n 2 "$work/out")"
		return
	fi
	for entry; do
		read -r name value wanted observe <<<"$entry"
		same "$device: $name is set to $value" "$($observe 2>&1)" "$wanted"
	done
	status "$device: all is verified" 0 "$tunesweep" verify "$work/nic.yaml"
	status "$device: all is rolled back" 0 "$tunesweep" rollback
	for entry; do
		read -r name value wanted observe <<<"$entry"
		same "$device: $name is as before" "$($observe 2>&1)" "${before[i++]}"
	done
}

if [ "$(ethtool -l virt0 2>/dev/null | awk '/^Combined:/ { print $2; exit }')" = 4 ]; then
	together virt0 disruptive \
		"nic.channels.combined 2 2 channels virt0" \
		"nic.features.tso off off feature virt0 tcp-segmentation-offload" \
		"nic.features.gro off off feature virt0 generic-receive-offload"
else
	skip "nic.channels.combined" "no tap devices here, so virtio has one queue"
fi
together e1k0 disruptive \
	"nic.rings.rx 512 512 ring e1k0 RX" \
	"nic.rings.tx 512 512 ring e1k0 TX" \
	"nic.coalesce.rx_usecs 50us 50 moderation e1k0 rx-usecs" \
	"nic.features.tso off off feature e1k0 tcp-segmentation-offload" \
	"nic.features.rx off off feature e1k0 rx-checksumming" \
	"link.mtu 4000 4000 mtu e1k0"
together e1k1 disruptive \
	"nic.pause.autoneg off off pause e1k1 Autonegotiate" \
	"nic.pause.rx off off pause e1k1 RX" \
	"nic.pause.tx off off pause e1k1 TX"
together vmx0 disruptive \
	"nic.rings.rx 512 512 ring vmx0 RX" \
	"nic.rings.tx 1024 1024 ring vmx0 TX" \
	"nic.rings.rx_jumbo 256 256 ring vmx0 RX-Jumbo" \
	"nic.features.lro off off feature vmx0 large-receive-offload" \
	"nic.features.gso off off feature vmx0 generic-segmentation-offload" \
	"nic.rss_queues 2 2 rss vmx0" \
	"link.threaded on 1 cat /sys/class/net/vmx0/threaded"
done_testing
