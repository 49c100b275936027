#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The command line as a user meets it: usage errors, exit statuses, specs that are refused, and
# sweeps without any privilege (engines command and simulated).
. "$(dirname "$0")/common.sh"

status "no command is a usage error" 2 "$tunesweep"
status "an unknown command is one too" 2 "$tunesweep" runn
contains "and names the nearest" "$work/err" "nearest: 'run'"
status "help for one" 2 "$tunesweep" help runn
contains "names it, too" "$work/err" "nearest: 'run'"
status "with --json" 2 "$tunesweep" runn --json
json "it is said as JSON too" "$work/out" '.status == 2 and (.error | contains("runn"))'
status "a pattern that matches nothing" 1 "$tunesweep" list zzz
contains "is said" "$work/err" "'zzz'"
full() { "$tunesweep" "$@" >/dev/full; }
status "standard output that is full" 3 full list
contains "is said" "$work/err" "standard output could not be written"
status "an option before the command" 2 "$tunesweep" -v list
contains "is said" "$work/err" "'-v' comes before the command"
status "a wrong word" 2 "$tunesweep" test --type tcp_straem
contains "is answered with the nearest and with all" "$work/err" "nearest: tcp_stream (tcp_stream, tcp_maerts"
check "show of a name that there is not tells the nearest" grep -q 'net.ipv4.tcp_rmem$' <("$tunesweep" show net.ipv4.tcp_rmen)
"$tunesweep" list 2>"$work/err" | head -n 1 >"$work/out"
same "a reader that has enough is no error" "$(cat "$work/err")" ""
status "a spec that is there already" 3 "$tunesweep" init -o "$work/out"
contains "is not overwritten" "$work/err" "is there already"
: >"$work/nothing.db"
status "an empty store" 3 "$tunesweep" results --store "$work/nothing.db"
contains "is called empty" "$work/err" "nothing.db is empty"
status "a first spec as JSON" 0 "$tunesweep" init --json
json "is a text in an object" "$work/out" '.spec | startswith("# A first sweep")'
status "or written" 0 "$tunesweep" init --json -o "$work/first.yaml"
json "with its path" "$work/out" '.written == $path' --arg path "$work/first.yaml"
status "the loopback is an interface" 0 "$tunesweep" init --device lo
check "of which only what is known is told" grep -qE '^# Device: lo, MTU [1-9][0-9]*$' "$work/out"
status "what is no interface is refused" 3 "$tunesweep" init --device no-such0
status "an unknown option" 2 "$tunesweep" run --sample 3 x.yaml
contains "and names the nearest option" "$work/err" "--samples"
status "a missing argument" 2 "$tunesweep" run
status "help" 0 "$tunesweep" run --help
contains "help lists options" "$work/out" "--dry-run"
for columns in 40 80 100; do
	for command in '' $("$tunesweep" help --words); do # shellcheck disable=SC2086
		COLUMNS=$columns "$tunesweep" $command --help | awk -v most="$columns" '/^Usage/ || length <= most { next } { print }'
	done >"$work/out"
	same "no line of help is longer than $columns columns" "$(cat "$work/out")" ""
done
status "a short name of a tunable" 2 "$tunesweep" show tcp_rmem
contains "is answered with the whole one" "$work/err" "did you mean 'net.ipv4.tcp_rmem'"
contains "numbers have their unit" <("$tunesweep" show net.ipv4.tcp_rmem) "(1 to 2147483647 bytes)"
status "a device that is not there" 3 "$tunesweep" list --device no-such0
same "is said once" "$(wc -l <"$work/err")" 1
status "a slip of the pen for local" 2 "$tunesweep" apply --host x=lcal throughput
contains "is no command" "$work/err" "did you mean local"
printf 'tunesweep_profile: 1\nname: x\nsettings:\n  - {set: net.ipv4.tcp_mtu_probing, value: 1}\n' >"$work/p.yaml"
status "a role of a file" 2 "$tunesweep" apply "$work/p.yaml:sender"
contains "is told how it is said" "$work/err" "--host ROLE=local"
printf '#!/bin/sh\necho Welcome\ncat >/dev/null\n' >"$work/banner"
chmod +x "$work/banner"
status "a host behind a command that says something of its own" 3 "$tunesweep" test --to "$work/banner x" -l 0.1
contains "is asked for that" "$work/err" "does something else write there first"
status "version" 0 "$tunesweep" --version
status "a spec that is not there" 2 "$tunesweep" run "$work/none.yaml"
printf 'tunesweep: 1\nname: x\nnmae: y\n' >"$work/bad.yaml"
status "an unknown key is refused" 2 "$tunesweep" run "$work/bad.yaml"
contains "with its place and the nearest key" "$work/err" "bad.yaml:3:1"
status "a bad number on the command line" 2 "$tunesweep" run --samples 010 "$work/bad.yaml"

cat >"$work/command.yaml" <<SPEC
tunesweep: 1
name: own-benchmark
test:
  engine: command
  command: [awk, 'match(\$0, /"x": *[0-9]+/) { x = substr(\$0, RSTART, RLENGTH); sub(/.*: */, "", x); print "{\"score\": " 1000 - (x - 37) * (x - 37) "}" }']
objective: {maximize: score}
tunables:
  - {set: param.x, range: [0, 100], type: int, default: 10}
search: {algorithm: auto, samples: 40, seed: 1}
proof: {pairs: 8}
SPEC
status "an own benchmark is swept" 0 "$tunesweep" run "$work/command.yaml" -o "$work/own" --json
json "result.json is JSON" "$work/own/result.json" .
x=$(jq '.best.values."param.x"' "$work/own/result.json")
check "its optimum is found: param.x = $x" test "$x" -ge 34 -a "$x" -le 40
check "best.yaml is written" grep -q "param.x" "$work/own/best.yaml"
check "report.html is written" grep -qi "<html" "$work/own/report.html"
status "results lists it" 0 "$tunesweep" results
contains "by its name" "$work/out" own-benchmark
status "report shows it" 0 "$tunesweep" report latest
status "report as JSON" 0 "$tunesweep" report latest --json
json "which parses" "$work/out" .run

cat >"$work/fails.yaml" <<SPEC
tunesweep: 1
name: always-fails
test: {engine: command, command: ["false"]}
objective: {maximize: score}
tunables: [{set: param.x, range: [0, 9], type: int, default: 1}]
search: {samples: 4}
SPEC
status "all samples failing is status 3" 3 "$tunesweep" run "$work/fails.yaml" -o "$work/fails"
json "and a result says so" "$work/fails/result.json" '.status == "failed" and .failed == .samples and .gain == null'

cat >"$work/sim.yaml" <<SPEC
tunesweep: 1
name: simulated
test: {engine: simulated, surface: flat, noise: 3%}
tunables: [{set: param.a, range: [0.0, 1.0], type: float, default: 0.5}]
search: {samples: 30, seed: 4}
proof: {pairs: 20}
SPEC
status "where nothing matters" 0 "$tunesweep" run "$work/sim.yaml" -o "$work/sim"
contains "no gain is claimed" "$work/out" "keep the defaults"
status "nor" 0 "$tunesweep" results
check "in the list" grep -qE ' simulated .* none proved$' "$work/out"
"$tunesweep" run "$work/sim.yaml" -o "$work/closed" <&- >&- 2>&-
same "with closed standard streams" $? 3
status "the store is still one" 0 "$tunesweep" results --json
json "and has the run" "$work/out" '[.[] | select(.name == "simulated")] | length == 2'
# progress on a narrow terminal, and on one that cannot go back
script -qec "stty cols 40; TERM=xterm $tunesweep run $work/sim.yaml -o $work/narrow" /dev/null </dev/null >"$work/tty"
check "no line of progress is longer than the terminal" awk -F '\r' '/search [0-9]/ {
	for (i = 1; i <= NF; i++) { sub(/^\033\[K/, "", $i); n += length($i) > 0; if (length($i) > 39) exit 1 } } END { exit n < 10 }' "$work/tty"
script -qec "TERM=dumb $tunesweep run $work/sim.yaml -o $work/dumb" /dev/null </dev/null >"$work/tty"
check "a dumb one gets lines" test "$(grep -c '^search ' "$work/tty")" -ge 10
check "and no escapes" test "$(grep -c "$(printf '\033')" "$work/tty")" = 0
status "export-runs as JSON" 0 "$tunesweep" export-runs --name simulated --json
check "is one array" jq -es 'length == 1 and (.[0] | length >= 30 and .[0].name == "simulated")' "$work/out"
status "of nothing" 0 "$tunesweep" export-runs --name no-such-run --json
check "an empty one" jq -es '. == [[]]' "$work/out"
# Each command, also when it refuses, writes one JSON value, and nothing that JSON does not know
# (jq takes NaN for a number, python's strict reader does not).
one_json() {
	"$tunesweep" "$@" --json >"$work/out" 2>"$work/err" </dev/null
	python3 -c 'import json, sys
def no(word): raise ValueError(word)
json.loads(sys.stdin.buffer.read().decode("utf-8", "strict"), parse_constant=no)' <"$work/out"
}
for command in $("$tunesweep" help --words); do
	check "JSON of $command with an option that is not there" one_json "$command" --no-such-option
done
printf 'kernel,throughput_Mbps\n6.1,900\n6.2,950\n' >"$work/table.csv"
status "a table is imported" 0 "$tunesweep" import "$work/table.csv" --store "$work/table.db"
status "and shown" 0 "$tunesweep" report latest --store "$work/table.db"
contains "as what it is" "$work/out" "These results were imported"
status "a report into a folder that is not there" 3 "$tunesweep" report latest --store "$work/table.db" -o "$work/no/r.txt"
contains "is refused by the name that was given" "$work/err" "cannot write $work/no/r.txt:"
mapfile -t runs < <("$tunesweep" results --json | jq -r '.[].run')
check "there are runs that found, failed and proved nothing" test "${#runs[@]}" -ge 3
for run in "${runs[@]}"; do
	check "JSON of report $run" one_json report "$run"
done
for words in results timeline "timeline --by date" export-runs "compare ${runs[0]} ${runs[1]}" list status init \
	"show net.ipv4.tcp_rmem" "show no.such.name" capture "check --against ${runs[0]} --samples 2" \
	"test -l 0.05 --warmup off -P 3" "test -l 0.05 -i 2,2 -t udp_stream" "test --to nowhere.invalid -l 0.05"; do
	# shellcheck disable=SC2086
	check "JSON of $words" one_json $words
done
status "a CPU that is not there" 3 "$tunesweep" test -T 1000,1000
contains "is named" "$work/err" "there is no CPU 1000"

# resume: a benchmark that counts its calls is killed in the night, and goes on where it was
cat >"$work/count.sh" <<'B'
#!/bin/sh
read -r line
echo "$line" >>"$1"
sleep 0.02
x=$(echo "$line" | sed 's/.*"x": *\([0-9]*\).*/\1/')
echo "{\"score\": $((10000 - (x - 61) * (x - 61)))}"
B
chmod +x "$work/count.sh"
cat >"$work/night.yaml" <<SPEC
tunesweep: 1
name: night
test: {engine: command, command: ["$work/count.sh", "$work/calls"]}
objective: {maximize: score}
tunables: [{set: param.x, range: [0, 1000], type: int, default: 500}]
search: {algorithm: sobol, samples: 60, seed: 5}
proof: {pairs: 6}
SPEC
status "nothing to resume is a usage error" 2 "$tunesweep" run "$work/night.yaml" --resume --store "$work/new.db"
status "a store without a run" 0 "$tunesweep" results --store "$work/new.db"
contains "tells what makes one" "$work/err" "tunesweep run SPEC.yaml"
# what the night could not write is known in the evening
status "a dry run where a file stands in place of the folder" 3 "$tunesweep" run "$work/night.yaml" --dry-run -o "$work/new.db"
contains "says so" "$work/err" "Not a directory"
status "and where the store is none" 3 "$tunesweep" run "$work/night.yaml" --dry-run --store "$work/night.yaml"
contains "too" "$work/err" "not a store of tunesweep"
status "where all is well" 0 "$tunesweep" run "$work/night.yaml" --dry-run -o "$work/a/b" --store "$work/c/d.db"
check "it makes nothing" test ! -e "$work/a" -a ! -e "$work/c"
"$tunesweep" run "$work/night.yaml" -o "$work/night" >/dev/null 2>&1 &
main=$!
enough_calls() { [ "$(wc -l <"$work/calls" 2>/dev/null || echo 0)" -ge 15 ]; }
check "the night begins" wait_for 20 enough_calls
status "a second run into its folder" 3 "$tunesweep" run "$work/sim.yaml" -o "$work/night"
contains "is kept out" "$work/err" "another run is writing to this folder"
kill -KILL $main
wait $main 2>/dev/null
sleep 0.3
before=$(wc -l <"$work/calls")
sed 's/1000/2000/' "$work/night.yaml" >"$work/changed.yaml"
status "a changed space is refused" 2 "$tunesweep" run "$work/changed.yaml" --resume
contains "with the difference" "$work/err" "line 5"
status "resume" 0 "$tunesweep" run "$work/night.yaml" -o "$work/night" --resume
contains "says how much is there" "$work/err" "samples are there"
asked=$(jq '.samples' "$work/night/result.json")
total=$(wc -l <"$work/calls")
pairs=$(jq '.gain.pairs // 0' "$work/night/result.json")
# at most the one sample under way when it was killed is measured again
check "nothing is measured twice: $total calls for $asked samples and $pairs pairs, $before before" \
	test $((total - asked - 2 * pairs)) -ge 0 -a $((total - asked - 2 * pairs)) -le 1
status "the run is complete" 0 "$tunesweep" results --json
json "and one" "$work/out" '[.[] | select(.name == "night")] | length == 1 and .[0].status == "complete"'

cat >"$work/slow.yaml" <<SPEC
tunesweep: 1
name: slow
test: {engine: command, command: [sleep, "30"]}
objective: {maximize: score}
tunables: [{set: param.x, range: [0, 9], type: int, default: 1}]
search: {samples: 4}
SPEC
"$tunesweep" run "$work/slow.yaml" -o "$work/slow" >"$work/out" 2>"$work/err" &
main=$!
sleep 0.5
kill -INT $main
start=$SECONDS
wait $main
same "Ctrl-C during a sample gives 130" $? 130
contains "and how to go on" "$work/err" "run --resume goes on"
check "and at once" test $((SECONDS - start)) -le 3
done_testing
