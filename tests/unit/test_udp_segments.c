/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several datagrams in one call over loopback: what arrives is the datagrams that were meant, one
 * by one or handed over together, and one call is one datagram again once it is switched off.
 */
#include "cleanup.h"
#include "stream_private.h"
#include "udp_segments.h"
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#define SIZE 1000

struct way {
	int from, to;
};

static struct way make_way(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval soon = {.tv_sec = 2};
	socklen_t n = sizeof(a);
	struct way w = {socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
			socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
	assert_true(w.from >= 0 && w.to >= 0);
	assert_int_equal(bind(w.to, (struct sockaddr *)&a, n), 0);
	assert_int_equal(getsockname(w.to, (struct sockaddr *)&a, &n), 0);
	assert_int_equal(connect(w.from, (struct sockaddr *)&a, n), 0);
	setsockopt(w.to, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	return w;
}

static void close_way(struct way *w)
{
	cleanup_close(&w->from);
	cleanup_close(&w->to);
}

static ssize_t receive(const struct way *w, size_t *segment)
{
	static char memory[65536];
	return udp_segments_receive(w->to, memory, sizeof(memory), segment);
}

static const char words[3 * SIZE + 500];

static void one_call_is_several_datagrams(void **state)
{
	struct way w = make_way();
	size_t segment;
	(void)state;
	if (!udp_segments_send_on(w.from, SIZE)) {
		close_way(&w);
		skip(); /* a kernel before 4.18 */
	}
	assert_int_equal(send(w.from, words, sizeof(words), 0), sizeof(words));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(receive(&w, &segment), SIZE);
		assert_int_equal(segment, SIZE);
	}
	assert_int_equal(receive(&w, &segment), 500);
	assert_int_equal(segment, 500);

	udp_segments_send_off(w.from);
	assert_int_equal(send(w.from, words, sizeof(words), 0), sizeof(words));
	assert_int_equal(receive(&w, &segment), sizeof(words));
	assert_int_equal(segment, sizeof(words));
	close_way(&w);
}

/* However many the kernel hands over at a time, the segments are those that were sent. */
static void those_in_a_row_are_told_apart(void **state)
{
	struct way w = make_way();
	size_t segment, got = 0, datagrams = 0;
	(void)state;
	if (!udp_segments_send_on(w.from, SIZE) || !udp_segments_receive_on(w.to)) {
		close_way(&w);
		skip(); /* a kernel before 5.0 */
	}
	assert_int_equal(send(w.from, words, sizeof(words), 0), sizeof(words));
	while (got < sizeof(words)) {
		ssize_t n = receive(&w, &segment);
		assert_true(n > 0 && segment > 0 && segment <= SIZE);
		got += (size_t)n;
		datagrams += ((size_t)n + segment - 1) / segment;
	}
	assert_int_equal(got, sizeof(words));
	assert_int_equal(datagrams, 4);
	close_way(&w);
}

static void what_did_not_come_is_nothing(void **state)
{
	struct way w = make_way();
	struct timeval at_once = {.tv_usec = 1000};
	size_t segment = 77;
	(void)state;
	setsockopt(w.to, SOL_SOCKET, SO_RCVTIMEO, &at_once, sizeof(at_once));
	assert_int_equal(receive(&w, &segment), -1);
	assert_int_equal(segment, 0);
	close_way(&w);
}

static void a_call_holds_what_fits(void **state)
{
	(void)state;
	assert_int_equal(udp_segments_most(100), 64); /* the kernel's own limit */
	assert_int_equal(udp_segments_most(1472), UDP_SIZE_MAX / 1472);
	assert_int_equal(udp_segments_most(UDP_SIZE_MAX), 1);
}

static void a_refusal_is_told_from_trouble(void **state)
{
	(void)state;
	assert_true(udp_segments_is_refusal(EINVAL)); /* larger than the MTU */
	assert_true(udp_segments_is_refusal(EIO));    /* no checksums by the device */
	assert_true(udp_segments_is_refusal(EMSGSIZE));
	assert_true(udp_segments_is_refusal(EOPNOTSUPP));
	assert_false(udp_segments_is_refusal(EAGAIN));
	assert_false(udp_segments_is_refusal(ECONNREFUSED));
	assert_false(udp_segments_is_refusal(ENOBUFS));
}

static void what_is_no_datagram_socket_is_refused(void **state)
{
	auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)state;
	assert_true(fd >= 0);
	assert_false(udp_segments_send_on(fd, SIZE));
	assert_false(udp_segments_receive_on(fd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_call_is_several_datagrams),
		cmocka_unit_test(those_in_a_row_are_told_apart),
		cmocka_unit_test(what_did_not_come_is_nothing),
		cmocka_unit_test(a_call_holds_what_fits),
		cmocka_unit_test(a_refusal_is_told_from_trouble),
		cmocka_unit_test(what_is_no_datagram_socket_is_refused),
	};
	return cmocka_run_group_tests_name("udp_segments", tests, NULL, NULL);
}
