#!/bin/bash
# Hosts reached by Slurm: a real slurmctld, two slurmd and munged, started here in namespaces of their
# own and gone with them. A sweep between two nodes through srun, the same from a batch job, a job
# that is cancelled (both nodes at their baseline, the next job goes on), and the sbatch examples.
# Usage: BUILD=build tests/lab/slurm.sh
if [ -z "${TS_SLURM_LAB:-}" ]; then
	[ "$(id -u)" = 0 ] || { echo "ok slurm # SKIP needs root for namespaces"; exit 0; }
	for program in slurmctld slurmd munged srun sbatch; do
		command -v $program >/dev/null || [ -x /usr/sbin/$program ] ||
			{ echo "ok slurm # SKIP there is no $program (slurm-wlm)"; exit 0; }
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
make_namespaces || { not_ok slurm "cannot make namespaces"; exit 1; }
chmod 755 "$work"

host=$(hostname)
printf '127.0.0.1 localhost\n192.0.2.1 %s n1\n192.0.2.2 n2\n' "$host" >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts
mkdir -p "$work/state.slurm" "$work/spool/n1" "$work/spool/n2"
head -c 128 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"
cat >"$work/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(192.0.2.1)
AuthType=auth/munge
AuthInfo=socket=$work/munge.sock
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
NodeName=n1 NodeHostname=$host NodeAddr=192.0.2.1 Port=17001 CPUs=8 RealMemory=256 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=192.0.2.2 Port=17002 CPUs=8 RealMemory=256 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
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
idle() { [ "$(on_a sinfo -h -o %t 2>/dev/null | sort -u)" = idle ] && [ "$(on_a sinfo -h -o %D)" = 2 ]; }
if ! wait_for 60 idle; then
	if grep -q 'cgroup plugin' "$work"/slurmd.*.log; then
		echo "ok slurm # SKIP slurmd cannot use this machine's control groups: $(grep -h error: "$work/slurmd.n1.log" | head -1)"
		exit 0
	fi
	not_ok "slurm: two nodes are idle" "$(on_a sinfo 2>&1 | tail -2 | tr '\n' ' ') $(tail -n 3 "$work"/slurm*.log "$work"/slurm*.out* | tr '\n' ' ')"
	exit 1
fi
ok "slurm: two nodes are idle"

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
before_a=$(snapshot "$ns_a") before_b=$(snapshot "$ns_b")
clean() { [ "$(snapshot "$ns_a")" = "$before_a" ] && [ "$(snapshot "$ns_b")" = "$before_b" ]; }
samples() { "$tunesweep" results --store "$1" --json 2>/dev/null | jq -r '[.[]? | .samples?] | add // 0' 2>/dev/null; }
some() { [ "$(samples "$1")" -ge "$2" ] 2>/dev/null; }

spec through 5 >"$work/through.yaml"
status "a sweep through srun" 0 on_a "$tunesweep" run "$work/through.yaml" -o "$work/through" --store "$work/through.db"
check "measured on both nodes" jq -e '.samples == 5 and .failed == 0 and .restored' "$work/through/result.json"
check "and rolled back" clean
wait_for 30 idle

# The example as it is shipped, on the spec of this test.
spec job 100000 >"$work/job.yaml"
submit() { # SPEC: the job's number
	on_a env PATH="$build:$PATH" sbatch --parsable -N2 --output="$work/job.out" --chdir="$work" \
		"$root/sweep/slurm/sweep.sbatch" "$1" --store "$work/job.db" -o "$work/job"
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
on_a scancel --signal=INT --batch "$job"
check "a signal before the time limit ends it" wait_for 90 ended
check "in good order" wait_for 40 clean
runs=$("$tunesweep" results --store "$work/job.db" --json | jq -c '[.[].status]')
same "as one run, which the next job may resume" "$runs" '["interrupted"]'
for example in "$root"/sweep/slurm/*.sbatch; do
	check "$(basename "$example") is a script" bash -n "$example"
	check "which sbatch takes" on_a sbatch --test-only -N2 --array=1-2 "$example" x.yaml
done
exit $failed
