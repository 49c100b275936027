/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * irq.affinity beside an irqbalance that listens on its socket, played by a child: its interrupts
 * are spared besides those that were, also by a session that rolls back, by one that is read from a
 * journal, and where the daemon does not do as it is told.
 */
#include "session.h"
#include "setting_fixture.h"
#include "sysroot_fixture.h"
#include "tunable.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define DAEMON "4711"

static struct sysroot root;
static pid_t child;

enum manner { OBEYS, FORGETS, MUTE };

static void answer(int fd, int *irqs, int *n, enum manner manner)
{
	char text[512] = "", told[4096];
	ssize_t got = recv(fd, text, sizeof(text) - 1, 0);
	if (got > 0 && !strncmp(text, "setup", 5) && manner != MUTE) {
		int used = snprintf(told, sizeof(told), "SLEEP 10 ");
		for (int i = 0; i < *n; i++) {
			used += snprintf(told + used, sizeof(told) - (size_t)used,
					 "IRQ %d LOAD 0 DIFF 0 CLASS 0 ", irqs[i]);
		}
		snprintf(told + used, sizeof(told) - (size_t)used, "BANNED 00000000");
		send(fd, told, strlen(told), MSG_NOSIGNAL);
	}
	const char *list = strstr(text, "ban irqs ");
	if (list) {
		*n = 0;
		list += strlen("ban irqs ");
		for (char *end; *n < 100; list = end) {
			int irq = (int)strtol(list, &end, 10);
			if (end == list) {
				break;
			}
			irqs[(*n)++] = irq;
		}
		*n -= manner == FORGETS && *n > 1;
	}
}

/* A daemon that spares interrupt 5 already. */
static void daemon_start(enum manner manner)
{
	char path[128];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	sysroot_put("/run/irqbalance/x", "");
	snprintf(path, sizeof(path), "%s/run/irqbalance/irqbalance" DAEMON ".sock", sysroot_folder);
	snprintf(at.sun_path, sizeof(at.sun_path), "%.100s", path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	sysroot_put("/proc/" DAEMON "/comm", "irqbalance");
	sysroot_put("/proc/" DAEMON "/stat", DAEMON " (irqbalance) S 1 4711 4711 0 -1 4194560");
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		int irqs[100] = {5}, n = 1;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int one; (one = accept(fd, NULL, NULL)) >= 0; close(one)) {
			answer(one, irqs, &n, manner);
		}
		_exit(0);
	}
	close(fd);
}

static const char *balancer(void)
{
	static char text[SETTING_TEXT_MAX];
	struct setting s = setting_of("irq.irqbalance", "");
	struct err e = {0};
	if (tunable_read(&root, &s, text, sizeof(text), &e)) {
		snprintf(text, sizeof(text), "%s", e.text);
	}
	return text;
}

static struct session *opened(const char *layer)
{
	static char run[96];
	struct session *s = NULL;
	struct err e = {0};
	snprintf(run, sizeof(run), "%s/tunesweep", sysroot_folder);
	struct session_place place = {.root = root, .run_dir = run};
	if (session_open(&place, layer, "t", &s, NULL, &e)) {
		fail_msg("%s", e.text);
	}
	return s;
}

static int set(struct session *s, const char *device, const char *word)
{
	struct assignment a = {.setting = setting_of("irq.affinity", device),
			       .value = value_text(word)};
	return session_set(s, &a, 1, NULL, NULL);
}

static int teardown(void **state)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		child = 0;
	}
	return sysroot_teardown(state);
}

static void test_spared_and_given_back(void **state)
{
	struct session_report report;
	(void)state;
	root = sysroot_make("guest");
	daemon_start(OBEYS);
	assert_string_equal(balancer(), "spares 5");
	struct session *s = opened("applied");
	assert_int_equal(set(s, "enp1s0", "0"), 0);
	assert_string_equal(balancer(), "spares 5,31,32,33,34");
	assert_int_equal(set(s, "enp3s0", "0"), 0);
	assert_string_equal(balancer(), "spares 5,31,32,33,34,40,41");
	struct setting irqbalance = setting_of("irq.irqbalance", "");
	struct tunable_range range;
	assert_int_equal(tunable_probe(&root, &irqbalance, "", &range, NULL), 0);
	assert_string_equal(range.present.text, TUNABLE_AS_FOUND);
	assert_int_equal(session_commit(s, NULL), 0);
	session_close(s);
	s = opened("applied"); /* by what the journal says */
	assert_int_equal(session_rollback(s, false, &report, NULL), 0);
	assert_int_equal(report.n_conflict + report.n_failed, 0);
	session_report_clear(&report);
	session_close(s);
	assert_string_equal(balancer(), "spares 5");
	assert_string_equal(sysroot_got("/proc/irq/31/smp_affinity_list"), "0-3");
}

static void test_told_exactly(void **state)
{
	struct setting s = setting_of("irq.irqbalance", "");
	(void)state;
	root = sysroot_make("guest");
	daemon_start(OBEYS);
	assert_int_equal(tunable_write(&root, &s, "running", NULL), 0);
	assert_string_equal(balancer(), "running");
	assert_int_equal(tunable_write(&root, &s, "spares 7,9", NULL), 0);
	assert_string_equal(balancer(), "spares 7,9");
	assert_int_equal(tunable_write(&root, &s, "spares x", NULL), -EINVAL);
	assert_int_equal(tunable_write(&root, &s, "asleep", NULL), -ENOENT);
	assert_string_equal(balancer(), "spares 7,9");
}

/* It is not believed, has its own list again, and is paused instead (which a recorded one is not).
 */
static void test_list_not_taken(void **state)
{
	(void)state;
	root = sysroot_make("guest");
	daemon_start(FORGETS);
	struct session *s = opened("applied");
	assert_int_equal(set(s, "enp1s0", "0"), 0);
	assert_string_equal(balancer(), "spares 5");
	assert_int_equal(session_rollback(s, false, NULL, NULL), 0);
	session_close(s);
}

static void test_no_answer(void **state)
{
	(void)state;
	root = sysroot_make("guest");
	daemon_start(MUTE);
	assert_string_equal(balancer(), "running");
	struct session *s = opened("applied");
	assert_int_equal(set(s, "enp1s0", "0"), 0);
	assert_string_equal(sysroot_got("/proc/irq/31/smp_affinity_list"), "0");
	assert_int_equal(session_rollback(s, false, NULL, NULL), 0);
	session_close(s);
}

/* Gone at the time of the rollback: it took its list along. */
static void test_daemon_leaves(void **state)
{
	struct session_report report;
	(void)state;
	root = sysroot_make("guest");
	daemon_start(OBEYS);
	struct session *s = opened("applied");
	assert_int_equal(set(s, "enp1s0", "0"), 0);
	assert_int_equal(session_commit(s, NULL), 0);
	sysroot_drop("/proc/" DAEMON "/comm");
	assert_string_equal(balancer(), "irq.irqbalance: irqbalance does not run here");
	assert_int_equal(session_rollback(s, false, &report, NULL), 0);
	assert_int_equal(report.n_conflict + report.n_failed, 0);
	session_report_clear(&report);
	session_close(s);
	assert_string_equal(sysroot_got("/proc/irq/31/smp_affinity_list"), "0-3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_spared_and_given_back, teardown),
		cmocka_unit_test_teardown(test_told_exactly, teardown),
		cmocka_unit_test_teardown(test_list_not_taken, teardown),
		cmocka_unit_test_teardown(test_no_answer, teardown),
		cmocka_unit_test_teardown(test_daemon_leaves, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
