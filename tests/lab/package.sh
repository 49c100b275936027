#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian package as a machine meets it: installed, upgraded over an applied profile and over an
# older store, removed and purged; and make install with its way back. The machine is a copy of this
# one that is thrown away (an overlay, with namespaces, /run and packages of its own).
# Usage: BUILD=build tests/lab/package.sh
. "$(dirname "$0")/common.sh"
tree=$(cd "$(dirname "$0")/../.." && pwd)

# make install and uninstall, below a folder and without any privilege
installed=$work/destdir
(cd "$tree" && make -s install BUILD="$build" DESTDIR="$installed" PREFIX=/usr) >"$work/out" 2>&1
same "make install" $? 0
for f in bin/tunesweep libexec/tunesweep-agent libexec/tunesweep-agent-static share/man/man1/tunesweep-run.1 \
	share/man/man5/tunesweep-spec.5 share/man/man7/tunesweep-tunables.7 share/doc/tunesweep/README.md \
	share/bash-completion/completions/tunesweep share/zsh/site-functions/_tunesweep \
	share/tunesweep/specs/lab.yaml share/tunesweep/profiles/throughput.yaml lib/systemd/system/tunesweep@.service; do
	[ -s "$installed/usr/$f" ] || echo "$f"
done >"$work/missing"
same "brings all its parts" "$(cat "$work/missing")" ""
touch "$installed/usr/share/doc/tunesweep/of-somebody-else"
(cd "$tree" && make -s uninstall BUILD="$build" DESTDIR="$installed" PREFIX=/usr) >"$work/out" 2>&1
same "make uninstall" $? 0
same "takes away nothing of others" "$(cd "$installed" && find . -type f)" ./usr/share/doc/tunesweep/of-somebody-else
rm -rf "$installed"
for way in install uninstall; do
	(cd "$tree" && make -s $way BUILD="$build" DESTDIR="$installed" PREFIX=/opt/x) >"$work/out" 2>&1
done
same "and leaves nothing of its own" "$(find "$installed" -mindepth 1)" ""

need_root package
for tool in dpkg-deb dpkg-shlibdeps; do
	command -v $tool >/dev/null || skip_all package "no $tool (dpkg-dev)"
done
check "make deb" make -s -C "$tree" deb BUILD="$build"
deb=$(echo "$build"/deb/tunesweep_*.deb)
[ -f "$deb" ] || exit 1
cp "$deb" "$work/first.deb"
check "make deb again" make -s -C "$tree" deb BUILD="$build"
check "gives the same bytes" cmp "$deb" "$work/first.deb"
if command -v lintian >/dev/null; then
	check "lintian finds no error" lintian --fail-on error --suppress-tags bad-distribution-in-changes-file "$deb"
else
	skip "lintian" "it is not installed"
fi
# An older and a newer one: the same files under other versions.
mkdir "$work/again"
dpkg-deb -R "$deb" "$work/again"
for version in 0.0.9 0.9.9; do
	sed -i "s/^Version: .*/Version: $version/" "$work/again/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$work/again" "$work/$version.deb" >/dev/null
done
export work tree build
unshare -m -n --propagation private "$tree/tests/packaging/machine.sh" "$work" "$tree/tests/packaging/life.sh" || failed=1
done_testing
