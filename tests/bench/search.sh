#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The whole bench of the searches: about an hour on two idle cores. Optuna's TPE plays along where
# Debian's python3-optuna is installed. Runs that are in OUT already are not played again.
# Usage: tests/bench/search.sh BENCH OUT [FIRST-LAST seeds]
set -eu
bench=$1 out=$2 seeds=${3:-1-20}
jobs=$(nproc)
mkdir -p "$out"

play() { # FILE OPTIONS...: plays into FILE unless it is there
	local file=$out/$1
	shift
	if [ ! -s "$file" ]; then
		rm -f "$file.part"
		"$bench" run --seeds "$seeds" --jobs "$jobs" --out "$file.part" "$@"
		mv "$file.part" "$file"
	fi
}

play surrogate.txt --methods surrogate
play others.txt --methods GN_DIRECT_L,coordinate,random
if /usr/bin/python3 -c 'import optuna' 2>/dev/null && [ ! -s "$out/tpe.txt" ]; then
	rm -f "$out/tpe.part"
	/usr/bin/python3 "$(dirname "$0")/optuna.py" "$bench" "$out/tpe.part" 200 "$seeds" \
		paper2d bneck2d ridge5 place6 mix6 cliff6 mix12
	mv "$out/tpe.part" "$out/tpe.txt"
fi
play batch4.txt --methods surrogate --label batch-of-4 --batch 4 --budget 100
play warm.txt --methods surrogate --label warm --warm 100 --budget 50
play sigma1.txt --methods surrogate --label sigma-1% --sigma 0.01 --budget 100
play sigma5.txt --methods surrogate --label sigma-5% --sigma 0.05 --budget 100
"$bench" report surrogate "$out"/*.txt
"$bench" time
