#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a check is held against: the best of the store, a profile, several runs, and each that is none; and
# what it says where it cannot tell. A benchmark whose level the script sets; no privilege is needed.
# Usage: BUILD=build tests/lab/check_references.sh
. "$(dirname "$0")/common.sh"
cat >"$work/bench" <<'END'
#!/bin/bash
# A fifth more from x = 3 on, at the level that a file says, with 1 % of noise.
read -r line
x=$(sed 's/.*"x": *\([0-9]*\).*/\1/' <<<"$line")
awk -v x="$x" -v level="$(cat "$(dirname "$0")/level")" -v noise=$RANDOM 'BEGIN {
	t = level * (x >= 3 ? 1.2 : 1) * (1 + 0.01 * (noise / 32768 - 0.5))
	printf "{\"throughput\": %.0f, \"service_demand\": %.6f}\n", t, 5e8 / t }'
END
spec_of_bench
store=(--store "$work/results.db")
echo 1000000000 >"$work/level"

# Nothing is proved yet.
sed 's/range: \[1, 4\]/range: [1, 2]/; s/name: check/name: level/' "$work/spec.yaml" >"$work/level.yaml"
status "a sweep that proves nothing" 0 "$tunesweep" run "$work/level.yaml" -o "$work/level.d" "${store[@]}"
status "there is no best then" 129 "$tunesweep" check --against best "${store[@]}"
contains "which is said" "$work/err" "no run in the store has proved a best configuration"

# The best, by its name and by its profile.
status "a sweep that proves a best" 0 "$tunesweep" run "$work/spec.yaml" -o "$work/best.d" "${store[@]}"
json "with what gains" "$work/best.d/result.json" '.recommended == "best" and .best.values."param.x" >= 3'
run=$(jq -r .run "$work/best.d/result.json")
status "the best is as good as it was" 0 "$tunesweep" check --against best "${store[@]}" --json
json "held against its run" "$work/out" '.verdict == "good" and .against == $run' --arg run "$run"
status "so is the profile" 0 "$tunesweep" check --against "$work/best.d/best.yaml" "${store[@]}" --json
json "of the same run" "$work/out" '.verdict == "good" and .against == $run' --arg run "$run"
status "the baseline is another level" 0 "$tunesweep" check --against "$run" "${store[@]}" --json
json "and as good as that was" "$work/out" '.percent | fabs < 3'
echo 900000000 >"$work/level"
status "a tenth less is a regression of the best" 1 "$tunesweep" check --against best "${store[@]}"
contains "with its size" "$work/out" "regression: throughput -"
status "by what a kilobyte costs, too" 1 "$tunesweep" check --against best --metric service_demand "${store[@]}"
contains "where more is worse" "$work/out" "regression: service_demand +"
echo 1000000000 >"$work/level"

# Recorded, and several together.
status "a recorded reference" 0 "$tunesweep" check "$work/spec.yaml" "${store[@]}"
check "says its name and how to use it" grep -qE '^recorded: [^,]+, 8 samples; check --against it' "$work/out"
first=$(sed 's/recorded: \([^,]*\),.*/\1/' "$work/out")
status "another" 0 "$tunesweep" check "$work/spec.yaml" --samples 4 "${store[@]}" --json
json "as JSON" "$work/out" '.samples == 4'
second=$(jq -r .run "$work/out")
status "both together" 0 "$tunesweep" check --against "$first,$second" "${store[@]}" --json
json "are one reference of twelve samples" "$work/out" '.samples[0] == 12 and .against == $both' --arg both "$first,$second"
status "a run and none" 129 "$tunesweep" check --against "$first,nothing" "${store[@]}"

# What is none.
printf 'tunesweep_profile: 1\nname: by-hand\nsettings: [{set: net.ipv4.tcp_wmem, field: max, value: 8MiB}]\n' >"$work/hand.yaml"
status "a profile that nobody has measured" 129 "$tunesweep" check --against "$work/hand.yaml" "${store[@]}"
contains "names no run" "$work/err" "the profile names no run as its evidence"
imported=$("$tunesweep" import "$(dirname "$0")/../data/ipoib-kernel-timeline.csv" "${store[@]}" --json | jq -r .run)
status "an imported run" 129 "$tunesweep" check --against "$imported" "${store[@]}"
contains "cannot be measured again" "$work/err" "was imported: there is no spec"
for words in "--threshold 0%" "--threshold 100%" "--boot-sd 0%" "--boot-sd 2" "--boots 0" "--samples 0" "--metric latency"; do
	# shellcheck disable=SC2086
	status "check $words" 129 "$tunesweep" check --against best $words "${store[@]}"
	contains "names the option" "$work/err" "${words%% *}"
done
status "a reference and a spec" 129 "$tunesweep" check "$work/spec.yaml" --against best "${store[@]}"

# Where it cannot tell.
status "one boot of each, and how boots differ is given" 125 "$tunesweep" check --against "$first" --boot-sd 20% --boots 1 "${store[@]}"
check "says what is missing" grep -qE "No number of boots here decides it|more are needed" "$work/out"
rm "$work/bench"
status "a benchmark that is gone is no regression" 129 "$tunesweep" check --against "$first" "${store[@]}"
contains "but named" "$work/err" "cannot be found or run"
done_testing
