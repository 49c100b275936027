#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tunesweep nightly on the command line: three nights of a benchmark whose level the script sets, with
# a regression on the third; a night cut short that goes on in the next; guards; the units. The clock
# is the script's own (--now). No privilege is needed.
# Usage: BUILD=build tests/lab/nightly.sh
. "$(dirname "$0")/common.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
export TZ=UTC

cat >"$work/bench" <<'END'
#!/bin/bash
# Best at x = 30, at the level that a file says, with 1 % of noise.
read -r line
x=$(sed 's/.*"x": *\([0-9]*\).*/\1/' <<<"$line")
dir=$(dirname "$0")
echo "$x" >>"$dir/calls"
sleep "$(cat "$dir/delay" 2>/dev/null || echo 0)"
awk -v level="$(cat "$dir/level")" -v x="$x" -v noise=$RANDOM 'BEGIN {
	t = level * (1 - (x - 30) * (x - 30) / 2000) * (1 + 0.01 * (noise / 32768 - 0.5))
	printf "{\"throughput\": %.0f, \"service_demand\": %.6f}\n", t, 5e8 / t }'
END
chmod +x "$work/bench"
cat >"$work/night.yaml" <<END
tunesweep: 1
name: night
test: {engine: command, command: [$work/bench]}
objective: {maximize: throughput}
tunables:
  - {set: param.x, type: int, range: [1, 40], default: 10}
search: {algorithm: sobol, samples: 12, time: 60s, seed: 1}
proof: {pairs: 12, time: 60s}
END
cat >"$work/nightly.yaml" <<END
tunesweep_nightly: 1
state: state
window: {from: "23:00", to: "05:00"}
in_use: {inhibit: inhibit}
doctor: off
compare: {samples: 8, threshold: 5%}
keep: {days: 36500}
write: {text: summary.txt, json: summary.json, prometheus: summary.prom}
sweeps:
  - {spec: night.yaml, every: 7}
  - {spec: none.yaml, when: {hostname: "no-such-host"}}
END
night() { # DAY [OPTION...]
	local day=$1
	shift
	"$tunesweep" nightly "$work/nightly.yaml" --now "2031-03-${day}T02:00:00" --store "$work/results.db" "$@"
}
touch "$work/calls"
calls() { wc -l <"$work/calls"; }

echo 1000000000 >"$work/level"
status "nightly: by day nothing is done" 0 "$tunesweep" nightly "$work/nightly.yaml" --now 2031-03-10T12:00:00 \
	--store "$work/results.db"
contains "and it says so" "$work/out" "outside the window"
same "nothing was measured" "$(calls)" 0
touch "$work/inhibit"
status "an inhibit file" 0 night 10
contains "keeps the night away" "$work/out" "in use"
same "nothing was measured then" "$(calls)" 0
rm "$work/inhibit"

status "the first night" 0 night 10
contains "sweeps" "$work/out" "sweep night on"
contains "and finds the best" "$work/out" "the best so far"
check "whose profile is kept by kind of hardware" sh -c "ls $work/state/*/night.yaml"
check "with its settings" grep -q param.x "$work"/state/*/night.yaml
json "the summary as JSON" "$work/summary.json" '.status == "complete" and .alarms == 0 and .sweeps[0].new_best'
check "as Prometheus' text" awk '!/^#/ && !/^[a-z_]+(\{[^}]*\})? [-+0-9.eE]+$/ { exit 1 }' "$work/summary.prom"
before=$(calls)
status "the second night" 0 night 11
check "sweeps nothing, for it is not due" grep -q "sweep night on .*: not due" "$work/out"
check "but measures baseline and best in turns: $(($(calls) - before)) calls" test $(($(calls) - before)) = 16
json "and compares both, the best for the first time" "$work/summary.json" \
	'([.comparisons[] | select(.change == "same")] | length == 2) and
	([.comparisons[] | select(.configuration == "best" and .verdict == "first night")] | length == 2)'

echo 860000000 >"$work/level"
status "14 % less on the third night is status 1" 1 night 12
contains "and named" "$work/out" "ALARM worse: throughput of night, baseline: -1"
contains "in the file, too" "$work/summary.txt" "ALARM worse: throughput of night, best: -1"
json "confirmed by a second measurement" "$work/summary.json" \
	'[.comparisons[] | select(.alarm and .again == "regression" and .metric == "throughput")] | length == 2'
contains "for Prometheus" "$work/summary.prom" 'configuration="best",metric="throughput"} 1'
cp "$work/summary.json" "$work/third.json"
status "it stays one the night after" 1 night 13
status "until it is accepted" 0 night 13 --accept
status "then it is the level" 0 night 14
cp "$work/summary.json" "$work/fifth.json"
jq '.host = "other" | .comparisons[].host = "other"' "$work/fifth.json" >"$work/other.json"
status "over a fleet" 1 "$tunesweep" nightly --fleet "$work/third.json" "$work/other.json"
contains "the machine is named" "$work/out" "on $(hostname)"
status "without alarms" 0 "$tunesweep" nightly --fleet "$work/other.json" --format json
json "as JSON" "$work/out" '.hosts == 1 and .alarms == 0'
status "what is no summary is refused" 2 "$tunesweep" nightly --fleet "$work/bench"
status "a configuration that is not there" 2 "$tunesweep" nightly "$work/none.yaml"

# A night that is too short: SIGINT as the window's end would send it, and the next one goes on.
echo 0.05 >"$work/delay"
before=$(calls)
"$tunesweep" nightly "$work/nightly.yaml" --now 2031-03-20T02:00:00 --store "$work/results.db" >"$work/out" 2>&1 &
main=$!
enough() { [ $(($(calls) - before)) -ge 24 ]; }
check "a sweep is under way" wait_for 240 enough
kill -INT $main
wait $main
same "an interrupted night is 130" $? 130
rm -f "$work/delay"
status "the sweep is kept" 0 "$tunesweep" results --store "$work/results.db" --json
json "as interrupted" "$work/out" '[.[] | select(.status == "interrupted")] | length == 1'
status "the next night" 0 night 21
json "resumes it" "$work/summary.json" '.sweeps[0].resumed and .sweeps[0].status == "complete"'
"$tunesweep" results --store "$work/results.db" --json >"$work/out"
json "and leaves nothing unfinished" "$work/out" \
	'[.[] | select(.status == "interrupted" or .status == "unfinished")] | length == 0'

# The window's end cuts a sweep by itself.
echo 1 >"$work/delay"
sed 's/name: night/name: slow/; s/samples: 12/samples: 1000/' "$work/night.yaml" >"$work/slow.yaml"
sed 's/night.yaml/slow.yaml/; s/samples: 8/samples: 4/' "$work/nightly.yaml" >"$work/short.yaml"
start=$SECONDS
status "a night that ends during a sweep" 0 "$tunesweep" nightly "$work/short.yaml" --now 2031-03-22T04:59:30 \
	--store "$work/results.db"
check "ends it: $((SECONDS - start)) s" test $((SECONDS - start)) -lt 60
json "in good order" "$work/summary.json" '.sweeps[0].status == "interrupted"'
rm -f "$work/delay"

if command -v systemd-analyze >/dev/null; then
	mkdir "$work/units"
	for unit in tunesweep-nightly.service tunesweep-nightly.timer; do
		sed "s|@BINDIR@|$build|" "$root/profiles/systemd/$unit" >"$work/units/$unit"
	done
	systemd-analyze verify "$work"/units/tunesweep-nightly.* >"$work/verify" 2>&1
	same "systemd-analyze has nothing to say of the units" "$(grep -i tunesweep "$work/verify")" ""
else
	skip "units" "no systemd-analyze here"
fi
done_testing
