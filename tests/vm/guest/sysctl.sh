#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every sysctl of the catalogue on a kernel that has it, in the first network namespace: set, read
# back from /proc/sys, verified, rolled back. Those that change others are set by themselves.
. tests/lab/common.sh
modprobe nf_conntrack
# Names, values as a profile has them, values as the kernel writes them. An exec is dear here: what
# can be done by the shell itself is.
names=() values=() wanted=()
while read -r name value text; do
	[[ $name != \#* ]] || continue
	if [ ! -e "/proc/sys/${name//.//}" ]; then
		skip "$name" "the kernel has none"
		continue
	fi
	names+=("$name") values+=("$value") wanted+=("${text:-$value}")
done <tests/vm/sysctls.txt
kernel_value() { # into REPLY, a blank between the fields
	local words
	read -r -a words <"/proc/sys/${1//.//}"
	REPLY=${words[*]}
}
snapshot_all() { # into REPLY
	local f all=''
	for f in "${names[@]}" net.ipv4.conf.{all,default,lo,virt0,virt1}.{forwarding,accept_redirects,rp_filter}; do
		kernel_value "$f"
		all+="$f = $REPLY"$'\n'
	done
	REPLY=$all
}
alone=' net.ipv4.ip_forward net.ipv4.conf.all.forwarding vm.dirty_bytes vm.dirty_ratio vm.dirty_background_bytes vm.dirty_background_ratio '
profile() { # profile NAME: those that the others do not touch, or the one of this name
	local i
	printf 'tunesweep_profile: 1\nname: vm\nallow: [unsafe]\nsettings:\n'
	for i in "${!names[@]}"; do
		if [ "$1" = "${names[i]}" ] || [[ $1 = all && $alone != *" ${names[i]} "* ]]; then
			echo "  - {set: ${names[i]}, value: ${values[i]}}"
		fi
	done
}
snapshot_all
before=$REPLY
prove() {
	local i
	profile "$1" >"$work/$1.yaml"
	"$tunesweep" apply "$work/$1.yaml" >"$work/out" 2>&1
	local rc=$?
	same "$1: applied ($(tail -n 1 "$work/out"))" $rc 0
	[ $rc = 0 ] || return
	for i in "${!names[@]}"; do
		if [ "$1" = "${names[i]}" ] || [[ $1 = all && $alone != *" ${names[i]} "* ]]; then
			kernel_value "${names[i]}"
			same "${names[i]} is set" "$REPLY" "${wanted[i]}"
		fi
	done
	status "$1: verified" 0 "$tunesweep" verify "$work/$1.yaml"
	status "$1: rolled back" 0 "$tunesweep" rollback
	snapshot_all
	same "$1: everything is as before" "$REPLY" "$before"
}
prove all
for one in $alone; do prove "$one"; done
status "what namespaces lack is there" 0 "$tunesweep" show net.core.netdev_max_backlog --json
json "and can be set" "$work/out" '.here[].settable'
done_testing
