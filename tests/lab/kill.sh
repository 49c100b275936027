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
# A shell in each namespace that tells the values, since starting a program takes longer than an
# apply does.
mkfifo "$work/ask_a" "$work/tell_a" "$work/ask_b" "$work/tell_b"
teller() { # NAMESPACE END
	ip netns exec "$1" bash -c 'cd /proc/sys/net/ipv4 || exit 1
		while read -r; do
			all=
			for f in tcp_rmem tcp_wmem tcp_congestion_control tcp_slow_start_after_idle tcp_notsent_lowat; do
				read -ra v <"$f" && all+="$f ${v[*]}; "
			done
			echo "$all"
		done' <"$work/ask_$2" >"$work/tell_$2" &
}
teller "$ns_a" a
teller "$ns_b" b
exec {ask_a}>"$work/ask_a" {tell_a}<"$work/tell_a" {ask_b}>"$work/ask_b" {tell_b}<"$work/tell_b"
see() {
	now_a='' now_b=''
	echo >&"$ask_a"
	echo >&"$ask_b"
	read -r -t 20 now_a <&"$tell_a"
	read -r -t 20 now_b <&"$tell_b"
}
see
before_a=$now_a before_b=$now_b
"$tunesweep" apply "$work/profile.yaml" "${hosts[@]}" >"$work/apply.log" 2>&1 ||
	{ not_ok kill "cannot apply: $(cat "$work/apply.log")"; exit 1; }
see
applied_a=$now_a applied_b=$now_b
[ "$applied_a" != "$before_a" ] && [ "$applied_b" != "$before_b" ] || { not_ok kill "nothing is seen of an apply"; exit 1; }
"$tunesweep" rollback "${hosts[@]}" >/dev/null 2>&1
clean() {
	see
	[ "$now_a" = "$before_a" ] && [ "$now_b" = "$before_b" ]
}
# each host is wholly the one or the other
whole() {
	see
	[ "$now_a" = "$before_a" ] || [ "$now_a" = "$applied_a" ] || return 1
	[ "$now_b" = "$before_b" ] || [ "$now_b" = "$applied_b" ]
}
clean || { not_ok kill "a rollback without any kill leaves values"; exit 1; }
# Without starting a program.
exec {never}<> <(:)
nap() { # MICROSECONDS
	local fraction
	printf -v fraction %06d $(($1 % 1000000))
	read -r -t "$(($1 / 1000000)).$fraction" -u "$never"
}
# soon SECONDS COMMAND...: wait_for without starting a program
soon() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		nap 3000
	done
	return 0
}
gone() {
	local p
	for p in "$@"; do
		lives "$p" && return 1
	done
	return 0
}
# The family of $main into all, and this round's victims among it into victims. Without forks: an
# apply lasts for less time than ten of them.
look() {
	local p comm below
	look_below "$main"
	all=("${below[@]}") victims=()
	for p in "${all[@]}"; do
		{ read -r comm <"/proc/$p/comm"; } 2>/dev/null || continue
		case $what:$comm in
		main:tunesweep | agent:tunesweep-agent | guardian:ts-guardian | launcher:ts-launcher | \
			agent+guardian:tunesweep-agent | agent+guardian:ts-guardian | \
			main+agent:tunesweep | main+agent:tunesweep-agent | all:*) victims+=("$p") ;;
		esac
	done
}
# Until there is one of those that shall be killed, or nobody any more.
await_victim() {
	look
	until [ ${#victims[@]} != 0 ] || [ ${#all[@]} = 0 ]; do look; done
}
dirty_now() { ! clean; }
# Leaves values that a crashed sweep has set, with a journal and nobody to restore it.
crash() {
	local main what=all
	for _ in 1 2 3 4 5; do
		"$tunesweep" run "$work/spec.yaml" -o "$work/out" >"$work/run.log" 2>&1 </dev/null &
		main=$!
		soon 20 dirty_now
		look
		kill -STOP "${all[@]}" 2>/dev/null
		kill -KILL "${all[@]}" 2>/dev/null
		wait $main 2>/dev/null
		soon 20 gone "${all[@]}"
		clean || return 0
	done
}
# Starts the operation in the background; its pid in $main.
start() {
	local command
	case $1 in
	run) command=(run "$work/spec.yaml" -o "$work/out") ;;
	apply) command=(apply "$work/profile.yaml" "${hosts[@]}") ;;
	rollback)
		"$tunesweep" apply "$work/profile.yaml" "${hosts[@]}" >"$work/apply.log" 2>&1
		command=(rollback "${hosts[@]}")
		;;
	restore)
		crash
		command=(status "${hosts[@]}")
		;;
	esac
	"$tunesweep" "${command[@]}" >"$work/run.log" 2>&1 </dev/null &
	main=$!
}
journals() { compgen -G '/run/tunesweep/net-*/*.journal' >/dev/null; }

kinds=(main agent main+agent launcher guardian agent+guardian all)
ops=(run apply rollback restore)
# For how long after they are first seen victims may be met (us): learnt for each operation and
# kind, since it is the machine's load that decides. Who comes too late, tries again a little sooner.
declare -A span of=([run]=0 [apply]=0 [rollback]=0 [restore]=0)
kills=0 by_itself=0 by_next=0 dirty=0 late=0 hung=0 enough=0
trap 'enough=1' TERM # the figures so far
i=0
while [ $i -lt "$rounds" ] && [ $enough = 0 ] && [ $late -le $((rounds + 20)) ]; do
	op=${ops[i % 4]} what=${kinds[i / 4 % ${#kinds[@]}]}
	key=$op.$what
	case $key in
	run.*) first=900000 ;;
	*.guardian) first=4000 ;;
	*) first=40000 ;;
	esac
	: "${span[$key]:=$first}"
	start "$op"
	delay=$(((RANDOM << 15 | RANDOM) % span[$key]))
	await_victim
	if [ $delay -gt 500 ]; then
		nap $delay
		look
	fi
	if [ ${#victims[@]} = 0 ]; then
		late=$((late + 1)) span[$key]=$((span[$key] * 2 / 3 + 1))
		hit=no
		look
	else
		kill -KILL "${victims[@]}" 2>/dev/null
		kills=$((kills + 1)) of[$op]=$((${of[$op]} + 1)) span[$key]=$((span[$key] * 51 / 50))
		hit=yes
		i=$((i + 1))
		[ "$what" != guardian ] || kill -TERM $main 2>/dev/null
	fi
	if [ $hit = no ] && [ "$op" = run ]; then
		kill -TERM $main 2>/dev/null
	fi
	if ! soon 30 gone "${all[@]}"; then
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
		[ $hit = no ] || by_itself=$((by_itself + 1))
	else
		"$tunesweep" status "${hosts[@]}" >"$work/next.log" 2>&1
		[ $hit = no ] || by_next=$((by_next + 1))
		if ! $good; then
			echo "round $i ($op, $what): not $good after the next command: $(cat "$work/next.log")"
			dirty=$((dirty + 1))
		fi
	fi
	if journals || ! clean; then
		"$tunesweep" rollback "${hosts[@]}" >"$work/next.log" 2>&1
	fi
	if ! clean; then
		dirty=$((dirty + 1))
		echo "round $i ($op, $what): dirty after: $(cat "$work/next.log")"
		printf 'before: %s\nnow:    %s\n' "$before_a$before_b" "$now_a$now_b"
		break
	fi
done
echo "# $kills kills (${of[run]} in run, ${of[apply]} in apply, ${of[rollback]} in rollback, ${of[restore]} in restore; besides, $late times the victim had left): $by_itself clean by themselves, $by_next by the next command, $hung hung, left dirty: $dirty"
same "kill: none of $kills left dirty" "$dirty" 0
same "kill: none of $kills hung" "$hung" 0
[ $enough = 1 ] || same "kill: every kill met its victim" "$kills" "$rounds"

# A sweep whose agent is killed: the guardian puts back, the run asks the host again and says so.
what=agent
start run
soon 20 dirty_now
look
kill -KILL "${victims[0]}"
check "kill: a sweep that loses an agent ends" soon 60 gone $main
wait $main 2>/dev/null
same "kill: with status 3, since all was put back" $? 3
check "kill: and it was" clean
json "kill: the result says so" "$work/out/result.json" '.restored == true and .status != "complete"'

# Stopped for longer than the heartbeat: the agents put back while the controller stands still, and
# an agent that stood still puts back when it goes on.
for ((i = 0; i < stops; i++)); do
	what=main
	[ $((i % 2)) = 0 ] || what=agent
	start run
	check "stop $what: the sweep sets" soon 20 dirty_now
	look
	kill -STOP "${victims[@]}"
	if [ $what = main ]; then
		check "stop main: put back while it stands still" soon 30 clean
	else
		sleep 13
	fi
	kill -CONT "${victims[@]}" 2>/dev/null
	# An agent that finds its controller's heartbeats may go on, if the controller has waited.
	[ $what = main ] || soon 30 gone $main || kill -TERM $main
	check "stop $what: the run ends" soon 60 gone $main
	wait $main
	rc=$?
	check "stop $what: and not as if all were well ($rc)" [ "$rc" = 3 -o "$rc" = 4 -o "$rc" = 130 ]
	soon 30 gone "${all[@]}"
	check "stop $what: everything is back" soon 30 clean
done
"$tunesweep" rollback "${hosts[@]}" >/dev/null 2>&1
check "kill: no journal is left" no_journals
done_testing
