# What the lab scripts share: TAP lines, two namespaces of their own, snapshots of sysctls, and the
# processes below a pid. Sourced, not run.
# shellcheck shell=bash
set -u
build=$(cd "${BUILD:-build}" && pwd)
tunesweep=$build/tunesweep
work=$(mktemp -d)
failed=0

ok() { echo "ok $1"; }
not_ok() {
	echo "not ok $1 - $2"
	failed=1
}
skip_all() {
	echo "ok $1 # SKIP $2"
	exit 0
}
# check NAME COMMAND...: ok if the command succeeds
check() {
	local name=$1
	shift
	if "$@" >"$work/check.out" 2>&1; then
		ok "$name"
	else
		not_ok "$name" "$* ended with $?: $(head -c 600 "$work/check.out" | tr '\n' ' ')"
	fi
}
# status NAME WANTED COMMAND...: ok if it ends with that exit status; output in $work/out, $work/err
status() {
	local name=$1 wanted=$2 rc
	shift 2
	"$@" >"$work/out" 2>"$work/err" </dev/null
	rc=$?
	if [ "$rc" = "$wanted" ]; then
		ok "$name"
	else
		not_ok "$name" "status $rc instead of $wanted: $(tail -c 400 "$work/err" | tr '\n' ' ')"
	fi
}
# contains NAME FILE TEXT
contains() {
	if grep -qF -- "$3" "$2"; then
		ok "$1"
	else
		not_ok "$1" "no '$3' in: $(head -c 500 "$2" | tr '\n' ' ')"
	fi
}
same() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "'$2' is not '$3'"
	fi
}
# wait_for SECONDS COMMAND...: polls until it succeeds
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}
# All processes below a pid, itself first.
family() {
	local waiting=("$1") p c
	while [ ${#waiting[@]} -gt 0 ]; do
		p=${waiting[0]}
		waiting=("${waiting[@]:1}")
		echo "$p"
		for c in $(cat /proc/"$p"/task/*/children 2>/dev/null); do waiting+=("$c"); done
	done
}
need_root() {
	[ "$(id -u)" = 0 ] || skip_all "$1" "needs root for network namespaces"
	ip netns add "ts-probe-$$" 2>/dev/null || skip_all "$1" "network namespaces are not allowed here"
	ip netns del "ts-probe-$$"
}
# Two namespaces joined by veth, 192.0.2.1 and 192.0.2.2, named $ns_a and $ns_b.
make_namespaces() {
	ns_a=tst-$$-a ns_b=tst-$$-b
	ip netns add "$ns_a" && ip netns add "$ns_b" &&
		ip link add eth0 netns "$ns_a" type veth peer name eth0 netns "$ns_b" &&
		ip -n "$ns_a" addr add 192.0.2.1/30 dev eth0 && ip -n "$ns_b" addr add 192.0.2.2/30 dev eth0 &&
		ip -n "$ns_a" link set lo up && ip -n "$ns_b" link set lo up &&
		ip -n "$ns_a" link set eth0 up && ip -n "$ns_b" link set eth0 up
}
# Addresses of the link besides: fe80::1 and fe80::2. (A link that was down has lost them.)
link_local() {
	ip -n "$ns_a" addr replace fe80::1/64 dev eth0 nodad
	ip -n "$ns_b" addr replace fe80::2/64 dev eth0 nodad
}
# Every TCP sysctl of a namespace, a line each.
snapshot() {
	ip netns exec "$1" sh -c 'cd /proc/sys/net/ipv4 && exec awk "{print FILENAME, \$0}" tcp_*mem \
		tcp_congestion_control tcp_slow_start_after_idle tcp_notsent_lowat' 2>/dev/null
}
cleanup() {
	[ -n "${ns_a:-}" ] && ip netns del "$ns_a" 2>/dev/null
	[ -n "${ns_b:-}" ] && ip netns del "$ns_b" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
export XDG_STATE_HOME=$work/state
