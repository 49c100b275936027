#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The gates that read the tree and do not run it: format, sizes, shell scripts, spelling, static
# analysis, and the docs against the program. A line of TAP each; a tool that is not installed is a
# skip. Changes nothing.
#   lint.sh BUILD [GATE...]      without gates: those that take seconds, and two static
#                                analyzers that take less than a minute, as make test runs them;
#                                make lint adds tidy_paths, a quarter of an hour of one CPU
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-${BUILD:-build}}
[ $# = 0 ] || shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. tests/tap.sh

files() { find sweep results profiles include tests -name "$1" -not -path '*/build/*' | sort; }

# verdict NAME: ok if $out/found is empty, else what was found
verdict() {
	if [ -s "$out/found" ]; then
		not_ok "lint: $1 ($(wc -l <"$out/found") findings)"
		head -n 30 "$out/found" | sed 's/^/  /'
	else
		ok "lint: $1"
	fi
}

# needs TOOL NAME: says that the gate is skipped where the tool is not there
needs() {
	command -v "$1" >/dev/null && return
	skip "lint: $2" "$1 is not installed"
	return 1
}

gate_format() {
	needs clang-format 'every C file is as .clang-format says' || return
	# shellcheck disable=SC2046
	clang-format --dry-run $(files '*.c') $(files '*.h') 2>&1 | grep 'warning:' >"$out/found"
	verdict 'every C file is as .clang-format says'
}

gate_sizes() {
	# shellcheck disable=SC2046
	wc -l $(files '*.c') $(files '*.h') | awk '$1 > 400 && $2 != "total" { print $2 ": " $1 " lines" }' >"$out/found"
	# shellcheck disable=SC2046
	awk '/^\{/ { start = FNR } /^\}/ && start { if (FNR - start - 1 > 60) print FILENAME ":" start ": " FNR - start - 1 " lines in one function"; start = 0 }' \
		$(files '*.c') >>"$out/found"
	verdict 'files of at most 400 lines, functions of at most 60'
}

gate_first_lines() {
	local f lines
	{
		for f in $(files '*.c') $(files '*.h'); do
			sed -n 1p "$f" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$f: no licence line"
			sed -n 2p "$f" | grep -q '^/\*' || echo "$f: does not open by saying what it is"
		done
		for f in $(files '*.sh') $(files '*.bash') $(files '*.awk') $(files '*.py') $(files '*.sbatch') .ci/run; do
			mapfile -n 3 -t lines <"$f"
			[[ ${lines[0]} != '#!'* ]] || lines=("${lines[@]:1}")
			[[ ${lines[0]} == '# SPDX-License-Identifier: GPL-3.0-or-later' ]] || echo "$f: no licence line"
			[[ ${lines[1]:-} == '# '* || ${lines[1]:-} == '"""'* ]] || echo "$f: does not open by saying what it is"
		done
	} >"$out/found"
	verdict 'every file of C and every script opens with the licence and what it is'
}

gate_shell() {
	needs shellcheck 'shellcheck' || return
	# What is sourced sets and uses what one file alone seems not to (SC2154, SC2034).
	# shellcheck disable=SC2046
	shellcheck -f gcc -S warning -e SC2154,SC2034,SC2120 $(files '*.sh') $(files '*.bash') .ci/run >"$out/found"
	verdict 'shellcheck'
}

gate_scripts() {
	local f
	# jq -e is content with an empty file; a script without a plan may lose its rest
	for f in tests/lab/*.sh tests/vm/guest/*.sh; do
		[ "${f##*/}" != common.sh ] || continue
		[ "$(tail -n 1 "$f")" = done_testing ] || echo "$f: does not end with done_testing"
		grep -nE 'jq (-[a-z]+ )*-e ' "$f" | grep -v -- ' -s ' | sed "s|^|$f: json or holds instead: |"
	done >"$out/found"
	verdict 'lab scripts end with their plan and hold JSON by the helpers'
}

gate_spelling() {
	needs codespell 'codespell' || return
	# mdoc's Nd, and words that tests misspell on purpose
	# shellcheck disable=SC2046
	codespell -q 3 -L nd,runn,setings,valeu,drivr,te,ans,fo $(files '*.c') $(files '*.h') $(files '*.md') \
		$(find sweep/cli/man -type f) $(files '*.yaml' | grep -v golden) README.md >"$out/found" 2>/dev/null
	verdict 'codespell'
}

gate_manual() {
	needs mandoc 'manual pages' || return
	local page
	: >"$out/found"
	for page in "$build"/man/*.[0-9]; do
		mandoc -T lint -W warning "$page" 2>&1 | grep -vE 'unusual Xr order|new sentence, new line' >>"$out/found"
		mandoc -T utf8 "$page" >/dev/null 2>>"$out/found" || echo "$page: cannot be shown" >>"$out/found"
	done
	# What a page points to is there, where it is one of ours.
	grep -ho '^\.Xr tunesweep[a-z-]* [0-9]' "$build"/man/* | sort -u | while read -r _ name section; do
		[ -e "$build/man/$name.$section" ] || echo "Xr $name $section: there is no such page"
	done >>"$out/found"
	verdict 'manual pages: mandoc -T lint, and what they point to is there'
}

# in_bash, in_zsh WORD...: what the shell offers after these words, a line each; FILES for files. zsh's own
# part of completion is played here: words and CURRENT, compadd and _files.
in_bash() {
	bash -c '. sweep/cli/completion/tunesweep.bash
		compgen() { case $* in -f*) echo FILES ;; *) builtin compgen "$@" ;; esac; }
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tunesweep; printf "%s\n" "${COMPREPLY[@]}"' sh "$build/tunesweep" "$@"
}
in_zsh() {
	zsh -f -c 'compadd() { print -rl -- ${(MP)2:#$words[CURRENT]*}; }
		_files() { print FILES; }
		completion() { local -a words=("$@"); local CURRENT=$#; . sweep/cli/completion/_tunesweep; }
		completion "$@"' zsh "$build/tunesweep" "$@"
}

# Options as --help has them, in the manual page, and as the shells offer them.
gate_options() {
	local command shell
	: >"$out/found"
	"$build/tunesweep" --help | sed -n 's/^  \([a-z][a-z-]*\)  *[A-Z].*/\1/p' | sort >"$out/commands"
	[ "$(wc -l <"$out/commands")" -gt 10 ] || echo "--help names only $(wc -l <"$out/commands") commands" >>"$out/found"
	while read -r command; do
		"$build/tunesweep" "$command" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort >"$out/$command.help"
		sed -n 's/\\-/-/g; s/^\.It.* Fl -\([a-z-]*\).*/--\1/p' "$build/man/tunesweep-$command.1" | sort |
			diff "$out/$command.help" - | sed "s/^/$command, --help and manual page: /"
	done <"$out/commands" >>"$out/found"
	verdict "options of $(wc -l <"$out/commands") commands: --help and manual pages have the same"
	for shell in bash zsh; do
		needs "$shell" "completion of $shell" || continue
		offers "$shell" >"$out/found"
		verdict "completion of $shell: every command, its options, and what may follow them"
	done
}

# offers SHELL: what it offers where another thing is right. Needs gate_options' lists of --help.
offers() {
	local command
	"in_$1" '' | grep -v ^- | sort | diff "$out/commands" - | sed 's/^/commands: /'
	while read -r command; do
		"in_$1" "$command" - | sort | diff "$out/$command.help" - | sed "s/^/$command -: /"
	done <"$out/commands"
	"in_$1" help '' | sort | diff "$out/commands" - | sed 's/^/help: /'
	printf '%s\n' auto off | diff - <("in_$1" test --warmup '' | sort) | sed 's/^/test --warmup: /'
	echo FILES | diff - <("in_$1" run -q --output '') | sed 's/^/run --output: /'
	echo FILES | diff - <("in_$1" run '') | sed 's/^/run: /'
	"in_$1" show net.ipv4.tcp_r | grep -qx net.ipv4.tcp_rmem || echo 'show net.ipv4.tcp_r: net.ipv4.tcp_rmem is not offered'
}

gate_tunables() {
	local page="$build/man/tunesweep-tunables.7" name
	"$build/tunesweep" list --json | grep -o '"name": *"[^"]*"' | cut -d'"' -f4 | sort -u >"$out/names"
	: >"$out/found"
	[ -s "$out/names" ] || echo "tunesweep list --json names nothing" >>"$out/found"
	while read -r name; do
		grep -qxF -- ".It Cm ${name//-/\\-}" "$page" || echo "$name is not in $page"
	done <"$out/names" >>"$out/found"
	verdict "every entry of the catalogue ($(wc -l <"$out/names")) is in tunesweep-tunables.7"
}

# Spec keys that the parser takes, against the page: each list of keys in the code ends with NULL.
gate_spec_keys() {
	local key
	: >"$out/found"
	grep -hA4 'keys\[\] = {' sweep/spec.c sweep/spec/*.c | tr -d '\n' | grep -o '{[^}]*NULL' | grep -o '"[a-z_]*"' |
		tr -d '"' | sort -u >"$out/keys"
	[ "$(wc -l <"$out/keys")" -gt 20 ] || echo "found only $(wc -l <"$out/keys") keys" >>"$out/found"
	while read -r key; do
		grep -qw -- "$key" sweep/cli/man/tunesweep-spec.5 || echo "$key is not in tunesweep-spec.5"
	done <"$out/keys" >>"$out/found"
	verdict "every key of a spec ($(wc -l <"$out/keys")) is in tunesweep-spec.5"
}

# Each sentence of the spec checker has a golden spec that leads to it.
gate_messages() {
	needs python3 'every sentence that a spec can be refused with has a golden test' || return
	tests/golden/messages.py >"$out/found"
	verdict 'every sentence that a spec can be refused with has a golden test'
}

# tests/FAULTS.md: each test that is named there exists.
gate_faults() {
	local file name
	grep -oE '(unit|lab|bench|vm/guest)/[a-z0-9_]+\.(c|sh)(:[a-z0-9_]+)?' tests/FAULTS.md | sort -u |
		while IFS=: read -r file name; do
			if [ ! -e "tests/$file" ]; then
				echo "tests/FAULTS.md: $file is not there"
			elif [ -n "$name" ] && ! grep -qw "$name" "tests/$file"; then
				echo "tests/FAULTS.md: $file has no $name"
			fi
		done >"$out/found"
	verdict 'the tests that hold reported faults exist'
}

# What one layer keeps for itself, include/*_private.h and headers that include one, no other layer includes.
gate_private() {
	local header
	for header in include/*_private.h $(grep -l '_private.h"' include/*.h); do
		grep -rl --include='*.[ch]' "\"${header##*/}\"" sweep results profiles | cut -d/ -f1 | sort -u | paste -sd' ' |
			sed -n "s|.* .*|$header is included by more than one layer: &|p"
	done | sort -u >"$out/found"
	verdict 'private headers stay in their layer'
}

gate_links() {
	local f link
	for f in README.md $(files '*.md'); do
		grep -o '](\([^)#]*\)' "$f" | cut -c3- | grep -v '^[a-z]*:' | while read -r link; do
			[ -e "$(dirname "$f")/$link" ] || echo "$f: $link is not there"
		done
		grep -oE '\b(sweep|results|profiles|include|tests)/[A-Za-z0-9_./-]+\.(c|h|sh|yaml|md|py)\b' "$f" |
			sort -u | while read -r link; do
			[ -e "$link" ] || echo "$f: $link is not there"
		done
	done >"$out/found"
	verdict 'what the docs point to is there'
}

# Every command in a block of commands is one of the program's, and so are its options; every page that
# a text names, as tunesweep-run(1), is there.
gate_commands() {
	local f command option line
	"$build/tunesweep" help --words >"$out/commands"
	for f in README.md $(files '*.md'); do
		awk '/^```/ { on = !on; next } on || /^    [a-z#]/' "$f" | grep -oE '(^|[ ;(])tunesweep [a-z-]+[^|;#]*' |
			sed 's/^[ ;(]*tunesweep //' | while read -r line; do
			command=${line%% *}
			grep -qxF -- "$command" "$out/commands" || { echo "$f: there is no command $command"; continue; }
			for option in $(echo "${line%% -- *}" | grep -oE '(^| )--[a-z-]+' | tr -d ' '); do
				"$build/tunesweep" help --words "$command" | grep -qE -- "^$option( |$)" || echo "$f: $command has no $option"
			done
		done
		grep -ohE 'tunesweep(-[a-z-]+)?\([1-8]\)' "$f" | sort -u | tr '()' '. ' | while read -r line; do
			[ -e "$build/man/$line" ] || echo "$f: there is no page $line"
		done
	done >"$out/found"
	verdict 'commands, options and manual pages that the docs name are there'
}

gate_cppcheck() {
	needs cppcheck 'cppcheck' || return
	# What it cannot see: memory and files that end with their scope, arrays that qsort takes,
	# GNU C's address of a compound literal. Leaks are the sanitizers' to find.
	mkdir -p "$build/lint/cppcheck"
	cppcheck -q -j "$(nproc)" --cppcheck-build-dir="$build/lint/cppcheck" --enable=warning,portability --inline-suppr --std=c11 -Iinclude -D_GNU_SOURCE \
		--suppress=missingIncludeSystem --suppress=memleak --suppress=resourceLeak --suppress=uninitvar --suppress=ctuuninitvar \
		--suppress=internalAstError --suppress=arrayIndexOutOfBoundsCond \
		--template='{file}:{line}: {id}: {message}' sweep results profiles 2>"$out/found"
	verdict 'cppcheck'
}

# NULL where the analyzer cannot know better: the catalogue's rows are all in the back ends' tables, the
# command line's options were found before, a message has room for its rights, libc's calls with no bytes.
excused='^(profiles/tunable/(ethtool_number|link|napi|qdisc|route)|sweep/cli/(options|cmd_test)|profiles/agent/launcher_wire|profiles/export/ansible|profiles/(journal|session/records))\.c:.*analyzer-(possible-)?null-'
# Also left out: leaks, since it forgets who owns what a struct holds, and uninitialised values, which it
# sees in arrays that a loop fills (gcc 12). ASan and valgrind look for both.
gate_analyzer() {
	if ! gcc -fanalyzer -E -x c /dev/null >/dev/null 2>&1; then
		skip "lint: gcc -fanalyzer" "gcc has none"
		return
	fi
	mkdir -p "$build/lint"
	# Again only what has been compiled since it was found good.
	files '*.c' | grep -v -e '^tests/' -e '^profiles/err.c' | while read -r f; do
		good=$build/lint/${f//\//_} object=$build/${f%.c}.o
		[ -e "$object" ] && [ "$good" -nt "$object" ] && [ "$good" -nt "$f" ] || echo "$f"
	done >"$out/files"
	xargs -a "$out/files" -P "$(nproc)" -n 8 sh -c 'for f; do
		gcc -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-use-of-uninitialized-value -O1 -std=gnu11 \
			-fdiagnostics-path-format=none -fno-diagnostics-show-caret -D_GNU_SOURCE \
			-DTUNESWEEP_VERSION=\"0\" -Iinclude -include tests/analyzer.h \
			$(pkg-config --cflags libnl-3.0 openblas smartcols) -c -o /dev/null "$f" 2>&1
	done' sh | grep -E 'warning:|error:' | grep -vE "$excused" >"$out/found"
	[ -s "$out/found" ] || sed "s|/|_|g; s|^|$build/lint/|" "$out/files" | xargs -r touch
	verdict 'gcc -fanalyzer'
}

# tidy NAME [OPTION...]
tidy() {
	local name=$1
	shift
	needs clang-tidy "$name" || return
	files '*.c' | grep -v -e '^tests/' -e '^profiles/err.c' | xargs -P "$(nproc)" -n 12 sh -c '
		options=$1; shift
		clang-tidy -quiet $options "$@" -- -include tests/analyzer.h -std=gnu11 -D_GNU_SOURCE -DTUNESWEEP_VERSION=\"0\" -Iinclude \
			$(pkg-config --cflags libnl-3.0 openblas smartcols) 2>/dev/null' sh "$*" |
		grep -E 'warning:|error:' >"$out/found"
	verdict "$name"
}

# Seconds: without what follows paths, which gcc -fanalyzer does, too.
gate_tidy() {
	tidy 'clang-tidy' --checks=-clang-analyzer-*
}

# A quarter of an hour of one CPU.
gate_tidy_paths() {
	tidy 'clang-tidy with its path analyzer'
}

[ $# -gt 0 ] || set -- format sizes first_lines shell scripts spelling manual options tunables spec_keys messages links commands faults private tidy analyzer cppcheck
for gate; do
	"gate_$gate"
done
done_testing
