#!/bin/bash
# Long sweeps over the simulated engine: what a trial leaves in memory is a few KiB, and it leaves no
# descriptor. Figures of the long form stand in tests/README.md.
# Usage: BUILD=build tests/lab/soak.sh [TRIALS]     (500; make soak: 10000)
. "$(dirname "$0")/common.sh"
trials=${1:-500} fifth=$((${1:-500} / 5))
KIB_A_TRIAL=6

# spec ALGORITHM
spec() {
	cat <<END
tunesweep: 1
name: soak-$1
test: {engine: simulated, surface: ridge, noise: 3%}
tunables:
  - {set: param.wmem, range: [1, 1048576], type: int, scale: log, default: 64}
  - {set: param.rmem, range: [1, 1048576], type: int, scale: log, default: 64}
  - {set: param.mode, choices: [one, other], default: one}
search: {algorithm: $1, samples: $trials, time: 2h, seed: 7}
proof: {pairs: 30}
END
}

# KiB in memory, and open descriptors
held() {
	awk '/^VmRSS/ { printf "%s ", $2 }' "/proc/$1/status"
	find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l
}

# sweep ALGORITHM: held after a fifth of the trials, and after all
sweep() {
	local pid n=0 line early='' late=''
	spec "$1" >"$work/$1.yaml"
	mkfifo "$work/$1.said"
	"$tunesweep" run "$work/$1.yaml" -o "$work/$1" --store "$work/$1.db" >"$work/$1.out" 2>"$work/$1.said" &
	pid=$!
	while read -r line; do
		case $line in
		search\ *) n=$((n + 1)) ;;
		*) continue ;;
		esac
		[ $n = "$fifth" ] && early=$(held $pid)
		[ $((n % 100)) = 90 ] && [ $n -gt $((trials * 4 / 5)) ] && late=$(held $pid) && last=$n
	done <"$work/$1.said"
	wait $pid || {
		not_ok "$1: the sweep" "ended with $?"
		return
	}
	echo "# $1: $early (KiB, descriptors) after $fifth trials, $late after $last"
	check "$1: nothing is measured that does not count" test "$n" -ge $((trials * 9 / 10))
	check "$1: a trial leaves less than $KIB_A_TRIAL KiB" test $((${late% *} - ${early% *})) -lt $((KIB_A_TRIAL * (last - fifth)))
	same "$1: and no descriptor" "${late#* }" "${early#* }"
}

sweep random
sweep "${2:-auto}"
exit $failed
