/* SPDX-License-Identifier: MIT */
/* Formats names of Ruby's methods and blocks, which are read from its objects.  The context is that of ruby.c. */
#include "shim/hosts/ruby.h"

#include <stdio.h>
#include <string.h>

#define TYPE_CLASS 2
#define TYPE_MODULE 3
#define TYPE_STRING 5
#define TYPE_INTERNAL 0x1a
#define TYPE(flags) ((flags) & 0x1f)
#define INTERNAL_TYPE(flags) ((flags) >> 12 & 15)
#define INTERNAL_METHOD 6
#define INTERNAL_SEQUENCE 7
#define METHOD_TYPE(definition) ((definition)->type & 15)
#define FLAG_SINGLETON (1u << 12)
#define FLAG_NOT_EMBEDDED (1u << 13)

struct ruby_functions ruby_functions;

static uint64_t flags_of_ruby_object(uint64_t object)
{
	return *(const uint64_t *)(uintptr_t)object;
}

const char *ruby_string_text(uint64_t value, size_t *bytes)
{
	const uint64_t *words = (const uint64_t *)(uintptr_t)value;

	*bytes = 0;
	if (!ruby_is_object(value) || TYPE(*words) != TYPE_STRING)
		return "";
	if (*words & FLAG_NOT_EMBEDDED) {
		*bytes = (size_t)words[2];
		return (const char *)(uintptr_t)words[3];
	}
	*bytes = *words >> 14 & 31;
	return (const char *)&words[2];
}

bool ruby_is_sequence(const struct sequence *s)
{
	return ruby_is_object((uintptr_t)s) && TYPE(s->flags) == TYPE_INTERNAL && INTERNAL_TYPE(s->flags) == INTERNAL_SEQUENCE && s->body;
}

const struct method *ruby_method_of_frame(uint64_t frame)
{
	const struct method *m = (const struct method *)(uintptr_t)frame;

	if (!ruby_is_object(frame) || TYPE(m->flags) != TYPE_INTERNAL || INTERNAL_TYPE(m->flags) != INTERNAL_METHOD || !m->definition ||
	    METHOD_TYPE(m->definition) != 0 || !ruby_is_sequence(m->definition->sequence))
		return NULL;
	return m;
}

/* A block's dependencies include the methods that it calls. */
const struct method *ruby_method_called(const struct block *b, const struct sequence *s)
{
	const struct dependency *d = b->methods ? (const struct dependency *)b->methods->at : NULL;

	for (int32_t i = 0; d && i < b->methods->nr; i++) {
		const struct method *m = ruby_method_of_frame((uintptr_t)d[i].method);

		if (m && m->definition->sequence == s)
			return m;
	}
	return NULL;
}

/* Formats "Class#" or "Class.". out is empty if the class has no name, or is a singleton class whose object cannot be asked for or is no
 * class or module. */
static void format_class_prefix(const struct method *m, char *out, size_t bytes)
{
	uint64_t class = m->owner;
	bool singleton;
	const char *text;
	size_t nr;

	*out = 0;
	if (!ruby_is_object(class) || (TYPE(flags_of_ruby_object(class)) != TYPE_CLASS && TYPE(flags_of_ruby_object(class)) != TYPE_MODULE))
		return;
	singleton = TYPE(flags_of_ruby_object(class)) == TYPE_CLASS && (flags_of_ruby_object(class) & FLAG_SINGLETON);
	if (singleton) { /* it has the name of its object, for which only the main Ractor may ask */
		class = ruby_functions.is_main_ractor() ? ruby_functions.attribute(class, ruby_functions.intern("__attached__")) : RUBY_NIL;
		if (!ruby_is_object(class) ||
		    (TYPE(flags_of_ruby_object(class)) != TYPE_CLASS && TYPE(flags_of_ruby_object(class)) != TYPE_MODULE))
			return;
	}
	text = ruby_string_text(ruby_functions.mod_name(class), &nr);
	if (nr)
		snprintf(out, bytes, "%.*s%c", nr < bytes ? (int)nr : (int)bytes, text, singleton ? '.' : '#');
}

/* Formats the name as Ruby's own profilers do (rb_profile_frame_full_label()). */
void ruby_format_method_name(const struct sequence *s, const struct method *m, char *out, size_t bytes)
{
	size_t label_bytes, base_bytes, method_bytes;
	const char *label = ruby_string_text(ruby_functions.label(s), &label_bytes), *name;
	const char *base = ruby_string_text(ruby_functions.base_label(s), &base_bytes);
	char class[RUBY_NAME_BYTES / 2] = "";

	if (label_bytes > bytes / 2)
		label_bytes = bytes / 2;
	if (m && base_bytes <= label_bytes && memcmp(label + label_bytes - base_bytes, base, base_bytes) == 0) {
		name = ruby_string_text(ruby_functions.base_label(m->definition->sequence), &method_bytes);
		if (method_bytes == base_bytes && memcmp(name, base, base_bytes) == 0)
			format_class_prefix(m, class, sizeof(class));
	}
	if (*class)
		label_bytes -= base_bytes;
	else
		base_bytes = 0;
	snprintf(out, bytes, "%.*s%s%.*s", (int)label_bytes, label, class, (int)base_bytes, base);
}
