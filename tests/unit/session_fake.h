/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session with a kernel made of shared memory below it: settings that refuse, clamp, ignore or
 * vanish, which outlive the process that set them, and a step counter that kills the process at
 * any reading, writing or syncing. Included by the session's tests, which get its sources with it.
 */
#ifndef TUNESWEEP_SESSION_FAKE_H
#define TUNESWEEP_SESSION_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those before it */
#include "cleanup.h"
#include "journal.h"
#include "session.h"
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define BYTES "vm.dirty_bytes"
#define RATIO "vm.dirty_ratio"
#define ZONE  "vm.zone_reclaim_mode"

enum mode {
	OBEYS,
	REFUSES, /* -EINVAL, nothing changed */
	HALVES,	 /* -EINVAL where the second field is 0, and the first has changed: tcp_rmem */
	CLAMPS,	 /* numbers above 1000000 become 1000000 */
	IGNORES, /* success, and nothing changed */
	GONE_NOW /* -ENOENT */
};

struct fake {
	struct {
		char name[TUNABLE_NAME_MAX], text[VALUE_TEXT_MAX];
		enum mode mode;
		int writes;
	} settings[32];
	size_t n;
};

static struct fake *fake; /* shared with the children */
static long kill_at;	  /* steps until the process kills itself; 0: never */
static long fail_at;	  /* writes and syncs of the journal until they fail; 0: never */
static int fail_errno;
static bool fail_for_good;		   /* a full disk, not a passing fault */
static bool fail_torn;			   /* half a record gets there */
static void (*before_lock)(void);	   /* once */
static bool intent_waits;		   /* an old value or an intent is not on the disk yet */
static int early_writes;		   /* of settings while one waited */
static void (*on_write)(const char *name); /* after a write that was obeyed */
static char folder[64], runtime[96];
static struct session_place here;

static void step(void)
{
	if (kill_at && --kill_at == 0) {
		raise(SIGKILL);
	}
}

static int fake_index(const char *name)
{
	for (size_t i = 0; i < fake->n; i++) {
		if (!strcmp(fake->settings[i].name, name)) {
			return (int)i;
		}
	}
	fail_msg("%s is not in the fake kernel", name);
	return -1;
}

static void put(const char *name, const char *text)
{
	snprintf(fake->settings[fake_index(name)].text, VALUE_TEXT_MAX, "%s", text);
}

static const char *got(const char *name)
{
	return fake->settings[fake_index(name)].text;
}

static void __attribute__((unused)) behave(const char *name, enum mode mode)
{
	fake->settings[fake_index(name)].mode = mode;
}

static int fake_read(const struct sysroot *root, const struct setting *s, char *text, size_t size,
		     struct err *e)
{
	(void)root;
	int i = fake_index(s->name);
	step();
	if (fake->settings[i].mode == GONE_NOW) {
		return err_set(e, -ENOENT, "cannot read %s", s->name);
	}
	return setting_canonical(fake->settings[i].text, text, size);
}

/* Turning forwarding on changes every device's, as inet_forward_change does. */
static void forward_all(const char *text)
{
	for (size_t i = 0; i < fake->n; i++) {
		const char *name = fake->settings[i].name;
		if (strstr(name, "forwarding")) {
			put(name, text);
		}
		if (strstr(name, "accept_redirects")) {
			put(name, *text == '1' ? "0" : "1");
		}
	}
}

/* vm.dirty_bytes and vm.dirty_ratio: writing the one makes the other 0. */
static void zero_the_other(const char *name)
{
	if (!strcmp(name, BYTES)) {
		put(RATIO, "0");
	} else if (!strcmp(name, RATIO)) {
		put(BYTES, "0");
	}
}

static int fake_write(const struct sysroot *root, const struct setting *s, const char *text,
		      struct err *e)
{
	(void)root;
	int i = fake_index(s->name);
	char *held = fake->settings[i].text;
	long a, b, c;
	step();
	fake->settings[i].writes++;
	early_writes += intent_waits;
	int n = sscanf(text, "%ld %ld %ld", &a, &b, &c);
	if (!strcmp(s->name, BYTES) && n == 1 && a == 0) {
		return err_set(e, -EINVAL, "cannot write %s: below two pages", s->name);
	}
	switch (fake->settings[i].mode) {
	case GONE_NOW:
		return err_set(e, -ENOENT, "cannot write %s", s->name);
	case HALVES:
		if (n == 3 && !b) {
			sscanf(held, "%*d %ld %ld", &b, &c);
			snprintf(held, VALUE_TEXT_MAX, "%ld\t%ld\t%ld", a, b, c);
			step();
			return err_set(e, -EINVAL, "cannot write %s: half", s->name);
		}
		break;
	case REFUSES:
		return err_set(e, -EINVAL, "cannot write %s: refused", s->name);
	case IGNORES:
		return 0;
	case CLAMPS:
		snprintf(held, VALUE_TEXT_MAX, "%ld", a > 1000000 ? 1000000 : a);
		step();
		return 0;
	default:
		break;
	}
	snprintf(held, VALUE_TEXT_MAX, "%s", text);
	if (!strcmp(s->name, "net.ipv4.ip_forward")) {
		forward_all(text);
	}
	zero_the_other(s->name);
	if (on_write) {
		on_write(s->name);
	}
	step();
	return 0;
}

static bool __attribute__((unused)) fault(void)
{
	if (!fail_at || --fail_at) {
		return false;
	}
	fail_at = fail_for_good ? 1 : 0;
	errno = fail_errno;
	return true;
}

/* Dies in the middle of a line. */
static ssize_t fake_sys_write(int fd, const void *buf, size_t size)
{
	if (fault()) {
		bool torn = fail_torn && write(fd, buf, size / 2) > 0;
		errno = torn ? ENOSPC : errno;
		return -1;
	}
	intent_waits = intent_waits || memmem(buf, size, "\"op\":\"set\"", 10) ||
		       memmem(buf, size, "\"op\":\"old\"", 10);
	if (kill_at == 1 && write(fd, buf, size / 2) >= 0) {
		raise(SIGKILL);
	}
	step();
	return write(fd, buf, size);
}

static int fake_fdatasync(int fd)
{
	step();
	intent_waits = false;
	return fault() ? -1 : fdatasync(fd);
}

static int fake_flock(int fd, int how)
{
	void (*first)(void) = before_lock;
	before_lock = NULL;
	if (first) {
		first();
	}
	return flock(fd, how);
}

#define tunable_read	     fake_read
#define tunable_write	     fake_write
#define write(fd, buf, size) fake_sys_write(fd, buf, size)
#define fdatasync(fd)	     fake_fdatasync(fd)
#define flock(fd, how)	     fake_flock(fd, how)
#include "../../profiles/journal.c"
#include "../../profiles/session.c"
#include "../../profiles/session/device.c"
#include "../../profiles/session/drift.c"
#include "../../profiles/session/lock.c"
#include "../../profiles/session/order.c"
#include "../../profiles/session/records.c"
#include "../../profiles/session/rollback.c"
#include "../../profiles/session/set.c"
#include "../../profiles/session/track.c"
#undef tunable_read
#undef tunable_write
#undef write
#undef fdatasync
#undef flock

#define RMEM "net.ipv4.tcp_rmem"
#define WMEM "net.ipv4.tcp_wmem"
#define CONG "net.ipv4.tcp_congestion_control"
#define SOMX "net.core.somaxconn"

static void fake_fill(void)
{
	static const char *const baseline[][2] = {
		{RMEM, "4096\t131072\t6291456"},
		{WMEM, "4096\t16384\t4194304"},
		{CONG, "cubic"},
		{SOMX, "4096"},
		{BYTES, "0"},
		{RATIO, "20"},
		{ZONE, "0"},
		{"net.ipv4.ip_forward", "0"},
		{"net.ipv4.conf.all.forwarding", "0"},
		{"net.ipv4.conf.default.forwarding", "0"},
		{"net.ipv4.conf.lo.forwarding", "1"},
		{"net/ipv4/conf/eth0.100/forwarding", "0"},
		{"net.ipv4.conf.all.accept_redirects", "1"},
		{"net.ipv4.conf.default.accept_redirects", "0"},
		{"net.ipv4.conf.lo.accept_redirects", "1"},
		{"net/ipv4/conf/eth0.100/accept_redirects", "1"},
	};
	memset(fake, 0, sizeof(*fake));
	for (size_t i = 0; i < ARRAY_SIZE(baseline); i++) {
		snprintf(fake->settings[i].name, TUNABLE_NAME_MAX, "%s", baseline[i][0]);
		snprintf(fake->settings[i].text, VALUE_TEXT_MAX, "%s", baseline[i][1]);
		fake->n++;
	}
}

static bool __attribute__((unused)) at_baseline(void)
{
	return same_text(got(RMEM), "4096 131072 6291456") &&
	       same_text(got(WMEM), "4096 16384 4194304") && same_text(got(CONG), "cubic") &&
	       same_text(got(SOMX), "4096");
}

static bool __attribute__((unused)) nothing_left(void)
{
	DIR *d = opendir(runtime);
	size_t n = 0;
	for (struct dirent *f = d ? readdir(d) : NULL; f; f = readdir(d)) {
		n += f->d_name[0] != '.';
	}
	if (d) {
		closedir(d);
	}
	return !n;
}

static void shell(const char *fmt, const char *arg)
{
	char command[512];
	snprintf(command, sizeof(command), fmt, arg, arg);
	assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
	(void)state;
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fake == MAP_FAILED) {
		return -1;
	}
	fake_fill();
	/* In memory where possible: a kill at each step syncs thousands of times. */
	snprintf(folder, sizeof(folder), "%s/test-session-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(folder)) {
		return -1;
	}
	snprintf(runtime, sizeof(runtime), "%s/run", folder);
	shell("mkdir -p %s/root && cp -r tests/sysroot/host/proc %s/root/", folder);
	static char prefix[96];
	snprintf(prefix, sizeof(prefix), "%s/root", folder);
	here = (struct session_place){{prefix}, runtime, NULL};
	kill_at = fail_at = 0;
	intent_waits = fail_torn = false;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	munmap(fake, sizeof(*fake));
	shell("rm -rf %s", folder);
	return 0;
}

static struct assignment __attribute__((unused))
assign(const char *name, const char *field, struct value v)
{
	struct assignment a = {.value = v};
	struct err e = {0};
	if (tunable_resolve(name, field, NULL, &a.setting, &e)) {
		fail_msg("%s", e.text);
	}
	snprintf(a.field, sizeof(a.field), "%s", field);
	return a;
}

static struct session *must_open(const char *layer)
{
	struct session *s = NULL;
	struct err e = {0};
	if (session_open(&here, layer, "a profile", &s, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

static void __attribute__((unused))
must_set(struct session *s, const struct assignment *a, size_t n)
{
	struct err e = {0};
	if (session_set(s, a, n, NULL, &e)) {
		fail_msg("%s", e.text);
	}
}

static void __attribute__((unused)) must_roll_back(struct session *s)
{
	struct err e = {0};
	if (session_rollback(s, false, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	session_close(s);
}

#endif
