#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A host that takes long over one request (a link that comes back late) must not make the others
# believe that the controller is gone: they hear heartbeats meanwhile. The slow host is one whose
# requests to set are handed on late; the other one rolls back and leaves after a short silence.
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/common.sh
need_root heartbeat
make_namespaces || { not_ok heartbeat "cannot make namespaces"; exit 1; }
chmod 755 "$work"
cat >"$work/quick" <<END
#!/bin/sh
exec ip netns exec $ns_a "\$@" --silence-ms 2000
END
cat >"$work/slow" <<END
#!/bin/bash
while IFS= read -r line; do
	case \$line in
	*'"op":"set"'* | *'"op":"replace"'*) sleep 5 ;;
	esac
	printf '%s\n' "\$line"
done | ip netns exec $ns_b "\$@"
END
chmod 755 "$work/quick" "$work/slow"
cat >"$work/slow.yaml" <<END
tunesweep: 1
name: slow
hosts:
  a: {via: [$work/quick], agent: $build/tunesweep-agent}
  b: {via: [$work/slow], agent: $build/tunesweep-agent, address: 192.0.2.2}
test: {type: tcp_stream, from: a, to: b, duration: 50ms}
tunables:
  - {set: net.ipv4.tcp_wmem, field: max, host: a, range: [1MiB, 8MiB]}
  - {set: net.ipv4.tcp_rmem, field: max, host: b, range: [1MiB, 8MiB]}
search: {samples: 2, seed: 1}
proof: {pairs: 0}
END
before=$(snapshot "$ns_a"; snapshot "$ns_b")
status "a sweep with a host that takes 5 s over each setting" 0 \
	"$tunesweep" run "$work/slow.yaml" -o "$work/slow.out" --store "$work/db"
json "the other one, which waits for 2 s at most, was not lost" "$work/slow.out/result.json" \
	'.restored and .failed == 0 and .samples >= 2'
same "everything is as before" "$(snapshot "$ns_a"; snapshot "$ns_b")" "$before"
done_testing
