/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Put in front of every file when gcc -fanalyzer reads it: what it cannot know, that the functions
 * which tell an error return a negative number. Files that define them are read without.
 */
#include "err.h"

#define err_set(...)   (err_set(__VA_ARGS__), -1)
#define err_usage(...) (err_usage(__VA_ARGS__), -1)
#define err_wrap(...)  (err_wrap(__VA_ARGS__), -1)
