/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both endpoints of a sample through its steps: listen, connect, start, read, end, stop, in as few
 * messages as their order allows. When each step comes, builtin.c decides.
 */
#include "builtin_private.h"
#include "cleanup.h"
#include "monotonic.h"
#include <math.h>

#define OPEN_MS	 8000 /* the endpoint itself gives up after 5 s */
#define READ_MS	 4000 /* an emulated machine takes seconds now and then */
#define LAST_MS	 4500 /* asked for a little before its time */
#define HUNG_MS	 100  /* of one that hangs: it gets the request, nobody waits for the answer */
#define LIST_MAX 6

struct list {
	size_t n;
	struct builtin_ask ask[LIST_MAX];
};

static void list_clear(struct list *l)
{
	builtin_ask_clear(l->ask, l->n);
}

#define auto_list __attribute__((cleanup(list_clear))) struct list

static void add(struct list *l, struct builtin_host *h, json_t *request, int ms)
{
	l->ask[l->n++] = (struct builtin_ask){.h = h, .request = request, .timeout_ms = ms};
}

static void add_plain(struct list *l, struct builtin_host *h, const char *op, bool cpu)
{
	add(l, h, builtin_plain_request(h, op, cpu), *op == 'r' ? READ_MS : OPEN_MS);
}

/* The answer to the only request of that name to h; NULL if there was none. */
static json_t *take(struct list *l, const struct builtin_host *h, size_t from)
{
	for (size_t i = from; i < l->n; i++) {
		if (l->ask[i].h == h) {
			json_t *answer = l->ask[i].answer;
			l->ask[i].answer = NULL;
			return answer;
		}
	}
	return NULL;
}

/* Both hosts' answers to a read, into first or last; one point of the series. */
static int reads_take(struct builtin_pair *p, json_t *sender, json_t *receiver, bool first,
		      struct err *e)
{
	struct builtin_read *s = first ? &p->sender->first : &p->sender->last;
	struct builtin_read *r = first ? &p->receiver->first : &p->receiver->last;
	int rc = builtin_read_parse(sender, s, e);
	int rc2 = builtin_read_parse(receiver, r, rc < 0 ? NULL : e);
	if (rc == 0 && rc2 == 0) {
		builtin_series_add(p->series, s, r);
		builtin_counters_add(&p->sender->counters, s);
		builtin_counters_add(&p->receiver->counters, r);
	}
	return rc < 0 ? rc : rc2;
}

int builtin_pair_listen(struct builtin_pair *p, const struct engine_run *run, struct err *e)
{
	auto_list l = {0};
	struct builtin_host *h = &p->host[BUILTIN_TO];
	/* Owed from here on: also an answer that comes too late has opened sockets. */
	h->is_open = true;
	add(&l, h, builtin_open_request(h, &p->test, run), OPEN_MS);
	int r = builtin_ask(l.ask, l.n, true, &p->test, e);
	return r < 0 ? r : builtin_open_answer(h, &p->test, l.ask[0].answer, e);
}

static void add_connect(struct list *l, struct builtin_pair *p, const struct engine_run *run)
{
	struct builtin_host *h = &p->host[BUILTIN_FROM];
	h->is_open = true;
	add(l, h, builtin_open_request(h, &p->test, run), OPEN_MS);
}

int builtin_pair_connect(struct builtin_pair *p, const struct engine_run *run, struct err *e)
{
	auto_list l = {0};
	add_connect(&l, p, run);
	int r = builtin_ask(l.ask, l.n, true, &p->test, e);
	return r < 0 ? r : builtin_open_answer(l.ask[0].h, &p->test, l.ask[0].answer, e);
}

/*
 * Where one process has both ends, the data's receiver is started first. Two agents are asked in
 * the order that wants the fewest messages: the connecting side begins (a listening side takes what
 * comes from the moment that it is accepted), then the listening one. Each side is read as soon as
 * it has begun, the receiver after its sender: its window must not begin in silence.
 */
static size_t begin_list(struct list *l, struct builtin_pair *p, bool ends)
{
	struct builtin_host *from = &p->host[BUILTIN_FROM], *to = &p->host[BUILTIN_TO];
	size_t reads;
	if (p->one_process) {
		add_plain(l, p->receiver, "start", false);
		add_plain(l, p->sender, "start", false);
		reads = l->n;
		add_plain(l, p->sender, "read", ends);
		add_plain(l, p->receiver, "read", ends);
		return reads;
	}
	add_plain(l, from, "start", false);
	reads = l->n;
	if (p->sender == from) {
		add_plain(l, from, "read", ends);
	}
	add_plain(l, to, "start", false);
	add_plain(l, to, "read", ends);
	if (p->sender != from) {
		add_plain(l, from, "read", ends);
	}
	return reads;
}

/* The read of a host is the last that was asked of it. */
static json_t *take_last(struct list *l, const struct builtin_host *h)
{
	size_t last = 0;
	for (size_t i = 0; i < l->n; i++) {
		last = l->ask[i].h == h ? i : last;
	}
	return take(l, h, last);
}

int builtin_pair_begin(struct builtin_pair *p, const struct engine_run *run, bool ends,
		       struct err *e)
{
	auto_list l = {0};
	if (run) {
		add_connect(&l, p, run);
	}
	begin_list(&l, p, ends);
	int r = builtin_ask(l.ask, l.n, true, &p->test, e);
	if (run && l.ask[0].answer) {
		int rc = builtin_open_answer(l.ask[0].h, &p->test, l.ask[0].answer,
					     r < 0 ? NULL : e);
		r = r < 0 ? r : rc;
	}
	if (r < 0) {
		return r;
	}
	p->counters_at = monotonic_seconds() + p->counters_every;
	json_t *sender = take_last(&l, p->sender), *receiver = take_last(&l, p->receiver);
	return reads_take(p, sender, receiver, ends, e);
}

/* What hosts count besides takes longer to read, so not at each look; of one process once. */
static void add_counters(struct list *l, struct builtin_pair *p, bool ends, double now)
{
	if (!ends && now < p->counters_at) {
		return;
	}
	for (size_t i = 0; !ends && i < (p->one_process ? 1 : l->n); i++) {
		json_object_set_new(l->ask[i].request, "counters", json_true());
	}
	p->counters_at = now + p->counters_every;
}

int builtin_pair_read(struct builtin_pair *p, bool first, bool ends, struct err *e)
{
	auto_list l = {0};
	double began = monotonic_seconds();
	add_plain(&l, p->sender, "read", ends);
	add_plain(&l, p->receiver, "read", ends);
	add_counters(&l, p, ends, began);
	int r = builtin_ask(l.ask, l.n, false, &p->test, e);
	p->trip = monotonic_seconds() - began;
	return r < 0 ? r
		     : reads_take(p, take(&l, p->sender, 0), take(&l, p->receiver, 1), first, e);
}

static void add_stop(struct list *l, struct builtin_host *h, double drain)
{
	json_t *request = builtin_plain_request(h, "stop", false);
	json_object_set_new(request, "drain", json_real(drain));
	add(l, h, request, READ_MS + (int)(drain * 1000));
}

static void finals_take(struct builtin_pair *p, struct list *l, size_t from)
{
	for (int i = 0; i < BUILTIN_HOSTS; i++) {
		struct builtin_host *h = &p->host[i];
		json_decref(h->final);
		h->final = take(l, h, from);
		h->is_open = h->is_open && !h->final;
	}
}

/* By each host's own clock. */
static void add_last(struct list *l, struct builtin_host *h, double window)
{
	json_t *request = builtin_plain_request(h, "read", true);
	if (window > 0) {
		json_object_set_new(request, "at", json_real(h->first.t + window));
	}
	add(l, h, request, LAST_MS);
}

/* Of two agents both are read before either is stopped, or the one's last moments would show in the
 * other's. A stop that fails takes nothing from the numbers that are there. */
int builtin_pair_end(struct builtin_pair *p, double window, double drain, struct err *e)
{
	struct err why;
	auto_list l = {0};
	add_last(&l, p->sender, window);
	add_last(&l, p->receiver, window);
	add_stop(&l, p->sender, drain);
	add_stop(&l, p->receiver, drain);
	int r = builtin_ask(l.ask, p->one_process ? 4 : 2, false, &p->test, e);
	if (r == 0 && !p->one_process) {
		builtin_ask(l.ask + 2, 2, false, &p->test, &why);
	}
	for (size_t i = 0; i < l.n; i++) {
		json_decref(l.ask[i].request);
		l.ask[i].request = NULL;
	}
	if (r < 0) {
		return r;
	}
	finals_take(p, &l, 2);
	return reads_take(p, take(&l, p->sender, 0), take(&l, p->receiver, 1), false, e);
}

/* Nothing there to stop is as good as stopped. */
void builtin_pair_stop(struct builtin_pair *p)
{
	struct err e;
	auto_list l = {0};
	for (int i = 0; i < BUILTIN_HOSTS; i++) {
		struct builtin_host *h = &p->host[i];
		if (h->is_open) {
			add(&l, h, builtin_plain_request(h, "stop", false),
			    h->is_hung ? HUNG_MS : READ_MS);
		}
		h->is_open = false;
	}
	if (l.n > 0) {
		builtin_ask(l.ask, l.n, false, &p->test, &e);
	}
}

void builtin_pair_clear(struct builtin_pair *p)
{
	for (int i = 0; i < BUILTIN_HOSTS; i++) {
		builtin_read_clear(&p->host[i].first);
		builtin_read_clear(&p->host[i].last);
		builtin_counters_clear(&p->host[i].counters);
		json_decref(p->host[i].final);
		p->host[i].final = NULL;
	}
}
