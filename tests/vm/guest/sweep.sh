#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One whole sweep in the test machine: two namespaces, a virtio NIC each, 20 ms each way by netem.
# TCP's buffers decide there, so the best profile must name them; it goes back to the host.
. tests/lab/common.sh
ns_a=vm-a ns_b=vm-b
add_netns $ns_a $ns_b
for n in 0 1; do
	ns=$([ $n = 0 ] && echo $ns_a || echo $ns_b)
	ip link set virt$n netns $ns
	ip -n $ns addr add 192.0.2.$((n + 1))/30 dev virt$n
	ip -n $ns link set lo up
	ip -n $ns link set virt$n up
	tc -n $ns qdisc replace dev virt$n root netem delay 20ms limit 10000
	ip netns exec $ns sysctl -qw net.ipv4.tcp_rmem="4096 65536 262144" net.ipv4.tcp_wmem="4096 65536 262144"
done
# the first packets resolve addresses
check "the two see each other" wait_for 20 ip netns exec $ns_a /run/vm/busybox ping -c 1 -W 2 192.0.2.2
before=$(snapshot $ns_a; snapshot $ns_b)
cat >"$work/sweep.yaml" <<S
tunesweep: 1
name: vm
hosts:
  sender: {via: "netns:$ns_a"}
  receiver: {via: "netns:$ns_b", address: 192.0.2.2}
test: {type: tcp_stream, from: sender, to: receiver, duration: 1s}
objective: {maximize: throughput}
tunables:
  - {set: net.ipv4.tcp_rmem, field: max, host: receiver, range: [256KiB, 8MiB], scale: log}
  - {set: net.ipv4.tcp_wmem, field: max, host: sender, range: [256KiB, 8MiB], scale: log}
search: {samples: 12, seed: 1, time: 90s}
proof: {pairs: 6, time: 60s}
S
status "a whole sweep over two NICs" 0 "$tunesweep" run "$work/sweep.yaml" -o "$work/sweep"
json "it is complete and rolled back" "$work/sweep/result.json" '.status == "complete" and .restored'
json "larger buffers win, and that is proved" "$work/sweep/result.json" \
	'.recommended == "best" and .gain.significant and .gain.throughput_percent > 20'
same "the machine is as before" "$(snapshot $ns_a; snapshot $ns_b)" "$before"
check "the best profile names a buffer" grep -q 'tcp_[rw]mem' "$work/sweep/best.yaml"
jq -r '"# \(.baseline.throughput / 1e6) Mbit/s before, \(.best.throughput / 1e6) Mbit/s best; gain \(.gain.throughput_percent) %"' \
	"$work/sweep/result.json"
cp "$work/sweep/best.yaml" "$work/sweep/result.json" /run/share/
for n in 0 1; do
	ns=$([ $n = 0 ] && echo $ns_a || echo $ns_b)
	tc -n $ns qdisc del dev virt$n root
	ip -n $ns link set virt$n netns 1
done
done_testing
