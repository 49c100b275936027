# SPDX-License-Identifier: GPL-3.0-or-later
# tunesweep. The targets people use: make, make demo, make test, make check, make install.
# Everything that is built goes below BUILD; V=1 shows the commands, SANITIZE=1 adds ASan and UBSan, SANITIZE=thread TSan.

VERSION := 0.1.0
BUILD ?= build
PREFIX ?= /usr/local
CC ?= gcc
PACKAGES := gcc pkg-config iproute2 libnl-3-dev libnl-genl-3-dev libnl-route-3-dev libcap-dev libseccomp-dev libnuma-dev \
	libnlopt-dev libyaml-dev libjansson-dev libgsl-dev libsqlite3-dev libopenblas-serial-dev \
	liblapacke-dev libsmartcols-dev libmd-dev libjs-chart.js
# the libraries are irqbalance's, which lab/balance.sh unpacks and does not install
TEST_PACKAGES := libcmocka-dev procps util-linux jq nftables iperf3 locales openssh-server \
	openssh-client slurm-wlm systemd \
	shellcheck python3 udev ansible-core ethtool man-db dpkg-dev lintian debootstrap git \
	libglib2.0-0 libcap-ng0 libncursesw6
# what QUICK=1 cannot do without; other gates are skipped where their tool is missing
QUICK_PACKAGES := libcmocka-dev procps util-linux jq locales mandoc
LINT_PACKAGES := clang-format clang-tidy cppcheck shellcheck codespell mandoc zsh

JOBS ?= $(shell nproc)

ifneq ($(V),1)
Q := @
endif

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Wpointer-arith -Wvla -Wformat=2 -Wno-format-nonliteral -Wundef
CFLAGS ?= -O2 -g
override CFLAGS += -std=gnu11 $(WARNINGS) -D_GNU_SOURCE -DTUNESWEEP_VERSION='"$(VERSION)"' \
	-Iinclude -fno-strict-aliasing -fstack-protector-strong -MMD -MP
override LDFLAGS += -pthread -Wl,-z,relro,-z,now
ifeq ($(SANITIZE),1)
override CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
override LDFLAGS += -fsanitize=address,undefined
endif
ifeq ($(SANITIZE),thread)
override CFLAGS += -fsanitize=thread -fno-omit-frame-pointer
override LDFLAGS += -fsanitize=thread $(BUILD)/tests/tsan.o -Wl,--wrap=pthread_clockjoin_np
endif
ifeq ($(COVERAGE),1)
override CFLAGS += --coverage -fprofile-update=atomic
override LDFLAGS += --coverage $(BUILD)/tests/coverage.o -Wl,--wrap=_exit,--wrap=kill,--wrap=seccomp_load
endif

# package:pkg-config name, for the sentence that names what is missing
MODULES := libcap-dev:libcap libseccomp-dev:libseccomp libnuma-dev:numa libnlopt-dev:nlopt libyaml-dev:yaml-0.1 libjansson-dev:jansson \
	libgsl-dev:gsl libsqlite3-dev:sqlite3 \
	libopenblas-serial-dev:openblas liblapacke-dev:lapacke libsmartcols-dev:smartcols libmd-dev:libmd libnl-3-dev:libnl-3.0 libnl-genl-3-dev:libnl-genl-3.0 \
	libnl-route-3-dev:libnl-route-3.0
pkg = $(shell pkg-config $(1) $(2) 2>/dev/null)
NL := libnl-3.0 libnl-genl-3.0 libnl-route-3.0
# asked once, and only when something is compiled: make deps may have to install it first
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(call pkg,--cflags,$(NL) openblas smartcols))$(PKG_CFLAGS)
override CFLAGS += $(PKG_CFLAGS)
AGENT_MODULES := libcap libseccomp numa jansson $(NL)
AGENT_LIBS = $(call pkg,--libs,$(AGENT_MODULES))
# openblas before gsl, whose own cblas is slower
ALL_LIBS = $(AGENT_LIBS) $(call pkg,--libs,nlopt yaml-0.1 sqlite3 smartcols libmd lapacke openblas gsl) -lm

# The folders, from the bottom up; DIRS=profiles builds the lower part alone.
DIRS ?= profiles results sweep
SOURCES := $(sort $(foreach d,$(DIRS),$(shell find $(d) -name '*.c')))
MAINS := profiles/agent/main.c sweep/cli/main.c
LIB_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(MAINS),$(SOURCES)))
LIB := $(BUILD)/libtunesweep.a

.PHONY: all lib check test demo deps install clean lint layers programs
all: programs
programs: $(BUILD)/tunesweep $(BUILD)/tunesweep-agent $(BUILD)/tunesweep-agent-static
lib: $(LIB)

# Says which package is missing before the compiler says which header is.
$(BUILD)/.packages: Makefile
	@mkdir -p $(@D)
	@for m in $(MODULES); do \
	  pkg-config --exists $${m#*:} 2>/dev/null || missing="$$missing $${m%%:*}"; done; \
	[ -e $(CHART_JS) ] || missing="$$missing libjs-chart.js"; \
	if [ -n "$$missing" ]; then echo "missing packages:$$missing (make deps installs them)" >&2; exit 1; fi
	@touch $@

$(BUILD)/%.o: %.c | $(BUILD)/.packages
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CFLAGS) -c -o $@ $<

# What HTML reports hold besides their numbers: style, Chart.js, and the pictures made with it. One
# object with three pairs of symbols, named by the copies' names.
CHART_JS ?= /usr/share/javascript/chart.js/chart.min.js
PAGE := $(addprefix results/writer/page/,common.js run.js sample.js detail.js)
$(BUILD)/page.o: results/writer/page/page.css $(PAGE) | $(BUILD)/.packages
	@mkdir -p $(BUILD)/page
	@echo "  LD    $@"
	$(Q)cp results/writer/page/page.css $(BUILD)/page/page_css
	$(Q)cat $(PAGE) >$(BUILD)/page/page_js
	$(Q)cat $(CHART_JS) >$(BUILD)/page/chart_js
	$(Q)cd $(BUILD)/page && $(LD) -r -b binary -z noexecstack -o page.o page_css page_js chart_js
	$(Q)objcopy --rename-section .data=.rodata,alloc,load,readonly,data,contents \
	  $(BUILD)/page/page.o $@
ifneq ($(filter results,$(DIRS)),)
LIB_OBJECTS += $(BUILD)/page.o
endif

$(LIB): $(LIB_OBJECTS)
	@echo "  AR    $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^
ifeq ($(COVERAGE),1)
$(LIB): | $(BUILD)/tests/coverage.o
endif
ifeq ($(SANITIZE),thread)
$(LIB): | $(BUILD)/tests/tsan.o
endif

# Both programs link the same archive; the linker takes only what each needs, and a test looks at
# the agent's libraries.
$(BUILD)/tunesweep: $(BUILD)/sweep/cli/main.o $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
$(BUILD)/tunesweep-agent: $(BUILD)/profiles/agent/main.o $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -Wl,--as-needed -o $@ $^ $(AGENT_LIBS) -lm

# The agent that --push-agent takes along: one file that needs nothing there. It asks no name service,
# which is what the linker warns of. Sanitizers cannot be linked so.
STATIC_LIBS = $(call pkg,--static --libs,$(AGENT_MODULES))
$(BUILD)/tunesweep-agent-static: $(BUILD)/profiles/agent/main.o $(LIB)
	@echo "  LD    $@"
ifneq ($(SANITIZE),)
	$(Q)touch $@
else
	$(Q)$(CC) $(LDFLAGS) -static -Wl,--gc-sections -o $@.part $^ $(STATIC_LIBS) -lm 2>$@.log || { cat $@.log; exit 1; }
	$(Q)rm -f $@.log && strip $@.part && mv $@.part $@
endif

# Unit tests: a program a file under tests/unit, linked with the archive.
UNIT_SOURCES := $(sort $(wildcard tests/unit/test_*.c))
UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(UNIT_SOURCES))
$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(ALL_LIBS)
# A kernel of its own for the code under test.
$(BUILD)/tests/unit/test_ethtool_exchange: override LDFLAGS += -Wl,--wrap=netlink_open,--wrap=netlink_ask
$(BUILD)/tests/unit/test_pause: override LDFLAGS += -Wl,--wrap=netlink_open,--wrap=netlink_ask,--wrap=netlink_close,--wrap=if_nametoindex,--wrap=ioctl
# Clocks of its own for the code under test.
$(BUILD)/tests/unit/test_stream_clock: override LDFLAGS += -Wl,--wrap=clock_gettime
.SECONDARY:

$(BUILD)/tests/lab/%: $(BUILD)/tests/lab/%.o $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
LAB_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/lab/*.c))
LAB_SCRIPTS := $(sort $(filter-out %/common.sh,$(wildcard tests/lab/*.sh)))
VM_TESTS := tests/vm/test.sh
# names of scripts in tests/vm/guest that make test leaves to make vm-test, for a machine in a hurry
VM_LONG ?=

# Fuzz targets: with plain.c a test, run under the sanitizers; by clang's libFuzzer for hours.
FUZZ_SOURCES := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(FUZZ_SOURCES))
$(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/plain.o $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
FUZZ_SECONDS ?= 600
.PHONY: fuzz fuzz-programs
fuzz-programs: $(FUZZ_PROGRAMS)
fuzz: fuzz-programs
	@BUILD=$(BUILD) FLAGS='$(filter-out -M% -Werror -DTUNESWEEP_VERSION%,$(CFLAGS))' LIBS='$(ALL_LIBS)' \
	  tests/fuzz/long.sh $(FUZZ_SECONDS) $(FUZZ_SOURCES) -- $(filter-out $(MAINS),$(SOURCES)) $(BUILD)/page.o

# Unit tests alone: seconds, no privilege.
check: $(UNIT_TESTS)
	@BUILD=$(BUILD) tests/run.sh $(UNIT_TESTS)

layers: programs
	@tests/layers.sh $(BUILD)

# Everything that can run here: set-up, unit and golden tests, once more under the sanitizers, the
# layer check, the lab in network namespaces and the emulated machine. QUICK=1: unit tests and gates
# alone, and no more packages than those need.
test:
	@tests/deps.sh $(PACKAGES) $(if $(filter 1,$(QUICK)),$(QUICK_PACKAGES),$(TEST_PACKAGES) $(LINT_PACKAGES))
	@$(MAKE) --no-print-directory -j$(JOBS) build-tests man $(BUILD)/locale/de_DE.UTF-8
ifneq ($(QUICK),1)
	@-tests/deps.sh --no-install-recommends $(VM_PACKAGES)
	@$(MAKE) --no-print-directory -j$(JOBS) BUILD=$(BUILD)/sanitized SANITIZE=1 unit-programs fuzz-programs
endif
	@BUILD=$(BUILD) VM_WITHOUT='$(VM_LONG)' tests/run.sh $(UNIT_TESTS) tests/harness.sh tests/layers.sh \
	  tests/lint.sh tests/lint_planted.sh tests/proofs.sh \
	  $(if $(filter 1,$(QUICK)),,$(SLOW_TESTS))
SLOW_TESTS = $(patsubst $(BUILD)/%,$(BUILD)/sanitized/%,$(UNIT_TESTS) $(FUZZ_PROGRAMS)) $(LAB_SCRIPTS) $(VM_TESTS)
.PHONY: build-tests unit-programs
# A locale with a decimal comma, so that the tests see that none matters.
$(BUILD)/locale/de_DE.UTF-8:
	@mkdir -p $(@D)
	@localedef -i de_DE -f UTF-8 $@ 2>/dev/null || true
build-tests: programs unit-programs $(LAB_PROGRAMS)
unit-programs: $(UNIT_TESTS) $(BUILD)/tunesweep $(BUILD)/tunesweep-agent

# How much of the code the tests run: unit tests, the lab scripts and the emulated machine, whose programs
# write down what they ran, too; half an hour. Root for the lab. The program looks for its profiles beside
# its folder. Left out: what repeats itself, and what
# runs in a system of files that is thrown away, with its counters.
UNCOUNTED := $(patsubst %,tests/lab/%.sh,kill limits soak fresh package)
.PHONY: coverage valgrind tsan soak
coverage:
	@tests/deps.sh $(PACKAGES) $(TEST_PACKAGES) gcovr
	@-tests/deps.sh --no-install-recommends $(VM_PACKAGES)
	@mkdir -p $(BUILD)/profiles && ln -sfn $(CURDIR)/profiles/shipped $(BUILD)/profiles/shipped
	@$(MAKE) --no-print-directory -j$(JOBS) BUILD=$(BUILD)/coverage COVERAGE=1 CFLAGS='-O0 -g' build-tests man \
	  $(BUILD)/coverage/locale/de_DE.UTF-8
	@BUILD=$(BUILD)/coverage tests/coverage.sh $(patsubst $(BUILD)/%,$(BUILD)/coverage/%,$(UNIT_TESTS)) \
	  $(filter-out $(UNCOUNTED),$(LAB_SCRIPTS)) $(VM_TESTS)

# Unit tests under valgrind's memcheck: what is used before it is set, which the sanitizers do not see.
valgrind: $(UNIT_TESTS)
	@tests/deps.sh valgrind
	@JOBS=$(JOBS) tests/memcheck.sh $(UNIT_TESTS)

# Unit tests that make threads (of streams, of a fleet, of NLopt's searches) under ThreadSanitizer. It
# wants addresses where it knows them.
THREADED := $(patsubst %,$(BUILD)/tsan/tests/unit/test_%,builtin builtin_faults builtin_request fleet loop loop_cost \
	loop_odd numa_place proof replay search search_bench simulated space_rules stream stream_clock stream_end \
	stream_faults surrogate surrogate_learn warm)
tsan:
	@$(MAKE) --no-print-directory -j$(JOBS) BUILD=$(BUILD)/tsan SANITIZE=thread $(THREADED)
	@rm -rf $(BUILD)/tsan/reports && mkdir $(BUILD)/tsan/reports
	@SLOW=1 BUILD=$(BUILD)/tsan TSAN_OPTIONS=log_path=$(abspath $(BUILD))/tsan/reports/of setarch -R tests/run.sh $(THREADED)
	@! cat $(BUILD)/tsan/reports/* 2>/dev/null # of processes that nobody asks how they ended, too

# 10,000 trials in one sweep: memory and descriptors.
soak: programs
	@BUILD=$(BUILD) tests/lab/soak.sh 10000

# Installs what is missing, by name; needs root only if something is missing.
deps:
	@tests/deps.sh $(PACKAGES) $(TEST_PACKAGES)

# The tests that want a machine of their own, in QEMU.
.PHONY: vm-test
# where these cannot be had, its tests are skipped
VM_PACKAGES := qemu-system-x86 busybox-static ethtool cpio kmod xz-utils libelf1
vm-test:
	@tests/deps.sh $(PACKAGES) $(TEST_PACKAGES)
	@tests/deps.sh --no-install-recommends $(VM_PACKAGES)
	@$(MAKE) --no-print-directory -j$(JOBS) programs
	@BUILD=$(BUILD) tests/run.sh $(VM_TESTS)

# The main job on the embedded lab, in under three minutes after installing.
demo:
	@tests/deps.sh $(PACKAGES)
	@$(MAKE) --no-print-directory -j$(JOBS) programs
	@rm -rf $(BUILD)/demo
	$(BUILD)/tunesweep run sweep/specs/lab.yaml -o $(BUILD)/demo --store $(BUILD)/demo/results.db

# Manual pages: the program's own tables with the text that stands beside the commands.
MAN := sweep/cli/man
MAN_DATE := December 1, 2026
.PHONY: man
man: $(BUILD)/man/.made
$(BUILD)/man/.made: $(BUILD)/tunesweep $(wildcard $(MAN)/*)
	@echo "  MAN   $(@D)"
	@mkdir -p $(@D)
	$(Q)cp $(MAN)/*.5 $(@D)
	$(Q)$< help --mdoc tunables >$(@D)/.tunables
	$(Q)sed '/^\.\\" TUNABLES$$/r $(@D)/.tunables' $(MAN)/tunesweep-tunables.7.in >$(@D)/tunesweep-tunables.7
	$(Q)$(MAN)/page.sh $< '$(MAN_DATE)' >$(@D)/tunesweep.1
	$(Q)set -e; for c in $$($< help --words); do \
	  $(MAN)/page.sh $< '$(MAN_DATE)' $$c >$(@D)/tunesweep-$$c.1; done
	@touch $@

SHARE = $(DESTDIR)$(PREFIX)/share
# Units stand where systemd looks for those of packages, or of the administrator.
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system
install: programs man
	install -D -m 755 $(BUILD)/tunesweep $(DESTDIR)$(PREFIX)/bin/tunesweep
	install -D -m 755 $(BUILD)/tunesweep-agent $(DESTDIR)$(PREFIX)/libexec/tunesweep-agent
	install -D -m 755 $(BUILD)/tunesweep-agent-static $(DESTDIR)$(PREFIX)/libexec/tunesweep-agent-static
	install -d $(SHARE)/tunesweep/specs $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/man/man7
	install -m 644 sweep/specs/*.yaml $(SHARE)/tunesweep/specs
	install -d $(SHARE)/tunesweep/profiles
	install -m 644 profiles/shipped/*.yaml $(SHARE)/tunesweep/profiles
	install -d $(SHARE)/tunesweep/slurm
	install -m 755 sweep/slurm/*.sbatch $(SHARE)/tunesweep/slurm
	install -d $(UNITS)
	for u in $(wildcard profiles/systemd/*); do \
	  sed 's|@BINDIR@|$(PREFIX)/bin|' $$u >$(UNITS)/$${u##*/} && chmod 644 $(UNITS)/$${u##*/} || exit 1; done
	install -m 644 $(BUILD)/man/*.1 $(SHARE)/man/man1
	install -m 644 $(BUILD)/man/*.5 $(SHARE)/man/man5
	install -m 644 $(BUILD)/man/*.7 $(SHARE)/man/man7
	install -D -m 644 sweep/cli/completion/tunesweep.bash $(SHARE)/bash-completion/completions/tunesweep
	install -D -m 644 sweep/cli/completion/_tunesweep $(SHARE)/zsh/site-functions/_tunesweep
	set -e; for f in README.md results/report.png tests/bench/README.md $(wildcard sweep/tutorials/*.md); do \
	  install -D -m 644 $$f $(SHARE)/doc/tunesweep/$$f; done # so that README's links hold

# Takes away what install brings, file by file, and the folders that are empty then: with DESTDIR all,
# else those below PREFIX that no base system has. What is applied on this machine goes back first.
MANIFEST := $(BUILD)/manifest
.PHONY: uninstall
uninstall:
	@rm -rf $(MANIFEST)
	@$(MAKE) -s --no-print-directory install DESTDIR=$(MANIFEST) >/dev/null
	@[ -n "$(DESTDIR)" ] || [ ! -d /run/tunesweep ] || $(PREFIX)/bin/tunesweep rollback --all
	@tests/packaging/uninstall.sh $(MANIFEST) '$(DESTDIR)' '$(PREFIX)'

# A Debian package of what is built (tests/packaging).
DEB_PACKAGES := dpkg-dev
.PHONY: deb
deb: programs man
	@tests/deps.sh $(DEB_PACKAGES)
	@tests/packaging/deb.sh $(BUILD) $(VERSION)

# Side-by-side figures, never pass or fail; the tables stand in tests/bench/README.md.
.PHONY: bench
bench: bench-settings bench-stream bench-aa bench-search bench-store bench-fleet bench-order bench-proof

# What setting ten sysctls costs; root.
.PHONY: bench-settings
$(BUILD)/tests/bench/settings: $(BUILD)/tests/bench/settings.o $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
bench-settings: $(BUILD)/tests/bench/settings
	@$<

# Speed of the store at 1,000,000 samples.
.PHONY: bench-store
$(BUILD)/tests/bench/store: tests/bench/store.c $(LIB)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
bench-store: programs $(BUILD)/tests/bench/store
	@tests/bench/store.sh $(BUILD)

# The gates that read the tree; GATES="format sizes" runs some of them (tests/lint.sh).
lint: programs man
	@tests/deps.sh $(LINT_PACKAGES)
	@tests/lint.sh $(BUILD) $(GATES)
	@[ -n "$(GATES)" ] || tests/lint.sh $(BUILD) tidy_paths

# How many measurements the searches need, on surfaces whose truth is known: an hour of two cores.
SEARCH_BENCH := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/search*.c tests/bench/surfaces*.c))
$(BUILD)/tests/bench/search: $(SEARCH_BENCH) $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
# The built-in engine beside iperf3, nuttcp, and netperf and neper where they are; root, minutes.
$(BUILD)/tests/bench/stream: $(BUILD)/tests/bench/stream.o $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
.PHONY: bench-stream bench-aa
bench-stream: $(BUILD)/tests/bench/stream $(BUILD)/tests/lab/stream_driver
	@tests/bench/stream.sh $^
# One configuration against itself, 40 times: how often the proof would claim a difference.
$(BUILD)/tests/bench/aa: $(BUILD)/tests/bench/aa.o $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
bench-aa: $(BUILD)/tunesweep $(BUILD)/tests/bench/aa
	@tests/bench/aa.sh $^

# Three sweeps of one space: do they give the same answer. Root; about nine minutes.
.PHONY: bench-order
bench-order: programs
	@rm -rf $(BUILD)/bench-order
	@tests/bench/order.sh $(BUILD)/tunesweep $(BUILD)/bench-order

# Does the proof hold what it promises: false gains, coverage, power. Minutes of one core.
PROOF_BENCH := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/proof*.c))
$(BUILD)/tests/bench/proof: $(PROOF_BENCH) $(LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
.PHONY: bench-proof
bench-proof: $(BUILD)/tests/bench/proof
	@$<

# Speed-up of a pool of eight simulated pairs whose samples take a second each.
.PHONY: bench-fleet
bench-fleet: $(BUILD)/tests/unit/test_fleet
	@$< 1

.PHONY: bench-search
bench-search: $(BUILD)/tests/bench/search
	@tests/bench/search.sh $< $(BUILD)/bench-search

clean:
	rm -rf $(BUILD)

# not in the system of files that tests/lab/fresh.sh makes there
-include $(shell find $(BUILD) -path $(BUILD)/fresh -prune -o -name '*.d' -type f -print 2>/dev/null)
