#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes a Debian package of what was built: make install into a folder, maintainer scripts, and
# control data of which the dependencies are read off the programs. The same build gives the same
# bytes. Prints the package's path.
#   deb.sh BUILD VERSION
set -eu
build=$1 version=$2
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
build=$(cd "$build" && pwd)
umask 022
out=$build/deb
root=$out/root
rm -rf "$out"
mkdir -p "$root/DEBIAN" "$out/debian"

written=$(dpkg-parsechangelog -l "$here/changelog" -S Version)
[ "$written" = "$version" ] || { echo "deb.sh: the changelog is of $written, the program $version" >&2; exit 1; }
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l "$here/changelog" -S Timestamp)
export SOURCE_DATE_EPOCH

make -s -C "$tree" --no-print-directory install BUILD="$build" DESTDIR="$root" PREFIX=/usr >/dev/null
programs="$root/usr/bin/tunesweep $root/usr/libexec/tunesweep-agent"
# shellcheck disable=SC2086
strip --strip-unneeded --remove-section=.comment $programs
doc=$root/usr/share/doc/tunesweep
install -m 644 "$here/copyright" "$doc/copyright"
gzip -9n <"$here/changelog" >"$doc/changelog.gz"
install -D -m 644 "$here/lintian-overrides" "$root/usr/share/lintian/overrides/tunesweep"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"

for script in postinst prerm postrm; do
	install -m 755 "$here/$script" "$root/DEBIAN/$script"
done
# What the programs are linked with; the tool wants to be asked from beside a debian/control.
printf 'Source: tunesweep\n\nPackage: tunesweep\nArchitecture: any\n' >"$out/debian/control"
# shellcheck disable=SC2086
depends=$(cd "$out" && dpkg-shlibdeps -O $programs 2>/dev/null | sed 's/^shlibs:Depends=//')
# any of openblas' builds would do; the one without threads is what the program is made for
depends=$(echo "$depends" | sed 's/libopenblas0\( ([^)]*)\)\?/libopenblas0-serial | libopenblas0/')
[ -n "$depends" ] || { echo "deb.sh: dpkg-shlibdeps tells nothing" >&2; exit 1; }
size=$(du -k --apparent-size -s "$root/usr" | cut -f1)
sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$(dpkg --print-architecture)/; s/@SIZE@/$size/; s/@DEPENDS@/$depends/" \
	"$here/control.in" >"$root/DEBIAN/control"
(cd "$root" && find usr -type f | sort | xargs md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >/dev/null
echo "$out"/tunesweep_*.deb
