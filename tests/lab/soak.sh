#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Long sweeps over the simulated engine: what a trial leaves in memory is some hundred bytes, its values
# and numbers, and it leaves no descriptor. Then a session of the agents of two hosts (namespaces; root)
# with a fiftieth as many samples of real streams: those leave nothing. Figures of the long form stand in
# tests/README.md.
# Usage: BUILD=build tests/lab/soak.sh [TRIALS]     (1000; make soak: 10000)
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || skip_all soak "python3 is not installed"
trials=${1:-1000}
BYTES_A_TRIAL=400
# The store's cache of pages is full after some 1,500 trials: until then it grows, too.
cache=$((trials < 10000 ? 1024 : 0))
AGENTS_KIB=1024      # of all their processes together, for noise
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

# watch.py WHO TRIALS COMMAND...: runs a sweep and prints its status, how many trials it told of, the most
# that it held in memory, and what WHO held (KiB of memory, descriptors, the least of three trials, since
# one may be under way; WHO: self, or agents for all the processes below it) and how long a trial took
# (us, since the mark before) after a fifth of the trials and near the end. Its stderr is a pipe that
# takes a page, so that it cannot be far ahead of the line that was read.
cat >"$work/watch.py" <<'END'
import fcntl, os, resource, subprocess, sys, time
F_SETPIPE_SZ = 1031
who, trials = sys.argv[1], int(sys.argv[2])
r, w = os.pipe()
fcntl.fcntl(w, F_SETPIPE_SZ, 4096)
child = subprocess.Popen(sys.argv[3:], stdout=subprocess.DEVNULL, stderr=w)
os.close(w)
def below(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for one in children.read().split():
                yield one
                yield from below(one)
def kib_of(pid):
    with open(f"/proc/{pid}/status") as status:
        return sum(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
def held():
    pids = list(below(child.pid)) if who == "agents" else [child.pid]
    return sum(map(kib_of, pids)), sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)
n, marks, last = 0, {trials // 5: [0, 0, 0], trials * 9 // 10 - 2: [0, 0, 0]}, (0, time.monotonic())
for line in os.fdopen(r, errors="replace"):
    said = line
    if not line.startswith("search "):
        continue
    n += 1
    if n in marks:
        now = (n, time.monotonic())
        marks[n] = [*held(), round(1e6 * (now[1] - last[1]) / (now[0] - last[0]))]
        last = now
    for m in (n - 1, n - 2):
        if m in marks:
            marks[m][:2] = map(min, marks[m], held())
status = child.wait()
if status:
    print("#", said, end="", file=sys.stderr)
print(status, n, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
      *(x for mark in marks.values() for x in mark))
END

# sweep ALGORITHM
sweep() {
	local status n peak kib fds us late_kib late_fds late_us between=$((trials * 9 / 10 - trials / 5))
	spec "$1" >"$work/$1.yaml"
	read -r status n peak kib fds us late_kib late_fds late_us < <(python3 "$work/watch.py" self "$trials" \
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

# Real streams of 10 ms: the agents, their endpoints and guardians over a long session.
agents() {
	local status n peak kib fds us late_kib late_fds late_us samples=$((trials / 50))
	local searched=$((samples * 17 / 20)) # the others are the baseline's
	cat >"$work/agents.yaml" <<-END
		tunesweep: 1
		name: soak-agents
		hosts:
		  sender: {via: netns:$ns_a, address: 192.0.2.1}
		  receiver: {via: netns:$ns_b, address: 192.0.2.2}
		test: {type: tcp_stream, from: sender, to: receiver, duration: 10ms}
		tunables:
		  - {set: net.ipv4.tcp_rmem, field: max, host: receiver, range: [1MiB, 64MiB], scale: log}
		  - {set: socket.message_size, range: [16KiB, 1MiB], scale: log}
		search: {algorithm: random, samples: $samples, time: 2h, seed: 7}
		proof: {pairs: 0}
	END
	read -r status n peak kib fds us late_kib late_fds late_us < <(python3 "$work/watch.py" agents "$searched" \
		"$tunesweep" run "$work/agents.yaml" -o "$work/agents" --store "$work/agents.db")
	echo "# agents: $kib KiB, $fds descriptors after $((searched / 5)) samples of $us us;" \
		"$late_kib KiB, $late_fds after $((searched * 9 / 10)) of $late_us us"
	same "agents: the sweep ends well" "$status" 0
	check "agents: after all its samples" test "$n" -ge "$searched"
	check "agents: they hold no more after many samples than after few" \
		test "$kib" -gt 0 -a $((late_kib - kib)) -lt $AGENTS_KIB
	# some sockets more or less, by how far the streams are just then
	check "agents: and a sample leaves no descriptor" \
		test "$fds" -gt 0 -a $((late_fds - fds)) -lt $((samples / 3))
}

for algorithm in random sobol GN_DIRECT_L; do
	sweep $algorithm
done
need_root soak-agents
make_namespaces
agents
done_testing
