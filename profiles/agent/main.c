/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tunesweep-agent: the small privileged process on each host. Options and messages only; serve.c
 * does the work. Started by the launcher or by a transport such as ssh, never by hand.
 */
#include "agent_private.h"
#include "run_dir.h"
#include "value.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_USAGE 2

static const char HELP[] =
	"usage: tunesweep-agent [--run-dir DIR] [--netns-path PATH] [--silence-ms N]\n"
	"                       [--root PREFIX] [--help] [--version]\n"
	"\n"
	"Serves tunesweep by lines of JSON on standard input and output: it sets what is asked,\n"
	"runs stream endpoints, and puts everything back when it is told to, when its input ends,\n"
	"or when nobody talks to it. tunesweep starts it; there is no use in starting it by hand.\n"
	"\n"
	"  --run-dir DIR      journals and locks (default /run/tunesweep)\n"
	"  --netns-path PATH  name of the network namespace that it runs in\n"
	"  --silence-ms N     put back after so long without a request (default 10000)\n"
	"  --root PREFIX      a folder with proc and sys instead of the real ones, for tests\n";

static void note(const char *line)
{
	fprintf(stderr, "tunesweep-agent: %s\n", line);
}

static int usage(const char *what)
{
	fprintf(stderr, "tunesweep-agent: %s (--help lists the options)\n", what);
	return EXIT_USAGE;
}

/* -1: go on; else the exit status. */
static int read_options(int argc, char **argv, struct agent_options *o)
{
	static const struct option OPTIONS[] = {{"help", no_argument, NULL, 'h'},
						{"version", no_argument, NULL, 'V'},
						{"root", required_argument, NULL, 'r'},
						{"run-dir", required_argument, NULL, 'd'},
						{"netns-path", required_argument, NULL, 'n'},
						{"silence-ms", required_argument, NULL, 's'},
						{0}};
	int c;
	int64_t ms;
	while ((c = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(HELP, stdout);
			return EXIT_SUCCESS;
		case 'V':
			printf("tunesweep-agent %s\n", TUNESWEEP_VERSION);
			return EXIT_SUCCESS;
		case 'r':
			o->root = optarg;
			break;
		case 'd':
			o->run_dir = optarg;
			break;
		case 'n':
			o->netns_path = optarg;
			break;
		case 's':
			if (scalar_int(optarg, &ms, NULL) || ms < 1 || ms > 3600000) {
				return usage("--silence-ms: a number from 1 to 3600000");
			}
			o->silence_ms = (int)ms;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	return optind < argc ? usage("it takes no arguments") : -1;
}

int main(int argc, char **argv)
{
	char run_dir[256];
	struct agent_options o = {.root = "",
				  .run_dir = run_dir_default(run_dir, sizeof(run_dir)),
				  .netns_path = "",
				  .silence_ms = PROTOCOL_SILENCE_MS};
	int status = read_options(argc, argv, &o);
	return status >= 0 ? status : agent_serve(STDIN_FILENO, STDOUT_FILENO, &o, note);
}
