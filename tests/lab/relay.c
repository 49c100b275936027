/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A control path over TCP that a setting can cut, for the scripts in this folder: "listen PORT
 * PROGRAM ARG..." gives the first connection to a program as its input and output; "connect ADDRESS
 * PORT ..." passes its own input and output on. No part of the product.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
	return 1;
}

static int serve(int port, char **program)
{
	int yes = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((in_port_t)port)};
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(s, (struct sockaddr *)&any, sizeof(any)) || listen(s, 1)) {
		return fail("listen");
	}
	int c = accept(s, NULL, NULL);
	if (c < 0 || dup2(c, 0) < 0 || dup2(c, 1) < 0) {
		return fail("accept");
	}
	close(c);
	execv(program[0], program);
	return fail(program[0]);
}

/* 0: its end, or nobody takes it. */
static int copy(int from, int to)
{
	char buf[65536];
	ssize_t n = read(from, buf, sizeof(buf));
	for (ssize_t done = 0, w; done < n; done += w) {
		w = write(to, buf + done, (size_t)(n - done));
		if (w < 0) {
			return 0;
		}
	}
	return n > 0;
}

static int pass_on(const char *address, int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((in_port_t)port)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, address, &to.sin_addr);
	if (connect(s, (struct sockaddr *)&to, sizeof(to))) {
		return fail("connect");
	}
	for (;;) {
		struct pollfd p[2] = {{.fd = 0, .events = POLLIN}, {.fd = s, .events = POLLIN}};
		if (poll(p, 2, -1) < 0 || (p[0].revents && !copy(0, s)) ||
		    (p[1].revents && !copy(s, 1))) {
			return 0;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[1], "listen") == 0) {
		return serve(atoi(argv[2]), argv + 3);
	}
	if (argc > 3 && strcmp(argv[1], "connect") == 0) {
		return pass_on(argv[2], atoi(argv[3]));
	}
	fprintf(stderr, "relay: listen PORT PROGRAM... | connect ADDRESS PORT\n");
	return 2;
}
