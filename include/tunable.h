/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The catalogue of all that can be set, and the only door to the back ends that set it.
 * catalog.c holds the table; tunable_name.c finds, tunable_check.c checks, tunable.c dispatches. A
 * back end reads and writes whole kernel objects ("settings"): net.ipv4.tcp_rmem is one setting
 * with three fields. The controller uses the look-ups and checks; only the agent reads and writes.
 */
#ifndef TUNESWEEP_TUNABLE_H
#define TUNESWEEP_TUNABLE_H

#include "err.h"
#include "sysfile.h"
#include "value.h"
#include <net/if.h>

#define TUNABLE_NAME_MAX    128
#define TUNABLE_FIELD_MAX   16
#define TUNABLE_CHOICES_MAX 32
#define SETTING_TEXT_MAX    4096 /* all of one kernel object: of a device with 256 queues, too */

enum tunable_scope { SCOPE_HOST, SCOPE_RUN };

enum tunable_class {
	CLASS_SAFE,
	CLASS_UNSAFE,
	CLASS_DISRUPTIVE,
	CLASS_UNLISTED,
	CLASS_DRIVER_REBIND
};

enum tunable_backend {
	BACKEND_SYSCTL,	 /* files below /proc/sys */
	BACKEND_LINK,	 /* rtnetlink, and the device's own files below /sys/class/net */
	BACKEND_ETHTOOL, /* generic netlink "ethtool" */
	BACKEND_ROUTE,	 /* metrics of the device's routes */
	BACKEND_QDISC,
	BACKEND_IRQ,
	BACKEND_IRQBALANCE,
	BACKEND_MSIX,
	BACKEND_MSIX_VECTORS,
	BACKEND_STEER,	     /* rps, xps */
	BACKEND_STEER_FLOWS, /* rfs */
	BACKEND_NAPI,	     /* generic netlink "netdev" */
	BACKEND_CPU,
	BACKEND_CPU_LATENCY,
	BACKEND_IPOIB,
	BACKEND_SOCKET, /* of the test's own endpoints, as the rest */
	BACKEND_NUMA,
	BACKEND_PARAM
};

enum tunable_cost {
	COST_CALL,  /* a system call */
	COST_RESET, /* the driver rebuilds its queues: the link may be gone for seconds, and its
		       carrier is waited for */
	COST_REBIND /* the driver is bound anew, the interface made anew */
};

struct tunable {	  /* a row of the catalogue */
	const char *name; /* INTERFACE's name; "param.*" stands for the family */
	enum tunable_backend backend;
	enum tunable_scope scope;
	enum tunable_class class;
	enum value_type type; /* VALUE_NONE: whatever the spec says (param.*) */
	enum value_unit unit;
	int64_t min, max;      /* what the kernel's field can hold, inclusive; of numbers */
	const char *fields[4]; /* NULL-terminated; {NULL} if it has none */
	const char *const
		*choices; /* NULL-terminated words of a text; NULL: any, or asked of the host */
	const char *affects[10]; /* names of tunables that setting this one changes too: of the same
				   device; what this host lacks is passed over */
	const char *excludes;	 /* the one that is 0 while this one is in force; NULL */
	const char *help;	 /* one sentence */
	bool device;		 /* belongs to an interface: setting.device names it */
	enum tunable_cost cost;
	bool held;	       /* as long as the process that set it: nothing for apply */
	bool kernel_wide;      /* one for all network namespaces: one session a kernel may set it */
	uint64_t capabilities; /* that setting it needs, as bits by their numbers */
};

struct setting { /* one kernel object on one host */
	const struct tunable *tunable;
	char name[TUNABLE_NAME_MAX]; /* canonical: dots, or slashes where a component holds a dot */
	char device[IF_NAMESIZE];    /* "" if it has none, or if nobody has said which yet */
	int ifindex; /* what stood under that name when a session bound it; 0: ask by name */
};

struct assignment {
	struct setting setting;
	char field[TUNABLE_FIELD_MAX]; /* "" for the whole */
	struct value value;
};

struct tunable_range { /* what a host says about one field */
	bool settable;
	char why_not[160]; /* if not: one sentence ("not in this network namespace") */
	struct value present;
	int64_t min, max; /* of numbers */
	size_t n_choices; /* of texts where the host knows them */
	char choices[TUNABLE_CHOICES_MAX][32];
};

const struct tunable *tunable_catalog(size_t *n);

/* Name, field and device (each but the name may be NULL) to a setting, by the catalogue alone. Of
 * sysctl names the first separator decides, as in sysctl.d(5), so that both spellings of a key
 * give one canonical name. -EINVAL (ERR_USAGE) with the nearest name; names with "..", empty
 * components or a dotted device in dotted spelling are refused. An entry of a device resolves
 * without one, too, for those who only ask the catalogue; the host then refuses it. A net.* key
 * that is not in the catalogue resolves to class CLASS_UNLISTED: its type is VALUE_INT, and a text
 * is taken, too. */
int tunable_resolve(const char *name, const char *field, const char *device, struct setting *out,
		    struct err *e);

/* Type, catalogue range and choice of a value for one field ("" for all: VALUE_TEXT with as many
 * numbers as fields, in ascending order). -EINVAL (ERR_USAGE). */
int tunable_check(const struct setting *s, const char *field, const struct value *v, struct err *e);

/* Do its choices stand for more than themselves: CPU lists, numbers of nodes? */
bool tunable_takes_more(const struct tunable *t);

/* Index of a field name; -1 for "". */
int tunable_field_index(const struct tunable *t, const char *field);

/* On the host: can it be set here, its range, its choices, its present value. 0 also when it
 * cannot be set (range->settable is false then). */
int tunable_probe(const struct sysroot *root, const struct setting *s, const char *field,
		  struct tunable_range *range, struct err *e);

/* Whole setting as canonical text (fields separated by one blank). An empty text is never written:
 * the kernel would take it for success and change nothing. */
int tunable_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		 struct err *e);
int tunable_write(const struct sysroot *root, const struct setting *s, const char *text,
		  struct err *e);

/* Words that stand for something else on this host (spread, local-node) become the text that
 * tunable_read will give once they are set; other texts stay as they are. */
int tunable_plan(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		 struct err *e);

/* The word that stands for such a text, where there is one: what a user is shown, and what may be
 * set again. TUNABLE_AS_FOUND if no word says it: that word sets what a session found at first.
 * False where texts stand for themselves. */
#define TUNABLE_AS_FOUND "as-found"
bool tunable_word(const struct sysroot *root, const struct setting *s, const char *text,
		  struct value *out);

/* Capabilities, as bits by their numbers, that setting it needs by the catalogue, and those of what
 * it changes along. */
uint64_t tunable_capabilities(const struct setting *s);

/* The settings that writing this one changes along with it, as they are on this host; those that
 * must be put back first stand last. Returns how many, at most max. */
size_t tunable_affected(const struct sysroot *root, const struct setting *s, struct setting *out,
			size_t max);

/* By the catalogue alone: may setting a change b along with it? Asks no host. */
bool tunable_may_affect(const struct setting *a, const struct setting *b);

/* Is b a part of what a sets, so that who sets a means b, too (tx-tcp-segmentation of tso)? */
bool tunable_covers(const struct setting *a, const struct setting *b);

/* The catalogue's name nearest to one that resolved to CLASS_UNLISTED; NULL if none is near. */
const char *tunable_near(const char *name);

/* One field's value out of a setting's text ("" of a setting with fields: all, as text), and the
 * text with that field replaced. Kernel texts in, canonical texts out. */
int setting_field(const struct setting *s, const char *field, const char *text, struct value *out,
		  struct err *e);
int setting_replace(const struct setting *s, const char *field, const struct value *v, char *text,
		    size_t size, struct err *e);
/* Fields separated by one blank each, whatever the kernel puts between them. -ENAMETOOLONG */
int setting_canonical(const char *text, char *out, size_t size);

bool setting_same(const struct setting *a, const struct setting *b);

/* "net.ipv4.tcp_rmem.default" (with "@host" if host is not NULL): the key of result.json. */
const char *setting_key(const struct setting *s, const char *field, const char *host, char *buf,
			size_t size);

#endif
