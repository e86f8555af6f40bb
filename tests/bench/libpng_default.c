/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpng_default IN.png: how many bytes libpng makes of the picture with all settings as they come
 * (RGB, its default filters and compression level), for tests/bench/shot to compare with.
 */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

static void count_bytes(png_structp png, png_bytep data, size_t len)
{
	(void)data;
	*(size_t *)png_get_io_ptr(png) += len;
}

static void no_flush(png_structp png)
{
	(void)png;
}

int main(int argc, char **argv)
{
	png_image image = {.version = PNG_IMAGE_VERSION};
	if (argc != 2 || !png_image_begin_read_from_file(&image, argv[1])) {
		fprintf(stderr, "libpng_default: %s\n", argc == 2 ? image.message : "which file?");
		return 1;
	}
	image.format = PNG_FORMAT_RGB;
	png_bytep pixels = malloc(PNG_IMAGE_SIZE(image));
	if (pixels == NULL || !png_image_finish_read(&image, NULL, pixels, 0, NULL))
		return 1;
	size_t bytes = 0;
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	png_set_write_fn(png, &bytes, count_bytes, no_flush);
	png_set_IHDR(png, info, image.width, image.height, 8, PNG_COLOR_TYPE_RGB,
		PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_write_info(png, info);
	for (png_uint_32 y = 0; y < image.height; y++)
		png_write_row(png, pixels + (size_t)y * PNG_IMAGE_ROW_STRIDE(image));
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	free(pixels);
	printf("%zu\n", bytes);
	return 0;
}
