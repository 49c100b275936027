#!/bin/bash
# The kill campaign: SIGKILL of tunesweep, of an agent, of a guardian, of the launcher or of several
# at once, at random moments of a sweep over two real namespaces. After each, every sysctl must be
# as it was, or be so after the next command.
# Usage: tests/lab/kill.sh [ROUNDS [SEED]]
. "$(dirname "$0")/common.sh"
need_root kill
rounds=${1:-50}
RANDOM=${2:-$$}
make_namespaces || { not_ok kill "cannot make namespaces"; exit 1; }

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
search: {algorithm: sobol, samples: 100000, time: 60s}
proof: {pairs: 0}
SPEC
before_a=$(snapshot "$ns_a") before_b=$(snapshot "$ns_b")
clean() { [ "$(snapshot "$ns_a")" = "$before_a" ] && [ "$(snapshot "$ns_b")" = "$before_b" ]; }
gone() {
	local p
	for p in "$@"; do
		# a zombie has no memory any more; it waits for a parent that may be the dead main
		if [ -d "/proc/$p" ] && [ "$(awk '/^State/ {print $2}' "/proc/$p/status" 2>/dev/null)" != Z ]; then
			return 1
		fi
	done
}
# victims of this round: by name among the family
pick() {
	local p comm
	for p in "$@"; do
		comm=$(cat "/proc/$p/comm" 2>/dev/null)
		case $what:$comm in
		main:tunesweep | agent:tunesweep-agent | guardian:ts-guardian | launcher:ts-launcher) echo "$p" ;;
		agent+guardian:tunesweep-agent | agent+guardian:ts-guardian) echo "$p" ;;
		main+agent:tunesweep | main+agent:tunesweep-agent) echo "$p" ;;
		all:*) echo "$p" ;;
		esac
	done
}
kinds=(main agent main+agent launcher guardian agent+guardian all)
kills=0 by_itself=0 by_next=0 dirty=0 missed=0 hung=0
for ((i = 0; i < rounds; i++)); do
	what=${kinds[i % ${#kinds[@]}]}
	"$tunesweep" run "$work/spec.yaml" -o "$work/out" >"$work/run.log" 2>&1 </dev/null &
	main=$!
	sleep "$(printf '0.%03d' $((RANDOM % 900 + 20)))"
	mapfile -t all < <(family $main)
	mapfile -t victims < <(pick "${all[@]}")
	if [ ${#victims[@]} = 0 ]; then
		missed=$((missed + 1)) victims=("$main")
	fi
	kill -KILL "${victims[@]}" 2>/dev/null
	kills=$((kills + 1))
	if [ "$what" = guardian ]; then
		kill -TERM $main 2>/dev/null
	fi
	if ! wait_for 20 gone "${all[@]}"; then
		hung=$((hung + 1))
		echo "round $i ($what): still there: $(for p in "${all[@]}"; do cat "/proc/$p/comm" 2>/dev/null; done | tr '\n' ' ')"
		kill -KILL "${all[@]}" 2>/dev/null
	fi
	wait $main 2>/dev/null
	if clean; then
		by_itself=$((by_itself + 1))
	else
		"$tunesweep" rollback --host "tx=netns:$ns_a" --host "rx=netns:$ns_b" >"$work/next.log" 2>&1
		if clean; then
			by_next=$((by_next + 1))
		else
			dirty=$((dirty + 1))
			echo "round $i ($what): dirty after: $(cat "$work/next.log")"
			diff <(echo "$before_a"; echo "$before_b") <(snapshot "$ns_a"; snapshot "$ns_b")
			break
		fi
	fi
done
echo "# $kills kills (${missed} before the victim was there): $by_itself clean by themselves, $by_next by the next command, $hung hung, $dirty left dirty"
same "kill: none of $kills left dirty" "$dirty" 0
same "kill: none of $kills hung" "$hung" 0
"$tunesweep" rollback --host "tx=netns:$ns_a" >/dev/null 2>&1
check "kill: no journal is left" sh -c "! find /run/tunesweep -name '*.journal' | grep -q ."
exit $failed
