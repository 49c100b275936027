#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where packets and interrupts are handled, by sessions of the real agent: rps, xps and flow tables
# of a veth pair with four queues, the wish for short CPU latency, irqbalance paused and let go also
# when the agent is killed, and a value that is undone under a session.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/driver.bash

need_root place
NS=tsp-$$
add_netns "$NS" || exit 1
if ! ip -n "$NS" link add eth0 numrxqueues 4 numtxqueues 4 type veth peer name eth1 numrxqueues 4 numtxqueues 4; then
	skip_all place "no veth with queues here"
fi
ip -n "$NS" link set lo up
ip -n "$NS" link set eth0 up
ip -n "$NS" link set eth1 up

req() { printf '{"v":1,"id":%d,"op":"%s"%s}\n' "$1" "$2" "${3:+,$3}"; }
open_of() { # NAME DEVICE
	printf '"layer":"sweep","profile":"t","settings":[{"set":"%s","device":"%s"}]' "$1" "$2"
}
value() { printf '"values":[{"set":"%s","device":"%s","field":"","value":%s}]' "$1" "$2" "$3"; }
in_ns() { ip netns exec "$NS" "$@"; }
queue() { in_ns cat "/sys/class/net/eth0/queues/$1"; }

# begin NAME DEVICE VALUE: an agent that has set it; its answer in $answer, its pid in $agent
begin() {
	coproc A { exec ip netns exec "$NS" "$AGENT" --run-dir "$TMP/run" 2>>"$TMP/err"; }
	agent=$A_PID
	exec {to}>&"${A[1]}" {from}<&"${A[0]}"
	eval "exec ${A[1]}>&- ${A[0]}<&-"
	ask open "$(open_of "$1" "$2")"
	opened=$answer
	ask set "$(value "$1" "$2" "$3")"
}
ask() {
	answer="no answer"
	req 1 "$1" "${2:-}" >&"$to"
	read -r -t 20 answer <&"$from"
}
end() {
	exec {to}>&- {from}<&-
	wait "$agent" 2>/dev/null
}
same_cpus() { # a mask without its leading zeros
	local mask=${1//,/}
	printf '%s' "${mask##+(0)}"
}

for kind in rps:rx xps:tx; do
	name=${kind%:*}.cpus q=${kind#*:} f=${kind%:*}_cpus
	in_ns sh -c "echo 1 >/sys/class/net/eth0/queues/$q-2/$f" 2>/dev/null
	before=$(for i in 0 1 2 3; do queue $q-$i/$f; done 2>&1)
	begin "$name" eth0 '"0"'
	matches "$name: a CPU list is taken" "$answer" '*"effective":\["0"\]*'
	matches "$name: every queue has it" \
		"$(for i in 0 1 2 3; do same_cpus "$(queue $q-$i/$f)"; done)" 1111
	ask set "$(value "$name" eth0 '"none"')"
	matches "$name: none" "$(for i in 0 1 2 3; do same_cpus "$(queue $q-$i/$f)"; done)" ""
	ask set "$(value "$name" eth0 '"everywhere"')"
	matches "$name: an unknown word is refused" "$answer" '*"ok":false*a list of CPUs*'
	end
	matches "$name: each queue has its own back" \
		"$(for i in 0 1 2 3; do queue $q-$i/$f; done 2>&1)" "$before"
done

begin rps.flow_entries eth0 1000
matches "rps.flow_entries: what the kernel made of it is told" "$answer" '*"effective":\[1024\]*'
matches "rps.flow_entries: all queues" "$(for i in 0 1 2 3; do queue rx-$i/rps_flow_cnt; done | sort -u)" 1024
end
matches "rps.flow_entries: back" "$(for i in 0 1 2 3; do queue rx-$i/rps_flow_cnt; done | sort -u)" 0

begin xps.cpus lo '"0"'
matches "a device without queues to choose from says so" "$opened" '*"ok":false*transmit queue*'
end
begin irq.affinity eth0 '"spread"'
matches "a device without interrupts says so" "$opened" '*"ok":false*no hardware*'
end

# 29: undone under the session
begin rps.cpus eth0 '"0"'
ask check
matches "what stands is not told as undone" "$answer" '*"drifted":\[\]*'
in_ns sh -c 'echo 0 >/sys/class/net/eth0/queues/rx-1/rps_cpus'
ask check
matches "what is undone is told" "$answer" '*"drifted":\[{*"rps.cpus"*'
in_ns sh -c 'echo 1 >/sys/class/net/eth0/queues/rx-1/rps_cpus'
end

if [[ -r /dev/cpu_dma_latency ]]; then
	latency() { od -An -td4 -N4 /dev/cpu_dma_latency | tr -d ' '; }
	none=$(latency)
	begin cpu.latency "" 70
	matches "cpu.latency: held" "$answer $(latency)" '*"effective":\[70\]* 70'
	kill -9 "$(child_of "$agent" tunesweep-agent || echo "$agent")" 2>/dev/null
	end
	latency_is() { [[ $(latency) == "$1" ]]; }
	wait_for 5 latency_is "$none"
	matches "cpu.latency: gone with the agent, however it ends" "$(latency)" "$none"
else
	skip "cpu.latency" "no /dev/cpu_dma_latency here"
fi

# irqbalance, played by another program of that name
if [[ -n $(pgrep -x irqbalance) ]]; then
	skip "irq.irqbalance" "the real one runs here"
else
	cp "$(command -v sleep)" "$TMP/irqbalance"
	"$TMP/irqbalance" 300 &
	balancer=$!
	disown
	state() { sed 's/.*) //; s/ .*//' "/proc/$balancer/stat"; }
	is_state() { [[ $(state) == "$1" ]]; }
	begin irq.irqbalance "" '"paused"'
	matches "irq.irqbalance: paused" "$answer $(state)" '*"effective":\["paused"\]* T'
	end
	wait_for 5 is_state S
	matches "irq.irqbalance: goes on at the end" "$(state)" S
	begin irq.irqbalance "" '"paused"'
	matches "irq.irqbalance: paused again" "$(state)" T
	kill -9 "$agent"
	end
	wait_for 10 is_state S
	matches "irq.irqbalance: the guardian lets it go on" "$(state)" S
fi
# apply cannot keep what ends with the agent
open_applied='"layer":"applied","profile":"p","settings":[{"set":"cpu.latency","device":""}]'
matches "cpu.latency is no setting for apply" \
	"$(req 1 open "$open_applied" | in_ns "$AGENT" --run-dir "$TMP/run")" '*"ok":false*apply cannot keep it*'

# 29, a whole sweep: what is undone in each trial is never a result
ip -n "$NS" addr add 192.0.2.1/30 dev eth0
cat >"$TMP/undone.yaml" <<S
tunesweep: 1
name: undone
hosts: {a: {via: "netns:$NS"}, b: {via: "netns:$NS", address: 192.0.2.1}}
test: {type: tcp_stream, from: a, to: b, duration: 100ms}
tunables: [{set: rps.cpus, host: a, device: eth0, choices: [none, "0"]}]
search: {algorithm: grid, samples: 2}
proof: {pairs: 0}
S
run_undone() {
	XDG_STATE_HOME=$TMP "$tunesweep" run "$TMP/undone.yaml" -o "$TMP/$1" --store "$TMP/$1.db" \
		>"$TMP/$1.out" 2>&1
}
run_undone calm
matches "a sweep over rps.cpus" "$(jq -c '[.failed, .restored]' "$TMP/calm/result.json")" '[[]0,true[]]'
# (not by in_ns: the shell that runs a function would be killed below, and the loop go on)
ip netns exec "$NS" sh -c 'while sleep 0.03; do echo 2 >/sys/class/net/eth0/queues/rx-0/rps_cpus; done' &
meddler=$!
disown
run_undone undone
kill "$meddler"
matches "trials that someone undoes have failed, and it is said which" \
	"$(grep -c 'rps.cpus of a eth0 was changed under the test' "$TMP/undone.out") $(jq .failed "$TMP/undone/result.json" 2>/dev/null)" '[1-9]*'
done_testing
