#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tests that want a machine of their own: boots it once (machine.sh), runs the scripts of guest/
# in it, and passes their TAP lines on. Without QEMU and what goes with it all is skipped.
# Usage: tests/vm/test.sh [GUEST_SCRIPT...]     BUILD: the programs (build)
#   VM_WITHOUT="NAME...": without scripts, all of guest/ but these
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
build=$(cd "${BUILD:-build}" && pwd) || exit 1
cache=${VM_CACHE:-$build/vm}
[ "$(uname -m)" = x86_64 ] || skip_all vm "the emulated machine is an x86-64"
for program in qemu-system-x86_64 busybox ethtool cpio depmod xz dpkg-deb; do
	PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || skip_all vm "$program is not installed"
done
[ -x "$build/tunesweep" ] || { not_ok vm "$build/tunesweep is not built"; exit 1; }
if ! said=$(tests/vm/kernel.sh "$cache" 2>&1); then
	[ -s "$cache/release" ] || skip_all vm "no kernel could be fetched: $(echo "$said" | tail -n 1)"
	not_ok vm "no machine to boot: $(echo "$said" | tail -n 1)"
	exit 1
fi

# A NIC with every parameter there is; without the kernel's headers its tests are skipped.
if ! tests/vm/module.sh "$cache" >"$cache/made_nic.why" 2>&1; then
	echo "# the made-up NIC is not built: $(tail -n 1 "$cache/made_nic.why")"
fi

share=${VM_SHARE:-$(mktemp -d)} # kept where it is given
[ -n "${VM_SHARE:-}" ] || trap 'rm -rf "$share"' EXIT
scripts=("$@")
if [ ${#scripts[@]} = 0 ]; then
	for script in tests/vm/guest/*.sh; do
		name=$(basename "$script" .sh)
		case " common ${VM_WITHOUT:-} " in
		*" $name "*) ;;
		*) scripts+=("$script") ;;
		esac
	done
fi
printf '%s\n' "${scripts[@]}" >"$share/scripts"
start=$SECONDS
tests/vm/machine.sh -c "$cache" -d "$share" -t "${VM_LIMIT:-1700}" \
	"BUILD='$build' VM_CACHE='$(cd "$cache" && pwd)' exec tests/vm/run-guest.sh"
rc=$?
echo "# the machine ran for $((SECONDS - start)) s and ended with status $rc"
case $rc in
0) ;;
1) failed=1 ;; # a script has said what
124) not_ok vm "the machine was not done in time" ;;
*) not_ok vm "the machine told no result ($rc)" ;;
esac
[ ! -s "$share/counters.tar" ] || tar -P -xf "$share/counters.tar"
# What the guest leaves in its shared folder is the host's: the sweep's best profile works here, too.
if grep -q /sweep.sh "$share/scripts" && [ $rc -le 1 ]; then
	if [ -s "$share/best.yaml" ] && "$build/tunesweep" verify "$share/best.yaml" \
		--host sender=local --host receiver=local >"$share/verify" 2>&1 || [ $? = 1 ]; then
		ok "vm: the sweep's best profile has come back"
	else
		not_ok vm "no usable best.yaml came back: $(tail -n 1 "$share/verify" 2>/dev/null)"
	fi
fi
done_testing # and the plans of the guest's scripts
