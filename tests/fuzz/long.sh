#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzzing for long, by clang's libFuzzer with the sanitizers: each target for as many seconds, from
# its seeds, its corpus and what earlier runs have found (build/fuzz/TARGET), with a dictionary. Ends with 1 if one found a fault.
# Usage: tests/fuzz/long.sh SECONDS TARGET.c... -- SOURCE...   (by make fuzz, which sets the rest)
set -u
command -v clang >/dev/null || { echo "make fuzz wants clang" >&2; exit 1; }
seconds=$1
shift
targets=()
while [ "$1" != -- ]; do targets+=("$1"); shift; done
shift
folder=$BUILD/fuzz
# compile SOURCE OBJECT
compile() {
	# shellcheck disable=SC2086
	clang -w $FLAGS -DTUNESWEEP_VERSION='"fuzz"' -fsanitize=fuzzer-no-link,address,undefined -c -o "$2" "$1"
}
export -f compile
export FLAGS
mkdir -p "$folder/objects"
# An object a source, again where the source or any header is newer.
header=$(find include sweep results profiles tests/fuzz -name '*.h' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
objects=() stale=()
for source in "$@"; do
	case $source in
	*.o) objects+=("$source"); continue ;;
	esac
	object=$folder/objects/$(tr / _ <<<"${source%.c}").o
	objects+=("$object")
	[ "$object" -nt "$source" ] && [ "$object" -nt "$header" ] || stale+=("$source" "$object")
done
[ ${#stale[@]} = 0 ] || printf '%s\n' "${stale[@]}" | xargs -n 2 -P "$(nproc)" bash -c 'compile "$@"' sh || exit 1
failed=0
for target in "${targets[@]}"; do
	name=$(basename "$target" .c)
	mkdir -p "$folder/$name"
	"$BUILD/tests/fuzz/$name" --write "$folder/$name" && "$BUILD/tests/fuzz/$name" --words >"$folder/words" || exit 1
	# shellcheck disable=SC2086
	clang -w $FLAGS -DTUNESWEEP_VERSION='"fuzz"' -fsanitize=fuzzer,address,undefined -pthread -o "$folder/$name.run" "$target" \
		"${objects[@]}" $LIBS || exit 1
	"$folder/$name.run" -max_total_time="$seconds" -max_len=65536 -timeout=20 -dict="$folder/words" -artifact_prefix="$folder/$name." \
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
