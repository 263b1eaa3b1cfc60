/* SPDX-License-Identifier: MIT */
/*
 * Parses and evaluates a formula at once, by recursive descent. The grammar: sum = product { (+|-) product }; product = power { (*|/) power
 * }; power = (+|-) power | atom [^ power]; atom = number | name | function(sum, ...) | (sum)
 */
#include "analyzer/compare/expression.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 200

struct expression {
	const char *text;
	const char *const *names;
	const double *values;
};

struct parser {
	const struct expression *e;
	const char *at;
	int depth;
	char wrong[128]; /* the first error, or "" */
};

static double parse_sum(struct parser *p);

static double fail_at_position(struct parser *p, const char *what)
{
	if (!*p->wrong && *p->at)
		snprintf(p->wrong, sizeof(p->wrong), "%s at position %zu", what, (size_t)(p->at - p->e->text) + 1);
	else if (!*p->wrong)
		snprintf(p->wrong, sizeof(p->wrong), "unexpected end of the formula at position %zu", strlen(p->e->text) + 1);
	p->at += strlen(p->at); /* the parser is at the end of the text then, and returns from all its levels */
	return NAN;
}

static double fail_with_name(struct parser *p, const char *what, const char *name, size_t bytes)
{
	char text[80];

	snprintf(text, sizeof(text), "%s '%.*s'", what, bytes < 40 ? (int)bytes : 40, name);
	return fail_at_position(p, text);
}

/* Read the character c if it is next, apart from white space. Return false if it is not. */
static bool accept_character(struct parser *p, char c)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static double parse_function_call(struct parser *p, const char *name, size_t bytes)
{
	static const struct { const char *name; double (*one)(double); double (*two)(double, double); } list[] = {
		{ "abs", fabs, NULL }, { "log", log, NULL }, { "sqrt", sqrt, NULL }, { "min", NULL, fmin }, { "max", NULL, fmax },
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		double x, y = 0;

		if (strlen(list[i].name) != bytes || memcmp(list[i].name, name, bytes) != 0)
			continue;
		x = parse_sum(p);
		if (list[i].two)
			y = accept_character(p, ',') ? parse_sum(p) : fail_at_position(p, "missing ','");
		if (!accept_character(p, ')'))
			return fail_at_position(p, "missing ')'");
		return list[i].one ? list[i].one(x) : list[i].two(x, y);
	}
	p->at = name;
	return fail_with_name(p, "unknown function", name, bytes);
}

static double parse_atom(struct parser *p)
{
	const char *begin;
	size_t bytes;
	double x;
	char *end;

	if (accept_character(p, '(')) {
		x = parse_sum(p);
		return accept_character(p, ')') ? x : fail_at_position(p, "missing ')'");
	}
	begin = p->at;
	if (isdigit((unsigned char)*begin) || *begin == '.') {
		x = strtod(begin, &end);
		p->at = end;
		return end > begin ? x : fail_at_position(p, "expected a number");
	}
	while (isalnum((unsigned char)*p->at) || *p->at == '_')
		p->at++;
	bytes = (size_t)(p->at - begin);
	if (bytes && accept_character(p, '('))
		return parse_function_call(p, begin, bytes);
	for (int i = 0; bytes && p->e->names[i]; i++)
		if (strlen(p->e->names[i]) == bytes && memcmp(p->e->names[i], begin, bytes) == 0)
			return p->e->values[i];
	p->at = begin;
	return bytes ? fail_with_name(p, "unknown name", begin, bytes) : fail_at_position(p, "expected a number or a name");
}

static double parse_power(struct parser *p)
{
	double x;

	if (p->depth >= DEPTH_MAX)
		return fail_at_position(p, "too many levels of parentheses or operators");
	p->depth++;
	if (accept_character(p, '-')) {
		x = -parse_power(p);
	} else if (accept_character(p, '+')) {
		x = parse_power(p);
	} else {
		x = parse_atom(p);
		if (accept_character(p, '^'))
			x = pow(x, parse_power(p));
	}
	p->depth--;
	return x;
}

static double parse_product(struct parser *p)
{
	double x = parse_power(p);

	for (;;)
		if (accept_character(p, '*'))
			x *= parse_power(p);
		else if (accept_character(p, '/'))
			x /= parse_power(p);
		else
			return x;
}

static double parse_sum(struct parser *p)
{
	double x = parse_product(p);

	for (;;)
		if (accept_character(p, '+'))
			x += parse_product(p);
		else if (accept_character(p, '-'))
			x -= parse_product(p);
		else
			return x;
}

int expression_evaluate(struct expression *e, double *result, struct diag *d)
{
	struct parser p = { .e = e, .at = e->text };

	*result = parse_sum(&p);
	p.at += strspn(p.at, " \t\n");
	if (*p.at)
		fail_at_position(&p, "expected an operator");
	return *p.wrong ? diag_fail(d, EINVAL, "%s", p.wrong) : 0;
}

int expression_create(const char *text, const char *const *names, double *values, struct expression **out, struct diag *d)
{
	struct expression *e = calloc(1, sizeof(*e));
	double ignored;
	int ret;

	if (!e)
		return diag_fail(d, ENOMEM, "out of memory");
	*e = (struct expression){ text, names, values };
	ret = expression_evaluate(e, &ignored, d);
	if (ret) {
		expression_destroy(e);
		return ret;
	}
	*out = e;
	return 0;
}

void expression_destroy(struct expression *e)
{
	free(e);
}
