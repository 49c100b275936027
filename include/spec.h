/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep as the user wrote it: one YAML file, read strictly, every error with file:line:column.
 * Nothing of any host is asked here; space.h does that.
 */
#ifndef TUNESWEEP_SPEC_H
#define TUNESWEEP_SPEC_H

#include "err.h"
#include "guard.h"
#include "launcher.h"
#include "score.h"
#include "tunable.h"
#include <stdbool.h>
#include <stdint.h>

#define SPEC_HOSTS_MAX	  8
#define SPEC_TUNABLES_MAX 64
#define SPEC_WARNINGS_MAX 16
#define SPEC_CPUS_MAX	  64
#define SPEC_FIXED_MAX	  24
#define SPEC_TERMS_MAX	  32 /* of one rule */

struct spec_place { /* where in the file, for errors found later */
	unsigned line, column;
};

struct spec_host {
	char name[32];
	struct host_via via;
	char address[64]; /* "" if it is to be found */
	struct spec_place place;
};

struct spec_when {	 /* a tunable that means something only beside one value of another */
	int tunable;	 /* index of the other; -1: always */
	struct value is; /* of the other's type */
};

enum spec_op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_AND, OP_OR };

struct spec_term { /* of a rule in postfix order: comparisons, and what joins the two before */
	enum spec_op op;
	int left, right;    /* comparisons: index of tunables; right -1: value */
	struct value value; /* of the left one's type */
};

struct spec_rule { /* one expression of forbid: configurations for which it holds are not tried */
	struct spec_place place;
	char *text;
	size_t n;
	struct spec_term *terms;
};

/* irq.affinity's word for the CPUs of the test's endpoint on that host. */
#define SPEC_SAME_AS_RECEIVER "same-as-receiver"

struct spec_pair { /* of a pool: the spec's hosts, reached otherwise */
	struct spec_host hosts[SPEC_HOSTS_MAX];
};

enum spec_domain { DOMAIN_RANGE, DOMAIN_RANGE_AUTO, DOMAIN_CHOICES, DOMAIN_CHOICES_AVAILABLE };

struct spec_tunable {
	struct assignment target; /* setting and field; value is the parameter's default:
				     (VALUE_NONE if none) */
	enum value_type type;	  /* of its values; for param.* as the spec has it */
	int host; /* index of a host; -1 for run scope without a host and for param.* */
	bool device_auto;
	enum spec_domain domain;
	double lo, hi; /* DOMAIN_RANGE, in the tunable's unit */
	double step;   /* 0: natural */
	bool log;
	struct value *choices;
	size_t n_choices;
	bool optional;
	struct spec_when when; /* elsewhere it stays at its baseline */
	struct spec_place place;
};

struct spec_fixed {
	char name[24]; /* of a socket.* tunable, without "socket." */
	int end;       /* 0: at from, 1: at to, -1: at both */
	int64_t value;
};

struct spec_test {
	char engine[16]; /* builtin, netperf, iperf3, command, simulated */
	char type[16];	 /* tcp_stream, ... */
	int from, to;	 /* hosts; -1 without hosts */
	double duration; /* s */
	int streams;
	bool light;	/* drive */
	char **command; /* engine command: NULL-terminated */
	bool serve;
	double timeout;	  /* s, of one sample of a command; default 10 x duration + 60 */
	char surface[32]; /* engine simulated: which one, and its noise (fraction) */
	double noise;
	double sample_time; /* s that a simulated sample takes; 0: none */
	int samples_min,
		samples_max; /* repeats of each configuration; 1, 1 unless confidence: asks */
	double confidence_level, confidence_width;
	/* Of the built-in engine; all zero is the default. */
	char send[12];	   /* plain, sendfile, splice, zerocopy, gso; "" is plain */
	bool gro;	   /* datagrams are received in bundles */
	bool discard;	   /* the receiver does not copy: under other metrics' names */
	double rate;	   /* bit/s that udp_stream offers; 0: as fast as it goes */
	bool no_warmup;	   /* count from the first byte on */
	double background; /* s of measuring the hosts at rest before each sample */
	int port;	   /* where the receiver listens; 0: its own choice */
	int n_cpus[2];	   /* of the endpoints at from and to; 0: anywhere */
	int cpus[2][SPEC_CPUS_MAX];
	bool own_cpus;	/* the lightest choice is the engine's */
	size_t n_fixed; /* socket.* values that are not searched */
	struct spec_fixed fixed[SPEC_FIXED_MAX];
	struct spec_place place;
};

struct spec {
	char *path, *text; /* as read */
	char sha[65];	   /* SHA-256 of the text (FIPS 180-4), hex */
	char name[64];
	size_t n_hosts;
	struct spec_host hosts[SPEC_HOSTS_MAX];
	size_t n_pairs; /* of a pool, beside hosts */
	struct spec_pair *pairs;
	size_t slurm_pairs; /* to be had from an allocation, the first one among them; 0: none */
	char slurm_partition[128], slurm_constraint[256]; /* "": any */
	bool has_link;
	struct lab_link link;
	struct spec_test test;
	struct objective objective;
	size_t n_tunables;
	struct spec_tunable tunables[SPEC_TUNABLES_MAX];
	unsigned allow; /* ALLOW_* */
	size_t n_rules;
	struct spec_rule *rules; /* of forbid; owned */
	char algorithm[32];
	int samples; /* budget of the search, measurements */
	double time; /* s */
	uint64_t seed;
	int proof_pairs; /* 0: no proof */
	double proof_time;
	bool proof_panel;  /* the winner under other tests, too */
	size_t n_warnings; /* sentences with their place: settings that work against each other */
	char *warnings[SPEC_WARNINGS_MAX];
};

int spec_load(const char *path, struct spec **out, struct err *e);
int spec_parse(const char *name, const char *text, size_t size, struct spec **out, struct err *e);
void spec_free(struct spec *s);

/* Why type, rate, send and receive of a test do not go together, in a sentence; NULL if they do. */
const char *spec_ways_clash(const struct spec_test *t);

/* ERR_USAGE "file:line:column: ..." for something found after parsing. */
int spec_error(const struct spec *s, struct spec_place at, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
