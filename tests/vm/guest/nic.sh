#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Entries of NICs on hardware that namespaces lack: queue pairs, rings, coalescing, pause frames, the
# RSS table, offloads and queueing disciplines of three drivers. One agent does a device's whole list:
# each entry is set, read, and rolled back before the next. An exec is dear here, a request is not.
. tests/lab/common.sh
agent=$build/tunesweep-agent
mkdir -m 700 "$work/run"
modprobe -a sch_fq sch_fq_codel sch_cake sch_netem 2>/dev/null
for d in virt0 virt1 e1k0 e1k1 vmx0 vmx1; do ip link set $d up; done

id=0 lines=()
req() { lines+=("{\"v\":1,\"id\":$((id = id + 1)),\"op\":\"$1\"${2:+,$2}}"); }
# each ENTRY VALUE [ENTRY VALUE]: set together (a kind and its parameter), read, rolled back
each() {
	local s values='' first="\"set\":\"$1\",\"device\":\"$device\",\"field\":\"\""
	proven+=("$*")
	while [ $# -gt 1 ]; do
		s="\"set\":\"$1\",\"device\":\"$device\",\"field\":\"\""
		values="${values:+$values,}{$s,\"value\":$2}"
		shift 2
	done
	req probe "$first"
	req set "\"values\":[$values]"
	req probe "$first"
	req rollback '"force":false'
	req probe "$first"
}
begin() {
	device=$1 id=-1 lines=() proven=()
	req open '"layer":"sweep","profile":"vm","settings":[]'
}
# Answers to lines "settable before ok effective... found failed after"
finish() {
	local i said
	req bye
	printf '%s\n' "${lines[@]}" | "$agent" --run-dir "$work/run" >"$work/answers" 2>"$work/err"
	jq -s -r '[.[1:-1]|_nwise(5)][]|[(.[0].settable|tostring), (.[0].present|tostring), (.[1].effective//.[1].error|tostring),
		(.[2].present|tostring), ([.[3].report[]?|select(.outcome!="restored" and .outcome!="unchanged")]|length|tostring),
		(.[4].present|tostring), .[0].why_not]|join("\t")' "$work/answers" >"$work/told"
	i=0
	while IFS=$'\t' read -r settable before effective found failed_ after why; do
		said=${proven[i]}
		i=$((i + 1))
		# shellcheck disable=SC2086
		set -- $said
		want=${wanted[$device $said]:-${wanted[$device $1]:-${2//\"/}}}
		if [ "$settable" != true ]; then
			not_ok "$device $1" "cannot be set: $why"
		elif [ "$found" != "$want" ]; then
			not_ok "$device $1" "asked $2, wanted $want, found $found: $effective"
		elif [ "$failed_" != 0 ] || [ "$after" != "$before" ]; then
			not_ok "$device $1" "was $before, is $after after the rollback ($failed_ failed)"
		else
			ok "$device $said is set, read back and rolled back"
		fi
	done <"$work/told"
	same "$device: every entry was answered" "$i" "${#proven[@]}"
}
# what the driver rounds to: the sample is told what it took, not what was asked
declare -A wanted=(["vmx0 nic.rings.rx"]=512 ["e1k0 nic.rings.rx"]=504 ["made0 nic.rings.rx_mini"]=104)
# where adaptive moderation is on, only the named attribute is sent, and the driver keeps its own
wanted["made0 nic.coalesce.rx_usecs 30 nic.coalesce.adaptive_rx true"]=8

begin virt0
each link.mtu 1400
each nic.channels.combined 2
each nic.rings.rx 128
each nic.rings.tx 128
for f in tso gso gro sg tx; do each nic.features.$f false; done
each link.threaded true
each link.gro_flush_timeout 20000
each link.napi_defer_hard_irqs 2
each qdisc.root '"fq"'
each qdisc.root.limit 5000 qdisc.root '"fq"'
each qdisc.root.flow_limit 50 qdisc.root '"fq"'
each qdisc.root.quantum 6000 qdisc.root '"fq"'
each qdisc.root.initial_quantum 20000 qdisc.root '"fq"'
each qdisc.root.pacing false qdisc.root '"fq"'
each qdisc.root.maxrate 800000000 qdisc.root '"fq"'
each qdisc.root.low_rate_threshold 80000 qdisc.root '"fq"'
each qdisc.root.refill_delay 20000 qdisc.root '"fq"'
each qdisc.root.buckets_log 8 qdisc.root '"fq"'
each qdisc.root.orphan_mask 511 qdisc.root '"fq"'
each qdisc.root.ce_threshold 500 qdisc.root '"fq"'
each qdisc.root.timer_slack 5000 qdisc.root '"fq"'
each qdisc.root.horizon 5000000 qdisc.root '"fq"'
each qdisc.root.horizon_drop false qdisc.root '"fq"'
each qdisc.root.target 10000 qdisc.root '"fq_codel"'
each qdisc.root.interval 50000 qdisc.root '"fq_codel"'
each qdisc.root.ecn false qdisc.root '"fq_codel"'
each qdisc.root.drop_batch 32 qdisc.root '"fq_codel"'
each qdisc.root.memory_limit 1000000 qdisc.root '"fq_codel"'
each qdisc.root.bandwidth 800000000 qdisc.root '"cake"'
each qdisc.root.rtt 50000 qdisc.root '"cake"'
each qdisc.root.split_gso false qdisc.root '"cake"'
each qdisc.root '"pfifo_fast"'
finish

begin e1k0
each link.mtu 1400
each nic.rings.rx 500
each nic.rings.tx 512
each nic.coalesce.rx_usecs 50
for f in tso gso gro sg rx; do each nic.features.$f false; done
each nic.pause.rx false nic.pause.autoneg false
each nic.pause.tx false nic.pause.autoneg false
each nic.pause.autoneg false
finish

begin vmx0
each nic.rings.rx 500
each nic.rings.tx 256
each nic.rss_queues 2
each nic.features.lro false
each nic.features.tso false
finish

# What no emulated NIC has: a driver of the tests' own (module/made_nic.c) has it
if [ -s "${VM_CACHE:-}/made_nic.ko" ] && insmod "$VM_CACHE/made_nic.ko" && ip link set made0 up; then
	begin made0
	each nic.channels.rx 2
	each nic.channels.tx 1
	each nic.channels.other 0
	each nic.channels.combined 3
	each nic.rings.rx 1024
	each nic.rings.rx_mini 100
	each nic.rings.rx_jumbo 64
	each nic.rings.tx 256
	each nic.rings.rx_buf_len 4096
	each nic.coalesce.rx_usecs 30
	each nic.coalesce.rx_frames 16
	each nic.coalesce.tx_usecs 200
	each nic.coalesce.tx_frames 8
	each nic.coalesce.adaptive_rx true
	each nic.coalesce.adaptive_tx true
	each nic.coalesce.cqe_mode_rx true
	each nic.coalesce.cqe_mode_tx true
	each nic.coalesce.rx_usecs 30 nic.coalesce.adaptive_rx true
	each nic.flags.legacy-rx true
	each nic.flags.link-down-on-close true nic.flags.legacy-rx true
	finish
	# what the driver refuses is told in its own words, and changes nothing
	begin made0
	req set '"values":[{"set":"nic.coalesce.rx_usecs","device":"made0","field":"","value":2000}]'
	req probe '"set":"nic.coalesce.rx_usecs","device":"made0","field":""'
	req set '"values":[{"set":"nic.rings.rx","device":"made0","field":"","value":5000}]'
	req probe '"set":"nic.flags.no-such","device":"made0","field":""'
	req bye
	printf '%s\n' "${lines[@]}" | "$agent" --run-dir "$work/run" >"$work/answers" 2>"$work/err"
	contains "a driver that refuses is quoted" "$work/answers" "held back for longer than 1000 us"
	check "and nothing is changed" jq -s -e '.[2].present == 50' "$work/answers"
	check "more than the hardware has is refused" jq -s -e '.[3].ok == false' "$work/answers"
	contains "a flag that the driver has not" "$work/answers" "made0 has no nic.flags.no-such"
	rmmod made_nic
else
	skip made0 "no NIC with every parameter: $(cat "${VM_CACHE:-/nowhere}/made_nic.why" 2>/dev/null || echo "it was not built")"
fi

# What came with a later kernel says so
begin e1k0
req probe '"set":"napi.gro_flush_timeout","device":"e1k0","field":""'
req probe '"set":"link.gso_ipv4_max_size","device":"e1k0","field":""'
req bye
printf '%s\n' "${lines[@]}" | "$agent" --run-dir "$work/run" >"$work/answers" 2>"$work/err"
case $(uname -r) in
6.1.*) check "settings of a later kernel are told as such" jq -s -e '(.[1].settable | not) and (.[1].why_not | contains("came with Linux 6.13"))
	and (.[2].settable | not) and (.[2].why_not | contains("no link.gso_ipv4_max_size"))' "$work/answers" ;;
esac

# A parameter of the present kind comes back with it: fq with another limit is replaced and returns
tc qdisc replace dev e1k0 root fq limit 4321 quantum 5000
begin e1k0
each qdisc.root '"fq_codel"'
finish
tc qdisc show dev e1k0 root >"$work/tc"
check "the old kind has its parameters again" grep -q 'fq .*limit 4321p.*quantum 5000' "$work/tc"
tc qdisc del dev e1k0 root

# The table of RSS: a default one is put back by a reset, one that was made by hand is not touched
if command -v ethtool >/dev/null; then
	ethtool -X vmx0 weight 1 3 0 0
	"$tunesweep" show nic.rss_queues --device vmx0 >"$work/rss"
	check "an RSS table made by hand is left alone" grep -q 'set by hand' "$work/rss"
	ethtool -X vmx0 default
fi
done_testing
