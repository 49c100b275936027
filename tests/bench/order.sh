#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Is a sweep's answer the same when it is asked again? Six settings of the embedded lab, swept three
# times with seeds of their own: a long fast link, so that the sender's buffer and the size of packets
# matter and the rest hardly does. Prints each winner's settings by their effect, and whether the verdicts
# agree and settings whose intervals lie apart come in one order. Root; about nine minutes. Sweeps that
# DIR has already are not made again.
#   order.sh TUNESWEEP DIR [SEED...]
set -eu
TUNESWEEP=$(realpath "$1") work=$2
shift 2
[ $# -gt 0 ] || set -- 1 2 3
mkdir -p "$work"
cat >"$work/order.yaml" <<'SPEC'
tunesweep: 1
name: order
hosts:
  sender: {via: lab}
  receiver: {via: lab}
link: {delay: 10ms, rate: 2Gbit/s, queue: 4MiB}
test: {engine: builtin, type: tcp_stream, from: sender, to: receiver, duration: 500ms}
objective: {maximize: throughput / service_demand}
allow: [disruptive]
tunables:
  - {set: net.ipv4.tcp_wmem, field: max, host: sender, range: [1MiB, 64MiB], scale: log}
  - {set: link.mtu, host: sender, device: auto, range: [1500, 9000]}
  - {set: net.ipv4.tcp_congestion_control, host: sender, choices: available}
  - {set: net.ipv4.tcp_rmem, field: max, host: receiver, range: [2MiB, 64MiB], scale: log}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: sender, choices: [false, true]}
  - {set: socket.message_size, range: [16KiB, 1MiB], scale: log}
search: {samples: 36, time: 70s}
proof: {pairs: 54, time: 110s, panel: false}
SPEC
echo "$(date +%F), $(uname -sr), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)"
for seed in "$@"; do
	begin=$SECONDS
	[ -e "$work/$seed/result.json" ] ||
		"$TUNESWEEP" run "$work/order.yaml" -q --seed "$seed" -o "$work/$seed" --store "$work/results.db" >"$work/out" 2>&1 ||
		{ tail -5 "$work/out" >&2; exit 1; }
	echo "seed $seed, $((SECONDS - begin)) s:"
	jq -r '"  " + (if .gain.significant then "gain \(.gain.percent | round) % (\(.gain.interval | map(round)))"
		else "no gain proved" end) + ", \(.samples) samples, \(.gain.pairs) pairs, restored: \(.restored)",
		(.effects | map(select(.percent != null)) | sort_by(-.percent)[] | "    \(.set): \(.percent * 10 | round / 10) % (\(.interval | map(. * 10 | round / 10)))")' \
		"$work/$seed/result.json"
done
python3 - "$@" "$work" <<'END'
import itertools, json, sys
runs = [json.load(open(f"{sys.argv[-1]}/{seed}/result.json")) for seed in sys.argv[1:-1]]
verdicts = {(bool(r["gain"]["significant"]), r["recommended"]) for r in runs}
print("verdicts:", "the same" if len(verdicts) == 1 else "DIFFERENT")
above = {} # (a, b): seeds in which a is surely above b
for seed, r in zip(sys.argv[1:-1], runs):
    known = [x for x in r["effects"] if x["percent"] is not None]
    for a, b in itertools.permutations(known, 2):
        if a["interval"][0] > b["interval"][1]:
            above.setdefault((a["set"], b["set"]), []).append(seed)
turned = [(a, b, above[a, b], above[b, a]) for a, b in above if (b, a) in above and a < b]
print("orders: of %d pairs of settings that lie apart" % len({frozenset(p) for p in above}),
      "all agree" if not turned else "these do NOT: %s" % turned)
sys.exit(len(verdicts) > 1 or bool(turned))
END
