#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The store where it cannot be written: read-only media with and without a log that is not merged yet,
# a folder of somebody else's, a file that may not be read; and where no place is named for it. The media
# are a mount in a namespace of its own.
# Usage: BUILD=build tests/lab/store_places.sh
if [ -z "${OWN_MOUNTS:-}" ] && [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	OWN_MOUNTS=1 exec unshare -m --propagation private "$0" "$@"
fi
. "$(dirname "$0")/common.sh"
[ -n "${OWN_MOUNTS:-}" ] || skip_all store_places "needs root and mounts"
mkdir "$work/media" && chmod 755 "$work"
mount -t tmpfs tmpfs "$work/media" || skip_all store_places "cannot mount"
db=$work/media/results.db
cat >"$work/flat.yaml" <<END
tunesweep: 1
name: flat
test: {engine: simulated, surface: flat, noise: 1%}
tunables: [{set: param.x, range: [0, 99], type: int, default: 1}]
search: {samples: 6, seed: 1}
proof: {pairs: 2}
END
cat >"$work/slow.yaml" <<END
tunesweep: 1
name: slow
test: {engine: command, command: [sh, -c, 'echo begun >>$work/begun; sleep 60']}
objective: {maximize: score}
tunables: [{set: param.x, range: [0, 9], type: int, default: 1}]
search: {samples: 2}
END
names() { "$tunesweep" results --store "$1" --json | jq -r '[.[].name] | sort | join(",")'; }
read_only() { mount -o remount,ro "$work/media"; }
writable() { mount -o remount,rw "$work/media"; }

status "a sweep" 0 "$tunesweep" run "$work/flat.yaml" -o "$work/run" --store "$db"
odd="$work/media/50% ? #1.db"
cp "$db" "$odd"
read_only
same "read-only media are read" "$(names "$db")" flat
same "whatever the file's name" "$(names "$odd")" flat
status "report, too" 0 "$tunesweep" report latest --store "$db"
status "a sweep is refused before it begins" 3 "$tunesweep" run "$work/flat.yaml" -o "$work/no" --store "$db"
contains "with the reason" "$work/err" "is on a read-only file system"
same "and left nothing" "$(find "$work/media" -type f | wc -l)" 2
writable

# A run that is killed leaves its log beside the store.
"$tunesweep" run "$work/slow.yaml" -o "$work/slow" --store "$db" >/dev/null 2>&1 &
main=$!
check "a run begins" wait_for 20 test -s "$work/begun"
kill -KILL $main
wait $main 2>/dev/null
check "and leaves a log" test -s "$db-wal"
cp "$db-wal" "$work/wal"
rm -f "$db-shm" # as on media that the two were copied to
read_only
status "a log on read-only media cannot be merged" 3 "$tunesweep" results --store "$db"
contains "and it says what to do" "$work/err" "open it once where it can be written"
check "nothing is lost by the trial" cmp "$work/wal" "$db-wal"
writable
same "where it can be written it is merged" "$(names "$db")" flat,slow
"$tunesweep" import "$(dirname "$0")/../data/ipoib-kernel-timeline.csv" --store "$db" >/dev/null
read_only
check "and read-only after that" test "$(names "$db" | tr , '\n' | grep -c .)" = 3
writable

# As somebody else.
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if nobody "$tunesweep" --version >/dev/null 2>&1; then
	chmod 755 "$work/media" && chmod 644 "$db"
	same "somebody else's folder is read" "$(nobody "$tunesweep" results --store "$db" --json | jq length)" 3
	same "without a trace" "$(find "$work/media" -user 65534)" ""
	status "but not written" 3 nobody "$tunesweep" import "$(dirname "$0")/../data/ipoib-kernel-timeline.csv" --store "$db"
	contains "which is said" "$work/err" "cannot write the store $db"
	chmod 600 "$db"
	status "a file that may not be read" 3 nobody "$tunesweep" results --store "$db"
	contains "is named with the reason" "$work/err" "cannot read the store $db: Permission denied"
	status "without any place" 3 nobody env -u HOME -u XDG_STATE_HOME "$tunesweep" results
	contains "it says how to give one" "$work/err" "give one with --store"
	status "a relative place is none" 3 nobody env -u HOME XDG_STATE_HOME=state "$tunesweep" results
	contains "as the specification has it" "$work/err" "give one with --store"
	status "a home" 3 nobody env -u XDG_STATE_HOME HOME="$work/media" "$tunesweep" results
	contains "is one" "$work/err" "$work/media/.local/state/tunesweep/results.db does not exist"
	status "a home of nobody" 3 nobody env -u XDG_STATE_HOME HOME=/proc/none "$tunesweep" run "$work/flat.yaml" -o /dev/null/x
	contains "is told before the sweep" "$work/err" "/dev/null"
else
	skip "store_places: as somebody else" "the program is where others may not be"
fi
umount "$work/media"
done_testing
