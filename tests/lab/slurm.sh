#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Hosts reached by Slurm: a real slurmctld, four slurmd and munged, started here in namespaces of their
# own and gone with them. A sweep between two nodes through srun, the same from a batch job: cancelled
# (both nodes at their baseline, the next job goes on), requeued, and at its time limit; the sbatch
# examples; and a pool of two pairs that asks for its nodes itself, or is held against the job it is in.
# Usage: BUILD=build tests/lab/slurm.sh
if [ -z "${TS_SLURM_LAB:-}" ]; then
	. "$(dirname "$0")/../tap.sh"
	[ "$(id -u)" = 0 ] || skip_all slurm "needs root for namespaces"
	for program in slurmctld slurmd munged srun sbatch; do
		command -v $program >/dev/null || [ -x /usr/sbin/$program ] ||
			skip_all slurm "there is no $program (slurm-wlm)"
	done
	# processes, mounts and /run of its own: whatever happens, nothing of Slurm survives this
	export TS_SLURM_LAB=1
	exec unshare -m -p -f --kill-child --mount-proc --propagation private "$0" "$@"
fi
PATH=$PATH:/usr/sbin
root=$(cd "$(dirname "$0")/../.." && pwd)
mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/lock /run/netns /run/munge
mount --bind /run/netns /run/netns && mount --make-shared /run/netns
. "$(dirname "$0")/common.sh"
ns_a=tst-$$-1 ns_b=tst-$$-2 ns_c=tst-$$-3 ns_d=tst-$$-4 ns_switch=tst-$$-s
wire() { # NAMESPACE NUMBER
	add_netns "$1" && ip link add eth0 netns "$1" type veth peer name "port$2" netns "$ns_switch" &&
		ip -n "$1" addr add "192.0.2.$2/24" dev eth0 && ip -n "$1" link set lo up &&
		ip -n "$1" link set eth0 up && ip -n "$ns_switch" link set "port$2" master br0 up
}
four_namespaces() {
	add_netns "$ns_switch" && ip -n "$ns_switch" link add br0 type bridge &&
		ip -n "$ns_switch" link set br0 up &&
		wire "$ns_a" 1 && wire "$ns_b" 2 && wire "$ns_c" 3 && wire "$ns_d" 4
}
four_namespaces || { not_ok slurm "cannot make namespaces"; exit 1; }
chmod 755 "$work"

host=$(hostname)
printf '127.0.0.1 localhost\n192.0.2.1 %s n1\n192.0.2.2 n2\n192.0.2.3 n3\n192.0.2.4 n4\n' "$host" >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts
mkdir -p "$work/state.slurm" "$work"/spool/n{1,2,3,4}
head -c 128 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"
cat >"$work/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(192.0.2.1)
AuthType=auth/munge
AuthInfo=socket=$work/munge.sock,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state.slurm
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
KillWait=10
SlurmctldTimeout=120
SlurmdTimeout=120
$(for i in 1 2 3 4; do
	echo "NodeName=n$i NodeHostname=$host NodeAddr=192.0.2.$i Port=1700$i CPUs=8 RealMemory=256 Feature=lab,fast State=UNKNOWN"
done)
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=pool Nodes=ALL MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$work/slurm.conf
on_a() { ip netns exec "$ns_a" "$@"; }
munged --foreground --force --num-threads=2 --key-file="$work/munge.key" --socket="$work/munge.sock" \
	--pid-file="$work/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munged.seed" >/dev/null 2>&1 &
wait_for 20 test -S "$work/munge.sock" || { not_ok "munged starts" "$(tail -3 "$work/munged.log")"; exit 1; }
on_a slurmctld -D -c >"$work/slurmctld.out" 2>&1 &
# "ip netns exec" gives them a /sys without the control groups that slurmd wants to see. They are
# handed on through this script's own /run, never below a folder that is removed at the end.
mkdir /run/cgroup && mount --rbind /sys/fs/cgroup /run/cgroup && mount --make-rprivate /run/cgroup
for m in $(awk '$2 ~ "^/run/cgroup" { print $2 }' /proc/self/mounts); do mount -o remount,bind,ro "$m" 2>/dev/null; done
node() { # NAMESPACE NODE
	ip netns exec "$1" sh -c "mount --rbind /run/cgroup /sys/fs/cgroup && exec slurmd -D -N $2" >"$work/slurmd.out.$2" 2>&1 &
}
node "$ns_a" n1
node "$ns_b" n2
node "$ns_c" n3
node "$ns_d" n4
idle() { [ "$(on_a sinfo -h -o %t 2>/dev/null | sort -u)" = idle ] && [ "$(on_a sinfo -h -p all -o %D)" = 4 ]; }
if ! wait_for 60 idle; then
	if grep -q 'cgroup plugin' "$work"/slurmd.*.log; then
		skip_all slurm "slurmd cannot use this machine's control groups: $(grep -h error: "$work/slurmd.n1.log" | head -1)"
	fi
	not_ok "slurm: four nodes are idle" "$(on_a sinfo 2>&1 | tail -2 | tr '\n' ' ') $(tail -n 3 "$work"/slurm*.log "$work"/slurm*.out* | tr '\n' ' ')"
	exit 1
fi
ok "slurm: four nodes are idle"

spec() { # NAME SAMPLES
	cat <<SPEC
tunesweep: 1
name: $1
hosts:
  tx: {via: [srun, --overlap, -N1, -n1, --nodelist=n1]}
  rx: {via: [srun, --overlap, -N1, -n1, --nodelist=n2]}
test: {type: tcp_stream, from: tx, to: rx, duration: 50ms}
tunables:
  - {set: net.ipv4.tcp_rmem, field: max, host: rx, range: [1MiB, 64MiB], scale: log}
  - {set: net.ipv4.tcp_wmem, field: max, host: tx, range: [1MiB, 64MiB], scale: log}
search: {algorithm: sobol, samples: $2, time: 300s, seed: 1}
proof: {pairs: 0}
SPEC
}
all() { for n in "$ns_a" "$ns_b" "$ns_c" "$ns_d"; do snapshot "$n"; done; }
before=$(all)
clean() { [ "$(all)" = "$before" ]; }
samples() { "$tunesweep" results --store "$1" --json 2>/dev/null | jq -r '[.[]? | .samples?] | add // 0' 2>/dev/null; }
some() { [ "$(samples "$1")" -ge "$2" ] 2>/dev/null; }

spec through 5 >"$work/through.yaml"
status "a sweep through srun" 0 on_a "$tunesweep" run "$work/through.yaml" -o "$work/through" --store "$work/through.db"
json "measured on both nodes" "$work/through/result.json" '.samples == 5 and .failed == 0 and .restored'
check "and rolled back" clean
wait_for 30 idle

# The example as it is shipped, on the spec of this test.
spec job 100000 >"$work/job.yaml"
submit() { # SPEC [SBATCH-OPTION...]: the job's number
	local spec=$1
	shift
	on_a env PATH="$build:$PATH" sbatch --parsable -N2 --output="$work/job.out" --chdir="$work" "$@" \
		"$root/sweep/slurm/sweep.sbatch" "$spec" --store "$work/job.db" -o "$work/job"
}
job=$(submit "$work/job.yaml")
check "a batch job sweeps" wait_for 90 some "$work/job.db" 3
on_a scancel "$job"
ended() { [ -z "$(on_a squeue -h -j "$job" 2>/dev/null)" ]; }
check "it is cancelled" wait_for 60 ended
check "both nodes are at their baseline" wait_for 40 clean
wait_for 60 idle
kept=$(samples "$work/job.db")
job=$(submit "$work/job.yaml")
check "the next job goes on behind its $kept samples" wait_for 90 some "$work/job.db" $((kept + 1))
on_a scontrol requeue "$job"
check "requeued, it is in good order" wait_for 40 clean
waits() { [ "$(on_a squeue -h -j "$job" -o %T 2>/dev/null)" = PENDING ]; }
check "and waits for its turn" wait_for 60 waits
kept=$(samples "$work/job.db")
check "then goes on behind its $kept samples" wait_for 90 some "$work/job.db" $((kept + 1))
on_a scancel "$job"
check "and is cancelled" wait_for 60 ended
wait_for 60 idle
kept=$(samples "$work/job.db")
job=$(submit "$work/job.yaml" --time=1 --signal=B:INT@55)
check "a job with a time limit goes on" wait_for 90 some "$work/job.db" $((kept + 1))
check "and is ended before it" wait_for 90 ended
check "in good order" wait_for 40 clean
runs=$("$tunesweep" results --store "$work/job.db" --json | jq -c '[.[].status]')
same "all as one run, which the next job may resume" "$runs" '["interrupted"]'
wait_for 60 idle
for example in "$root"/sweep/slurm/*.sbatch; do
	check "$(basename "$example") is a script" bash -n "$example"
	check "which sbatch takes" on_a sbatch --test-only -N2 --array=1-2 "$example" x.yaml
done

# A pool of Slurm's. The same spec asks for nodes where there is no job, and takes a job's own.
pool() { # NAME SAMPLES SLURM
	cat <<SPEC
tunesweep: 1
name: $1
pool: {slurm: {pairs: 2, $3}}
test: {type: tcp_stream, from: sender, to: receiver, duration: 50ms}
tunables:
  - {set: net.ipv4.tcp_rmem, field: max, host: receiver, range: [1MiB, 64MiB], scale: log}
  - {set: net.ipv4.tcp_wmem, field: max, host: sender, range: [1MiB, 64MiB], scale: log}
search: {algorithm: sobol, samples: $2, time: 300s, seed: 1}
proof: {pairs: 0}
SPEC
}
queue() { on_a squeue -h -o %i; }
empty() { [ -z "$(queue)" ]; }
pool pool 8 'partition: pool, constraint: "lab&fast"' >"$work/pool.yaml"
run_pool() { "$tunesweep" run "$work/$1.yaml" -o "$work/$1" --store "$work/$1.db"; }
export -f run_pool
export tunesweep work
status "a pool asks Slurm for its nodes" 0 on_a "$tunesweep" run "$work/pool.yaml" -o "$work/pool" --store "$work/pool.db"
json "and both pairs measure" "$work/pool/result.json" '.samples == 8 and .failed == 0 and .restored and
	(.pairs | length == 2 and all(.throughput > 0))'
check "all four nodes are at their baseline" clean
check "and free again" wait_for 30 empty
wait_for 60 idle
pool none 8 'partition: nowhere' >"$work/none.yaml"
status "a partition that there is not" 3 on_a bash -c 'run_pool none'
contains "gives no nodes" "$work/err" "no nodes were to be had"
pool slow 8 'constraint: slow' >"$work/slow.yaml"
status "nor does a constraint that no node fits" 3 on_a bash -c 'run_pool slow'
status "a job in another partition" 2 on_a salloc -Q -N4 -p all bash -c 'run_pool pool'
contains "is refused" "$work/err" "partition 'pool': this job is in all"
status "and so are nodes that are otherwise" 2 on_a salloc -Q -N4 -p pool bash -c 'run_pool slow'
contains "with what they are" "$work/err" "constraint 'slow': node n1 of this job has only lab,fast"
status "and too few" 2 on_a salloc -Q -N2 -p pool bash -c 'run_pool pool'
contains "by number" "$work/err" "2 pairs want 4 nodes, the allocation has 2"
status "within a job that fits" 0 on_a salloc -Q -N4 -p pool bash -c 'run_pool pool'
json "it sweeps, too" "$work/pool/result.json" '.samples == 8 and (.pairs | length == 2)'
wait_for 60 idle
pool cut 100000 'partition: pool' >"$work/cut.yaml"
start_pool() { # [OPTION...]: in the background
	on_a "$tunesweep" run "$work/cut.yaml" -o "$work/cut" --store "$work/cut.db" "$@" >"$work/out" 2>"$work/err" </dev/null &
	main=$!
}
start_pool
check "a longer one is under way" wait_for 90 some "$work/cut.db" 4
on_a scancel "$(queue)"
wait $main
same "its job is cancelled: status" $? 3
contains "which says how it goes on" "$work/err" "run --resume goes on"
check "all four nodes are at their baseline" wait_for 40 clean
wait_for 60 idle
kept=$(samples "$work/cut.db")
start_pool --resume
check "it goes on behind its $kept samples" wait_for 90 some "$work/cut.db" $((kept + 1))
victim=$(for p in $(family $main); do [ "$(cat "/proc/$p/comm")" = tunesweep ] && echo "$p"; done | head -1)
kill -KILL "$victim"
wait $main
check "killed, it holds no nodes" wait_for 60 empty
check "and all four are at their baseline" wait_for 40 clean
done_testing
