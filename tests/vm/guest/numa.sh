#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two NUMA nodes: where the endpoints run and where their memory is. The pages are those that the
# kernel says there are, in the endpoint's own numa_maps, as the sample tells them.
. tests/vm/guest/common.sh
"$tunesweep" list numa.policy >"$work/out" 2>&1 || skip_all numa "this build has no numa.policy"
two_ends virt
cat >"$work/numa.yaml" <<S
tunesweep: 1
name: numa
hosts:
  sender: {via: "netns:$ns_a"}
  receiver: {via: "netns:$ns_b", address: 192.0.2.2}
test: {type: tcp_stream, from: sender, to: receiver, duration: 1s}
objective: {maximize: throughput}
tunables:
  - {set: numa.policy, host: receiver, choices: [interleave, "bind:0", "bind:1", "preferred:1"]}
  - {set: numa.cpu, host: sender, choices: [all, "2-3"]}
search: {algorithm: grid, samples: 8}
proof: {pairs: 0}
S
# A sample may fail on a machine that is emulated slowly; what counts is where the pages of those
# were that did not.
echo '[]' >"$work/seen"
for attempt in 1 2 3; do
	"$tunesweep" run "$work/numa.yaml" -o "$work/numa" --store "$work/numa.db" >"$work/out" 2>"$work/err"
	"$tunesweep" report "$(jq -r .run "$work/numa/result.json")" --store "$work/numa.db" --format json >"$work/run.json" 2>>"$work/err"
	jq -s '.[0] + [.[1].trials[] | .values as $v | .samples[] | select(.ok) | .detail as $d |
		{policy: $v."numa.policy@receiver", cpu: $v."numa.cpu@sender", pages: $d.receiver.placement.pages, cpus: $d.sender.placement.cpus,
		 ran: $d.receiver.thread_cpus, remote: $d.receiver.placement.remote, told: $d.limits.receiver_memory_on_other_nodes}]' \
		"$work/seen" "$work/run.json" >"$work/more" && cp "$work/more" "$work/seen"
	holds "$work/seen" '[.[] | .policy] | unique - ["default"] | length == 4' >/dev/null && break
done
echo "# $(jq -c 'map([.policy, .pages, .cpus])' "$work/seen")"
pages() { # pages POLICY WORDS EXPRESSION: of $a pages on node 0 and $b on node 1
	json "$1: the pages are $2 (after $attempt sweeps)" "$work/seen" "[.[] | select(.policy == \$p) |
		(.pages.\"0\" // 0) as \$a | (.pages.\"1\" // 0) as \$b | $3] | length > 0 and all" --arg p "$1"
}
pages interleave "on both nodes alike" '$a > 0 and $b > 0 and $a < 2 * $b and $b < 2 * $a'
pages bind:0 "on node 0 alone" '$a > 0 and $b == 0'
pages bind:1 "on node 1 alone" '$a == 0 and $b > 0'
pages preferred:1 "on node 1, where there is room" '$b > 3 * $a'
json "the sender ran on the CPUs that it was given" "$work/seen" \
	'[.[] | select(.cpu == "2-3") | .cpus] | length > 0 and all(. == "2-3")'
# Two CPUs a node: where all of a receiver's threads ran on one, the pages on the other one are far.
json "the share of far pages is that of the pages on the other node" "$work/seen" '[.[] |
	(.pages."0" // 0) as $a | (.pages."1" // 0) as $b |
	select($a + $b > 0 and (.ran | length) > 0 and ((.ran | map(. < 2) | unique | length) == 1)) |
	(if .ran[0] < 2 then $b else $a end) / ($a + $b) - .remote | fabs < 0.001] | length > 0 and all'
json "and it is among the evidence of limited_by" "$work/seen" 'length > 0 and all(.[]; .remote == .told)'
give_back virt
done_testing
