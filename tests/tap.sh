# SPDX-License-Identifier: GPL-3.0-or-later
# TAP lines of the scripts, counted: the plan at the end says how many there must be, so that a
# script that ends before its end, or tells to nobody, is seen (tap.awk). Sourced, not run.
# shellcheck shell=bash
failed=0 told=0

ok() {
	told=$((told + 1))
	echo "ok $1"
}
not_ok() {
	told=$((told + 1)) failed=1
	echo "not ok $1${2:+ - $2}"
}
skip() { ok "$1 # SKIP $2"; }
# The last thing that a script does.
done_testing() {
	echo "1..$told"
	exit "$failed"
}
skip_all() {
	skip "$1" "$2"
	done_testing
}
