#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# No gate that cannot fail: copies of the tree get one fault or more for each gate of lint.sh, for the
# compiler's warnings, layers.sh and proofs.sh, and each must find what is meant for it (the runner: harness.sh).
# Seconds. A line of TAP a fault.
# Usage: tests/lint_planted.sh     BUILD: the programs and manual pages (build)
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# found FILE GATE WORD FAULT: among what was said, the gate whose line begins with GATE failed and
# named WORD. A gate that was skipped is a skip.
found() {
	if grep -E "^ok $2.*# SKIP" "$1" >"$work/skip"; then
		skip "planted: $4" "${2#lint: } is skipped"
	elif sed -nE "/^not ok $2/,/^ok |^not ok /p" "$1" | grep -q -- "$3"; then
		ok "planted: $4 is found by ${2#lint: }"
	else
		not_ok "planted: $4 is not found by ${2#lint: }"
		grep -A3 -E "^(not )?ok $2" "$1" | sed 's/^/  /'
	fi
}

# A tree of nothing but faults, a file each, for what compiles or reads C: the whole tree takes minutes.
faults=$work/faults
mkdir -p "$faults"/{sweep,results,profiles,tests,build}
cp -r .clang-format .clang-tidy .ci README.md Makefile include "$faults"
cp tests/{lint,layers,tap}.sh tests/analyzer.h "$faults/tests"

# c FILE: a file of C that opens as it must; the rest is read from standard input.
c() {
	{
		printf '%s\n' '/* SPDX-License-Identifier: GPL-3.0-or-later */' '/*' " * $1." ' */' \
			'#include "cleanup.h"' '#include <errno.h>' '#include <stdio.h>' '#include <stdlib.h>' \
			'#include <string.h>' '#include <unistd.h>'
		cat
	} >"$faults/$1"
}
c profiles/double_free.c <<'C'
int double_free(const char *text, int n);
int double_free(const char *text, int n)
{
	char *copy = strdup(text);
	if (n) {
		free(copy);
	}
	free(copy);
	return n;
}
C
c profiles/freed_at_the_end.c <<'C'
int freed_at_the_end(const char *text);
int freed_at_the_end(const char *text)
{
	auto_free char *copy = strdup(text);
	int length = copy ? (int)strlen(copy) : 0;
	free(copy);
	return length;
}
C
c profiles/used_when_freed.c <<'C'
struct used_when_freed {
	struct used_when_freed *next;
};
void used_when_freed(struct used_when_freed *list);
void used_when_freed(struct used_when_freed *list)
{
	for (; list; list = list->next) {
		free(list);
	}
}
C
c profiles/no_memory.c <<'C'
int *no_memory(int n);
int *no_memory(int n)
{
	int *p = malloc(sizeof(*p));
	*p = n;
	return p;
}
C
c profiles/closed_twice.c <<'C'
int closed_twice(const char *path);
int closed_twice(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f) {
		return -ENOENT;
	}
	fclose(f);
	return fclose(f);
}
C
c profiles/left_open.c <<'C'
int left_open(const char *path);
int left_open(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f) {
		return -ENOENT;
	}
	int first = fgetc(f);
	if (first == EOF) {
		return -EIO;
	}
	fclose(f);
	return first;
}
C
c profiles/wrong_type.c <<'C'
int wrong_type(char *buf, size_t size, int n);
int wrong_type(char *buf, size_t size, int n)
{
	return snprintf(buf, size, "%s", n);
}
C
c profiles/beyond_the_end.c <<'C'
int beyond_the_end(int n);
int beyond_the_end(int n)
{
	int a[4] = {0};
	for (int i = 0; i <= 4; i++) {
		a[i] = n;
	}
	return a[n & 3];
}
C
c profiles/twice_the_same.c <<'C'
int twice_the_same(int a, int b);
int twice_the_same(int a, int b)
{
	return (a == b || a == b) && b != 3;
}
C
c profiles/never_declared.c <<'C'
int never_declared(void)
{
	return 1;
}
C
c profiles/shadow.c <<'C'
int shadow(int n);
int shadow(int n)
{
	for (int i = 0; i < 3; i++) {
		int n = i;
		n++;
	}
	return n;
}
C
c profiles/badly_laid_out.c <<'C'
int badly_laid_out(int n);
int badly_laid_out(int n) { return n; }
C
c profiles/badly_spelt.c <<'C'
/* What we recieve. */
int badly_spelt(void);
C
{ echo 'int long_function(void);'; printf 'int long_function(void)\n{\n'; printf '\t;\n%.0s' {1..61}; echo '}'; } |
	c profiles/long_function.c
printf '\n%.0s' {1..401} | c profiles/long_file.c
echo 'int without_licence;' >"$faults/profiles/without_licence.c"
# shellcheck disable=SC2016
printf '%s\n' '#!/bin/bash' 'cd $1; rm -rf "$2/"*' >"$faults/tests/careless.sh"
mkdir "$faults/tests/lab"
printf '%s\n' '#!/bin/bash' 'jq -e .restored result.json' >"$faults/tests/lab/unplanned.sh"
# the arrow, a circle, and what may not print; each is good C
c sweep/above.c <<'C'
int above(void);
int above(void)
{
	return 1;
}
C
c profiles/below.c <<'C'
int above(void);
int below(void);
int below(void)
{
	return above();
}
C
c results/here.c <<'C'
int here(int n);
int there(int n);
int here(int n)
{
	return n ? there(n - 1) : 0;
}
C
c results/there.c <<'C'
int here(int n);
int there(int n);
int there(int n)
{
	puts("there");
	return n ? here(n - 1) : 0;
}
C

"$faults/tests/lint.sh" build format sizes first_lines shell scripts spelling tidy analyzer cppcheck >"$work/lint"
found "$work/lint" 'lint: every C file is as' badly_laid_out 'a file that is laid out otherwise'
found "$work/lint" 'lint: files of at most' 'long_file.c: 4' 'a file of more than 400 lines'
found "$work/lint" 'lint: files of at most' 'long_function.c:.*61 lines' 'a function of more than 60 lines'
found "$work/lint" 'lint: every file of C and every script' 'without_licence.c: no licence' 'a file without its licence'
found "$work/lint" 'lint: every file of C and every script' 'careless.sh: does not open' 'a script that does not say what it is'
found "$work/lint" 'lint: shellcheck' careless.sh 'a cd that is not looked at'
found "$work/lint" 'lint: lab scripts' 'unplanned.sh: does not end' 'a lab script without a plan'
found "$work/lint" 'lint: lab scripts' 'unplanned.sh: json or holds' 'JSON that nothing makes fail'
found "$work/lint" 'lint: codespell' badly_spelt 'a word with a mistake'
found "$work/lint" 'lint: clang-tidy' twice_the_same.c 'a condition that says the same twice'
found "$work/lint" 'lint: gcc -fanalyzer' 'double_free.c.*double-free' 'memory that is freed twice'
found "$work/lint" 'lint: gcc -fanalyzer' 'cleanup.h.*double-free' 'memory that is freed, and once more where its name ends'
found "$work/lint" 'lint: gcc -fanalyzer' 'used_when_freed.c.*use-after-free' 'memory that is read when it is freed'
found "$work/lint" 'lint: gcc -fanalyzer' 'no_memory.c.*null-dereference' 'malloc that is never asked whether it had any'
found "$work/lint" 'lint: gcc -fanalyzer' 'closed_twice.c.*double' 'a file that is closed twice'
found "$work/lint" 'lint: gcc -fanalyzer' 'left_open.c.*file-leak' 'a file that an error leaves open'
found "$work/lint" 'lint: cppcheck' double_free.c 'memory that is freed twice'
found "$work/lint" 'lint: cppcheck' beyond_the_end.c 'an index beyond the end'
found "$work/lint" 'lint: cppcheck' wrong_type.c 'a number that is printed as a string'

# The compiler, as make calls it: an error each. Then what it made, with those that may not be.
compiled() { make -C "$faults" -sk BUILD=build "$@" 2>&1; }
warned=(wrong_type beyond_the_end never_declared shadow)
for name in "${warned[@]}"; do
	compiled "build/profiles/$name.o" >"$work/$name" && echo "$name: compiled" >"$work/$name"
	sed -i '1i not ok the compiler' "$work/$name"
	found "$work/$name" 'the compiler' "$name.c.*error:" "${name//_/ }"
done
compiled build/sweep/above.o build/profiles/below.o build/results/here.o build/results/there.o
"$faults/tests/layers.sh" "$faults/build" >"$work/layers"
found "$work/layers" 'layers: uses against' 'profiles/below.o uses above of sweep/above.o' 'a use against the arrow'
found "$work/layers" 'layers: files that use each other' results/here.o 'a circle'
found "$work/layers" 'layers: printing' results/there.o 'a file that prints'

# A copy of the tree whose docs say what is not so, for the gates that hold them against the program.
docs=$work/docs
mkdir -p "$docs/build"
cp -r .ci README.md Makefile include profiles results sweep "$docs"
cp -r --parents tests/*.sh tests/*.md tests/golden tests/unit tests/lab tests/bench tests/vm tests/data "$docs"
cp -r "$build/man" "$docs/build"
ln -s "$build"/tunesweep* "$docs/build"
cat >>"$docs/README.md" <<'MD'

[no such page](sweep/nowhere.md), and sweep/nothing.c.

```
tunesweep plant
tunesweep run --planted x.yaml
```

See tunesweep-planted(1).
MD
# shellcheck disable=SC2016
sed -i 's/^| `net.ipv4.tcp_rmem` .*/&\n| `planted.entry` | veth: lab\/agent.sh |/' "$docs/tests/README.md"
echo 'unit/test_planted.c:nobody' >>"$docs/tests/FAULTS.md"
sed -i '/^\.It.*tcp_rmem/d' "$docs/build/man/tunesweep-tunables.7"
sed -i '/^\.It.* Fl .*-resume/d' "$docs/build/man/tunesweep-run.1"
printf '.Xr tunesweep-planted 1\n' >>"$docs/build/man/tunesweep.1"
printf 'static const char *const planted_keys[] = {"planted_key", NULL};\n' >"$docs/sweep/spec/planted.c"
printf 'err_usage(e, "planted for %%s", name);\n' >>"$docs/sweep/spec/planted.c"
printf '#include "store_private.h"\n' >>"$docs/sweep/spec/planted.c"
sed -i 's/words $command/words apply/' "$docs/sweep/cli/completion/_tunesweep"
sed -i 's/words "$command"/words apply/' "$docs/sweep/cli/completion/tunesweep.bash"
"$docs/tests/lint.sh" build manual options tunables spec_keys messages links commands faults private >"$work/lint"
found "$work/lint" 'lint: manual pages' 'Xr tunesweep-planted 1' 'a manual page that points to none'
found "$work/lint" 'lint: options of' 'run, --help and manual page: .*--resume' 'an option that has no place in its page'
found "$work/lint" 'lint: completion of bash' 'capture -: .*--device' 'a completion that offers what another command takes'
found "$work/lint" 'lint: completion of zsh' 'capture -: .*--device' 'a completion that offers what another command takes'
found "$work/lint" 'lint: private headers' store_private.h 'a private header that another layer includes'
found "$work/lint" 'lint: every entry of the catalogue' 'tcp_rmem is not in' 'an entry that the page lacks'
found "$work/lint" 'lint: every key of a spec' planted_key 'a key that the page lacks'
found "$work/lint" 'lint: every sentence' 'planted for %s' 'a sentence that no golden spec leads to'
found "$work/lint" 'lint: what the docs point to' 'README.md: sweep/nowhere.md' 'a link to nothing'
found "$work/lint" 'lint: what the docs point to' 'README.md: sweep/nothing.c' 'a file that is named and not there'
found "$work/lint" 'lint: commands, options' 'no command plant' 'a command that there is not'
found "$work/lint" 'lint: commands, options' 'run has no --planted' 'an option that there is not'
found "$work/lint" 'lint: commands, options' 'no page tunesweep-planted' 'a page that there is not'
found "$work/lint" 'lint: the tests that hold' 'unit/test_planted.c' 'a test that there is not'
BUILD=$build "$docs/tests/proofs.sh" >"$work/proofs"
found "$work/proofs" 'proofs: the table' planted.entry 'a proof of an entry that there is not'
done_testing
