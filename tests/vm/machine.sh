#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Boots an emulated machine with two NUMA nodes, four CPUs and six NICs, runs one shell command in
# it, and ends with its status (124: took too long, 125: no result). The machine sees this one's
# files read-only below a file system in memory; what it writes vanishes, apart from /run/share.
# Pairs of NICs, one on each node: virt0, virt1 (virtio-net, 4 queues, on a wire of MTU 1500 that
# drops larger frames), e1k0, e1k1 (e1000e), vmx0, vmx1 (vmxnet3, 4 queues), each pair a wire of its
# own. There is an NVMe disk as well, whose interrupts the kernel manages by itself.
# Usage: tests/vm/machine.sh [-c CACHE] [-d FOLDER] [-t SECONDS] COMMAND
#   -c  where kernel.sh put the kernel (build/vm)     -d  what /run/share is (a temporary folder)
#   -t  limit of the whole (600)                      -k  more words for the kernel
set -u
here=$(cd "$(dirname "$0")" && pwd)
cache=build/vm share='' limit=600 words=''
while getopts c:d:t:k: o; do
	case $o in
	c) cache=$OPTARG ;;
	d) share=$OPTARG ;;
	t) limit=$OPTARG ;;
	k) words=$OPTARG ;;
	*) exit 125 ;;
	esac
done
shift $((OPTIND - 1))
"$here/kernel.sh" "$cache" || exit 125
cache=$(cd "$cache" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
share=${share:-$work/share}
mkdir -p "$share"
rm -f "$share/status"
printf '%s\n' "$1" >"$share/command"
release=$(cat "$cache/release")
cat >"$share/settings" <<S
VM_MODULES='$cache/unpacked/lib/modules/$release'
VM_LOAD='virtio_net e1000e vmxnet3 nvme'
VM_FOLDER='$PWD'
S

args=(-nodefaults -no-user-config -display none -no-reboot -M q35 -accel 'tcg,thread=multi,tb-size=256'
	-cpu 'max,la57=off' -smp '4,sockets=2' -m 1024
	-kernel "$cache/unpacked/vmlinux" -initrd "$cache/initrd"
	-append "console=ttyS0 quiet nokaslr mitigations=off panic=-1 lpj=4000000 tsc=reliable $words"
	-device 'isa-debug-exit,iobase=0xf4,iosize=4' -monitor none -serial "file:$work/console"
	-device 'virtio-serial-pci,bus=pcie.0' -device 'virtserialport,chardev=out,name=out'
	-chardev 'file,id=out,append=on,path=/dev/fd/3'
	-fsdev 'local,id=root,path=/,security_model=none,readonly=on,multidevs=remap'
	-fsdev "local,id=share,path=$share,security_model=none"
	-device 'virtio-9p-pci,bus=pcie.0,fsdev=root,mount_tag=hostroot'
	-device 'virtio-9p-pci,bus=pcie.0,fsdev=share,mount_tag=share'
	-blockdev 'null-co,node-name=disk,size=67108864' -device 'nvme,bus=pcie.0,drive=disk,serial=1')
for node in 0 1; do
	args+=(-object "memory-backend-ram,id=memory$node,size=512M"
		-numa "node,nodeid=$node,memdev=memory$node,cpus=$((2 * node))-$((2 * node + 1))"
		-device "pxb-pcie,id=node$node,bus=pcie.0,bus_nr=$((32 * (node + 1))),numa_node=$node")
done
slot=0
nic() { # nic MODEL KIND NUMBER NETDEV [PROPERTIES]: on the node of its number, behind a port
	slot=$((slot + 1))
	args+=(-netdev "$4" -device "pcie-root-port,id=port$slot,bus=node$3,chassis=$slot,slot=$slot"
		-device "$1,netdev=n$2$3,mac=52:54:00:00:0$2:0$3,bus=port$slot,romfile=${5:-}")
}
# Several queues want a tap device each, hence a network namespace of QEMU's own; a process that may
# not have one still has QEMU's own wires, where virtio has one queue.
wire=(env)
if [ -c /dev/net/tun ] && unshare -n ip tuntap add dev try mode tap multi_queue 2>/dev/null; then
	wire=(unshare -n sh -c 'set -e
		ip link add br0 type bridge
		for t in tap0 tap1; do
			ip tuntap add dev $t mode tap multi_queue
			ip link set $t master br0 up
		done
		ip link set br0 up
		exec "$@"' sh)
	for n in 0 1; do
		nic virtio-net-pci 1 $n "tap,id=n1$n,ifname=tap$n,script=no,downscript=no,queues=4" ,mq=on,vectors=10
	done
else
	for n in 0 1; do nic virtio-net-pci 1 $n "hubport,id=n1$n,hubid=1"; done
fi
for n in 0 1; do nic e1000e 2 $n "hubport,id=n2$n,hubid=2"; done
for n in 0 1; do nic vmxnet3 3 $n "hubport,id=n3$n,hubid=3"; done

# Through a pipe, since a file that two processes write would want them to agree on the place.
mkfifo "$work/out"
cat "$work/out" &
reader=$!
timeout -k 5 "$limit" "${wire[@]}" qemu-system-x86_64 "${args[@]}" </dev/null 3>"$work/out" >"$work/qemu" 2>&1 &
qemu=$!
trap 'kill $qemu 2>/dev/null; wait $qemu; rm -rf "$work"; exit 143' TERM INT HUP
wait $qemu
rc=$?
wait $reader
trap - TERM INT HUP
[ -z "${VM_CONSOLE:-}" ] || cp "$work/console" "$VM_CONSOLE"
if [ -s "$share/status" ]; then
	exit "$(cat "$share/status")"
fi
{
	head -n 20 "$work/qemu"
	tail -n 30 "$work/console"
} >&2
[ $rc != 124 ] || exit 124
exit 125
