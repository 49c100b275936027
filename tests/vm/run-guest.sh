#!/bin/bash
# Runs in the test machine: each script named in /run/share/scripts, its TAP lines with its name in
# front. A script that ends with an error without having said "not ok" is one.
set -u
failed=0
touch /run/started
while read -r script; do
	name=$(basename "$script" .sh)
	out=/run/share/$name.out
	start=$SECONDS
	timeout -k 10 600 bash "$script" >"$out" 2>&1
	rc=$?
	grep -E '^(not )?ok |^#' "$out" | sed -E "s/^((not )?ok) /\1 $name: /"
	if [ $rc = 124 ] || { [ $rc != 0 ] && ! grep -q '^not ok ' "$out"; }; then
		echo "not ok $name: ended with status $rc - $(tail -n 3 "$out" | tr '\n' ' ')"
	fi
	echo "# $name took $((SECONDS - start)) s"
	[ $rc = 0 ] || failed=1
done </run/share/scripts
# What a build with counters (make coverage) has written, which started with the host's counts.
find "$BUILD" -name '*.gcda' -newer /run/started >/run/counters
[ ! -s /run/counters ] || tar -P -cf /run/share/counters.tar -T /run/counters
exit $failed
