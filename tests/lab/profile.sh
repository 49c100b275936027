#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Profiles on real namespaces: apply, verify, status, rollback, replacing one by another, conflicts,
# several hosts, a sweep on top of an applied profile, and all the ways in which they are refused.
. "$(dirname "$0")/common.sh"
need_root profile
make_namespaces || { not_ok profile "cannot make namespaces"; exit 1; }
a=(--host "tx=netns:$ns_a") b=(--host "rx=netns:$ns_b")
get() { ip netns exec "$1" cat "/proc/sys/net/ipv4/$2" | tr '\t' ' '; }

cat >"$work/one.yaml" <<P
tunesweep_profile: 1
name: one
settings:
  - {set: net.ipv4.tcp_wmem, field: max, host: tx, value: 8MiB}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: tx, value: off}
  - {set: net.ipv4.tcp_rmem, host: rx, value: [4096, 262144, 8388608]}
application:
  - {set: socket.message_size, value: 1MiB}
P
cat >"$work/two.yaml" <<P
tunesweep_profile: 1
name: two
settings:
  - {set: net.ipv4.tcp_wmem, field: max, host: tx, value: 16MiB}
P
before_a=$(snapshot "$ns_a") before_b=$(snapshot "$ns_b")

status "several hosts without --host" 2 "$tunesweep" apply "$work/one.yaml"
status "a slip of the pen in a host" 2 "$tunesweep" apply "$work/one.yaml" --host "tz=netns:$ns_a"
status "a namespace that is not there" 3 "$tunesweep" apply "$work/one.yaml" --host tx=netns:none-such
status "dry-run" 0 "$tunesweep" apply "$work/one.yaml" "${a[@]}" "${b[@]}" --dry-run
contains "tells the change" "$work/out" "net.ipv4.tcp_wmem.max@tx"
same "and sets nothing" "$(snapshot "$ns_a")" "$before_a"
status "capture where nothing is applied" 0 ip netns exec "$ns_b" "$tunesweep" capture -o "$work/all.yaml"
contains "takes the sysctls" "$work/all.yaml" "net.ipv4.tcp_wmem"
lacks "not what no apply could keep" "$work/all.yaml" cpu.latency
status "so that nothing differs" 0 ip netns exec "$ns_b" "$tunesweep" verify "$work/all.yaml"
status "verify says no" 1 "$tunesweep" verify "$work/one.yaml" "${a[@]}" "${b[@]}"
contains "with expected and actual" "$work/out" "expected"
contains "and says how many" "$work/err" "settings differ"
status "apply" 0 "$tunesweep" apply "$work/one.yaml" "${a[@]}" "${b[@]}"
same "sets one field and keeps the others" "$(get "$ns_a" tcp_wmem)" "4096 16384 8388608"
same "sets a whole triple" "$(get "$ns_b" tcp_rmem)" "4096 262144 8388608"
status "verify says yes" 0 "$tunesweep" verify "$work/one.yaml" "${a[@]}" "${b[@]}"
contains "in a sentence, too" "$work/err" "none of 3 settings differs"
status "verify as JSON" 0 "$tunesweep" verify "$work/one.yaml" "${a[@]}" "${b[@]}" --json
json "which parses" "$work/out" '.same == true and (.settings | length) == 3'
status "status" 0 "$tunesweep" status "${a[@]}"
contains "names the profile" "$work/out" "profile one since"
contains "and the old value" "$work/out" "4096 16384"
ip netns exec "$ns_a" sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_slow_start_after_idle'
status "status after someone else's change" 0 "$tunesweep" status "${a[@]}"
contains "tells the drift" "$work/out" "DRIFTED"
ip netns exec "$ns_a" sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle'

status "another profile replaces it" 0 "$tunesweep" apply "$work/two.yaml" "${a[@]}"
same "its value is set" "$(get "$ns_a" tcp_wmem)" "4096 16384 16777216"
same "what it does not name went back" "$(get "$ns_a" tcp_slow_start_after_idle)" 1
if [ -r /dev/cpu_dma_latency ]; then
	{ cat "$work/two.yaml" && echo '  - {set: cpu.latency, host: tx, value: 50us}'; } >"$work/passing.yaml"
	status "a setting that ends with its process does not keep the others out" 0 "$tunesweep" apply "$work/passing.yaml" "${a[@]}"
	contains "and is named" "$work/err" "cpu.latency@tx is left out: it lasts only as long as the process"
	status "nor is it missed" 0 "$tunesweep" verify "$work/passing.yaml" "${a[@]}"
else
	skip "a setting that ends with its process" "no /dev/cpu_dma_latency here"
fi

cat >"$work/sweep.yaml" <<S
tunesweep: 1
name: on-top
hosts: {tx: {via: "netns:$ns_a"}, rx: {via: "netns:$ns_b", address: 192.0.2.2}}
test: {type: tcp_stream, from: tx, to: rx, duration: 50ms}
tunables: [{set: net.ipv4.tcp_wmem, field: max, host: tx, range: [1MiB, 64MiB], scale: log}]
search: {algorithm: sobol, samples: 4}
proof: {pairs: 0}
S
status "a sweep on top of the applied profile" 0 "$tunesweep" run "$work/sweep.yaml" -o "$work/sweep"
same "goes back to the applied value" "$(get "$ns_a" tcp_wmem)" "4096 16384 16777216"
same "which was its baseline" "$(jq '.baseline.values."net.ipv4.tcp_wmem.max@tx"' "$work/sweep/result.json")" 16777216

ip netns exec "$ns_b" sh -c 'echo "4096 99999 7777777" >/proc/sys/net/ipv4/tcp_rmem'
status "rollback over someone else's change is status 4" 4 "$tunesweep" rollback "${a[@]}" "${b[@]}"
same "the rest is as before the first apply" "$(snapshot "$ns_a")" "$before_a"
contains "the conflict is reported" "$work/out" "conflict"
contains "with what it was and what it is" "$work/err" "7777777"
same "and the other's value is kept" "$(get "$ns_b" tcp_rmem)" "4096 99999 7777777"
status "the old value is not forgotten" 0 "$tunesweep" status "${b[@]}"
contains "it is still told" "$work/out" "$(echo "$before_b" | awk '/tcp_rmem/ {print $2, $3, $4}')"
status "rollback by force" 0 "$tunesweep" rollback "${b[@]}" --force
same "puts it back" "$(snapshot "$ns_b")" "$before_b"
status "rollback of nothing" 0 "$tunesweep" rollback "${a[@]}"
contains "says that there was nothing" "$work/err" "nothing to put back"
status "status of nothing" 0 "$tunesweep" status "${a[@]}"
contains "says so" "$work/out" "nothing is applied"

# one transaction: the second host refuses, so the first has nothing either
sed 's/value: \[4096, 262144, 8388608\]/value: [4096, 262144, 8388608]/; s/set: net.ipv4.tcp_rmem, host: rx.*/set: net.ipv4.tcp_congestion_control, host: rx, value: no-such-cc}/' \
	"$work/one.yaml" >"$work/refused.yaml"
status "a value that one host refuses" 3 "$tunesweep" apply "$work/refused.yaml" "${a[@]}" "${b[@]}"
same "leaves the first host as it was" "$(snapshot "$ns_a")" "$before_a"
same "and the second" "$(snapshot "$ns_b")" "$before_b"

printf 'tunesweep_profile: 1\nname: x\nsettings: [{set: net.ipv4.../../kernel.sysrq, value: 1}]\n' >"$work/evil.yaml"
status "a name that walks out" 2 "$tunesweep" apply "$work/evil.yaml" "${a[@]}"
printf 'tunesweep_profile: 1\nname: x\nsettings: [{set: net.ipv4.tcp_syncookies, host: tx, value: 0}]\n' >"$work/unsafe.yaml"
status "safety switched off without a word" 2 "$tunesweep" apply "$work/unsafe.yaml" "${a[@]}"
contains "names the word" "$work/err" "allow: [unsafe]"
sed -i 's/^name: x/&\nallow: [unsafe]/' "$work/unsafe.yaml"
status "and with it" 0 "$tunesweep" apply "$work/unsafe.yaml" "${a[@]}"
same "is set" "$(get "$ns_a" tcp_syncookies)" 0
status "and goes back" 0 "$tunesweep" rollback "${a[@]}"
printf 'tunesweep_profile: 1\nname: x\nsettings: [{set: kernel.panic, value: 1}, {set: vm.swappiness, value: 1}]\n' >"$work/outside.yaml"
status "a stranger's profile sets nothing outside the catalogue" 2 "$tunesweep" apply "$work/outside.yaml" "${a[@]}" --force
printf 'tunesweep_profile: 1\nname: x\nsettings: [{set: net.ipv4.tcp_rmen, field: max, value: 1MiB}]\n' >"$work/typo.yaml"
status "a name that is near" 2 "$tunesweep" apply "$work/typo.yaml"
contains "is told" "$work/err" "tcp_rmem"

# a sweep holds what it lies on: nothing is applied or rolled back under it
sed 's/samples: 4}/samples: 400}/; s/duration: 50ms/duration: 3s/' "$work/sweep.yaml" >"$work/long.yaml"
status "apply before a sweep" 0 "$tunesweep" apply "$work/two.yaml" "${a[@]}"
"$tunesweep" run "$work/long.yaml" -o "$work/long" >"$work/long.log" 2>&1 </dev/null &
main=$!
swept() { [ "$(get "$ns_a" tcp_wmem)" != "4096 16384 16777216" ]; }
check "the sweep sets its own value" wait_for 20 swept
status "apply under a sweep is refused" 3 "$tunesweep" apply "$work/two.yaml" "${a[@]}"
contains "with the holder" "$work/err" "held by process"
status "rollback under a sweep is refused" 3 "$tunesweep" rollback "${a[@]}"
status "status under a sweep" 0 "$tunesweep" status "${a[@]}"
contains "says who sweeps" "$work/out" "held by process"
ip netns exec "$ns_a" sh -c 'echo "4096 20000 5555555" >/proc/sys/net/ipv4/tcp_wmem'
kill -INT $main
wait $main
rc=$?
same "a foreign value at the end of a sweep is status 4" $rc 4
json "and the result says so" "$work/long/result.json" '.restored == false'
same "the foreign value is kept" "$(get "$ns_a" tcp_wmem)" "4096 20000 5555555"
contains "and what it was is told" "$work/long.log" "4096 16384 16777216"
"$tunesweep" rollback "${a[@]}" --force >/dev/null 2>&1
ip netns exec "$ns_a" sh -c "echo '$(echo "$before_a" | awk '/tcp_wmem/ {print $2, $3, $4}')' >/proc/sys/net/ipv4/tcp_wmem"

# a profile without hosts is for the one that is named; one without settings sets nothing
printf 'tunesweep_profile: 1\nname: any\nsettings: [{set: net.ipv4.tcp_wmem, field: max, value: 2MiB}]\n' >"$work/any.yaml"
status "a profile without hosts goes where it is sent" 0 "$tunesweep" apply "$work/any.yaml" --host "here=netns:$ns_a"
same "and is set there" "$(get "$ns_a" tcp_wmem)" "4096 16384 2097152"
printf 'tunesweep_profile: 1\nname: none\nsettings: []\n' >"$work/none.yaml"
status "an empty profile" 0 "$tunesweep" apply "$work/none.yaml" "${a[@]}" "${b[@]}"
same "puts back what the former one set" "$(snapshot "$ns_a")" "$before_a"
status "which leaves nothing" 0 "$tunesweep" rollback "${a[@]}"

# another kind of machine
sed 's/^name: one/name: one\nmachine: {kernel: "2.6.12", cpu: "Z80"}/' "$work/two.yaml" >"$work/other.yaml"
sed -i 's/^name: two/name: two\nmachine: {kernel: "2.6.12", cpu: "Z80"}/' "$work/other.yaml"
status "a profile of another machine" 3 "$tunesweep" apply "$work/other.yaml" "${a[@]}"
contains "names what differs" "$work/err" "Z80"
contains "and the ways out" "$work/err" "measure again"
same "and nothing was set" "$(snapshot "$ns_a")" "$before_a"
release=$(uname -r)
series=$(grep -oE '^[0-9]+\.[0-9]+' <<<"$release")
sed "s/^name: two/name: two\nmachine: {kernel: \"$series.0-update\"}/" "$work/two.yaml" >"$work/updated.yaml"
status "a kernel of the same series" 0 "$tunesweep" apply "$work/updated.yaml" "${a[@]}"
contains "is noted" "$work/err" "kernel update since: kernel: $series.0-update in the profile, $release here"
status "and what it set is there" 0 "$tunesweep" verify "$work/updated.yaml" "${a[@]}"
sed "s/^name: two/name: two\nmachine: {kernel: \"9$series\"}/" "$work/two.yaml" >"$work/series.yaml"
status "a kernel of another series" 3 "$tunesweep" apply "$work/series.yaml" "${a[@]}"
contains "is refused with both" "$work/err" "kernel: 9$series in the profile, $release here"
# a list of CPUs that a word stands for, too
printf 'tunesweep_profile: 1\nname: cpus\nsettings: [{set: rps.cpus, device: eth0, value: "%s"}]\n' \
	"$(cat /sys/devices/system/cpu/online)" >"$work/cpus.yaml"
status "CPUs by a list" 0 "$tunesweep" apply "$work/cpus.yaml" "${a[@]}"
status "are there, whatever else they are called" 0 "$tunesweep" verify "$work/cpus.yaml" "${a[@]}"
status "applies by force" 0 "$tunesweep" apply "$work/other.yaml" "${a[@]}" --force
status "and goes" 0 "$tunesweep" rollback "${a[@]}"
same "clean at the end (a)" "$(snapshot "$ns_a")" "$before_a"
same "clean at the end (b)" "$(snapshot "$ns_b")" "$before_b"
done_testing
