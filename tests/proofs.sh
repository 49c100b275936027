#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Which test proves each entry of the catalogue: the table in tests/README.md is made from where the
# entries are named in the tests. It must have all entries and no others, and what it says must be
# true; that a newer test names an entry, too, does no harm. An entry that no test names is a failure.
# Usage: tests/proofs.sh [--write]     BUILD: the programs (build); --write puts the table there
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
begin='<!-- tunables: made by tests/proofs.sh --write -->' end='<!-- tunables: end -->'

# Lines of code that name something, a file each; comments name nothing.
# Tests that only speak of entries (exports, the command line, the doctor) prove nothing of them, and
# of the unit tests those count that have a recorded machine.
for f in tests/vm/sysctls.txt tests/vm/guest/*.sh tests/lab/*.sh \
	$(grep -lE 'sysroot_|SYSROOT|tests/sysroot' tests/unit/test_*.c); do
	case $f in
	*/export.sh | */shipped.sh | */balance.sh | */stranger.sh | */cli.sh | */doctor.sh | */common.sh) continue ;;
	esac
	[ -f "$f" ] || continue
	grep -vE '^[[:space:]]*(#|/?\*)' "$f" | sed "s|^|${f#tests/}\t|"
done >"$work/lines"
"$build/tunesweep" list --json | jq -r '.[] | "\(.name)\t\(.scope)"' >"$work/names"
[ -s "$work/names" ] || { not_ok proofs "tunesweep list tells nothing"; exit 1; }

# places NAME SCOPE: the real kernels first; recorded trees and fakes only where there is none. A
# star stands for one component; fields, devices and choices may follow a name.
awk -F '\t' -v OFS='\t' '
	NR == FNR { names[++n] = $1; scope[n] = $2; next }
	{ file[++m] = $1; text[m] = substr($0, length($1) + 2) }
	END {
		for (i = 1; i <= n; i++) {
			pattern = names[i]
			gsub(/\./, "\\.", pattern); gsub(/\*/, "[a-zA-Z0-9_*-]+", pattern)
			pattern = "(^|[^a-z_.])" pattern "($|[^a-z0-9_])"
			split("", seen); real = ""; made = ""
			for (k = 1; k <= m; k++) {
				if (text[k] !~ pattern || file[k] in seen) continue
				seen[file[k]] = 1
				if (real ~ /,/) continue # two are enough
				if (file[k] ~ /^vm\//) real = real (real ? ", " : "") "VM: " file[k]
				else if (file[k] ~ /^lab\//) real = real (real ? ", " : "") (scope[i] == "run" ? "sockets: " : "veth: ") file[k]
				else if (made == "") made = (file[k] ~ /exchange/ ? "played exchange only: " : scope[i] == "run" ? "unit: " : "recorded tree only: ") file[k]
			}
			print names[i], real ? real : made
		}
	}' "$work/names" "$work/lines" >"$work/places"

{
	echo "$begin"
	echo '| entry | where it is proved |'
	echo '|---|---|'
	awk -F '\t' '{ print "| `" $1 "` | " $2 " |" }' "$work/places"
	echo "$end"
} >"$work/table"
readme=tests/README.md
if [ "${1:-}" = --write ]; then
	awk -v b="$begin" -v e="$end" -v t="$work/table" '
		$0 == b { while ((getline line <t) > 0) print line; skip = 1; done = 1 }
		!skip
		$0 == e { skip = 0 }
		END { if (!done) { while ((getline line <t) > 0) print line } }' $readme >"$work/readme"
	cat "$work/readme" >$readme
fi
while IFS=$'\t' read -r name where; do
	if [ -z "$where" ]; then
		not_ok "proofs: no test names $name"
	fi
done <"$work/places"
[ $failed = 1 ] || ok "proofs: each of $(wc -l <"$work/names") entries is named by a test"

# pairs of entry and file, as they are and as the table has them
awk -F '\t' '{ n = split($2, part, ", "); for (i = 1; i <= n; i++) { sub(/.*: /, "", part[i]); print $1 "\t" part[i] } }' \
	"$work/places" | sort -u >"$work/true"
sed -n "\|^$begin\$|,\|^$end\$|p" $readme | sed -nE 's/^\| `([^`]+)` \| (.*) \|$/\1\t\2/p' >"$work/told"
awk -F '\t' '{ n = split($2, part, ", "); for (i = 1; i <= n; i++) { sub(/.*: /, "", part[i]); print $1 "\t" part[i] } }' \
	"$work/told" | sort -u >"$work/claimed"
wrong=$(comm -13 "$work/true" "$work/claimed" | tr '\t\n' ' ;')
missing=$(comm -3 <(cut -f 1 "$work/names" | sort -u) <(cut -f 1 "$work/told" | sort -u) | tr -d '\t' | tr '\n' ' ')
if [ -z "$wrong$missing" ]; then
	ok "proofs: the table in $readme has every entry, and is true"
else
	not_ok "proofs: the table in $readme (tests/proofs.sh --write)" "missing or unknown: $missing; not named there: $wrong"
fi
done_testing
