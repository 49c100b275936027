#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs test programs and scripts, and counts. Each prints lines in TAP's words: "ok NAME",
# "not ok NAME", "ok NAME # SKIP reason" (cmocka writes "not ok N # SKIP NAME"), and "1..N", how many
# they are. What a program has not told (tap.awk) counts as one failure.
# The end prints "N passed, N failed, N skipped".
# Usage: tests/run.sh FILE... (programs below BUILD, scripts below tests/)
set -u
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C
locale=$(realpath -m "${BUILD:-build}")/locale
[ ! -d "$locale" ] || export LOCPATH=$locale
tap=$(dirname "$0")/tap.awk
passed=0 failed=0 skipped=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
# Whoever is told to end ends what runs, too, which has its own clean-up.
child=
trap '[ -z "$child" ] || { kill "$child" && wait "$child"; }; exit 130' INT TERM HUP

for t in "$@"; do
	name=${t##*tests/}
	limit=900
	case $name in
	vm/* | lab/fresh.sh) limit=1800 ;; # minutes of emulation or building; a slow machine is no failure
	esac
	start=$SECONDS
	# in the background, so that a signal need not wait, but not deaf to Ctrl-C as what runs there is
	env --default-signal=INT,QUIT timeout -k 10 "$limit" "$t" >"$out" 2>&1 </dev/null &
	child=$!
	wait "$child"
	read -r p f s wrong < <(awk -f "$tap" -v status=$? "$out")
	child=
	if [ -z "${s:-}" ]; then
		p=0 f=0 s=0 wrong="cannot be counted"
	fi
	if [ -n "$wrong" ]; then
		f=$((f + 1))
		echo "not ok $name: $wrong"
	fi
	if [ "$f" != 0 ]; then
		echo "--- $name"
		grep -A3 '^not ok' "$out" | head -n 40
		echo "..."
		tail -n 40 "$out"
		echo "---"
	fi
	grep -E '^(not )?ok .*# SKIP' "$out" | sed -E "s|^(not )?ok|skip $name:|"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-40s %4d passed %3d failed %3d skipped  %4d s\n' "$name" "$p" "$f" "$s" $((SECONDS - start))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
