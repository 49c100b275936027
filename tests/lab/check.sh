#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check, timeline, compare and export-runs on the command line: the exit statuses that git bisect run
# reads, with a benchmark whose level the script sets. No privilege is needed.
# Usage: BUILD=build tests/lab/check.sh
. "$(dirname "$0")/common.sh"

cat >"$work/bench" <<'END'
#!/bin/bash
# A level out of a file with 1 % of noise.
cat >/dev/null
awk -v level="$(cat "$(dirname "$0")/level")" -v noise=$RANDOM 'BEGIN {
	printf "{\"throughput\": %.0f, \"service_demand\": 0.5}\n", level * (1 + 0.01 * (noise / 32768 - 0.5)) }'
END
spec_of_bench
store=(--store "$work/results.db")
echo 1000000000 >"$work/level"
check "a sweep" "$tunesweep" run "$work/spec.yaml" -o "$work/run" "${store[@]}"
status "its first boot" 0 "$tunesweep" check "$work/spec.yaml" "${store[@]}" --json
reference=$(jq -r .run "$work/out")

status "unchanged is good" 0 "$tunesweep" check --against "$reference" "${store[@]}"
contains "and says so" "$work/out" "good: throughput"
echo 860000000 >"$work/level"
status "14 % less is a regression" 1 "$tunesweep" check --against "$reference" "${store[@]}"
contains "and says how much" "$work/out" "regression: throughput -1"
status "as JSON" 1 "$tunesweep" check --against "$reference" "${store[@]}" --json
json "that parses" "$work/out" '.verdict == "regression" and .percent < -12'
status "one sample cannot tell" 125 "$tunesweep" check --against "$reference" --samples 1 "${store[@]}"
contains "and says how many more" "$work/out" "more samples are needed"
status "with reboots that move it by 10 %, one boot cannot tell" 125 \
	"$tunesweep" check --against "$reference" --boot-sd 10% --threshold 10% --boots 9 "${store[@]}"
contains "and says how many more boots, or why none helps" "$work/out" "boot"
status "with quiet reboots it can" 1 "$tunesweep" check --against "$reference" --boot-sd 1% --threshold 10% "${store[@]}"
echo "exit 1" >"$work/bench"
status "a benchmark that fails says nothing" 125 "$tunesweep" check --against "$reference" "${store[@]}"
contains "and says so" "$work/out" "No sample was valid"
status "no such run" 129 "$tunesweep" check --against nothing "${store[@]}"
status "no reference" 129 "$tunesweep" check "${store[@]}"
status "an unknown option" 129 "$tunesweep" check --agianst x "${store[@]}"
status "a bare number as threshold" 129 "$tunesweep" check --against "$reference" --threshold 2 "${store[@]}"
status "no store" 129 "$tunesweep" check --against x --store /proc/none
status "a profile that is not there" 129 "$tunesweep" check --against "$work/none.yaml" "${store[@]}"

# A table from outside: all or nothing.
data=$(dirname "$0")/../data/ipoib-kernel-timeline.csv
status "import" 0 "$tunesweep" import "$data" --store "$work/kernels.db"
status "timeline" 0 "$tunesweep" timeline --store "$work/kernels.db"
same "the drop is marked, and nothing before it" "2.6.12-rc5" "$(awk '/<<<$/ { print $1; exit }' "$work/out")"
status "variants" 0 "$tunesweep" timeline --variants --store "$work/kernels.db"
contains "what the patch regains" "$work/out" "113 %"
sed '10s/,in-kernel//' "$data" >"$work/bad.csv"
status "a row that lacks a field" 2 "$tunesweep" import "$work/bad.csv" --store "$work/kernels.db"
contains "with its place" "$work/err" "bad.csv:10:"
same "and nothing is imported" 1 "$("$tunesweep" results --store "$work/kernels.db" --json | jq length)"
status "comparison of checks" 0 "$tunesweep" compare "$reference" "$reference" "${store[@]}"
contains "of equals" "$work/out" "no difference larger than"

for format in csv jsonl prometheus; do
	status "export-runs $format" 0 "$tunesweep" export-runs --format "$format" "${store[@]}"
	cp "$work/out" "$work/export.$format"
done
check "JSON lines parse" jq -es 'length > 20' "$work/export.jsonl"
check "CSV has all columns in each row" awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' "$work/export.csv"
check "Prometheus' text is of metrics and remarks" awk '!/^#/ && !/^[a-z_]+\{[^}]*\} [-+0-9.eE]+$/ { exit 1 }' "$work/export.prometheus"
done_testing
