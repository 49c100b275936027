#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The embedded lab: its namespaces, its link (delay, rate, loss), and that nothing of it is left
# after an orderly end, after SIGKILL of the main process, and after SIGKILL of everything.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/driver.bash

need_root link
build_driver

# lab DELAY_MS RATE_MBIT QUEUE LOSS: sets $a $b (namespaces), $to (address of b), $emulator, $link
lab() {
	say lab "$@"
	matches "lab $*" "$answer" "ok ts-*-a ts-*-b * * *"
	read -r _ a b _ to emulator link <<<"$answer"
}
nothing_left() {
	wait_for 20 no_file "/run/netns/$a"
	wait_for 2 no_file "/run/tunesweep/lab-$main"
	matches "$1: namespaces are gone" "$(find /run/netns -name "ts-$main-*" 2>/dev/null | wc -l)" 0
	matches "$1: the note is gone" "$(find /run/tunesweep -maxdepth 1 -name "lab-$main" 2>/dev/null | wc -l)" 0
	wait_for 5 gone "$holder"
	matches "$1: the link's process is gone" "$(gone "$holder" && echo gone)" gone
}
find_holder() {
	launcher=$(child_of "$main" ts-launcher)
	holder=$(child_of "$launcher" ts-link)
}
# One round trip in milliseconds, by the time that a TCP connection takes to be refused.
round_trip() {
	ip netns exec "$a" bash -c '
		t0=$EPOCHREALTIME; (exec 3<>/dev/tcp/'"$to"'/9) 2>/dev/null; t1=$EPOCHREALTIME
		echo $(((${t1/./} - ${t0/./}) / 1000))'
}
between() { # NAME GOT LOW HIGH
	if (($2 >= $3 && $2 <= $4)); then ok "$1"; else not_ok "$1" "$2 is not in $3 to $4"; fi
}
# Mbit/s of what the other end's device received in about 2 s, sent as fast as it goes.
throughput() {
	ip netns exec "$a" sysctl -qw net.ipv4.tcp_wmem="4096 65536 67108864"
	ip netns exec "$b" sysctl -qw net.ipv4.tcp_rmem="4096 131072 67108864"
	iperf3 --version >/dev/null 2>&1 || { echo -1; return; }
	ip netns exec "$b" iperf3 -s -1 >/dev/null 2>&1 &
	local server=$!
	wait_for 5 eval 'ip netns exec $b ss -Hltn | grep -q :5201'
	ip netns exec "$a" iperf3 -c "$to" -t 3 -O 1 -J |
		sed -n '/"sum_received"/,/}/s/.*"bits_per_second":[[:space:]]*\([0-9]*\).*/\1/p' |
		awk '{printf "%d\n", $1 / 1e6}'
	wait "$server"
}

start_driver
main=$driver_pid
lab 20 2000 4194304 0
find_holder
matches "the link's process" "$holder" "[0-9]*"
matches "a link in user space is said to be one" "$emulator $link" "@(netem 0|user-space $holder)"
matches "it has no capability" "$(sed -n 's/^CapPrm:\s*//p' "/proc/$holder/status")" "0000000000000000"
matches "it is nobody" "$(sed -n 's/^Uid:\s*//p' "/proc/$holder/status")" "65534*65534*65534*65534"
matches "there is a launcher" "$launcher" "[0-9]*"
matches "the launcher holds no pipe" "$(find "/proc/$launcher/fd" -lname 'pipe:*' | grep -vc '/2$')" 0
matches "ip netns knows them" "$(ip netns | grep -c "^ts-$main-[ab]")" 2
matches "eth0 is up" "$(ip -n "$a" -br link show eth0)" "eth0*UP*"
matches "there is IPv4" "$(ip -n "$a" -br addr show eth0)" "*198.18.0.1/30*"
round_trip >/dev/null # asks for the address (ARP) first
rtt=$(round_trip)
between "20 ms each way are 40 ms ($rtt)" "$rtt" 40 60
say lab 1 0 0 0
matches "one lab at a time" "$answer" "error -17 *"
say agent s lab0
matches "agent in a" "$answer" "ok s"
say agent r lab1
matches "agent in b" "$answer" "ok r"
say info r
matches "it knows its address" "$answer" '*"address":"198.18.0.2"*"device":"eth0"*'
mbit=$(throughput)
if ((mbit < 0)); then
	skip "throughput" "iperf3 is not installed"
else
	between "2 Gbit/s with 20 ms are held ($mbit Mbit/s)" "$mbit" 1500 2000
fi
say cpu
matches "its CPU time is known" "$answer" "ok [0-9]*.*"
say counters
matches "its counters are known" "$answer" "ok \[*"
matches "no frame was lost in the link itself" "$answer" '!(*"ring_drops":[1-9]*)'
say unlab
matches "unlab" "$answer" "ok*"
nothing_left "unlab"

lab 5 100 0 0
find_holder
mbit=$(throughput)
((mbit < 0)) || between "100 Mbit/s are held ($mbit Mbit/s)" "$mbit" 80 100
say unlab
lab 1 0 0 1
matches "a line that loses everything" "$(ip netns exec "$a" timeout 1 bash -c "exec 3<>/dev/tcp/$to/9" 2>/dev/null; echo $?)" 124
say unlab

### Ends
lab 20 2000 0 0
find_holder
stop_driver
nothing_left "launcher_stop"

start_driver
main=$driver_pid
lab 20 2000 0 0
find_holder
say agent r lab1
say info r
cookie=${answer#*\"cookie\":} cookie=${cookie%%,*}
say open r sweep net.ipv4.tcp_rmem
say set r net.ipv4.tcp_rmem max 9MiB
matches "something is set" "$answer" "ok 9437184"
kill -KILL "$main"
nothing_left "SIGKILL of main"
stop_driver
matches "no journal is left" "$([[ -e /run/tunesweep/net-$cookie ]] || echo gone)" gone

start_driver
main=$driver_pid
lab 20 2000 0 0
find_holder
kill -STOP "$main"
kill -KILL "$launcher" "$main"
wait_for 5 gone "$holder"
matches "the link dies with the launcher" "$(gone "$holder" && echo gone)" gone
stop_driver
# (Another tunesweep on this machine may be quicker.)
matches "SIGKILL of both leaves the names" "$(ip netns | grep -c "^ts-$main-[ab]")" "[02]"
dead=$main
start_driver
main=$driver_pid
say restore
matches "the next command" "$answer" "ok*"
main=$dead
nothing_left "removes them"
stop_driver
done_testing
