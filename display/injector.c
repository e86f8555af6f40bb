/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "display/injector.h"

#include <X11/XKBlib.h>
#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/extensions/XInput2.h>
#include <X11/extensions/XTest.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/loop.h"
#include "display/deeds.h"
#include "display/input_gate.h"
#include "display/xconn.h"
#define LOG_MODULE "injector"
#include "base/log.h"

#define HELD_MAX       256
#define WHEEL_MAX      1000
#define COORDINATE_MAX 32767 /* the protocol's INT16 */

/*
 * Own events of lifted keys whose raw events have not come back yet. A chunk of text has at most
 * four for each of its 256 characters (Shift and AltGr, down and up), and is read up before the
 * next.
 */
#define OWN_EVENTS_MAX 4096

/* Bits of the property that outlives us. */
#define LEFT_KEYS_DOWN   1u
#define LEFT_REPEAT_OFF  2u
#define LEFT_LOCKS_SHIFT 8 /* above: the locks that were switched off for a moment */

struct held {
	uint8_t source;
	uint8_t code; /* keycode or button */
	bool is_button;
	int64_t since_us;
};

enum lifted { NOT_LIFTED, LIFTED_OURS, LIFTED_STRANGERS };

/* One of our own events on its way back to us. */
struct own_event {
	unsigned long serial; /* of the request, which its raw event bears */
	uint8_t keycode;
	bool is_down;
};

/* All fields are owned by the display thread. */
struct injector {
	struct xconn *conn;
	struct xconn_listener listener;
	Atom held_atom;
	unsigned marked;            /* what the property says now */
	struct held held[HELD_MAX]; /* in the order of the presses */
	int held_count;
	uint8_t lifted[256]; /* enum lifted, by keycode */
	bool is_let_go[256]; /* a stranger's lifted key: whether he has released it since */
	int strangers_count; /* how many of his keys are lifted; raw key events come meanwhile */
	int master_keyboard; /* its device id, 0 before it was looked for, -1 for none */
	struct own_event own_events[OWN_EVENTS_MAX]; /* a ring, oldest first */
	int own_first, own_count;
	bool assisted[256];
	bool is_repeat_off; /* by us, and it was on before */
	uint8_t unlocked;   /* locks that are to be set again */
	unsigned press_count;
	const struct deeds *deeds;
	struct loop_timer *cap_timer; /* for what the agent holds */
};

/*
 * Set before the first press and kept while we live (an update for each press would wake every
 * program that watches the root window); only the notes about auto-repeat and locks come and go.
 */
static void mark(struct injector *injector)
{
	unsigned want = LEFT_KEYS_DOWN | (injector->is_repeat_off ? LEFT_REPEAT_OFF : 0) |
			(unsigned)injector->unlocked << LEFT_LOCKS_SHIFT;
	if (want == injector->marked || injector->conn->is_broken)
		return;
	injector->marked = want;
	long value = (long)want;
	XChangeProperty(injector->conn->dpy, injector->conn->root, injector->held_atom, XA_CARDINAL,
		32, PropModeReplace, (unsigned char *)&value, 1);
}

static void note_own_event(struct injector *injector, uint8_t keycode, bool is_down)
{
	if (injector->own_count == OWN_EVENTS_MAX)
		return;
	int at = (injector->own_first + injector->own_count++) % OWN_EVENTS_MAX;
	injector->own_events[at] =
		(struct own_event){NextRequest(injector->conn->dpy) - 1, keycode, is_down};
}

static void fake_key(struct injector *injector, uint8_t keycode, bool is_down)
{
	if (injector->conn->is_broken || keycode < 8)
		return;
	XTestFakeKeyEvent(injector->conn->dpy, keycode, is_down, CurrentTime);
	if (injector->lifted[keycode] == LIFTED_STRANGERS)
		note_own_event(injector, keycode, is_down);
}

static void fake_button(struct injector *injector, int button, bool is_down)
{
	if (!injector->conn->is_broken)
		XTestFakeButtonEvent(injector->conn->dpy, (unsigned)button, is_down, CurrentTime);
}

/* Everything that is down: only a predecessor that died can have left it, the property says. */
static void release_leftovers(struct injector *injector, unsigned left)
{
	Display *dpy = injector->conn->dpy;
	char keys[32];
	XQueryKeymap(dpy, keys);
	for (int code = 8; code < 256; code++) {
		if (keys[code / 8] & 1 << (code % 8))
			fake_key(injector, (uint8_t)code, false);
	}
	for (int button = 1; button <= INJECTOR_BUTTON_MAX; button++)
		fake_button(injector, button, false);
	if (left & LEFT_REPEAT_OFF)
		XAutoRepeatOn(dpy);
	unsigned locks = left >> LEFT_LOCKS_SHIFT & 0xff;
	if (locks != 0 && injector->conn->has_xkb)
		XkbLockModifiers(dpy, XkbUseCoreKbd, locks, locks);
	XDeleteProperty(dpy, injector->conn->root, injector->held_atom);
	XSync(dpy, False);
	log_info("let go of keys and buttons that an earlier run had left down");
}

static void recover(struct injector *injector)
{
	Atom type;
	int format;
	unsigned long count, rest;
	unsigned char *data = NULL;
	int status =
		XGetWindowProperty(injector->conn->dpy, injector->conn->root, injector->held_atom,
			0, 1, False, XA_CARDINAL, &type, &format, &count, &rest, &data);
	if (status == Success && type == XA_CARDINAL && format == 32 && count == 1) {
		long value;
		memcpy(&value, data, sizeof(value));
		release_leftovers(injector, (unsigned)value);
	}
	if (data != NULL)
		XFree(data);
}

/*
 * Strangers' lifted keys. The server knows only that such a key is up now, by our doing. Whether
 * its holder lets go meanwhile is told by the raw events, which come for the release of a key that
 * is up as well.
 */

/* Whether the event is one of ours: the first that bears the serial of our request, as the server
   makes it while it carries that out. */
static bool take_own_event(
	struct injector *injector, unsigned long serial, uint8_t keycode, bool is_down)
{
	while (injector->own_count > 0) {
		const struct own_event *own = &injector->own_events[injector->own_first];
		if (own->serial > serial)
			return false;
		bool is_it =
			own->serial == serial && own->keycode == keycode && own->is_down == is_down;
		/* An older one's never came: the server makes none of a modifier that is down. */
		injector->own_first = (injector->own_first + 1) % OWN_EVENTS_MAX;
		injector->own_count--;
		if (is_it)
			return true;
	}
	return false;
}

static bool is_raw_key(const struct injector *injector, const XEvent *event)
{
	return event->type == GenericEvent &&
	       event->xcookie.extension == injector->conn->xi_opcode &&
	       (event->xcookie.evtype == XI_RawKeyPress ||
		       event->xcookie.evtype == XI_RawKeyRelease);
}

static void on_event(void *arg, XEvent *event)
{
	struct injector *injector = arg;
	if (!is_raw_key(injector, event) || !XGetEventData(injector->conn->dpy, &event->xcookie))
		return;
	const XIRawEvent *raw = event->xcookie.data;
	bool is_down = raw->evtype == XI_RawKeyPress;
	if (raw->detail >= 8 && raw->detail < 256 &&
		injector->lifted[raw->detail] == LIFTED_STRANGERS &&
		!take_own_event(injector, raw->serial, (uint8_t)raw->detail, is_down))
		injector->is_let_go[raw->detail] = !is_down;
	XFreeEventData(injector->conn->dpy, &event->xcookie);
}

static Bool is_wanted(Display *dpy, XEvent *event, XPointer arg)
{
	return is_raw_key((const struct injector *)(const void *)arg, event);
}

/* All that have happened up to now; other events stay in the queue. */
static void take_raw_events(struct injector *injector)
{
	XEvent event;
	if (injector->conn->is_broken)
		return;
	XSync(injector->conn->dpy, False);
	while (!injector->conn->is_broken &&
		XCheckIfEvent(injector->conn->dpy, &event, is_wanted, (XPointer)injector))
		on_event(injector, &event);
}

static int find_master_keyboard(struct injector *injector)
{
	int major = 2, minor = 2, count = 0, found = -1;
	if (injector->conn->xi_opcode == 0 ||
		XIQueryVersion(injector->conn->dpy, &major, &minor) != Success)
		return -1;
	XIDeviceInfo *devices = XIQueryDevice(injector->conn->dpy, XIAllMasterDevices, &count);
	for (int i = 0; devices != NULL && i < count; i++) {
		if (devices[i].use == XIMasterKeyboard && found < 0)
			found = devices[i].deviceid;
	}
	if (devices != NULL)
		XIFreeDeviceInfo(devices);
	return found;
}

/* By the device's own id: live_source selects for all masters, which is a mask of its own. */
static void select_raw_keys(struct injector *injector, bool is_on)
{
	if (injector->master_keyboard == 0)
		injector->master_keyboard = find_master_keyboard(injector);
	if (injector->master_keyboard < 0 || injector->conn->is_broken)
		return;
	unsigned char bits[XIMaskLen(XI_LASTEVENT)] = {0};
	if (is_on) {
		XISetMask(bits, XI_RawKeyPress);
		XISetMask(bits, XI_RawKeyRelease);
	}
	XIEventMask mask = {
		.deviceid = injector->master_keyboard, .mask_len = sizeof(bits), .mask = bits};
	XISelectEvents(injector->conn->dpy, injector->conn->root, &mask, 1);
}

static void set_lifted(struct injector *injector, uint8_t keycode, enum lifted lifted)
{
	bool was_strangers = injector->lifted[keycode] == LIFTED_STRANGERS;
	bool is_strangers = lifted == LIFTED_STRANGERS;
	injector->lifted[keycode] = (uint8_t)lifted;
	injector->is_let_go[keycode] = false;
	if (was_strangers == is_strangers || injector->conn->is_broken)
		return;
	injector->strangers_count += is_strangers ? 1 : -1;
	if (injector->strangers_count == (is_strangers ? 1 : 0)) {
		injector->own_count = 0;
		select_raw_keys(injector, is_strangers);
	}
}

static void on_cap(void *arg);

struct injector *injector_create(struct xconn *conn)
{
	struct injector *injector = xcalloc(1, sizeof(*injector));
	injector->conn = conn;
	injector->cap_timer = loop_timer_create(conn->loop, on_cap, injector);
	injector->held_atom = XInternAtom(conn->dpy, "_BOXSCREEN_HELD", False);
	injector->listener = (struct xconn_listener){.on_event = on_event, .arg = injector};
	xconn_listen(conn, &injector->listener);
	if (!conn->is_broken)
		recover(injector);
	return injector;
}

void injector_destroy(struct injector *injector)
{
	if (injector == NULL)
		return;
	injector_release_all(injector);
	injector_allow_auto_repeat(injector, true);
	loop_timer_destroy(injector->cap_timer);
	xconn_unlisten(&injector->listener);
	if (!injector->conn->is_broken) {
		XDeleteProperty(injector->conn->dpy, injector->conn->root, injector->held_atom);
		XFlush(injector->conn->dpy);
	}
	free(injector);
}

static int find_held(const struct injector *injector, int source, uint8_t code, bool is_button)
{
	for (int i = 0; i < injector->held_count; i++) {
		const struct held *held = &injector->held[i];
		if (held->code == code && held->is_button == is_button &&
			(source < 0 || held->source == source))
			return i;
	}
	return -1;
}

static bool add_held(struct injector *injector, uint8_t source, uint8_t code, bool is_button)
{
	if (find_held(injector, source, code, is_button) >= 0 || injector->held_count == HELD_MAX)
		return false;
	injector->held[injector->held_count++] =
		(struct held){source, code, is_button, clock_monotonic_us()};
	if (source == INPUT_SOURCE_AGENT && !loop_timer_is_armed(injector->cap_timer))
		loop_timer_arm(injector->cap_timer, INJECTOR_AGENT_HOLD_MAX_MS);
	mark(injector);
	return true;
}

static void forget_held(struct injector *injector, int index)
{
	injector->held_count--;
	memmove(&injector->held[index], &injector->held[index + 1],
		(size_t)(injector->held_count - index) * sizeof(injector->held[0]));
}

/* Takes one record away and, when it was the last for its key or button, lets that up. */
static void release_at(struct injector *injector, int index)
{
	struct held held = injector->held[index];
	forget_held(injector, index);
	if (find_held(injector, -1, held.code, held.is_button) >= 0)
		return;
	if (held.is_button)
		fake_button(injector, held.code, false);
	else if (injector->lifted[held.code] == NOT_LIFTED)
		fake_key(injector, held.code, false);
	else
		set_lifted(injector, held.code, NOT_LIFTED); /* up already, and to stay up */
}

/* An agent that presses and never releases (a chain that ends with keydown) does not go on for
 * ever. */
static void on_cap(void *arg)
{
	struct injector *injector = arg;
	int64_t now_us = clock_monotonic_us(), next_us = INT64_MAX;
	for (int i = injector->held_count - 1; i >= 0; i--) {
		const struct held *held = &injector->held[i];
		int64_t end_us = held->since_us + (int64_t)INJECTOR_AGENT_HOLD_MAX_MS * 1000;
		if (held->source != INPUT_SOURCE_AGENT)
			continue;
		if (end_us > now_us) {
			next_us = end_us < next_us ? end_us : next_us;
			continue;
		}
		log_info("let go of a %s that was held for too long",
			held->is_button ? "button" : "key");
		release_at(injector, i);
	}
	if (next_us != INT64_MAX)
		loop_timer_arm(injector->cap_timer, (next_us - now_us) / 1000 + 1);
}

void injector_key(struct injector *injector, uint8_t source, uint8_t keycode, bool is_down)
{
	if (keycode < 8)
		return;
	if (!is_down) {
		int index = find_held(injector, source, keycode, false);
		if (index >= 0)
			release_at(injector, index);
		return;
	}
	bool was_held = find_held(injector, -1, keycode, false) >= 0;
	if (add_held(injector, source, keycode, false) && !was_held)
		fake_key(injector, keycode, true);
}

void injector_repeat_key(struct injector *injector, uint8_t source, uint8_t keycode)
{
	if (find_held(injector, source, keycode, false) < 0 ||
		injector->lifted[keycode] != NOT_LIFTED)
		return;
	fake_key(injector, keycode, false);
	fake_key(injector, keycode, true);
}

void injector_tap(struct injector *injector, uint8_t keycode)
{
	mark(injector);
	fake_key(injector, keycode, true);
	fake_key(injector, keycode, false);
}

void injector_set_deeds(struct injector *injector, const struct deeds *deeds)
{
	injector->deeds = deeds;
}

void injector_button(struct injector *injector, uint8_t source, int button, bool is_down)
{
	if (button < 1 || button > INJECTOR_BUTTON_MAX)
		return;
	uint8_t code = (uint8_t)button;
	if (!is_down) {
		int index = find_held(injector, source, code, true);
		if (index >= 0)
			release_at(injector, index);
		return;
	}
	bool was_held = find_held(injector, -1, code, true) >= 0;
	if (add_held(injector, source, code, true) && !was_held) {
		injector->press_count++;
		fake_button(injector, button, true);
		if (source == INPUT_SOURCE_AGENT)
			deeds_tell_click(injector->deeds);
	}
}

unsigned injector_press_count(const struct injector *injector)
{
	return injector->press_count;
}

static int clamp(int value, int min, int max)
{
	return value < min ? min : value > max ? max : value;
}

void injector_move(struct injector *injector, int x_root, int y_root)
{
	if (!injector->conn->is_broken)
		XTestFakeMotionEvent(injector->conn->dpy, injector->conn->screen,
			clamp(x_root, 0, COORDINATE_MAX), clamp(y_root, 0, COORDINATE_MAX),
			CurrentTime);
}

void injector_move_by(struct injector *injector, int dx, int dy)
{
	if (!injector->conn->is_broken)
		XTestFakeRelativeMotionEvent(injector->conn->dpy,
			clamp(dx, -COORDINATE_MAX, COORDINATE_MAX),
			clamp(dy, -COORDINATE_MAX, COORDINATE_MAX), CurrentTime);
}

static void turn(struct injector *injector, int steps, int back_button)
{
	int button = steps > 0 ? back_button + 1 : back_button;
	mark(injector);
	for (int i = clamp(abs(clamp(steps, -WHEEL_MAX, WHEEL_MAX)), 0, WHEEL_MAX); i > 0; i--) {
		fake_button(injector, button, true);
		fake_button(injector, button, false);
	}
}

void injector_wheel(struct injector *injector, int steps_x, int steps_y)
{
	turn(injector, steps_y, 4);
	turn(injector, steps_x, 6);
}

void injector_lift(struct injector *injector, uint8_t keycode)
{
	bool is_ours = find_held(injector, -1, keycode, false) >= 0;
	if (injector->lifted[keycode] == NOT_LIFTED)
		set_lifted(injector, keycode, is_ours ? LIFTED_OURS : LIFTED_STRANGERS);
	fake_key(injector, keycode, false);
}

void injector_put_back(struct injector *injector, uint8_t keycode)
{
	bool is_strangers = injector->lifted[keycode] == LIFTED_STRANGERS;
	if (injector->lifted[keycode] == NOT_LIFTED)
		return;
	if (is_strangers)
		take_raw_events(injector);
	if (!injector->is_let_go[keycode]) {
		fake_key(injector, keycode, true);
		/* He may have let go just before that. */
		if (is_strangers)
			take_raw_events(injector);
		if (injector->is_let_go[keycode])
			fake_key(injector, keycode, false);
	}
	set_lifted(injector, keycode, NOT_LIFTED);
}

void injector_force_up(struct injector *injector, uint8_t keycode)
{
	int index;
	while ((index = find_held(injector, -1, keycode, false)) >= 0)
		forget_held(injector, index);
	set_lifted(injector, keycode, NOT_LIFTED);
	fake_key(injector, keycode, false);
}

void injector_assist_key(struct injector *injector, uint8_t keycode, bool is_down)
{
	mark(injector);
	injector->assisted[keycode] = is_down;
	fake_key(injector, keycode, is_down);
}

static void release_assisted(struct injector *injector)
{
	for (int code = 0; code < 256; code++) {
		if (injector->assisted[code])
			injector_assist_key(injector, (uint8_t)code, false);
		set_lifted(injector, (uint8_t)code, NOT_LIFTED);
	}
}

static void release_matching(struct injector *injector, int source)
{
	for (int i = injector->held_count - 1; i >= 0; i--) {
		if (source < 0 || injector->held[i].source == source)
			release_at(injector, i);
	}
}

void injector_unlock(struct injector *injector, uint8_t locks)
{
	if (injector->conn->is_broken || locks == 0)
		return;
	injector->unlocked |= locks;
	mark(injector);
	XkbLockModifiers(injector->conn->dpy, XkbUseCoreKbd, locks, 0);
}

void injector_lock_again(struct injector *injector)
{
	uint8_t locks = injector->unlocked;
	if (injector->conn->is_broken || locks == 0)
		return;
	XkbLockModifiers(injector->conn->dpy, XkbUseCoreKbd, locks, locks);
	injector->unlocked = 0;
	mark(injector);
}

void injector_release_source(struct injector *injector, uint8_t source)
{
	release_matching(injector, source);
}

void injector_release_all(struct injector *injector)
{
	release_matching(injector, -1);
	release_assisted(injector);
}

bool injector_source_holds_key(const struct injector *injector, uint8_t source, uint8_t keycode)
{
	return find_held(injector, source, keycode, false) >= 0;
}

bool injector_source_holds_button(const struct injector *injector, uint8_t source)
{
	for (int i = 0; i < injector->held_count; i++) {
		if (injector->held[i].source == source && injector->held[i].is_button)
			return true;
	}
	return false;
}

bool injector_is_key_held(const struct injector *injector, uint8_t keycode)
{
	return find_held(injector, -1, keycode, false) >= 0;
}

bool injector_is_anything_held(const struct injector *injector)
{
	return injector->held_count > 0;
}

void injector_allow_auto_repeat(struct injector *injector, bool is_allowed)
{
	Display *dpy = injector->conn->dpy;
	if (injector->conn->is_broken)
		return;
	if (is_allowed && injector->is_repeat_off) {
		XAutoRepeatOn(dpy);
		injector->is_repeat_off = false;
		mark(injector);
	} else if (!is_allowed && !injector->is_repeat_off) {
		XKeyboardState state;
		XGetKeyboardControl(dpy, &state);
		if (state.global_auto_repeat != AutoRepeatModeOn)
			return;
		injector->is_repeat_off = true;
		mark(injector);
		XAutoRepeatOff(dpy);
	}
}
