#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests under valgrind's memcheck: a line of TAP a program. Called by make valgrind.
# Usage: tests/memcheck.sh PROGRAM...
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
command -v valgrind >/dev/null || skip_all valgrind "valgrind is not installed"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# one PROGRAM: what it says goes to $out
one() {
	valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --num-callers=30 \
		--suppressions=tests/memcheck.supp "$1" >"$out/${1##*/}" 2>&1 </dev/null
	echo $? >"$out/${1##*/}.status"
}
export -f one
export out
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I{} bash -c 'one {}'
for t in "$@"; do
	name=${t##*/}
	if [ "$(cat "$out/$name.status")" = 0 ]; then
		ok "valgrind: $name"
	else
		not_ok "valgrind: $name"
		grep -E '^==|not ok' "$out/$name" | head -n 40
	fi
done
done_testing
