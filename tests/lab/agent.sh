#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The agent in a namespace of its own: requests, privileges, and everything that may end it: end of
# input, signals, silence, SIGKILL of it, of it and its guardian, and of the main process.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lab/driver.bash

need_root agent
NS=tsl-$$
add_netns "$NS" || exit 1
ip -n "$NS" link set lo up
build_driver

rmem() { ip netns exec "$NS" sysctl -n net.ipv4.tcp_rmem | tr -s '\t ' ' '; }
is_rmem() { [[ $(rmem) == "$1" ]]; }
ip netns exec "$NS" sysctl -qw net.ipv4.tcp_rmem="4096 131072 6291456"
BASE=$(rmem)
TUNED="4096 131072 8388608"
R=net.ipv4.tcp_rmem

# In: requests by line. Out: answers. The agent runs in the namespace without a launcher.
plain_agent() { ip netns exec "$NS" "$AGENT" --run-dir "$TMP/run" "$@"; }
req() { printf '{"v":1,"id":%d,"op":"%s"%s}\n' "$1" "$2" "${3:+,$3}"; }
OPEN='"layer":"sweep","profile":"t","settings":[{"set":"net.ipv4.tcp_rmem","device":""}]'
value() { printf '"values":[{"set":"%s","device":"","field":"%s","value":%s}]' "$1" "$2" "$3"; }

### The protocol from outside, as a stranger would speak it
matches version "$("$AGENT" --version)" "tunesweep-agent [0-9]*"
matches help "$("$AGENT" --help)" "usage: tunesweep-agent*"
"$AGENT" --nonsense </dev/null >/dev/null 2>&1
matches "unknown option is status 2" "$?" 2
matches "hello" "$(req 1 hello | plain_agent)" '*"ok":true*"netns_cookie":*'
matches "other protocol version" "$(echo '{"v":2,"id":1,"op":"hello"}' | plain_agent)" '*"ok":false*protocol*'
matches "unknown operation" "$(req 1 exec | plain_agent)" '*"ok":false*no operation*'
matches "unknown key" "$(req 1 ping '"path":"/etc"' | plain_agent)" '*"ok":false*'
matches "garbage is answered" "$({ echo '}{'; req 2 ping; } | plain_agent | tail -n 1)" '*"id":2,"ok":true*'
matches "a line over 64 KiB ends it" "$(head -c 70000 /dev/zero | tr '\0' x | plain_agent | wc -l)" 0
matches "set without open" "$(req 1 set "$(value $R max 8388608)" | plain_agent)" '*"ok":false*'
for name in net.ipv4..tcp_rmem ../tcp_rmem net/ipv4/../../kernel/panic net.ipv4.. /proc/sys/kernel/panic; do
	matches "name $name is refused" \
		"$({ req 1 open "$OPEN"; req 2 set "$(value "$name" max 1)"; } | plain_agent | tail -n 1)" '*"ok":false*'
	matches "name $name is refused on open" \
		"$(req 1 open "\"layer\":\"sweep\",\"profile\":\"\",\"settings\":[{\"set\":\"$name\",\"device\":\"\"}]" | plain_agent)" '*"ok":false*'
done
for bad in '"x"' true null '[1]' -1 99999999999 1.5; do
	matches "value $bad is refused" \
		"$({ req 1 open "$OPEN"; req 2 set "$(value $R max "$bad")"; } | plain_agent | tail -n 1)" '*"ok":false*'
done
matches "nothing was changed by all that" "$(rmem)" "$BASE"
refusals() { # lines on standard error for requests on standard input
	plain_agent 2>&1 >/dev/null | grep -c "refused: "
}
matches "what is refused is told in one line" "$({ echo '}{'; req 1 exec; req 2 ping '"a":1'; } | refusals)" 3
matches "which cannot forge another" "$(req 1 'x\\ntunesweep-agent: all is well' | plain_agent 2>&1 >/dev/null | wc -l)" 1
matches "and not for ever" "$(for i in $(seq 100); do req "$i" exec; done | refusals)" 21
matches "a half line is no request" "$(req 1 ping | head -c 20 | plain_agent)" ""
matches "64 KiB of a name" "$(req 1 probe "\"set\":\"$(head -c 60000 /dev/zero | tr '\0' a)\",\"device\":\"\",\"field\":\"\"" | plain_agent 2>/dev/null)" '*"ok":false*'
replay=$({ req 1 open "$OPEN"; req 2 set "$(value $R max 8388608)"; req 2 set "$(value $R max 8388608)"
	req 1 open "$OPEN"; req 3 rollback '"force":false'; req 3 rollback '"force":false'; } | plain_agent 2>/dev/null)
matches "a replay changes nothing more" "$(grep -c '"ok":true' <<<"$replay") $(rmem)" "5 $BASE"

### The host's policy, below a root of its own
cp -r tests/sysroot/host "$TMP/root" && install -d -m 755 "$TMP/root/etc/tunesweep"
policy() {
	printf '{"tunesweep_policy": 1, "everyone": %s}' "$1" >"$TMP/root/etc/tunesweep/policy.json"
	chmod "${2:-644}" "$TMP/root/etc/tunesweep/policy.json"
}
rooted() { "$AGENT" --root "$TMP/root" --run-dir "$TMP/run" 2>>"$TMP/err"; }
file=$TMP/root/proc/sys/net/ipv4/tcp_rmem
held=$(cat "$file")
matches "without a policy" "$(req 1 open "$OPEN" | rooted)" '*"ok":true*'
policy '{"names": ["net.core.*"]}'
matches "a name that the policy leaves out" "$(req 1 open "$OPEN" | rooted)" '*"ok":false*policy.json*'
policy '{"ranges": {"*.max": [4096, 1048576]}}'
matches "a value beyond the policy's range" \
	"$({ req 1 open "$OPEN"; req 2 set "$(value $R max 8388608)"; } | rooted | tail -n 1)" '*"ok":false*policy.json*1048576*'
matches "the policy is told when asked" \
	"$(policy '{"classes": []}'; req 1 probe '"set":"net.ipv4.tcp_rmem","device":"","field":"max"' | rooted)" \
	'*"settable":false*policy.json*'
users() { # RULES: of users by their numbers
	printf '{"tunesweep_policy": 1, "users": %s}' "$1" >"$TMP/root/etc/tunesweep/policy.json"
}
users '{"0": {"names": ["net.core.*"]}}'
matches "by whom: what this user may not" "$(req 1 open "$OPEN" | rooted)" '*"ok":false*policy.json*'
users '{"0": {"names": ["net.ipv4.*"]}, "*": {"names": []}}'
matches "by whom: what this user may" "$(req 1 open "$OPEN" | rooted)" '*"ok":true*'
users '{"4711": {}, "*": {"names": []}}'
matches "by whom: a rule for all others" "$(req 1 open "$OPEN" | rooted)" '*"ok":false*policy.json*'
refused_by_policy=$({ req 1 open "$OPEN"; req 2 open "$OPEN"; } | "$AGENT" --root "$TMP/root" --run-dir "$TMP/run" 2>&1 >/dev/null)
matches "each refusal is one line that names the file" "$(grep -c 'refused: .*policy.json' <<<"$refused_by_policy") $(wc -l <<<"$refused_by_policy")" "2 2"
policy '{}' 664
matches "a policy that others may write" "$(req 1 open "$OPEN" | rooted)" '*"ok":false*written by others*'
matches "and what is applied can be looked at all the same" \
	"$({ req 1 open '"layer":"applied","profile":"","settings":[]'; req 2 status; } | rooted | tail -n 1)" '*"ok":true*'
matches "nothing was set there" "$(cat "$file")" "$held"

### Ends of an agent that was started by hand
matches "end of input rolls back" "$({ req 1 open "$OPEN"; req 2 set "$(value $R max 8388608)"; } | plain_agent | tail -n 1)" '*"effective":\[8388608\]*'
matches "end of input rolled back" "$(rmem)" "$BASE"
matches "no journal is left" "$(find "$TMP/run" -name '*.journal' | wc -l)" 0
APPLY=${OPEN/sweep/applied}
matches "what is applied and not committed goes, too" \
	"$({ req 1 open "$APPLY"; req 2 set "$(value $R max 8388608)"; } | plain_agent | tail -n 1)" '*"effective":\[8388608\]*'
matches "it went" "$(rmem)" "$BASE"
check "without a journal" no_journals "$TMP/run"

# with_agent ARGS...: an agent as a coprocess with the value set; its pid in $agent
with_agent() {
	coproc A { exec ip netns exec "$NS" "$AGENT" --run-dir "$TMP/run" "$@" 2>>"$TMP/err"; }
	agent=$A_PID
	exec {to}>&"${A[1]}" {from}<&"${A[0]}"
	eval "exec ${A[1]}>&- ${A[0]}<&-"
	{ req 1 open "$OPEN"; req 2 set "$(value $R max 8388608)"; } >&"$to"
	read -r -t 20 line <&"$from"
	read -r -t 20 line <&"$from"
	matches "an agent sets ($*)" "$(rmem)" "$TUNED"
}
end_agent() {
	exec {to}>&- {from}<&-
	wait "$agent" 2>/dev/null
}
for sig in TERM INT HUP; do
	with_agent
	kill -$sig "$agent"
	wait_for 3 gone "$agent"
	matches "SIG$sig rolls back" "$(rmem)" "$BASE"
	read -r -t 5 line <&"$from"
	matches "and is told last" "$line" '{"id":0,"ok":true,"op":"end","report":\[*"outcome":"restored"*'
	end_agent
done
with_agent --silence-ms 3000
wait_for 20 is_rmem "$BASE"
matches "silence rolls back" "$(rmem)" "$BASE"
end_agent
with_agent --silence-ms 1000
for i in 1 2 3 4 5 6; do
	req 9 ping >&"$to"
	read -r -t 5 line <&"$from"
	sleep 0.3
done
matches "who pings is not silent" "$(rmem)" "$TUNED"
end_agent
matches "then the end of input rolls back" "$(rmem)" "$BASE"

with_agent
guardian=$(child_of "$agent" ts-guardian)
matches "there is a guardian" "$guardian" "[0-9]*"
kill -TERM "$guardian"; kill -INT "$guardian"; kill -HUP "$guardian"
kill -KILL "$agent"
wait_for 1 is_rmem "$BASE"
matches "SIGKILL of the agent: the guardian restores" "$(rmem)" "$BASE"
wait_for 3 gone "$guardian"
matches "and leaves no journal" "$(find "$TMP/run" -name '*.journal' | wc -l)" 0
end_agent

with_agent
req 3 rollback '"force":false' >&"$to"
read -r -t 20 line <&"$from"
matches "put back, and" "$(rmem)" "$BASE"
req 4 set "$(value $R max 8388608)" >&"$to"
read -r -t 20 line <&"$from"
matches "set once more" "$(rmem)" "$TUNED"
kill -KILL "$agent"
wait_for 1 is_rmem "$BASE"
matches "the guardian knows the last that it was told" "$(rmem)" "$BASE"
end_agent

with_agent
guardian=$(child_of "$agent" ts-guardian)
kill -KILL "$guardian"
wait_for 3 eval '[[ -n $(child_of $agent ts-guardian) && $(child_of $agent ts-guardian) != $guardian ]]'
matches "a killed guardian is replaced" "$(child_of "$agent" ts-guardian)" "[0-9]*"
kill -KILL "$agent"
wait_for 1 is_rmem "$BASE"
matches "and the new one restores" "$(rmem)" "$BASE"
end_agent

with_agent
guardian=$(child_of "$agent" ts-guardian)
kill -STOP "$guardian" "$agent"
kill -KILL "$guardian" "$agent"
wait_for 3 gone "$guardian"
end_agent
matches "SIGKILL of both leaves it set" "$(rmem)" "$TUNED"
matches "the next open restores" "$(req 1 open "$OPEN" | plain_agent 2>/dev/null)" '*"restored":\[{*'
matches "the next open restored" "$(rmem)" "$BASE"

### A value that somebody else set since
with_agent
ip netns exec "$NS" sysctl -qw net.ipv4.tcp_rmem="4096 131072 7000000"
req 3 bye >&"$to"
read -r -t 20 line <&"$from"
matches "a conflict is told" "$line" '*"ok":true*conflict*'
matches "and not overwritten" "$(rmem)" "4096 131072 7000000"
end_agent
ip netns exec "$NS" sysctl -qw net.ipv4.tcp_rmem="$BASE"

### Privileges
with_agent
matches "a second controller is told who holds it" "$(req 1 open "$OPEN" | plain_agent 2>/dev/null)" \
	"*\"ok\":false*held by process $agent since 2*"
matches "and has changed nothing" "$(rmem)" "$TUNED"
endpoints=$(child_of "$agent" ts-endpoints)
field() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"; }
matches "the endpoints are nobody" "$(field "$endpoints" Uid)" "65534*65534*65534*65534"
matches "of no group" "$(field "$endpoints" Groups | tr -d ' ')" ""
for set in CapPrm CapEff CapInh CapBnd CapAmb; do
	matches "endpoints' $set" "$(field "$endpoints" $set)" "0000000000000000"
done
matches "endpoints' no_new_privs" "$(field "$endpoints" NoNewPrivs)" 1
matches "the agent keeps CAP_NET_ADMIN and CAP_KILL" "$(field "$agent" CapEff)" "0000000000001020"
matches "its bounding set" "$(field "$agent" CapBnd)" "0000000000001020"
for p in "$agent" "$(child_of "$agent" ts-guardian)" "$endpoints"; do
	matches "$(cat "/proc/$p/comm") filters its system calls" "$(field "$p" Seccomp)" 2
done
matches "the guardian's capabilities" "$(field "$(child_of "$agent" ts-guardian)" CapPrm)" "0000000000001020"
matches "its ambient set" "$(field "$agent" CapAmb)$(field "$agent" CapInh)" "00000000000000000000000000000000"
matches "nothing but these libraries" "$(objdump -p "$AGENT" | sed -n 's/^ *NEEDED *//p' | \
	grep -vxE 'lib(cap|seccomp|nl-3|nl-genl-3|nl-route-3|numa|jansson|c|m)\.so\.[0-9]+|ld-linux-.*')" ""
matches "the link of libseccomp" "$(objdump -p "$AGENT" | grep -c 'NEEDED.*libseccomp')" 1
matches "its no_new_privs" "$(field "$agent" NoNewPrivs)" 1
lock=$(find "$TMP/run" -name 'sweep.lock')
holding() { find "/proc/$1/fd" -lname "$2" 2>/dev/null | wc -l; }
matches "the agent holds the lock" "$(holding "$agent" "$lock")" 1
matches "the guardian holds the lock" "$(holding "$(child_of "$agent" ts-guardian)" "$lock")" 1
matches "the endpoints do not" "$(holding "$endpoints" "$lock")" 0
matches "the endpoints hold no pipe of the controller" "$(holding "$endpoints" 'pipe:*')" "[01]"
kill -KILL "$agent"
wait_for 3 gone "$endpoints"
matches "the endpoints die with the agent" "$(gone "$endpoints" && echo gone)" gone
wait_for 1 is_rmem "$BASE"
end_agent

### What all namespaces share has one session a kernel. (Only looked at: nothing is set.)
with_agent
MORE='"layer":"sweep","profile":"t","settings":[{"set":"vm.min_free_kbytes","device":""}]'
add_netns "$NS-b"
coproc B { exec ip netns exec "$NS-b" "$AGENT" --run-dir "$TMP/run" 2>>"$TMP/err"; }
other=$B_PID
exec {to_b}>&"${B[1]}" {from_b}<&"${B[0]}"
eval "exec ${B[1]}>&- ${B[0]}<&-"
req 1 open "$MORE" >&"$to_b"
read -r -t 20 line <&"$from_b"
matches "an agent has the kernel's settings" "$line" '*"ok":true*'
now=$(cat /proc/sys/vm/min_free_kbytes)
req 3 set "$(value vm.min_free_kbytes "" "$now")" >&"$to"
read -r -t 20 line <&"$from"
matches "an agent of another namespace is refused them" "$line" "*\"ok\":false*held by process $other since 2*"
matches "and keeps what it has" "$(rmem)" "$TUNED"
matches "the guardian holds the kernel's lock" \
	"$(find "/proc/$(child_of "$other" ts-guardian)/fd" -lname '*kernel.lock' | wc -l)" 1
exec {to_b}>&- {from_b}<&-
wait "$other" 2>/dev/null
former=$(child_of "$agent" ts-guardian)
req 4 set "$(value vm.min_free_kbytes "" "$now")" >&"$to"
read -r -t 20 line <&"$from"
matches "until they are free" "$line" '*"ok":true*'
matches "then a guardian that holds the lock replaces the former" \
	"$(g=$(child_of "$agent" ts-guardian); [[ $g != "$former" ]] && find "/proc/$g/fd" -lname '*kernel.lock' | wc -l)" 1
end_agent
matches "and all is as before" "$(rmem)" "$BASE"
ip netns del "$NS-b"

### Through launcher and client
start_driver
main=$driver_pid
say agent n netns:no-such-namespace
matches "unknown namespace" "$answer" 'error * system *no network namespace "no-such-namespace"*'
say agent n netns:../x
matches "bad name of a namespace" "$answer" "error * cannot be the name *"
say agent n /no/such/agent
matches "unknown program" "$answer" "error -2 system *No such file*"
say agent n cmd false
matches "an agent that leaves at once" "$answer" "error * system host n: the agent has gone*"
say agent bare cmd nsenter "--net=/run/netns/$NS"
matches "a foreign sysfs is refused" "$answer" "error -18 system *sysfs*"
say agent r "netns:$NS"
matches "agent in a namespace" "$answer" "ok r"
say info r
matches "it names its namespace" "$answer" "*\"netns_path\":\"/run/netns/$NS\"*"
say open r sweep $R
matches "open" "$answer" "ok \[\]"
say probe r $R max
matches "probe" "$answer" '*"settable":true*"present":6291456*'
say set r $R max 8MiB
matches "set" "$answer" "ok 8388608"
matches "it is set" "$(rmem)" "$TUNED"
say status r
matches "status" "$answer" '*"profile":"lab-test"*'
say set r $R max 1
matches "a maximum below the minimum is refused" "$answer" '*must not be below*'
matches "and leaves what was there" "$(rmem)" "$TUNED"
say ping r
matches "ping" "$answer" "ok*"
say rollback r
matches "rollback" "$answer" 'ok \[{*restored*'
matches "it is back" "$(rmem)" "$BASE"
say set r $R max 8MiB
say close r
matches "close reports" "$answer" 'ok \[{*restored*'
matches "close rolls back" "$(rmem)" "$BASE"

### Committed
say agent r "netns:$NS"
say open r applied $R
say set r $R max 8MiB
say commit r
matches "commit" "$answer" "ok*"
say close r
matches "what is committed stays" "$(rmem)" "$TUNED"
say agent r "netns:$NS"
say open r applied
say status r
matches "and is known later" "$answer" '*lab-test*8388608*'
say close r
matches "looking changes nothing" "$(rmem)" "$TUNED"
say restore
matches "restore leaves it alone" "$(rmem)" "$TUNED"
say agent r "netns:$NS"
say open r applied $R
agent=$(pgrep -f -- "--netns-path /run/netns/$NS" | head -n 1)
kill -KILL "$agent"
sleep 0.3
matches "SIGKILL of an agent that only looks" "$(rmem)" "$TUNED"
say close r
say agent r "netns:$NS"
say open r applied
say rollback r
matches "rollback of what is applied" "$(rmem)" "$BASE"
say close r

### SIGKILL of the main process
say agent r "netns:$NS"
say open r sweep $R
say set r $R max 8MiB
matches "set again" "$(rmem)" "$TUNED"
launcher=$(child_of "$main" ts-launcher)
kill -KILL "$main"
wait_for 5 is_rmem "$BASE"
matches "SIGKILL of main: the agent rolls back" "$(rmem)" "$BASE"
wait_for 20 gone "$launcher"
matches "and the launcher leaves" "$(gone "$launcher" && echo gone)" gone
stop_driver

### SIGKILL of the launcher alone
start_driver
say agent r "netns:$NS"
say open r sweep $R
say set r $R max 8MiB
kill -KILL "$(child_of "$driver_pid" ts-launcher)"
wait_for 3 is_rmem "$BASE"
matches "SIGKILL of the launcher: the agent rolls back" "$(rmem)" "$BASE"
say ping r
matches "and main is told that it has gone" "$answer" "error -112 system host r: *"
say agent r "netns:$NS"
matches "nothing can be started any more" "$answer" "error -32 system *launcher*"
stop_driver

### SIGKILL of an agent: its guardian puts back, and the host is asked once more
start_driver
say agent r "netns:$NS"
say open r sweep $R
say set r $R max 8MiB
agent=$(pgrep -f -- "--netns-path /run/netns/$NS" | head -n 1)
guardian=$(child_of "$agent" ts-guardian)
kill -STOP "$guardian"
kill -KILL "$agent"
{ sleep 1; kill -CONT "$guardian"; } &
say close r
matches "who lost its agent knows that all is back" "$answer" "error -112 system *what it had set was put back"
matches "and it is" "$(rmem)" "$BASE"
say agent r "netns:$NS"
say open r sweep $R
say set r $R max 8MiB
agent=$(pgrep -f -- "--netns-path /run/netns/$NS" | head -n 1)
guardian=$(child_of "$agent" ts-guardian)
kill -STOP "$guardian" "$agent"
kill -KILL "$guardian" "$agent"
wait_for 3 gone "$guardian"
say close r
matches "also where its guardian was killed" "$answer" "error -112 system *what it had set was put back"
matches "and that is true" "$(rmem)" "$BASE"
stop_driver

### SIGKILL of agent and guardian, then the next command
start_driver
say agent r "netns:$NS"
say open r sweep $R
say set r $R max 8MiB
agent=$(pgrep -f -- "--netns-path /run/netns/$NS" | head -n 1)
guardian=$(child_of "$agent" ts-guardian)
kill -STOP "$guardian" "$agent"
kill -KILL "$guardian" "$agent"
wait_for 3 gone "$guardian"
say ping r
matches "a killed agent is an error that names the host" "$answer" "error -112 system host r: the agent has gone*"
kill -KILL "$driver_pid" "$(child_of "$driver_pid" ts-launcher)"
stop_driver
matches "both were killed" "$(rmem)" "$TUNED"
start_driver
say restore
matches "launcher_restore tells" "$answer" "ok *\"netns\":\"/run/netns/$NS\"*"
matches "launcher_restore restored" "$(rmem)" "$BASE"
say restore
matches "and has nothing to do the second time" "$answer" "ok null"

### A namespace that is gone with its journal. (Another tunesweep on this machine may be quicker.)
say agent r "netns:$NS"
say info r
cookie=${answer#*\"cookie\":} cookie=${cookie%%,*}
say open r sweep $R
say set r $R max 8MiB
agent=$(pgrep -f -- "--netns-path /run/netns/$NS" | head -n 1)
guardian=$(child_of "$agent" ts-guardian)
kill -STOP "$guardian" "$agent"
kill -KILL "$guardian" "$agent"
wait_for 3 gone "$guardian"
matches "its journal" "$(ls "/run/tunesweep/net-$cookie")" "*sweep.journal*"
stop_driver
ip netns del "$NS"
start_driver
say restore
matches "the journal of a namespace that is gone" "$answer" "ok @(null|*the network namespace is gone*)"
matches "is discarded" "$([[ -e /run/tunesweep/net-$cookie ]] || echo gone)" gone

### The controller without privilege, commands with the invoker's
say spawn no-such-program-at-all
matches "spawn of nothing" "$answer" "error -2 system *no-such-program-at-all*"
say drop
matches "drop" "$answer" "ok*"
for set in CapPrm CapEff CapBnd; do
	matches "main's $set" "$(field "$driver_pid" $set)" "0000000000000000"
done
say write /proc/sys/vm/stat_interval 1
matches "main cannot write /proc/sys" "$answer" "error *"
say write /sys/kernel/mm/ksm/run 0
matches "main cannot write /sys" "$answer" "error *"
say spawn sh -c 'id;:'
matches "a command engine has the invoker's privileges" "$answer" "ok*"
say spawn sed -n s/^CapEff:.//p /proc/self/status
matches "and capabilities" "$answer" "ok *[1-9a-f]*"
say spawn printenv LC_ALL
matches "in the C locale" "$answer" "ok C"
say kill 1
matches "only its own children can be killed" "$answer" "error -3 *"
stop_driver
done_testing
