#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the named Debian packages that are not there yet. Says what it would need if it may not.
# Usage: tests/deps.sh [--no-install-recommends] PACKAGE...
set -eu
missing="" option=""
case ${1:-} in
--*)
	option=$1
	shift
	;;
esac
for p in "$@"; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "missing packages:$missing (install them as root)" >&2
	exit 1
fi
echo "installing$missing"
export DEBIAN_FRONTEND=noninteractive
# Daemons among them are started by the tests that need them, not by their packages.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap 'rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi
# shellcheck disable=SC2086
apt-get -qq -y install $option $missing >/dev/null 2>&1 || {
	apt-get -qq update
	apt-get -qq -y install $option $missing >/dev/null
}
