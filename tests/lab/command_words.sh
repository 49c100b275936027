#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What commands are told in one word too few or too many, and the files that they write: export-runs -o,
# init --to, hosts and roles of profile commands, import from standard input. No privilege is needed.
# Usage: BUILD=build tests/lab/command_words.sh
. "$(dirname "$0")/common.sh"
store=(--store "$work/results.db")
cat >"$work/flat.yaml" <<END
tunesweep: 1
name: flat
test: {engine: simulated, surface: flat, noise: 1%}
tunables: [{set: param.x, range: [0, 99], type: int, default: 1}]
search: {samples: 12, seed: 1}
proof: {pairs: 4}
END
status "a sweep" 0 "$tunesweep" run "$work/flat.yaml" -o "$work/run" "${store[@]}"

# export-runs -o
for format in csv jsonl prometheus; do
	status "export-runs -o as $format" 0 "$tunesweep" export-runs --format $format -o "$work/runs.$format" "${store[@]}"
	same "says nothing" "$(cat "$work/out" "$work/err")" ""
	check "and is what is printed otherwise" cmp "$work/runs.$format" <("$tunesweep" export-runs --format $format "${store[@]}")
done
cp "$work/runs.csv" "$work/before.csv"
status "a format that there is not" 2 "$tunesweep" export-runs --format xml -o "$work/runs.csv" "${store[@]}"
contains "is answered with those there are" "$work/err" "csv, json, jsonl or prometheus"
check "and leaves the file that was there" cmp "$work/before.csv" "$work/runs.csv"
same "and nothing beside it" "$(find "$work" -name '*.part')" ""
status "a folder that is not there" 3 "$tunesweep" export-runs -o "$work/none/runs.csv" "${store[@]}"
contains "is named" "$work/err" "cannot write $work/none/runs.csv"
# What stands in the place and is no file is not replaced, also for root.
mkdir "$work/folder.csv"
mkfifo "$work/pipe"
ln -s "$work/pipe" "$work/to-pipe"
ln -s nowhere "$work/to-nowhere"
printf 'tunesweep_profile: 1\nname: one\nsettings: [{set: net.ipv4.tcp_wmem, field: max, value: 8MiB}]\n' >"$work/one.yaml"
for place in folder.csv pipe to-pipe to-nowhere; do
	for words in export-runs "report latest" "capture $work/one.yaml"; do
		# shellcheck disable=SC2086
		status "$words -o $place" 3 "$tunesweep" $words -o "$work/$place" "${store[@]}"
		contains "is refused by its name" "$work/err" "cannot write $work/$place: it is "
	done
done
check "the pipe is one" test -p "$work/pipe" -a -L "$work/to-pipe" -a -d "$work/folder.csv" -a -L "$work/to-nowhere"
ln -s runs.csv "$work/to-file"
: >"$work/runs.csv"
status "a link to a file" 0 "$tunesweep" export-runs -o "$work/to-file" "${store[@]}"
check "stays one, and the file is written" test -L "$work/to-file" -a -s "$work/runs.csv"
same "nothing lies beside them" "$(find "$work" -name '*.part' -o -name '*.new*')" ""

# init --to
status "init --to a host" 0 "$tunesweep" init --to 127.0.0.1
contains "reaches it by ssh, at its address" "$work/out" 'receiver: {via: [ssh, "127.0.0.1"], address: "127.0.0.1"}'
contains "has the device of the route" "$work/out" "# Device: lo, MTU "
contains "and what the link may lose for a moment only as a remark" "$work/out" "  # - {set: link.mtu, host: sender, device: auto"
check "with the longer search of real hosts" grep -q "^search: .*samples: 60, time: 30min" "$work/out"
check "and no lab" sh -c "! grep -q 'via: lab' '$work/out'"
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	status "a host of IPv6" 0 "$tunesweep" init --to ::1
	contains "is reached likewise" "$work/out" 'receiver: {via: [ssh, "::1"], address: "::1"}'
	contains "over its device" "$work/out" "# Device: lo, MTU "
fi
status "a host without an address" 3 "$tunesweep" init --to no-such-host.invalid
contains "is named" "$work/err" "--to no-such-host.invalid: "
status "a folder that is not there" 3 "$tunesweep" init -o "$work/none/first.yaml"
contains "is named, too" "$work/err" "$work/none/first.yaml: "

# hosts of a profile
cat >"$work/two.yaml" <<END
tunesweep_profile: 1
name: two
settings:
  - {set: net.ipv4.tcp_wmem, field: max, host: sender, value: 8MiB}
  - {set: net.ipv4.tcp_rmem, field: max, host: receiver, value: 8MiB}
END
refused() { # WORDS SENTENCE: of verify with these --host
	local words=() w
	for w in $1; do words+=(--host "${w//+/ }"); done
	status "verify --host $1" 2 "$tunesweep" verify "$work/two.yaml" "${words[@]}"
	contains "is told why" "$work/err" "$2"
}
status "two hosts and no word of where" 2 "$tunesweep" verify "$work/two.yaml"
contains "is asked for it" "$work/err" "the profile is for 2 hosts: say which is where"
refused "sender" "write NAME=VIA"
refused "=local" "write NAME=VIA"
refused "sender=" "nothing after the equals sign"
refused "sender=lab" "a lab lives only while a sweep runs"
refused "sender=netns:" "not the name of a network namespace"
refused "sender=netns:../x" "not the name of a network namespace"
refused "sender=local sender=local" "is given twice"
refused "reciever=local" "nearest: receiver"
refused "sender=ssh$(printf '+%s' {1..32})" "more than 32 words"
refused "$(printf 'h%s=local ' {1..9})" "more than 8 times"
status "a role that is empty" 2 "$tunesweep" verify throughput:
contains "is wanted" "$work/err" "a role is wanted behind the colon"
status "a role that is too long" 2 "$tunesweep" verify "throughput:$(printf 'x%.0s' {1..60})"
contains "is called so" "$work/err" "the role's name is too long"
status "a role after eight hosts" 2 "$tunesweep" verify throughput:sender --host={a,b,c,d,e,f,g,h}=local
contains "is one too many" "$work/err" "more than 8 times"
status "a profile that is nowhere" 2 "$tunesweep" verify no-such-profile
contains "is named" "$work/err" "no-such-profile"

# import from standard input
data=$(dirname "$0")/../data/ipoib-kernel-timeline.csv
from_pipe() { "$tunesweep" import - "$@" --store "$work/in.db" <"$data"; }
"$tunesweep" import - --store "$work/in.db" <"$data" >"$work/out" 2>"$work/err"
same "import of standard input" $? 0
check "is called imported" test "$("$tunesweep" results --store "$work/in.db" --json | jq -r '.[].name')" = imported
from_pipe --name given --label "variant=patch 1" --json >"$work/out"
json "or as it was given, told as JSON" "$work/out" '.samples > 3 and (.run | length) > 5'
for label in variant =x variant= ; do
	status "a label '$label'" 2 "$tunesweep" import "$data" --label "$label" --store "$work/in.db"
	contains "is not one" "$work/err" "--label takes NAME=VALUE"
done
status "a file that is not there" 3 "$tunesweep" import "$work/none.csv" --store "$work/in.db"
contains "is named" "$work/err" "cannot read $work/none.csv"
status "a folder" 3 "$tunesweep" import "$work" --store "$work/in.db"
contains "cannot be read" "$work/err" "cannot read $work: "
same "only two were taken" 2 "$("$tunesweep" results --store "$work/in.db" --json | jq length)"

# help
status "help of a command" 0 "$tunesweep" help check
check "is what --help prints" cmp "$work/out" <("$tunesweep" check --help)
status "help without one" 0 "$tunesweep" help
check "lists all" sh -c "[ \"\$('$tunesweep' help --words | wc -l)\" = \"\$(grep -c '^  [a-z]' '$work/out')\" ]"
status "help of none" 2 "$tunesweep" help chek
contains "says that there is none" "$work/err" "there is no command 'chek'"
for word in $("$tunesweep" help --words); do
	check "$word has a page with its options" sh -c "'$tunesweep' help --mdoc $word | grep -q '^\.Fl \\\\-json\|^\.It Fl \\\\-json'"
done
check "completion's words are the options' own" sh -c "'$tunesweep' help --words check | grep -qx -- '--boot-sd F'"
done_testing
