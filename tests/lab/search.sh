#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sweeps over the simulated engine as a user meets them: conditions and forbidden combinations, a
# warm start, another profile to be proved against, and a proof over several boots. The boots are
# played by another boot id, mounted over the kernel's (root; else skipped).
. "$(dirname "$0")/common.sh"
store=$work/results.db

cat >"$work/s.yaml" <<'SPEC'
tunesweep: 1
name: conditions
test: {engine: simulated, surface: ridge, noise: 1%}
tunables:
  - {set: param.wmem, range: [1, 65536], type: int, scale: log, default: 64}
  - {set: param.rmem, range: [1, 65536], type: int, scale: log, default: 64}
  - {set: param.mode, choices: [a, b], default: a}
  - {set: param.extra, range: [0, 9], default: 5, when: {set: param.mode, is: b}}
forbid: ["param.wmem > 1000 and param.mode == a"]
search: {samples: 30, seed: 3}
SPEC
status "a dry run" 0 "$tunesweep" run "$work/s.yaml" --dry-run
contains "shows the condition" "$work/out" "only while param.mode is b"
contains "and what is forbidden" "$work/out" "never: param.wmem > 1000 and param.mode == a"
status "the sweep" 0 "$tunesweep" run "$work/s.yaml" -o "$work/one" --store "$store" -q
json "gains something" "$work/one/result.json" '.recommended == "best" and .gain.interval[0] > 0'
"$tunesweep" report latest --store "$store" --format json >"$work/run.json" 2>/dev/null
json "and measured nothing that is forbidden or without its condition" "$work/run.json" '
	[.trials[].values | select((."param.wmem" > 1000 and ."param.mode" == "a") or
	 (."param.extra" != 5 and ."param.mode" == "a"))] | length == 0'

sed 's/surface: ridge/surface: flat/; s/name: conditions/name: flat/' "$work/s.yaml" >"$work/flat.yaml"
status "where nothing matters" 0 "$tunesweep" run "$work/flat.yaml" -o "$work/flat" --store "$store" -q
json "the baseline is recommended" "$work/flat/result.json" \
	'.recommended == "baseline" and (.gain.significant // false | not) and .status == "complete"'

sed 's/name: flat/name: beyond/; /^test:/a objective: {maximize: throughput, require: [throughput >= 900000 Gbit/s]}' \
	"$work/flat.yaml" >"$work/beyond.yaml"
status "where nothing is what the objective requires" 3 "$tunesweep" run "$work/beyond.yaml" -o "$work/beyond" --store "$store" -q
contains "that is said" "$work/out" "Nothing that was tried, the baseline included, is what the objective requires"
json "and nothing is recommended" "$work/beyond/result.json" '.best == null and .recommended == "baseline"'

status "a warm start" 0 "$tunesweep" run "$work/s.yaml" -o "$work/two" --store "$store" --warm --samples 8
contains "says what it knows" "$work/err" "warm start: 30 samples of 1 earlier runs"
json "and is as good after 8" "$work/two/result.json" '.gain.percent > 50'

cat >"$work/hand.yaml" <<'PROFILE'
tunesweep_profile: 1
name: by-hand
settings: []
application:
  - {set: param.wmem, value: 300}
PROFILE
status "against a profile" 0 "$tunesweep" run "$work/s.yaml" -o "$work/three" --store "$store" --against "$work/hand.yaml"
contains "the winner is proved too" "$work/out" "against by-hand"
json "with its interval" "$work/three/result.json" \
	'.gain.against | .profile == "by-hand" and .pairs > 5 and (.interval[0] <= .percent)'
sed -i 's/300/64/' "$work/hand.yaml"
status "a profile that changes nothing here" 2 "$tunesweep" run "$work/s.yaml" --store "$store" --against "$work/hand.yaml"
contains "is refused" "$work/err" "it sets nothing of this space"

# other_boot ID COMMAND...: the command as after a reboot
other_boot() {
	echo "$1" >"$work/boot_id"
	shift
	unshare -m bash -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$work/boot_id" "$@"
}
if ! other_boot 00000000-0000-4000-8000-000000000001 true 2>/dev/null; then
	skip "several boots" "no mount over the boot id"
	done_testing
fi
boots=("$tunesweep" run "$work/s.yaml" -o "$work/boots" --store "$work/boots.db" --boots 3)
status "the first of three boots" 0 "${boots[@]}"
contains "says how it goes on" "$work/err" "1 of 3 boots: after a reboot"
json "is in the result" "$work/boots/result.json" \
	'.boots | .wanted == 3 and (.each | length) == 1 and .percent == null'
status "the same boot again" 1 "${boots[@]}"
contains "is not measured" "$work/out" "waits for another boot (1 of 3"
status "the second boot" 0 other_boot 00000000-0000-4000-8000-000000000002 "${boots[@]}"
contains "is told" "$work/out" "Gain over 2 boots of 3"
status "the third, as JSON" 0 other_boot 00000000-0000-4000-8000-000000000003 "${boots[@]}" --json
json "has the gain over boots" "$work/out" '.boots | (.each | length) == 3 and .significant and .interval[0] > 20 and
	.interval[0] < .percent and .percent < .interval[1]'
contains "so has the profile" "$work/boots/best.yaml" "boots: 3"
"$tunesweep" report latest --store "$work/boots.db" --format json >"$work/boots.json"
json "the pairs of all boots are in the store" "$work/boots.json" '[.trials[].labels.boot? // empty] | unique | length == 2'
status "after the third a new sweep begins" 0 "${boots[@]}"
contains "which waits again" "$work/err" "1 of 3 boots"
rm -rf "$work"
done_testing
