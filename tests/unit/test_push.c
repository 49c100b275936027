/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent taken along to shells that are as other hosts are: one that greets, one that leaves,
 * one that reads nothing, another architecture, one without base64, without room. What is sent is a
 * program of the test's own beside a copy of this one.
 */
#include "cleanup.h"
#include "push.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *folder; /* of this copy */

static void put(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
}

/* Pushes to what sh runs of this command; answer gets what it says afterwards, "" if it was
 * refused. */
static int push_to(const char *command, char answer[256], struct err *e)
{
	int to[2], from[2];
	assert_true(pipe(to) == 0 && pipe(from) == 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	int rc = agent_push(to[1], from[0], e);
	close(to[1]);
	ssize_t n = rc ? 0 : read(from[0], answer, 255);
	answer[n > 0 ? n : 0] = '\0';
	close(from[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return rc;
}

static void it_becomes_the_agent(void **state)
{
	char answer[256];
	struct err e = {0};
	(void)state;
	if (push_to("exec sh", answer, &e)) {
		fail_msg("%s", e.text);
	}
	assert_string_equal(answer, "here I am\n");
	assert_int_equal(push_to("echo Welcome; echo 'tunesweep-pushing'; exec sh", answer, &e), 0);
	assert_string_equal(answer, "here I am\n");
}

/* Nothing of it stays in the folder that it was put to. */
static void nothing_is_left(void **state)
{
	char command[256], answer[256];
	struct err e = {0};
	(void)state;
	snprintf(command, sizeof(command), "mkdir %s/room; XDG_RUNTIME_DIR=%s/room exec sh", folder,
		 folder);
	assert_int_equal(push_to(command, answer, &e), 0);
	snprintf(command, sizeof(command), "%s/room", folder);
	assert_int_equal(rmdir(command), 0); /* only an empty one goes */
}

static void assert_refused(const char *command, int code, const char *words)
{
	char answer[256];
	struct err e = {0};
	int rc = push_to(command, answer, &e);
	if (rc != code || !strstr(e.text, words)) {
		fail_msg("%s: %d %s", command, rc, e.text);
	}
}

static void who_leaves_is_gone(void **state)
{
	(void)state;
	assert_refused("true", -EHOSTDOWN, "it has left before the agent was there");
	assert_refused("exec <&-; sleep 0.2", -EHOSTDOWN, "it has left");
	assert_refused("head -c 100 >/dev/null", -EHOSTDOWN, "it has left");
	assert_refused("cat >/dev/null & exec <&- >&-; sleep 0.2; kill $!", -EHOSTDOWN,
		       "it has left");
}

static void its_own_words_are_told(void **state)
{
	char command[400];
	(void)state;
	assert_refused("echo tunesweep-failed no room on the moon; cat >/dev/null", -ENOEXEC,
		       "cannot be taken there: no room on the moon");
	snprintf(command, sizeof(command), "PATH=%s/other:$PATH exec sh", folder);
	assert_refused(command, -ENOEXEC, "it is Linux-pdp11, the agent is for Linux-");
	snprintf(command, sizeof(command), "PATH=%s/bare exec /bin/sh", folder);
	assert_refused(command, -ENOEXEC, "it has no base64");
}

/* A line that never ends is cut, not believed and not waited for. */
static void a_long_greeting_is_no_answer(void **state)
{
	char answer[256];
	struct err e = {0};
	(void)state;
	assert_int_equal(push_to("head -c 5000 /dev/zero | tr '\\0' x; echo; exec sh", answer, &e),
			 0);
	assert_string_equal(answer, "here I am\n");
}

static void without_an_agent_to_take_it_says_so(void **state)
{
	char path[256], answer[256];
	struct err e = {0};
	(void)state;
	snprintf(path, sizeof(path), "%s/tunesweep-agent-static", folder);
	put("tunesweep-agent-static", "");
	assert_int_equal(push_to("exec sh", answer, &e), -EIO);
	assert_non_null(strstr(e.text, "cannot be read"));
	unlink(path);
	assert_int_equal(push_to("exec sh", answer, &e), -ENOENT);
	assert_non_null(strstr(e.text, "there is no agent to take along"));
}

static void furnish(void)
{
	char path[256];
	put("tunesweep-agent", "#!/bin/sh\n");
	put("tunesweep-agent-static", "#!/bin/sh\necho here I am\n");
	snprintf(path, sizeof(path), "%s/other", folder);
	mkdir(path, 0755);
	put("other/uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Linux || echo pdp11\n");
	snprintf(path, sizeof(path), "%s/bare", folder);
	mkdir(path, 0755);
	put("bare/uname", "#!/bin/sh\nexec /bin/uname \"$@\"\n");
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_becomes_the_agent),
		cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(who_leaves_is_gone),
		cmocka_unit_test(its_own_words_are_told),
		cmocka_unit_test(a_long_greeting_is_no_answer),
		cmocka_unit_test(without_an_agent_to_take_it_says_so),
	};
	return cmocka_run_group_tests_name("push", tests, NULL, NULL);
}

/* A copy in a folder of its own, since the agent is looked for beside the program. */
int main(int argc, char **argv)
{
	char place[] = "/tmp/tunesweep-test-XXXXXX", command[512];
	signal(SIGPIPE, SIG_IGN);
	if (argc > 1) {
		folder = argv[1];
		furnish();
		return run_all();
	}
	if (!mkdtemp(place)) {
		return 1;
	}
	snprintf(command, sizeof(command),
		 "cp '%s' %s/test_push && %s/test_push %s; s=$?; rm -rf %s; exit $s", argv[0],
		 place, place, place, place);
	int status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
