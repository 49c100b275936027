/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The driver of fuzz targets where there is no libFuzzer: seeds and corpus files, each as it is and
 * with changes that are the same at every run. Says "ok NAME: N inputs"; a target that does not
 * come back dies, and the runner counts that. With --write DIR the seeds become files.
 */
#include "cleanup.h"
#include "fuzz.h"
#include <dirent.h>
#include <stdbool.h>
#include <string.h>

#define INPUT_MAX  (96 << 10)
#define CHANGES	   40
#define INPUTS_MAX 20000

static const char *const WORDS[] = {"..",
				    "/",
				    "\n",
				    "\r\n",
				    "\t",
				    "{",
				    "}",
				    "[",
				    "]",
				    ":",
				    ",",
				    "\"",
				    "-",
				    "#",
				    "&a",
				    "*a",
				    "!",
				    "%",
				    "\\",
				    "0x1",
				    "1e999",
				    "null",
				    "true",
				    "~",
				    "-1",
				    "9223372036854775808",
				    "18446744073709551616",
				    "\xff",
				    "\xc0\x80",
				    "NaN",
				    "../../kernel/panic",
				    "eth0.100",
				    "[[[[[[[[[[[[[[[[",
				    "\"set\":",
				    "value"};

struct state {
	uint64_t random;
	unsigned long inputs;
	char text[INPUT_MAX];
};

/* xorshift64 (Marsaglia 2003): the same numbers everywhere. */
static size_t below(struct state *s, size_t n)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return n ? (size_t)(s->random % n) : 0;
}

static void try(struct state *s, const char *text, size_t size)
{
	auto_free uint8_t *exact = malloc(size + 1); /* so that one byte too far is seen */
	if (exact && s->inputs < INPUTS_MAX) {
		memcpy(exact, text, size);
		LLVMFuzzerTestOneInput(exact, size);
		s->inputs++;
	}
}

static size_t put_in(struct state *s, size_t size, const char *word)
{
	size_t n = strlen(word), at = below(s, size + 1);
	if (size + n > INPUT_MAX) {
		return size;
	}
	memmove(s->text + at + n, s->text + at, size - at);
	memcpy(s->text + at, word, n);
	return size + n;
}

static size_t change(struct state *s, size_t size)
{
	switch (size ? below(s, 5) : 4) {
	case 0:
		s->text[below(s, size)] ^= (char)(1 << below(s, 8));
		return size;
	case 1:
		return below(s, size);
	case 2: { /* take a piece out */
		size_t at = below(s, size), n = 1 + below(s, (size - at) < 16 ? size - at : 16);
		memmove(s->text + at, s->text + at + n, size - at - n);
		return size - n;
	}
	case 3: { /* a piece twice */
		size_t at = below(s, size), n = below(s, size - at);
		if (size + n > INPUT_MAX) {
			return size;
		}
		memmove(s->text + at + n, s->text + at, size - at);
		return size + n;
	}
	default:
		return put_in(s, size, WORDS[below(s, ARRAY_SIZE(WORDS))]);
	}
}

static void try_changes(struct state *s, const char *text, size_t size)
{
	size = size < INPUT_MAX ? size : INPUT_MAX;
	try(s, text, size);
	for (int i = 0; i < CHANGES; i++) {
		size_t n = size;
		memcpy(s->text, text, size);
		for (size_t k = 1 + below(s, 4); k; k--) {
			n = change(s, n);
		}
		try(s, s->text, n);
	}
}

static void try_folder(struct state *s, const char *folder)
{
	static char text[INPUT_MAX];
	DIR *d = opendir(folder);
	const struct dirent *entry;
	while (d && (entry = readdir(d))) {
		char path[600];
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		auto_fclose FILE *f = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (f) {
			try_changes(s, text, fread(text, 1, sizeof(text), f));
		}
	}
	if (d) {
		closedir(d);
	}
}

static int write_seeds(const char *folder)
{
	char seed[4096], path[600];
	size_t n;
	for (size_t i = 0; (n = fuzz_seed(i, seed, sizeof(seed))) > 0; i++) {
		snprintf(path, sizeof(path), "%s/seed-%03zu", folder, i);
		auto_fclose FILE *f = fopen(path, "we");
		if (!f || fwrite(seed, 1, n, f) != n) {
			perror(path);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct state s = {.random = 0x9e3779b97f4a7c15u};
	char seed[4096];
	size_t n, seeds = 0;
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	if (argc == 3 && strcmp(argv[1], "--write") == 0) {
		return write_seeds(argv[2]);
	}
	for (; (n = fuzz_seed(seeds, seed, sizeof(seed))) > 0; seeds++) {
		try_changes(&s, seed, n);
	}
	for (size_t i = 0; fuzz_folders[i]; i++) {
		try_folder(&s, fuzz_folders[i]);
	}
	if (seeds == 0 || s.inputs < 100) {
		printf("not ok %s - only %lu inputs of %zu seeds\n", name, s.inputs, seeds);
		return 1;
	}
	printf("ok %s: %lu inputs of %zu seeds and the corpus\n1..1\n", name, s.inputs, seeds);
	return 0;
}
