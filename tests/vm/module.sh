#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the made-up NIC (module/made_nic.c) for the test machine's kernel, below FOLDER where
# kernel.sh put that: the kernel's headers are downloaded and unpacked, never installed. What is there
# already and as new as its source is kept. FOLDER/made_nic.ko is the result.
# Usage: tests/vm/module.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
release=$(cat release)
source=$here/module/made_nic.c
if [ -s made_nic.ko ] && [ made_nic.ko -nt "$source" ] && [ "$(cat made_nic.release)" = "$release" ]; then
	exit 0
fi
common=${release%-*}-common
headers=$PWD/headers/usr/src
if [ ! -s headers/release ] || [ "$(cat headers/release)" != "$release" ]; then
	rm -rf headers
	mkdir headers
	# those that the headers name, of the version that fits; the compiler is the one that is here
	version=${release%.*-*}
	for package in "linux-headers-$release" "linux-headers-$common" "linux-kbuild-$version"; do
		apt-get -qq -o APT::Sandbox::User=root download "$package" >/dev/null
		dpkg-deb --fsys-tarfile "$package"_*.deb |
			tar -C headers -x --exclude ./usr/share --exclude './usr/src/*/arch/[!x]*'
		rm -f "$package"_*.deb
	done
	sed -i "s|/usr/src/|$headers/|" "$headers/linux-headers-$release/Makefile"
	echo "$release" >headers/release
fi
rm -rf module made_nic.ko
mkdir module
cp "$source" "$here/module/Kbuild" module/
if ! make -s -C "$headers/linux-headers-$release" M="$PWD/module" CC="${CC:-gcc}" modules >module/log 2>&1; then
	tail -n 1 module/log >&2
	exit 1
fi
cp module/made_nic.ko .
echo "$release" >made_nic.release
