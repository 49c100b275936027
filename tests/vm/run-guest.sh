#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs in the test machine: each script named in /run/share/scripts, its TAP lines with its name in
# front. What a script has not told (tap.awk) is one failure.
set -u
failed=0
touch /run/started
while read -r script; do
	name=$(basename "$script" .sh)
	out=/run/share/$name.out
	start=$SECONDS
	timeout -k 10 600 bash "$script" >"$out" 2>&1
	rc=$?
	read -r _ _ _ wrong <<<"$(awk -f tests/tap.awk -v status=$rc "$out")"
	grep -E '^(not )?ok |^#|^1\.\.' "$out" | sed -E "s/^((not )?ok) /\1 $name: /"
	if [ -n "$wrong" ]; then
		echo "not ok $name: $wrong - $(tail -n 3 "$out" | tr '\n' ' ')"
		failed=1
	fi
	echo "# $name took $((SECONDS - start)) s"
	[ $rc = 0 ] || failed=1
done </run/share/scripts
# What a build with counters (make coverage) has written, which started with the host's counts.
find "$BUILD" -name '*.gcda' -newer /run/started >/run/counters
[ ! -s /run/counters ] || tar -P -cf /run/share/counters.tar -T /run/counters
exit $failed
