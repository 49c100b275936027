#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A run folder that is full for good: a tmpfs of its own with less and less room left. Whatever does
# not find room for its journal sets nothing; whatever was set can be put back without any room, by
# rollback, by the guardian, and after SIGKILL of everybody by the next command.
. "$(dirname "$0")/common.sh"
need_root full
if [ "${FULL_INSIDE:-}" != yes ]; then
	mkdir -p /run/tunesweep
	rm -rf "$work" # of this shell, which ends here
	FULL_INSIDE=yes exec unshare -m --propagation private bash "$0" "$@"
fi
make_namespaces || { not_ok full "cannot make namespaces"; exit 1; }
run=/run/tunesweep
trap 'cleanup; umount "$run" 2>/dev/null' EXIT
hosts=(--host "tx=netns:$ns_a" --host "rx=netns:$ns_b")
one=("${hosts[@]:0:2}")

cat >"$work/one.yaml" <<P
tunesweep_profile: 1
name: one
settings:
  - {set: net.ipv4.tcp_wmem, host: tx, value: [4096, 65536, 8388608]}
  - {set: net.ipv4.tcp_slow_start_after_idle, host: tx, value: off}
  - {set: net.ipv4.tcp_rmem, host: rx, value: [4096, 262144, 8388608]}
  - {set: net.ipv4.tcp_notsent_lowat, host: rx, value: 262144}
P
cat >"$work/two.yaml" <<P
tunesweep_profile: 1
name: two
settings:
  - {set: net.ipv4.tcp_wmem, host: tx, value: [4096, 32768, 4194304]}
  - {set: net.ipv4.tcp_notsent_lowat, host: tx, value: 131072}
P
cat >"$work/spec.yaml" <<SPEC
tunesweep: 1
name: full
hosts: {tx: {via: "netns:$ns_a"}, rx: {via: "netns:$ns_b", address: 192.0.2.2}}
test: {type: tcp_stream, from: tx, to: rx, duration: 20ms}
tunables:
  - {set: net.ipv4.tcp_rmem, host: rx, field: max, range: [1MiB, 64MiB], scale: log}
  - {set: net.ipv4.tcp_rmem, host: rx, field: default, range: [16KiB, 4MiB], scale: log}
search: {algorithm: sobol, samples: 25, time: 60s}
proof: {pairs: 0}
SPEC
before_a=$(snapshot "$ns_a") before_b=$(snapshot "$ns_b")
clean() { [ "$(snapshot "$ns_a")" = "$before_a" ] && [ "$(snapshot "$ns_b")" = "$before_b" ]; }
# fresh PAGES [OPTIONS]: a run folder with so many pages of 4 KiB left
fresh() {
	mountpoint -q "$run" && umount "$run"
	mount -t tmpfs -o "size=128k,mode=755${2:+,$2}" tunesweep-full "$run"
	fill "$1"
}
fill() {
	local free
	free=$(($(stat -f -c %a "$run") - $1))
	[ $free -le 0 ] || head -c $((free * 4096)) /dev/zero >>"$run/ballast"
}
no_records() { # in a journal, which may be there and empty
	local left
	left=$(find "$run" -name '*.journal' -size +0) && [ -z "$left" ]
}
full() { [ "$(stat -f -c %a "$run")" = 0 ]; }
family_of() { # all below this script that is called so
	local p
	for p in $(family $$); do
		{ [ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$1" ] && echo "$p"; } 2>/dev/null
	done
}

fresh 0
check "the run folder is full" full
status "no room at all: apply" 3 "$tunesweep" apply "$work/one.yaml" "${hosts[@]}"
contains "says why" "$work/err" "No space left on device"
check "and has set nothing" clean
status "a sweep" 3 "$tunesweep" run "$work/spec.yaml" -o "$work/none"
check "has set nothing either" clean
fresh 4 nr_inodes=2
status "room, and no name for a file" 3 "$tunesweep" apply "$work/one.yaml" "${hosts[@]}"
check "nothing is set" clean

applied=0 refused=0
for pages in 1 2 3 5 8; do
	fresh "$pages"
	"$tunesweep" apply "$work/one.yaml" "${hosts[@]}" >"$work/out" 2>&1
	rc=$?
	if [ $rc = 0 ]; then
		applied=$((applied + 1))
		status "$pages pages: what was applied is there" 0 "$tunesweep" verify "$work/one.yaml" "${hosts[@]}"
		fill 0
		status "$pages pages: rollback without any room" 0 "$tunesweep" rollback "${hosts[@]}"
	else
		refused=$((refused + 1))
		same "$pages pages: refused as what the system refuses" $rc 3
	fi
	check "$pages pages: all is as before" clean
	check "$pages pages: no journal is left" no_records
done
check "some had room ($applied), some had none ($refused)" test $applied -gt 0 -a $refused -gt 0

# another profile over the first, where there is no room for its records
fresh 8
status "a profile" 0 "$tunesweep" apply "$work/one.yaml" "${hosts[@]}"
applied_a=$(snapshot "$ns_a")
fill 0
for i in $(seq 40); do # the journal's last page has some room left
	sed "s/131072/$((131072 + i))/; s/32768/$((32768 + i))/" "$work/two.yaml" >"$work/other.yaml"
	before_this=$(snapshot "$ns_a")
	"$tunesweep" apply "$work/other.yaml" "${one[@]}" >"$work/out" 2>&1 || break
done
check "a replacement runs out of room ($i tries)" grep -q "No space left" "$work/out"
now_a=$(snapshot "$ns_a")
check "and leaves what was applied before it, or nothing: $(cat "$work/out")" test "$now_a" = "$before_this" -o "$now_a" = "$before_a"
status "from which rollback finds the first baseline" 0 "$tunesweep" rollback "${hosts[@]}"
check "that is it" clean
check "there was something to replace" test "$applied_a" != "$before_a"

# a sweep whose journal grows until the folder is full
fresh 6
"$tunesweep" run "$work/spec.yaml" -o "$work/out1" >"$work/run.log" 2>&1
rc=$?
check "a sweep that fills the folder ends in good order ($rc)" test $rc = 0 -o $rc = 3
check "and leaves nothing" clean
json "and says so" "$work/out1/result.json" '.restored == true'

# everybody is killed while the folder is full
sed -i 's/samples: 25/samples: 100000/' "$work/spec.yaml" # one that does not end by itself before
for who in guardian next; do
	fresh 8
	"$tunesweep" run "$work/spec.yaml" -o "$work/out2" >"$work/run.log" 2>&1 </dev/null &
	main=$!
	check "$who: a sweep sets" wait_for 20 eval '! clean'
	fill 0
	if [ $who = guardian ]; then
		for p in $(family_of tunesweep-agent); do kill -KILL "$p"; done
		check "guardian: puts back without any room" wait_for 20 clean
		wait $main
	else
		mapfile -t all < <(family $main)
		kill -STOP "${all[@]}"
		kill -KILL "${all[@]}"
		wait $main 2>/dev/null
		check "next: something is left" eval '! clean'
		status "next: restore without any room" 0 "$tunesweep" restore
		check "next: all is back" clean
	fi
done
done_testing
