#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Exports, each taken by the program that it is for: sysctl, TuneD, systemd, udev, a POSIX shell and
# Ansible; and what was exported, loaded in a namespace and captured again, is the profile's values.
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
need_root export
make_namespaces || { not_ok export "cannot make namespaces"; exit 1; }
host=(--host "tx=netns:$ns_a")
ip link add eth0.100 netns "$ns_a" type veth peer name peer100 netns "$ns_b"
get() { ip netns exec "$ns_a" cat "/proc/sys/net/$1" | tr '\t' ' '; }
before=$(snapshot "$ns_a")
filter=$(get ipv4/conf/eth0.100/rp_filter)

cat >"$work/p.yaml" <<P
tunesweep_profile: 1
name: wide pipe
allow: [unsafe]
settings:
  - {set: net.ipv4.tcp_rmem, field: max, host: tx, value: 16MiB}
  - {set: net.ipv4.tcp_rmem, field: default, host: tx, value: 262144}
  - {set: net.ipv4.tcp_wmem, host: tx, value: [4096, 65536, 8388608]}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: tx, value: off, optional: true}
  - {set: net.ipv4.tcp_notsent_lowat, host: tx, value: 128KiB}
  - {set: net/ipv4/conf/eth0.100/rp_filter, host: tx, value: 2}
  - {set: net.ipv4.tcp_congestion_control, host: rx, value: reno}
application:
  - {set: socket.message_size, host: tx, value: 1MiB}
P
export_as() { status "export as $1" 0 "$tunesweep" export "$work/p.yaml" --format "$1" "${host[@]}" -o "$2"; }
verified() { status "$1: the profile's values are there" 0 "$tunesweep" verify "$work/p.yaml" "${host[@]}"; }
restore() {
	echo "$before" | while read -r f v; do ip netns exec "$ns_a" sh -c "echo '$v' >/proc/sys/net/ipv4/$f"; done
	ip netns exec "$ns_a" sh -c "echo $filter >/proc/sys/net/ipv4/conf/eth0.100/rp_filter"
}

status "a format that there is not" 2 "$tunesweep" export "$work/p.yaml" --format sysctls "${host[@]}"
contains "is told with the nearest" "$work/err" "nearest: sysctl"
status "no format" 2 "$tunesweep" export "$work/p.yaml" "${host[@]}"
status "two hosts, one output" 2 "$tunesweep" export "$work/p.yaml" --format sysctl
status "two hosts into a folder" 0 "$tunesweep" export "$work/p.yaml" --format sysctl -o "$work/both"
check "make two files" test -s "$work/both/wide pipe-tx.conf" -a -s "$work/both/wide pipe-rx.conf"
contains "where a field is not known on a host that nobody can ask" "$work/err" "tcp_rmem"

status "as JSON" 0 "$tunesweep" export "$work/p.yaml" --format sysctl --json
json "which parses" "$work/out" \
	'length == 2 and .[0].host == "tx" and (.[0].text | contains("tcp_wmem = 4096 65536 8388608"))
	and (.[0].not_expressed | length) > 0'

# sysctl.d, round trip
export_as sysctl "$work/90.conf"
contains "what is no sysctl is said" "$work/err" "socket.message_size"
contains "in the file, too" "$work/90.conf" "# Not here: socket.message_size"
lacks "no quotes" "$work/90.conf" "^[^#]*[\"']"
check "sysctl takes it" ip netns exec "$ns_a" sysctl --load "$work/90.conf"
same "a triple" "$(get ipv4/tcp_rmem)" "4096 262144 16777216"
same "a device with a dot" "$(get ipv4/conf/eth0.100/rp_filter)" 2
verified sysctl
status "captured again" 0 "$tunesweep" capture "$work/p.yaml" "${host[@]}" -o "$work/captured.yaml" --name again
"$tunesweep" capture "$work/p.yaml" "${host[@]}" --json >"$work/captured.json"
same "gives the same values" "$(jq -c '[.settings[].value]' "$work/captured.json")" \
	'[16777216,262144,"4096 65536 8388608",false,131072,2]'
status "and is a profile" 0 "$tunesweep" verify "$work/captured.yaml" "${host[@]}"
restore

# a shell script with its own way back
export_as shell "$work/p.sh"
check "sh parses it" sh -n "$work/p.sh"
if command -v shellcheck >/dev/null; then
	check "shellcheck has nothing to say" shellcheck -s sh "$work/p.sh"
else
	skip "shellcheck" "no shellcheck here"
fi
script() { ip netns exec "$ns_a" env TUNESWEEP_STATE="$work/state" sh "$work/p.sh" "$@"; }
status "its status before" 1 script status
status "start" 0 script start
verified shell
status "its status" 0 script status
status "a second start" 0 script start
status "stop" 0 script stop
same "puts everything back" "$(snapshot "$ns_a")" "$before"
same "also of the device" "$(get ipv4/conf/eth0.100/rp_filter)" "$filter"
check "and keeps nothing" test ! -e "$work/state"
ip netns exec "$ns_a" sh -c 'echo reno >/proc/sys/net/ipv4/tcp_congestion_control'
sed 's/^\treturn 0/\tput \/proc\/sys\/net\/ipv4\/tcp_congestion_control no-such || return 1\n&/' "$work/p.sh" >"$work/bad.sh"
status "one refused setting" 3 ip netns exec "$ns_a" env TUNESWEEP_STATE="$work/state" sh "$work/bad.sh" start
restore
same "leaves nothing set" "$(snapshot "$ns_a")" "$before"

# TuneD's own loader; the package is only unpacked: installed, it would begin to tune this machine
export_as tuned "$work/tuned.conf"
tuned=$work/tuned
ls "$build"/tuned_*.deb >/dev/null 2>&1 || (cd "$build" && apt-get download -qq tuned >/dev/null 2>&1)
for deb in "$build"/tuned_*.deb; do [ ! -e "$deb" ] || dpkg -x "$deb" "$tuned"; done
if [ -d "$tuned/usr" ]; then
	mkdir -p "$work/etc/wide"
	cp "$work/tuned.conf" "$work/etc/wide/tuned.conf"
	check "TuneD loads it" /usr/bin/python3 "$here/tuned_load.py" "$tuned" "$work/etc" wide
	/usr/bin/python3 "$here/tuned_load.py" "$tuned" "$work/etc" wide >"$work/tuned.json" 2>/dev/null
	json "with the same values" "$work/tuned.json" '.sysctl["net.ipv4.tcp_rmem"] == "4096 262144 16777216"
		and .sysctl["net.ipv4.tcp_slow_start_after_idle"] == "0" and (.sysctl | length) == 5'
	contains "the device with a dot is said" "$work/tuned.conf" "eth0.100"
else
	skip "TuneD" "its package cannot be fetched"
fi

# Ansible
export_as ansible "$work/tasks.yaml"
printf -- '- hosts: all\n  tasks:\n    - ansible.builtin.import_tasks: tasks.yaml\n' >"$work/play.yaml"
if command -v ansible-playbook >/dev/null; then
	check "ansible-playbook takes it" env LC_ALL=C.UTF-8 ANSIBLE_LOCAL_TEMP="$work/tmp" HOME="$work" \
		ansible-playbook --syntax-check -i localhost, "$work/play.yaml"
else
	skip "ansible" "no ansible-playbook here"
fi
contains "with the sysctls" "$work/tasks.yaml" "      net.ipv4.tcp_rmem = 4096 262144 16777216"

# udev rules, tried by udev itself in a namespace of its own
export_as udev "$work/90.rules"
contains "what is of no device is said" "$work/err" "net.ipv4.tcp_notsent_lowat: no setting of a device"
if command -v udevadm >/dev/null && [ -d /etc/udev/rules.d ]; then
	ip netns exec "$ns_a" unshare -m sh -c "mkdir -p /run/udev && mount -t tmpfs t /run/udev && mount -t tmpfs t /etc/udev/rules.d &&
		cp '$work/90.rules' /etc/udev/rules.d/ && udevadm test --action=add /sys/class/net/eth0.100" >"$work/udev.out" 2>&1
	lacks "udev reads them without a complaint" "$work/udev.out" '90.rules:[0-9]+.*(nvalid|nknown|gnor)'
	contains "and reads them" "$work/udev.out" "90.rules"
	same "and sets what they say" "$(get ipv4/conf/eth0.100/rp_filter)" 2
	if udevadm verify --help >/dev/null 2>&1; then
		check "udevadm verify" udevadm verify --resolve-names=never "$work/90.rules"
	fi
else
	skip "udev" "no udev here"
fi
restore

# what belongs to a device, by every way there is
cat >"$work/nic.yaml" <<P
tunesweep_profile: 1
name: nic
settings:
  - {set: link.mtu, device: eth0, value: 1400, was: 1500}
  - {set: link.txqueuelen, device: eth0, value: 2000}
  - {set: link.gro_flush_timeout, device: eth0, value: 20000ns}
  - {set: nic.features.gso, device: eth0, value: off, was: on}
P
nic=(--host "here=netns:$ns_a")
attribute() { ip netns exec "$ns_a" cat "/sys/class/net/eth0/$1"; }
gso() { ip netns exec "$ns_a" "$tunesweep" capture nic.features.gso --device eth0 --json | jq '.settings[0].value'; }
device_state() { echo "$(attribute mtu) $(attribute tx_queue_len) $(attribute gro_flush_timeout) $(gso)"; }
device_before=$(device_state)
status "a device's settings as shell" 0 "$tunesweep" export "$work/nic.yaml" --format shell "${nic[@]}" -o "$work/nic.sh"
if command -v ethtool >/dev/null; then
	status "start" 0 ip netns exec "$ns_a" env TUNESWEEP_STATE="$work/state" sh "$work/nic.sh" start
	same "sets them" "$(device_state)" "1400 2000 20000 false"
	status "verify" 0 "$tunesweep" verify "$work/nic.yaml" "${nic[@]}"
	status "stop" 0 ip netns exec "$ns_a" env TUNESWEEP_STATE="$work/state" sh "$work/nic.sh" stop
	same "puts them back" "$(device_state)" "$device_before"
else
	skip "shell with ethtool" "no ethtool here"
fi
status "apply" 0 "$tunesweep" apply "$work/nic.yaml" "${nic[@]}"
same "sets the same" "$(device_state)" "1400 2000 20000 false"
status "rollback" 0 "$tunesweep" rollback "${nic[@]}"
same "puts back the same" "$(device_state)" "$device_before"
for f in udev tuned link; do
	status "a device's settings as $f" 0 "$tunesweep" export "$work/nic.yaml" --format "$f" "${nic[@]}" -o "$work/nic.$f"
done
if [ -d "$tuned/usr" ]; then
	mkdir -p "$work/etc/nic"
	cp "$work/nic.tuned" "$work/etc/nic/tuned.conf"
	check "TuneD knows the options" /usr/bin/python3 "$here/tuned_load.py" "$tuned" "$work/etc" nic
fi
# udev reads rules and .link files at these places alone: put there in a mount namespace
with_udev() { # RULES|- LINK|- COMMAND
	ip netns exec "$ns_a" unshare -m sh -c 'mkdir -p /run/udev && mount -t tmpfs t /run/udev && mount -t tmpfs t /etc/udev/rules.d &&
		mount -t tmpfs t /etc/systemd/network && { [ "$0" = - ] || cp "$0" /etc/udev/rules.d/90-nic.rules; } &&
		{ [ "$1" = - ] || cp "$1" /etc/systemd/network/70-nic.link; } && shift && exec "$@"' "$@"
}
if command -v udevadm >/dev/null && [ -d /etc/udev/rules.d ] && [ -d /etc/systemd/network ]; then
	with_udev "$work/nic.udev" - udevadm test --action=add /sys/class/net/eth0 >"$work/udev.out" 2>&1
	lacks "udev reads the rules without a complaint" "$work/udev.out" '90-nic.rules:[0-9]+.*(nvalid|nknown|gnor)'
	same "and sets what is a file" "$(attribute mtu) $(attribute tx_queue_len) $(attribute gro_flush_timeout)" "1400 2000 20000"
	contains "and would run what is not" "$work/udev.out" "ethtool -K eth0 gso off"
	ip -n "$ns_a" link set eth0 mtu 1500 txqueuelen 1000
	with_udev - "$work/nic.link" env SYSTEMD_LOG_LEVEL=debug udevadm test-builtin net_setup_link /sys/class/net/eth0 >"$work/link.out" 2>&1
	lacks "systemd reads the .link file without a complaint" "$work/link.out" '70-nic.link:[0-9]+'
	contains "and takes it" "$work/link.out" "70-nic.link"
		same "and sets what it says" "$(attribute mtu) $(attribute tx_queue_len) $(gso)" "1400 2000 false"
	contains "what it has no word for is said" "$work/nic.link" "link.gro_flush_timeout"
fi

# routes, the queueing discipline, steering and interrupts: functions of the script, with their undo
cat >"$work/more.yaml" <<P
tunesweep_profile: 1
name: more
settings:
  - {set: route.initcwnd, device: eth0, value: 40}
  - {set: route.quickack, device: eth0, value: on}
  - {set: route.rto_min, device: eth0, value: 50ms}
  - {set: qdisc.root.limit, device: eth0, value: 777}
  - {set: qdisc.root, device: eth0, value: pfifo}
  - {set: rps.cpus, device: eth0, value: "0"}
  - {set: rps.flow_entries, device: eth0, value: 1024}
P
cat >"$work/left.yaml" <<P
tunesweep_profile: 1
name: left
allow: [driver-rebind]
settings:
  - {set: xps.cpus, device: eth0, value: spread}
  - {set: irq.affinity, device: eth0, value: local-node}
  - {set: msix.mode, device: eth0, value: msi}
  - {set: cpu.latency, value: 50us}
  - {set: qdisc.root, device: eth0, value: mq}
P
ip -n "$ns_a" route add 198.51.100.0/24 via 192.0.2.2 dev eth0 initcwnd 20
ip -n "$ns_a" addr add 2001:db8::1/64 dev eth0 nodad
more_state() {
	ip -n "$ns_a" route show dev eth0
	ip -n "$ns_a" -6 route show dev eth0
	ip netns exec "$ns_a" tc qdisc show dev eth0
	ip netns exec "$ns_a" sh -c 'cat /sys/class/net/eth0/queues/rx-*/rps_*'
}
more_before=$(more_state)
more() { ip netns exec "$ns_a" env TUNESWEEP_STATE="$work/state" sh "$work/more.sh" "$@"; }
status "routes and more as shell" 0 "$tunesweep" export "$work/more.yaml" --format shell "${nic[@]}" -o "$work/more.sh"
same "nothing of it is left out" "$(grep -c 'Not here' "$work/more.sh")" 0
if command -v shellcheck >/dev/null; then
	check "shellcheck has nothing to say about it" shellcheck -s sh "$work/more.sh"
fi
if command -v tc >/dev/null; then
	status "its status before" 1 more status
	status "start" 0 more start
	check "sets every route" test "$(ip -n "$ns_a" route show dev eth0 | grep -c 'initcwnd 40')" = 2
	check "IPv6's, too" sh -c "ip -n $ns_a -6 route show dev eth0 | grep -q '2001:db8.*initcwnd 40'"
	contains "and the queueing discipline" <(ip netns exec "$ns_a" tc qdisc show dev eth0 root) "qdisc pfifo"
	contains "with its parameters" <(ip netns exec "$ns_a" tc qdisc show dev eth0 root) "limit 777p"
	same "steering" "$(ip netns exec "$ns_a" sh -c 'cat /sys/class/net/eth0/queues/rx-0/rps_*' | tr '\n' ' ' | sed 's/^0*//')" "1 1024 "
	status "verify agrees" 0 "$tunesweep" verify "$work/more.yaml" "${nic[@]}"
	status "its status" 0 more status
	status "start again" 0 more start
	status "stop" 0 more stop
	same "puts back every route, discipline and queue" "$(more_state)" "$more_before"
	check "and keeps nothing" test ! -e "$work/state"
	ip netns exec "$ns_a" tc qdisc add dev eth0 root bfifo limit 70000
	by_hand=$(more_state)
	status "what was set by hand is not taken away" 3 more start
	same "and nothing stays" "$(more_state)" "$by_hand"
	ip netns exec "$ns_a" tc qdisc del dev eth0 root
else
	skip "routes and more" "no tc here"
fi
status "what no script can do" 0 "$tunesweep" export "$work/left.yaml" --format shell "${nic[@]}" -o "$work/left.sh"
for name in xps.cpus irq.affinity msix.mode cpu.latency qdisc.root; do
	contains "$name is named in it" "$work/left.sh" "# Not here: $name"
done
status "as Ansible" 0 "$tunesweep" export "$work/more.yaml" --format ansible "${nic[@]}" -o "$work/tasks.yaml"
contains "a script among the tasks" "$work/tasks.yaml" "/usr/local/sbin/tunesweep-more start"
if command -v ansible-playbook >/dev/null; then
	check "ansible-playbook takes it, too" env LC_ALL=C.UTF-8 ANSIBLE_LOCAL_TEMP="$work/tmp" HOME="$work" \
		ansible-playbook --syntax-check -i localhost, "$work/play.yaml"
	python3 -c 'import sys, yaml
yaml.SafeLoader.add_constructor("!unsafe", lambda l, n: l.construct_scalar(n))
sys.stdout.write(next(t["ansible.builtin.copy"]["content"] for t in yaml.safe_load(open(sys.argv[1])) if "copy" in str(t) and "sbin" in str(t)))' \
		"$work/tasks.yaml" >"$work/carried.sh" 2>"$work/err"
	check "what it carries" test -s "$work/carried.sh"
	check "is the script" sh -n "$work/carried.sh"
fi
printf 'tunesweep_profile: 1\nname: t\nsettings: [{set: net.core.default_qdisc, value: "{{7*7}}"}]\n' >"$work/template.yaml"
status "a template of a stranger" 0 "$tunesweep" export "$work/template.yaml" --format ansible "${nic[@]}" -o "$work/template.out"
same "is text for Ansible" "$(grep -o 'content:.*' "$work/template.out" | sort -u)" "content: !unsafe |"

# interrupts of a device that only this mount namespace has
dev=$work/sys/class/net/nic0/device
mkdir -p "$dev/msi_irqs" "$work/irq/901" "$work/irq/902" "$work/irq/903" "$work/kernel"
touch "$dev/msi_irqs/901" "$dev/msi_irqs/902" "$dev/msi_irqs/903"
for i in 901:nic0 902:nic0-TxRx-0 903:nic0-TxRx-1; do
	mkdir -p "$work/kernel/${i%:*}"
	echo "${i#*:}" >"$work/kernel/${i%:*}/actions"
	echo 0-1 >"$work/irq/${i%:*}/smp_affinity_list"
done
printf 'tunesweep_profile: 1\nname: irq\nsettings: [{set: irq.affinity, device: nic0, value: "0-1"}]\n' >"$work/irq.yaml"
status "interrupts as shell" 0 "$tunesweep" export "$work/irq.yaml" --format shell "${nic[@]}" -o "$work/irq.sh"
irq() {
	unshare -m sh -c 'mount --bind "$0/sys/class/net" /sys/class/net && mount --bind "$0/irq" /proc/irq &&
		mount --bind "$0/kernel" /sys/kernel/irq && TUNESWEEP_STATE="$0/state" exec sh "$0/irq.sh" "$1"' "$work" "$1"
}
placed() { cat "$work"/irq/90?/smp_affinity_list | tr '\n' ' '; }
status "start" 0 irq start
same "places those of queues, in turn" "$(placed)" "0-1 0 1 "
status "its status" 0 irq status
status "stop" 0 irq stop
same "puts them back" "$(placed)" "0-1 0-1 0-1 "

# a drop-in for the program's unit
export_as systemd-dropin "$work/dropin.conf"
contains "what the program must ask for is said" "$work/dropin.conf" "socket.message_size = 1MiB"

# a name that would end a comment
printf 'tunesweep_profile: 1\nname: "x\\nkernel.sysrq = 1"\nsettings: [{set: net.ipv4.tcp_sack, value: true}]\nallow: [unsafe]\n' >"$work/evil.yaml"
status "a name with a new line" 2 "$tunesweep" export "$work/evil.yaml" --format sysctl -o "$work/evil.conf"
done_testing
