#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# exec: the program runs where the profile says, with all that its caller may do, and what only it
# can ask for itself is named. Needs no root.
. "$(dirname "$0")/common.sh"
cpu=$(awk '/^Cpus_allowed_list/ {print $2}' /proc/self/status | grep -oE '^[0-9]+')
cat >"$work/p.yaml" <<P
tunesweep_profile: 1
name: placed
settings: []
application:
  - {set: numa.cpu, host: rx, value: "$cpu"}
  - {set: numa.policy, host: rx, value: "bind:0"}
  - {set: socket.message_size, host: rx, value: 1MiB}
  - {set: socket.nodelay, host: tx, value: true}
P
run() { "$tunesweep" exec "$work/p.yaml" --host rx -- "$@"; }
field() { awk -v f="$1:" '$1 == f {print $2}' "$work/out"; }

status "runs" 0 run cat /proc/self/status
same "on the CPU that is named" "$(field Cpus_allowed_list)" "$cpu"
contains "what the program must ask for is said" "$work/err" "socket.message_size = 1MiB"
lacks "another host's is not" "$work/err" nodelay
for f in CapEff CapBnd NoNewPrivs Seccomp SigBlk SigIgn; do
	same "$f is the caller's" "$(field $f)" "$(awk -v f="$f:" '$1 == f {print $2}' <(bash -c 'cat /proc/self/status'))"
done
if [ -e /proc/self/numa_maps ]; then
	status "its memory" 0 run cat /proc/self/numa_maps
	contains "comes from the node that is named" "$work/out" "bind:0"
	sed 's/bind:0/bind:999/' "$work/p.yaml" >"$work/none.yaml"
	status "a node that is not there" 3 "$tunesweep" exec "$work/none.yaml" --host rx -- touch "$work/ran"
	contains "is told" "$work/err" "no memory on node 999"
	check "and the program did not run" test ! -e "$work/ran"
else
	skip "memory" "this kernel knows no nodes"
fi
status "its exit status" 7 run sh -c 'exit 7'
status "its arguments" 0 run printf '%s|' -v --host 'a b'
same "are its own" "$(cat "$work/out")" '-v|--host|a b|'
echo in | "$tunesweep" exec "$work/p.yaml" --host rx -q -- cat >"$work/out" 2>"$work/err"
same "its input and output" "$(cat "$work/out" "$work/err")" in
status "a program that is not there" 3 run no-such-program
status "whose settings?" 2 "$tunesweep" exec "$work/p.yaml" -- true
contains "is asked" "$work/err" "--host"
status "no command" 2 "$tunesweep" exec "$work/p.yaml"
sed "s/\"$cpu\"/\"4095\"/" "$work/p.yaml" >"$work/cpu.yaml"
status "a CPU that is not there" 2 "$tunesweep" exec "$work/cpu.yaml" --host rx -- true
status "export as a drop-in" 0 "$tunesweep" export "$work/p.yaml" --format systemd-dropin --host rx=local -o "$work/dropin.conf"
contains "has the policy" "$work/dropin.conf" "NUMAPolicy=bind"
contains "the node" "$work/dropin.conf" "NUMAMask=0"
contains "and the CPUs" "$work/dropin.conf" "CPUAffinity=$cpu"
if command -v systemd-analyze >/dev/null; then
	mkdir -p "$work/units/bench.service.d"
	printf '[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n' >"$work/units/bench.service"
	cp "$work/dropin.conf" "$work/units/bench.service.d/"
	SYSTEMD_UNIT_PATH=$work/units:/lib/systemd/system:/usr/lib/systemd/system \
		systemd-analyze verify --man=no "$work/units/bench.service" >"$work/out" 2>&1 </dev/null
	same "systemd takes it" "$?: $(cat "$work/out")" "0: "
else
	skip "drop-in" "no systemd-analyze here"
fi
done_testing
