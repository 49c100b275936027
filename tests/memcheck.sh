#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests under valgrind's memcheck: a line of TAP a program. Called by make valgrind. With SLOW=1
# tests leave out what only counts or times (tests/unit/slow.h).
# Usage: tests/memcheck.sh PROGRAM...
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
command -v valgrind >/dev/null || skip_all valgrind "valgrind is not installed"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export SLOW=1 CMOCKA_MESSAGE_OUTPUT=TAP
# not NAME REASON: a program that valgrind cannot run
not() {
	case " ${programs[*]} " in
	*"/$1 "*) skip "valgrind: $1" "$2" ;;
	esac
	mapfile -t programs < <(printf '%s\n' "${programs[@]}" | grep -v "/$1\$")
}
programs=("$@")
not test_confine 'valgrind has no seccomp(2), and dies of an exec that a filter refuses'
# one PROGRAM: what it says goes to $out
one() {
	timeout -k 10 900 valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --num-callers=30 \
		--suppressions=tests/memcheck.supp "$1" >"$out/${1##*/}" 2>&1 </dev/null
	echo $? >"$out/${1##*/}.status"
}
export -f one
export out
printf '%s\n' "${programs[@]}" | xargs -P "${JOBS:-2}" -I{} bash -c 'one {}'
for t in "${programs[@]}"; do
	name=${t##*/}
	# a child that nobody asks how it ended may have findings of its own
	if [ "$(cat "$out/$name.status")" = 0 ] && ! grep -qE '^==[0-9]+==' "$out/$name"; then
		ok "valgrind: $name"
	else
		not_ok "valgrind: $name"
		grep -E '^==|not ok' "$out/$name" | head -n 40
	fi
done
done_testing
