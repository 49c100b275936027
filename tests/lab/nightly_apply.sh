#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# tunesweep nightly with apply: verified, over namespaces: what three boots have proved is applied by the
# night, on hosts by name and behind a command, and not before; what an apply that fails leaves. The
# benchmark gains by what is set, the boots are made by a file over the kernel's own.
# Usage: BUILD=build tests/lab/nightly_apply.sh
. "$(dirname "$0")/common.sh"
need_root nightly_apply
make_namespaces || { not_ok nightly_apply "cannot make namespaces"; exit 1; }
export TZ=UTC
other_boot() { # NUMBER COMMAND...: as after a reboot
	echo "00000000-0000-4000-8000-00000000000$1" >"$work/boot_id"
	shift
	unshare -m bash -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$work/boot_id" "$@"
}
other_boot 1 true 2>/dev/null || skip_all nightly_apply "cannot mount over the boot's id"
get() { ip netns exec "$1" cat /proc/sys/net/ipv4/tcp_notsent_lowat; }
before_a=$(get "$ns_a") before_b=$(get "$ns_b")

cat >"$work/bench" <<END
#!/bin/bash
# A fifth more where tx has at most 64 KiB; 1 % of noise.
cat >/dev/null
x=\$(ip netns exec $ns_a cat /proc/sys/net/ipv4/tcp_notsent_lowat)
awk -v x="\$x" -v noise=\$RANDOM 'BEGIN {
	t = 1e9 * (x <= 65536 ? 1.2 : 1) * (1 + 0.01 * (noise / 32768 - 0.5))
	printf "{\"throughput\": %.0f, \"service_demand\": %.6f}\n", t, 5e8 / t }'
END
chmod +x "$work/bench"
cat >"$work/night.yaml" <<END
tunesweep: 1
name: night
hosts:
  tx: {via: "netns:$ns_a"}
  rx: {via: [ip, netns, exec, $ns_b]}
test: {engine: command, command: [$work/bench]}
objective: {maximize: throughput}
tunables:
  - {set: net.ipv4.tcp_notsent_lowat, host: tx, range: [16KiB, 1MiB], scale: log}
  - {set: net.ipv4.tcp_notsent_lowat, host: rx, range: [16KiB, 1MiB], scale: log}
search: {algorithm: sobol, samples: 8, time: 60s, seed: 1}
proof: {pairs: 8, time: 60s}
END
cat >"$work/nightly.yaml" <<END
tunesweep_nightly: 1
state: state
window: {from: "23:00", to: "05:00"}
in_use: {inhibit: inhibit}
doctor: off
apply: verified
compare: {samples: 6, threshold: 5%}
keep: {days: 36500}
write: {json: summary.json}
sweeps: [{spec: night.yaml, every: 1}]
END
night() { # BOOT DAY [OPTION...]
	other_boot "$1" "$tunesweep" nightly "$work/nightly.yaml" --now "2031-03-${2}T02:00:00" \
		--store "$work/results.db" "${@:3}"
}
for day in 1 2; do
	status "night $day" 0 night $day 1$day
	json "proves the best on boot $day" "$work/summary.json" '.sweeps[0].proved_on_boots == $n' --argjson n $day
	same "and applies nothing" "$(get "$ns_a") $(get "$ns_b")" "$before_a $before_b"
done
status "night 3" 0 night 3 13
json "has it proved on three boots" "$work/summary.json" '.sweeps[0].proved_on_boots == 3'
check "what gains is set on tx: $(get "$ns_a")" test "$(get "$ns_a")" -le 65536
profile=$(echo "$work"/state/*/night.yaml)
hosts=(--host "tx=netns:$ns_a" --host "rx=ip netns exec $ns_b")
status "all of the profile is there, behind the command, too" 0 other_boot 3 "$tunesweep" verify "$profile" "${hosts[@]}"
status "it is applied as any profile" 0 other_boot 3 "$tunesweep" status "${hosts[@]}"
contains "by its name" "$work/out" "profile night since"
set_a=$(get "$ns_a")
status "rollback" 0 other_boot 3 "$tunesweep" rollback "${hosts[@]}"
same "puts everything back" "$(get "$ns_a") $(get "$ns_b")" "$before_a $before_b"
check "tx had another value: $set_a" test "$set_a" != "$before_a"

rm -rf "$work/state"
for day in 1 2; do
	status "again, night $day" 0 night $day 1$day
done
cat >"$work/doctor.yaml" <<END
$(sed 's/^doctor: off/doctor: advise/' "$work/nightly.yaml")
END
cp "$work/doctor.yaml" "$work/nightly.yaml"
status "a night that asks the doctor" 0 night 3 13
json "has what the doctor says" "$work/summary.json" '.doctor | type == "object"'
status "rollback of what it has applied" 0 other_boot 3 "$tunesweep" rollback "${hosts[@]}"
same "puts that back, too" "$(get "$ns_a") $(get "$ns_b")" "$before_a $before_b"
done_testing
