/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clicks, waits until the screen is quiet, and saves what it shows then:
 *
 *     cc look.c -o look $(pkg-config --cflags --libs boxscreen)
 *     ./look 300 200 screen.png
 */
#include <boxscreen.h>
#include <stdio.h>
#include <stdlib.h>

/* Says what went wrong, if anything did. */
static int judge(const char *what, int ret, const struct boxscreen_answer *answer)
{
	const char *message, *code;

	if (ret < 0) {
		fprintf(stderr, "%s: %s\n", what, boxscreen_strerror(ret));
		return -1;
	}
	code = boxscreen_answer_error(answer, &message);
	if (code != NULL) {
		fprintf(stderr, "%s: %s (%s)\n", what, message, code);
		return -1;
	}
	return 0;
}

static int click(const struct boxscreen *screen, int x, int y)
{
	char json[200];
	struct boxscreen_answer *answer;
	int ret;

	snprintf(json, sizeof(json),
		"{\"actions\":[{\"type\":\"click\",\"x\":%d,\"y\":%d}],\"settle\":{}}", x, y);
	ret = boxscreen_post(screen, "/v1/act", json, &answer);
	ret = judge("click", ret, answer);
	if (ret == 0)
		printf("%s", boxscreen_answer_body(answer, NULL)); /* for a JSON library */
	boxscreen_answer_free(answer);
	return ret;
}

static int save(const struct boxscreen *screen, const char *path)
{
	struct boxscreen_answer *answer;
	int ret = boxscreen_get(screen, "/v1/shot?max_side=1568", &answer);

	ret = judge("shot", ret, answer);
	if (ret == 0) {
		size_t len;
		const char *picture = boxscreen_answer_body(answer, &len);
		FILE *file = fopen(path, "wb");
		size_t written = file != NULL ? fwrite(picture, 1, len, file) : 0;

		if (file == NULL || fclose(file) != 0 || written != len) {
			perror(path);
			ret = -1;
		} else {
			printf("%s: %s is the picture's scale\n", path,
				boxscreen_answer_header(answer, "X-Shot-Scale"));
		}
	}
	boxscreen_answer_free(answer);
	return ret;
}

int main(int argc, char **argv)
{
	struct boxscreen *screen;
	int ret;

	if (argc != 4) {
		fprintf(stderr, "usage: look X Y FILE.png\n");
		return 2;
	}
	ret = boxscreen_open(NULL, &screen);
	if (ret < 0) {
		fprintf(stderr, "%s\n", boxscreen_strerror(ret));
		return EXIT_FAILURE;
	}
	ret = click(screen, atoi(argv[1]), atoi(argv[2]));
	if (ret == 0)
		ret = save(screen, argv[3]);
	boxscreen_close(screen);
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
