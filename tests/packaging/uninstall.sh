#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Takes away every file that stands in MANIFEST, a folder into which the program was installed, from
# DESTDIR, and the folders that are empty then: of a DESTDIR all, of a running system those below
# PREFIX that no base system has.
#   uninstall.sh MANIFEST DESTDIR PREFIX
set -eu
manifest=$1 destdir=${2%/} prefix=${3%/}
(cd "$manifest" && find . -type f) | while read -r file; do
	rm -f "$destdir/${file#./}"
done
(cd "$manifest" && find . -mindepth 1 -depth -type d) | while read -r folder; do
	folder=/${folder#./}
	if [ -z "$destdir" ]; then
		case $folder in
		"$prefix"/bin | "$prefix"/lib | "$prefix"/share | "$prefix"/share/man) continue ;;
		"$prefix"/*) ;;
		*) continue ;;
		esac
	fi
	[ ! -d "$destdir$folder" ] || rmdir --ignore-fail-on-non-empty "$destdir$folder"
done
