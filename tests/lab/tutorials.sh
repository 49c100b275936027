#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tutorials as a reader follows them: every block of commands (```sh) of each, in order, in an empty
# folder, with the program on the path. What is shown and not run is marked ```console there.
# Usage: BUILD=build tests/lab/tutorials.sh [NAME...]
. "$(dirname "$0")/common.sh"
tree=$(cd "$(dirname "$0")/../.." && pwd)
need_root tutorials
command -v git >/dev/null || skip_all tutorials "there is no git"
export PATH=$build:$PATH HOME=$work GIT_CONFIG_NOSYSTEM=1

# follow NAME: the blocks as one script that stops at the first command which fails
follow() {
	local name=$1
	mkdir "$work/$name"
	awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$tree/sweep/tutorials/$name.md" >"$work/$name.sh"
	check "$name: there are commands" test -s "$work/$name.sh"
	(cd "$work/$name" && exec bash -e -o pipefail "$work/$name.sh") >"$work/$name.out" 2>&1 </dev/null
	local rc=$?
	if [ $rc = 0 ]; then
		ok "$name: every command of it works"
	else
		not_ok "$name: every command of it works" "status $rc: $(tail -n 5 "$work/$name.out" | tr '\n' ' ')"
	fi
}
[ $# -gt 0 ] || set -- "$tree"/sweep/tutorials/*.md
for name; do
	name=$(basename "$name" .md)
	follow "$name"
	case $name in # what the text promises
	tcp-rmem-table)
		json "$name: sixteen configurations and the defaults" "$work/$name/table/result.json" \
			'.samples == 17 and .restored'
		check "$name: a row each" test "$(wc -l <"$work/$name/table.csv")" -ge 17
		;;
	own-benchmark)
		json "$name: larger blocks are proved better" "$work/$name/blocks/result.json" \
			'.gain.significant and .best.values."param.block" > 512'
		contains "$name: best.yaml has it as advice" "$work/$name/blocks/best.yaml" "param.block"
		;;
	bisect) contains "$name: the commit is named" "$work/$name/bisect.txt" "change 8" ;;
	nightly) contains "$name: the second night compares" "$work/$name/nights/summary.txt" "not due" ;;
	esac
done
done_testing
