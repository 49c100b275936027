#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Prepares what the test machine boots, below FOLDER: Debian's kernel, downloaded and unpacked (never
# installed) with the modules that a network machine wants, and a first file system in memory. What
# is there already is kept. Called by test.sh and machine.sh.
# Usage: tests/vm/kernel.sh FOLDER
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin # depmod, modprobe
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

# The package that linux-image-amd64 stands for today; once fetched, the same one for ever.
package() {
	apt-cache depends linux-image-amd64 2>/dev/null | awk '$1 == "Depends:" { print $2; exit }'
}
download() {
	apt-get -qq -o APT::Sandbox::User=root download "$1" >/dev/null
}
if [ ! -s release ]; then
	name=$(package)
	if [ -z "$name" ] || ! download "$name" 2>/dev/null; then
		apt-get -qq update
		name=$(package)
		[ -n "$name" ] || { echo "no package linux-image-amd64 is known to apt" >&2; exit 1; }
		download "$name"
	fi
	release=${name#linux-image-}
	rm -rf unpacked
	mkdir unpacked
	m="./lib/modules/$release"
	dpkg-deb --fsys-tarfile "$name"_*.deb | tar -C unpacked -x --wildcards \
		--exclude "$m/kernel/drivers/net/wireless" './boot/vmlinuz*' "$m/modules.*" \
		"$m/kernel/arch" "$m/kernel/block" "$m/kernel/crypto" "$m/kernel/fs" "$m/kernel/lib" \
		"$m/kernel/net" "$m/kernel/drivers/"{acpi,block,char,dca,hwmon,i2c,net,nvme,pps,ptp,virtio}
	depmod -b unpacked "$release"
	rm -f "$name"_*.deb
	# The kernel without its self-unpacking shell starts at once by its PVH entry. Where the packed
	# kernel lies in the image: Documentation/x86/boot.rst, setup_sects, payload_offset.
	image=unpacked/boot/vmlinuz-$release
	number() { od -An -j "$1" -N "$2" -t "u$2" "$image" | tr -d ' '; }
	start=$((($(number 0x1f1 1) + 1) * 512 + $(number 0x248 4)))
	length=$(number 0x24c 4)
	payload() { tail -c +$((start + 1)) "$image" | head -c "$length"; }
	# The unpacked length stands behind the packed kernel, at which both programs grumble.
	case $(payload | head -c 4 | od -An -t x1 | tr -d ' ') in
	fd377a58) payload | xz -dcq >unpacked/vmlinux 2>/dev/null || true ;;
	28b52ffd) payload | zstd -dcq >unpacked/vmlinux 2>/dev/null || true ;;
	*) echo "$image is packed in a way that is not known here" >&2; exit 1 ;;
	esac
	[ "$(stat -c %s unpacked/vmlinux)" = "$(number $((start + length - 4)) 4)" ] ||
		{ echo "no whole kernel was found in $image" >&2; exit 1; }
	echo "$release" >release
fi

release=$(cat release)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/bin" "$tree/modules"
cp /bin/busybox "$tree/bin/"
install -m 755 "$here/stage1" "$tree/init"
install -m 755 "$here/stage2" "$tree/stage2"
for m in virtio_pci virtio_console 9pnet_virtio 9p overlay; do
	modprobe -d unpacked -S "$release" --show-depends $m
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r f; do
	cp "$f" "$tree/modules/"
	basename "$f" >>"$tree/modules/order"
done
(cd "$tree" && find . | cpio -o -H newc --quiet) >initrd.new
mv initrd.new initrd
