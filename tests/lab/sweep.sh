#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sweeps in the embedded lab: a short whole one, its files, its refusals, and every way of stopping
# it. After each, the lab's namespaces are gone.
. "$(dirname "$0")/common.sh"
need_root sweep
spec() { # spec NAME EXTRA: a short lab sweep
	cat >"$work/$1.yaml" <<S
tunesweep: 1
name: $1
hosts: {sender: {via: lab}, receiver: {via: lab}}
link: {delay: 5ms, rate: 1Gbit/s}
test: {type: tcp_stream, from: sender, to: receiver, duration: 100ms}
tunables:
  - {set: net.ipv4.tcp_wmem, field: max, host: sender, range: [64KiB, 16MiB], scale: log}
  - {set: net.ipv4.tcp_congestion_control, host: sender, choices: available}
  - {set: socket.message_size, range: [16KiB, 1MiB], scale: log}
$2
S
}
labs_of() { find /run/netns -name "ts-$1-*" 2>/dev/null; }
no_lab_of() { [ -z "$(labs_of "$1")" ]; }

spec short 'search: {samples: 6, seed: 3}
proof: {pairs: 2}'
status "a short sweep" 0 "$tunesweep" run "$work/short.yaml" -o "$work/short"
contains "prints the best" "$work/out" "net.ipv4.tcp_wmem.max@sender"
contains "and that all is rolled back" "$work/out" "Rolled back: 2 settings on 2 hosts"
json "result.json has the metrics" "$work/short/result.json" \
	'.status == "complete" and .restored == true and .samples == 6
	and .best.throughput > 1e6 and .best.service_demand > 0 and .baseline.score > 0'
check "best.yaml loads" sh -c "'$tunesweep' verify '$work/short/best.yaml' >'$work/verify' 2>&1; [ \$? != 2 ]"
check "report.html is whole" grep -q '</html>' "$work/short/report.html"
status "the store has it" 0 "$tunesweep" results --json
json "with its samples" "$work/out" '.[0].name == "short" and .[0].samples >= 6'

make -s BUILD="$build" DESTDIR="$work/root" PREFIX=/usr install >/dev/null 2>&1
status "an installed program finds its agent" 0 "$work/root/usr/bin/tunesweep" show net.ipv4.tcp_rmem

status "dry-run" 0 "$tunesweep" run "$work/short.yaml" --dry-run
contains "prints the space" "$work/out" "net.ipv4.tcp_wmem.max@sender"
contains "and the cost" "$work/out" "proof: at most 2 pairs"

spec not-here 'search: {samples: 3}'
sed -i 's/net.ipv4.tcp_wmem, field: max/net.core.rmem_max/; s/, field: max//' "$work/not-here.yaml"
status "a tunable that this namespace does not have" 3 "$tunesweep" run "$work/not-here.yaml"
contains "is named with its place" "$work/err" "not-here.yaml:7:"
spec no-host 'search: {samples: 3}'
sed -i 's/host: sender, range/host: sendr, range/' "$work/no-host.yaml"
status "a host that is not there" 2 "$tunesweep" run "$work/no-host.yaml"
contains "with the nearest" "$work/err" "sender"
spec gone 'search: {samples: 3}'
sed -i 's/sender: {via: lab}/sender: {via: "netns:none-such"}/' "$work/gone.yaml"
"$tunesweep" run "$work/gone.yaml" >"$work/out" 2>"$work/err"
rc=$?
check "a namespace that is not there is refused ($rc)" test $rc = 2 -o $rc = 3

spec long 'search: {samples: 500}
proof: {pairs: 0}'
stop_after() { # stop_after NAME SIGNAL SECONDS STATUS
	"$tunesweep" run "$work/long.yaml" -o "$work/long" >"$work/out" 2>"$work/err" </dev/null &
	local main=$! rc
	sleep "$3"
	kill "-$2" $main
	wait $main 2>/dev/null
	rc=$?
	same "$1: status" "$rc" "$4"
	check "$1: the lab is gone" wait_for 25 no_lab_of $main
}
stop_after "Ctrl-C at once" INT 0.05 130
stop_after "Ctrl-C while it starts" INT 0.3 130
stop_after "Ctrl-C in the sweep" INT 2 130
json "an interrupted run leaves a result" "$work/long/result.json" '.status == "interrupted" and .samples > 0'
stop_after "SIGTERM" TERM 1.5 130
stop_after "SIGKILL" KILL 1.5 137

"$tunesweep" run "$work/long.yaml" -o "$work/l1" >"$work/out1" 2>&1 </dev/null & one=$!
"$tunesweep" run "$work/long.yaml" -o "$work/l2" >"$work/out2" 2>&1 </dev/null & two=$!
sleep 2.5
kill -INT $one $two
wait $one; r1=$?
wait $two; r2=$?
same "two labs at once" "$r1 $r2" "130 130"
check "both are gone" wait_for 25 no_lab_of $one
check "both of them" no_lab_of $two

make_namespaces || { not_ok sweep "cannot make namespaces"; exit 1; }
spec same-hosts 'search: {samples: 500}'
sed -i "s/sender: {via: lab}/sender: {via: \"netns:$ns_a\"}/; s/receiver: {via: lab}/receiver: {via: \"netns:$ns_b\", address: 192.0.2.2}/; /^link/d" "$work/same-hosts.yaml"
"$tunesweep" run "$work/same-hosts.yaml" -o "$work/l1" >"$work/out1" 2>&1 </dev/null & one=$!
sleep 1.5
status "a second sweep on the same hosts" 3 "$tunesweep" run "$work/same-hosts.yaml" -o "$work/l2"
contains "is told who holds them" "$work/err" "held by process $(family $one | while read -r p; do grep -qs tunesweep-agent "/proc/$p/comm" && echo "$p"; done | head -n 1)"
kill -INT $one
wait $one
done_testing
