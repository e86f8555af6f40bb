/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a value that comes as text may be: a query parameter, an option of a screenshot. The rule is
 * what the text is checked by, and what it is described by in openapi.json. Pure; any thread.
 */
#ifndef BASE_VALUE_RULE_H
#define BASE_VALUE_RULE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum value_kind {
	VALUE_INT,    /* a whole number from min to max */
	VALUE_NUMBER, /* a number from min to max */
	VALUE_FLAG,   /* 1, 0, true, false */
	VALUE_CHOICE, /* one of `choices` */
	VALUE_TEXT,   /* what its reader takes; `pattern` describes it */
};

/* In static tables that end with a rule without a name. */
struct value_rule {
	const char *name;
	enum value_kind kind;
	double min, max;            /* whole numbers up to 2^53 */
	const char *const *choices; /* ends with NULL */
	const char *pattern;        /* a regular expression of ECMA-262, for the description */
	const char *fallback; /* what it is when it is not given; NULL: nothing in particular */
	const char *help;     /* a few words */
};

/* The rule of that name in a table, or NULL. `rules` may be NULL. */
const struct value_rule *value_rule_find(const struct value_rule *rules, const char *name);

/*
 * Returns NULL when the text is good, else a sentence in error[error_size] that begins with the
 * rule's name.
 */
const char *value_rule_fault(
	const struct value_rule *rule, const char *text, char *error, size_t error_size);

/* The value of a text that is good: VALUE_INT, VALUE_NUMBER, VALUE_FLAG (0, 1), VALUE_CHOICE (its
 * index). */
double value_rule_value(const struct value_rule *rule, const char *text);

/* Its JSON Schema. The caller's. */
json_t *value_rule_schema(const struct value_rule *rule);

/* Writes "a, b or c". */
void value_choices_write(const char *const *choices, char *out, size_t size);

#endif
