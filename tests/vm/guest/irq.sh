#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Interrupts on real (emulated) hardware: an affinity is set and the interrupts are seen to move,
# only those of that device; a mode is switched and back; packets are steered. The NVMe disk's
# queues are managed by the kernel, and refuse.
. tests/vm/guest/common.sh
"$tunesweep" list irq.affinity >"$work/out" 2>&1 || skip_all irq "this build has no irq.affinity"
irqs_of() { ls "$1/msi_irqs" 2>/dev/null | sort -n; }
# counts DEVICE_IRQS...: interrupts so far on each CPU, summed, of those numbers
counts() {
	awk -v irqs=" $* " '{ n = $1; sub(":", "", n) } index(irqs, " " n " ") { for (i = 2; i <= 5; i++) s[i] += $i }
		END { print s[2] + 0, s[3] + 0, s[4] + 0, s[5] + 0 }' /proc/interrupts
}
affinities() { local i; for i in "$@"; do echo "$i $(cat /proc/irq/$i/smp_affinity_list)"; done; }
traffic() { # both directions see some
	"$tunesweep" test --from "netns:$ns_a" --to "netns:$ns_b" --address 192.0.2.2 -l 1 --warmup off
}

pci0=$(pci_of virt0) pci1=$(pci_of virt1)
two_ends virt
# shellcheck disable=SC2046
set -- $(irqs_of "$pci0")
others=$(irqs_of "$pci1")
before=$(affinities "$@") before_others=$(affinities $others)
profile_of "" "set: irq.affinity, device: virt0, host: a, value: \"3\"" >"$work/irq.yaml"
status "irq.affinity is applied" 0 "$tunesweep" apply "$work/irq.yaml" --host "a=netns:$ns_a"
read -r -a c0 <<<"$(counts "$@")"
check "traffic" traffic
read -r -a c1 <<<"$(counts "$@")"
echo "# interrupts of virt0 by CPU: ${c0[*]} then ${c1[*]}"
on_3=$((c1[3] - c0[3])) elsewhere=$((c1[0] + c1[1] + c1[2] - c0[0] - c0[1] - c0[2]))
# A vector moves at its next interrupt, or at the one after that where it is busy: a few may still come
# to the old CPU. Where nothing has moved three in four do.
check "its interrupts come to CPU 3 ($on_3, elsewhere $elsewhere)" test $on_3 -gt 20 -a $((5 * elsewhere)) -le $on_3
moved=0
for i; do
	[ "$(cat /proc/irq/$i/effective_affinity_list)" != 3 ] || moved=$((moved + 1))
done
check "effective affinities followed ($moved of $#)" test $moved -ge 2
same "another device's are left alone" "$(affinities $others)" "$before_others"
status "irq.affinity is rolled back" 0 "$tunesweep" rollback --host "a=netns:$ns_a"
same "every affinity is as before" "$(affinities "$@")" "$before"
give_back virt

managed=$(awk '/nvme0q[1-9]/ { sub(":", "", $1); print $1; exit }' /proc/interrupts)
if [ -n "$managed" ]; then
	check "a managed interrupt refuses whoever asks" sh -c "! echo 1 2>/dev/null >/proc/irq/$managed/smp_affinity_list"
fi

ip link set virt0 up
ip link set vmx0 up
ip link set e1k0 up
q() { cat /sys/class/net/$1/queues/$2; }
all_rps() { cat /sys/class/net/$1/queues/rx-*/rps_cpus | tr '\n' ' '; }
all_flows() { cat /sys/class/net/$1/queues/rx-*/rps_flow_cnt | tr '\n' ' '; }
all_xps() { cat /sys/class/net/$1/queues/tx-*/xps_cpus | tr '\n' ' '; }
prove rps.cpus vmx0 '"0-3"' "" "f f f f " all_rps vmx0
prove rps.cpus virt0 local-node "" "1 2 1 2 " all_rps virt0
prove rps.flow_entries vmx0 1024 "" "1024 1024 1024 1024 " all_flows vmx0
prove xps.cpus virt0 none "" "0 0 0 0 " all_xps virt0
status "a NIC with one queue has no xps" 0 "$tunesweep" show xps.cpus --device e1k0 --json
json "which is said" "$work/out" '.here[] | .settable == false'
mode() { # vectors in use, or intx
	local n
	n=$(irqs_of "$(pci_of "$1")" | wc -l)
	[ "$n" != 0 ] && echo "$n" || echo intx
}
same "e1000e has three vectors" "$(mode e1k0)" 3
# The count that is told, against the kernel's list of the device and its interrupts that have names
vectors() { # vectors DEVICE: as told
	"$tunesweep" show msix.vectors --device "$1" --json | jq '.here[].present'
}
named() { # of those numbers in /proc/interrupts
	local n=0 i
	for i in $(irqs_of "$(pci_of "$1")"); do grep -q "^ *$i:" /proc/interrupts && n=$((n + 1)); done
	echo $n
}
for d in virt0 e1k0 vmx0; do
	same "$d: its vectors are counted" "$(vectors $d)" "$(mode $d)"
	check "$d: the kernel has interrupts for them ($(named $d))" test "$(named $d)" -gt 1
done
ethtool -L virt0 combined 2 2>/dev/null
same "virt0: with two channels its vectors are those that the kernel has" "$(vectors virt0)" "$(mode virt0)"
ethtool -L virt0 combined 4 2>/dev/null
e1k_now() { local d; for d in /sys/class/net/*; do [ "$(cat $d/address)" = 52:54:00:00:02:00 ] && echo "${d##*/}"; done; }
mode_now() { ip link set "$(e1k_now)" up; mode "$(e1k_now)"; }
prove msix.mode e1k0 intx driver-rebind intx mode_now
# Refused, each with what to do: a kind of message that the driver has not chosen, no word that allows
# it, and the device over which the host is reached.
ip addr add 192.0.2.1/30 dev e1k0
ip link set e1k0 up
mkdir -m 700 "$work/run"
asked() { # asked WORDS VALUE: the answer
	printf '{"v":1,"id":%d,"op":"%s"%s}\n' 1 open ',"layer":"sweep","profile":"vm","settings":[]' 2 allow ",\"words\":[$1]" \
		3 set ",\"values\":[{\"set\":\"msix.mode\",\"device\":\"e1k0\",\"field\":\"\",\"value\":\"$2\"}]" 4 bye '' |
		SSH_CONNECTION="$3" "$build/tunesweep-agent" --run-dir "$work/run" >"$work/answers" 2>"$work/err"
	sed -n 3p "$work/answers" >"$work/answer"
}
elsewhere="192.0.2.9 50000 192.0.2.9 22" over_it="192.0.2.2 50000 192.0.2.1 22"
asked '"driver-rebind"' msi "$elsewhere"
check "a kind that the driver has not chosen" grep -q 'has chosen msix.*IntMode' "$work/answer"
asked '"driver-rebind"' intx "$over_it"
check "the device of the control connection" grep -q 'carries the control connection.*control-device' "$work/answer"
same "and it has its messages still" "$(mode e1k0)" 3
done_testing
