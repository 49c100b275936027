#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The built-in engine beside other stream tests (stream.c), over loopback and over veth, with 1 and
# with 2 streams, in namespaces of its own. Wants root; leaves nothing behind.
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
for streams in 1 2; do
	"$PROGRAM" --driver "$DRIVER" --rounds "$ROUNDS" --seconds "$SECONDS_EACH" \
		--streams $streams --netns "$A,$A" --device lo --address 127.0.0.1
	echo
	"$PROGRAM" --driver "$DRIVER" --rounds "$ROUNDS" --seconds "$SECONDS_EACH" \
		--streams $streams --netns "$A,$B" --device eth0 --address 198.18.75.2
	echo
done
