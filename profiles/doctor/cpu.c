/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The doctor on CPUs: what makes the same work take another time at another moment. Called by
 * doctor.c's table.
 */
#include "cpus.h"
#include "doctor_private.h"
#include "topology.h"

/* Of all policies that are not "performance" the first, and how many. */
void check_governor(struct doctor *d)
{
	enum { POLICIES_MAX = 1024 };
	auto_free char(*names)[64] = calloc(POLICIES_MAX, sizeof(*names));
	char word[32], first[32] = "";
	int slow = 0, n = names ? sysfile_list(d->root, "/sys/devices/system/cpu/cpufreq", names,
					       POLICIES_MAX)
				: 0;
	for (int i = 0; i < n; i++) {
		doctor_text(d, word, sizeof(word),
			    "/sys/devices/system/cpu/cpufreq/%s/scaling_governor", names[i]);
		if (!strncmp(names[i], "policy", 6) && *word && strcmp(word, "performance")) {
			slow++;
			snprintf(*first ? word : first, sizeof(first), "%s", word);
		}
	}
	if (slow) {
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "the clock follows the load: CPU per KB and latency differ "
				    "from sample to sample, short tests run slower than long ones",
				    "sweep or set cpu.governor (performance), or: cpupower "
				    "frequency-set -g performance"},
			    "%d of %d frequency policies have the governor %s", slow, n, first);
	}
}

void check_boost(struct doctor *d)
{
	int64_t off = doctor_number(d, "/sys/devices/system/cpu/intel_pstate/no_turbo");
	int64_t on = doctor_number(d, "/sys/devices/system/cpu/cpufreq/boost");
	if (off == 0 || on == 1) {
		doctor_tell(d, "note",
			    (struct doctor_words){
				    "the clock depends on temperature and on how many cores work: "
				    "a longer night may look like a slower kernel",
				    off == 0 ? "for comparisons only: echo 1 "
					       ">/sys/devices/system/cpu/intel_pstate/no_turbo"
					     : "for comparisons only: echo 0 "
					       ">/sys/devices/system/cpu/cpufreq/boost"},
			    "CPUs may clock above their nominal frequency");
	}
}

/* The deepest state of the first CPU that is not disabled. */
void check_idle_states(struct doctor *d)
{
	enum { DEEP_US = 50, STATES_MAX = 16 };
	char name[32] = "", deepest[32] = "";
	int64_t latency = 0;
	for (int i = 0; i < STATES_MAX; i++) {
		int64_t us = doctor_number(
			d, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/latency", i);
		int64_t disabled = doctor_number(
			d, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/disable", i);
		if (us > latency && disabled != 1) {
			latency = us;
			doctor_text(d, name, sizeof(name),
				    "/sys/devices/system/cpu/cpu0/cpuidle/state%d/name", i);
			snprintf(deepest, sizeof(deepest), "%s", name);
		}
	}
	if (latency >= DEEP_US) {
		doctor_tell(d, "note",
			    (struct doctor_words){
				    "a CPU that slept so deeply answers that much later: "
				    "round trips and single streams are slower and vary",
				    "sweep cpu.latency, or hold /dev/cpu_dma_latency while it "
				    "matters (tuned-adm profile latency-performance)"},
			    "idle CPUs go down to %s, from which waking takes %" PRId64 " us",
			    deepest, latency);
	}
}

void check_smt(struct doctor *d)
{
	if (doctor_number(d, "/sys/devices/system/cpu/smt/active") == 1) {
		char cores[160];
		topology_shared_cores(d->root, cores, sizeof(cores));
		doctor_tell(d, "note",
			    (struct doctor_words){
				    "two busy siblings share one core: each is slower, and CPU "
				    "time counts for less than it says",
				    "place sender and interrupts on different cores (numa.cpu, "
				    "irq.affinity)"},
			    "cores run two threads (SMT)%s%s", *cores ? ": CPUs " : "", cores);
	}
}

void check_throttling(struct doctor *d)
{
	cpu_set_t online;
	int64_t times = 0;
	if (topology_online(d->root, &online, NULL)) {
		return;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int64_t n = CPU_ISSET(cpu, &online)
				    ? doctor_number(
					      d,
					      "/sys/devices/system/cpu/cpu%d/thermal_throttle/"
					      "package_throttle_count",
					      cpu)
				    : 0;
		times = n > times ? n : times;
	}
	if (times > 0) {
		doctor_tell(
			d, "problem",
			(struct doctor_words){
				"the clock was brought down: measurements in that time are low, "
				"and nobody sees it in them",
				"look after fans, air flow and power limits"},
			"the CPUs were too hot %" PRId64 " times since the boot", times);
	}
}

/* Sockets are counted against nodes: firmware that interleaves memory over the nodes hides them. */
void check_nodes(struct doctor *d)
{
	cpu_set_t online, nodes;
	uint64_t seen = 0;
	topology_nodes(d->root, &nodes);
	if (topology_online(d->root, &online, NULL)) {
		return;
	}
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int64_t package = CPU_ISSET(cpu, &online)
					  ? doctor_number(d,
							  "/sys/devices/system/cpu/cpu%d/topology/"
							  "physical_package_id",
							  cpu)
					  : -1;
		seen |= package >= 0 && package < 64 ? UINT64_C(1) << package : 0;
	}
	int sockets = __builtin_popcountll(seen);
	if (sockets > CPU_COUNT(&nodes)) {
		doctor_tell(d, "problem",
			    (struct doctor_words){
				    "memory is interleaved over all sockets: about half of all "
				    "accesses are remote, and numa.policy has no effect",
				    "switch node interleaving off in the firmware's set-up (it may "
				    "be called NUMA, or NPS on AMD)"},
			    "%d sockets and only %d NUMA node%s", sockets, CPU_COUNT(&nodes),
			    CPU_COUNT(&nodes) == 1 ? "" : "s");
	}
}
