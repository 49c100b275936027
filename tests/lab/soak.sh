#!/bin/bash
# Long sweeps over the simulated engine: what a trial leaves in memory is some hundred bytes, its values
# and numbers, and it leaves no descriptor. Figures of the long form stand in tests/README.md.
# Usage: BUILD=build tests/lab/soak.sh [TRIALS]     (1000; make soak: 10000)
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || skip_all soak "python3 is not installed"
trials=${1:-1000}
BYTES_A_TRIAL=400
# The store's cache of pages is full after some 1,500 trials: until then it grows, too.
cache=$((trials < 10000 ? 1024 : 0))
REPORT_KIB_A_TRIAL=4 # what the report's table takes, once, at the end

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

# Runs a sweep and prints its status, how many trials it told of, the most that it held in memory, and
# what it held (KiB of memory, descriptors) and how long a trial took (us, since the mark before) after
# a fifth of them and near the end. Its stderr is a pipe that takes a page, so that it cannot be far
# ahead of the line that was read.
cat >"$work/watch.py" <<'END'
import fcntl, os, resource, subprocess, sys, time
F_SETPIPE_SZ = 1031
trials = int(sys.argv[1])
r, w = os.pipe()
fcntl.fcntl(w, F_SETPIPE_SZ, 4096)
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=w)
os.close(w)
def held():
    with open(f"/proc/{child.pid}/status") as status:
        kib = next(line.split()[1] for line in status if line.startswith("VmRSS"))
    return f'{kib} {len(os.listdir(f"/proc/{child.pid}/fd"))}'
n, marks, last = 0, {trials // 5: "0 0 0", trials * 9 // 10: "0 0 0"}, (0, time.monotonic())
for line in os.fdopen(r, errors="replace"):
    n += line.startswith("search ")
    if n in marks and line.startswith("search "):
        now = (n, time.monotonic())
        marks[n] = f"{held()} {1e6 * (now[1] - last[1]) / (now[0] - last[0]):.0f}"
        last = now
status = child.wait()
print(status, n, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, *marks.values())
END

# sweep ALGORITHM
sweep() {
	local status n peak kib fds us late_kib late_fds late_us between=$((trials * 9 / 10 - trials / 5))
	spec "$1" >"$work/$1.yaml"
	read -r status n peak kib fds us late_kib late_fds late_us < <(python3 "$work/watch.py" "$trials" \
		"$tunesweep" run "$work/$1.yaml" -o "$work/$1" --store "$work/$1.db")
	echo "# $1: $kib KiB, $fds descriptors after $((trials / 5)) trials of $us us;" \
		"$late_kib KiB, $late_fds after $((trials * 9 / 10)) of $late_us us; at most $peak KiB"
	same "$1: the sweep ends well" "$status" 0
	check "$1: after all its trials" test "$n" -ge $((trials - 10))
	check "$1: a trial leaves less than $BYTES_A_TRIAL bytes" \
		test $((late_kib - kib)) -lt $((BYTES_A_TRIAL * between / 1024 + cache))
	check "$1: and no descriptor" test "$fds" -gt 0 -a "$late_fds" = "$fds"
	check "$1: the report takes less than $REPORT_KIB_A_TRIAL KiB a trial" \
		test $((peak - late_kib)) -lt $((REPORT_KIB_A_TRIAL * trials + 4096))
}

for algorithm in random sobol GN_DIRECT_L; do
	sweep $algorithm
done
done_testing
