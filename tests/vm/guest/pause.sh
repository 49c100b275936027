#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Pause frames among a window's counters: e1000e has them among its own statistics (none comes over
# an emulated wire, and is told as 0), virtio-net does not count them, which is another thing.
. tests/vm/guest/common.sh
one_sample() { # one_sample KIND: the counters of both ends, of a sample over that pair, in $work/KIND
	two_ends "$1"
	cat >"$work/pause.yaml" <<S
tunesweep: 1
name: pause
hosts:
  sender: {via: "netns:$ns_a"}
  receiver: {via: "netns:$ns_b", address: 192.0.2.2}
test: {type: tcp_stream, from: sender, to: receiver, duration: 1s}
objective: {maximize: throughput}
tunables:
  - {set: socket.message_size, choices: [64KiB, 128KiB]}
search: {algorithm: grid, samples: 2}
proof: {pairs: 0}
S
	for _ in 1 2 3; do # on a machine that is emulated slowly a sample may fail
		"$tunesweep" run "$work/pause.yaml" --store "$work/pause.db" >"$work/out" 2>&1
		"$tunesweep" report latest --store "$work/pause.db" --format json |
			jq '[.trials[].samples[] | select(.ok) | .detail | .sender.counters, .receiver.counters]' >"$work/$1"
		holds "$work/$1" 'length > 0' >/dev/null && break
	done
	echo "# $1: $(jq -c 'map([.device, .rx_pause, .tx_pause])' "$work/$1")"
	give_back "$1"
}
one_sample e1k
json "e1000e counts pause frames, and saw none" "$work/e1k" 'length > 0 and all(.rx_pause == 0 and .tx_pause == 0)'
one_sample virt
json "virtio-net does not count them, which is not told as none" "$work/virt" \
	'length > 0 and all(has("rx_pause") or has("tx_pause") | not)'
done_testing
