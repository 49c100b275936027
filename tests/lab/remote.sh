#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Hosts behind a command: ssh to an sshd of the test's own, on loopback in a namespace of its own with
# its own keys; the agent found there, named, or taken along; and each kind of cut (transport, agent,
# controller killed) after which the host must be at its baseline and the sweep can go on.
# Usage: BUILD=build tests/lab/remote.sh
. "$(dirname "$0")/common.sh"
need_root remote
sshd=$(command -v sshd || echo /usr/sbin/sshd)
[ -x "$sshd" ] || skip_all remote "there is no sshd (openssh-server)"
make_namespaces || { not_ok remote "cannot make namespaces"; exit 1; }
# Addresses that are the far host's first, and no way to it: a bridge's, which both hosts have, and
# one to which no route leads. Which one is right is the sender's routing to say.
ip -n "$ns_b" addr del 192.0.2.2/30 dev eth0
for address in 172.17.0.1/16 198.51.100.7/24 192.0.2.2/30; do ip -n "$ns_b" addr add $address dev eth0; done
ip -n "$ns_a" link add docker0 type bridge && ip -n "$ns_a" addr add 172.17.0.1/16 dev docker0 && ip -n "$ns_a" link set docker0 up

# An sshd in namespace b, reached from a; the far end of both tests is b.
ssh-keygen -q -t ed25519 -N '' -f "$work/host" && ssh-keygen -q -t ed25519 -N '' -f "$work/key"
cp "$work/key.pub" "$work/authorized"
chmod 755 "$work"
cat >"$work/sshd.conf" <<END
Port 2222
ListenAddress 192.0.2.2
HostKey $work/host
AuthorizedKeysFile $work/authorized
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
PidFile $work/sshd.pid
END
echo "[192.0.2.2]:2222 $(cut -d' ' -f1,2 "$work/host.pub")" >"$work/known"
cat >"$work/ssh" <<END
#!/bin/sh
# ssh from namespace a
exec ip netns exec $ns_a ssh -F none -p 2222 -i $work/key -o UserKnownHostsFile=$work/known -o BatchMode=yes -o ConnectTimeout=10 "\$@"
END
chmod 755 "$work/ssh"
made_dir=
[ -d /run/sshd ] || { mkdir -p /run/sshd && made_dir=1; }
# ip netns exec gives it a /sys of its namespace
ip netns exec "$ns_b" "$sshd" -D -f "$work/sshd.conf" -E "$work/sshd.log" &
sshd_pid=$!
trap 'cleanup; [ -z "$made_dir" ] || rmdir /run/sshd 2>/dev/null' EXIT
there() { "$work/ssh" 192.0.2.2 true 2>/dev/null; }
wait_for 20 there || { not_ok "sshd answers" "$(tail -3 "$work/sshd.log" | tr '\n' ' ')"; exit 1; }

spec() { # NAME SAMPLES AGENT-KEY
	cat <<SPEC
tunesweep: 1
name: $1
hosts:
  tx: {via: "netns:$ns_a"}
  rx: {via: [$work/ssh, 192.0.2.2]${3:-}}
test: {type: tcp_stream, from: tx, to: rx, duration: 50ms}
tunables:
  - {set: net.ipv4.tcp_rmem, field: max, host: rx, range: [1MiB, 64MiB], scale: log}
  - {set: net.ipv4.tcp_wmem, field: max, host: tx, range: [1MiB, 64MiB], scale: log}
search: {algorithm: sobol, samples: $2, time: 120s, seed: 1}
proof: {pairs: 0}
SPEC
}
before_a=$(snapshot "$ns_a") before_b=$(snapshot "$ns_b")
clean() { [ "$(snapshot "$ns_a")" = "$before_a" ] && [ "$(snapshot "$ns_b")" = "$before_b" ]; }
store=(--store "$work/results.db")
left_there() { ls -d /run/.tunesweep-* /dev/shm/.tunesweep-* /tmp/.tunesweep-* 2>/dev/null; }

# The agent beside this program, which env finds along its path over there.
spec found 6 >"$work/found.yaml"
status "ssh: a sweep" 0 "$tunesweep" run "$work/found.yaml" -o "$work/found" "${store[@]}"
json "of both hosts" "$work/found/result.json" '.samples == 6 and .failed == 0 and .restored
	and (.baseline.values | has("net.ipv4.tcp_rmem.max@rx"))'
check "over the address by which it is reached" clean
spec named 4 ", agent: $build/tunesweep-agent" >"$work/named.yaml"
status "ssh: the agent by its path" 0 "$tunesweep" run "$work/named.yaml" -o "$work/named" "${store[@]}"
spec missing 4 ", agent: /nowhere/tunesweep-agent" >"$work/missing.yaml"
status "ssh: an agent that is not there" 3 "$tunesweep" run "$work/missing.yaml" -o "$work/missing" "${store[@]}"
contains "is said, and what to do" "$work/err" "is /nowhere/tunesweep-agent there? ('agent:' names its path on that host, --push-agent"

if [ -s "$build/tunesweep-agent-static" ]; then
	# A host without an agent: this machine's build folder is hidden there.
	printf '#!/bin/sh\nmount -t tmpfs none %s && exec "$@"\n' "$build" >"$work/hide"
	printf '#!/bin/sh\nexec %s/ssh 192.0.2.2 unshare -m %s/hide "$@"\n' "$work" "$work" >"$work/bare"
	chmod 755 "$work/bare" "$work/hide"
	sed "s|\[$work/ssh, 192.0.2.2\]|[$work/bare]|; s/name: named/name: pushed/; s|, agent: [^}]*||" \
		"$work/named.yaml" >"$work/pushed.yaml"
	status "without an agent there" 3 "$tunesweep" run "$work/pushed.yaml" -o "$work/pushed" "${store[@]}"
	if [ -e "$build/tests/coverage.o" ]; then
		skip "the agent is taken along and works" "a build with counters cannot write them there"
	else
		status "the agent is taken along" 0 "$tunesweep" run "$work/pushed.yaml" -o "$work/pushed" --push-agent "${store[@]}"
		json "and works" "$work/pushed/result.json" '.samples == 4 and .failed == 0 and .restored'
	fi
	objdump -p "$build/tunesweep-agent-static" >"$work/static"
	lacks "it needs no libraries" "$work/static" 'NEEDED|INTERP'
	same "nothing of it is left there" "$(left_there)" ""
	cat >"$work/foreign" <<'END'
#!/bin/sh
mkdir -p "$(dirname "$0")/bin" && printf '#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo riscv64\n' >"$(dirname "$0")/bin/uname"
chmod 755 "$(dirname "$0")/bin/uname"
PATH=$(dirname "$0")/bin:$PATH exec "$@"
END
	chmod 755 "$work/foreign"
	sed "s|\[$work/bare\]|[$work/foreign]|; s/name: pushed/name: foreign/" "$work/pushed.yaml" >"$work/foreign.yaml"
	status "to a host of another architecture" 3 "$tunesweep" run "$work/foreign.yaml" -o "$work/foreign.d" --push-agent "${store[@]}"
	contains "it is not taken" "$work/err" "it is Linux-riscv64, the agent is for Linux-$(uname -m)"
else
	skip "the agent taken along" "no static agent in a sanitized build"
fi

# A night leaves alone what wants a far host that others use: here by traffic, which this machine's own
# interfaces do not see.
spec night 4 >"$work/night.yaml"
cat >"$work/nightly.yaml" <<END
tunesweep_nightly: 1
state: nights
in_use: {traffic: 20Mbit/s}
doctor: off
compare: {samples: 4}
sweeps: [{spec: night.yaml}]
END
"$work/ssh" 192.0.2.2 "cat >/dev/null" </dev/zero &
traffic=$!
busy() {
	local before
	before=$(ip netns exec "$ns_b" cat /sys/class/net/eth0/statistics/rx_bytes)
	sleep 0.2
	[ $(($(ip netns exec "$ns_b" cat /sys/class/net/eth0/statistics/rx_bytes) - before)) -gt 2000000 ]
}
check "there is traffic" wait_for 20 busy
status "a night" 0 "$tunesweep" nightly "$work/nightly.yaml" --json "${store[@]}"
json "does not measure a far host in use" "$work/out" \
	'.sweeps[0] | .status == "in use" and (.reason | test("^host rx is in use: traffic of"))'
for p in $(family $traffic); do kill "$p" 2>/dev/null; done
wait $traffic 2>/dev/null
status "when it is free" 0 "$tunesweep" nightly "$work/nightly.yaml" --json "${store[@]}"
json "it does" "$work/out" '.status == "complete" and .sweeps[0].status == "complete"'

# The cuts. A sweep that would take long; the victim is found once samples come in.
spec cut 100000 >"$work/cut.yaml"
samples() {
	"$tunesweep" results --store "$work/cut.db" --json 2>/dev/null | jq -r '[.[]? | .samples?] | add // 0' 2>/dev/null
}
under_way() { [ "$(samples)" -ge 3 ] 2>/dev/null; }
kids_named() { # PID NAME
	local p
	for p in $(family "$1"); do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$2" ] && echo "$p"
	done
}
cut() { # NAME WANTED-STATUS VICTIMS-FUNCTION
	rm -f "$work"/cut.db*
	"$tunesweep" run "$work/cut.yaml" -o "$work/cut" --store "$work/cut.db" >"$work/out" 2>"$work/err" </dev/null &
	main=$!
	if ! wait_for 60 under_way; then
		not_ok "$1" "the sweep did not begin: $(tail -2 "$work/err" | tr '\n' ' ')"
		kill -INT $main
		wait $main
		return
	fi
	victims=$($3)
	check "$1: there is somebody to kill" test -n "$victims"
	# shellcheck disable=SC2086
	kill -KILL $victims 2>/dev/null
	wait $main
	rc=$?
	same "$1: status" "$rc $([ $rc != 4 ] || tail -2 "$work/err" | tr '\n' ' ')" "$2 "
	check "$1: both hosts are at their baseline" wait_for 30 clean
	"$tunesweep" rollback --host "tx=netns:$ns_a" --host "rx=netns:$ns_b" >/dev/null 2>&1
	kept=$(samples)
	"$tunesweep" run "$work/cut.yaml" -o "$work/cut" --store "$work/cut.db" --resume >"$work/out" 2>"$work/err" </dev/null &
	main=$!
	resumed() { [ "$(samples)" -gt "$kept" ]; }
	check "$1: the sweep goes on behind its $kept samples" wait_for 60 resumed
	kill -INT $main 2>/dev/null
	wait $main
	same "$1: an interrupt then is 130" $? 130
	check "$1: and restores" wait_for 30 clean
}
transport() { kids_named $main ssh; }
agent_there() { kids_named $sshd_pid tunesweep-agent; }
controller() { echo $main; }
cut "the transport is killed" 3 transport
cut "the far agent is killed" 3 agent_there
cut "the controller is killed" 137 controller
check "no journal is left" no_journals
done_testing
