#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Entries of devices through the real agent, in namespaces of its own: each that veth has is set, is
# read back by others' means (ip, sysfs), and rolled back; what it lacks is said. Order, guards, a
# device that is renamed, replaced or goes away while it is tuned, and the whole way from a spec.
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/common.sh
need_root tunables_net
agent=$build/tunesweep-agent
run=$work/run
ns_a=tst-$$-a ns_b=tst-$$-b
mkdir -m 700 "$run"

# v0 with 8 queues on both ends, an address of each kind and a default route; d.1 has a dot
make_devices() {
	add_netns $ns_a $ns_b &&
		ip link add v0 netns $ns_a numtxqueues 8 numrxqueues 8 type veth \
			peer name v0 netns $ns_b numtxqueues 8 numrxqueues 8 &&
		ip link add d.1 netns $ns_a type veth peer name d.1 netns $ns_b &&
		ip -n $ns_a addr add 192.0.2.1/30 dev v0 && ip -n $ns_b addr add 192.0.2.2/30 dev v0 &&
		ip -n $ns_a link set v0 up && ip -n $ns_b link set v0 up && ip -n $ns_a link set lo up &&
		ip -n $ns_a link set d.1 up && ip -n $ns_b link set d.1 up &&
		ip -n $ns_a route add default via 192.0.2.2
}
make_devices || { not_ok tunables_net "cannot make the devices"; exit 1; }

req() { printf '{"v":1,"id":%d,"op":"%s"%s}\n' "$1" "$2" "${3:+,$3}"; }
entry() { printf '"set":"%s","device":"%s"' "$1" "${2:-v0}"; }
open_() { local list; list="{$(entry "$1" "${2:-v0}")}"; [ -z "${3:-}" ] || list="$list,{$(entry "$3" "$2")}"; printf '"layer":"sweep","profile":"t","settings":[%s]' "$list"; }
one() { printf '{%s,"field":"","value":%s}' "$(entry "$1" "${3:-v0}")" "$2"; }
in_a() { ip netns exec $ns_a "$@"; }
talk() { in_a "$agent" --run-dir "$run" >"$work/answers" 2>>"$work/agent.err"; }
answer() { jq -c "select(.id==$1)|$2" "$work/answers"; }

# what others see of the device: everything that ip and sysfs tell, routes and queueing disciplines
look() {
	in_a sh -c "ip -d -j link show dev ${1:-v0}; ip -j route show dev ${1:-v0}; ip -6 -j route show dev ${1:-v0}
		tc qdisc show dev ${1:-v0} | sed 's/refcnt [0-9]*//'
		cd /sys/class/net/${1:-v0}; ls queues; cat mtu tx_queue_len gro_flush_timeout napi_defer_hard_irqs threaded features 2>/dev/null" 2>/dev/null |
		sed -e 's/"operstate":"[A-Z]*"//g' -e 's/"promiscuity":[0-9]*//'
}

# proves NAME VALUE [SEEN_BY PATTERN [READ_BACK]]: set, seen by the command within the session, rolled back
proves() {
	local name=$1 value=$2 see=${3:-} pattern=${4:-} back=${5:-$2} before after seen=
	before=$(look)
	: >"$work/answers"
	{
		req 1 open "$(open_ "$name")"
		req 2 set "\"values\":[$(one "$name" "$value")]"
		req 3 probe "$(entry "$name"),\"field\":\"\""
		[ -z "$see" ] || { wait_for 20 grep -q '"id":3' "$work/answers" && in_a sh -c "$see" >"$work/seen" 2>&1; }
		req 4 rollback '"force":false'
		req 5 probe "$(entry "$name"),\"field\":\"\""
		req 6 bye
	} | talk
	after=$(look)
	same "$name is set to $value" "$(answer 2 '.effective//.error')" "[$back]"
	same "$name is read back" "$(answer 3 .present)" "$back"
	[ -z "$see" ] || seen=$(grep -cE -- "$pattern" "$work/seen")
	[ -z "$see" ] || check "$name is seen by others" test "${seen:-0}" -gt 0
	same "$name is rolled back" "$(answer 4 '[.ok, ([.report[]|select(.outcome!="restored" and .outcome!="unchanged")]|length)]')" '[true,0]'
	same "$name left nothing" "$after" "$before"
}
# missing NAME TEXT: the probe says why it cannot be set
missing() {
	{ req 1 probe "$(entry "$1"),\"field\":\"\""; req 2 bye; } | talk
	check "$1 is told to be missing" grep -q "$2" <(answer 1 'select(.settable==false)|.why_not')
}

### Links
proves link.mtu 9000 'ip link show dev v0' 'mtu 9000'
proves link.mtu 1400 'cat /sys/class/net/v0/mtu' '^1400$'
proves link.txqueuelen 500 'ip link show dev v0' 'qlen 500'
proves link.gso_max_size 30000 'ip -d link show dev v0' 'gso_max_size 30000'
proves link.gso_max_segs 20 'ip -d link show dev v0' 'gso_max_segs 20'
proves link.gro_max_size 40000 'ip -d link show dev v0' 'gro_max_size 40000'
{ req 1 probe "$(entry link.gso_ipv4_max_size),\"field\":\"\""; req 2 bye; } | talk
if [ "$(answer 1 .settable)" = true ]; then
	proves link.gso_ipv4_max_size 30000
	proves link.gro_ipv4_max_size 30000
else
	skip "link.gso_ipv4_max_size" "this kernel has no limits of IPv4 alone"
fi
proves link.gro_flush_timeout 20000 'cat /sys/class/net/v0/gro_flush_timeout' '^20000$'
proves link.napi_defer_hard_irqs 2 'cat /sys/class/net/v0/napi_defer_hard_irqs' '^2$'

### NICs
proves nic.channels.rx 4 'ls /sys/class/net/v0/queues | grep -c rx' '^4$'
proves nic.channels.tx 3 'ls /sys/class/net/v0/queues | grep -c tx' '^3$'
for name in tso sg tx tx-checksum-ip-generic; do
	proves nic.features.$name false
done
proves nic.features.gro true
{
	req 1 open "$(open_ nic.features.gro v0 link.threaded)"
	req 2 set "\"values\":[$(one nic.features.gro true),$(one link.threaded true)]"
	req 3 rollback '"force":false'
	req 4 probe "$(entry link.threaded),\"field\":\"\""
	req 5 bye
} | talk
same "NAPI in threads, where GRO makes veth have NAPI" "$(answer 2 '.effective//.error')" '[true,true]'
same "threads are rolled back" "$(answer 3 .ok)$(answer 4 .present)" "truefalse"

### NAPI instances with values of their own: GRO gives veth one for each queue
missing napi.gro_flush_timeout "no NAPI\|came with Linux"
if in_a ethtool -K v0 gro on 2>/dev/null; then
	{ req 1 probe "$(entry napi.gro_flush_timeout),\"field\":\"\""; req 2 probe "$(entry napi.threaded),\"field\":\"\""; req 3 bye; } | talk
	napi=$(answer 1 .settable) threads=$(answer 2 .settable)
fi
if [ "${napi:-}" = true ]; then
	for e in defer_hard_irqs:3 gro_flush_timeout:30000 irq_suspend_timeout:40000; do
		proves "napi.${e%:*}" "${e#*:}"
	done
	# what the kernel itself sets for all of a device's is what is read
	in_a sh -c 'echo 12345 >/sys/class/net/v0/gro_flush_timeout; echo 5 >/sys/class/net/v0/napi_defer_hard_irqs'
	{
		req 1 probe "$(entry napi.gro_flush_timeout),\"field\":\"\""
		req 2 probe "$(entry napi.defer_hard_irqs),\"field\":\"\""
		req 3 open "$(open_ link.gro_flush_timeout)"
		req 4 set "\"values\":[$(one link.gro_flush_timeout 777)]"
		req 5 probe "$(entry napi.gro_flush_timeout),\"field\":\"\""
		req 6 rollback '"force":false'
		req 7 probe "$(entry napi.gro_flush_timeout),\"field\":\"\""
		req 8 bye
	} | talk
	same "the device's own values are those of its instances" "$(answer 1 .present) $(answer 2 .present)" "12345 5"
	same "and go with them and back" "$(answer 5 .present) $(answer 7 .present)" "777 12345"
	in_a sh -c 'echo 0 >/sys/class/net/v0/gro_flush_timeout; echo 0 >/sys/class/net/v0/napi_defer_hard_irqs'
	# sessions that end badly, too
	{ req 1 open "$(open_ napi.irq_suspend_timeout)"; req 2 set "\"values\":[$(one napi.irq_suspend_timeout 50000)]"; } | talk
	{ req 1 probe "$(entry napi.irq_suspend_timeout),\"field\":\"\""; req 2 bye; } | talk
	same "the end of the controller puts them back" "$(answer 1 .present)" 0
else
	skip "napi" "this kernel has no settings of a single NAPI"
fi
if [ "${threads:-}" = true ]; then
	proves napi.threaded true 'grep -hl "^napi/v0" /proc/[0-9]*/comm | wc -l' '^8$'
else
	skip "napi.threaded" "this kernel has no threads for a single NAPI"
fi
in_a ethtool -K v0 gro off 2>/dev/null
missing nic.channels.combined "has no nic.channels.combined"
missing nic.rings.rx "has no nic.rings"
missing nic.coalesce.rx_usecs "has no nic.coalesce"
missing nic.features.lro "has no nic.features.lro"
missing nic.features.no-such "has no nic.features.no-such"
missing nic.rss_queues "no RSS table"
missing nic.pause.rx "has no nic.pause"

### Routes and queueing disciplines; what is rounded is told (asked 1500 us, kept in ms)
proves route.initcwnd 20 'ip route show dev v0' 'default.*initcwnd 20'
proves route.initrwnd 30 'ip route show dev v0' '192.0.2.0/30.*initrwnd 30'
proves route.quickack true 'ip route show dev v0' 'quickack 1'
proves route.congctl '"reno"' 'ip route show dev v0' 'congctl reno'
proves route.rto_min 50000 'ip route show dev v0' 'rto_min.*50ms'
proves route.rto_min 1500 '' '' 2000
proves route.features '"ecn"' 'ip route show dev v0' 'features ecn'
proves qdisc.root '"pfifo_fast"' 'tc qdisc show dev v0' 'qdisc pfifo_fast .* root'
proves qdisc.root '"mq"' 'tc qdisc show dev v0' 'qdisc mq .* root'
proves qdisc.root '"bfifo"' 'tc qdisc show dev v0' 'qdisc bfifo .* root'

### Routes that differ cannot be put back by one value
in_a ip route change default via 192.0.2.2 initcwnd 7
missing route.initcwnd "differ in initcwnd"
in_a ip route change default via 192.0.2.2

### A queueing discipline with classes is left alone
if in_a tc qdisc add dev v0 root handle 5: htb 2>/dev/null; then
	missing qdisc.root "htb could not be put back"
	in_a tc qdisc del dev v0 root
fi

### Order: a parameter whose kind is named after it in the same request
{
	req 1 open "$(open_ qdisc.root.limit v0 qdisc.root)"
	req 2 set "\"values\":[$(one qdisc.root.limit 70000),$(one qdisc.root '"bfifo"')]"
	req 3 rollback '"force":false'
	req 4 probe "$(entry qdisc.root),\"field\":\"\""
	req 5 bye
} | talk
same "the kind is set before its parameter" "$(answer 2 '.effective//.error')" '[70000,"bfifo"]'
same "both are rolled back" "$(answer 4 .present)" '"noqueue"'
{
	req 1 open "$(open_ nic.features.tso v0 nic.features.sg)"
	req 2 set "\"values\":[$(one nic.features.tso false),$(one nic.features.sg false)]"
	req 3 set "\"values\":[$(one nic.features.tso true),$(one nic.features.sg true)]"
	req 4 set "\"values\":[$(one nic.features.tso false),$(one nic.features.sg false)]"
	req 5 rollback '"force":false'
	req 6 probe "$(entry nic.features.tso),\"field\":\"\""
	req 7 bye
} | talk
same "what a feature needs is on before it is read" "$(answer 3 '.effective//.error')" '[true,true]'
same "features that need each other are rolled back" "$(answer 5 '[.ok,([.report[]|select(.outcome=="failed" or .outcome=="conflict")]|length)]')" '[true,0]'
same "the dependent feature is on again" "$(answer 6 .present)" true

### Devices that others depend on
in_a ip link add br0 type bridge
in_a ip link set d.1 master br0
{ req 1 probe "$(entry link.mtu d.1),\"field\":\"\""; req 2 allow '"words":["member"]'; req 3 probe "$(entry link.mtu d.1),\"field\":\"\""; req 4 bye; } | talk
check "a member of a bridge is spared" grep -q 'member of a bridge.*allow: \[member\]' <(answer 1 .why_not)
same "unless that is allowed" "$(answer 3 .settable)" true
in_a ip link set d.1 nomaster
in_a ip link del br0
asks_mtu() { { req 1 probe "$(entry link.mtu d.1),\"field\":\"\""; req 2 allow '"words":["xdp"]'; req 3 probe "$(entry link.mtu d.1),\"field\":\"\""; req 4 bye; } | talk; }
coproc XDP { exec ip netns exec $ns_a "$build/tests/lab/xdp_pass" d.1; }
xdp_pid=$XDP_PID
read -r -t 20 said <&"${XDP[0]}"
if [ "$said" = attached ]; then
	asks_mtu
	check "a device with an XDP program is spared" grep -q 'has an XDP program.*allow: \[xdp\]' <(answer 1 .why_not)
	same "unless that is allowed, too" "$(answer 3 .settable)" true
	eval "exec ${XDP[1]}>&-"
	wait "$xdp_pid"
	asks_mtu
	same "and is free again without it" "$(answer 1 .settable)" true
else
	skip "a device with an XDP program" "this kernel attaches none: $said"
	wait "$xdp_pid"
fi
spare() { SSH_CONNECTION="192.0.2.2 50000 192.0.2.1 22" talk; }
{
	req 1 open "$(open_ link.mtu)"
	req 2 set "\"values\":[$(one link.mtu 1400)]"
	req 3 bye
} | spare
check "the device of the control connection is spared" grep -q 'carries the control connection' <(answer 2 .error)
same "and keeps its MTU" "$(in_a cat /sys/class/net/v0/mtu)" 1500

### A dot in the name, a new name, another device under the old name, none at all
proves_on() {
	: >"$work/answers"
	{
		req 1 open "$(open_ link.txqueuelen "$1")"
		req 2 set "\"values\":[$(one link.txqueuelen 77 "$1")]"
		wait_for 20 grep -q '"id":2' "$work/answers" && in_a sh -c "$2"
		req 3 rollback '"force":false'
		req 4 bye
	} | talk
}
proves_on d.1 true
same "a device with a dot in its name" "$(answer 3 '.report[0].outcome')" '"restored"'
proves_on d.1 'ip link set d.1 name new1'
same "a renamed device is rolled back" "$(answer 3 '.report[0].outcome') $(in_a cat /sys/class/net/new1/tx_queue_len)" '"restored" 1000'
in_a ip link set new1 name d.1
proves_on d.1 'ip link set d.1 name new1; ip link add d.1 type veth peer name d.2; ip link set d.1 txqueuelen 77'
same "another device under the old name is left alone" "$(in_a cat /sys/class/net/d.1/tx_queue_len) $(in_a cat /sys/class/net/new1/tx_queue_len)" "77 1000"
in_a ip link del d.1
in_a ip link set new1 name d.1
proves_on d.1 'ip link del d.1'
same "a device that is gone is reported as gone" "$(answer 3 '.report[0].outcome')" '"gone"'

### After a crash, too: by index, not by name
ip link add d.1 netns $ns_a type veth peer name d.1 netns $ns_b
crash() { # COMMAND: the agent and its guardian are killed while d.1 is tuned, then the command runs
	coproc A { exec ip netns exec $ns_a "$agent" --run-dir "$run" 2>>"$work/agent.err"; }
	{ req 1 open "$(open_ link.txqueuelen d.1)"; req 2 set "\"values\":[$(one link.txqueuelen 77 d.1)]"; } >&"${A[1]}"
	local line pid=$A_PID
	read -r -t 30 line <&"${A[0]}" && read -r -t 30 line <&"${A[0]}"
	kill -STOP "$pid" # it would start another guardian
	# shellcheck disable=SC2046
	kill -KILL $(family "$pid" | tac) 2>/dev/null
	wait "$pid" 2>/dev/null
	in_a sh -c "$1"
	{ req 1 restore; req 2 bye; } | talk
}
crash 'ip link set d.1 name new1'
same "after a crash a renamed device is restored" "$(answer 1 '.layers[0].items[0].outcome') $(in_a cat /sys/class/net/new1/tx_queue_len)" '"restored" 1000'
in_a ip link set new1 name d.1
crash 'ip link del d.1; ip link add d.1 type veth peer name d.2; ip link set d.1 txqueuelen 77'
same "after a crash another device is not taken for it" "$(answer 1 '.layers[0].items[0].outcome') $(in_a cat /sys/class/net/d.1/tx_queue_len)" '"gone" 77'

### From a spec: device by route, range and choices by the host, what is missing is left out or refused
spec() {
	cat >"$work/$1.yaml" <<END
tunesweep: 1
name: $1
hosts:
  a: {via: "netns:$ns_a"}
  b: {via: "netns:$ns_b", address: 192.0.2.2}
test: {engine: builtin, from: a, to: b, duration: 100ms, background: 0s}
objective: {maximize: throughput}
search: {samples: 6, time: 60s, seed: 1}
proof: {pairs: 0}
$3
tunables:
$2
END
}
spec net "  - {set: nic.channels.rx, host: b, device: auto, range: auto}
  - {set: link.gso_max_size, host: a, device: auto, range: [16KiB, 64KiB]}
  - {set: qdisc.root, host: a, device: v0, choices: [noqueue, pfifo_fast]}
  - {set: route.congctl, host: a, device: auto, choices: available}
  - {set: nic.rings.rx, host: a, device: auto, range: auto, optional: true}" "allow: [disruptive]"
before=$(look)
status "a sweep over entries of devices" 0 "$tunesweep" run "$work/net.yaml" -o "$work/net"
contains "what the device lacks is left out" "$work/err" "nic.rings.rx"
same "the sweep says that it restored" "$(jq .restored "$work/net/result.json")" true
same "the device is as before" "$(look)" "$before"
spec rings "  - {set: nic.rings.rx, host: a, device: auto, range: auto}" "allow: [disruptive]"
status "what the device lacks is refused" 3 "$tunesweep" run "$work/rings.yaml" --dry-run
contains "with the reason" "$work/err" "has no nic.rings"

### A profile with devices: applied, verified, rolled back; another one takes its place
profile() { printf 'tunesweep_profile: 1\nname: %s\nallow: [disruptive]\nsettings:\n%s\n' "$1" "$2" >"$work/$1.yaml"; }
profile one "  - {set: nic.features.tso, device: v0, value: off}
  - {set: link.txqueuelen, device: v0, value: 444}
  - {set: nic.channels.tx, device: v0, value: 4}"
profile two "  - {set: nic.features.gro, device: v0, value: on}
  - {set: link.txqueuelen, device: v0, value: 333}"
a_host=(--host "x=netns:$ns_a")
before=$(look)
status "a profile with devices is applied" 0 "$tunesweep" apply "$work/one.yaml" "${a_host[@]}"
same "it is in force" "$(in_a cat /sys/class/net/v0/tx_queue_len) $(in_a ls /sys/class/net/v0/queues | grep -c tx)" "444 4"
status "it is verified" 0 "$tunesweep" verify "$work/one.yaml" "${a_host[@]}"
status "applied once more" 0 "$tunesweep" apply "$work/one.yaml" "${a_host[@]}"
status "it is still in force" 0 "$tunesweep" verify "$work/one.yaml" "${a_host[@]}"
status "another one takes its place" 0 "$tunesweep" apply "$work/two.yaml" "${a_host[@]}"
same "what only the former had is as before" "$(in_a cat /sys/class/net/v0/tx_queue_len) $(in_a ls /sys/class/net/v0/queues | grep -c tx)" "333 8"
status "it is rolled back" 0 "$tunesweep" rollback "${a_host[@]}"
same "and the device is as before the first" "$(look)" "$before"

done_testing
