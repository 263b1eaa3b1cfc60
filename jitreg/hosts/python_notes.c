/* SPDX-License-Identifier: MIT */
#include "jitreg/hosts/python_notes.h"

#include <string.h>

#define NOTE_(NAME, is, sentence) { #NAME, PYTHON_NOTE_IS_##is, sentence },
const struct python_note_meaning python_notes[NR_PYTHON_NOTES] = { PYTHON_NOTES(NOTE_) };
#undef NOTE_

const struct python_note_meaning *python_note_parse(const char *key, size_t bytes)
{
	for (int i = 0; i < NR_PYTHON_NOTES; i++)
		if (strlen(python_notes[i].key) == bytes && memcmp(python_notes[i].key, key, bytes) == 0)
			return &python_notes[i];
	return NULL;
}
