#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The life of the package on a machine: run by machine.sh, never on a machine that is to be kept.
[ -e /tmp/package/thrown-away ] || { echo "life.sh: only in the machine that machine.sh makes" >&2; exit 2; }
. /tmp/package/lab/common.sh
unset XDG_STATE_HOME # root's own state directory
at=/tmp/package
ns_a=tst-$$-a
add_netns "$ns_a" || { not_ok "package" "no network namespace"; exit 1; }
sysctls() { (cd /proc/sys/net/ipv4 && cat tcp_*mem tcp_congestion_control tcp_slow_start_after_idle tcp_notsent_lowat); }
there() { ip netns exec "$ns_a" bash -c "$(declare -f sysctls); sysctls"; }
# What differs from the machine as it was, but for what dpkg and man-db keep of everything: files that
# are new, changed or gone (a device 0,0 in an overlay), and folders that were not there.
changed() {
	(cd /tmp/upper && find . -mindepth 1 \( -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache/man \) -prune -o -print) |
		while read -r path; do
			[ -d "/tmp/upper/$path" ] && [ -d "/tmp/lower/$path" ] || echo "${path#.}"
		done
}
wmem() { awk '{print $3}' /proc/sys/net/ipv4/tcp_wmem; }
install() { DEBIAN_FRONTEND=noninteractive dpkg -i "$1"; }
version=$(dpkg-deb -f $at/first.deb Version)
before=$(sysctls) before_there=$(there)
same "the machine is as this one" "$(changed)" ""
rm -rf /var/lib/tunesweep /etc/tunesweep # of whoever works on this machine
as_it_was=$(changed)

# what a user has beside it
cat >$work/own.yaml <<'P'
tunesweep_profile: 1
name: own
settings:
  - {set: net.ipv4.tcp_wmem, field: max, value: 7MiB}
  - {set: net.ipv4.tcp_slow_start_after_idle, value: off}
P
cat >$work/sim.yaml <<'S'
tunesweep: 1
name: simulated
test: {engine: simulated, surface: flat, noise: 3%}
tunables: [{set: param.a, range: [0.0, 1.0], type: float, default: 0.5}]
search: {samples: 4, seed: 4}
proof: {pairs: 0}
S

status "the package is installed" 0 install $at/first.deb
same "tunesweep is there" "$(tunesweep --version)" "tunesweep $version"
for page in tunesweep.1 tunesweep-apply.1 tunesweep-spec.5 tunesweep-profile.5 tunesweep-tunables.7; do
	man -w "${page##*.}" "${page%.*}" >/dev/null || echo "$page"
done >"$work/out" 2>&1
same "man finds its pages" "$(cat "$work/out")" ""
same "every file is as it was packed" "$(dpkg -V tunesweep)" ""
status "the installed program finds its agent" 0 tunesweep status
contains "and that nothing is applied" "$work/out" "nothing is applied"
bash -c '. /usr/share/bash-completion/completions/tunesweep; COMP_WORDS=(tunesweep roll); COMP_CWORD=1; _tunesweep; echo "${COMPREPLY[0]}"' >"$work/out"
contains "bash completes its commands" "$work/out" rollback
check "the timer that looks after a crash is enabled" test -h /etc/systemd/system/timers.target.wants/tunesweep-restore.timer
check "the nightly one is not" test ! -e /etc/systemd/system/timers.target.wants/tunesweep-nightly.timer

# upgrade over an applied profile
status "downgrade" 0 install $at/0.0.9.deb
status "a profile is applied" 0 tunesweep apply "$work/own.yaml"
status "upgrade" 0 install $at/0.9.9.deb
same "leaves its values" "$(wmem)" 7340032
status "and its name" 0 tunesweep status
contains "to the new program" "$work/out" "profile own since"
status "which rolls back" 0 tunesweep rollback
same "to what was there before the old one" "$(sysctls)" "$before"

# upgrade over a store of the first format
mkdir -p /var/lib/tunesweep
python3 - <<'PYTHON'
import json, re, sqlite3
text = open("/tmp/package/test_store_migrate.c").read().split("first_format[] =")[1].split("static void")[0]
sql = "".join(json.loads(s) for s in re.findall(r'"(?:[^"\\]|\\.)*"', text))
sqlite3.connect("/var/lib/tunesweep/results.db").executescript(sql)
PYTHON
status "a sweep into an older store" 0 tunesweep run "$work/sim.yaml"
status "and its list" 0 tunesweep results --json
json "have the old runs and the new one" "$work/out" '[.[].name] | sort == ["empty", "old", "simulated"]'

# removal gives back what is applied, wherever it is
mkdir -p /etc/tunesweep/profiles
cp "$work/own.yaml" /etc/tunesweep/profiles/
status "a profile of /etc" 0 tunesweep apply own
status "and one in another namespace" 0 tunesweep apply throughput --host "here=netns:$ns_a"
check "are set" test "$(wmem)" = 7340032 -a "$(there)" != "$before_there"
status "removal" 0 dpkg --remove tunesweep
same "gives back what was here" "$(sysctls)" "$before"
same "and there" "$(there)" "$before_there"
check "and keeps the results" test -s /var/lib/tunesweep/results.db
check "and the profiles" test -s /etc/tunesweep/profiles/own.yaml

# where somebody has changed a value since, the package is not removed
status "installed again" 0 install $at/first.deb
status "a profile" 0 tunesweep apply own
echo "4096 16384 9000000" >/proc/sys/net/ipv4/tcp_wmem
status "of which somebody has changed a value since: removal" 1 dpkg --remove tunesweep
contains "names what it could not put back" "$work/out" "net.ipv4.tcp_wmem"
contains "and says what to do" "$work/err" "tunesweep rollback --all --force"
same "the program stays" "$(dpkg-query -W -f '${db:Status-Status}' tunesweep)" installed
status "by force" 0 tunesweep rollback --all --force
same "all is as before" "$(sysctls)" "$before"
status "nothing more to put back" 0 tunesweep rollback --all
status "--all with a host is a usage error" 2 tunesweep rollback --all --host x=local

# purge, with a profile that waits for its confirm
status "apply --confirm" 0 tunesweep apply own --confirm 300
check "sets" test "$(wmem)" = 7340032
status "purge" 0 dpkg --purge tunesweep
same "gives back" "$(sysctls)" "$before"
same "and leaves the machine as it was" "$(changed)" "$as_it_was"
same "and nothing of it waits" "$(ls -d /run/tunesweep /var/lib/tunesweep 2>/dev/null)" ""
done_testing
