#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What may go wrong with a stream test, each between two namespaces of its own: the command must end
# within its limit, with status 3 and a sentence that names side, address and port, and leave no
# process behind. Wants root; leaves nothing behind.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/common.sh
need_root stream_faults
make_namespaces || exit 1
link_local
A=$ns_a B=$ns_b OUT=$work

run() { "$tunesweep" test --from "netns:$A" --to "netns:$B" --address 192.0.2.2 "$@"; }

# The endpoints in a namespace, once they are there.
endpoints() {
	for _ in $(seq 100); do
		for pid in $(ip netns pids "$1"); do
			if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = ts-endpoints ]; then
				echo "$pid"
				return
			fi
		done
		sleep 0.05
	done
}

left_behind() {
	local pids
	for _ in $(seq 60); do
		pids=$(ip netns pids "$A"; ip netns pids "$B")
		[ -z "${pids/${taker:-none}/}" ] && return 1
		sleep 0.1
	done
	return 0
}

# fault NAME LIMIT_S PATTERN INJECTION UNDO ARGUMENT...: the injection comes into a running test
fault() {
	local name=$1 limit=$2 pattern=$3 injection=$4 undo=$5 began took status
	shift 5
	run -l 30 "$@" >"$OUT/$name" 2>&1 &
	local job=$!
	PEER=$(endpoints "$B")
	NEAR=$(endpoints "$A")
	sleep 1
	began=$(date +%s%N)
	eval "$injection"
	wait $job
	status=$?
	took=$((($(date +%s%N) - began) / 1000000))
	eval "$undo"
	verdict
}

verdict() {
	local text
	text=$(tail -n 1 "$OUT/$name")
	if [ "$status" != 3 ] || ! grep -Eq "$pattern" <<<"$text"; then
		not_ok "$name" "status $status after $took ms: ${text:0:300}"
	elif [ "$took" -gt $((limit * 1000)) ]; then
		not_ok "$name" "took $took ms, limit $limit s"
	elif left_behind; then
		not_ok "$name" "processes are left behind"
	else
		ok "$name ($took ms: ${text:11:90})"
	fi
}

# refused NAME LIMIT_S PATTERN ARGUMENT...: what cannot even begin
refused() {
	local name=$1 limit=$2 pattern=$3 began took status
	shift 3
	began=$(date +%s%N)
	"$tunesweep" test --from "netns:$A" --to "netns:$B" -l 30 "$@" >"$OUT/$name" 2>&1
	status=$?
	took=$((($(date +%s%N) - began) / 1000000))
	verdict
}

WHERE='192\.0\.2\.[12] port [0-9]+'
drop() { ip netns exec "$B" nft "add table inet t; add chain inet t c { type filter hook input priority 0; }; add rule inet t c $1"; }
undrop() { ip netns exec "$B" nft delete table inet t; }

fault peer_killed 8 "(sender|receiver).*$WHERE" 'kill -KILL $PEER' :
fault peer_frozen 10 "(sender: nothing moved|receiver: its endpoint does not answer).*$WHERE" 'kill -STOP $PEER' 'kill -KILL $PEER 2>/dev/null'
fault near_end_frozen 10 "sender: its endpoint does not answer.*$WHERE" 'kill -STOP $NEAR' \
	'kill -KILL $NEAR 2>/dev/null'
fault cable_cut 8 "(sender|receiver).*nothing moved.*$WHERE" \
	'ip -n $A link set eth0 down' 'ip -n $A link set eth0 up'
fault cable_cut_udp 8 "receiver.*nothing moved.*$WHERE|sender.*$WHERE.*unreachable" \
	'ip -n $B link set eth0 down' 'ip -n $B link set eth0 up' -t udp_stream --rate 10Mbit/s
fault cable_cut_rr 8 "(sender|receiver).*nothing moved.*$WHERE" \
	'ip -n $A link set eth0 down' 'ip -n $A link set eth0 up' -t tcp_rr
link_local
if command -v nft >/dev/null; then
	fault firewall_drops 8 "(sender|receiver).*nothing moved.*$WHERE" \
		'drop "tcp dport != 22 drop"' undrop
	drop "meta length > 200 drop"
	refused zero_bytes 8 "(sender|receiver).*nothing moved.*$WHERE" --address 192.0.2.2
	undrop
	drop "tcp flags syn drop"
	refused firewall_drops_connect 10 "sender.*192\.0\.2\.2 port [0-9]+.*no answer" \
		--address 192.0.2.2
	undrop
	drop "meta l4proto udp drop"
	refused firewall_drops_udp 10 "sender.*192\.0\.2\.2 port [0-9]+.*no answer" \
		--address 192.0.2.2 -t udp_stream
	undrop
else
	skip "firewall" "no nft"
fi

ip netns exec "$B" perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0);
	bind(S, pack_sockaddr_in(7777, INADDR_ANY)); listen(S, 1); sleep 60' &
taker=$!
taken() { ip netns exec "$B" ss -Hltn 'sport = 7777' | grep -q .; }
wait_for 10 taken
refused port_taken 6 "receiver.*192\.0\.2\.2 port 7777.*in use" --address 192.0.2.2 -p 7777
kill $taker
refused wrong_family 6 "receiver.*fd00::7.*(assign|unreachable)" --address fd00::7
refused wrong_address 6 "receiver.*192\.0\.2\.9.*assign" --address 192.0.2.9
refused not_a_number 6 "address no-such-host" --address no-such-host

# A peer that is slow, stopped for 30 of each 40 ms, is no fault: the test ends well.
run -l 1 --json >"$OUT/slow" 2>&1 &
job=$!
PEER=$(endpoints "$B")
while kill -0 $job 2>/dev/null && kill -STOP "$PEER" 2>/dev/null; do
	sleep 0.03
	kill -CONT "$PEER" 2>/dev/null
	sleep 0.01
done
wait $job
status=$?
if [ $status = 0 ] && grep -q '"throughput": [1-9]' "$OUT/slow"; then
	ok slow_peer
else
	not_ok slow_peer "status $status: $(tail -1 "$OUT/slow" | head -c 300)"
fi

# A fixed port, and a link-local address with its scope.
if "$tunesweep" test --from "netns:$A" --to "netns:$B" --address 'fe80::2%eth0' -p 7780 -l 0.2 \
	--json >"$OUT/six" 2>&1 && grep -q '"throughput": [1-9]' "$OUT/six"; then
	ok ipv6_scope_and_port
else
	not_ok ipv6_scope_and_port "$(tail -1 "$OUT/six" | head -c 300)"
fi
done_testing
