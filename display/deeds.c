/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/deeds.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <xkbcommon/xkbcommon.h>

#include "base/utf8.h"
#include "display/keynames.h"

/* Of a text only its end is told: no more fits on a screen. */
#define TEXT_BYTES 160

void deeds_tell_click(const struct deeds *deeds)
{
	if (deeds != NULL)
		deeds->on_click(deeds->arg);
}

void deeds_tell_text(const struct deeds *deeds, const char *text, size_t len)
{
	char shown[TEXT_BYTES + 8];
	size_t used = 0, from = len > TEXT_BYTES ? len - TEXT_BYTES : 0;
	if (deeds == NULL)
		return;
	while (from < len && ((unsigned char)text[from] & 0xc0) == 0x80)
		from++;
	for (size_t i = from; i < len && used + 4 < sizeof(shown);) {
		uint32_t code_point;
		size_t size = utf8_decode(text + i, len - i, &code_point);
		if (size == 0)
			return; /* the typist refuses such a text */
		if (code_point == '\n' || code_point == '\r')
			code_point = 0x21b5;
		else if (code_point == '\t')
			code_point = 0x21e5;
		if (code_point >= 0x20 && code_point != 0x7f)
			used += utf8_encode(code_point, shown + used);
		i += size;
	}
	shown[used] = '\0';
	if (used > 0)
		deeds->on_keys(deeds->arg, shown);
}

/* "Control_L" as people write it. */
static void append_name(char *out, size_t size, uint32_t keysym)
{
	static const struct {
		const char *name, *shown;
	} names[] = {{"Control", "ctrl"}, {"Shift", "shift"}, {"Alt", "alt"}, {"Super", "super"},
		{"Meta", "meta"}};
	char name[64] = "";
	size_t used = strlen(out);
	uint32_t code_point = keysym_to_char(keysym);
	if (code_point > 0x20 && code_point != 0x7f)
		name[utf8_encode(code_point, name)] = '\0';
	else
		xkb_keysym_get_name(keysym, name, sizeof(name));
	size_t len = strlen(name);
	if (len > 2 && name[len - 2] == '_') {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (strncmp(name, names[i].name, len - 2) == 0 && names[i].name[len - 2] == '\0')
				snprintf(name, sizeof(name), "%s", names[i].shown);
		}
	}
	snprintf(out + used, size - used, "%s%s", used > 0 ? "+" : "", name);
}

void deeds_tell_chord(const struct deeds *deeds, const struct key_chord *chord)
{
	char text[TEXT_BYTES] = "";
	if (deeds == NULL)
		return;
	for (int i = 0; i < chord->count; i++)
		append_name(text, sizeof(text), chord->keysyms[i]);
	deeds->on_keys(deeds->arg, text);
}
