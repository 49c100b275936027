#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The profiles and units that come along: each profile parses, gives a reason with its source for
# each setting, is found by its name, is applied in a namespace, is there, and goes without a trace;
# the units are what systemd takes, and as closed as their job allows.
. "$(dirname "$0")/common.sh"
tree=$(cd "$(dirname "$0")/../.." && pwd)
shipped=$tree/profiles/shipped units=$tree/profiles/systemd

# a comment above each setting that ends in where it comes from
unsourced() {
	awk '/^ *#/ { c = c $0; next } /^ *- \{set:/ { if (c !~ /Source:/) print FILENAME ": " $0; c = ""; next } { c = "" }' "$1"
}
for p in "$shipped"/*.yaml; do
	same "$(basename "$p"): each setting has its source" "$(unsourced "$p")" ""
done

# units
if command -v systemd-analyze >/dev/null; then
	mkdir "$work/units"
	for u in "$units"/tunesweep@.service "$units"/tunesweep-restore.*; do
		sed "s|@BINDIR@|$build|" "$u" >"$work/units/${u##*/}"
	done
	for u in tunesweep@.service tunesweep-restore.service tunesweep-restore.timer; do
		SYSTEMD_UNIT_PATH=$work/units:/lib/systemd/system:/usr/lib/systemd/system \
			systemd-analyze verify --man=no "$work/units/$u" >"$work/out" 2>&1 </dev/null
		same "$u: systemd-analyze verify" "$?: $(cat "$work/out")" "0: "
	done
	for u in tunesweep@.service tunesweep-restore.service; do
		check "$u: exposure at most 4.5" systemd-analyze security --offline=yes --threshold=45 "$work/units/$u"
	done
else
	skip "units" "no systemd-analyze here"
fi

# installed
(cd "$tree" && make -s install BUILD="$build" DESTDIR="$work/root" PREFIX=/usr >"$work/out" 2>&1)
same "make install" $? 0
for p in "$shipped"/*.yaml; do
	check "installs $(basename "$p")" cmp "$p" "$work/root/usr/share/tunesweep/profiles/$(basename "$p")"
done
check "installs the units with their program" grep -q "^ExecStart=/usr/bin/tunesweep apply %i" "$work/root/usr/lib/systemd/system/tunesweep@.service"
same "and no place to be filled in" "$(grep -r '@[A-Z]*@' "$work/root/usr/lib/systemd/system" 2>&1)" ""

need_root shipped
make_namespaces || { not_ok shipped "cannot make namespaces"; exit 1; }
all_of() { ip netns exec "$ns_a" sh -c 'cd /proc/sys/net && grep -r . ipv4 core 2>/dev/null | grep -v "mem:\|fib_\|/route/\|neigh/" | sort; cat ipv4/tcp_rmem ipv4/tcp_wmem'; }
before=$(all_of)
check "the namespace's settings are seen" test "$(wc -l <<<"$before")" -gt 100
here=(--host "here=netns:$ns_a")
for p in "$shipped"/*.yaml; do
	name=$(basename "$p" .yaml)
	status "$name: diff" 0 "$tunesweep" diff "$name" "${here[@]}"
	status "$name: by its name" 0 "$tunesweep" apply "$name" "${here[@]}"
	check "$name: what is not there is said" test "$(grep -c 'is skipped' "$work/err")" -ge 1
	status "$name: is there" 0 "$tunesweep" verify "$name" "${here[@]}"
	status "$name: status" 0 "$tunesweep" status "${here[@]}"
	contains "$name: is what is applied" "$work/out" "profile $name since"
	status "$name: exports" 0 "$tunesweep" export "$name" --format sysctl "${here[@]}"
done
status "rollback" 0 "$tunesweep" rollback "${here[@]}"
same "leaves no trace of any" "$(all_of)" "$before"

installed=$work/root/usr/bin/tunesweep
status "the installed program finds them, too" 0 "$installed" diff low-latency "${here[@]}"
status "a name that there is not" 2 "$tunesweep" apply no-such-profile "${here[@]}"
printf 'tunesweep_profile: 1\nname: r\nsettings: [{set: net.ipv4.tcp_sack, host: tx, value: true}, {set: net.ipv4.tcp_sack, host: rx, value: true}]\nallow: [unsafe]\n' >"$work/two.yaml"
status "a role without a name" 2 "$tunesweep" diff low-latency: "${here[@]}"
done_testing
