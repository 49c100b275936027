/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a report finds what a sample's detail holds, whether the run was read with details or
 * without. Called by the report's files.
 */
#include "cleanup.h"
#include "json_util.h"
#include "report_private.h"

/* Where the run was read without them, {sample number as text: detail} holds some. */
const json_t *report_detail(const json_t *run, const json_t *sample)
{
	char key[32];
	const json_t *detail = json_object_get(sample, "detail");
	snprintf(key, sizeof(key), "%lld",
		 (long long)json_integer_value(json_object_get(sample, "sample")));
	detail = json_is_object(detail) ? detail
					: json_object_get(json_object_get(run, "details"), key);
	return json_is_object(detail) ? detail : NULL;
}
