#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The real irqbalance from its package, which is only unpacked, in a mount namespace where it can move
# no interrupt of this machine: a profile's interrupts (of a recorded device) are out of its hands for
# as long as it is applied, through its own socket, also when everybody is killed; and it is paused
# by a sweep.
. "$(dirname "$0")/common.sh"
need_root balance
[ -z "$(pgrep -x irqbalance)" ] || skip_all balance "an irqbalance runs here already"
if [ "${BALANCE_INSIDE:-}" != yes ]; then
	ls "$build"/irqbalance_*.deb >/dev/null 2>&1 || (cd "$build" && apt-get download -qq irqbalance >/dev/null 2>&1)
	rm -rf "$work" # of this shell, which ends here
	# its socket's folder and a /proc/irq that nobody can write
	BALANCE_INSIDE=yes exec unshare -m --propagation private bash "$0" "$@"
fi
mount --bind /proc/irq /proc/irq && mount -o remount,bind,ro /proc/irq || { not_ok balance "cannot protect /proc/irq"; exit 1; }
mount -t tmpfs t /run && mkdir -p /run/irqbalance /run/tunesweep
for deb in "$build"/irqbalance_*.deb; do [ ! -e "$deb" ] || dpkg -x "$deb" "$work/irqbalance"; done
daemon=$work/irqbalance/usr/sbin/irqbalance
[ -x "$daemon" ] || skip_all balance "its package cannot be fetched"
missing=$(ldd "$daemon" 2>&1 | awk '/not found/ {print $1}' | tr '\n' ' ') # of what TEST_PACKAGES brings
[ -z "$missing" ] || skip_all balance "libraries of it are missing: $missing"
affinities() { grep -rh . /proc/irq/*/smp_affinity 2>/dev/null | sort | cksum; }
affinities_before=$(affinities)

"$daemon" --foreground --interval=1 --banirq=5 >"$work/irqbalance.log" 2>&1 &
pid=$!
socket=/run/irqbalance/irqbalance$pid.sock
wait_for 10 test -S "$socket" || skip_all balance "it has made no socket: $(head -c 200 "$work/irqbalance.log")"

# A device with four interrupts, and the daemon as this machine's /proc has it.
root=$work/root
nic=$root/sys/devices/pci0000:00/0000:00:04.0
mkdir -p "$nic/net/eth0" "$nic/msi_irqs" "$root/sys/class/net" "$root/sys/devices/system/cpu" "$root/proc/$pid" "$root/run" \
	"$root/proc/sys/kernel/random"
ln -s ../../devices/pci0000:00/0000:00:04.0/net/eth0 "$root/sys/class/net/eth0"
ln -s ../.. "$nic/net/eth0/device"
echo 2 >"$nic/net/eth0/ifindex"
echo 0-3 >"$root/sys/devices/system/cpu/online"
cp /proc/sys/kernel/random/boot_id "$root/proc/sys/kernel/random/"
for i in 0 1 2 3; do
	irq=$((210 + i))
	mkdir -p "$root/sys/kernel/irq/$irq" "$root/proc/irq/$irq"
	echo msix >"$nic/msi_irqs/$irq"
	echo "eth0-TxRx-$i" >"$root/sys/kernel/irq/$irq/actions"
	echo 0-3 >"$root/proc/irq/$irq/smp_affinity_list"
done
ln -s /run/irqbalance "$root/run/irqbalance"
placed() { for i in 0 1 2 3; do printf "%s " "$(cat "$root/proc/irq/21$i/smp_affinity_list")"; done; }
see() { cp "/proc/$pid/comm" "/proc/$pid/stat" "$root/proc/$pid/"; }
see
agent() { "$build/tunesweep-agent" --root "$root" --run-dir "$work/run"; }
req() { printf '{"v":1,"id":%d,"op":"%s"%s}\n' "$1" "$2" "${3:+,$3}"; }
opening() { req 1 open "\"layer\":\"$1\",\"profile\":\"p\",\"settings\":[{\"set\":\"irq.affinity\",\"device\":\"eth0\"}]"; }
setting() { req 2 set "\"values\":[{\"set\":\"irq.affinity\",\"device\":\"eth0\",\"field\":\"\",\"value\":\"$1\"}]"; }
banned() { # as the daemon says itself
	python3 - "$socket" <<'P'
import re, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.send(b"setup")
text = b""
while part := s.recv(65536):
    text += part
print(*sorted(int(n) for n in re.findall(rb"IRQ (\d+)", text)))
P
}
same "what it was started with" "$(banned)" "5"
{ opening applied; setting 0; req 3 commit; } | agent >"$work/out" 2>"$work/err"
same "an apply is taken" "$(grep -c '"ok":true' "$work/out")" 3
same "the device's interrupts are out of its hands, besides those that were" "$(banned)" "5 210 211 212 213"
same "and where they shall be" "$(placed)" "0 0 0 0 "
lacks "while it goes on with the rest" "/proc/$pid/status" '^State:.*T'
{ req 1 open '"layer":"applied","profile":"","settings":[]'; req 2 status; } | agent >"$work/out" 2>&1
contains "status knows" "$work/out" '"irq.irqbalance"'
sleep 1.5 # a round of it
same "a round of it later, too" "$(banned)" "5 210 211 212 213"
{ opening applied; req 2 rollback '"force":false'; } | agent >"$work/out" 2>"$work/err"
same "rollback gives them back" "$(banned)" "5"
same "and where they were" "$(placed)" "0-3 0-3 0-3 0-3 "

# killed with its guardian before it was kept: the next one restores
coproc A { agent 2>>"$work/err"; }
apid=$A_PID
exec {to}>&"${A[1]}" {from}<&"${A[0]}"
opening applied >&"$to"
read -r -t 20 line <&"$from"
setting 0 >&"$to"
read -r -t 20 line <&"$from"
same "an apply that is not kept has set it" "$(banned)" "5 210 211 212 213"
mapfile -t all < <(family "$apid")
kill -STOP "${all[@]}"
kill -KILL "${all[@]}"
wait "$apid" 2>/dev/null
same "killed, and still so" "$(banned)" "5 210 211 212 213"
opening applied | agent >"$work/out" 2>"$work/err"
same "the next session gives them back" "$(banned)" "5"

affinities_after=$(affinities)
same "nothing of this machine was moved" "$affinities_after" "$affinities_before"
done_testing
