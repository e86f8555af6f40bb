/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/text.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include FT_FREETYPE_H

#include "base/utf8.h"
#include "capture/picture.h"
#define LOG_MODULE "text"
#include "base/log.h"

/* One face for the process, looked for at the first line; guarded by lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FT_Library library;
static FT_Face face;
static int has_looked;

static void load_face(const char *path, int index)
{
	if (FT_Init_FreeType(&library) == 0 && FT_New_Face(library, path, index, &face) != 0)
		face = NULL;
}

static FT_Face find_face(void)
{
	if (has_looked)
		return face;
	has_looked = 1;
	FcPattern *wanted = FcNameParse((const FcChar8 *)"sans:weight=bold");
	FcConfig *config = FcInitLoadConfigAndFonts();
	FcResult result;
	FcConfigSubstitute(config, wanted, FcMatchPattern);
	FcDefaultSubstitute(wanted);
	FcPattern *found = FcFontMatch(config, wanted, &result);
	FcChar8 *path = NULL;
	int index = 0;
	if (found != NULL && FcPatternGetString(found, FC_FILE, 0, &path) == FcResultMatch) {
		FcPatternGetInteger(found, FC_INDEX, 0, &index);
		load_face((const char *)path, index);
	}
	if (face == NULL)
		log_warn("there is no font for texts in recordings; install fonts-dejavu-core");
	if (found != NULL)
		FcPatternDestroy(found);
	FcPatternDestroy(wanted);
	FcConfigDestroy(config);
	FcFini();
	return face;
}

static void draw_glyph(struct picture *picture, int x, int y, const FT_Bitmap *bitmap, uint32_t rgb)
{
	for (int row = 0; row < (int)bitmap->rows; row++) {
		int at_y = y + row;
		if (at_y < 0 || at_y >= picture->height)
			continue;
		const uint8_t *cover = bitmap->buffer + (ptrdiff_t)row * bitmap->pitch;
		uint8_t *line = picture->data + (ptrdiff_t)at_y * picture->stride;
		for (int column = 0; column < (int)bitmap->width; column++) {
			int at_x = x + column;
			if (at_x < 0 || at_x >= picture->width)
				continue;
			for (int c = 0; c < 3; c++) {
				int ink = (int)(rgb >> (8 * c) & 0xff), old = line[at_x * 4 + c];
				line[at_x * 4 + c] =
					(uint8_t)(old + (ink - old) * cover[column] / 255);
			}
		}
	}
}

/* Walks the line, draws it where there is a picture, and returns its width. */
static int walk(struct picture *picture, int x, int baseline, int size, uint32_t rgb, const char *text)
{
	int start = x;
	size_t len = strlen(text), used;
	pthread_mutex_lock(&lock);
	FT_Face font = find_face();
	if (font != NULL)
		FT_Set_Pixel_Sizes(font, 0, (FT_UInt)size);
	for (uint32_t code_point; font != NULL && (used = utf8_decode(text, len, &code_point)) > 0;) {
		text += used;
		len -= used;
		if (FT_Load_Char(font, code_point, picture != NULL ? FT_LOAD_RENDER : FT_LOAD_DEFAULT) != 0)
			continue;
		if (picture != NULL)
			draw_glyph(picture, x + font->glyph->bitmap_left,
				baseline - font->glyph->bitmap_top, &font->glyph->bitmap, rgb);
		x += (int)(font->glyph->advance.x >> 6);
	}
	pthread_mutex_unlock(&lock);
	return x - start;
}

int text_width(const char *text, int size)
{
	return walk(NULL, 0, 0, size, 0, text);
}

void text_draw(struct picture *picture, int x, int baseline, int size, uint32_t rgb, const char *text)
{
	walk(picture, x, baseline, size, rgb, text);
}
