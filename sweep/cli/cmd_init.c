/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep init: writes a first spec from this machine, so that nobody writes YAML before the
 * first result. Without --to the sweep runs in the embedded lab, which touches nothing of the
 * machine's own network.
 */
#include "cleanup.h"
#include "cli.h"
#include "host.h"
#include "sysfile.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	{"to", 0, "HOST", "the host that receives, reached by ssh; without it, the embedded lab",
	 false},
	{"device", 0, "D",
	 "the interface that is tuned (default: the one that the route to HOST takes)", false},
	{"output", 'o', "SPEC.yaml", "write to a file (it must not exist yet)", false},
	{NULL, 0, NULL, NULL, false},
};

struct first { /* what the spec is made from */
	const char *to;
	char address[INET6_ADDRSTRLEN];
	char device[64];
	const json_t *nic; /* of the fingerprint; NULL if unknown, as lo is */
	json_t *machine;
};

/* The device that owns a local address. */
static void find_device(const struct sockaddr *local, char *device, size_t size)
{
	struct ifaddrs *all = NULL;
	if (getifaddrs(&all) < 0) {
		return;
	}
	for (struct ifaddrs *i = all; i; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != local->sa_family) {
			continue;
		}
		const void *a = &((const struct sockaddr_in *)i->ifa_addr)->sin_addr;
		const void *b = &((const struct sockaddr_in *)local)->sin_addr;
		size_t n = sizeof(struct in_addr);
		if (local->sa_family == AF_INET6) {
			a = &((const struct sockaddr_in6 *)i->ifa_addr)->sin6_addr;
			b = &((const struct sockaddr_in6 *)local)->sin6_addr;
			n = sizeof(struct in6_addr);
		}
		if (memcmp(a, b, n) == 0) {
			snprintf(device, size, "%s", i->ifa_name);
			break;
		}
	}
	freeifaddrs(all);
}

/* Connecting a datagram socket asks the routing table and sends nothing. */
static void find_route(const struct addrinfo *to, char *device, size_t size)
{
	struct sockaddr_storage local;
	socklen_t length = sizeof(local);
	auto_close int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
	    getsockname(fd, (struct sockaddr *)&local, &length) == 0) {
		find_device((struct sockaddr *)&local, device, size);
	}
}

static int resolve(struct first *f, struct err *e)
{
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found = NULL;
	int rc = getaddrinfo(f->to, "9", &hints, &found);
	if (rc != 0) {
		return err_set(e, -EHOSTUNREACH, "--to %s: %s", f->to, gai_strerror(rc));
	}
	getnameinfo(found->ai_addr, found->ai_addrlen, f->address, sizeof(f->address), NULL, 0,
		    NI_NUMERICHOST);
	if (!*f->device) {
		find_route(found, f->device, sizeof(f->device));
	}
	freeaddrinfo(found);
	return 0;
}

static const json_t *find_nic(const json_t *machine, const char *device)
{
	json_t *nics = json_object_get(machine, "nics"), *nic;
	size_t i;
	json_array_foreach(nics, i, nic)
	{
		const char *name = json_string_value(json_object_get(nic, "device"));
		if (name && strcmp(name, device) == 0) {
			return nic;
		}
	}
	return NULL;
}

static const char *text_or(const json_t *o, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : otherwise;
}

static void present(FILE *out, const char *path, const char *name)
{
	struct sysroot root = {""};
	struct err ignored = {0};
	char text[128];
	if (sysfile_read(&root, path, text, sizeof(text), &ignored) < 0) {
		return;
	}
	for (char *p = text; *p; p++) {
		*p = *p == '\t' ? ' ' : *p;
	}
	fprintf(out, "  # this machine has %s = %s\n", name, text);
}

/* Only what is known: a loopback has no driver, a virtual device no NUMA node. */
static void write_device(FILE *out, const struct first *f)
{
	struct sysroot root = {""};
	struct err ignored = {0};
	char path[128], text[128];
	const char *driver = text_or(f->nic, "driver", "");
	fprintf(out, "# Device: %s%s%s", f->device, *driver ? ", driver " : "", driver);
	snprintf(path, sizeof(path), "/sys/class/net/%.63s/mtu", f->device);
	if (sysfile_read(&root, path, text, sizeof(text), &ignored) >= 0) {
		fprintf(out, ", MTU %s", text);
	}
	snprintf(path, sizeof(path), "/sys/class/net/%.63s/device/numa_node", f->device);
	if (sysfile_read(&root, path, text, sizeof(text), &ignored) >= 0 && *text != '-') {
		fprintf(out, ", NUMA node %s", text);
	}
	fputc('\n', out);
}

static void write_head(FILE *out, const struct first *f)
{
	fprintf(out,
		"# A first sweep, written by tunesweep init. Run it with: tunesweep run THIS-FILE\n"
		"# Machine: kernel %s, %s\n",
		text_or(f->machine, "kernel", "?"), text_or(f->machine, "cpu", "CPU not known"));
	if (*f->device) {
		write_device(out, f);
	}
	fprintf(out, "tunesweep: 1\nname: first-sweep\n\nhosts:\n");
	if (f->to) {
		fprintf(out,
			"  sender: {via: local}\n"
			"  receiver: {via: [ssh, \"%s\"], address: \"%s\"}\n",
			f->to, f->address);
	} else {
		fprintf(out,
			"  # Two network namespaces of their own; nothing of this machine's "
			"network is\n"
			"  # touched. For two real machines: tunesweep init --to HOST\n"
			"  sender: {via: lab}\n"
			"  receiver: {via: lab}\n"
			"link: {delay: 20ms, rate: 2Gbit/s, queue: 4MiB}   # delay each way\n");
	}
}

static void write_tunables(FILE *out, const struct first *f)
{
	fprintf(out,
		"\ntest:\n  type: tcp_stream\n  from: sender\n  to: receiver\n  duration: 1s\n\n"
		"objective:\n  maximize: throughput / service_demand   # most bytes for the least "
		"CPU\n"
		"\ntunables:\n");
	present(out, "/proc/sys/net/ipv4/tcp_rmem", "tcp_rmem");
	fprintf(out,
		"  - {set: net.ipv4.tcp_rmem, field: default, host: receiver, range: [16KiB, "
		"4MiB], "
		"scale: log}\n"
		"  - {set: net.ipv4.tcp_rmem, field: max, host: receiver, range: [1MiB, 64MiB], "
		"scale: log}\n");
	present(out, "/proc/sys/net/ipv4/tcp_wmem", "tcp_wmem");
	fprintf(out,
		"  - {set: net.ipv4.tcp_wmem, field: default, host: sender, range: [16KiB, 4MiB], "
		"scale: log}\n"
		"  - {set: net.ipv4.tcp_wmem, field: max, host: sender, range: [1MiB, 64MiB], "
		"scale: "
		"log}\n");
	present(out, "/proc/sys/net/ipv4/tcp_congestion_control", "tcp_congestion_control");
	fprintf(out,
		"  - {set: net.ipv4.tcp_congestion_control, host: sender, choices: available}\n"
		"  - {set: socket.message_size, range: [16KiB, 4MiB], scale: log}\n");
	if (f->to) {
		fprintf(out,
			"  # These can drop the link for a moment; they want  allow: [disruptive]\n"
			"  # - {set: nic.rings.rx, host: sender, device: auto, range: auto}\n"
			"  # - {set: nic.channels.combined, host: sender, device: auto, range: "
			"auto}\n"
			"  # - {set: link.mtu, host: sender, device: auto, range: [1500, 9000]}\n");
	}
	fprintf(out,
		"\nsearch: {algorithm: auto, samples: %d, time: %s, seed: 1}\n"
		"proof: {pairs: %d, time: %s}\n",
		f->to ? 60 : 40, f->to ? "30min" : "2min", f->to ? 60 : 12,
		f->to ? "15min" : "1min");
}

static int write_spec(FILE *out, const char *name, const struct first *f, struct err *e)
{
	write_head(out, f);
	write_tunables(out, f);
	return fflush(out) == 0 ? 0 : err_set(e, -errno, "%s: %s", name, strerror(errno));
}

static int write_file(const struct cli *c, const char *path, const struct first *f, struct err *e)
{
	auto_fclose FILE *file = fopen(path, "wx");
	if (!file && errno == EEXIST) {
		return err_set(e, -EEXIST, "%s is there already, and is not overwritten", path);
	}
	if (!file) {
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	}
	int rc = write_spec(file, path, f, e);
	if (rc == 0 && c->json) {
		auto_json json_t *written = json_pack("{s:s}", "written", path);
		cli_print_json(written);
	}
	if (rc == 0) {
		cli_note(c, "wrote %s; next: tunesweep run %s", path, path);
	}
	return rc;
}

static int print_json(const struct first *f, struct err *e)
{
	auto_free char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	if (!memory) {
		return err_set(e, -errno, "out of memory for the spec");
	}
	int rc = write_spec(memory, "the spec", f, e);
	fclose(memory);
	if (rc == 0) {
		auto_json json_t *spec = json_pack("{s:s%}", "spec", text, size);
		cli_print_json(spec);
	}
	return rc;
}

static int write_where(const struct cli *c, const struct first *f, struct err *e)
{
	const char *path = cli_value(c, "output");
	if (path) {
		return write_file(c, path, f, e);
	}
	return c->json ? print_json(f, e) : write_spec(stdout, "standard output", f, e);
}

static int run(struct cli *c)
{
	struct err e = {0};
	struct sysroot root = {""};
	struct first f = {.to = cli_value(c, "to")};
	const char *device = cli_value(c, "device");
	snprintf(f.device, sizeof(f.device), "%s", device ? device : "");
	auto_json json_t *machine = NULL;
	int rc = f.to ? resolve(&f, &e) : 0;
	if (rc == 0) {
		rc = host_fingerprint(&root, &machine, &e);
	}
	if (rc == 0) {
		f.machine = machine;
		f.nic = find_nic(machine, f.device);
		if (device && if_nametoindex(device) == 0) {
			rc = err_set(&e, -ENODEV, "--device %s: there is no such interface",
				     device);
		}
	}
	if (rc == 0) {
		rc = write_where(c, &f, &e);
	}
	return rc < 0 ? cli_fail(c, &e) : CLI_DONE;
}

const struct command command_init = {
	.name = "init",
	.arguments = "",
	.summary = "Write a first spec from this machine",
	.options = options,
	.run = run,
};
