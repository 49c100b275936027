#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How much of the code the tests run: lines and branches of each layer, and the files that are least
# run. Ends with 1 if a layer has fewer than 90 % of its lines, or if a test fails; what the tests say is
# kept whole in BUILD/coverage.log. Called by make coverage.
# Usage: BUILD=build/coverage tests/coverage.sh TEST...     none: counts what has been run
# The emulated machine's test, where it is among them, comes last: its counters replace those here.
set -u
cd "$(dirname "$0")/.." || exit 1
WANTED=90
failed=0
if [ $# -gt 0 ]; then
	find "$BUILD" -name '*.gcda' -delete
	# Each object's counters, made now, so that those without privilege may add theirs.
	"$BUILD/tunesweep" --version >/dev/null && "$BUILD/tunesweep-agent" --version >/dev/null || exit 1
	"$BUILD/tests/lab/stream_driver" >/dev/null 2>&1 </dev/null # says how it is used
	find "$BUILD" -name '*.gcda' -exec chmod a+rw {} +
	tests/run.sh "$@" 2>&1 | tee "$BUILD/coverage.log" | grep -vE '^skip | passed +0 failed '
	[ "${PIPESTATUS[0]}" = 0 ] || failed=1
fi
gcovr -j 2 --root . --object-directory "$BUILD" --exclude-unreachable-branches --filter sweep/ \
	--filter results/ --filter profiles/ --json-summary "$BUILD/coverage.json" >/dev/null || exit 1
jq -r --argjson wanted "$WANTED" '
	def share(a; b): if b == 0 then 100 else 1000 * a / b | floor / 10 end;
	def sum(f): map(f) | add;
	[.files[] | . + {layer: (.filename | split("/")[0])}] | (group_by(.layer) | map({layer: .[0].layer,
		lines: share(sum(.line_covered); sum(.line_total)),
		branches: share(sum(.branch_covered); sum(.branch_total))})) as $layers |
	($layers[] | "\(.layer): \(.lines) % of the lines, \(.branches) % of the branches"),
	"least of its lines:", (sort_by(.line_percent)[:15][] | "  \(.filename) \(.line_percent) %"),
	($layers[] | select(.lines < $wanted) | "not ok \(.layer): fewer than \($wanted) % of its lines")' \
	"$BUILD/coverage.json" | tee "$BUILD/coverage.txt"
! grep -q '^not ok' "$BUILD/coverage.txt" && [ $failed = 0 ]
