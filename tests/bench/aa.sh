#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A configuration against itself, really measured: samples over loopback, and the share of the
# comparisons that the proof would call significant. Wanted: at most 8 %. It sets nothing.
#   aa.sh TUNESWEEP PROGRAM [COMPARISONS [PAIRS [SECONDS]]]
set -u
TUNESWEEP=$1 PROGRAM=$2 COMPARISONS=${3:-40} PAIRS=${4:-8} SECONDS_EACH=${5:-0.1}
N=$((COMPARISONS * PAIRS * 2))
[ "$N" -le 1000 ] || { echo "aa.sh: $N samples are over the limit of 1000" >&2; exit 2; }
echo "$(date +%F), $(uname -sr), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)"
"$TUNESWEEP" test -l "$SECONDS_EACH" -i "$N,$N" -I 95,1 --json |
	jq -r '.samples[] | select(.ok) | "\(.throughput) \(.service_demand)"' | "$PROGRAM" "$PAIRS"
