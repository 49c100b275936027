#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The doctor on a machine with two nodes and NICs that can be asked.
. tests/vm/guest/common.sh
for d in e1k0 e1k1 vmx1; do ip link set $d up; done
# a NIC without a carrier yet is not looked at
for d in e1k0 e1k1 vmx1; do
	for _ in $(seq 300); do
		[ "$(cat /sys/class/net/$d/operstate)" = up ] && break
		sleep 0.1
	done
done
finding() { # finding CHECK DEVICE TEXT
	holds "$work/out" '.hosts.here.findings[] | select(.check == $c and (.device // "") == $d and (.found | contains($t)))' \
		--arg c "$1" --arg d "$2" --arg t "$3"
}
"$tunesweep" doctor --samples 0 --json >"$work/out" 2>"$work/err"
rc=$?
cp "$work/out" /run/share/doctor.json
check "the machine is examined ($rc)" test $rc -le 1
check "it is seen to be virtual" finding host.virtual "" QEMU
check "the node of a NIC on node 1" finding nic.node e1k1 "on node 1 (CPUs 2-3)"
check "the node of a NIC on node 0" finding nic.node e1k0 "on node 0 (CPUs 0-1)"
check "pause frames of a NIC that was asked" finding nic.settings e1k0 "pause frames are on"
json "no nodes are hidden" "$work/out" '[.hosts.here.findings[] | select(.check == "numa.nodes")] == []'
status "one device alone" 1 "$tunesweep" doctor --samples 0 --json --device vmx1
done_testing
