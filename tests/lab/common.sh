# SPDX-License-Identifier: GPL-3.0-or-later
# What the lab scripts share: TAP lines, two namespaces of their own, snapshots of sysctls, and the
# processes below a pid. Sourced, not run.
# shellcheck shell=bash
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
build=$(cd "${BUILD:-build}" && pwd)
tunesweep=$build/tunesweep
work=$(mktemp -d)

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
# lacks NAME FILE REGEX: no line of the file, which is there, matches
lacks() {
	grep -E -m 3 -e "$3" -- "$2" >"$work/lacks.out" 2>&1
	case $? in
	1) ok "$1" ;;
	*) not_ok "$1" "$2: $(head -c 500 "$work/lacks.out" | tr '\n' ' ')" ;;
	esac
}
# holds FILE FILTER [JQ_OPTION...]: the file is one JSON value, of which the filter says something, and
# nothing that is false. (jq -e alone is content with an empty file.)
holds() {
	local file=$1 filter=$2
	shift 2
	jq -es "$@" "length == 1 and (.[0] | [$filter] | length > 0 and all)" "$file"
}
# json NAME FILE FILTER [JQ_OPTION...]: ok if the file holds that
json() { check "$1" holds "${@:2}"; }
# same NAME GOT WANTED
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
# A zombie lives no more: it waits for a parent that may be dead itself.
lives() {
	local line
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
	[[ ${line##*) } != [ZX]* ]]
}
# look_below PID: it and all processes below it into the array $below; starts no program
look_below() {
	local unseen=("$1") p file children
	below=()
	while [ ${#unseen[@]} -gt 0 ]; do
		p=${unseen[0]}
		unseen=("${unseen[@]:1}")
		lives "$p" || continue
		below+=("$p")
		for file in /proc/"$p"/task/*/children; do
			children=()
			{ read -ra children <"$file"; } 2>/dev/null
			unseen+=("${children[@]}")
		done
	done
}
family() {
	look_below "$1"
	printf '%s\n' "${below[@]}"
}
# no_journals [FOLDER]: none is in the run folder, which is there
no_journals() {
	local left
	left=$(find "${1:-/run/tunesweep}" -name '*.journal') && [ -z "$left" ]
}
need_root() {
	[ "$(id -u)" = 0 ] || skip_all "$1" "needs root for network namespaces"
	command -v ip >/dev/null || { not_ok "$1" "there is no ip (iproute2)"; exit 1; }
	ip netns add "ts-probe-$$" 2>/dev/null || skip_all "$1" "network namespaces are not allowed here"
	ip netns del "ts-probe-$$"
}
namespaces=() # of this script
add_netns() { # NAME...: gone with the script, and whoever is in them
	local ns
	for ns in "$@"; do
		ip netns add "$ns" && namespaces+=("$ns") || return 1
	done
}
# Two namespaces joined by veth, 192.0.2.1 and 192.0.2.2, named $ns_a and $ns_b.
make_namespaces() {
	ns_a=tst-$$-a ns_b=tst-$$-b
	add_netns "$ns_a" "$ns_b" &&
		ip link add eth0 netns "$ns_a" type veth peer name eth0 netns "$ns_b" &&
		ip -n "$ns_a" addr add 192.0.2.1/30 dev eth0 && ip -n "$ns_b" addr add 192.0.2.2/30 dev eth0 &&
		ip -n "$ns_a" link set lo up && ip -n "$ns_b" link set lo up &&
		ip -n "$ns_a" link set eth0 up && ip -n "$ns_b" link set eth0 up &&
		[ -n "$(snapshot "$ns_a")" ] && [ -n "$(snapshot "$ns_b")" ] # or all would always be as before
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
# Whoever is left below this script and in its namespaces is asked to end, and after 5 s made to.
end_processes() {
	local ns p round left
	for round in {1..60}; do
		look_below $$
		left=("${below[@]:1}")
		for ns in "${namespaces[@]}"; do
			for p in $(ip netns pids "$ns" 2>/dev/null); do
				! lives "$p" || left+=("$p")
			done
		done
		[ ${#left[@]} -gt 0 ] || return
		case $round in
		1)
			kill -TERM "${left[@]}"
			kill -CONT "${left[@]}"
			;;
		5?) kill -KILL "${left[@]}" ;;
		esac 2>/dev/null
		sleep 0.1
	done
}
# At every end, also that by a signal, which no other signal cuts short then. What is left of an
# interrupted test are journals of namespaces that are gone: the program throws them away.
cleanup() {
	local ns
	trap '' INT TERM HUP
	end_processes
	for ns in "${namespaces[@]}"; do ip netns del "$ns" 2>/dev/null; done
	! compgen -G '/run/tunesweep/net-*/*.journal' >/dev/null || timeout 20 "$tunesweep" restore >/dev/null 2>&1
	rm -rf "$work"
}
trap cleanup EXIT
export XDG_STATE_HOME=$work/state
# spec_of_bench: $work/spec.yaml, a short sweep of one parameter over the benchmark $work/bench
spec_of_bench() {
	chmod +x "$work/bench"
	cat >"$work/spec.yaml" <<END
tunesweep: 1
name: check
test: {engine: command, command: [$work/bench]}
objective: {maximize: throughput}
tunables:
  - {set: param.x, type: int, range: [1, 4], default: 1}
search: {algorithm: sobol, samples: 12, time: 60s, seed: 1}
proof: {pairs: 8, time: 30s}
END
}
