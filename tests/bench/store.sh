#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long results, report, compare and timeline take on a store of many samples, and how much memory.
# Usage: tests/bench/store.sh BUILD [RUNS [SAMPLES_A_RUN]] (default 400 x 2500 = 1,000,000)
set -eu
build=$1 runs=${2:-400} samples=${3:-2500}
db=$build/bench/store.db
mkdir -p "$build/bench"
if [ ! -e "$db.$runs.$samples" ]; then
	rm -f "$db"*
	echo "making $((runs * samples)) samples in $runs runs"
	"$build/tests/bench/store" "$db" "$runs" "$samples"
	touch "$db.$runs.$samples"
else
	echo "using the store of $((runs * samples)) samples that is there"
fi
ls -l "$db" | awk '{ printf "file: %.0f MB\n", $5 / 1e6 }'
list=$("$build/tunesweep" results --store "$db" --json | jq -r '[.[] | select(.status == "complete").run] | .[0], .[1]')
a=${list%%$'\n'*} b=${list##*$'\n'}

# Best of three: wall and CPU seconds, peak of resident memory.
measure() {
	local i
	for i in 1 2 3; do
		/usr/bin/time -f "%e %U %S %M" "$build/tunesweep" "$@" --store "$db" 2>&1 >/dev/null | tail -n 1
	done | sort -n | head -n 1 |
		awk -v what="$1 ${2:+...}" '{ printf "%-28s %6.2f s wall %6.2f s CPU %6.0f MB\n", what, $1, $2 + $3, $4 / 1024 }'
}
measure results
measure report "$a"
measure report "$a" --format html
measure compare "$a" "$b"
measure timeline
measure timeline --by date
measure timeline --best
