/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent does by a batch or a chain, told to those who look on. Main thread only. */
#ifndef SERVICE_AGENT_STEP_H
#define SERVICE_AGENT_STEP_H

struct service;
struct step;

/* A step in the strip of those who watch, and a chapter in what records now. */
void agent_step_tell(struct service *service, const struct step *step);

/* The chapter alone: of a batch that only looks. */
void agent_step_mark(struct service *service, const char *names);

#endif
