#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What looks at all network namespaces of a machine, in one that has its own /run and its own network:
# rollback --all, also of what waits for its confirm and of a namespace without a name; several that
# wait; what became of a namespace that is gone; and a dry run beside something applied.
# Usage: BUILD=build tests/lab/everywhere.sh
if [ -z "${OWN_RUN:-}" ] && [ "$(id -u)" = 0 ] && unshare -mn true 2>/dev/null; then
	OWN_RUN=1 exec unshare -mn --propagation private "$0" "$@"
fi
. "$(dirname "$0")/common.sh"
[ -n "${OWN_RUN:-}" ] || skip_all everywhere "needs root and namespaces"
mount -t tmpfs tmpfs /run && mkdir -p /run/netns && mount -t sysfs sysfs /sys ||
	{ not_ok everywhere "cannot mount its own /run and /sys"; exit 1; }
make_namespaces || { not_ok everywhere "cannot make namespaces"; exit 1; }
ip link set lo up
a=(--host "tx=netns:$ns_a") b=(--host "rx=netns:$ns_b")
get() { ip netns exec "$1" cat /proc/sys/net/ipv4/tcp_wmem | tr '\t' ' '; }
here() { tr '\t' ' ' </proc/sys/net/ipv4/tcp_wmem; }
profile() { # NAME HOST MAX
	printf 'tunesweep_profile: 1\nname: %s\nsettings: [{set: net.ipv4.tcp_wmem, field: max, host: %s, value: %s}]\n' \
		"$@" >"$work/$1.yaml"
}
profile one tx 8MiB
profile two rx 9MiB
profile mine here 7MiB
before_a=$(get "$ns_a") before_b=$(get "$ns_b") before_here=$(here)
all_is_before() { same "$1" "$(get "$ns_a"), $(get "$ns_b"), $(here)" "$before_a, $before_b, $before_here"; }

status "rollback --all where nothing is applied" 0 "$tunesweep" rollback --all --json
json "is an empty object" "$work/out" '. == {}'
status "--all is about this machine" 2 "$tunesweep" rollback --all "${a[@]}"
contains "and says so" "$work/err" "--all takes no --host"

# three namespaces, this one among them
status "apply in one" 0 "$tunesweep" apply "$work/one.yaml" "${a[@]}"
status "in another" 0 "$tunesweep" apply "$work/two.yaml" "${b[@]}"
status "and here" 0 "$tunesweep" apply "$work/mine.yaml" --host here=local
same "this one is set, too" "$(here)" "4096 16384 7340032"
status "rollback --all" 0 "$tunesweep" rollback --all --json
json "answers for each by its name" "$work/out" \
	'keys == ([$a, $b, "local"] | sort) and all(.[]; any(.[]; .set == "net.ipv4.tcp_wmem"))' --arg a "$ns_a" --arg b "$ns_b"
all_is_before "all is as before"

# by somebody else changed since
status "apply again" 0 "$tunesweep" apply "$work/one.yaml" "${a[@]}"
status "in the other, too" 0 "$tunesweep" apply "$work/two.yaml" "${b[@]}"
ip netns exec "$ns_a" sh -c 'echo "4096 16384 5555555" >/proc/sys/net/ipv4/tcp_wmem'
status "a conflict in one of them is the answer" 4 "$tunesweep" rollback --all
contains "with what it is" "$work/err" "5555555"
same "and keeps the other from nothing" "$(get "$ns_b")" "$before_b"
status "by force" 0 "$tunesweep" rollback --all --force
all_is_before "all is as before by force"

# waiting for their confirm
status "one waits" 0 "$tunesweep" apply "$work/one.yaml" "${a[@]}" --confirm 300
status "two waits" 0 "$tunesweep" apply "$work/two.yaml" "${b[@]}" --confirm 300
status "a confirm must say which" 2 "$tunesweep" confirm
for word in "one on netns:$ns_a" "two on netns:$ns_b" "--host NAME=VIA"; do
	contains "and is told: $word" "$work/err" "$word"
done
status "a dry run beside one that waits" 0 "$tunesweep" apply "$work/two.yaml" --host "rx=netns:$ns_a" --dry-run
contains "says what it does not know" "$work/err" "what a former profile has set is not told"
contains "and what it knows" "$work/out" "1 settings would change; nothing was set"
status "confirm by host" 0 "$tunesweep" confirm "${b[@]}"
status "what is left needs no name" 0 "$tunesweep" rollback --all
contains "it is told to end" "$work/err" "one was waiting for its confirm"
all_is_before "all is as before, confirmed or not"

# a dry run over something applied
status "apply one" 0 "$tunesweep" apply "$work/one.yaml" "${a[@]}"
printf 'tunesweep_profile: 1\nname: three\nsettings:\n  - {set: net.ipv4.tcp_congestion_control, host: tx, value: no-such-cc, optional: true}\n  - {set: net.ipv4.tcp_notsent_lowat, host: tx, value: 131072}\n' >"$work/three.yaml"
status "a dry run of another" 0 "$tunesweep" apply "$work/three.yaml" "${a[@]}" --dry-run
contains "tells what goes back" "$work/out" \
	"net.ipv4.tcp_wmem@tx: 4096 16384 8388608 -> $before_a (set by the former profile, back to before it)"
contains "as JSON does" <("$tunesweep" apply "$work/three.yaml" "${a[@]}" --dry-run --json) '"because": "baseline"'
same "and sets nothing" "$(get "$ns_a")" "4096 16384 8388608"
status "what is applied as a profile" 0 "$tunesweep" capture "${a[@]}" -o "$work/captured.yaml"
same "has that and nothing else" "$(grep -c 'set:' "$work/captured.yaml")" 1
status "which can be verified" 0 "$tunesweep" verify "$work/captured.yaml" "${a[@]}"
status "apply the other" 0 "$tunesweep" apply "$work/three.yaml" "${a[@]}"
contains "without what is not offered" "$work/err" "net.ipv4.tcp_congestion_control@tx is skipped"
same "puts back what it does not name" "$(get "$ns_a")" "$before_a"
status "and goes" 0 "$tunesweep" rollback "${a[@]}"

# a namespace that only a process holds
cat >"$work/nameless.sh" <<N
mount -t sysfs sysfs /sys
"$tunesweep" apply "$work/mine.yaml" --host here=local >"$work/nameless" 2>&1
echo "status \$?" >>"$work/nameless"
exec sleep 300
N
unshare -mn sh "$work/nameless.sh" </dev/null >/dev/null 2>&1 &
holder=$!
check "apply in a namespace without a name" wait_for 30 grep -qx "status 0" "$work/nameless"
status "apply in one that has a name" 0 "$tunesweep" apply "$work/one.yaml" "${a[@]}"
status "rollback --all cannot go there by itself" 4 "$tunesweep" rollback --all
contains "and says what to do" "$work/err" "has no name: run tunesweep rollback in it"
same "it is still set there" "$(nsenter -n -t $holder cat /proc/sys/net/ipv4/tcp_wmem | tr '\t' ' ')" "4096 16384 7340032"
all_is_before "the others are rolled back"
kill $holder
wait $holder 2>/dev/null
status "once it is gone" 0 "$tunesweep" restore --json
json "its values are gone with it, which is told" "$work/out" \
	'[.[] | select(.layer == "applied" and (.note | contains("gone")))] | length == 1'
same "no journal is left" "$(find /run/tunesweep -name '*.journal')" ""
status "and there is nothing more to say" 0 "$tunesweep" rollback --all --json
json "of nobody" "$work/out" '. == {}'

# A kernel without cookies of namespaces knows them all the same: a crash there is cleaned up, too.
old() { "$build/tests/lab/old_kernel" "$@"; }
if old true; then
	status "an old kernel: apply" 0 old "$tunesweep" apply "$work/one.yaml" "${a[@]}" --confirm 300
	agent=$(pgrep -f "tunesweep-agent --netns-path /run/netns/$ns_a\$" | head -n 1)
	kill -STOP "$agent"
	for p in $(cat /proc/"$agent"/task/*/children); do kill -9 "$p"; done
	kill -9 "$agent"
	nobody_waits() { ! old "$tunesweep" confirm; }
	check "its agent and guardian are killed" wait_for 30 nobody_waits
	check "and what was set is put back" wait_for 30 sh -c \
		"'$build/tests/lab/old_kernel' '$tunesweep' restore >'$work/restored' 2>&1; ! find /run/tunesweep -name '*.journal' | grep -q ."
	all_is_before "on an old kernel all is as before"
	status "what is applied there" 0 old "$tunesweep" apply "$work/one.yaml" "${a[@]}"
	status "is found by rollback --all" 0 old "$tunesweep" rollback --all
	all_is_before "on an old kernel rollback --all finds it"
else
	skip "everywhere: an old kernel" "no filters of system calls"
fi
done_testing
