/* SPDX-License-Identifier: MIT */
/*
 * A pass with memmem() for each word would take seconds for a program of 100 MB.  Here the first four bytes at each place are looked up in
 * a set of the first four bytes of all words, and few places are in the set.
 */
#include "agent/recorder/doctor/word_search.h"

#include <stdint.h>
#include <string.h>

#define HASH_BITS 16

static uint32_t load_first_4_bytes(const char *p)
{
	uint32_t first;

	memcpy(&first, p, sizeof(first));
	return first;
}

static uint32_t hash_first_4_bytes(uint32_t first)
{
	return first * 2654435761u >> (32 - HASH_BITS); /* Knuth's multiplicative hashing */
}

void word_search(const char *text, size_t bytes, struct word *words, size_t nr)
{
	unsigned char begins[(1u << HASH_BITS) / 8] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		uint32_t h = hash_first_4_bytes(load_first_4_bytes(words[i].bytes));

		words[i].found = false;
		begins[h / 8] |= (unsigned char)(1u << h % 8);
	}
	for (size_t at = 0; bytes >= WORD_BYTES_MIN && at <= bytes - WORD_BYTES_MIN; at++) {
		uint32_t h = hash_first_4_bytes(load_first_4_bytes(text + at));

		if (!(begins[h / 8] & 1u << h % 8))
			continue;
		for (size_t i = 0; i < nr; i++)
			if (!words[i].found && words[i].nr <= bytes - at && memcmp(text + at, words[i].bytes, words[i].nr) == 0)
				words[i].found = true;
	}
}
