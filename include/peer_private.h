/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Engines that are other people's stream tests: peer.c starts their server and client on the two
 * hosts, waits within a limit and hands over what the client wrote; netperf.c and iperf3.c know the
 * words and the output. Only these and their test include this.
 */
#ifndef TUNESWEEP_PEER_PRIVATE_H
#define TUNESWEEP_PEER_PRIVATE_H

#include "engine.h"
#include <stdbool.h>
#include <stddef.h>

#define PEER_WORDS_MAX 96
#define PEER_TEXT_MAX  (4 << 20)

struct peer_words { /* of a command, with storage for those that are made */
	size_t n, used;
	char *word[PEER_WORDS_MAX];
	char storage[4096];
};
/* Past the limit: none is added, and the command is refused when it is started. */
void peer_word(struct peer_words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* {name: number} of the socket.* tunables: those of the run and those that are fixed, where they
 * are of one end only if data goes through them there. A new reference. */
json_t *peer_socket_values(const struct spec_test *t, const struct engine_run *run);

struct peer_sample { /* what is asked */
	const struct spec_test *test;
	const char *address;
	int port;
	double duration; /* s, whole ones */
	bool one_host;
	json_t *socket; /* {name: number} of the sending and the receiving end; borrowed */
};

struct peer_tool {
	const char *name;	 /* also the client's program */
	const char *server_name; /* the server's program */
	/* ERR_USAGE for what this tool cannot do: checked once, before anything runs. */
	int (*check)(const struct spec_test *test, struct err *e);
	void (*server)(const struct peer_sample *s, struct peer_words *w);
	int (*client)(const struct peer_sample *s, struct peer_words *w, struct err *e);
	/* From all that the client wrote. */
	int (*parse)(const struct peer_sample *s, const char *text, struct sample *out,
		     struct err *e);
	double extra; /* s that it runs beyond its duration */
};

extern const struct peer_tool peer_netperf, peer_iperf3;

int peer_create(const struct peer_tool *tool, const struct engine_env *env, void **state,
		struct err *e);
int peer_start(void *state, const struct engine_run *run, struct err *e);
int peer_poll(void *state, struct sample *out, int *poll_ms, struct err *e);
void peer_stop(void *state);
void peer_destroy(void *state);

#endif
