#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tests' own tools: each helper of the lab scripts fails on what it must not be content with (a
# file that is empty or missing, JSON that is cut or twice there, a program that is not there), and
# the runner counts as failed what does not tell all that it has planned.
# Usage: BUILD=build tests/harness.sh
cd "$(dirname "$0")/.." || exit 1
. tests/lab/common.sh

# refuses NAME HELPER...: in a shell of its own, with work and counts of its own, it says "not ok"
refuses() {
	local name=$1 said
	shift
	said=$( # shellcheck disable=SC2030
		mkdir -p "$work/inner"
		work=$work/inner
		"$@" 2>&1
	)
	if grep -q '^not ok x' <<<"$said" && ! grep -q '^ok' <<<"$said"; then
		ok "$name is refused"
	else
		not_ok "$name is refused" "$* said: $said"
	fi
}
: >"$work/empty"
echo '{"a": 1, "b": [true, false], "c": []}' >"$work/one"
cat "$work/one" "$work/one" >"$work/two"
head -c 20 "$work/one" >"$work/cut"
echo 'sixty lines of text' >"$work/text"

json "json: what is true" "$work/one" '.a == 1'
json "json: options of jq" "$work/one" '.a == $n' --argjson n 1
refuses "json: a file without a value" json x "$work/empty" .
refuses "json: a file that is not there" json x "$work/none" .
refuses "json: a value that is cut" json x "$work/cut" .
refuses "json: two values" json x "$work/two" .
refuses "json: what is false" json x "$work/one" '.a == 2'
refuses "json: what is null" json x "$work/one" .none
refuses "json: true and false" json x "$work/one" '.b[]'
refuses "json: nothing at all" json x "$work/one" '.c[]'
refuses "json: what is no filter" json x "$work/one" '.a =='
mkdir "$work/few" && ln -s "$(command -v head)" "$(command -v tr)" "$work/few"
without_jq() { PATH=$work/../few json x "$work/../one" .; }
refuses "json: without jq" without_jq
lacks "lacks: what is not there" "$work/text" '^seventy'
refuses "lacks: what is there" lacks x "$work/text" '^sixty'
refuses "lacks: a file that is not there" lacks x "$work/none" x
refuses "lacks: what is no pattern" lacks x "$work/text" '('
contains "contains: a text" "$work/text" "lines of"
refuses "contains: another text" contains x "$work/text" "lines to"
refuses "contains: a file that is not there" contains x "$work/none" ""
check "check: a command that succeeds" true
refuses "check: a command that fails" check x false
refuses "check: a program that is not there" check x no-such-program
status "status: the one that is wanted" 7 sh -c 'exit 7'
refuses "status: another" status x 7 sh -c 'exit 3'
refuses "status: a program that is not there" status x 3 no-such-program
refuses "same: what differs" same x a b
mkdir "$work/run" && : >"$work/run/a.journal"
refuses "no_journals: a journal" check x no_journals "$work/run"
refuses "no_journals: no folder" check x no_journals "$work/none"

# counted TEXT STATUS: the last line of run.sh for a program that prints this and ends so
counted() {
	printf '#!/bin/sh\ncat <<"T"\n%s\nT\nexit %d\n' "$1" "$2" >"$work/program"
	chmod 755 "$work/program"
	tests/run.sh "$work/program" >"$work/out"
	local rc=$?
	echo "$(tail -n 1 "$work/out")$([ $rc = 0 ] || echo ", status $rc")"
}
same "runner: two results of two" "$(counted $'ok a\nok b # SKIP no b\n1..2' 0)" "1 passed, 0 failed, 1 skipped"
same "runner: a plan in front, as cmocka's" "$(counted $'1..2\nok 1 - a\nnot ok 2 # SKIP b' 0)" "1 passed, 0 failed, 1 skipped"
same "runner: a failure" "$(counted $'ok a\nnot ok b\n1..2' 1)" "1 passed, 1 failed, 0 skipped, status 1"
same "runner: a failure that the status hides" "$(counted $'not ok b\n1..1' 0)" "0 passed, 1 failed, 0 skipped, status 1"
same "runner: it ends well, and before its end" "$(counted $'ok a' 0)" "1 passed, 1 failed, 0 skipped, status 1"
same "runner: fewer results than planned" "$(counted $'1..2\nok a' 0)" "1 passed, 1 failed, 0 skipped, status 1"
same "runner: more results than planned" "$(counted $'1..1\nok a\nok b' 0)" "2 passed, 1 failed, 0 skipped, status 1"
same "runner: it dies" "$(counted $'1..2\nok a' 139)" "1 passed, 1 failed, 0 skipped, status 1"
same "runner: it dies after the last" "$(counted $'1..1\nok a' 1)" "1 passed, 1 failed, 0 skipped, status 1"
same "runner: nothing" "$(counted '' 0)" "0 passed, 1 failed, 0 skipped, status 1"
tests/run.sh "$work/not-built" >"$work/out" 2>&1
contains "runner: a program that is not there" "$work/out" "0 passed, 1 failed, 0 skipped"

# A runner that is told to end takes along what it runs.
cat >"$work/long" <<'T'
#!/bin/bash
trap 'echo cleaned >"$0.end"' EXIT
sleep 60 &
echo $! >"$0.pid"
wait
T
chmod 755 "$work/long"
for signal in TERM INT; do
	rm -f "$work"/long.*
	env --default-signal=INT tests/run.sh "$work/long" >"$work/out" 2>&1 &
	runner=$!
	check "runner: a long test has begun" wait_for 10 test -s "$work/long.pid"
	kill -$signal $runner
	wait $runner
	same "runner: SIG$signal ends it" $? 130
	check "runner: and the test, in good order" test -s "$work/long.end"
	kill "$(cat "$work/long.pid")" 2>/dev/null # unless the signal has reached it, too
done
done_testing
