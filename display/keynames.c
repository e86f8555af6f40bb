/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/keynames.h"

#include <X11/keysym.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <xkbcommon/xkbcommon.h>

#include "base/alloc.h"
#include "base/utf8.h"

#define NAME_MAX_LEN   64
#define UNICODE_KEYSYM 0x01000000u

struct alias {
	const char *name; /* compared without regard to case */
	uint32_t keysym;
};

static const struct alias aliases[] = {
	/* modifiers: xdotool, DOM `key` and `code`, the vendors' */
	{"alt", XK_Alt_L},
	{"option", XK_Alt_L},
	{"altleft", XK_Alt_L},
	{"opt", XK_Alt_L},
	{"altright", XK_Alt_R},
	{"ralt", XK_Alt_R},
	{"lalt", XK_Alt_L},
	{"altgr", XK_ISO_Level3_Shift},
	{"altgraph", XK_ISO_Level3_Shift},
	{"ctrl", XK_Control_L},
	{"control", XK_Control_L},
	{"controlleft", XK_Control_L},
	{"ctl", XK_Control_L},
	{"lctrl", XK_Control_L},
	{"controlright", XK_Control_R},
	{"rctrl", XK_Control_R},
	{"shift", XK_Shift_L},
	{"shiftleft", XK_Shift_L},
	{"lshift", XK_Shift_L},
	{"shiftright", XK_Shift_R},
	{"rshift", XK_Shift_R},
	{"super", XK_Super_L},
	{"meta", XK_Super_L},
	{"cmd", XK_Super_L},
	{"command", XK_Super_L},
	{"win", XK_Super_L},
	{"windows", XK_Super_L},
	{"os", XK_Super_L},
	{"metaleft", XK_Super_L},
	{"osleft", XK_Super_L},
	{"metaright", XK_Super_R},
	{"osright", XK_Super_R},
	{"hyper", XK_Hyper_L},
	{"capslock", XK_Caps_Lock},
	{"numlock", XK_Num_Lock},
	{"scrolllock", XK_Scroll_Lock},
	/* editing and moving */
	{"enter", XK_Return},
	{"ret", XK_Return},
	{"newline", XK_Return},
	{"esc", XK_Escape},
	{"del", XK_Delete},
	{"ins", XK_Insert},
	{"bksp", XK_BackSpace},
	{"back_space", XK_BackSpace},
	{"spacebar", XK_space},
	{"spc", XK_space},
	{"arrowup", XK_Up},
	{"arrowdown", XK_Down},
	{"arrowleft", XK_Left},
	{"arrowright", XK_Right},
	{"up_arrow", XK_Up},
	{"down_arrow", XK_Down},
	{"left_arrow", XK_Left},
	{"right_arrow", XK_Right},
	{"uparrow", XK_Up},
	{"downarrow", XK_Down},
	{"leftarrow", XK_Left},
	{"rightarrow", XK_Right},
	{"pageup", XK_Page_Up},
	{"pagedown", XK_Page_Down},
	{"pgup", XK_Page_Up},
	{"pgdn", XK_Page_Down},
	{"pgdown", XK_Page_Down},
	{"printscreen", XK_Print},
	{"prtsc", XK_Print},
	{"prtscn", XK_Print},
	{"contextmenu", XK_Menu},
	{"apps", XK_Menu},
	{"backtab", XK_ISO_Left_Tab},
	/* characters by the names of DOM `code` */
	{"backtick", XK_grave},
	{"backquote", XK_grave},
	{"quote", XK_apostrophe},
	{"doublequote", XK_quotedbl},
	{"singlequote", XK_apostrophe},
	{"dot", XK_period},
	{"equals", XK_equal},
	{"dash", XK_minus},
	{"hyphen", XK_minus},
	{"hash", XK_numbersign},
	{"pipe", XK_bar},
	{"tilde", XK_asciitilde},
	{"caret", XK_asciicircum},
	{"leftbracket", XK_bracketleft},
	{"rightbracket", XK_bracketright},
	{"exclamation", XK_exclam},
	{"intlbackslash", XK_less},
	/* keypad */
	{"numpadenter", XK_KP_Enter},
	{"numpadadd", XK_KP_Add},
	{"numpadsubtract", XK_KP_Subtract},
	{"numpadmultiply", XK_KP_Multiply},
	{"numpaddivide", XK_KP_Divide},
	{"numpaddecimal", XK_KP_Decimal},
	{"numpadequal", XK_KP_Equal},
	/* media keys by their DOM names */
	{"audiovolumeup", 0x1008ff13},
	{"volumeup", 0x1008ff13},
	{"audiovolumedown", 0x1008ff11},
	{"volumedown", 0x1008ff11},
	{"audiovolumemute", 0x1008ff12},
	{"mute", 0x1008ff12},
	{"mediaplaypause", 0x1008ff14},
	{"playpause", 0x1008ff14},
	{"mediastop", 0x1008ff15},
	{"mediatracknext", 0x1008ff17},
	{"mediatrackprevious", 0x1008ff16},
	{"browserback", 0x1008ff26},
	{"browserforward", 0x1008ff27},
	{"browserhome", 0x1008ff18},
	{"browserrefresh", 0x1008ff29},
	{"browsersearch", 0x1008ff1b},
};

uint32_t keysym_from_char(uint32_t code_point)
{
	switch (code_point) {
	case '\b':
		return XK_BackSpace;
	case '\t':
		return XK_Tab;
	case '\n':
	case '\r':
		return XK_Return;
	case 0x1b:
		return XK_Escape;
	default:
		break;
	}
	if (code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) ||
		(code_point >= 0xd800 && code_point < 0xe000) || code_point > 0x10ffff)
		return 0;
	return code_point < 0x100 ? code_point : UNICODE_KEYSYM | code_point;
}

uint32_t keysym_to_char(uint32_t keysym)
{
	/* xkbcommon tells keys such as Return and BackSpace as control characters; those are keys.
	 */
	uint32_t code_point = xkb_keysym_to_utf32(keysym);
	if (code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0))
		return 0;
	return code_point;
}

bool keysym_is_keypad(uint32_t keysym)
{
	return keysym >= XK_KP_Space && keysym <= XK_KP_Equal;
}

bool keysym_is_modifier(uint32_t keysym)
{
	return (keysym >= XK_Shift_L && keysym <= XK_Hyper_R && keysym != XK_Caps_Lock &&
		       keysym != XK_Shift_Lock) ||
	       keysym == XK_ISO_Level3_Shift || keysym == XK_ISO_Level5_Shift ||
	       keysym == XK_Mode_switch;
}

static bool parse_number(const char *digits, size_t len, uint32_t *out)
{
	if (len == 0 || len > 8)
		return false;
	uint32_t value = 0;
	for (size_t i = 0; i < len; i++) {
		const char *place = strchr("0123456789abcdef", digits[i] | 0x20);
		if (digits[i] < '0' || place == NULL)
			return false;
		value = value << 4 | (uint32_t)(place - "0123456789abcdef");
	}
	*out = value;
	return true;
}

static bool lookup_number(const char *name, size_t len, uint32_t *keysym)
{
	uint32_t value;
	if (len < 3 || !parse_number(name + 2, len - 2, &value))
		return false;
	if ((name[0] == 'U' || name[0] == 'u') && name[1] == '+') {
		*keysym = keysym_from_char(value);
		return *keysym != 0;
	}
	/* 29 bits is what a keysym has. */
	if (name[0] != '0' || (name[1] | 0x20) != 'x' || value == 0 || value > 0x1fffffff)
		return false;
	*keysym = value;
	return true;
}

/* DOM `code` names that come in series: KeyA, Digit7, Numpad7. */
static bool lookup_series(const char *name, size_t len, uint32_t *keysym)
{
	char last = name[len - 1];
	if (len == 4 && strncasecmp(name, "key", 3) == 0 && (last | 0x20) >= 'a' &&
		(last | 0x20) <= 'z')
		*keysym = (uint32_t)(last | 0x20);
	else if (len == 6 && strncasecmp(name, "digit", 5) == 0 && last >= '0' && last <= '9')
		*keysym = (uint32_t)last;
	else if (len == 7 && strncasecmp(name, "numpad", 6) == 0 && last >= '0' && last <= '9')
		*keysym = XK_KP_0 + (uint32_t)(last - '0');
	else
		return false;
	return true;
}

static bool lookup_alias(const char *name, uint32_t *keysym)
{
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
		if (strcasecmp(aliases[i].name, name) == 0) {
			*keysym = aliases[i].keysym;
			return true;
		}
	}
	return false;
}

bool keynames_lookup(const char *name, size_t len, uint32_t *keysym)
{
	uint32_t code_point;
	size_t first = utf8_decode(name, len, &code_point);
	if (first == 0)
		return false;
	if (first == len) {
		*keysym = keysym_from_char(code_point);
		return *keysym != 0;
	}
	if (len >= NAME_MAX_LEN || memchr(name, '\0', len) != NULL)
		return false;
	char text[NAME_MAX_LEN];
	memcpy(text, name, len);
	text[len] = '\0';
	if (lookup_number(name, len, keysym))
		return true;
	if (strncasecmp(text, "0x", 2) == 0)
		return false;
	*keysym = xkb_keysym_from_name(text, XKB_KEYSYM_NO_FLAGS);
	if (*keysym != XKB_KEY_NoSymbol)
		return true;
	if (lookup_alias(text, keysym) || lookup_series(text, len, keysym))
		return true;
	*keysym = xkb_keysym_from_name(text, XKB_KEYSYM_CASE_INSENSITIVE);
	return *keysym != XKB_KEY_NoSymbol;
}

/*
 * The length of the first key name in text: up to the next '+', which itself may be the key or part
 * of U+20AC (four digits at least: "u+a" is a chord).
 */
size_t keynames_length(const char *text)
{
	if (text[0] == '+')
		return 1;
	size_t digits = 0;
	if ((text[0] | 0x20) == 'u' && text[1] == '+')
		digits = strspn(text + 2, "0123456789abcdefABCDEF");
	if (digits >= 4 && (text[2 + digits] == '+' || text[2 + digits] == '\0'))
		return 2 + digits;
	return strcspn(text, "+");
}

static void explain(const char *name, size_t len, char *error, size_t error_size)
{
	int shown = len > NAME_MAX_LEN ? NAME_MAX_LEN : (int)len;
	size_t dash = 0;
	while (dash < len && name[dash] != '-')
		dash++;
	uint32_t keysym;
	if (dash > 0 && dash < len && keynames_lookup(name, dash, &keysym) &&
		keysym_is_modifier(keysym))
		snprintf(error, error_size,
			"unknown key name \"%.*s\": the keys of a chord are joined with '+', not "
			"'-'",
			shown, name);
	else
		snprintf(error, error_size, "unknown key name \"%.*s\"", shown, name);
}

bool keynames_parse_chord(const char *text, struct key_chord *out, char *error, size_t error_size)
{
	out->count = 0;
	if (text[0] == '\0') {
		snprintf(error, error_size, "no key is named");
		return false;
	}
	for (;;) {
		size_t len = keynames_length(text);
		if (len == 0) {
			snprintf(error, error_size, "a key name is missing after '+'");
			return false;
		}
		if (out->count == KEY_CHORD_MAX) {
			snprintf(error, error_size, "a chord has at most %d keys", KEY_CHORD_MAX);
			return false;
		}
		if (!keynames_lookup(text, len, &out->keysyms[out->count])) {
			explain(text, len, error, error_size);
			return false;
		}
		out->count++;
		if (text[len] == '\0')
			return true;
		if (text[len] != '+') {
			explain(text, strlen(text), error, error_size);
			return false;
		}
		text += len + 1;
	}
}
