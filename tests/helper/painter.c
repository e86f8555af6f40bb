/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Workloads for measuring live screens:
 *   painter animation X Y W H FPS  a window in which everything moves, like a video
 *   painter flip X Y W H           a window that changes its colour at each key press
 * Prints "window ID" once it is there and stays until it is ended.
 */
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 24

static Display *dpy;

static Window make_window(int x, int y, unsigned w, unsigned h)
{
	XSetWindowAttributes attributes = {
		.override_redirect = True, .event_mask = KeyPressMask | ExposureMask};
	Window window = XCreateWindow(dpy, DefaultRootWindow(dpy), x, y, w, h, 0, CopyFromParent,
		InputOutput, CopyFromParent, CWOverrideRedirect | CWEventMask, &attributes);
	XEvent event;
	XMapRaised(dpy, window);
	XWindowEvent(dpy, window, ExposureMask, &event);
	return window;
}

static void announce(Window window)
{
	XSync(dpy, False);
	printf("window %lu\n", window);
	fflush(stdout);
}

/* Waves of colour, grain as a camera makes it, and discs that move across. */
static void draw_frame(uint32_t *pixels, int w, int h, int number)
{
	double turn = 2 * M_PI * number / FRAMES;
	unsigned grain = 12345;
	for (int y = 0; y < h; y++) {
		for (int x = 0; x < w; x++) {
			grain = grain * 1664525u + 1013904223u;
			double a = sin(x * 0.011 + turn) + cos(y * 0.013 - turn);
			double b = sin((x + y) * 0.007 - 2 * turn);
			int noise = (int)(grain >> 29);
			int r = (int)(128 + 55 * a) + noise, g = (int)(128 + 90 * b) + noise;
			int blue = (int)(128 + 40 * (a - b)) + noise;
			pixels[y * w + x] = (uint32_t)r << 16 | (uint32_t)g << 8 | (uint32_t)blue;
		}
	}
	for (int disc = 0; disc < 6; disc++) {
		int cx = (int)(w * (0.5 + 0.4 * cos(turn + disc)));
		int cy = (int)(h * (0.5 + 0.4 * sin(turn + disc * 2)));
		int radius = (w < h ? w : h) / 12;
		for (int y = -radius; y <= radius; y++) {
			for (int x = -radius; x <= radius; x++) {
				if (x * x + y * y <= radius * radius && cx + x >= 0 && cx + x < w &&
					cy + y >= 0 && cy + y < h)
					pixels[(cy + y) * w + cx + x] = 0xffffff >> (disc * 3);
			}
		}
	}
}

__attribute__((noreturn)) static void run_animation(char **args)
{
	int x = atoi(args[0]), y = atoi(args[1]), w = atoi(args[2]), h = atoi(args[3]);
	double fps = atof(args[4]);
	int screen = DefaultScreen(dpy), depth = DefaultDepth(dpy, screen);
	uint32_t *pixels = malloc((size_t)w * (size_t)h * 4);
	Pixmap frames[FRAMES];
	GC gc = DefaultGC(dpy, screen);
	XImage *image = XCreateImage(dpy, DefaultVisual(dpy, screen), (unsigned)depth, ZPixmap, 0,
		(char *)pixels, (unsigned)w, (unsigned)h, 32, 0);
	for (int i = 0; i < FRAMES; i++) {
		draw_frame(pixels, w, h, i);
		frames[i] = XCreatePixmap(
			dpy, DefaultRootWindow(dpy), (unsigned)w, (unsigned)h, (unsigned)depth);
		XPutImage(dpy, frames[i], gc, image, 0, 0, 0, 0, (unsigned)w, (unsigned)h);
	}
	Window window = make_window(x, y, (unsigned)w, (unsigned)h);
	announce(window);
	struct timespec due;
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (unsigned i = 0;; i++) {
		XCopyArea(dpy, frames[i % FRAMES], window, gc, 0, 0, (unsigned)w, (unsigned)h, 0, 0);
		XSync(dpy, False);
		due.tv_nsec += (long)(1e9 / fps);
		if (due.tv_nsec >= 1000000000) {
			due.tv_sec++;
			due.tv_nsec -= 1000000000;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
}

__attribute__((noreturn)) static void run_flip(char **args)
{
	int w = atoi(args[2]), h = atoi(args[3]);
	Window window = make_window(atoi(args[0]), atoi(args[1]), (unsigned)w, (unsigned)h);
	GC gc = XCreateGC(dpy, window, 0, NULL);
	XSetInputFocus(dpy, window, RevertToPointerRoot, CurrentTime);
	XSetForeground(dpy, gc, 0xffffff);
	XFillRectangle(dpy, window, gc, 0, 0, (unsigned)w, (unsigned)h);
	announce(window);
	for (unsigned count = 1;;) {
		XEvent event;
		XNextEvent(dpy, &event);
		if (event.type != KeyPress)
			continue;
		XSetForeground(dpy, gc, count++ % 2 != 0 ? 0x000000 : 0xffffff);
		XFillRectangle(dpy, window, gc, 0, 0, (unsigned)w, (unsigned)h);
		XFlush(dpy);
	}
}

int main(int argc, char **argv)
{
	dpy = XOpenDisplay(NULL);
	if (dpy == NULL)
		return 1;
	if (argc == 7 && strcmp(argv[1], "animation") == 0)
		run_animation(argv + 2);
	if (argc == 6 && strcmp(argv[1], "flip") == 0)
		run_flip(argv + 2);
	fprintf(stderr, "usage: painter animation X Y W H FPS | flip X Y W H\n");
	return 2;
}
