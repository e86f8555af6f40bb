/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small X client for tests: puts known pixels on a screen.
 *   xhelper pattern [SEED]                  covers the screen with a pattern of all sorts of pixels
 *   xhelper window X Y W H RRGGBB           a plain window of one colour
 *   xhelper argb X Y W H AARRGGBB           the same on a 32-bit visual
 *   xhelper blink X Y W H MS                a window that changes its colour every MS milliseconds
 *   xhelper recolour X Y W H                one that takes a new colour at each line of input, and
 *                                           answers with a line (TrueColor screens)
 *   xhelper colours X Y W H                 the same with the colours it reads: RRGGBB a line
 *   xhelper picture FILE                    covers the screen with a picture (PPM, P6)
 *   xhelper cursor SIZE HOT_X HOT_Y RRGGBB  gives the root window a solid square cursor, and stays
 *   xhelper warp X Y                        moves the pointer there
 * The ones that show something print "window ID" once it is there and stay until they are ended.
 */
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Display *dpy;

static void fail(const char *what)
{
	fprintf(stderr, "xhelper: %s\n", what);
	exit(1);
}

static unsigned next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static bool try_colour(Colormap colormap, unsigned rgb, unsigned long *pixel)
{
	XColor colour = {
		.red = (unsigned short)((rgb >> 16 & 255) * 257),
		.green = (unsigned short)((rgb >> 8 & 255) * 257),
		.blue = (unsigned short)((rgb & 255) * 257),
	};
	if (!XAllocColor(dpy, colormap, &colour))
		return false;
	*pixel = colour.pixel;
	return true;
}

static unsigned long alloc_colour(Colormap colormap, unsigned rgb)
{
	unsigned long pixel;
	if (!try_colour(colormap, rgb, &pixel))
		fail("no colour to be had");
	return pixel;
}

static Window make_window(int x, int y, int w, int h, XVisualInfo *visual, unsigned long pixel)
{
	XSetWindowAttributes attributes = {
		.override_redirect = True,
		.background_pixel = pixel,
		.border_pixel = 0,
		.event_mask = ExposureMask | VisibilityChangeMask,
		.colormap = XCreateColormap(dpy, DefaultRootWindow(dpy), visual->visual, AllocNone),
	};
	if (visual->visual == DefaultVisual(dpy, DefaultScreen(dpy)))
		attributes.colormap = DefaultColormap(dpy, DefaultScreen(dpy));
	return XCreateWindow(dpy, DefaultRootWindow(dpy), x, y, (unsigned)w, (unsigned)h, 0,
		visual->depth, InputOutput, visual->visual,
		CWOverrideRedirect | CWBackPixel | CWBorderPixel | CWEventMask | CWColormap,
		&attributes);
}

static void show(Window window)
{
	XMapRaised(dpy, window);
	XEvent event;
	do {
		XNextEvent(dpy, &event);
	} while (event.type != Expose);
	XSync(dpy, False);
}

static void announce(Window window)
{
	XSync(dpy, False);
	printf("window %lu\n", window);
	fflush(stdout);
}

static void stay(void)
{
	for (;;) {
		XEvent event;
		XNextEvent(dpy, &event);
	}
}

static XVisualInfo default_visual(void)
{
	int screen = DefaultScreen(dpy);
	return (XVisualInfo){
		.visual = DefaultVisual(dpy, screen),
		.depth = DefaultDepth(dpy, screen),
	};
}

/* Colours that the pattern is made of where pixels are looked up in a colormap. */
struct palette {
	unsigned long pixels[200];
	unsigned count;
};

/* As many as the colormap still has room for. */
static struct palette make_palette(unsigned *state)
{
	struct palette palette = {.count = 0};
	Colormap colormap = DefaultColormap(dpy, DefaultScreen(dpy));
	while (palette.count < sizeof(palette.pixels) / sizeof(palette.pixels[0]) &&
		try_colour(colormap, next_random(state), &palette.pixels[palette.count]))
		palette.count++;
	if (palette.count < 8)
		fail("no colours to be had");
	return palette;
}

static unsigned long pattern_pixel(int x, int y, unsigned *state, const struct palette *palette)
{
	/* Flat areas, gradients and noise, in squares. */
	unsigned kind = (unsigned)(x / 64 + y / 64) % 3;
	unsigned value = kind == 0   ? (unsigned)(x / 64 * 7919 + y / 64 * 104729)
			 : kind == 1 ? (unsigned)(x * 5 + y * 3)
				     : next_random(state);
	if (palette != NULL)
		return palette->pixels[value % palette->count];
	return value * 2654435761u;
}

static void show_image(Window window, XImage *image)
{
	show(window);
	XPutImage(dpy, window, XCreateGC(dpy, window, 0, NULL), image, 0, 0, 0, 0,
		(unsigned)image->width, (unsigned)image->height);
	announce(window);
	stay();
}

static void run_pattern(int argc, char **argv)
{
	unsigned state = argc > 0 ? (unsigned)atoi(argv[0]) : 1;
	int screen = DefaultScreen(dpy);
	int w = DisplayWidth(dpy, screen), h = DisplayHeight(dpy, screen);
	XVisualInfo visual = default_visual();
	bool has_palette = visual.depth <= 8;
	struct palette palette = has_palette ? make_palette(&state) : (struct palette){.count = 0};
	Window window = make_window(0, 0, w, h, &visual, 0);
	XImage *image = XCreateImage(dpy, visual.visual, (unsigned)visual.depth, ZPixmap, 0, NULL,
		(unsigned)w, (unsigned)h, 32, 0);
	if (image == NULL ||
		(image->data = malloc((size_t)image->bytes_per_line * (size_t)h)) == NULL)
		fail("no memory");
	unsigned long mask = visual.depth < 32 ? (1UL << visual.depth) - 1 : 0xffffffffUL;
	for (int y = 0; y < h; y++) {
		for (int x = 0; x < w; x++)
			XPutPixel(image, x, y,
				pattern_pixel(x, y, &state, has_palette ? &palette : NULL) & mask);
	}
	show_image(window, image);
}

static void run_window(int argc, char **argv)
{
	if (argc != 5)
		fail("window X Y W H RRGGBB");
	XVisualInfo visual = default_visual();
	unsigned long pixel = alloc_colour(
		DefaultColormap(dpy, DefaultScreen(dpy)), (unsigned)strtoul(argv[4], NULL, 16));
	Window window = make_window(
		atoi(argv[0]), atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), &visual, pixel);
	show(window);
	announce(window);
	stay();
}

static void run_argb(int argc, char **argv)
{
	if (argc != 5)
		fail("argb X Y W H AARRGGBB");
	XVisualInfo visual;
	if (!XMatchVisualInfo(dpy, DefaultScreen(dpy), 32, TrueColor, &visual))
		fail("the screen has no 32-bit visual");
	Window window = make_window(atoi(argv[0]), atoi(argv[1]), atoi(argv[2]), atoi(argv[3]),
		&visual, strtoul(argv[4], NULL, 16));
	show(window);
	announce(window);
	stay();
}

static void run_blink(int argc, char **argv)
{
	if (argc != 5)
		fail("blink X Y W H MS");
	int screen = DefaultScreen(dpy);
	XVisualInfo visual = default_visual();
	const unsigned long pixels[] = {BlackPixel(dpy, screen), WhitePixel(dpy, screen)};
	Window window = make_window(
		atoi(argv[0]), atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), &visual, pixels[0]);
	show(window);
	announce(window);
	for (unsigned turn = 1;; turn++) {
		usleep((useconds_t)atoi(argv[4]) * 1000);
		XSetWindowBackground(dpy, window, pixels[turn % 2]);
		XClearWindow(dpy, window);
		XSync(dpy, False);
	}
}

static void run_colours(int argc, char **argv)
{
	if (argc != 4)
		fail("colours X Y W H");
	XVisualInfo visual = default_visual();
	Window window =
		make_window(atoi(argv[0]), atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), &visual, 0);
	show(window);
	announce(window);
	char line[16];
	while (fgets(line, sizeof(line), stdin) != NULL) {
		XSetWindowBackground(dpy, window, strtoul(line, NULL, 16));
		XClearWindow(dpy, window);
		XSync(dpy, True);
		puts("done");
		fflush(stdout);
	}
}

static void run_recolour(int argc, char **argv)
{
	if (argc != 4)
		fail("recolour X Y W H");
	XVisualInfo visual = default_visual();
	Window window =
		make_window(atoi(argv[0]), atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), &visual, 0);
	show(window);
	announce(window);
	char line[16];
	for (unsigned turn = 1; fgets(line, sizeof(line), stdin) != NULL; turn++) {
		XRaiseWindow(dpy, window);
		XSetWindowBackground(dpy, window, turn * 0x010305u & 0xffffffu);
		XClearWindow(dpy, window);
		XSync(dpy, True);
		puts("done");
		fflush(stdout);
	}
}

static void run_picture(int argc, char **argv)
{
	int w = 0, h = 0;
	FILE *file = argc == 1 ? fopen(argv[0], "rb") : NULL;
	if (file == NULL || fscanf(file, "P6 %5d %5d 255", &w, &h) != 2 || fgetc(file) == EOF)
		fail("picture FILE, a P6 PPM");
	XVisualInfo visual = default_visual();
	XImage *image = XCreateImage(dpy, visual.visual, (unsigned)visual.depth, ZPixmap, 0,
		malloc((size_t)w * (size_t)h * 4), (unsigned)w, (unsigned)h, 32, 0);
	if (image == NULL || image->data == NULL || image->bits_per_pixel != 32)
		fail("no memory, or not 32 bits a pixel");
	unsigned char rgb[3];
	for (int i = 0; i < w * h && fread(rgb, 3, 1, file) == 1; i++)
		XPutPixel(image, i % w, i / w,
			(unsigned long)rgb[0] << 16 | (unsigned long)rgb[1] << 8 | rgb[2]);
	fclose(file);
	show_image(make_window(0, 0, w, h, &visual, 0), image);
}

static void run_cursor(int argc, char **argv)
{
	if (argc != 4)
		fail("cursor SIZE HOT_X HOT_Y RRGGBB");
	int size = atoi(argv[0]);
	Window root = DefaultRootWindow(dpy);
	Pixmap shape = XCreatePixmap(dpy, root, (unsigned)size, (unsigned)size, 1);
	GC gc = XCreateGC(dpy, shape, 0, NULL);
	XSetForeground(dpy, gc, 1);
	XFillRectangle(dpy, shape, gc, 0, 0, (unsigned)size, (unsigned)size);
	unsigned rgb = (unsigned)strtoul(argv[3], NULL, 16);
	XColor colour = {
		.red = (unsigned short)((rgb >> 16 & 255) * 257),
		.green = (unsigned short)((rgb >> 8 & 255) * 257),
		.blue = (unsigned short)((rgb & 255) * 257),
	};
	XDefineCursor(dpy, root,
		XCreatePixmapCursor(dpy, shape, shape, &colour, &colour, (unsigned)atoi(argv[1]),
			(unsigned)atoi(argv[2])));
	announce(root);
	stay();
}

static void run_warp(int argc, char **argv)
{
	if (argc != 2)
		fail("warp X Y");
	XWarpPointer(dpy, None, DefaultRootWindow(dpy), 0, 0, 0, 0, atoi(argv[0]), atoi(argv[1]));
	XSync(dpy, False);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int argc, char **argv);
	} commands[] = {{"pattern", run_pattern}, {"window", run_window}, {"argb", run_argb},
		{"blink", run_blink}, {"recolour", run_recolour}, {"colours", run_colours}, {"picture", run_picture},
		{"cursor", run_cursor}, {"warp", run_warp}};
	dpy = XOpenDisplay(NULL);
	if (dpy == NULL)
		fail("no display");
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) == 0) {
			commands[i].run(argc - 2, argv + 2);
			return 0;
		}
	}
	fail("which command? see the top of xhelper.c");
	return 1;
}
