/* SPDX-License-Identifier: MIT */
#include "shim/announce/announce.h"

#include "jitreg/hosts/jit_hosts.h"

static size_t append_sentence_text(char *to, size_t at, size_t capacity, const char *text)
{
	while (*text && at + 1 < capacity)
		to[at++] = *text++;
	to[at] = 0;
	return at;
}

void announce_unknown_version(const char *host, const char *version, const char *what_helps)
{
	char number[32] = "", sentence[256];
	size_t at = 0;

	/* the version is the host's text: only digits and dots of it */
	while (at + 1 < sizeof(number) && ((version[at] >= '0' && version[at] <= '9') || version[at] == '.')) {
		number[at] = version[at];
		at++;
	}
	at = append_sentence_text(sentence, 0, sizeof(sentence), host);
	at = append_sentence_text(sentence, at, sizeof(sentence), " ");
	at = append_sentence_text(sentence, at, sizeof(sentence), number);
	at = append_sentence_text(sentence, at, sizeof(sentence), JIT_HOST_IS_NEWER);
	append_sentence_text(sentence, at, sizeof(sentence), what_helps);
	jitreg_control(JITREG_CONTROL_NOTE, sentence);
}
