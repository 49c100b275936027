#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The doctor on this machine and on the hosts of a spec, and who else sets what a sweep sets. A file
# in /etc/sysctl.d is shown to it in a mount namespace of its own.
. "$(dirname "$0")/common.sh"
need_root doctor
spec() { # spec FILE: a lab sweep over one sysctl that others set, too
	cat >"$1" <<S
tunesweep: 1
name: doctor
hosts: {sender: {via: lab}, receiver: {via: lab}}
link: {delay: 1ms, rate: 500Mbit/s}
test: {type: tcp_stream, from: sender, to: receiver, duration: 100ms}
tunables:
  - {set: net.ipv4.tcp_wmem, field: max, host: sender, range: [64KiB, 16MiB], scale: log}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: receiver, choices: [on, off]}
search: {algorithm: sobol, samples: 2}
proof: {pairs: 0}
S
}
# with_rival COMMAND...: /etc/sysctl.d holds one file that sets what the spec sweeps
mkdir -p "$work/sysctl.d"
echo 'net.ipv4.tcp_wmem = 4096 16384 4194304' >"$work/sysctl.d/77-rival.conf"
with_rival() {
	unshare -m sh -c 'mount --bind "$1" /etc/sysctl.d || exit 99; shift; exec "$@"' sh "$work/sysctl.d" "$@"
}
spec "$work/doctor.yaml"

"$tunesweep" doctor --samples 0 --json >"$work/out" 2>"$work/err"
rc=$?
check "this machine is examined, fit or not ($rc)" test $rc = 0 -o $rc = 1
json "as JSON that says which checks were made" "$work/out" \
	'(.hosts.here.checked | length) >= 17 and .noise == null and (.fit | type) == "boolean"'
json "each finding has its cost and its mending" "$work/out" \
	'[.hosts.here.findings[] | (.cost | length) > 5 and (.mend | length) > 5 and (.level == "problem" or .level == "note")] | all'
check "the status says the same as .fit" test "$(jq .fit "$work/out")" = "$([ $rc = 0 ] && echo true || echo false)"
status "a device that is not there" 3 "$tunesweep" doctor --samples 0 --device none7
contains "is named" "$work/err" "there is no device none7"
status "a spec that is not there" 2 "$tunesweep" doctor "$work/none.yaml"

"$tunesweep" doctor "$work/doctor.yaml" --samples 5 --json >"$work/out" 2>"$work/err"
json "the hosts of a spec, and the noise of its test" "$work/out" \
	'(.hosts | keys) == ["receiver", "sender"] and .noise.samples == 5 and .noise.throughput > 1e6
	and .noise.score_percent >= 0 and .noise.smallest_gain_percent >= 0'
json "the rival is not there yet" "$work/out" '[.rivals[] | select(.who | contains("77-rival"))] == []'
"$tunesweep" doctor "$work/doctor.yaml" --samples 2 >"$work/out" 2>"$work/err"
contains "of two samples no spread is told" "$work/out" "fewer than 3 good ones"

if with_rival true; then
	with_rival "$tunesweep" doctor "$work/doctor.yaml" --samples 0 --json >"$work/out" 2>"$work/err"
	json "a rival is named with what it sets" "$work/out" \
		'[.rivals[] | select(.who | contains("77-rival"))] == [{"host": "sender", "who": "/etc/sysctl.d/77-rival.conf", "sets": ["net.ipv4.tcp_wmem"]}]'
	json "and is a finding of every host" "$work/out" '[.hosts[].findings[] | select(.check == "owners" and
		(.found | contains("77-rival.conf sets net.ipv4.tcp_wmem")))] | length == 2'
	with_rival "$tunesweep" doctor "$work/doctor.yaml" --samples 3 >"$work/out" 2>"$work/err"
	contains "in words, too" "$work/out" "sender: /etc/sysctl.d/77-rival.conf sets what this spec sets: net.ipv4.tcp_wmem"
	contains "with the noise" "$work/out" "noise: 3 samples of the same, 0 failed; one differs by"
	status "a sweep starts all the same" 0 with_rival "$tunesweep" run "$work/doctor.yaml" -o "$work/run"
	contains "and tells who else sets what it sweeps" "$work/err" \
		"sender: /etc/sysctl.d/77-rival.conf sets net.ipv4.tcp_wmem, too"
else
	skip "doctor: rivals" "no bind mounts here"
fi

"$tunesweep" doctor --samples 0 >"$work/out" 2>"$work/err"
rc=$?
check "the last line in words says what the status says ($rc)" test "$(tail -n 1 "$work/out" | cut -c 1-3)" = "$([ $rc = 0 ] && echo fit || echo not)"
check "each finding has three lines" awk '/^  (problem|note) / { n++ } /^          costs: ./ { c++ } /^          mend:  ./ { m++ }
	/^here: [0-9]+ checks, [0-9]+ findings$/ { told = $4 } END { exit !(n == told && c == n && m == n) }' "$work/out"
printf 'tunesweep: 1\ntest: {engine: simulated, surface: flat}\ntunables: [{set: param.x, range: [0, 9], type: int, default: 1}]\n' >"$work/nobody.yaml"
status "a spec without hosts" 2 "$tunesweep" doctor "$work/nobody.yaml"
contains "has nobody to examine" "$work/err" "names no hosts"
# A test that cannot succeed: nothing can be told apart then.
make_namespaces || { not_ok doctor "cannot make namespaces"; exit 1; }
sed "s|^hosts: .*|hosts: {sender: {via: \"netns:$ns_a\"}, receiver: {via: \"netns:$ns_b\", address: 203.0.113.9}}|; /^link: /d" \
	"$work/doctor.yaml" >"$work/fails.yaml"
status "a test that never succeeds is not fit to measure" 1 "$tunesweep" doctor "$work/fails.yaml" --samples 2
contains "and why" "$work/out" "noise: not one of 2 samples succeeded: "
done_testing
