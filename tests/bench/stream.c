/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in engine beside other stream tests, interleaved in one run: throughput, whole-host
 * CPU and the processes' own CPU for each KB moved, as ratios to the built-in engine's lightest
 * way, paired within a round. Everybody is timed by this program, alike: the CPU from the start of
 * the sending program to its end, the bytes as it tells them itself.
 *
 *   stream [--rounds N] [--seconds S] [--streams N] [--netns A,B --address ADDRESS --device D]
 *
 * Without --netns over loopback. Peers that are not found on PATH are left out, and named.
 */
#include "cleanup.h"
#include "cpu_meter.h"
#include "monotonic.h"
#include "stats.h"
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define ROUNDS_MAX 64
#define PORT	   "15201"
#define TEXT_MAX   (1 << 20)

struct setting {
	int rounds, streams;
	double seconds;
	const char *address, *device;
	char netns[2][64];
	const char *driver;
};

struct contender {
	const char *name, *program;  /* looked for on PATH; NULL: the driver */
	const char *server, *client; /* with %A address, %S seconds, %N streams; NULL: no server */
	const char *key;	     /* what stands before the number in its output */
	double unit;		     /* of that number, in bit/s */
	bool one_cpu;		     /* both ends on CPU 0 */
	bool many;		     /* it can do several streams */
};

static const struct contender contenders[] = {
	{"tunesweep light", NULL, NULL, "--drive light --own-cpus on", "\"throughput\":", 1, false,
	 true},
	{"tunesweep light, CPUs free", NULL, NULL, "--drive light", "\"throughput\":", 1, false,
	 true},
	{"tunesweep classic", NULL, NULL, "--drive classic", "\"throughput\":", 1, false, true},
	{"iperf3", "iperf3", "iperf3 -s -1 -p " PORT, "iperf3 -c %A -p " PORT " -t %S -P %N -f k",
	 "R", 1e3, false, true},
	{"iperf3 -l 1M", "iperf3", "iperf3 -s -1 -p " PORT,
	 "iperf3 -c %A -p " PORT " -t %S -P %N -f k -l 1M", "R", 1e3, false, true},
	{"iperf3 -l 1M, one CPU", "iperf3", "iperf3 -s -1 -p " PORT,
	 "iperf3 -c %A -p " PORT " -t %S -P %N -f k -l 1M", "R", 1e3, true, true},
	{"nuttcp", "nuttcp", "nuttcp -1 --nofork -P " PORT,
	 "nuttcp -fparse -T%S -N%N -P " PORT " %A", "rate_Mbps=", 1e6, false, true},
	{"nuttcp -l2m", "nuttcp", "nuttcp -1 --nofork -P " PORT,
	 "nuttcp -fparse -l2m -T%S -N%N -P " PORT " %A", "rate_Mbps=", 1e6, false, true},
	{"nuttcp -l2m, one CPU", "nuttcp", "nuttcp -1 --nofork -P " PORT,
	 "nuttcp -fparse -l2m -T%S -N%N -P " PORT " %A", "rate_Mbps=", 1e6, true, true},
	{"netperf", "netperf", "netserver -D -f -4 -p " PORT,
	 "netperf -H %A -p " PORT " -l %S -t omni -f k -- -d send -o THROUGHPUT -k THROUGHPUT",
	 "THROUGHPUT=", 1e3, false, false},
	{"netperf -m 2M -M 2M", "netperf", "netserver -D -f -4 -p " PORT,
	 "netperf -H %A -p " PORT " -l %S -t omni -f k -- -d send -m 2M -M 2M -k THROUGHPUT",
	 "THROUGHPUT=", 1e3, false, false},
	{"netperf -m 2M -M 2M, one CPU", "netperf", "netserver -D -f -4 -p " PORT,
	 "netperf -H %A -p " PORT " -l %S -t omni -f k -- -d send -m 2M -M 2M -k THROUGHPUT",
	 "THROUGHPUT=", 1e3, true, false},
	{"neper", "tcp_stream", "tcp_stream -F %N -T %N -l %S --logtostderr",
	 "tcp_stream -c -H %A -F %N -T %N -l %S --logtostderr", "remote_throughput=", 1, false,
	 true},
};
#define CONTENDERS (sizeof(contenders) / sizeof(contenders[0]))

struct outcome {
	double throughput, whole, own; /* bit/s; us/KB of the host and of the processes */
};

/* The words of a command, with the placeholders filled in, after `ip netns exec` and `taskset`. */
static void words_make(const struct setting *s, const char *netns, bool one_cpu,
		       const char *template, char *storage, size_t size, char **argv)
{
	size_t n = 0, used = 0;
	const char *prefix[] = {"ip", "netns", "exec", netns};
	for (int i = 0; *netns && i < 4; i++) {
		argv[n++] = (char *)prefix[i];
	}
	if (one_cpu) {
		argv[n++] = (char *)"taskset";
		argv[n++] = (char *)"-c";
		argv[n++] = (char *)"0";
	}
	for (const char *p = template; *p && used + 80 < size; p++) {
		if (*p != '%') {
			storage[used++] = *p;
			continue;
		}
		p++;
		used += (size_t)(*p == 'A'   ? sprintf(storage + used, "%.64s", s->address)
				 : *p == 'S' ? sprintf(storage + used, "%g", s->seconds)
					     : sprintf(storage + used, "%d", s->streams));
	}
	storage[used] = '\0';
	char *rest, *word = strtok_r(storage, " ", &rest);
	for (; word && n < 62; word = strtok_r(NULL, " ", &rest)) {
		argv[n++] = word;
	}
	argv[n] = NULL;
}

static pid_t start(char **argv, int out)
{
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(out >= 0 ? out : null, 1);
		dup2(null, 2);
		setpgid(0, 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static double own_cpu(const struct rusage *r)
{
	return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) +
	       1e-6 * (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec);
}

/* Up to its end, or to the limit: some peers hang. */
static void output_read(int fd, double limit, char *text)
{
	size_t used = 0;
	double end = monotonic_seconds() + limit;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	for (;;) {
		double left = end - monotonic_seconds();
		if (left <= 0 || poll(&p, 1, (int)(left * 1000)) <= 0) {
			break;
		}
		ssize_t n = read(fd, text + used, TEXT_MAX - 1 - used);
		if (n <= 0) {
			break;
		}
		used += (size_t)n;
	}
	text[used] = '\0';
}

/* iperf3's table: the rate of the last line of the receiver's, for several streams of the sum. */
static double iperf3_rate(const char *text)
{
	double rate = NAN;
	for (const char *p = text; (p = strstr(p, " Kbits/sec")); p++) {
		const char *end = strchr(p, '\n'), *begin = p;
		while (begin > text && begin[-1] != ' ') {
			begin--;
		}
		if (end && memmem(p, (size_t)(end - p), "receiver", 8)) {
			rate = atof(begin);
		}
	}
	return rate;
}

static double rate_of(const struct contender *c, const char *text)
{
	if (strcmp(c->key, "R") == 0) {
		return iperf3_rate(text) * c->unit;
	}
	const char *at = NULL;
	for (const char *p = text; (p = strstr(p, c->key)); p++) {
		at = p;
		if (c->program) {
			break;
		}
	}
	return at ? atof(at + strlen(c->key)) * c->unit : NAN;
}

static void client_template(const struct setting *s, const struct contender *c, char *out,
			    size_t size)
{
	if (c->program) {
		snprintf(out, size, "%s", c->client);
	} else {
		snprintf(out, size,
			 "%s --netns %s,%s --device %s --address %s --duration %g "
			 "--streams %d --warmup off %s -",
			 s->driver, s->netns[0], s->netns[1], s->device, s->address, s->seconds,
			 s->streams, c->client);
	}
}

static void sleep_s(double x)
{
	poll(NULL, 0, (int)(x * 1000));
}

static pid_t server_start(const struct setting *s, const struct contender *c, bool own_netns)
{
	char storage[512], *argv[64];
	if (!c->server) {
		return 0;
	}
	words_make(s, own_netns ? s->netns[1] : "", c->one_cpu, c->server, storage, sizeof(storage),
		   argv);
	pid_t pid = start(argv, -1);
	sleep_s(0.15);
	return pid;
}

static double server_end(pid_t pid)
{
	struct rusage r = {0};
	if (pid <= 0) {
		return 0;
	}
	for (int i = 0; i < 20; i++) {
		if (wait4(pid, NULL, WNOHANG, &r) == pid) {
			return own_cpu(&r);
		}
		sleep_s(0.02);
	}
	kill(-pid, SIGTERM);
	wait4(pid, NULL, 0, &r);
	return own_cpu(&r);
}

static struct outcome measure(const struct setting *s, const struct contender *c,
			      struct cpu_meter *meter)
{
	static char text[TEXT_MAX];
	char template[512], storage[1024], *argv[64];
	struct cpu_reading a, b;
	struct err e;
	struct rusage r;
	int p[2];
	struct outcome o = {NAN, NAN, NAN};
	pid_t server = server_start(s, c, *s->netns[0] && c->program);
	client_template(s, c, template, sizeof(template));
	words_make(s, c->program ? s->netns[0] : "", c->one_cpu, template, storage, sizeof(storage),
		   argv);
	if (pipe2(p, O_CLOEXEC) < 0 || cpu_meter_read(meter, &a, &e) < 0) {
		return o;
	}
	double busy = a.busy;
	pid_t client = start(argv, p[1]);
	close(p[1]);
	output_read(p[0], s->seconds + 8, text);
	kill(-client, SIGKILL);
	close(p[0]);
	wait4(client, NULL, 0, &r);
	cpu_meter_read(meter, &b, &e);
	double own = own_cpu(&r) + server_end(server);
	double kb = rate_of(c, text) * s->seconds / 8 / 1024;
	return (struct outcome){rate_of(c, text), (b.busy - busy) * 1e6 / kb, own * 1e6 / kb};
}

static bool is_there(const char *program)
{
	char command[128];
	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
	return !program || system(command) == 0;
}

/* Ratio of contender i to the first, with its interval, from the rounds in which both did. */
static void print_ratio(struct outcome all[][CONTENDERS], int rounds, size_t i, size_t offset)
{
	double x[ROUNDS_MAX];
	size_t n = 0;
	for (int k = 0; k < rounds; k++) {
		double a = *(double *)((char *)&all[k][i] + offset);
		double b = *(double *)((char *)&all[k][0] + offset);
		if (isfinite(log(a / b))) {
			x[n++] = log(a / b);
		}
	}
	struct interval v = stats_hodges_lehmann(x, n, 0.95);
	printf(" %5.2f (%4.2f-%5.2f) |", exp(v.estimate), exp(v.lo), exp(v.hi));
}

static double median_of(struct outcome all[][CONTENDERS], int rounds, size_t i, size_t offset)
{
	double x[ROUNDS_MAX];
	size_t n = 0;
	for (int k = 0; k < rounds; k++) {
		double v = *(double *)((char *)&all[k][i] + offset);
		if (isfinite(v)) {
			x[n++] = v;
		}
	}
	return stats_median(x, n);
}

static void print_table(const struct setting *s, struct outcome all[][CONTENDERS],
			const bool *there)
{
	printf("| %s, %d stream%s, %d rounds of %g s | Gbit/s | own us/KB | whole us/KB | "
	       "throughput / "
	       "light | own CPU per KB / light | whole-host CPU per KB / light "
	       "|\n|---|---|---|---|---|---|---|\n",
	       *s->netns[0] && strcmp(s->device, "lo") != 0 ? "veth" : "loopback", s->streams,
	       s->streams > 1 ? "s" : "", s->rounds, s->seconds);
	for (size_t i = 0; i < CONTENDERS; i++) {
		if (!there[i]) {
			continue;
		}
		printf("| %s | %.2f | %.3f | %.3f |", contenders[i].name,
		       median_of(all, s->rounds, i, offsetof(struct outcome, throughput)) / 1e9,
		       median_of(all, s->rounds, i, offsetof(struct outcome, own)),
		       median_of(all, s->rounds, i, offsetof(struct outcome, whole)));
		print_ratio(all, s->rounds, i, offsetof(struct outcome, throughput));
		print_ratio(all, s->rounds, i, offsetof(struct outcome, own));
		print_ratio(all, s->rounds, i, offsetof(struct outcome, whole));
		putchar('\n');
	}
}

static void arguments_read(struct setting *s, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *v = argv[i + 1];
		if (strcmp(argv[i], "--rounds") == 0) {
			s->rounds = atoi(v) < ROUNDS_MAX ? atoi(v) : ROUNDS_MAX;
		} else if (strcmp(argv[i], "--seconds") == 0) {
			s->seconds = atof(v);
		} else if (strcmp(argv[i], "--streams") == 0) {
			s->streams = atoi(v);
		} else if (strcmp(argv[i], "--address") == 0) {
			s->address = v;
		} else if (strcmp(argv[i], "--device") == 0) {
			s->device = v;
		} else if (strcmp(argv[i], "--driver") == 0) {
			s->driver = v;
		} else if (strcmp(argv[i], "--netns") == 0) {
			sscanf(v, "%63[^,],%63s", s->netns[0], s->netns[1]);
		}
	}
}

/* Each round in another order, so that no contender always follows the same one. */
static void round_run(const struct setting *s, const bool *there, struct cpu_meter *meter,
		      struct stats_rng *rng, struct outcome *out)
{
	size_t order[CONTENDERS];
	for (size_t i = 0; i < CONTENDERS; i++) {
		size_t k = (size_t)(stats_rng_uniform(rng) * (double)(i + 1));
		order[i] = order[k];
		order[k] = i;
	}
	for (size_t i = 0; i < CONTENDERS; i++) {
		out[order[i]] = (struct outcome){NAN, NAN, NAN};
		if (there[order[i]]) {
			out[order[i]] = measure(s, &contenders[order[i]], meter);
		}
	}
}

int main(int argc, char **argv)
{
	struct setting s = {.rounds = 6,
			    .streams = 1,
			    .seconds = 1,
			    .address = "127.0.0.1",
			    .device = "lo",
			    .driver = "build/tests/lab/stream_driver"};
	static struct outcome all[ROUNDS_MAX][CONTENDERS];
	bool there[CONTENDERS];
	struct cpu_meter *meter;
	struct stats_rng rng;
	struct err e;
	arguments_read(&s, argc, argv);
	for (size_t i = 0; i < CONTENDERS; i++) {
		there[i] = is_there(contenders[i].program) &&
			   (s.streams == 1 || contenders[i].many);
		if (!there[i]) {
			printf("left out: %s\n", contenders[i].name);
		}
	}
	if (cpu_meter_create(-1, NULL, &meter, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	stats_rng_seed(&rng, 1);
	for (int k = 0; k < s.rounds; k++) {
		round_run(&s, there, meter, &rng, all[k]);
	}
	print_table(&s, all, there);
	cpu_meter_destroy(meter);
	return 0;
}
