#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A stranger's first hour: a Debian root with nothing but the base system and make, this tree copied
# into it, and the commands of README's "Two commands" word for word. In a chroot `make test` runs
# the part that a chroot can (README's command with QUICK=1); with "whole" it runs all.
# Usage: BUILD=build tests/lab/fresh.sh [whole]
. "$(dirname "$0")/common.sh"
tree=$(cd "$(dirname "$0")/../.." && pwd)
need_root fresh
[ ! -e /etc/dpkg/dpkg.cfg.d/thrown-away ] || skip_all fresh "this is the fresh root"
command -v debootstrap >/dev/null || skip_all fresh "there is no debootstrap"
# Outside the network of its own that the rest has: packages come from where this machine's come from.
cache=$build/fresh base=$build/fresh/base
mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .*/\2/p' \
	/etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null | head -n 1)
[ -n "$mirror" ] || skip_all fresh "this machine's apt names no mirror"

# The base system, made once.
mkdir -p "$cache/archives/partial"
if [ ! -d "$base" ]; then
	rm -rf "$base.part"
	if ! debootstrap --variant=minbase --include=make,ca-certificates bookworm "$base.part" "$mirror" >"$work/out" 2>&1; then
		rm -rf "$base.part"
		skip_all fresh "debootstrap cannot reach this machine's mirror: $(tail -n 1 "$work/out")"
	fi
	mv "$base.part" "$base"
fi

# A copy that is used up, in mount and process namespaces of its own.
root=$build/fresh/root
[ ! -e "$root" ] || rm -rf --one-file-system "$root"
cp -a "$base" "$root" || exit 1
remove_root() {
	rm -rf --one-file-system "$root"
	cleanup
}
trap remove_root EXIT
# how this machine reaches its mirror
cp -L /etc/resolv.conf "$root/etc/" 2>/dev/null
for f in sources.list sources.list.d apt.conf.d auth.conf.d preferences.d trusted.gpg.d keyrings; do
	[ ! -e "/etc/apt/$f" ] || { rm -rf "$root/etc/apt/$f"; cp -a "/etc/apt/$f" "$root/etc/apt/"; }
done
cp -a /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null
cp -aL /etc/ssl/certs/. "$root/etc/ssl/certs/" 2>/dev/null
mkdir -p "$root/etc/dpkg/dpkg.cfg.d" "$root/src/tunesweep"
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/thrown-away" # it need not outlive a crash
(cd "$tree" && git ls-files -z 2>/dev/null | xargs -0 tar -c 2>/dev/null || tar -c --exclude=./build --exclude=./.git .) |
	tar -x -C "$root/src/tunesweep"

# fresh COMMAND: in the fresh root, in the folder of the tree
fresh() {
	unshare --mount --pid --fork --kill-child --propagation private /bin/bash -c '
		root=$1 archives=$2
		mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --rbind /dev "$root/dev" &&
			mount -t tmpfs run "$root/run" && mkdir -p "$root/run/netns" "$root/run/lock" &&
			mount --bind "$archives" "$root/var/cache/apt/archives" || exit 1
		exec chroot "$root" env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			sh -c "cd /src/tunesweep && $3"' fresh "$root" "$cache/archives" "$1"
}

commands=$(awk '/^## / { on = /^## Two commands/ } on && /^    make / { sub(/ *#.*/, ""); sub(/^ */, ""); print }' "$tree/README.md")
same "README has two commands" "$(echo "$commands" | grep -c .)" 2
status "the base system has no compiler" 127 fresh "gcc --version"
while read -r command; do
	case $command in
	"make test") [ "${1:-}" = whole ] || command="$command QUICK=1" ;;
	esac
	start=$SECONDS
	status "$command" 0 fresh "$command"
	echo "# $command: $((SECONDS - start)) s"
	grep -A3 '^not ok' "$work/out" | sed 's/^/# /'
	cp "$work/out" "$work/${command//[^a-z]/}"
done <<<"$commands"
contains "make demo ends with its profile" "$work/makedemo" "Written: build/demo/best.yaml, report.html, result.json"
contains "and has put everything back" "$work/makedemo" "Rolled back:"
check "make test closes with its count" grep -qE '^[1-9][0-9]* passed, 0 failed, [0-9]+ skipped$' "$work"/maketest*
done_testing
