#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The pair of faults that nobody can mend from afar: a setting cuts the very link over which the
# host is reached, and the agent there is killed. Packets come in on one link and answers leave by
# another, so that strict reverse path filtering drops all that comes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/driver.bash

need_root guardian
C=tsg-$$-c H=tsg-$$-h
add_netns "$C" "$H" || exit 1
build_driver
RELAY=$build/tests/lab/relay
[[ -x $RELAY ]] || { not_ok guardian "no $RELAY"; exit 1; }

ip link add in0 netns "$H" type veth peer name out0 netns "$C"
ip link add out0 netns "$H" type veth peer name in0 netns "$C"
for ns in "$C" "$H"; do
	for d in lo in0 out0; do ip -n "$ns" link set "$d" up; done
	for d in all default in0 out0; do ip netns exec "$ns" sysctl -qw "net.ipv4.conf.$d.rp_filter=0"; done
done
ip -n "$C" addr add 192.0.2.1/32 dev lo
ip -n "$H" addr add 192.0.2.2/32 dev lo
ip -n "$C" route add 192.0.2.2 dev out0 src 192.0.2.1
ip -n "$H" route add 192.0.2.1 dev out0 src 192.0.2.2

S=net.ipv4.conf.in0.rp_filter
filter() { ip netns exec "$H" sysctl -n $S; }
is_filter() { [[ $(filter) == "$1" ]]; }
# a connection from the controller's side, to a port where nobody listens, is refused at once
reachable() { ip netns exec "$C" timeout 2 bash -c 'exec 3<>/dev/tcp/192.0.2.2/9' 2>&1 | grep -q refused; }
cut() { ! reachable; }

# An agent behind the link, as a host that is reached over it; its pid in $agent.
port=4000
behind_the_link() {
	port=$((port + 1))
	ip netns exec "$H" "$RELAY" listen "$port" "$(realpath "$AGENT")" --run-dir "$TMP/run" "$@" 2>>"$TMP/err" &
	agent=$!
	wait_for 10 eval "ip netns exec $H ss -Hltn 'sport = :$port' | grep -q ."
	start_driver
	say agent r cmd nsenter "--net=/run/netns/$C" "$RELAY" connect 192.0.2.2 "$port"
	matches "a host behind the link ($*)" "$answer" "ok r"
	say open r sweep $S
	matches "its session" "$answer" "ok*"
	# the change cuts the link: whether its answer still comes is luck
	echo "set r $S - 1" >&"$to_driver"
	wait_for 10 is_filter 1
	matches "the setting is changed" "$(filter)" 1
	matches "and the host is not reached any more" "$(cut && echo cut)" cut
}
leave() { # the driver waits for answers that do not come
	kill -KILL "$(child_of "$driver_pid" ts-launcher)" "$driver_pid" 2>/dev/null
	exec {to_driver}>&- {from_driver}<&-
	wait "$driver_pid" 2>/dev/null
}

matches "the host is reached at first" "$(reachable && echo reached)" reached
behind_the_link
kill -KILL "$agent"
wait_for 10 is_filter 0
matches "link cut and agent killed: the guardian restores" "$(filter)" 0
wait_for 10 reachable
matches "and the host is reached again" "$(reachable && echo reached)" reached
wait_for 10 no_journals "$TMP/run"
matches "no journal is left" "$(find "$TMP/run" -name '*.journal' | wc -l)" 0
leave

behind_the_link --silence-ms 2000
wait_for 20 is_filter 0
matches "link cut alone: the agent restores after the silence" "$(filter)" 0
wait_for 10 reachable
matches "and the host is reached once more" "$(reachable && echo reached)" reached
leave

# The agent is stopped, not killed: nobody is dead, and it puts back as soon as it goes on.
behind_the_link --silence-ms 9000
kill -STOP "$agent"
sleep 10
matches "an agent that stands still changes nothing" "$(filter)" 1
kill -CONT "$agent"
wait_for 20 is_filter 0
matches "an agent that stood still puts back when it goes on" "$(filter)" 0
leave
done_testing
