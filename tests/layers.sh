#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds the code against its shape: from the object files' undefined and defined symbols, no file
# may use one to its left (sweep > results > profiles), and no files may use each other in a circle.
# Usage: tests/layers.sh BUILD
set -u
. "$(dirname "$0")/tap.sh"
build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$build" || exit 1
find sweep results profiles -name '*.o' | sort >"$work/objects"
# file:[address] TYPE symbol, a line each
xargs nm -A <"$work/objects" | awk -v d="$work/defined" -v u="$work/undefined" '
	{ object = $1; sub(/:.*/, "", object) }
	NF == 3 && $2 ~ /^[A-TV-Z]$/ { print $3, object >d }
	NF == 3 && $2 == "U" { print $3, object >u }'
sort -o "$work/defined" "$work/defined"
sort -o "$work/undefined" "$work/undefined"
# edges: user, used, symbol
join "$work/undefined" "$work/defined" | awk '$2 != $3 { print $2, $3, $1 }' >"$work/edges"

against=0
awk '
	function layer(f) { return f ~ /^sweep/ ? 3 : f ~ /^results/ ? 2 : 1 }
	layer($1) < layer($2) { print "  " $1 " uses " $3 " of " $2; bad = 1 }
	END { exit bad }' "$work/edges" >"$work/against" || against=1
if [ $against = 0 ]; then
	ok "layers: no use against the arrow sweep > results > profiles"
else
	not_ok "layers: uses against the arrow"
	cat "$work/against"
fi
if [ "$(wc -l <"$work/edges")" -lt 20 ]; then
	not_ok "layers: found only $(wc -l <"$work/edges") uses between files, the check is blind"
fi
if awk '{ print $1, $2 }' "$work/edges" | sort -u | tsort >/dev/null 2>"$work/cycles"; then
	ok "layers: no circle among $(wc -l <"$work/objects") files"
else
	not_ok "layers: files that use each other in a circle"
	sed 's/^/  /' "$work/cycles"
fi
# Printing and exit belong to the commands and the agent's main.
awk '$2 !~ /^sweep\/cli\// && $2 != "profiles/agent/main.o" &&
	$1 ~ /^(printf|puts|putchar|perror|__printf_chk|exit)$/ { print "  " $2 ": " $1 }' \
	"$work/undefined" >"$work/printing"
if [ -s "$work/printing" ]; then
	not_ok "layers: printing or exit outside sweep/cli and profiles/agent/main.c"
	cat "$work/printing"
else
	ok "layers: printing and exit only in sweep/cli and profiles/agent/main.c"
fi
done_testing
