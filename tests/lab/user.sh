#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An ordinary user on one host, with and without a run folder: what is asked and measured without
# any privilege works, and what cannot says what to set.
. "$(dirname "$0")/common.sh"
need_root user
command -v setpriv >/dev/null || skip_all user "no setpriv"

uid=54321 # nobody has logged in under it: no /run/user/UID
ns_a=tst-$$-user
ip netns add "$ns_a" && ip -n "$ns_a" link set lo up || exit 1
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
check "and no sample failed" jq -e '.failed == 0 and .samples > 0' "$work/out1/result.json"

if [ -e /run/user/$uid ]; then
	echo "ok user without a run folder # SKIP there is /run/user/$uid"
	exit $failed
fi
status "status without a run folder" 0 as_user "$work/tunesweep" status
contains "says that nothing is applied" "$work/out" "nothing is applied"
status "rollback without a run folder" 0 as_user "$work/tunesweep" rollback
status "a run without one fails" 3 as_user "$work/tunesweep" run "$work/socket.yaml" -o "$work/out2"
contains "and says what to set" "$work/err" "set XDG_RUNTIME_DIR"
exit $failed
