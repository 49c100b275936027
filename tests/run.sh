#!/bin/bash
# Runs test programs and scripts, and counts. Each prints lines in TAP's words: "ok NAME",
# "not ok NAME", "ok NAME # SKIP reason" (cmocka writes "not ok N # SKIP NAME"). A program that dies or ends with an error although none of
# its lines said so counts as one failure. The end prints "N passed, N failed, N skipped".
# Usage: tests/run.sh FILE... (programs below BUILD, scripts below tests/)
set -u
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C
locale=$(realpath -m "${BUILD:-build}")/locale
[ ! -d "$locale" ] || export LOCPATH=$locale
passed=0 failed=0 skipped=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

for t in "$@"; do
	name=${t##*tests/}
	limit=900
	case $name in
	vm/* | lab/fresh.sh) limit=1800 ;; # minutes of emulation or building; a slow machine is no failure
	esac
	start=$SECONDS
	timeout -k 10 "$limit" "$t" >"$out" 2>&1 </dev/null
	rc=$?
	p=$(grep -cE '^ok ' "$out")
	s=$(grep -cE '^(not )?ok .*# SKIP' "$out")
	f=$(grep -E '^not ok ' "$out" | grep -vc '# SKIP')
	p=$((p - $(grep -cE '^ok .*# SKIP' "$out")))
	if [ "$rc" != 0 ] && [ "$f" = 0 ]; then
		f=1
		echo "not ok $name: ended with status $rc"
	elif [ $((p + s + f)) = 0 ]; then
		f=1
		echo "not ok $name: told nothing"
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
