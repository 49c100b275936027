#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzzing for long, by clang's libFuzzer with the sanitizers: each target for as many seconds, from
# its seeds and what earlier runs have found (build/fuzz/TARGET). Ends with 1 if one found a fault.
# Usage: tests/fuzz/long.sh SECONDS TARGET.c... -- SOURCE...   (by make fuzz, which sets the rest)
set -u
command -v clang >/dev/null || { echo "make fuzz wants clang" >&2; exit 1; }
seconds=$1
shift
targets=()
while [ "$1" != -- ]; do targets+=("$1"); shift; done
shift
folder=$BUILD/fuzz
VERSION=(-DTUNESWEEP_VERSION='"fuzz"')
mkdir -p "$folder/objects"
objects=()
for source in "$@"; do
	case $source in
	*.o) objects+=("$source"); continue ;;
	esac
	object=$folder/objects/$(tr / _ <<<"${source%.c}").o
	objects+=("$object")
	[ "$object" -nt "$source" ] && continue
	# shellcheck disable=SC2086
	clang -w $FLAGS "${VERSION[@]}" -fsanitize=fuzzer-no-link,address,undefined -c -o "$object" "$source" || exit 1
done
failed=0
for target in "${targets[@]}"; do
	name=$(basename "$target" .c)
	mkdir -p "$folder/$name"
	"$BUILD/tests/fuzz/$name" --write "$folder/$name" || exit 1
	# shellcheck disable=SC2086
	clang -w $FLAGS "${VERSION[@]}" -fsanitize=fuzzer,address,undefined -pthread -o "$folder/$name.run" "$target" \
		"${objects[@]}" $LIBS || exit 1
	"$folder/$name.run" -max_total_time="$seconds" -max_len=65536 -timeout=20 -artifact_prefix="$folder/$name." \
		"$folder/$name" >"$folder/$name.log" 2>&1 && fault='no fault' || fault='A FAULT'
	edges=$(grep -oE 'cov: [0-9]+' "$folder/$name.log" | tail -n 1 | cut -d' ' -f2)
	runs=$(grep -oE '^(Done|#)[ ]?[0-9]+' "$folder/$name.log" | tail -n 1 | tr -dc 0-9)
	echo "$name: ${runs:-0} inputs, ${edges:-0} edges, $fault"
	if [ "$fault" = 'A FAULT' ]; then
		grep -E 'ERROR|SUMMARY|runtime error|Test unit' "$folder/$name.log" | head -n 5
		failed=1
	fi
done
exit $failed
