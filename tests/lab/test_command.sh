#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The test command as a user meets it, over loopback: what its letters do to the sockets, threads
# and the output, what is said when the confidence is not reached, JSON of many streams; and the
# engines netperf and iperf3 with programs that are missing, too old, write nonsense or never end.
. "$(dirname "$0")/common.sh"

t() { "$tunesweep" test -l 0.05 --warmup off "$@"; }
# said NAME FILTER: of the one JSON value that the last command has written
said() { json "$1" "$work/out" "$2"; }

status "parallel streams" 0 t -P 4 --json
said "are one JSON with each host's numbers" '.throughput > 0 and
	(.samples | length == 1) and (.samples[0].detail.receiver.incoming_cpus | length == 4) and
	.latency_p50 == null and .lost == null and (.samples[0].detail.port | . > 0 and . < 65536)'
status "parallel datagrams" 0 t -t udp_stream -P 3 --rate 3Mbit/s --json
said "are JSON" '.sent > 0 and .retransmits == null'
status "requests" 0 t -t tcp_rr --json
said "are JSON, in which no throughput of a stream is claimed to be lost" '.latency_p50 > 0 and .lost == null'

# Five samples: what was asked is asked again, never what the kernel made of it.
status "buffers of both ends" 0 t -i 5,5 -I 50,100 -s 60000,70000 -S 80000,90000 --json
said "are those that were asked, doubled by the kernel once, in each sample" '
	[.samples[].detail | [.sender.effective.send_buffer, .sender.effective.receive_buffer,
	 .receiver.effective.send_buffer, .receiver.effective.receive_buffer]] |
	length == 5 and all(. == [120000, 140000, 160000, 180000])'

if [ "$(nproc)" -gt 1 ]; then
	status "a CPU for each end" 0 t -T 0,1 --json
	said "is where it ran" '.samples[0].detail | .sender.thread_cpus == [0] and .receiver.thread_cpus == [1]'
	status "a CPU for both" 0 t -T 1 --json
	said "is where they ran" '.samples[0].detail | .sender.thread_cpus == [1] and .receiver.thread_cpus == [1]'
	status "a CPU for the far end alone" 0 t -T ,0 --json
	said "is where that ran" '.samples[0].detail | .receiver.thread_cpus == [0]'
fi
status "a port" 0 t -p 17801 -f M
contains "is printed" "$work/out" "17801   at 127.0.0.1"
contains "and the rate in the unit that was asked" "$work/out" "MiB/s"
status "bits" 0 t -f g
contains "in small letters" "$work/out" "Gbit/s"

# No interval is as narrow as that: bounded, and said.
status "a confidence that is not reached" 1 t -i 4,2 -I 99,0.0001
contains "is printed with the width that was" "$work/out" "confidence NOT reached after 4 of at most 4 samples"
status "the same as JSON" 1 t -i 4,2 -I 99,0.0001 --json
said "is marked" '.confidence.reached == false and (.samples | length) == 4 and
	(.confidence | has("throughput_width") and .width == 0.000001)'

t -i 12,12 -I 50,100 --json >"$work/out" 2>"$work/err" </dev/null
check "many samples, whether or not they are steady here" test $? -le 1
said "have a list of those that lie far from the others" '.outliers | type == "array"'
status "long ones" 0 "$tunesweep" test -l 0.8 --warmup off --json
said "have the counters in the course of the window" '.samples[0].detail.sender.counter_series |
	(.t | length) >= 2 and ((.TcpOutSegs // .rx_packets) | length) == (.t | length)'

# ---- the other engines, as programs of our own ----
mkdir "$work/bin"
fake() { cat >"$work/bin/$1" && chmod +x "$work/bin/$1"; }
with() { PATH="$work/bin:$PATH" LC_ALL=de_DE.UTF-8 LOCPATH="$build/locale" "$tunesweep" test -l 1 "$@"; }

# The last sample's limit is the longest wait: it runs beside the others.
fake netserver <<'S'
#!/bin/sh
exec sleep 300
S
cat >"$work/hangs" <<S
#!/bin/sh
case "\$*" in *-s*) exec sleep 300 ;; esac
echo \$\$ >"$work/pid"
exec sleep 300
S
mkdir "$work/slow"
cp "$work/hangs" "$work/slow/iperf3"
chmod +x "$work/slow/iperf3"
began=$SECONDS
PATH="$work/slow:$PATH" "$tunesweep" test -l 1 --engine iperf3 >"$work/slow.out" 2>&1 &
slow=$!

mkdir "$work/none"
ln -s "$(command -v env)" "$work/none/env"
for engine in netperf iperf3; do
	status "$engine that is not installed" 3 env PATH="$work/none" "$tunesweep" test -l 1 --engine $engine
	contains "is said, with the host" "$work/err" "$engine is not installed on host sender"
	status "$engine as JSON" 3 env PATH="$work/none" "$tunesweep" test -l 1 --engine $engine --json
	said "too" '.error | contains("not installed")'
	fake $engine <<'S'
#!/bin/sh
echo 'Segmentation fault'
S
	status "$engine that writes nonsense" 3 with --engine $engine
	contains "is said, with the address" "$work/err" "$engine to 127.0.0.1 port "
	fake $engine <<'S'
#!/bin/sh
echo 'usage: the option is not known' >&2
exit 1
S
	status "$engine that is too old for an option" 3 with --engine $engine
	contains "is said in its own words" "$work/err" "ended with status 1: usage: the option is not known"
done
fake iperf3 <<'S'
#!/bin/sh
echo '{"start": {"version": "iperf 3.0"}, "end": {"sum_sent": {"bits_per_second": 1}}}'
S
status "iperf3 without what was received" 3 with --engine iperf3
contains "is too old" "$work/err" "iperf 3.0 does not tell what was received: too old"
fake netperf <<'S'
#!/bin/sh
echo 'Recv   Send    Send'
echo '131072  16384  16384    10.00    9413.19'
S
status "netperf with tables" 3 with --engine netperf
contains "is told which version is understood" "$work/err" "2.5 and newer"

# In the C locale alone they write what can be read.
fake iperf3 <<'S'
#!/bin/sh
[ "$LC_ALL" = C ] || { echo '{"Ende": {"bits_pro_Sekunde": 1,5}}'; exit 0; }
echo '{"start": {"version": "iperf 3.12"}, "end": {"sum_sent": {"retransmits": 2}, "sum_received":
	{"bits_per_second": 1500000000.5, "bytes": 375000000, "seconds": 2.0}}}'
S
fake netperf <<'S'
#!/bin/sh
[ "$LC_ALL" = C ] || { echo 'DURCHSATZ=1500,5'; exit 0; }
printf 'THROUGHPUT=1500.5\nTHROUGHPUT_UNITS=10^6bits/s\nELAPSED_TIME=1.00\nLOCAL_CPU_UTIL=-nan\n'
S
for engine in iperf3 netperf; do
	status "$engine where German is spoken" 0 with --engine $engine --json
	said "is read" '.throughput > 1.5e9 and .throughput < 1.6e9 and .cpu_sender == null and .service_demand == null'
done
if command -v iperf3 >/dev/null; then
	status "iperf3 itself" 0 "$tunesweep" test -l 1 -P 2 --engine iperf3 --json
	said "gives the same sample" '.throughput > 0 and .service_demand == null and .engine == "iperf3"'
else
	skip "iperf3 itself" "not installed"
fi

wait $slow
same "a program that never ends is ended" $? 3
contains "with a sentence" "$work/slow.out" "has not ended within 17 s"
check "soon after its limit ($((SECONDS - began)) s)" test $((SECONDS - began)) -lt 60
gone() { ! kill -0 "$(cat "$work/pid")" 2>/dev/null; }
check "and nothing of it is left" wait_for 10 gone
done_testing
