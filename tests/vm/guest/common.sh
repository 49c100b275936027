# SPDX-License-Identifier: GPL-3.0-or-later
# What the scripts in the test machine share beyond tests/lab/common.sh: two ends joined by a pair
# of its NICs, and proving one setting of a device. Sourced, not run.
# shellcheck shell=bash
. tests/lab/common.sh
# two_ends KIND: the pair KIND0, KIND1 in two namespaces, 192.0.2.1 and 192.0.2.2
two_ends() {
	local n ns
	ns_a=vm-a ns_b=vm-b
	add_netns $ns_a $ns_b
	for n in 0 1; do
		ns=$ns_a
		[ $n = 0 ] || ns=$ns_b
		ip link set "$1$n" netns $ns
		ip -n $ns addr add 192.0.2.$((n + 1))/30 dev "$1$n"
		ip -n $ns link set lo up
		ip -n $ns link set "$1$n" up
	done
	# carrier and address resolution take their time
	check "$1: the two ends see each other" wait_for 30 \
		ip netns exec $ns_a /run/vm/busybox ping -c 1 -W 2 192.0.2.2
}
give_back() { # give_back KIND: the reverse
	ip -n $ns_a link set "${1}0" netns 1
	ip -n $ns_b link set "${1}1" netns 1
	ip netns del $ns_a
	ip netns del $ns_b
	namespaces=()
}
# The PCI device of a NIC: for virtio one level up.
pci_of() {
	local p
	p=$(readlink -f "/sys/class/net/$1/device")
	[ -e "$p/vendor" ] && [ -e "$p/class" ] || p=$(dirname "$p")
	echo "$p"
}
# profile_of ALLOW SETTING...: a profile with these settings, each as in YAML without braces
profile_of() {
	local s
	printf 'tunesweep_profile: 1\nname: vm\n'
	[ -z "$1" ] || echo "allow: [$1]"
	echo settings:
	shift
	for s in "$@"; do echo "  - {$s}"; done
}
# prove NAME DEVICE VALUE ALLOW WANTED COMMAND...: apply sets it (the command prints WANTED then),
# verify agrees, rollback brings back what the command printed before
prove() {
	local name=$1 device=$2 value=$3 allow=$4 wanted=$5 before
	shift 5
	before=$("$@" 2>&1)
	profile_of "$allow" "set: $name, device: $device, value: $value" >"$work/one.yaml"
	if ! "$tunesweep" apply "$work/one.yaml" >"$work/out" 2>&1; then
		not_ok "$name of $device is set to $value" "$(tail -n 2 "$work/out" | tr '\n' ' ')"
		"$tunesweep" rollback >/dev/null 2>&1
		return
	fi
	same "$name of $device is set to $value" "$("$@" 2>&1)" "$wanted"
	status "$name of $device is verified" 0 "$tunesweep" verify "$work/one.yaml"
	status "$name of $device is rolled back" 0 "$tunesweep" rollback
	same "$name of $device is as before" "$("$@" 2>&1)" "$before"
}
