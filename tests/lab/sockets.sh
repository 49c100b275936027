#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each socket option of the catalogue is searched over real sockets in the lab: every sample works,
# and what the kernel gave is kept beside what was asked.
. "$(dirname "$0")/common.sh"
need_root sockets
cat >"$work/sockets.yaml" <<S
tunesweep: 1
name: sockets
hosts: {sender: {via: lab}, receiver: {via: lab}}
link: {delay: 1ms, rate: 500Mbit/s}
test: {type: tcp_stream, from: sender, to: receiver, duration: 50ms}
tunables:
  - {set: socket.send_buffer, choices: [64KiB, 512KiB]}
  - {set: socket.receive_buffer, choices: [64KiB, 512KiB]}
  - {set: socket.message_size, choices: [4KiB, 128KiB]}
  - {set: socket.receive_size, choices: [4KiB, 128KiB]}
  - {set: socket.nodelay, choices: [on, off]}
  - {set: socket.cork, choices: [on, off]}
  - {set: socket.notsent_lowat, choices: [16KiB, 1MiB]}
  - {set: socket.busy_poll, choices: [0, 20us]}
  - {set: socket.pacing_rate, choices: [100Mbit/s, 300Mbit/s]}
  - {set: socket.receive_lowat, choices: [1, 8KiB]}
  - {set: socket.ring, choices: [1, 16]}
search: {algorithm: sobol, samples: 12, seed: 1}
proof: {pairs: 0}
S
status "a sweep over every socket option" 0 "$tunesweep" run "$work/sockets.yaml" -o "$work/run" --store "$work/s.db"
json "every sample works" "$work/run/result.json" '.samples == 12 and .failed == 0'
json "each option is a dimension" "$work/run/result.json" \
	'[.best.values | keys[] | select(startswith("socket."))] | length == 11'
"$tunesweep" report "$(jq -r .run "$work/run/result.json")" --store "$work/s.db" --format json >"$work/run.json"
# The kernel doubles what is asked, within net.core.wmem_max and rmem_max.
double() { # double END OPTION LIMIT: of every sample in which the option was set
	json "$1's $2 is told as the kernel gave it" "$work/run.json" \
		'[.trials[] | (.values | to_entries[] | select(.key | startswith("socket." + $option)) | .value) as $asked
		| select($asked > 1) | .samples[].detail[$side].effective[$option] == 2 * ([$asked, $limit] | min)] | length > 5 and all' \
		--arg side "$1" --arg option "$2" --argjson limit "$(cat "/proc/sys/net/core/$3")"
}
double sender send_buffer wmem_max
double receiver receive_buffer rmem_max
done_testing
