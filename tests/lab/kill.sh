#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The kill campaign: SIGKILL of tunesweep, of an agent, of a guardian, of the launcher or of several
# at once, at random moments of a sweep, an apply, a rollback and a restore after a crash, over two
# real namespaces. After each, every sysctl is as before (or wholly applied), or is so after the
# next command; after a rollback it is as before in any case.
# Usage: tests/lab/kill.sh [ROUNDS [SEED [STOPS]]]   (STOPS: rounds of SIGSTOP, 15 s each)
. "$(dirname "$0")/common.sh"
need_root kill
rounds=${1:-56}
RANDOM=${2:-$$}
stops=${3:-2}
make_namespaces || { not_ok kill "cannot make namespaces"; exit 1; }
hosts=(--host "tx=netns:$ns_a" --host "rx=netns:$ns_b")

cat >"$work/spec.yaml" <<SPEC
tunesweep: 1
name: kill
hosts:
  tx: {via: "netns:$ns_a"}
  rx: {via: "netns:$ns_b", address: 192.0.2.2}
test: {type: tcp_stream, from: tx, to: rx, duration: 30ms}
tunables:
  - {set: net.ipv4.tcp_rmem, field: default, host: rx, range: [16KiB, 4MiB], scale: log}
  - {set: net.ipv4.tcp_rmem, field: max, host: rx, range: [1MiB, 64MiB], scale: log}
  - {set: net.ipv4.tcp_wmem, field: default, host: tx, range: [16KiB, 4MiB], scale: log}
  - {set: net.ipv4.tcp_wmem, field: max, host: tx, range: [1MiB, 64MiB], scale: log}
  - {set: net.ipv4.tcp_congestion_control, host: tx, choices: available}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: tx, choices: [on, off]}
search: {algorithm: sobol, samples: 100000, time: 120s}
proof: {pairs: 0}
SPEC
cat >"$work/profile.yaml" <<PROFILE
tunesweep_profile: 1
name: kill
settings:
  - {set: net.ipv4.tcp_wmem, host: tx, value: [4096, 65536, 8388608]}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: tx, value: off}
  - {set: net.ipv4.tcp_notsent_lowat, host: tx, value: 131072}
  - {set: net.ipv4.tcp_rmem, host: rx, value: [4096, 262144, 8388608]}
  - {set: net.ipv4.tcp_notsent_lowat, host: rx, value: 262144}
PROFILE
before_a=$(snapshot "$ns_a") before_b=$(snapshot "$ns_b")
"$tunesweep" apply "$work/profile.yaml" "${hosts[@]}" >"$work/apply.log" 2>&1 ||
	{ not_ok kill "cannot apply: $(cat "$work/apply.log")"; exit 1; }
applied_a=$(snapshot "$ns_a") applied_b=$(snapshot "$ns_b")
"$tunesweep" rollback "${hosts[@]}" >/dev/null 2>&1
clean() { [ "$(snapshot "$ns_a")" = "$before_a" ] && [ "$(snapshot "$ns_b")" = "$before_b" ]; }
# each host is wholly the one or the other
whole() {
	local a b
	a=$(snapshot "$ns_a") b=$(snapshot "$ns_b")
	[ "$a" = "$before_a" ] || [ "$a" = "$applied_a" ] || return 1
	[ "$b" = "$before_b" ] || [ "$b" = "$applied_b" ]
}
clean || { not_ok kill "a rollback without any kill leaves values"; exit 1; }
gone() {
	local p
	for p in "$@"; do
		# a zombie has no memory any more; it waits for a parent that may be the dead main
		if [ -d "/proc/$p" ] && [ "$(awk '/^State/ {print $2}' "/proc/$p/status" 2>/dev/null)" != Z ]; then
			return 1
		fi
	done
}
# The family of $main into all, and this round's victims among it into victims. Without forks: an
# apply lasts for less time than ten of them.
look() {
	local p comm todo=("$main") children file
	all=() victims=()
	while [ ${#todo[@]} -gt 0 ]; do
		p=${todo[0]}
		todo=("${todo[@]:1}")
		{ read -r comm <"/proc/$p/comm"; } 2>/dev/null || continue
		all+=("$p")
		case $what:$comm in
		main:tunesweep | agent:tunesweep-agent | guardian:ts-guardian | launcher:ts-launcher | \
			agent+guardian:tunesweep-agent | agent+guardian:ts-guardian | \
			main+agent:tunesweep | main+agent:tunesweep-agent | all:*) victims+=("$p") ;;
		esac
		for file in /proc/"$p"/task/*/children; do
			children=()
			{ read -ra children <"$file"; } 2>/dev/null
			todo+=("${children[@]}")
		done
	done
}
# Until there is one of those that shall be killed, or nobody any more.
await_victim() {
	look
	until [ ${#victims[@]} != 0 ] || [ ${#all[@]} = 0 ]; do look; done
}
# Milliseconds, without starting a program.
exec {never}<> <(:)
nap() { read -r -t "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))" -u "$never"; }
# Leaves values that a crashed sweep has set, with a journal and nobody to restore it.
crash() {
	local main what=all
	for _ in 1 2 3 4 5; do
		"$tunesweep" run "$work/spec.yaml" -o "$work/out" >"$work/run.log" 2>&1 </dev/null &
		main=$!
		wait_for 10 eval '! clean'
		look
		kill -STOP "${all[@]}" 2>/dev/null
		kill -KILL "${all[@]}" 2>/dev/null
		wait $main 2>/dev/null
		wait_for 20 gone "${all[@]}"
		clean || return 0
	done
}
# Starts the operation in the background; its pid in $main, how long it may last in $span (ms).
start() {
	local command
	case $1 in
	run) command=(run "$work/spec.yaml" -o "$work/out") span=900 ;;
	apply) command=(apply "$work/profile.yaml" "${hosts[@]}") span=${apply_ms:-300} ;;
	rollback)
		"$tunesweep" apply "$work/profile.yaml" "${hosts[@]}" >"$work/apply.log" 2>&1
		command=(rollback "${hosts[@]}") span=${apply_ms:-300}
		;;
	restore)
		crash
		command=(status "${hosts[@]}") span=${apply_ms:-300}
		;;
	esac
	"$tunesweep" "${command[@]}" >"$work/run.log" 2>&1 </dev/null &
	main=$!
}
now_ms() { date +%s%3N; }
from=$(now_ms)
"$tunesweep" apply "$work/profile.yaml" "${hosts[@]}" >/dev/null 2>&1
apply_ms=$(($(now_ms) - from))
"$tunesweep" rollback "${hosts[@]}" >/dev/null 2>&1

kinds=(main agent main+agent launcher guardian agent+guardian all)
ops=(run apply rollback restore)
kills=0 by_itself=0 by_next=0 dirty=0 missed=0 hung=0
declare -A of=([run]=0 [apply]=0 [rollback]=0 [restore]=0)
enough=0
trap 'enough=1' TERM # the figures so far
for ((i = 0; i < rounds && enough == 0; i++)); do
	op=${ops[i % 4]} what=${kinds[i / 4 % ${#kinds[@]}]}
	start "$op"
	delay=$((RANDOM % span + 1))
	await_victim
	nap $delay
	look
	if [ ${#victims[@]} = 0 ]; then
		missed=$((missed + 1)) victims=("$main")
	fi
	kill -KILL "${victims[@]}" 2>/dev/null
	kills=$((kills + 1)) of[$op]=$((${of[$op]} + 1))
	if [ "$what" = guardian ]; then
		kill -TERM $main 2>/dev/null
	fi
	if ! wait_for 30 gone "${all[@]}"; then
		hung=$((hung + 1))
		echo "round $i ($op, $what): still there: $(for p in "${all[@]}"; do cat "/proc/$p/comm" 2>/dev/null; done | tr '\n' ' ')"
		kill -KILL "${all[@]}" 2>/dev/null
	fi
	wait $main 2>/dev/null
	if [ "$op" = apply ] || [ "$op" = rollback ]; then
		good=whole
	else
		good=clean
	fi
	if $good; then
		by_itself=$((by_itself + 1))
	else
		"$tunesweep" status "${hosts[@]}" >"$work/next.log" 2>&1
		by_next=$((by_next + 1))
		if ! $good; then
			echo "round $i ($op, $what): not $good after the next command: $(cat "$work/next.log")"
			dirty=$((dirty + 1))
		fi
	fi
	"$tunesweep" rollback "${hosts[@]}" >"$work/next.log" 2>&1
	if ! clean; then
		dirty=$((dirty + 1))
		echo "round $i ($op, $what): dirty after: $(cat "$work/next.log")"
		diff <(echo "$before_a"; echo "$before_b") <(snapshot "$ns_a"; snapshot "$ns_b")
		break
	fi
done
echo "# $kills kills (${of[run]} in run, ${of[apply]} in apply, ${of[rollback]} in rollback, ${of[restore]} in restore; ${missed} before the victim was there): $by_itself clean by themselves, $by_next by the next command, $hung hung, left dirty: $dirty"
same "kill: none of $kills left dirty" "$dirty" 0
same "kill: none of $kills hung" "$hung" 0

# A sweep whose agent is killed: the guardian puts back, the run asks the host again and says so.
what=agent
start run
wait_for 20 eval '! clean'
look
kill -KILL "${victims[0]}"
check "kill: a sweep that loses an agent ends" wait_for 60 gone $main
wait $main 2>/dev/null
same "kill: with status 3, since all was put back" $? 3
check "kill: and it was" clean
check "kill: the result says so" jq -e '.restored == true and .status != "complete"' "$work/out/result.json"

# Stopped for longer than the heartbeat: the agents put back while the controller stands still, and
# an agent that stood still puts back when it goes on. Whoever goes on ends with an error.
for ((i = 0; i < stops; i++)); do
	what=main
	[ $((i % 2)) = 0 ] || what=agent
	start run
	check "stop $what: the sweep sets" wait_for 20 eval '! clean'
	look
	kill -STOP "${victims[@]}"
	if [ $what = main ]; then
		check "stop main: put back while it stands still" wait_for 30 clean
	else
		sleep 13
	fi
	kill -CONT "${victims[@]}" 2>/dev/null
	check "stop $what: the run ends" wait_for 60 gone $main
	wait $main
	rc=$?
	check "stop $what: and not as if all were well ($rc)" [ "$rc" = 3 -o "$rc" = 4 ]
	wait_for 30 gone "${all[@]}"
	check "stop $what: everything is back" wait_for 30 clean
done
"$tunesweep" rollback "${hosts[@]}" >/dev/null 2>&1
check "kill: no journal is left" sh -c "! find /run/tunesweep -name '*.journal' | grep -q ."
exit $failed
