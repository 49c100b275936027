#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A wire that drops what is larger than 1500 bytes, and NICs that would send it: an MTU above the
# wire's is a black hole. Such a configuration must fail with a reason and within its time, the one
# that works must win, and both NICs must be at their old MTU afterwards.
. tests/vm/guest/common.sh
two_ends virt
mtu() { ip netns exec $1 cat "/sys/class/net/$2/mtu"; }
cat >"$work/mtu.yaml" <<S
tunesweep: 1
name: mtu
hosts:
  sender: {via: "netns:$ns_a"}
  receiver: {via: "netns:$ns_b", address: 192.0.2.2}
test: {type: tcp_stream, from: sender, to: receiver, duration: 1s}
objective: {maximize: throughput}
allow: [disruptive]
tunables:
  - {set: link.mtu, host: sender, device: virt0, choices: [1400, 9000]}
  - {set: link.mtu, host: receiver, device: virt1, choices: [9000]}
search: {algorithm: grid, samples: 3, time: 60s}
proof: {pairs: 0}
S
status "a sweep over an MTU that the wire does not carry" 0 "$tunesweep" run "$work/mtu.yaml" \
	-o "$work/mtu" --store "$work/mtu.db"
"$tunesweep" report "$(jq -r .run "$work/mtu/result.json")" --store "$work/mtu.db" --format json >"$work/run.json"
jq -c '.trials[] | [.values, [.samples[] | .ok, .reason, .throughput]]' "$work/run.json" | sed 's/^/# /'
json "frames that the wire drops are a failed sample" "$work/run.json" \
	'[.trials[] | select(.values."link.mtu@sender" == 9000) | .samples[] | .ok] | length > 0 and (any | not)'
json "which says why" "$work/run.json" \
	'[.trials[] | select(.values."link.mtu@sender" == 9000) | .samples[] | .reason // ""] | all(length > 10)'
json "what the wire carries is measured" "$work/run.json" \
	'[.trials[] | select(.values."link.mtu@sender" == 1400) | .samples[] | .ok] | length > 0 and all'
same "both NICs have their MTU again" "$(mtu $ns_a virt0) $(mtu $ns_b virt1)" "1500 1500"
json "and that is told" "$work/mtu/result.json" .restored
give_back virt
done_testing
