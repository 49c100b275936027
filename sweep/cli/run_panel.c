/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The panel of a run as JSON and in words. Called by run_files.c and run_print.c.
 */
#include "cli_run.h"
#include "json_util.h"
#include <math.h>
#include <stdio.h>

static void set_interval(json_t *o, const char *percent, const char *interval,
			 const struct interval *i)
{
	json_object_set_new(o, percent, json_number_or_null(i->estimate));
	json_object_set_new(
		o, interval,
		json_pack("[o, o]", json_number_or_null(i->lo), json_number_or_null(i->hi)));
}

json_t *run_panel_json(const struct panel *p)
{
	json_t *list = json_array();
	for (int k = 0; k < PANEL_KINDS; k++) {
		const struct panel_item *i = &p->item[k];
		json_t *o = i->pairs > 0 ? json_object() : NULL;
		if (!o) {
			continue;
		}
		json_object_set_new(o, "test", json_string(panel_name((enum panel_kind)k)));
		json_object_set_new(o, "pairs", json_integer(i->pairs));
		json_object_set_new(o, "worse", json_boolean(i->worse));
		set_interval(o, "throughput_percent", "throughput_interval", &i->throughput);
		set_interval(o, "service_demand_percent", "service_demand_interval",
			     &i->service_demand);
		set_interval(o, "latency_p99_percent", "latency_p99_interval", &i->latency_p99);
		json_array_append_new(list, o);
	}
	if (json_array_size(list) == 0) {
		json_decref(list);
		return NULL;
	}
	return list;
}

static void print_metric(const char *name, const struct interval *i)
{
	if (isfinite(i->estimate)) {
		printf(" %s %+.1f %%", name, i->estimate);
	}
}

void run_panel_print(const struct panel *p)
{
	bool any = false;
	for (int k = 0; k < PANEL_KINDS; k++) {
		const struct panel_item *i = &p->item[k];
		if (i->pairs == 0) {
			continue;
		}
		if (!any) {
			printf("The best under other tests, a few pairs each:\n");
		}
		any = true;
		printf("  %-24s%s", panel_name((enum panel_kind)k), i->worse ? "WORSE:" : "      ");
		print_metric("throughput", &i->throughput);
		print_metric("service demand", &i->service_demand);
		print_metric("p99 latency", &i->latency_p99);
		printf("\n");
	}
}
