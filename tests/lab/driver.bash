# SPDX-License-Identifier: GPL-3.0-or-later
# Helpers of the scripts that speak with an agent themselves: the driver (driver.c) as a coprocess,
# on top of common.sh. Sourced, from the top of the tree.
# shellcheck shell=bash
. tests/lab/common.sh
DRIVER=$build/lab-driver # beside the agent, where the launcher looks for it
AGENT=$build/tunesweep-agent
TMP=$work
shopt -s extglob

# matches NAME GOT PATTERN: does what was got match the glob?
matches() {
	# shellcheck disable=SC2053
	if [[ $2 == $3 ]]; then ok "$1"; else not_ok "$1" "got '$2', wanted '$3'"; fi
}

gone() { ! kill -0 "$1" 2>/dev/null; }
no_file() { [[ ! -e $1 ]]; }

build_driver() {
	[[ -f $build/libtunesweep.a && -x $AGENT ]] || { not_ok build "no $AGENT"; exit 1; }
	[[ $DRIVER -nt $build/libtunesweep.a && $DRIVER -nt tests/lab/driver.c ]] && return
	local sanitize=
	nm "$build/libtunesweep.a" 2>/dev/null | grep -q __asan_init && sanitize=-fsanitize=address,undefined
	[[ ! -e $build/tests/coverage.o ]] || sanitize="--coverage $build/tests/coverage.o -Wl,--wrap=_exit,--wrap=kill,--wrap=seccomp_load"
	# shellcheck disable=SC2046
	${CC:-gcc} -std=gnu11 -O1 -g -Wall -Wextra -D_GNU_SOURCE $sanitize -Iinclude -o "$DRIVER" \
		tests/lab/driver.c "$build/libtunesweep.a" -pthread -lm \
		$(pkg-config --cflags --libs libcap libseccomp numa jansson libnl-3.0 libnl-genl-3.0 libnl-route-3.0) ||
		{ not_ok build "the driver does not compile"; exit 1; }
}

# The driver runs in the background; say sends a command and puts its answer into $answer.
start_driver() {
	coproc DRIVER_PROC { exec "$@" "$DRIVER"; }
	driver_pid=$DRIVER_PROC_PID
	exec {to_driver}>&"${DRIVER_PROC[1]}" {from_driver}<&"${DRIVER_PROC[0]}"
	eval "exec ${DRIVER_PROC[1]}>&- ${DRIVER_PROC[0]}<&-"
}
say() {
	answer=
	echo "$*" >&"$to_driver"
	read -r -t 60 answer <&"$from_driver" || answer="no answer"
}
stop_driver() {
	exec {to_driver}>&-
	wait "$driver_pid" 2>/dev/null
	exec {from_driver}<&-
}
# Its children by name: child_of PID NAME
child_of() { pgrep -P "$1" -x "$2" | head -n 1; }
