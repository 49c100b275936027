/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The driver of fuzz targets where there is no libFuzzer: seeds and corpus files, each as it is and
 * with changes that are the same at every run. Says "ok NAME: N inputs"; a target that does not
 * come back dies, and the runner counts that. For libFuzzer: with --write DIR the seeds and the
 * corpus become files there; --words prints a dictionary.
 */
#include "cleanup.h"
#include "fuzz.h"
#include "tunable.h"
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

static bool write_file(const char *folder, const char *name, const char *text, size_t n)
{
	char path[900];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	auto_fclose FILE *f = fopen(path, "we");
	bool done = f && fwrite(text, 1, n, f) == n;
	if (!done) {
		perror(path);
	}
	return done;
}

static bool write_corpus(const char *folder, const char *corpus)
{
	static char text[INPUT_MAX];
	bool done = true;
	DIR *d = opendir(corpus);
	const struct dirent *entry;
	while (d && done && (entry = readdir(d))) {
		char path[600];
		snprintf(path, sizeof(path), "%s/%s", corpus, entry->d_name);
		auto_fclose FILE *f = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		done = !f ||
		       write_file(folder, entry->d_name, text, fread(text, 1, sizeof(text), f));
	}
	if (d) {
		closedir(d);
	}
	return done;
}

static int write_seeds(const char *folder)
{
	char seed[4096], name[40];
	size_t n;
	bool done = true;
	for (size_t i = 0; done && (n = fuzz_seed(i, seed, sizeof(seed))) > 0; i++) {
		snprintf(name, sizeof(name), "seed-%03zu", i);
		done = write_file(folder, name, seed, n);
	}
	for (size_t i = 0; done && fuzz_folders[i]; i++) {
		done = write_corpus(folder, fuzz_folders[i]);
	}
	return !done;
}

static void print_word(const char *word)
{
	putchar('"');
	for (; *word; word++) {
		printf(*word == '"' || *word == '\\' || *word < ' ' ? "\\x%02x" : "%c",
		       (unsigned char)*word);
	}
	puts("\"");
}

static int print_words(void)
{
	size_t n;
	const struct tunable *rows = tunable_catalog(&n);
	for (size_t i = 0; i < ARRAY_SIZE(WORDS); i++) {
		print_word(WORDS[i]);
	}
	for (size_t i = 0; i < n; i++) {
		print_word(rows[i].name);
		for (size_t k = 0; k < ARRAY_SIZE(rows[i].fields) && rows[i].fields[k]; k++) {
			print_word(rows[i].fields[k]);
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
	if (argc == 2 && strcmp(argv[1], "--words") == 0) {
		return print_words();
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
