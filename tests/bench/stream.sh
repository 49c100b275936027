#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The built-in engine beside other stream tests (stream.c), over loopback and over veth, with 1, 2 and
# 4 streams, and what each gains by them, in namespaces of its own. Wants root; leaves nothing behind.
#   stream.sh PROGRAM DRIVER [ROUNDS [SECONDS]]
set -u
PROGRAM=$1 DRIVER=$2 ROUNDS=${3:-6} SECONDS_EACH=${4:-1}
A=tsbs-$$-a B=tsbs-$$-b
tidy() {
	ip netns del "$A" 2>/dev/null
	ip netns del "$B" 2>/dev/null
}
trap tidy EXIT
ip netns add "$A" && ip netns add "$B" || exit 1
ip -n "$A" link add eth0 type veth peer name eth0 netns "$B"
ip -n "$A" addr add 198.18.75.1/30 dev eth0
ip -n "$B" addr add 198.18.75.2/30 dev eth0
for n in "$A" "$B"; do
	ip -n "$n" link set eth0 up
	ip -n "$n" link set lo up
done
echo "$(date +%F), $(uname -sr), $(nproc) CPUs, $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), load $(cut -d' ' -f1 /proc/loadavg)"
echo
OUT=$(mktemp)
for streams in 1 2 4; do
	for where in lo eth0; do
		if [ $where = lo ]; then set -- "$A,$A" 127.0.0.1; else set -- "$A,$B" 198.18.75.2; fi
		"$PROGRAM" --driver "$DRIVER" --rounds "$ROUNDS" --seconds "$SECONDS_EACH" \
			--streams $streams --netns "$1" --device $where --address "$2" | tee -a "$OUT"
		echo
	done
done
# Throughput with N streams over that with one: the medians of the tables above.
echo "| throughput by streams, over one stream | path | 2 streams | 4 streams |"
echo "|---|---|---|---|"
awk -F' *[|] *' '/stream/ && /rounds of/ { split($2, w, /[ ,]+/); path = w[1]; n = w[2]; next }
	$3 + 0 > 0 { t[$2, path, n] = $3; key[$2 SUBSEP path] = 1 }
	END { for (k in key) { split(k, p, SUBSEP); one = t[p[1], p[2], 1]
		if (one > 0 && (t[p[1], p[2], 2] > 0)) printf "| %s | %s | %.2f | %.2f |\n", p[1], p[2],
			t[p[1], p[2], 2] / one, t[p[1], p[2], 4] / one } }' "$OUT" | sort
rm -f "$OUT"
