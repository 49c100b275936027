#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A sweep that is killed again and again: SIGKILL at random moments of search and proof, --resume each
# time, until it is done. Then the store must hold what a run that nobody killed has left: the same
# samples of the same configurations in the same order, none of them twice, and the same result. No
# privilege is needed; lab/kill.sh looks at what is set on hosts meanwhile.
# Usage: BUILD=build tests/lab/resume.sh [KILLS [SEED]]
. "$(dirname "$0")/common.sh"
kills=${1:-24} seed=${2:-$RANDOM}
RANDOM=$seed
echo "# seed $seed"
touch "$work/calls"
cat >"$work/bench" <<'END'
#!/bin/bash
# Best at 3000 and b; the noise is that of the sample's number. Each call is noted when it ends.
read -r line
sleep 0.01
awk -v line="$line" 'function value(key, rest) {
	rest = substr(line, index(line, "\"" key "\":") + length(key) + 3)
	match(rest, /[-0-9a-z.]+/)
	return substr(rest, RSTART, RLENGTH)
}
BEGIN {
	srand(value("sample") * 7919)
	x = log(value("size") / 3000)
	t = 1e9 * exp(-x * x / 20) * (value("mode") == "b" ? 1.1 : 1) * (1 + 0.04 * (rand() - 0.5))
	printf "{\"throughput\": %.0f, \"service_demand\": 0.5}\n", t
}'
echo "$line" >>"$(dirname "$0")/calls"
END
chmod +x "$work/bench"
cat >"$work/s.yaml" <<SPEC
tunesweep: 1
name: killed
test: {engine: command, command: [$work/bench]}
objective: {maximize: throughput}
tunables:
  - {set: param.size, range: [1, 65536], type: int, scale: log, default: 64}
  - {set: param.mode, choices: [a, b, c], default: a}
search: {samples: 25, seed: 5}
proof: {pairs: 12}
SPEC
run() { # NAME [OPTION...]
	local name=$1
	shift
	"$tunesweep" run "$work/s.yaml" -q -o "$work/$name" --store "$work/$name.db" "$@" >"$work/out" 2>"$work/err" </dev/null
}
check "a run that nobody kills" run whole
# What was measured, in its order: configuration and numbers.
measured() {
	"$tunesweep" report latest --store "$work/$1.db" --format json 2>/dev/null |
		jq -c '[.trials[] | .values as $v | .phase as $p | .samples[] | {sample, $p, $v, score}] | sort_by(.sample) | map(del(.sample))'
}
count_calls() { wc -l 2>/dev/null <"$work/calls" || echo 0; }
further_or_over() { [ "$(count_calls)" -ge "$behind" ] || ! kill -0 "$pid" 2>/dev/null; }
sound() {
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
sys.exit(db.execute("pragma integrity_check").fetchall() != [("ok",)] or db.execute("pragma foreign_key_check").fetchall() != [])' "$work/killed.db"
}
mv "$work/calls" "$work/calls.whole"
touch "$work/calls"
kept=0 cut=0 phases='' broken=0 lost=0 done_early=0
for ((i = 0; i < kills; i++)); do
	resume=(--resume)
	[ -e "$work/killed.db" ] && [ "$("$tunesweep" results --store "$work/killed.db" --json | jq length)" != 0 ] || resume=()
	"$tunesweep" run "$work/s.yaml" -q -o "$work/killed" --store "$work/killed.db" "${resume[@]}" >"$work/out" 2>"$work/err" </dev/null &
	pid=$!
	# behind none to two more samples, and then at any moment
	behind=$(($(count_calls) + RANDOM % 3))
	wait_for 60 further_or_over
	sleep "0.0$((RANDOM % 4))$((RANDOM % 10))"
	if kill -KILL $pid 2>/dev/null; then cut=$((cut + 1)); fi
	wait $pid 2>/dev/null
	[ -e "$work/killed.db" ] || continue
	sound || broken=$((broken + 1))
	now=$(measured killed | jq length)
	[ "${now:-0}" -ge "$kept" ] || lost=$((lost + 1))
	kept=${now:-0} phases+=" $kept"
	if [ "$("$tunesweep" results --store "$work/killed.db" --json | jq -r '.[0].status')" = complete ]; then
		done_early=1
		break
	fi
done
check "$cut kills, behind$phases samples" test "$cut" -ge $((kills / 3))
same "the store was sound each time" $broken 0
same "and lost nothing" $lost 0
[ $done_early = 1 ] || check "the last resume comes to the end" run killed --resume
same "it is one run" "$("$tunesweep" results --store "$work/killed.db" --json | jq -c '[.[].status]')" '["complete"]'
measured whole >"$work/whole.json"
measured killed >"$work/killed.json"
check "the same was measured, and nothing twice: $(jq length "$work/killed.json") samples" cmp "$work/whole.json" "$work/killed.json"
most=$(($(jq length "$work/killed.json") + cut))
check "what was under way at a kill was measured again, and no more: $(wc -l <"$work/calls") calls" \
	test "$(wc -l <"$work/calls")" -le $most
result() { jq -c '[.samples, .failed, .baseline, .best, .gain, .recommended, .effects]' "$work/$1/result.json"; }
same "with the same result" "$(result killed)" "$(result whole)"
run killed --resume
same "what is complete is not resumed" $? 2
done_testing
