#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An ordinary user on one host, with and without a run folder: what is asked and measured without
# any privilege works, and what cannot says what to set.
. "$(dirname "$0")/common.sh"
need_root user
command -v setpriv >/dev/null || skip_all user "no setpriv"

uid=54321 # nobody has logged in under it: no /run/user/UID
ns_a=tst-$$-user
add_netns "$ns_a" && ip -n "$ns_a" link set lo up || exit 1
chmod 755 "$work"
install -d -o $uid "$work/run" "$work/state" "$work/out1" "$work/out2"
cp "$tunesweep" "$tunesweep-agent" "$work/" # where the user may go
as_user() {
	(cd / && exec ip netns exec "$ns_a" setpriv --reuid $uid --regid $uid --clear-groups \
		env -u XDG_RUNTIME_DIR "$@")
}
cat >"$work/socket.yaml" <<'SPEC'
tunesweep: 1
name: sockets-only
hosts:
  sender: {via: local}
  receiver: {via: local}
test: {engine: builtin, type: tcp_stream, from: sender, to: receiver, duration: 200ms}
objective: {maximize: throughput}
tunables: [{set: socket.message_size, range: [4KiB, 1MiB], scale: log}]
search: {samples: 2}
proof: {pairs: 2}
SPEC

status "socket options are swept" 0 as_user XDG_RUNTIME_DIR="$work/run" \
	"$work/tunesweep" run "$work/socket.yaml" -o "$work/out1"
json "and no sample failed" "$work/out1/result.json" '.failed == 0 and .samples > 0'

# The lab in a user namespace: two hosts, a link, sysctls that are set and put back, and no root.
cat >"$work/lab.yaml" <<'SPEC'
tunesweep: 1
name: lab-of-a-user
hosts: {sender: {via: lab}, receiver: {via: lab}}
link: {delay: 5ms, rate: 500Mbit/s}
test: {engine: builtin, type: tcp_stream, from: sender, to: receiver, duration: 300ms}
objective: {maximize: throughput}
tunables:
  - {set: net.ipv4.tcp_wmem, field: max, host: sender, range: [64KiB, 16MiB], scale: log}
  - {set: net.ipv4.tcp_rmem, field: max, host: receiver, range: [256KiB, 16MiB], scale: log}
  - {set: net.ipv4.tcp_congestion_control, host: sender, choices: available}
  - {set: net.core.rmem_max, host: receiver, range: [212992, 16MiB], scale: log, optional: true}
search: {samples: 4, algorithm: sobol}
proof: {pairs: 0}
SPEC
install -d -o $uid "$work/out3"
if as_user unshare -Urn true 2>/dev/null; then
	status "a lab without root" 0 as_user XDG_RUNTIME_DIR="$work/run" \
		"$work/tunesweep" run "$work/lab.yaml" -o "$work/out3"
	contains "what wants root is named" "$work/err" "net.core.rmem_max"
	json "no sample failed, and all was put back" "$work/out3/result.json" \
		'.failed == 0 and .samples > 0 and .restored == true'
	ip netns list >"$work/names" || not_ok "the names of namespaces" "cannot be listed"
	lacks "no namespace of it is seen outside" "$work/names" '^ts-'
	sed 's/receiver: {via: lab}/receiver: {via: lab}, other: {via: local}/' "$work/lab.yaml" >"$work/mixed.yaml"
	status "beside it no other host" 3 as_user XDG_RUNTIME_DIR="$work/run" \
		"$work/tunesweep" run "$work/mixed.yaml" -o "$work/out3"
else
	skip "a lab without root" "user namespaces are not allowed here"
fi

if [ -e /run/user/$uid ]; then
	skip "user without a run folder" "there is /run/user/$uid"
	done_testing
fi
status "status without a run folder" 0 as_user "$work/tunesweep" status
contains "says that nothing is applied" "$work/out" "nothing is applied"
status "rollback without a run folder" 0 as_user "$work/tunesweep" rollback
status "a run without one fails" 3 as_user "$work/tunesweep" run "$work/socket.yaml" -o "$work/out2"
contains "and says what to set" "$work/err" "set XDG_RUNTIME_DIR"
done_testing
