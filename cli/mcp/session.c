/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/mcp/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/mcp/tools.h"

#define MODERN       "2026-07-28"
#define BATCHING     "2025-03-26"
#define META(name)   "io.modelcontextprotocol/" name
/* The tools change with the program alone. */
#define LIST_TTL_MS  3600000

/* With a handshake, the newest first. */
static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", BATCHING, "2024-11-05"};

static json_t *server_info(void)
{
	return json_pack("{s:s, s:s, s:s}", "name", "boxscreen", "title", "A box's screen", "version",
		BOXSCREEN_VERSION);
}

static json_t *capabilities(void)
{
	return json_pack("{s:{}}", "tools");
}

static json_t *all_versions(void)
{
	json_t *list = json_pack("[s]", MODERN);
	for (size_t i = 0; i < ARRAY_LEN(legacy_versions); i++)
		json_array_append_new(list, json_string(legacy_versions[i]));
	return list;
}

static json_t *refuse(const struct rpc_message *request, const char *text)
{
	return rpc_error(request->id, RPC_INVALID_PARAMS, text, NULL);
}

bool session_takes_batches(const struct session *session)
{
	return session->version != NULL && strcmp(session->version, BATCHING) == 0;
}

/* A request that says its revision itself. */
static json_t *accept_modern(
	const struct rpc_message *request, const json_t *meta, struct session_terms *terms)
{
	const json_t *version = json_object_get(meta, META("protocolVersion"));
	const char *client = json_string_value(
		json_object_get(json_object_get(meta, META("clientInfo")), "name"));
	terms->is_modern = true;
	terms->client = client != NULL ? client : "";
	if (!json_is_string(version))
		return refuse(request, "_meta: " META("protocolVersion") " must be a string");
	if (strcmp(json_string_value(version), MODERN) != 0)
		return rpc_error(request->id, RPC_UNSUPPORTED_VERSION, "Unsupported protocol version",
			json_pack("{s:o, s:s}", "supported", all_versions(), "requested",
				json_string_value(version)));
	if (!json_is_object(json_object_get(meta, META("clientCapabilities"))))
		return refuse(request, "_meta: " META("clientCapabilities") " must be an object");
	return NULL;
}

json_t *session_accept(
	const struct session *session, const struct rpc_message *request, struct session_terms *terms)
{
	const json_t *meta = json_object_get(request->params, "_meta");
	*terms = (struct session_terms){.client = session->client};
	if (json_object_get(meta, META("protocolVersion")) != NULL)
		return accept_modern(request, meta, terms);
	bool may_be_first = strcmp(request->method, "initialize") == 0 ||
			    strcmp(request->method, "ping") == 0;
	if (session->version == NULL && !may_be_first)
		return refuse(request,
			"begin with \"initialize\" (protocol 2025-11-25 and older), or say the protocol in "
			"each request's _meta: " META("protocolVersion") " and " META(
				"clientCapabilities") " (" MODERN ")");
	return NULL;
}

json_t *session_result(const struct session_terms *terms, json_t *id, json_t *result)
{
	if (terms->is_modern) {
		json_t *meta = json_object_get(result, "_meta");
		if (meta == NULL) {
			meta = json_object();
			json_object_set_new(result, "_meta", meta);
		}
		json_object_set_new(meta, META("serverInfo"), server_info());
		json_object_set_new(result, "resultType", json_string("complete"));
	}
	return rpc_result(id, result);
}

static json_t *initialize(struct session *session, const struct rpc_message *request)
{
	const char *wanted = json_string_value(json_object_get(request->params, "protocolVersion"));
	const char *client = json_string_value(
		json_object_get(json_object_get(request->params, "clientInfo"), "name"));
	if (wanted == NULL)
		return refuse(request, "protocolVersion is missing, such as \"2025-11-25\"");
	session->version = legacy_versions[0];
	for (size_t i = 0; i < ARRAY_LEN(legacy_versions); i++) {
		if (strcmp(wanted, legacy_versions[i]) == 0)
			session->version = legacy_versions[i];
	}
	snprintf(session->client, sizeof(session->client), "%s", client != NULL ? client : "");
	return rpc_result(request->id,
		json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", session->version, "capabilities",
			capabilities(), "serverInfo", server_info(), "instructions",
			tools_instructions(session->tools)));
}

/* What may be kept, and by whom: it is the same for everybody. */
static json_t *cacheable(const struct session_terms *terms, json_t *result)
{
	if (terms->is_modern) {
		json_object_set_new(result, "ttlMs", json_integer(LIST_TTL_MS));
		json_object_set_new(result, "cacheScope", json_string("public"));
	}
	return result;
}

static json_t *list_tools(
	struct session *session, const struct rpc_message *request, const struct session_terms *terms)
{
	if (json_object_get(request->params, "cursor") != NULL)
		return refuse(request, "cursor: all tools are on the first page; leave it out");
	json_t *result = json_pack("{s:O}", "tools", tools_list(session->tools));
	return session_result(terms, request->id, cacheable(terms, result));
}

static json_t *discover(
	struct session *session, const struct rpc_message *request, const struct session_terms *terms)
{
	json_t *result = json_pack("{s:o, s:o, s:s}", "supportedVersions", all_versions(),
		"capabilities", capabilities(), "instructions", tools_instructions(session->tools));
	return session_result(terms, request->id, cacheable(terms, result));
}

json_t *session_answer(
	struct session *session, const struct rpc_message *request, const struct session_terms *terms)
{
	const char *method = request->method;
	if (strcmp(method, "tools/list") == 0)
		return list_tools(session, request, terms);
	if (strcmp(method, "tools/call") == 0)
		return NULL;
	if (terms->is_modern && strcmp(method, "server/discover") == 0)
		return discover(session, request, terms);
	if (terms->is_modern && strcmp(method, "subscriptions/listen") == 0)
		return NULL;
	if (!terms->is_modern && strcmp(method, "initialize") == 0)
		return initialize(session, request);
	if (!terms->is_modern && strcmp(method, "ping") == 0)
		return rpc_result(request->id, json_object());
	char *text = xasprintf("there is no method \"%.100s\"", method);
	json_t *answer = rpc_error(request->id, RPC_METHOD_NOT_FOUND, text, NULL);
	free(text);
	return answer;
}
