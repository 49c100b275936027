#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# apply --confirm: returns at once, keeps on confirm, and rolls back when the time is up, when it is
# told to, and when any of its processes is killed; with several hosts, all of them.
. "$(dirname "$0")/common.sh"
need_root confirm
make_namespaces || { not_ok confirm "cannot make namespaces"; exit 1; }
a=(--host "tx=netns:$ns_a") b=(--host "rx=netns:$ns_b")
get() { ip netns exec "$1" cat "/proc/sys/net/ipv4/$2" | tr '\t' ' '; }
before_a=$(snapshot "$ns_a") before_b=$(snapshot "$ns_b")
is_before() { [ "$(snapshot "$ns_a")" = "$before_a" ] && [ "$(snapshot "$ns_b")" = "$before_b" ]; }
b_is_before() { [ "$(snapshot "$ns_b")" = "$before_b" ]; }
# The processes of the waiting apply in namespace a, whose agent is named on its command line.
agents() { pgrep -f "tunesweep-agent --netns-path /run/netns/$1\$"; }
main_agent() { agents "$1" | head -n 1; } # its guardian and endpoints are younger
parent() { awk '{print $4}' "/proc/$1/stat"; }
nothing_waits() {
	"$tunesweep" confirm >/dev/null 2>&1
	[ $? = 3 ]
}
waits() { "$tunesweep" status "${a[@]}" 2>/dev/null | grep -q "waits for"; }

cat >"$work/two.yaml" <<P
tunesweep_profile: 1
name: two
settings:
  - {set: net.ipv4.tcp_wmem, field: max, host: tx, value: 8MiB}
  - {set: net.ipv4.tcp_rmem, field: max, host: rx, value: 9MiB}
P
cat >"$work/first.yaml" <<P
tunesweep_profile: 1
name: first
settings:
  - {set: net.ipv4.tcp_wmem, field: max, host: tx, value: 5MiB}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: tx, value: off}
P
apply_two() { status "$1" 0 "$tunesweep" apply "$work/two.yaml" "${a[@]}" "${b[@]}" --confirm 300; }

status "a time of nothing" 2 "$tunesweep" apply "$work/two.yaml" "${a[@]}" --confirm 0
status "a time that is none" 2 "$tunesweep" apply "$work/two.yaml" "${a[@]}" --confirm soon
status "a profile that is not there" 2 "$tunesweep" apply "$work/none.yaml" "${a[@]}" --confirm 60
status "a host that is not there" 3 "$tunesweep" apply "$work/two.yaml" --host tx=netns:none-such --confirm 60
same "set nothing" "$(snapshot "$ns_a")" "$before_a"
status "confirm of nothing" 3 "$tunesweep" confirm

# kept
apply_two "apply --confirm"
same "sets on the first host" "$(get "$ns_a" tcp_wmem)" "4096 16384 8388608"
check "and on the second" test "$(get "$ns_b" tcp_rmem | cut -d ' ' -f 3)" = 9437184
status "status while it waits" 0 "$tunesweep" status "${a[@]}"
contains "names the profile" "$work/out" "profile two since"
contains "and until when" "$work/out" "waits for 'tunesweep confirm' until"
contains "and the values" "$work/out" "4096 16384 8388608"
status "status as JSON" 0 "$tunesweep" status "${a[@]}" --json
json "which parses" "$work/out" '.tx.until > 0 and (.tx.settings | length) > 0'
status "another apply is refused meanwhile" 3 "$tunesweep" apply "$work/first.yaml" "${a[@]}"
contains "and told what waits, and how that ends" "$work/err" "two waits for its confirm on tx: 'tunesweep confirm' keeps it"
status "confirm for another host" 3 "$tunesweep" confirm --host tx=netns:none-such
status "confirm of another profile" 3 "$tunesweep" confirm first
status "confirm" 0 "$tunesweep" confirm --json
json "names it" "$work/out" '.confirmed == "two"'
status "it is kept" 0 "$tunesweep" verify "$work/two.yaml" "${a[@]}" "${b[@]}"
status "a second confirm" 3 "$tunesweep" confirm
status "rollback" 0 "$tunesweep" rollback "${a[@]}" "${b[@]}"
check "puts everything back" is_before

status "a dry run of it" 0 "$tunesweep" apply "$work/two.yaml" "${a[@]}" "${b[@]}" --confirm 300 --dry-run
contains "says what would change" "$work/out" "2 settings would change"
check "sets nothing" is_before
status "as JSON" 0 "$tunesweep" apply "$work/two.yaml" "${a[@]}" "${b[@]}" --confirm 300 --json
json "which parses" "$work/out" '.applied == "two" and .settings == 2 and .until > 0'
status "back" 0 "$tunesweep" rollback "${a[@]}"

# not kept
status "over another profile" 0 "$tunesweep" apply "$work/first.yaml" "${a[@]}"
status "for a short time" 0 "$tunesweep" apply "$work/two.yaml" "${a[@]}" "${b[@]}" --confirm 1s
check "time up: back to before the first apply" wait_for 20 is_before
check "nothing waits then" wait_for 20 nothing_waits
status "and nothing" 0 "$tunesweep" status "${a[@]}"
contains "is applied" "$work/out" "nothing is applied"
apply_two "for a long time"
status "a rollback meanwhile" 0 "$tunesweep" rollback "${a[@]}"
check "is one of all its hosts" is_before

# its caller's end: a pipe that closes, a terminal's hang-up
out=$(timeout 30 "$tunesweep" apply "$work/two.yaml" "${a[@]}" "${b[@]}" --confirm 300 2>&1)
contains "it keeps nobody waiting for its output" <(echo "$out") "tunesweep confirm"
pid=$(parent "$(parent "$(main_agent "$ns_a")")")
same "it leads a session of its own" "$(ps -o sid= -p "$pid" | tr -d ' ')" "$pid"
check "it waits" waits
kill -HUP "$pid"
check "a signal to it rolls back" wait_for 20 is_before

# any of its processes killed
for victim in waiter launcher agent guardian agent+guardian; do
	apply_two "apply, then kill -9 of the $victim"
	agent=$(main_agent "$ns_a")
	launcher=$(parent "$agent")
	case $victim in
	waiter) kill -9 "$(parent "$launcher")" ;;
	launcher) kill -9 "$launcher" ;;
	agent) kill -9 "$agent" ;;
	guardian) for p in $(cat /proc/"$agent"/task/*/children); do
			[ "$(cat "/proc/$p/comm")" != ts-guardian ] || kill -9 "$p"
		done ;;
	agent+guardian)
		kill -STOP "$agent"
		for p in $(cat /proc/"$agent"/task/*/children); do kill -9 "$p"; done
		kill -9 "$agent"
		;;
	esac
	if [ "$victim" = guardian ]; then
		check "another guardian takes over" waits
		status "and confirm works" 0 "$tunesweep" confirm
		status "as does rollback" 0 "$tunesweep" rollback "${a[@]}" "${b[@]}"
	elif [ "$victim" = agent+guardian ]; then
		check "the other host is rolled back" wait_for 30 b_is_before
		check "no confirm is taken" wait_for 30 nothing_waits
		status "the next command restores the rest" 0 "$tunesweep" restore
	fi
	check "all is as before ($victim)" wait_for 30 is_before
	check "nothing waits ($victim)" wait_for 30 nothing_waits
done

status "restore as JSON" 0 "$tunesweep" restore --json
json "parses" "$work/out" 'type == "array"'

# an ordinary user cannot confirm for root
apply_two "apply by root"
status "confirm by somebody else" 3 setpriv --reuid=65534 --regid=65534 --clear-groups "$tunesweep" confirm
check "it still waits" waits
status "the user's own rollback" 0 "$tunesweep" rollback "${a[@]}"
check "is done" is_before
done_testing
