/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The description of the control socket for programs: OpenAPI 3.1, made from the route table. What
 * bodies and queries take comes from the code that checks them; what is answered is in
 * answers.json, which the tests hold real answers against. docs/openapi.json is what `boxscreend
 * --openapi` prints.
 */
#ifndef SERVICE_OPENAPI_H
#define SERVICE_OPENAPI_H

#include <jansson.h>

/* The whole document. The caller's. */
json_t *openapi_document(void);

/* The same as text, made once: it is the same for the whole run. Main thread only. */
const char *openapi_text(void);

/* Prints it, indented, to standard output. */
void openapi_print(void);

/* The lines of answers.json (schemas of what is answered) and members.json (a few words on each
   member of a request, by operation or object, else "any"); each ends with NULL. */
extern const char *const openapi_answers[];
extern const char *const openapi_members[];

#endif
