/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/command.h"

#include <assert.h>
#include <string.h>

/* The table shall read as one. */
/* clang-format off */
#define OPTIONS(...) (const struct option[]){__VA_ARGS__, {NULL}}
#define OPTIONS_SETTLE                                                                             \
	{"settle", 0, NULL, "then wait until the screen is quiet, and tell what changed"},          \
		{"shot-changed", 0, "FILE", "the same, with a picture of what changed, if anything"}
#define OPTION_MODIFIERS {"modifiers", 'm', "KEYS", "keys held meanwhile, such as ctrl+shift"}
#define OPTIONS_FILM                                                                               \
	{"fps", 0, "N", "pictures a second, at most (30)"},                                        \
		{"quality", 'q', "small|balanced|sharp|lossless", "how sharp", OPTION_CHOICE},     \
		{"region", 'r', "X,Y,W,H", "only this part of the screen"},                        \
		{"no-cursor", 0, NULL, "without the mouse pointer"},                               \
		{"show-clicks", 0, NULL, "with ripples where the agent clicks"},                   \
		{"show-keys", 0, NULL, "with the keys that the agent presses"}
#define OPTION_BUTTON {"button", 'b', "left|middle|right|back|forward", "which button", OPTION_CHOICE}

const struct option global_options[] = {
	{"socket", 0, "PATH", "the daemon's control socket"},
	{"json", 0, NULL, "print the daemon's reply as it came"},
	{"help", 'h', NULL, "say what the command does and which options it has"},
	{"version", 0, NULL, "print the version"},
	{NULL},
};

const struct command commands[] = {
	{
		.name = "status",
		.summary = "say how screen, control, recordings and viewers stand",
		.details = "Exits with 5 while the daemon waits for its X server.",
		.run = command_status,
	},
	{
		.name = "shot",
		.summary = "take a screenshot",
		.details =
			"Without --output the picture goes to standard output, unless that is a "
			"terminal.\n"
			"Without --format the ending of FILE decides: .png, .jpg, .jpeg or .webp.\n"
			"FILE is written beside its place and renamed: nobody sees half a picture.\n"
			"Ends with 3 when a change was waited for and did not come in time.",
		.options = OPTIONS(
			{"output", 'o', "FILE", "where the picture goes; - is standard output"},
			{"format", 'f', "png|jpeg|webp", "how it is encoded",
				OPTION_QUERY | OPTION_CHOICE},
			{"quality", 'q', "1-100", "of jpeg and webp", OPTION_QUERY},
			{"region", 'r', "X,Y,W,H", "only this part of the screen", OPTION_QUERY},
			{"window", 'w', "ID|active", "only this window", OPTION_QUERY},
			{"scale", 's', "FACTOR", "smaller by this factor (0.5 halves)",
				OPTION_QUERY},
			{"max-side", 'm', "PIXELS", "scaled so that no side is longer",
				OPTION_QUERY},
			{"cursor", 'c', NULL, "with the mouse pointer", OPTION_QUERY},
			{"wait", 0, "stable|change",
				"first wait until the screen is still, or changes",
				OPTION_QUERY | OPTION_CHOICE},
			{"quiet-ms", 0, "MS", "how long it must be still to count as stable",
				OPTION_QUERY},
			{"timeout-ms", 0, "MS", "the longest wait", OPTION_QUERY},
			{"annotate", 0, "grid", "with lines and their coordinates",
				OPTION_QUERY | OPTION_CHOICE}),
		.run = command_shot,
	},
	{
		.name = "click",
		.operands = "[X Y]",
		.operands_max = 2,
		.summary = "click at a point, or where the pointer is",
		.options = OPTIONS(
			OPTION_BUTTON,
			{"count", 'n', "N", "2 for a double click"},
			OPTION_MODIFIERS,
			OPTIONS_SETTLE),
		.run = command_click,
	},
	{
		.name = "move",
		.operands = "X Y",
		.operands_min = 2,
		.operands_max = 2,
		.summary = "move the pointer",
		.options = OPTIONS(OPTIONS_SETTLE),
		.run = command_move,
	},
	{
		.name = "drag",
		.operands = "X Y X Y…",
		.operands_min = 4,
		.operands_max = 2000,
		.summary = "press at the first point, move along the others, release at the last",
		.options = OPTIONS(OPTION_BUTTON, OPTION_MODIFIERS, OPTIONS_SETTLE),
		.run = command_drag,
	},
	{
		.name = "scroll",
		.operands = "up|down|left|right [STEPS]",
		.operands_min = 1,
		.operands_max = 2,
		.summary = "turn the wheel",
		.details = "One step is one notch of a wheel.",
		.options = OPTIONS(
			{"at", 0, "X,Y", "there, instead of where the pointer is"},
			OPTION_MODIFIERS,
			OPTIONS_SETTLE),
		.run = command_scroll,
	},
	{
		.name = "key",
		.operands = "KEYS…",
		.operands_min = 1,
		.operands_max = 1000,
		.summary = "press keys: Return, ctrl+s, F5",
		.details = "Names are X keysym names, those of browsers (Enter, ArrowDown), single "
			   "characters and U+20AC.\nSeveral are pressed one after the other.",
		.options = OPTIONS({"count", 'n', "N", "press each so often"}, OPTIONS_SETTLE),
		.run = command_key,
	},
	{
		.name = "type",
		.operands = "[TEXT…]",
		.operands_max = 100000,
		.summary = "type text, exactly, whatever the keyboard layout",
		.details = "Several words are typed with blanks between them. A text that begins "
			   "with a dash stands behind \"--\".",
		.options = OPTIONS(
			{"file", 'f', "FILE", "the text of a file; - is standard input"},
			{"delay-ms", 0, "MS", "pause between characters"},
			{"paste", 0, NULL, "through the clipboard"},
			OPTIONS_SETTLE),
		.run = command_type,
	},
	{
		.name = "act",
		.operands = "FILE",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "run a batch of actions, as JSON; - is standard input",
		.details = "The file is what POST /v1/act takes: {\"actions\":[…]}, a list of actions, "
			   "or one. Prints the reply.",
		.options = OPTIONS(OPTIONS_SETTLE),
		.run = command_act,
	},
	{
		.name = "xdotool",
		.operands = "COMMAND…",
		.operands_max = 100000,
		.takes_rest = true,
		.summary = "run a chain or script of the xdotool language",
		.details = "A drop-in: under the name xdotool this program is nothing but that.",
		.run = command_xdotool,
	},
	{
		.name = "windows",
		.summary = "list the windows on the screen",
		.run = command_windows,
	},
	{
		.name = "clipboard get",
		.summary = "print what the clipboard holds",
		.details = "Prints the text as it is, without a newline of its own in a pipe.",
		.options = OPTIONS({"selection", 0, "clipboard|primary",
			"Ctrl+C's, or the text selected last", OPTION_QUERY | OPTION_CHOICE}),
		.run = command_clipboard_get,
	},
	{
		.name = "clipboard set",
		.operands = "[TEXT]",
		.operands_max = 1,
		.summary = "put text or a PNG picture on the clipboard",
		.details = "Without TEXT it is read from standard input; what begins like a PNG file is "
			   "put there as a picture.",
		.options = OPTIONS(
			{"selection", 0, "clipboard|primary",
				"Ctrl+V's, or the middle button's", OPTION_QUERY | OPTION_CHOICE}),
		.run = command_clipboard_set,
	},
	{
		.name = "link",
		.operands = "view|control",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "print an address that shows the live screen",
		.details = "Who opens it may watch, or, with control, act too. Whoever has the address "
			   "gets in.",
		.options = OPTIONS({"ttl", 0, "SECONDS", "how long it is good for (1800)"}),
		.run = command_link,
	},
	{
		.name = "takeover",
		.operands = "[INSTRUCTION…]",
		.operands_max = 50,
		.summary = "ask a person to take the screen over, and wait until it is handed back",
		.details = "Prints the link to standard error, and at the end the outcome (done, could_not, "
			   "other) and the person's message. Ends with 3 when nobody handed back in time. A "
			   "takeover outlives this command: without --note, and without anything else, it waits for "
			   "the one that is open. While one is open --note resumes it, with what it was opened with.",
		.options = OPTIONS(
			{"note", 'n', "TEXT", "what the person is to do, and why"},
			{"timeout", 't', "SECONDS", "how long the link is good, and again once it was opened (1800)"},
			{"no-wait", 0, NULL, "print the link and do not wait"},
			{"cancel", 0, NULL, "give the open takeover up"}),
		.run = command_takeover,
	},
	{
		.name = "say",
		.operands = "TEXT",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "write to the people at the page",
		.run = command_say,
	},
	{
		.name = "notes",
		.summary = "print what was said, and what people noted",
		.options = OPTIONS({"since", 0, "ID", "only what came after the message of that id",
			OPTION_QUERY}),
		.run = command_notes,
	},
	{
		.name = "record start",
		.summary = "record the screen into an mp4, print the recording's id",
		.details = "Runs until \"record stop\". The file can be played at every moment, whatever happens.",
		.options = OPTIONS(
			{"output", 'o', "FILE", "where the video goes; a new file that ends in .mp4"},
			{"name", 'n', "NAME", "what it is called, in the daemon's folder too"},
			OPTIONS_FILM,
			{"max-idle-ms", 0, "MS", "shorten longer stretches without change to this"},
			{"no-auto-marks", 0, NULL, "no chapters for the agent's actions"}),
		.run = command_record_start,
	},
	{
		.name = "record stop",
		.operands = "[ID]",
		.operands_max = 1,
		.summary = "end a recording, print where the video is",
		.details = "Without ID the only one that runs.",
		.run = command_record_stop,
	},
	{
		.name = "record pause",
		.operands = "[ID]",
		.operands_max = 1,
		.summary = "let a recording's time stand still",
		.run = command_record_pause,
	},
	{
		.name = "record resume",
		.operands = "[ID]",
		.operands_max = 1,
		.summary = "go on with a paused recording",
		.run = command_record_resume,
	},
	{
		.name = "record mark",
		.operands = "TEXT [ID]",
		.operands_min = 1,
		.operands_max = 2,
		.summary = "begin a chapter",
		.run = command_record_mark,
	},
	{
		.name = "record list",
		.summary = "list the recordings",
		.run = command_record_list,
	},
	{
		.name = "record get",
		.operands = "ID",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "fetch a recording's video",
		.options = OPTIONS({"output", 'o', "FILE", "where it goes; - is standard output"}),
		.run = command_record_get,
	},
	{
		.name = "record link",
		.operands = "[ID]",
		.operands_max = 1,
		.summary = "print an address to fetch a video from, good for one hour",
		.details = "Without ID the recording that has ended last. Whoever has the address gets "
			   "the video.",
		.run = command_record_link,
	},
	{
		.name = "record delete",
		.operands = "ID",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "remove a recording and its video",
		.run = command_record_delete,
	},
	{
		.name = "replay on",
		.summary = "keep the last seconds of the screen in memory",
		.options = OPTIONS(
			{"seconds", 's', "SECONDS", "how many (60)"},
			OPTIONS_FILM),
		.run = command_replay_on,
	},
	{
		.name = "replay save",
		.summary = "write what is kept to a video, print where",
		.options = OPTIONS(
			{"output", 'o', "FILE", "where the video goes; a new file that ends in .mp4"},
			{"name", 'n', "NAME", "what it is called"}),
		.run = command_replay_save,
	},
	{
		.name = "replay off",
		.summary = "keep nothing any more",
		.run = command_replay_off,
	},
	{
		.name = "publish",
		.operands = "[URL]",
		.operands_max = 1,
		.summary = "send the picture to a media server or an HLS playlist, print an id",
		.details = "URL begins with rtmp://, rtmps://, rtsp:// or srt://, or is the absolute path of a "
			   "playlist that ends in .m3u8.",
		.options = OPTIONS(
			OPTIONS_FILM,
			{"stop", 0, "ID", "end a broadcast"}),
		.run = command_publish,
	},
	{
		.name = "run",
		.operands = "COMMAND…",
		.operands_min = 1,
		.operands_max = 100000,
		.summary = "run a command on a screen of its own, recorded if wanted",
		.details = "Its options stand before the command, which begins behind \"--\". Ends with the "
			   "command's exit status (128 and the signal's number when a signal ended it), 125 "
			   "when there was no screen, 126 and 127 when the command could not be run.",
		.options = OPTIONS(
			{"record", 'o', "FILE", "record it into this mp4; an older one is replaced"},
			{"keep", 0, "always|failure", "failure: the video, and a last picture beside it, "
				"only when the command failed", OPTION_CHOICE},
			{"size", 0, "WxH", "of the screen (1280x800)"},
			{"window-manager", 'w', NULL, "with a window manager"},
			{"live", 'l', NULL, "print a link to watch it"}),
		.is_offline = true,
		.run = command_run,
	},
	{
		.name = "mcp",
		.summary = "serve the screen to an agent, as a Model Context Protocol server",
		.details = "Started by the agent's program, which talks to it on standard input and output. "
			   "docs/mcp.md shows how to tell an agent of it, and which tools there are.",
		.options = OPTIONS(
			{"names", 'n', "screen|sandbox", "what the tools' names begin with; sandbox: as a "
				"box's users know them", OPTION_CHOICE},
			{"max-side", 'm', "PIXELS", "no picture is longer or higher than this (1568)"},
			{"structured", 0, "auto|always|never", "structuredContent beside a picture; auto: "
				"unless the client drops the picture then", OPTION_CHOICE}),
		.is_offline = true,
		.run = command_mcp,
	},
	{
		.name = "events",
		.summary = "follow what happens, one line per event",
		.details = "Runs until it is interrupted. Goes on where it was when the connection "
			   "broke.\n"
			   "With --json each line is {\"id\":…,\"event\":…,\"data\":…}.",
		.run = command_events,
	},
	{
		.name = "doctor",
		.summary = "check daemon, screen and machine, and say how to mend each fault",
		.details = "Exits with 1 when a check failed, with 5 when the daemon cannot be "
			   "reached.",
		.run = command_doctor,
	},
	{
		.name = "help",
		.operands = "[COMMAND]",
		.operands_max = 2,
		.summary = "list the commands, or explain one",
		.options = OPTIONS({"names", 0, NULL,
			"print all names of commands and options, for programs"}),
		.run = command_help,
	},
	{NULL},
};
/* clang-format on */

const char *invocation_value(const struct invocation *call, const char *option_name)
{
	const struct option *option = call->command->options;
	for (int i = 0; option != NULL && option[i].name != NULL; i++) {
		if (strcmp(option[i].name, option_name) == 0)
			return call->values[i];
	}
	assert(!"the command has no such option");
	return NULL;
}

const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name != NULL; command++) {
		if (strcmp(command->name, name) == 0)
			return command;
	}
	return NULL;
}

bool command_is_group(const char *word)
{
	size_t len = strlen(word);
	for (const struct command *command = commands; command->name != NULL; command++) {
		if (strncmp(command->name, word, len) == 0 && command->name[len] == ' ')
			return true;
	}
	return false;
}
