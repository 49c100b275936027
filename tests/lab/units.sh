#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The units under a live systemd, which is process 1 of namespaces of its own (pid, mount, network,
# control groups) on an overlay of this root: a profile is applied by start and goes by stop, one of
# another machine fails the unit with what differs, what a SIGKILL has left is restored by the
# restore unit, and the timers have a next time. Of this machine's kernel only /proc/sys/net, which
# is the namespace's own, can be written in there.
. "$(dirname "$0")/common.sh"
tree=$(cd "$(dirname "$0")/../.." && pwd)
need_root units
systemd=/lib/systemd/systemd
[ -x $systemd ] && command -v nsenter >/dev/null || skip_all units "no systemd or nsenter here"
cgroups=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)
[ -n "$cgroups" ] && group=$cgroups/tunesweep-units-$$ && mkdir "$group" 2>/dev/null ||
	skip_all units "no control groups (version 2) to be used here"
pid=
end() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
	for _ in $(seq 100); do
		find "$group" -depth -type d -exec rmdir {} + 2>/dev/null && break
		sleep 0.05
	done
	cleanup
}
trap end EXIT
(cd "$tree" && make -s install BUILD="$build" DESTDIR="$work/root" PREFIX=/usr >"$work/out" 2>&1)
same "make install" $? 0

# Units: ours, and the few targets that they lean on. Nothing else of this machine is started.
units=$work/root/run-units
mkdir -p "$units" "$work/root/etc/tunesweep/profiles" "$work/new" "$work/over"
cp "$work/root"/usr/lib/systemd/system/tunesweep* "$units/"
for target in sysinit basic multi-user timers shutdown network-pre test; do
	printf '[Unit]\nDescription=%s\nDefaultDependencies=no\n' $target >"$units/$target.target"
done
for unit in tunesweep@ tunesweep-restore; do
	mkdir "$units/$unit.service.d"
	printf '[Service]\nStandardOutput=append:/run/unit.log\nStandardError=append:/run/unit.log\n' \
		>"$units/$unit.service.d/log.conf"
done
cat >"$work/root/etc/tunesweep/profiles/one.yaml" <<P
tunesweep_profile: 1
name: one
settings:
  - {set: net.ipv4.tcp_rmem, host: tx, field: max, value: 8MiB}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: tx, value: off}
  - {set: net.ipv4.tcp_wmem, host: rx, field: max, value: 2MiB}
P
printf 'tunesweep_profile: 1\nname: other\nmachine: {kernel: "2.6.32", numa_nodes: 77}\nsettings: [{set: net.ipv4.tcp_rmem, field: max, value: 9MiB}]\n' \
	>"$work/root/etc/tunesweep/profiles/other.yaml"

cat >"$work/inside.sh" <<'I'
new=$1/new over=$1/over
mount --make-rprivate / && mount -t tmpfs t "$over" && mkdir "$over/up" "$over/work" &&
	mount -t overlay -o "lowerdir=/,upperdir=$over/up,workdir=$over/work" o "$new" &&
	mount -t proc p "$new/proc" && mount --bind "$new/proc/sys/net" "$new/proc/sys/net" &&
	mount --bind "$new/proc/sys" "$new/proc/sys" && mount -o remount,bind,ro "$new/proc/sys" &&
	mount --bind "/proc/sys/net" "$new/proc/sys/net" &&
	mount -t sysfs s "$new/sys" && mount -t cgroup2 c "$new/sys/fs/cgroup" &&
	mount -t tmpfs -o mode=755 r "$new/run" && mount -t tmpfs -o mode=755 d "$new/dev" || exit 90
for node in null:3 zero:5 full:7 random:8 urandom:9; do
	mknod -m 666 "$new/dev/${node%:*}" c 1 "${node#*:}"
done
cp -a "$1/root/usr" "$1/root/etc" "$new/" && mkdir -p "$new/run/units" "$new/run/netns" &&
	cp -a "$1/root/run-units/." "$new/run/units/" || exit 91
ip link set lo up
cd "$new" && mkdir -p old && pivot_root . old && umount -l /old || exit 92
exec env -i container=tunesweep PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/run/units \
	/lib/systemd/systemd --unit=test.target --log-target=console --show-status=no
I
(
	echo $BASHPID >"$group/cgroup.procs" &&
		exec unshare --pid --mount --net --cgroup --uts --ipc --fork --kill-child \
			bash "$work/inside.sh" "$work"
) >"$work/systemd.log" 2>&1 </dev/null &
outer=$!
first() { pid=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null) && pid=${pid%% *} && [ -n "$pid" ]; }
wait_for 10 first || { not_ok units "no namespaces: $(head -c 300 "$work/systemd.log")"; exit 1; }
inside() { timeout -k 5 60 nsenter --target "$pid" --mount --pid --net --ipc --uts --cgroup "$@"; }
ready() { inside systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; }
wait_for 30 ready || skip_all units "systemd does not start in namespaces here: $(tail -c 300 "$work/systemd.log" | tr '\n' ' ')"
ok "a systemd of its own runs ($(inside systemctl --version | head -n 1))"
same "its kernel settings cannot be written" \
	"$(inside sh -c '{ echo 1 >/proc/sys/vm/stat_interval; } 2>/dev/null || echo refused')" refused

values() { inside sh -c 'cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_slow_start_after_idle /proc/sys/net/ipv4/tcp_wmem' | tr '\t\n' '  '; }
before=$(values)
unit="tunesweep@one:tx.service"
log() { inside cat /run/unit.log 2>/dev/null | tail -n 3 | tr '\n' ' '; }
started() {
	inside systemctl start "$1" >"$work/out" 2>&1
	same "start $1" "$? $(inside systemctl is-active "$1")" "$2" || log
}
started "$unit" "0 active"
same "the profile is applied" "$(values | cut -d ' ' -f 3,4)" "8388608 0"
same "and no other role's part" "$(values | cut -d ' ' -f 7)" "$(cut -d ' ' -f 7 <<<"$before")"
check "status in there knows it" sh -c "nsenter --target $pid --mount --pid --net --cgroup tunesweep status | grep -q 'profile one'"
inside systemctl reload "$unit"
same "reload" "$? $(inside systemctl is-active "$unit")" "0 active"
same "sets the same" "$(values | cut -d ' ' -f 3,4)" "8388608 0"
inside systemctl stop "$unit"
same "stop" "$? $(inside systemctl is-active "$unit")" "0 inactive"
same "rolls back" "$(values)" "$before"

started "tunesweep@other.service" "1 failed"
check "with what differs in its log" sh -c "nsenter --target $pid --mount grep -q 'made on another machine.*2.6.32.*NUMA nodes: 77' /run/unit.log"
check "and the ways out" sh -c "nsenter --target $pid --mount grep -q 'measure again' /run/unit.log"
same "nothing is set" "$(values)" "$before"

# an agent that is killed with its guardian
req() { printf '{"v":1,"id":1,"op":"%s",%s}\n' "$1" "$2"; }
# (a shell between: nsenter would stand still along with its child)
coproc A { inside sh -c '/usr/libexec/tunesweep-agent; :' 2>>"$work/err"; }
exec {to}>&"${A[1]}" {from}<&"${A[0]}"
req open '"layer":"sweep","profile":"t","settings":[{"set":"net.ipv4.tcp_rmem","device":""}]' >&"$to"
read -r -t 20 line <&"$from"
req set '"values":[{"set":"net.ipv4.tcp_rmem","device":"","field":"max","value":7777777}]' >&"$to"
read -r -t 20 line <&"$from"
same "an agent has set something" "$(values | cut -d ' ' -f 3)" 7777777
mapfile -t all < <(inside pgrep -x 'ts-guardian|tunesweep-agen.*|ts-endpoints')
inside kill -STOP "${all[@]}"
inside kill -KILL "${all[@]}"
no_guardian() { [ "$(inside pgrep -cx ts-guardian)" = 0 ]; }
check "its guardian is gone" wait_for 10 no_guardian
same "killed with its guardian, it leaves it" "$(values | cut -d ' ' -f 3)" 7777777
started tunesweep-restore.service "0 inactive"
same "which puts it back" "$(values)" "$before"
same "and takes the journal away" "$(inside find /run/tunesweep -name '*.journal' 2>&1)" ""
inside systemctl start tunesweep-restore.service
same "without a journal it has nothing to do" "$(inside systemctl show -p ConditionResult --value tunesweep-restore.service)" no

for timer in tunesweep-restore.timer tunesweep-nightly.timer; do
	started $timer "0 active"
	check "$timer has a next time" test -n "$(inside systemctl show -p NextElapseUSecRealtime --value $timer)"
done
inside systemctl start "$unit"
same "applied again" "$(values | cut -d ' ' -f 3,4)" "8388608 0"
done_testing
