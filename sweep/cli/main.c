/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program tunesweep: picks the command, forks the launcher before anything else is open, drops
 * all privileges, and runs it. What the commands do stands in a file each.
 */
#include "cleanup.h"
#include "cli_confirm.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* clang-format off */
static const struct command *const commands[] = {
	&command_init,
	&command_run,
	&command_apply,
	&command_rollback,
	&command_status,
	&command_verify,
	&command_list,
	&command_show,
	&command_results,
	&command_report,
	&command_import,
	&command_timeline,
	&command_compare,
	&command_check,
	&command_export_runs,
	&command_test,
	&command_confirm,
	&command_diff,
	&command_capture,
	&command_export,
	&command_exec,
	&command_restore,
	&command_nightly,
	&command_doctor,
	&command_help,
	NULL,
};
/* clang-format on */

/* Words that begin with a dash are options, which belong behind the command. */
static const struct command *find_command(const char *word, struct err *e)
{
	if (*word == '-' && strncmp("--help", word, strlen(word)) &&
	    strncmp("--version", word, strlen(word))) {
		err_usage(e,
			  "'%.100s' comes before the command: tunesweep COMMAND [OPTION...], or "
			  "--help or --version alone",
			  word);
		return NULL;
	}
	return cli_find_command(commands, word, e);
}

/* The signals that end a run become readable on a descriptor, so that nothing is cut in the
 * middle: a second Ctrl-C does not cut the rollback. */
static int open_interrupt_fd(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int run_command(struct cli *c)
{
	struct err e = {0};
	if (c->command->background && cli_value(c, c->command->background)) {
		int answer = background_fork(c, &e);
		if (answer >= 0) {
			return answer;
		}
	}
	if (c->command->needs_launcher && launcher_start(&c->launcher, &e) < 0) {
		return cli_fail(c, &e);
	}
	if (!c->command->keeps_privilege && launcher_drop_privileges(&e) < 0) {
		launcher_stop(c->launcher);
		return cli_fail(c, &e);
	}
	int status = c->command->run(c);
	launcher_stop(c->launcher);
	return status;
}

static int run_words(int argc, char **argv)
{
	struct err e = {0};
	struct cli c = {.commands = commands};
	if (readlink("/proc/self/exe", c.program, sizeof(c.program) - 1) < 0) {
		*c.program = '\0';
	}
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		cli_usage(commands, argc < 2 ? stderr : stdout);
		return argc < 2 ? CLI_USAGE : CLI_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("tunesweep %s\n", TUNESWEEP_VERSION);
		return CLI_DONE;
	}
	c.command = find_command(argv[1], &e);
	if (!c.command) {
		c.json = cli_has_word(argc, argv, "--json");
		return cli_fail(&c, &e);
	}
	int rc = cli_parse(&c, argc - 1, argv + 1, &e);
	if (rc != 0) {
		return rc < 0 ? cli_fail(&c, &e) : CLI_DONE;
	}
	c.interrupt_fd = open_interrupt_fd();
	return run_command(&c);
}

/* Whoever starts this with standard streams closed must not find that the store has become one of
 * them. The substitutes refuse what the stream is for. */
static bool fill_standard_streams(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
			return false;
		}
	}
	return true;
}

/* A full disk shows at the first flush; later ones may succeed, but something is missing. A reader
 * that has gone, as head(1) does, wants no more, and no word about it. */
int main(int argc, char **argv)
{
	if (!fill_standard_streams()) {
		return CLI_REFUSED;
	}
	int status = run_words(argc, argv);
	errno = 0;
	bool now = fflush(stdout) != 0;
	if (!now && !ferror(stdout)) {
		return status;
	}
	if (errno == EPIPE) {
		return status ? status : CLI_REFUSED;
	}
	fprintf(stderr, "tunesweep: standard output could not be written%s%s\n",
		now && errno ? ": " : "", now && errno ? strerror(errno) : "");
	return status ? status : CLI_REFUSED;
}
