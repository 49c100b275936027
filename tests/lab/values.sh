#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What becomes of values on the way into the kernel, in whole sweeps: one that it refuses, one that it
# rounds, one that has no effect, a key that is not there, and whose namespace it was.
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/common.sh
need_root values
make_namespaces || { not_ok values "cannot make namespaces"; exit 1; }
ip link add v0 netns "$ns_a" numrxqueues 2 numtxqueues 2 type veth peer name v1 netns "$ns_b"
key() { ip netns exec "$1" sysctl -n "$2"; }
spec() { # spec NAME TUNABLES [ALLOW]
	cat >"$work/$1.yaml" <<END
tunesweep: 1
name: $1
hosts:
  a: {via: "netns:$ns_a"}
  b: {via: "netns:$ns_b", address: 192.0.2.2}
test: {type: tcp_stream, from: a, to: b, duration: 50ms}
${3:+allow: [$3]}
tunables:
$2
search: {algorithm: grid, samples: 4}
proof: {pairs: 0}
END
}
run() { # run NAME: the whole run as JSON in NAME.json
	"$tunesweep" run "$work/$1.yaml" -o "$work/$1" --store "$work/$1.db" >"$work/out" 2>"$work/err"
	rc=$?
	"$tunesweep" report latest --store "$work/$1.db" --format json >"$work/$1.json" 2>>"$work/err"
	return $rc
}

before=$(key "$ns_a" net.ipv4.tcp_syn_retries)
spec refused "  - {set: net.ipv4.tcp_syn_retries, host: a, choices: [4, 200]}" unlisted
check "a sweep over a value that the kernel refuses ends well" run refused
json "the refused value is a failed sample, with the kernel's reason" "$work/refused.json" \
	'[.trials[] | select(.values."net.ipv4.tcp_syn_retries@a" == 200) | .samples[]] | length > 0 and
	all(.ok == false and (.reason | contains("Invalid argument") and contains("tcp_syn_retries")))'
json "the other one is measured" "$work/refused.json" \
	'[.trials[] | select(.values."net.ipv4.tcp_syn_retries@a" == 4) | .samples[].ok] | length > 0 and all'
same "and the old value is back" "$(key "$ns_a" net.ipv4.tcp_syn_retries)" "$before"

spec rounded "  - {set: rps.flow_entries, host: a, device: v0, choices: [1000, 1024]}"
check "a sweep over a value that the kernel rounds" run rounded
json "what was asked and what was taken are both on record" "$work/rounded.json" \
	'[.trials[] | select((.asked // {})."rps.flow_entries@a" == 1000) | .values."rps.flow_entries@a"] == [1024]'
json "and what is the same in the kernel is one configuration" "$work/rounded.json" \
	'[.trials[] | .values."rps.flow_entries@a"] | unique == [0, 1024]'

spec lacking "  - {set: net.ipv4.tcp_no_such_key, host: a, choices: [0, 1], optional: true}
  - {set: net.ipv4.tcp_syn_retries, host: a, choices: [4, 5]}" unlisted
check "an optional key that this kernel lacks is passed over" run lacking
contains "and that is said" "$work/err" tcp_no_such_key
spec missing "  - {set: net.ipv4.tcp_no_such_key, host: a, choices: [0, 1]}" unlisted
status "without that word it is refused before anything is set" 3 "$tunesweep" run "$work/missing.yaml" -o "$work/missing"
contains "by its name" "$work/err" tcp_no_such_key

json "the namespace is on record with the values" "$work/refused.json" \
	'.hosts.a.netns == $a and .hosts.b.netns == $b and .hosts.a.netns_cookie != .hosts.b.netns_cookie' \
	--arg a "/run/netns/$ns_a" --arg b "/run/netns/$ns_b"

# In a container /proc/sys may be read-only while /proc/sys/net is not: said before anything is set.
mkdir "$work/net"
contained() {
	unshare -m sh -c 'mount --bind /proc/sys/net "$1" && mount --bind /proc/sys /proc/sys &&
		mount -o remount,bind,ro /proc/sys && mount --bind "$1" /proc/sys/net &&
		mount -o remount,bind,rw /proc/sys/net || exit 99
		shift; exec "$@"' sh "$work/net" "$@"
}
if contained true 2>/dev/null; then
	contained "$tunesweep" show vm.min_free_kbytes --json >"$work/out" 2>"$work/err"
	json "what is read-only in a container is told" "$work/out" \
		'[.here[] | .settable == false and .why_not == "read-only here" and .present > 0] | length > 0 and all'
	contained "$tunesweep" show net.ipv4.tcp_syncookies --json >"$work/out" 2>"$work/err"
	json "and what is not can be set" "$work/out" '[.here[].settable] == [true]'
	spec contained "  - {set: net.ipv4.tcp_syn_retries, host: a, choices: [4, 5]}
  - {set: vm.dirty_ratio, host: b, range: [10, 30]}" unlisted
	status "a sweep that would set it does not begin" 3 contained "$tunesweep" run "$work/contained.yaml" -o "$work/contained"
	contains "and says why" "$work/err" "read-only here"
	same "nothing was set" "$(key "$ns_a" net.ipv4.tcp_syn_retries)" "$before"
else
	skip "a container with a read-only /proc/sys" "no bind mounts here"
fi

# Of three settings one matters: the profile that comes out names it alone.
cat >"$work/bench" <<'END'
#!/bin/bash
read -r line
[[ $line =~ \"matters\":\ *([0-9]+) ]]
noise=$((RANDOM % 20))
echo "{\"score\": $((10000 + 50 * ${BASH_REMATCH[1]:-0} + noise))}"
END
chmod 755 "$work" "$work/bench"
cat >"$work/idle.yaml" <<END
tunesweep: 1
name: idle
test: {engine: command, command: [$work/bench]}
objective: {maximize: score}
tunables:
  - {set: param.matters, type: int, range: [0, 100], default: 20}
  - {set: param.idle, type: int, range: [0, 100], default: 50}
  - {set: param.dull, choices: [on, off], default: on}
search: {samples: 40, seed: 1}
proof: {pairs: 6}
END
check "a sweep over settings without effect" run idle
check "the one that matters is in the best profile" grep -q 'param.matters' "$work/idle/best.yaml"
lacks "those without effect are not" "$work/idle/best.yaml" 'param.(idle|dull)'
jq -c '[.best.values, .gain.percent]' "$work/idle/result.json" | sed 's/^/# /'
done_testing
