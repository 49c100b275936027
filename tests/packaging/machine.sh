#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a script in a copy of this machine that is thrown away: an overlay over its root, with /run,
# /tmp and the network of its own. To be called in fresh mount and network namespaces. What WORK
# holds is at /tmp/package there.
#   machine.sh WORK SCRIPT
set -u
work=$1 script=$2
ip link set lo up
mkdir "$work/layers" && mount -t tmpfs layers "$work/layers" && cd "$work/layers" && mkdir upper under root || exit 1
if ! mount -t overlay -o lowerdir=/,upperdir=upper,workdir=under overlay root 2>/dev/null; then
	. "$(dirname "$0")/../tap.sh"
	skip_all "package's life" "overlays are not allowed here"
fi
mount --rbind /proc root/proc && mount -t sysfs sysfs root/sys && mount --rbind /dev root/dev &&
	mount -t tmpfs run root/run && mount -t tmpfs tmp root/tmp || exit 1
mkdir -p root/run/netns root/run/lock root/tmp/package root/tmp/upper root/tmp/lower
# what has been changed, and what it was
mount --bind upper root/tmp/upper && mount --bind / root/tmp/lower || exit 1
tests=$(dirname "$0")/..
mkdir root/tmp/package/lab && cp "$tests/lab/common.sh" root/tmp/package/lab/ || exit 1
cp "$work"/*.deb "$script" "$tests/unit/test_store_migrate.c" "$tests/tap.sh" root/tmp/package/ || exit 1
touch root/tmp/package/thrown-away
exec chroot root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C BUILD=/tmp/package /bin/bash /tmp/package/"$(basename "$script")"
