#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The stream test between namespaces: bytes against the interface's counters, a frozen receiver,
# and that the kernel's own buffer settings show in a sample. Wants root; leaves nothing behind.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/common.sh
need_root stream
make_namespaces || exit 1
link_local
DRIVER=$build/tests/lab/stream_driver
A=$ns_a B=$ns_b OUT=$work

# field NAME FILE LINE: a number of one sample
field() { sed -n "${3:-2}p" "$2" | grep -o "\"$1\":[^,}]*" | head -1 | cut -d: -f2; }

# within LOW VALUE HIGH, as decimals
within() { awk -v l="$1" -v v="$2" -v h="$3" 'BEGIN { exit !(v != "" && v + 0 >= l && v + 0 <= h) }'; }

run() { "$DRIVER" --netns "$A,$B" --device eth0 --address 192.0.2.2 "$@"; }

# The payload in the window and what the receiver's interface counted from mark to mark: headers on
# top, once a segment or once a large frame, and what lay in the socket's buffer at each mark.
for how in "--drive classic" "--drive light" "--streams 4" "--type tcp_maerts"; do
	name="bytes_in_the_window ${how#--}"
	# shellcheck disable=SC2086
	run --duration 2 $how - >"$OUT/s" 2>&1
	ratio=$(awk -v t="$(field throughput "$OUT/s")" -v s="$(field seconds "$OUT/s")" \
		-v c="$(field counter "$OUT/s")" 'BEGIN { if (t * s > 0) print c / (t * s / 8) }')
	if within 0.9 "$ratio" 1.15; then
		ok "$name ($ratio)"
	else
		not_ok "$name" "counter / payload is '$ratio': $(head -c 300 "$OUT/s")"
	fi
done

# The same over a link-local address with its scope.
"$DRIVER" --netns "$A,$B" --device eth0 --address 'fe80::2%eth0' --duration 0.2 - >"$OUT/s" 2>&1
if within 1e6 "$(field throughput "$OUT/s")" 1e13; then
	ok ipv6_scope
else
	not_ok ipv6_scope "$(tail -1 "$OUT/s" | head -c 300)"
fi

# Datagrams that a firewall lets through at 1000 a second of 3000: what is received, and what is
# told as lost, against that.
if command -v nft >/dev/null; then
	ip netns exec "$B" nft "add table inet t; add chain inet t c { type filter hook input priority 0; }; add rule inet t c meta length > 500 limit rate over 1000/second burst 50 packets drop"
	run --type udp_stream --socket 0,message_size=1000 --rate 24000000 --duration 2 - >"$OUT/s" 2>&1
	ip netns exec "$B" nft delete table inet t
	got=$(awk -v t="$(field throughput "$OUT/s")" 'BEGIN { print t / 8000 }')
	share=$(awk -v l="$(field lost "$OUT/s")" -v s="$(field sent "$OUT/s")" \
		'BEGIN { if (s > 0) print l / s }')
	if within 900 "$got" 1100 && within 0.5 "$share" 0.75; then
		ok "udp_limited_by_a_firewall ($got a second, $share lost)"
	else
		not_ok udp_limited_by_a_firewall "$got a second, $share lost: $(head -c 300 "$OUT/s")"
	fi
else
	skip "udp_limited_by_a_firewall" "no nft"
fi

# A receiver that is stopped: an error that names side, address and port, and soon.
run --duration 30 - >"$OUT/s" 2>&1 &
driver=$!
for _ in $(seq 100); do
	pid=$(grep -o '"receiver": [0-9]*' "$OUT/s" | grep -o '[0-9]*')
	[ -n "$pid" ] && break
	sleep 0.02
done
sleep 1
began=$(date +%s%N)
kill -STOP "$pid"
wait "$driver"
took=$((($(date +%s%N) - began) / 1000000))
error=$(tail -1 "$OUT/s")
if [[ $error == *receiver* && $error == *"192.0.2.2 port "* && $took -lt 8000 ]]; then
	ok "frozen_receiver (after $took ms)"
else
	not_ok frozen_receiver "after $took ms: ${error:0:300}"
fi

# Over 20 ms each way the receive buffer decides. Its default and its maximum must each show: the
# endpoints set no buffer that would hide them.
if "$DRIVER" --lab 20,1000 --duration 0.7 \
	"net.ipv4.tcp_rmem=4096 65536 131072" \
	"net.ipv4.tcp_rmem=4096 4194304 131072" \
	"net.ipv4.tcp_rmem=4096 65536 8388608" >"$OUT/s" 2>&1; then
	small=$(field throughput "$OUT/s" 2)
	default=$(field throughput "$OUT/s" 3)
	max=$(field throughput "$OUT/s" 4)
	if within 1e6 "$small" 1e8 &&
		awk -v a="$small" -v b="$default" 'BEGIN { exit !(b > 3 * a) }'; then
		ok "tcp_rmem_default ($small -> $default)"
	else
		not_ok tcp_rmem_default "$small -> $default"
	fi
	if awk -v a="$small" -v b="$max" 'BEGIN { exit !(b > 3 * a) }'; then
		ok "tcp_rmem_max ($small -> $max)"
	else
		not_ok tcp_rmem_max "$small -> $max"
	fi
else
	not_ok tcp_rmem "$(tail -1 "$OUT/s" | head -c 300)"
fi

# With a round trip of 200 ms slow start takes up most of a second: it shows where counting begins
# with the first byte, and does not where it begins in the steady state.
"$DRIVER" --lab 100,100 --duration 1 --warmup off - >"$OUT/all" 2>&1
"$DRIVER" --lab 100,100 --duration 1 - >"$OUT/s" 2>&1
counted_in=$(field throughput "$OUT/all")
left_out=$(field throughput "$OUT/s")
if within 0.3 "$(field warmup "$OUT/s")" 10 && [ "$(field warmup "$OUT/all")" != "" ] &&
	awk -v a="$counted_in" -v b="$left_out" 'BEGIN { exit !(a > 0 && b > 1.3 * a) }'; then
	ok "slow_start_left_out ($counted_in -> $left_out after $(field warmup "$OUT/s") s)"
else
	not_ok slow_start_left_out "$counted_in -> $left_out: $(head -c 300 "$OUT/s")"
fi

# The same within one sample, over 50 ms each way, by netem on the veth where the kernel has it: three
# round trips after the start it was far from the rate that it kept in the end; the window opens at
# that rate, and that is what is reported. Ratios of one sample, at a rate that a busy machine
# carries, too.
netem() { ip netns exec "$1" tc qdisc add dev eth0 root netem delay 50ms limit 4000 "${@:2}" 2>/dev/null; }
if netem "$A" rate 50mbit && netem "$B"; then
	path="netem"
	run --duration 2 - >"$OUT/s" 2>&1
else
	path="the lab's link"
	"$DRIVER" --lab 50,50 --duration 2 - >"$OUT/s" 2>&1
fi
verdict=$(
	python3 - "$OUT/s" <<'END'
import json, sys
s = json.loads(open(sys.argv[1]).readlines()[1])
reads, opens = s["detail"]["intervals"], s["detail"]["window_start"]
def rate(a, b):
    return 8 * (b[1] - a[1]) / (b[0] - a[0])
def at(t):
    return next((r for r in reads if r[0] >= t), reads[-1])
begin, end = reads[opens][0], reads[-1][0]
half, quarter = (begin + end) / 2, begin + (end - begin) / 4
steady = rate(at(half), reads[-1])
early, first = rate(reads[0], at(0.3)) / steady, rate(reads[opens], at(quarter)) / steady
reported = s["throughput"] / steady
good = (early < 0.5 and 0.75 < first < 1.33 and 0.85 < reported < 1.15 and s["warmup"] > 0.3)
print("ok" if good else "not", f"{s['warmup']:.2f} s left out; of the rate in the end: first 0.3 s"
      f" {early:.2f}, window's first quarter {first:.2f}, reported {reported:.2f}")
END
)
if [[ $verdict == ok* ]]; then
	ok "steady_when_the_window_opens ($path, ${verdict#ok })"
else
	not_ok steady_when_the_window_opens "$path, ${verdict#not }: $(head -c 300 "$OUT/s")"
fi
done_testing
