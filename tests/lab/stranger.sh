#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is installed gives nobody a privilege: no file of it is setuid, has capabilities or can be
# written; an ordinary user sets nothing with any of it in a namespace that is root's; root believes
# no journal that a user wrote; and a stranger's profile sets nothing outside the catalogue.
. "$(dirname "$0")/common.sh"
tree=$(cd "$(dirname "$0")/../.." && pwd)
need_root stranger
command -v setpriv >/dev/null || skip_all stranger "no setpriv"
uid=65534
make_namespaces || { not_ok stranger "cannot make namespaces"; exit 1; }
chmod 755 "$work"
root=$work/root
(cd "$tree" && make -s install BUILD="$build" DESTDIR="$root" PREFIX=/usr >"$work/out" 2>&1)
same "make install" $? 0

files=$(find "$root" -type f | wc -l)
check "something is installed ($files files)" test "$files" -gt 40
same "none is setuid or setgid" "$(find "$root" -perm /6000)" ""
same "none can be written by others than root" "$(find "$root" ! -type l \( -perm /022 -o ! -user 0 -o ! -group 0 \))" ""
if command -v getcap >/dev/null || [ -x /sbin/getcap ]; then
	same "none has capabilities" "$(PATH=$PATH:/sbin getcap -r "$root" 2>&1)" ""
else
	same "none has capabilities" "$(getfattr -R -n security.capability "$root" 2>/dev/null)" ""
fi
same "no unit runs anything but the installed program" \
	"$(grep -rhE '^Exec[A-Za-z]*=' "$root/usr/lib/systemd/system" | grep -v '=/usr/bin/tunesweep ')" ""
same "no sudoers, polkit, D-Bus or udev file is among them" \
	"$(find "$root" -path '*sudoers*' -o -path '*polkit*' -o -path '*dbus*' -o -path '*udev*')" ""

bin=$root/usr/bin/tunesweep agent=$root/usr/libexec/tunesweep-agent
install -d -o $uid "$work/user" "$work/user/run"
as_user() {
	(cd / && exec ip netns exec "$ns_a" setpriv --reuid $uid --regid $uid --clear-groups --inh-caps=-all \
		env HOME="$work/user" XDG_STATE_HOME="$work/user" XDG_RUNTIME_DIR="$work/user/run" "$@")
}
everything() { ip netns exec "$1" sh -c 'cd /proc/sys/net && grep -r . ipv4 core 2>/dev/null | grep -v "fib_\|/route/\|neigh/\|stat" | sort'; }
machine() { sysctl -n vm.min_free_kbytes vm.dirty_ratio kernel.numa_balancing kernel.core_pattern 2>/dev/null; }
before=$(everything "$ns_a") before_b=$(everything "$ns_b") before_machine=$(machine)
check "the machine's settings are seen" test "$(wc -l <<<"$before")" -gt 100 -a "$(wc -l <<<"$before_b")" -gt 100 -a -n "$before_machine"
unchanged() { [ "$(everything "$ns_a")" = "$before" ] && [ "$(everything "$ns_b")" = "$before_b" ] && [ "$(machine)" = "$before_machine" ]; }

for p in "$root"/usr/share/tunesweep/profiles/*.yaml; do
	name=$(basename "$p" .yaml)
	as_user "$bin" apply "$name" --force >"$work/out" 2>"$work/err" </dev/null
	rc=$?
	check "a user's apply of $name is refused ($rc)" test $rc = 2 -o $rc = 3
	check "$name: nothing is set" unchanged
done
printf 'tunesweep_profile: 1\nname: u\nsettings: [{set: net.ipv4.tcp_rmem, field: max, value: 8MiB}]\n' >"$work/user/u.yaml"
status "one that has no optional part" 3 as_user "$bin" apply "$work/user/u.yaml"
status "with a time to confirm" 3 as_user "$bin" apply "$work/user/u.yaml" --confirm 60
status "in a namespace of root's by name" 3 as_user "$bin" apply "$work/user/u.yaml" --host "h=netns:$ns_b"
as_user "$bin" rollback --force >/dev/null 2>&1
as_user "$bin" restore >/dev/null 2>&1
as_user "$bin" confirm >/dev/null 2>&1
as_user "$bin" exec "$work/user/u.yaml" -- sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_sack; echo 5 >/proc/sys/vm/dirty_ratio' >/dev/null 2>&1
check "rollback, restore, confirm, exec: nothing is set" unchanged

req() { printf '{"v":1,"id":%d,"op":"%s"%s}\n' "$1" "$2" "${3:+,$3}"; }
n=0
for set in net.ipv4.tcp_rmem vm.dirty_ratio vm.min_free_kbytes kernel.numa_balancing kernel.core_pattern irq.irqbalance \
	net/ipv4/../../kernel/core_pattern; do
	for layer in sweep applied; do
		{
			req 1 open "\"layer\":\"$layer\",\"profile\":\"x\",\"settings\":[{\"set\":\"$set\",\"device\":\"\"}]"
			req 2 set "\"values\":[{\"set\":\"$set\",\"device\":\"\",\"field\":\"\",\"value\":7}]"
			req 3 set "\"values\":[{\"set\":\"net.ipv4.tcp_sack\",\"device\":\"\",\"field\":\"\",\"value\":false}]"
			req 4 commit
		} | as_user "$agent" --run-dir "$work/user/run/tunesweep" >"$work/out" 2>"$work/err"
		# opening may be answered; a value that is taken may not
		n=$((n + $(grep -cE '"id":[23],.*"ok":true' "$work/out")))
	done
done
same "hostile requests to a user's agent are refused" "$n" 0
check "and set nothing" unchanged

mkdir -p /run/tunesweep
status "root's run folder is not theirs" 1 as_user touch /run/tunesweep/x

# a journal that a user has forged where root might look
status "a real journal" 0 "$bin" apply "$work/user/u.yaml" --host "h=netns:$ns_a"
mkdir -p "$work/user/run/tunesweep"
cp -r /run/tunesweep/net-* "$work/user/run/tunesweep/" 2>/dev/null
check "was there to be copied" sh -c "ls '$work/user/run/tunesweep' | grep -q net-"
status "rolled back" 0 "$bin" rollback --host "h=netns:$ns_a"
check "without a trace" unchanged
sed -i 's/8388608/1234567/g; s/6291456/7654321/g' "$work"/user/run/tunesweep/net-*/*.journal
chown -R $uid "$work/user/run"
for command in "rollback --force" restore status; do
	# shellcheck disable=SC2086
	env XDG_RUNTIME_DIR="$work/user/run" ip netns exec "$ns_a" "$bin" $command >/dev/null 2>&1
	check "root's $command does not look there" unchanged
done

# a stranger's profile, applied by root
allow='allow: [unsafe, disruptive, unlisted, driver-rebind]'
n=0
for name in kernel.core_pattern kernel.modprobe kernel.sysrq vm.overcommit_memory fs.suid_dumpable dev.cdrom.debug \
	net/../kernel/core_pattern net.ipv4../../../kernel/core_pattern /proc/sys/kernel/core_pattern ../kernel/core_pattern \
	net/ipv4/../../../../etc/passwd irq.default_smp_affinity "net.ipv4.tcp_sack\\n" "" cpu.online msix.driver; do
	printf 'tunesweep_profile: 1\nname: s\n%s\nsettings: [{set: "%s", value: "1"}]\n' "$allow" "$name" >"$work/s.yaml"
	"$bin" apply "$work/s.yaml" --force --host "h=netns:$ns_a" >"$work/out" 2>"$work/err"
	rc=$?
	[ $rc = 2 ] || { n=$((n + 1)); echo "# $name: status $rc: $(cat "$work/err")"; }
done
same "names outside the catalogue are errors of the profile" "$n" 0
check "and nothing of them is set" unchanged
printf 'tunesweep_profile: 1\nname: s\nsettings: [{set: net.core.bpf_jit_harden, value: 0}]\n' >"$work/s.yaml"
status "a net key that is not in the catalogue wants its word" 2 "$bin" apply "$work/s.yaml" --host "h=netns:$ns_a"
printf 'tunesweep_profile: 1\nname: s\nsettings: [{set: net.ipv4.tcp_congestion_control, value: "../../../x"}]\n' >"$work/s.yaml"
"$bin" apply "$work/s.yaml" --host "h=netns:$ns_a" >/dev/null 2>&1
check "a value is a value, never a path" unchanged
done_testing
