/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service/agent_step.h"

#include "capture/studio.h"
#include "service/recordings.h"
#include "service/service.h"
#include "takeover/steps.h"
#include "takeover/viewers.h"

void agent_step_mark(struct service *service, const char *names)
{
	struct studio *studio = recordings_studio(service->recordings);
	if (studio_active_count(studio) > 0)
		studio_auto_mark(studio, names);
}

void agent_step_tell(struct service *service, const struct step *step)
{
	agent_step_mark(service, step->action);
	viewers_tell_step(service->viewers, step);
}
