/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The word for what held a sample back, on made-up reads: one fact after another, and whole
 * situations as they were seen.
 */
#include "builtin_made_up.h"
#include "json_util.h"

static void limited(struct made_up *m, const char *word)
{
	struct sample s;
	struct err e = {0};
	assert_int_equal(builtin_result(&m->w, &s, &e), 0);
	assert_string_equal(s.limited_by, word);
	sample_clear(&s);
}

static json_t *threads(double cpu, double waited)
{
	return json_pack("{s:{s:f, s:f}, s:{s:f}}", "threads", "busiest_cpu", cpu, "busiest_waited",
			 waited, "effective", "receive_buffer", 100000.0);
}

/* One thing after another. */
static void test_limited_by(void **state)
{
	(void)state;
	struct made_up m;
	made_up_window(&m, false);
	m.s.last.rwnd_limited = 1.1e6;
	limited(&m, "receive window");
	m.s.first.rwnd_limited = 0.9e6;
	limited(&m, "");
	m.s.last.sndbuf_limited = 1.1e6;
	limited(&m, "send buffer");
	m.s.last.sndbuf_limited = NAN;
	limited(&m, "");
	/* what the threads did, of 2 s */
	m.s.first.json = threads(0, 0);
	m.s.last.json = threads(0.2, 0.1);
	m.r.first.json = threads(1, 1);
	m.r.last.json = threads(2.5, 1.4);
	limited(&m, "one CPU (receiver program)");
	json_decref(m.r.last.json);
	m.r.last.json = threads(1.5, 1.1);
	limited(&m, "congestion window");
	/* a standing queue, with loss and without */
	m.s.last.min_rtt = 20;
	m.series.point[0].rtt = m.series.point[1].rtt = 9000;
	limited(&m, "link rate");
	m.s.last.retransmits = 1000;
	limited(&m, "link rate");
	m.s.last.min_rtt = 8000;
	limited(&m, "loss");
	/* nothing to send for half of the time */
	m.s.last.tcp_busy = m.s.first.tcp_busy + 1e6;
	limited(&m, "sender program");
	/* the window is shut, since nobody reads */
	m.s.last.rwnd_limited = 2.0e6;
	limited(&m, "receive window");
	m.series.point[0].unread = m.series.point[1].unread = 60000;
	limited(&m, "receiver program");
	json_decref(m.s.last.json);
	m.s.last.json = threads(1.5, 0.4);
	m.s.last.rwnd_limited = m.s.first.rwnd_limited;
	limited(&m, "one CPU (sender program)");
	made_up_clear(&m);
}

/* What a sample knows, as shares of the window (loss: of the packets; round trips in us). */
struct situation {
	const char *what, *word;
	double busy, receive_window, send_buffer; /* of the sender's TCP */
	double sender_ran, sender_waited, receiver_ran, receiver_waited;
	double unread, loss, rtt, min_rtt;
	bool full; /* some CPU is busy all of the time */
};

static json_t *host_of(double ran, double waited, bool full, double pacing)
{
	json_t *j = threads(2 * ran, 2 * waited);
	json_object_set_new(j, "cpu", json_pack("{s:[f, f]}", "per_cpu_us", full ? 2e6 : 4e5, 2e5));
	if (pacing > 0) {
		json_object_set_new(json_object_get(j, "effective"), "pacing_rate",
				    json_real(pacing));
	}
	return j;
}

static void situation_set(struct made_up *m, const struct situation *x)
{
	made_up_window(m, false);
	m->s.last.tcp_busy = m->s.first.tcp_busy + 2e6 * x->busy;
	m->s.last.rwnd_limited = 2e6 * x->receive_window;
	m->s.last.sndbuf_limited = 2e6 * x->send_buffer;
	m->s.last.retransmits = m->s.first.retransmits + x->loss * 4e9 / 1448;
	m->s.last.min_rtt = x->min_rtt;
	for (int i = 0; i < 2; i++) {
		m->series.point[i].rtt = x->rtt;
		m->series.point[i].unread = x->unread * 100000;
	}
	m->s.first.json = host_of(0, 0, false, 0);
	json_object_set_new(m->s.first.json, "cpu",
			    json_pack("{s:[f, f]}", "per_cpu_us", 0.0, 0.0));
	m->r.first.json = json_deep_copy(m->s.first.json);
	m->s.last.json = host_of(x->sender_ran, x->sender_waited, x->full, 0);
	m->r.last.json = host_of(x->receiver_ran, x->receiver_waited, x->full, 0);
}

/* Bottlenecks that tests/lab/limits.sh has made, as they were seen on a quiet machine and on one
 * whose CPUs ten other programs wanted as well. */
static void test_situations(void **state)
{
	(void)state;
	static const struct situation all[] = {
		{"slow receiver, small buffer, busy machine", "receiver program", .92, .79, 0, .1,
		 .36, .1, .70, .73, 4e-4, 644, 3, true},
		{"slow receiver", "receiver program", .91, .60, 0, .1, .1, .1, 0, .93, 2e-4, 1188,
		 4, false},
		{"receiver on a burnt CPU", "one CPU (receiver program)", 1, .97, 0, .02, .0, .5,
		 .48, .92, 1e-4, 982, 2, true},
		{"firewall loses 3 %, busy machine", "loss", .85, 0, 0, .2, .38, .3, .43, .09, .033,
		 1028, 2, true},
		{"firewall loses 3 %", "loss", .88, 0, 0, .2, .11, .3, .06, 0, .032, 633, 1, true},
		{"slow sender, busy machine", "sender program", .54, 0, 0, .1, .56, .2, .44, 0,
		 3e-5, 2098, 1, true},
		{"slow sender", "sender program", .50, 0, 0, .1, .1, .2, 0, .08, 6e-5, 2492, 2,
		 false},
		{"sender on a burnt CPU", "one CPU (sender program)", .24, 0, 0, .5, .52, .1, .13,
		 0, 1.2e-3, 1595, 2, true},
		{"both on one CPU", "one CPU (receiver program)", .76, 0, 0, .47, .18, .5, .2, .07,
		 5e-6, 1982, 1, true},
		{"both on one CPU, busy machine", "one CPU (receiver program)", .68, 0, 0, .2, .49,
		 .2, .58, .07, 0, 1524, 1, true},
		{"loss of 1 % over 10 ms", "loss", 1, 0, .20, .02, .04, .1, .08, 0, .0086, 25339,
		 18540, true},
		{"the same, later acknowledgements", "loss", 1, 0, .30, .02, .04, .1, .08, 0, .0086,
		 29000, 18540, true},
		{"small send buffer", "send buffer", 1, 0, .375, .01, 0, .04, 0, 0, 0, 21653, 20099,
		 true},
		{"small tcp_rmem", "receive window", 1, .38, 0, .01, 0, .05, 0, 0, 0, 20971, 19752,
		 true},
		{"link of 30 Mbit/s, short queue", "link rate", 1, 0, 0, .01, 0, .05, 0, 0, 0,
		 15300, 11023, true},
		{"link of 30 Mbit/s", "link rate", 1, 0, 0, .01, 0, .05, 0, 0, 0, 31258, 11053,
		 true},
		{"shaper that drops", "link rate", 1, 0, 0, .01, 0, .1, 0, 0, 2e-3, 8249, 9, true},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct made_up m;
		struct sample s;
		struct err e = {0};
		situation_set(&m, &all[i]);
		assert_int_equal(builtin_result(&m.w, &s, &e), 0);
		if (strcmp(s.limited_by, all[i].word) != 0) {
			fail_msg("%s: \"%s\", not \"%s\"", all[i].what, s.limited_by, all[i].word);
		}
		sample_clear(&s);
		made_up_clear(&m);
	}
}

/* 4 GB in 2 s are 16 Gbit/s. */
static void test_pacing(void **state)
{
	(void)state;
	static const struct situation plain = {"paced", "", 1, 0, 0,   .1,  0,
					       .1,	0,  0, 0, 100, 100, false};
	struct made_up m;
	situation_set(&m, &plain);
	limited(&m, "congestion window");
	json_decref(m.s.last.json);
	m.s.last.json = host_of(.1, 0, false, 16.5e9);
	limited(&m, "pacing rate");
	json_decref(m.s.last.json);
	m.s.last.json = host_of(.1, 0, false, 30e9);
	limited(&m, "congestion window");
	made_up_clear(&m);
}

static void test_requests(void **state)
{
	(void)state;
	struct situation x = {"turns", "", .5, 0, 0, .3, .1, .3, .1, 0, 0, 100, 100, false};
	struct made_up m;
	situation_set(&m, &x);
	m.w.type = BUILTIN_RR;
	limited(&m, "round trip");
	made_up_clear(&m);
	x.receiver_waited = .65;
	situation_set(&m, &x);
	m.w.type = BUILTIN_RR;
	limited(&m, "one CPU (receiver program)");
	made_up_clear(&m);
	/* nothing is known of the threads */
	made_up_window(&m, false);
	m.w.type = BUILTIN_RR;
	limited(&m, "");
}

static json_t *told(double tx_pause, double remote)
{
	json_t *j = json_pack("{s:{s:f, s:f}, s:{s:{s:i}, s:o}}", "host", "rx_pause", 5.0,
			      "TcpInErrs", 3.0, "placement", "pages", "1", 32, "remote",
			      json_number_or_null(remote));
	if (isfinite(tx_pause)) {
		json_object_set_new(json_object_get(j, "host"), "tx_pause", json_real(tx_pause));
	}
	return j;
}

/* What is no word of its own: pause frames, and memory on other nodes. Unknown is not 0. */
static void test_evidence(void **state)
{
	(void)state;
	struct made_up m;
	struct sample s;
	struct err e = {0};
	made_up_window(&m, false);
	m.s.first.json = told(NAN, NAN);
	m.s.last.json = told(7, 0.25);
	m.r.first.json = told(4, 1);
	m.r.last.json = json_object(); /* the other end has stopped, its buffers are gone */
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	const json_t *limits = json_object_get(s.detail, "limits");
	const json_t *counters = json_object_get(json_object_get(s.detail, "sender"), "counters");
	near(json_get_number(limits, "pause_frames_to_sender"), 0, 0);
	near(json_get_number(limits, "sender_memory_on_other_nodes"), 0.25, 0);
	near(json_get_number(limits, "receiver_memory_on_other_nodes"), 1, 0);
	/* counted, and none came; not there at first, so nobody knows how many since; left out */
	near(json_get_number(counters, "rx_pause"), 0, 0);
	assert_null(json_object_get(counters, "tx_pause"));
	assert_null(json_object_get(counters, "TcpInErrs"));
	sample_clear(&s);
	json_object_del(m.s.last.json, "host");
	json_object_del(m.s.last.json, "placement");
	json_object_del(m.s.first.json, "placement");
	assert_int_equal(builtin_result(&m.w, &s, &e), 0);
	limits = json_object_get(s.detail, "limits");
	assert_true(json_is_null(json_object_get(limits, "pause_frames_to_sender")));
	assert_true(json_is_null(json_object_get(limits, "sender_memory_on_other_nodes")));
	sample_clear(&s);
	made_up_clear(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limited_by), cmocka_unit_test(test_situations),
		cmocka_unit_test(test_pacing),	   cmocka_unit_test(test_requests),
		cmocka_unit_test(test_evidence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
