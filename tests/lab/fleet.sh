#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A pool of two pairs in four namespaces, reached by "ip netns exec": both measure at the same time,
# all four hosts are rolled back, and one that is lost in the middle is left out.
# Usage: BUILD=build tests/lab/fleet.sh
. "$(dirname "$0")/common.sh"
need_root fleet
make_namespaces || { not_ok fleet "cannot make namespaces"; exit 1; }
ns_c=tst-$$-c ns_d=tst-$$-d
add_netns "$ns_c" "$ns_d" || { not_ok fleet "cannot make namespaces"; exit 1; }
(ns_a=$ns_c ns_b=$ns_d
for n in "$ns_a" "$ns_b"; do ip -n "$n" link set lo up; done
ip link add eth0 netns "$ns_a" type veth peer name eth0 netns "$ns_b" &&
	ip -n "$ns_a" addr add 192.0.2.5/30 dev eth0 && ip -n "$ns_b" addr add 192.0.2.6/30 dev eth0 &&
	ip -n "$ns_a" link set eth0 up && ip -n "$ns_b" link set eth0 up)
spec() { # NAME SAMPLES
	cat <<SPEC
tunesweep: 1
name: $1
pool:
  - {tx: [ip, netns, exec, $ns_a], rx: [ip, netns, exec, $ns_b]}
  - {tx: [ip, netns, exec, $ns_c], rx: [ip, netns, exec, $ns_d]}
test: {type: tcp_stream, from: tx, to: rx, duration: 200ms}
objective: {maximize: throughput}
tunables:
  - {set: net.ipv4.tcp_rmem, field: max, host: rx, range: [1MiB, 64MiB], scale: log}
  - {set: net.ipv4.tcp_wmem, field: max, host: tx, range: [1MiB, 64MiB], scale: log}
search: {samples: $2, time: 120s, seed: 1}
proof: {pairs: 4}
SPEC
}
all() { for n in "$ns_a" "$ns_b" "$ns_c" "$ns_d"; do snapshot "$n"; done; }
before=$(all)
clean() { [ "$(all)" = "$before" ]; }
spec pool 13 >"$work/pool.yaml"
status "a pool sweeps" 0 "$tunesweep" run "$work/pool.yaml" -o "$work/pool" --store "$work/pool.db"
json "with its budget" "$work/pool/result.json" '.samples == 13 and .restored'
json "both pairs' levels were measured" "$work/pool/result.json" '.pairs | length == 2 and all(.throughput > 0)'
check "all four hosts are at their baseline" clean
"$tunesweep" export-runs --store "$work/pool.db" --json >"$work/out"
"$tunesweep" report latest --store "$work/pool.db" --json >"$work/report.json"
json "the second pair has its share of the samples" "$work/report.json" \
	'[.. | objects | select(.pair? == 2)] | length >= 6'
# Over several boots: the pool finds and proves, each later boot measures on its first pair.
cat >"$work/boots.yaml" <<SPEC
tunesweep: 1
name: boots
pool:
  - {tx: [ip, netns, exec, $ns_a], rx: [ip, netns, exec, $ns_b]}
  - {tx: [ip, netns, exec, $ns_c], rx: [ip, netns, exec, $ns_d]}
test: {engine: simulated, surface: ridge, noise: 1%}
tunables:
  - {set: param.wmem, range: [1, 65536], type: int, scale: log, default: 64}
  - {set: param.rmem, range: [1, 65536], type: int, scale: log, default: 64}
  - {set: net.ipv4.tcp_notsent_lowat, host: tx, range: [16KiB, 1MiB], scale: log}
search: {samples: 30, seed: 3}
proof: {pairs: 16}
SPEC
other_boot() { # ID COMMAND...: as after a reboot
	echo "$1" >"$work/boot_id"
	shift
	unshare -m bash -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$work/boot_id" "$@"
}
boots=("$tunesweep" run "$work/boots.yaml" -o "$work/boots" --store "$work/boots.db" --boots 2)
status "a pool over several boots" 0 "${boots[@]}"
json "counts the first" "$work/boots/result.json" '.pairs | length == 2'
json "and waits" "$work/boots/result.json" '.boots | .wanted == 2 and (.each | length) == 1'
status "the same boot is not measured" 1 "${boots[@]}"
if other_boot 00000000-0000-4000-8000-000000000001 true 2>/dev/null; then
	status "the second boot" 0 other_boot 00000000-0000-4000-8000-000000000002 "${boots[@]}"
	json "ends it" "$work/boots/result.json" '.boots | (.each | length) == 2 and .percent > 0'
else
	skip "the second boot" "no mount over the boot id"
fi
check "all four hosts are at their baseline again" clean
spec cut 100000 >"$work/cut.yaml"
"$tunesweep" run "$work/cut.yaml" -o "$work/cut" --store "$work/cut.db" >"$work/out" 2>"$work/err" </dev/null &
main=$!
samples() { "$tunesweep" results --store "$work/cut.db" --json 2>/dev/null | jq -r '[.[]? | .samples?] | add // 0' 2>/dev/null; }
some() { [ "$(samples)" -ge "$1" ] 2>/dev/null; }
check "a longer one is under way" wait_for 60 some 12
killed=0
for p in $(family $main); do
	if [ "$(cat "/proc/$p/comm" 2>/dev/null)" = tunesweep-agent ] &&
		[ "$(readlink "/proc/$p/ns/net")" = "$(ip netns exec "$ns_d" readlink /proc/self/ns/net)" ]; then
		kill -KILL "$p" && killed=1
	fi
done
same "its far agent is killed" $killed 1
check "a host of the second pair is lost: the first goes on" wait_for 60 some $(($(samples) + 6))
kill -INT $main
wait $main
check "and is interrupted in good order" wait_for 30 clean
done_testing
