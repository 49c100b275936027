/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For tests/lab/stream.sh: runs samples of the built-in engine between two network namespaces and
 * prints a JSON line for each. The endpoints run as they do below an agent (in the namespace, as
 * nobody, with timer_list opened before); the agent itself is left out.
 *
 *   stream_driver [--lab DELAY_MS,MBIT_S[,LOSS[,QUEUE]] | --netns A,B --address ADDRESS --device D]
 *                 [--drive light] [--type TYPE] [--streams N] [--duration S] [--send WAY]
 *                 [--receive discard] [--rate BIT_S] [--port N] [--warmup off] [--background S]
 *                 [--own-cpus on] [--cpus N,N] [--socket END,NAME=VALUE] [SETTING...]
 *
 * Each SETTING is one sample, after KEY=VALUE has been written in the receiver's namespace ("-"
 * writes nothing). The first line names the processes: {"sender": PID, "receiver": PID}.
 */
#include "cleanup.h"
#include "engine.h"
#include "host_meters.h"
#include "json_util.h"
#include "protocol.h"
#include "stream.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

extern const struct engine_ops engine_builtin;

struct agent {
	struct agent_info info;
	char netns[64];
	const char *device;
	pid_t pid;
	struct channel c;
	bool end;	   /* what was asked last is an end of the window */
	double counter[2]; /* rx and tx bytes of the device at the last two CPU reads */
	double counter_before[2];
};

struct arguments {
	const char *device, *address;
	char netns[2][64];
	double delay_ms, rate_mbit, loss, queue;
	struct spec spec;
	double duration;
};

static void die(const char *what)
{
	fprintf(stderr, "stream_driver: %s\n", what);
	exit(3);
}

static void netns_enter(const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET) < 0) {
		die(path);
	}
}

/* Received and sent bytes of the device in the endpoint's namespace. */
static void counter_read(struct agent *a)
{
	char path[64], line[512], *at;
	snprintf(path, sizeof(path), "/proc/%d/net/dev", (int)a->pid);
	auto_fclose FILE *f = fopen(path, "r");
	memcpy(a->counter_before, a->counter, sizeof(a->counter));
	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, a->device);
		if (at && at[strlen(a->device)] == ':') {
			sscanf(at + strlen(a->device) + 1, "%lf %*s %*s %*s %*s %*s %*s %*s %lf",
			       &a->counter[0], &a->counter[1]);
		}
	}
}

/* Is one of the requests a read of an end of the window? */
static bool is_end(const json_t *request)
{
	size_t i;
	json_t *one;
	json_array_foreach(json_object_get(request, "requests"), i, one)
	{
		if (is_end(one)) {
			return true;
		}
	}
	return json_is_true(json_object_get(request, "cpu"));
}

int agent_stream_send(struct agent *a, json_t *request, int timeout_ms, struct err *e)
{
	(void)timeout_ms;
	a->end = is_end(request);
	return channel_send(&a->c, request, e);
}

int agent_stream_take(struct agent *a, int timeout_ms, json_t **reply, struct err *e)
{
	int r = channel_recv(&a->c, timeout_ms, reply, e);
	if (a->end) {
		counter_read(a);
	}
	return r < 0 ? r : protocol_result(*reply, e);
}

const struct agent_info *agent_info(const struct agent *a)
{
	return &a->info;
}

int agent_ping(struct agent *a, struct err *e)
{
	(void)a;
	(void)e;
	return 0;
}

static void agent_begin(struct agent *a, const char *netns, const char *device, int other)
{
	int fd[2];
	memset(a, 0, sizeof(*a));
	snprintf(a->netns, sizeof(a->netns), "%s", netns);
	snprintf(a->info.boot_id, sizeof(a->info.boot_id), "one");
	a->info.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	a->device = device;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0 || (a->pid = fork()) < 0) {
		die("no child");
	}
	if (a->pid == 0) {
		static struct host_meters meters;
		host_meters_open(&(struct sysroot){.prefix = ""}, &meters);
		close(fd[0]);
		if (other >= 0) {
			close(other);
		}
		netns_enter(netns);
		if (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0) {
			_exit(9);
		}
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(stream_serve(fd[1], &meters));
	}
	close(fd[1]);
	if (channel_init(&a->c, fd[0], fd[0]) < 0) {
		die("no memory");
	}
}

static void agent_finish(struct agent *a)
{
	close(a->c.in);
	kill(a->pid, SIGCONT);
	waitpid(a->pid, NULL, 0);
	channel_clear(&a->c);
}

/* In a child, so that this process stays where it is. */
static void setting_write(const char *netns, const char *setting)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		char path[256];
		const char *value = strchr(setting, '=');
		int n = snprintf(path, sizeof(path), "/proc/sys/%.*s",
				 value ? (int)(value - setting) : 0, setting);
		for (int i = 10; i < n; i++) {
			path[i] = path[i] == '.' ? '/' : path[i];
		}
		netns_enter(netns);
		auto_close int fd = open(path, O_WRONLY);
		bool ok = value && fd >= 0 &&
			  write(fd, value + 1, strlen(value + 1)) == (ssize_t)strlen(value + 1);
		_exit(!ok);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0) {
		die(setting);
	}
}

static int sample_run(void *state, double duration, struct sample *out, struct err *e)
{
	struct engine_run run = {.number = 1, .duration = duration};
	int ms, r = engine_builtin.start(state, &run, e);
	while (r == 0) {
		r = engine_builtin.poll(state, out, &ms, e);
		if (r == 0) {
			struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
			nanosleep(&ts, NULL);
		}
	}
	engine_builtin.stop(state);
	return r;
}

static void sample_print(const struct arguments *o, void *state, struct agent *receiver)
{
	struct sample s;
	struct err e = {0};
	sample_init(&s);
	auto_json json_t *j = NULL;
	if (sample_run(state, o->duration, &s, &e) < 0) {
		j = json_pack("{s:s, s:i}", "error", e.text, "code", e.code);
	} else {
		j = sample_to_json(&s);
		json_object_set_new(j, "counter",
				    json_real(receiver->counter[0] - receiver->counter_before[0]));
		json_object_set(j, "detail", s.detail);
		json_object_set_new(j, "steady", json_boolean(s.steady));
		json_object_set_new(j, "warmup", json_number_or_null(s.warmup));
		json_object_set_new(j, "limited_by", json_string(s.limited_by));
	}
	json_dumpf(j, stdout, JSON_COMPACT);
	puts("");
	fflush(stdout);
	sample_clear(&s);
}

static void arguments_read(struct arguments *o, int argc, char **argv, int *at)
{
	o->duration = 1;
	o->spec.test = (struct spec_test){.type = "tcp_stream", .from = 0, .to = 1, .streams = 1};
	for (*at = 1; *at + 1 < argc && strncmp(argv[*at], "--", 2) == 0; *at += 2) {
		const char *name = argv[*at] + 2, *v = argv[*at + 1];
		if (strcmp(name, "lab") == 0) {
			sscanf(v, "%lf,%lf,%lf,%lf", &o->delay_ms, &o->rate_mbit, &o->loss,
			       &o->queue);
		} else if (strcmp(name, "netns") == 0) {
			sscanf(v, "%63[^,],%63s", o->netns[0], o->netns[1]);
		} else if (strcmp(name, "address") == 0) {
			o->address = v;
		} else if (strcmp(name, "device") == 0) {
			o->device = v;
		} else if (strcmp(name, "drive") == 0) {
			o->spec.test.light = strcmp(v, "light") == 0;
		} else if (strcmp(name, "type") == 0) {
			snprintf(o->spec.test.type, sizeof(o->spec.test.type), "%s", v);
		} else if (strcmp(name, "streams") == 0) {
			o->spec.test.streams = atoi(v);
		} else if (strcmp(name, "send") == 0) {
			snprintf(o->spec.test.send, sizeof(o->spec.test.send), "%s", v);
		} else if (strcmp(name, "receive") == 0) {
			o->spec.test.discard = strcmp(v, "discard") == 0;
		} else if (strcmp(name, "rate") == 0) {
			o->spec.test.rate = atof(v);
		} else if (strcmp(name, "port") == 0) {
			o->spec.test.port = atoi(v);
		} else if (strcmp(name, "warmup") == 0) {
			o->spec.test.no_warmup = strcmp(v, "off") == 0;
		} else if (strcmp(name, "background") == 0) {
			o->spec.test.background = atof(v);
		} else if (strcmp(name, "own-cpus") == 0) {
			o->spec.test.own_cpus = strcmp(v, "on") == 0;
		} else if (strcmp(name, "socket") == 0) {
			struct spec_fixed *f = &o->spec.test.fixed[o->spec.test.n_fixed++];
			long long value;
			sscanf(v, "%d,%23[^=]=%lld", &f->end, f->name, &value);
			f->value = value;
		} else if (strcmp(name, "cpus") == 0) {
			o->spec.test.n_cpus[0] = o->spec.test.n_cpus[1] = 1;
			sscanf(v, "%d,%d", &o->spec.test.cpus[0][0], &o->spec.test.cpus[1][0]);
		} else if (strcmp(name, "duration") == 0) {
			o->duration = atof(v);
		} else {
			die(name);
		}
	}
}

static void samples_run(struct arguments *o, char **settings, int n)
{
	struct agent a, b;
	void *state;
	struct err e = {0};
	agent_begin(&a, o->netns[0], o->device, -1);
	agent_begin(&b, o->netns[1], o->device, a.c.in);
	printf("{\"sender\": %d, \"receiver\": %d}\n", (int)a.pid, (int)b.pid);
	fflush(stdout);
	struct engine_env env = {
		.spec = &o->spec, .sender = &a, .receiver = &b, .receiver_address = o->address};
	if (engine_builtin.create(&env, &state, &e) < 0) {
		die(e.text);
	}
	for (int i = 0; i < n; i++) {
		if (strcmp(settings[i], "-") != 0) {
			setting_write(o->netns[1], settings[i]);
		}
		sample_print(o, state, strcmp(o->spec.test.type, "tcp_maerts") == 0 ? &a : &b);
	}
	engine_builtin.destroy(state);
	agent_finish(&b);
	agent_finish(&a);
}

int main(int argc, char **argv)
{
	static struct arguments o;
	struct launcher *l = NULL;
	struct lab_info lab;
	struct err e = {0};
	int at;
	arguments_read(&o, argc, argv, &at);
	if (o.delay_ms > 0) {
		struct lab_link link = {.delay_s = o.delay_ms / 1000,
					.rate_bps = o.rate_mbit * 1e6,
					.queue_bytes = (int64_t)o.queue,
					.loss = o.loss};
		if (launcher_start(&l, &e) < 0 || launcher_lab_create(l, &link, &lab, &e) < 0) {
			die(e.text);
		}
		memcpy(o.netns, lab.netns, sizeof(o.netns));
		o.address = lab.address[1];
		o.device = lab.device[1];
	}
	if (!o.address || !o.device) {
		die("no --address or --device");
	}
	samples_run(&o, argv + at, argc - at);
	launcher_stop(l);
	return 0;
}
