/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The handlers of the route table; what each takes and answers is in docs/control-api.md. */
#ifndef SERVICE_COMMANDS_H
#define SERVICE_COMMANDS_H

#include <jansson.h>

struct http_request;
struct service;

#define COMMAND(name)                                                                              \
	void name(struct service *service, struct http_request *request, const char *segment)

COMMAND(command_status);
COMMAND(command_healthz);
COMMAND(command_metrics);
COMMAND(command_doctor);
COMMAND(command_events);
COMMAND(command_routes);
COMMAND(command_openapi);
COMMAND(command_shot);
COMMAND(command_shot_save);
COMMAND(command_act);
COMMAND(command_xdotool);
COMMAND(command_windows);
COMMAND(command_window_activate);
COMMAND(command_window_close);
COMMAND(command_window_move);
COMMAND(command_window_resize);
COMMAND(command_clipboard_get);
COMMAND(command_clipboard_put);
COMMAND(command_screen_put);
COMMAND(command_link_create);
COMMAND(command_link_delete);
COMMAND(command_takeover_create);
COMMAND(command_takeover_get);
COMMAND(command_takeovers);
COMMAND(command_takeover_cancel);
COMMAND(command_say);
COMMAND(command_notes);
COMMAND(command_recording_start);
COMMAND(command_recordings);
COMMAND(command_recording);
COMMAND(command_recording_pause);
COMMAND(command_recording_resume);
COMMAND(command_recording_stop);
COMMAND(command_recording_mark);
COMMAND(command_recording_video);
COMMAND(command_recording_thumbnail);
COMMAND(command_recording_delete);
COMMAND(command_replay_get);
COMMAND(command_replay_put);
COMMAND(command_replay_save);
COMMAND(command_publish);
COMMAND(command_publish_list);
COMMAND(command_publish_delete);

/* JSON Schemas of their bodies, each made by what reads the body. The caller's. */
json_t *body_shot_save(void);
json_t *body_act(void);
json_t *body_xdotool(void);
json_t *body_window_move(void);
json_t *body_window_resize(void);
json_t *body_screen_put(void);
json_t *body_link_create(void);
json_t *body_takeover_create(void);
json_t *body_say(void);
json_t *body_recording_start(void);
json_t *body_recording_mark(void);
json_t *body_replay_put(void);
json_t *body_replay_save(void);
json_t *body_publish(void);

#endif
