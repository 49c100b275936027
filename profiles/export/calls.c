/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is neither one file nor one command on every machine, as calls of functions that a script
 * brings along: queues, interrupts, routes, the queueing discipline. A word whose meaning is worked
 * out on the machine (spread, local-node) is left to tunesweep. Called by the format shell.
 */
#include "cleanup.h"
#include "cpus.h"
#include "export_format.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char export_call_tools[] =
	"\n"
	"# digits MASK: without commas and leading zeros\n"
	"digits() {\n"
	"\tprintf '%s' \"$1\" | tr -d , | sed 's/^0*//'\n"
	"}\n"
	"# steer DEVICE KIND FILE MASK: the same for each queue\n"
	"steer() {\n"
	"\tfor f in \"/sys/class/net/$1/queues/$2\"-*/\"$3\"; do\n"
	"\t\told=$(cat \"$f\") || return 1\n"
	"\t\tif [ \"$check\" = no ]; then\n"
	"\t\t\tkeep \"$f\" \"$old\" || return 1\n"
	"\t\t\tprintf '%s\\n' \"$4\" >\"$f\" || { fail \"$f: cannot be set to '$4'\"; return 1; }\n"
	"\t\tfi\n"
	"\t\t[ \"$(digits \"$(cat \"$f\")\")\" = \"$(digits \"$4\")\" ] || {\n"
	"\t\t\tfail \"$f is '$(cat \"$f\")', not '$4'\"\n"
	"\t\t\treturn 1\n"
	"\t\t}\n"
	"\tdone\n"
	"}\n"
	"# queue_of HANDLER DEVICE: the number of its queue; fails for what is of none\n"
	"queue_of() {\n"
	"\tname=$(printf '%s' \"$1\" | sed 's/[,@].*//' | tr '[:upper:]' '[:lower:]')\n"
	"\tcase $name in\n"
	"\t\"$2\" | *config* | *async* | *event* | *misc* | *cmd* | *ctrl* | *control* | *mbx*) "
	"return 1 ;;\n"
	"\t*admin* | *aeq* | *error* | *other*) return 1 ;;\n"
	"\t*[-._:]*[0-9]) printf '%s' \"$name\" | sed 's/.*[^0-9]//' ;;\n"
	"\t*) return 1 ;;\n"
	"\tesac\n"
	"}\n"
	"# irqs DEVICE CPU...: the interrupts of its queues, dealt out in turn\n"
	"irqs() {\n"
	"\tdevice=$1 any=no\n"
	"\tshift\n"
	"\tfolder=/sys/class/net/$device/device/msi_irqs\n"
	"\t[ -d \"$folder\" ] || folder=$(readlink -f "
	"\"/sys/class/net/$device/device\")/../msi_irqs\n"
	"\tif [ \"$check\" = no ] && grep -qx irqbalance /proc/[0-9]*/comm 2>/dev/null; then\n"
	"\t\techo \"$0: irqbalance runs, and may move the interrupts of $device again\" >&2\n"
	"\tfi\n"
	"\tfor f in \"$folder\"/*; do\n"
	"\t\tirq=${f##*/}\n"
	"\t\tqueue=$(queue_of \"$(cat \"/sys/kernel/irq/$irq/actions\" 2>/dev/null)\" \"$device\") "
	"|| continue\n"
	"\t\tcpu=$(printf '%s\\n' \"$@\" | sed -n \"$((queue % $# + 1))p\")\n"
	"\t\tput \"/proc/irq/$irq/smp_affinity_list\" \"$cpu\" || return 1\n"
	"\t\tany=yes\n"
	"\tdone\n"
	"\t[ $any = yes ] || fail \"$device has no interrupts of its queues\"\n"
	"}\n"
	"# route DEVICE METRIC VALUE: of all its routes in the main table; '' is the kernel's own\n"
	"route() {\n"
	"\tfor v in 4 6; do\n"
	"\t\tip -$v -o route show table main dev \"$1\" 2>/dev/null |\n"
	"\t\t\tsed 's/ linkdown//; s/ rto_min lock / rto_min /; s/ *$//' |\n"
	"\t\t\tgrep -vE ' (expires|nexthop|proto ra) |^(fe80|multicast|broadcast)' "
	">\"$state.routes\"\n"
	"\t\twhile IFS= read -r line; do\n"
	"\t\t\trest=$(printf '%s' \"$line\" | sed \"s/ $2 [^ ]*//\")\n"
	"\t\t\tcase \" $line \" in\n"
	"\t\t\t*\" $2 $3 \"*) [ -n \"$3\" ] && continue ;;\n"
	"\t\t\t*\" $2 \"*) ;;\n"
	"\t\t\t*) [ -z \"$3\" ] && continue ;;\n"
	"\t\t\tesac\n"
	"\t\t\tif [ \"$check\" = yes ]; then\n"
	"\t\t\t\tfail \"the route '$line' of $1 has not '$2 $3'\"\n"
	"\t\t\t\treturn 1\n"
	"\t\t\tfi\n"
	"\t\t\tkeep \"!ip -$v route change $line dev $1\" '' || return 1\n"
	"\t\t\t# shellcheck disable=SC2086\n"
	"\t\t\tip -$v route change $rest dev \"$1\" ${3:+\"$2\"} ${3:+\"$3\"} </dev/null || return "
	"1\n"
	"\t\tdone <\"$state.routes\"\n"
	"\t\trm -f \"$state.routes\"\n"
	"\tdone\n"
	"}\n"
	"# unqdisc DEVICE: the kernel's own again, if it is not there still\n"
	"unqdisc() {\n"
	"\tcase $(tc qdisc show dev \"$1\" root | awk 'NR == 1 { print $3 }') in\n"
	"\t'' | 0:) ;;\n"
	"\t*) tc qdisc del dev \"$1\" root ;;\n"
	"\tesac\n"
	"}\n"
	"# qdisc DEVICE KIND: at its root; one that was set by hand has no way back\n"
	"qdisc() {\n"
	"\tnow=$(tc qdisc show dev \"$1\" root | awk 'NR == 1 { print $2, $3 }')\n"
	"\t[ \"${now%% *}\" != \"$2\" ] || return 0\n"
	"\t[ \"$check\" = no ] || { fail \"$1 has the queueing discipline ${now%% *}, not $2\"; "
	"return 1; }\n"
	"\tcase $now in\n"
	"\t'' | *' 0:' | 'noqueue '*) keep \"!unqdisc $1\" '' || return 1 ;;\n"
	"\t*) grep -q \"^!unqdisc $1\" \"$state\" 2>/dev/null || {\n"
	"\t\tfail \"the queueing discipline ${now%% *} of $1 was set by hand, and could not be put "
	"back\"\n"
	"\t\treturn 1\n"
	"\t} ;;\n"
	"\tesac\n"
	"\ttc qdisc replace dev \"$1\" root \"$2\"\n"
	"}\n"
	"# qdisc_part DEVICE WORDS OLD: of what is there; its value is asked of nobody\n"
	"qdisc_part() {\n"
	"\t[ \"$check\" = no ] || return 0\n"
	"\tnow=$(tc qdisc show dev \"$1\" root | awk 'NR == 1 { print $2, $3 }')\n"
	"\tcase $now in\n"
	"\t'' | *' 0:') keep \"!unqdisc $1\" '' || return 1 ;;\n"
	"\t*) grep -q \"^!unqdisc $1\" \"$state\" 2>/dev/null || {\n"
	"\t\t[ -n \"$3\" ] || { fail \"the profile does not say what '$2' was\"; return 1; }\n"
	"\t\tkeep \"!tc qdisc change dev $1 root ${now%% *} $3\" '' || return 1\n"
	"\t} ;;\n"
	"\tesac\n"
	"\t# shellcheck disable=SC2086\n"
	"\ttc qdisc replace dev \"$1\" root \"${now%% *}\" $2\n"
	"}\n";

static const char worked_out[] = "what its word stands for is worked out on the machine (tunesweep "
				 "apply, or a list of CPUs)";

static int refuse(const char **why, const char *sentence)
{
	*why = sentence;
	return -EOPNOTSUPP;
}

static int steer_call(const struct export_object *o, char *call, size_t size, const char **why)
{
	const struct setting *s = export_setting(o);
	const char *kind = !strncmp(s->name, "rps.", 4) ? "rx" : "tx";
	const char *word = o->parts[0]->assignment.value.text;
	char mask[CPU_SETSIZE] = "0";
	cpu_set_t set;
	if (strcmp(word, "none") != 0 &&
	    (cpus_parse_list(word, &set, NULL) || cpus_format_mask(&set, mask, sizeof(mask)))) {
		return refuse(why, worked_out);
	}
	snprintf(call, size, "steer %s %s %s_cpus %s", s->device, kind,
		 *kind == 'r' ? "rps" : "xps", mask);
	return 0;
}

/* The kernel makes a power of two of it, and that is what is read back. */
static int flows_call(const struct export_object *o, char *call, size_t size)
{
	const struct setting *s = export_setting(o);
	int64_t wanted = o->parts[0]->assignment.value.i, entries = wanted > 0;
	while (entries < wanted) {
		entries *= 2;
	}
	snprintf(call, size,
		 "for f in /sys/class/net/%s/queues/rx-*/rps_flow_cnt; do put \"$f\" %" PRId64
		 " || return 1; done",
		 s->device, entries);
	return 0;
}

static int irq_call(const struct export_object *o, char *call, size_t size, const char **why)
{
	const struct setting *s = export_setting(o);
	cpu_set_t set;
	size_t used = (size_t)snprintf(call, size, "irqs %s", s->device);
	if (cpus_parse_list(o->parts[0]->assignment.value.text, &set, NULL) || !CPU_COUNT(&set)) {
		return refuse(why, worked_out);
	}
	for (int cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++) {
		used += CPU_ISSET(cpu, &set)
				? (size_t)snprintf(call + used, size - used, " %d", cpu)
				: 0;
	}
	return used < size ? 0 : refuse(why, "too many CPUs for a script's line");
}

/* "" stands for the kernel's own value. */
static void metric_word(const char *metric, const struct value *v, char *word, size_t size)
{
	static const char *const own[] = {"none", "default", "0", ""};
	if (strcmp(metric, "rto_min") == 0 && v->i) {
		snprintf(word, size, "%" PRId64 "ms", (v->i + 999) / 1000);
		return;
	}
	value_format(v, UNIT_NONE, word, size);
	if (v->type == VALUE_BOOL) {
		snprintf(word, size, "%s", v->i ? "1" : "");
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (!strcmp(word, own[i])) {
			*word = '\0';
		}
	}
}

static int route_call(const struct export_object *o, char *call, size_t size, const char **why)
{
	const struct setting *s = export_setting(o);
	const char *metric = export_after(s->name, "route.");
	char word[VALUE_TEXT_MAX];
	metric_word(metric, &o->parts[0]->assignment.value, word, sizeof(word));
	if (*word && (!export_is_plain(word) || strpbrk(word, " /"))) {
		return refuse(why, "a shell would read more into it");
	}
	snprintf(call, size, "route %s %s '%s'", s->device, metric, word);
	return 0;
}

/* tc's words: "limit 100", "noecn", "maxrate 1000bit". */
static int part_words(const char *name, const struct value *v, char *words, size_t size)
{
	static const struct {
		const char *name, *on, *off;
	} switches[] = {{"pacing", "pacing", "nopacing"},
			{"ecn", "ecn", "noecn"},
			{"split_gso", "split-gso", "no-split-gso"},
			{"horizon_drop", "horizon_drop", "horizon_cap"}};
	static const struct {
		const char *name, *unit;
	} units[] = {{"maxrate", "bit"},     {"low_rate_threshold", "bit"},
		     {"bandwidth", "bit"},   {"refill_delay", "us"},
		     {"ce_threshold", "us"}, {"horizon", "us"},
		     {"target", "us"},	     {"interval", "us"},
		     {"rtt", "us"},	     {"timer_slack", "ns"}};
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++) {
		if (!strcmp(name, switches[i].name)) {
			snprintf(words, size, "%s", v->i ? switches[i].on : switches[i].off);
			return 0;
		}
	}
	const char *unit = "";
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		unit = strcmp(name, units[i].name) ? unit : units[i].unit;
	}
	if (!strcmp(name, "buckets_log")) {
		snprintf(words, size, "buckets %" PRId64, INT64_C(1) << (v->i & 31));
	} else if (*unit == 'b' && !v->i) {
		return -EOPNOTSUPP; /* "no limit" has no word there */
	} else {
		snprintf(words, size, "%s %" PRId64 "%s", name, v->i, unit);
	}
	return 0;
}

static int qdisc_call(const struct export_object *o, char *call, size_t size, const char **why)
{
	const struct setting *s = export_setting(o);
	const struct profile_setting *p = o->parts[0];
	const char *part = export_after(s->name, "qdisc.root.");
	char words[96], old[96] = "";
	if (!part) {
		const char *kind = p->assignment.value.text;
		bool reset = !strcmp(kind, "mq") || !strcmp(kind, "noqueue") ||
			     !export_is_plain(kind) || strpbrk(kind, " /");
		if (reset) {
			return refuse(why, "it comes by taking another one away (tunesweep apply)");
		}
		snprintf(call, size, "qdisc %s %s", s->device, kind);
		return 0;
	}
	if (part_words(part, &p->assignment.value, words, sizeof(words)) ||
	    (p->was.type != VALUE_NONE && part_words(part, &p->was, old, sizeof(old)))) {
		return refuse(why, "tc has no word for it");
	}
	snprintf(call, size, "qdisc_part %s '%s' '%s'", s->device, words, old);
	return 0;
}

int export_call(const struct export_object *o, char *call, size_t size, const char **why)
{
	const struct setting *s = export_setting(o);
	*why = NULL;
	if (*s->device && (!export_is_plain(s->device) || strpbrk(s->device, " /="))) {
		return refuse(why, "a shell would read more into the device's name");
	}
	switch (s->tunable->backend) {
	case BACKEND_STEER:
		return steer_call(o, call, size, why);
	case BACKEND_STEER_FLOWS:
		return flows_call(o, call, size);
	case BACKEND_IRQ:
		return irq_call(o, call, size, why);
	case BACKEND_ROUTE:
		return route_call(o, call, size, why);
	case BACKEND_QDISC:
		return qdisc_call(o, call, size, why);
	case BACKEND_CPU_LATENCY:
		return refuse(why, "it lasts only as long as the process that asks for it");
	case BACKEND_MSIX:
	case BACKEND_MSIX_VECTORS:
		return refuse(why, "its driver is bound anew for it (tunesweep apply)");
	default:
		return -EOPNOTSUPP;
	}
}
