// SPDX-License-Identifier: GPL-2.0-or-later
//
// libboxscreen as another program gets it: installed, found by pkg-config, compiled against, run.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { boxTest, build, kind, root } from './harness.mjs';
import { readPng } from './png.mjs';

const header = path.join(root, 'client/boxscreen.h');
const sanitize = { asan: ['-fsanitize=address,undefined'], tsan: ['-fsanitize=thread'] }[kind] || [];
const strict = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Wstrict-prototypes', '-Werror'];

/** Installs the build into the box's folder; resolves to what finds it there. */
async function install(box) {
  const place = box.file('root');
  await box.ok('meson', ['install', '-C', build, '--no-rebuild', '--quiet', '--destdir', place],
    { timeoutMs: 60000 });
  const files = fs.readdirSync(place, { recursive: true });
  const folderOf = (name) => path.dirname(path.join(place, files.find((file) => file.endsWith(name))));
  return {
    files,
    env: {
      PKG_CONFIG_PATH: folderOf('pkgconfig/boxscreen.pc'),
      PKG_CONFIG_SYSROOT_DIR: place,
      LD_LIBRARY_PATH: folderOf('libboxscreen.so'),
    },
  };
}

/** Compiles a C program as one would; resolves to its path. */
async function compile(box, env, source) {
  const program = box.file(path.basename(source, '.c'));
  const flags = await box.ok('pkg-config', ['--cflags', '--libs', 'boxscreen'], { env });
  await box.ok('cc', [...strict, ...sanitize, source, '-o', program, ...flags.trim().split(/\s+/)],
    { env });
  return program;
}

boxTest('what is installed can be compiled against, and the example works', async (box) => {
  const { env, files } = await install(box);
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  const program = await compile(box, env, path.join(root, 'docs/examples/look.c'));
  const run = (args, more) => box.run(program, args, { env: { ...env, ...daemon.env, ...more } });

  const done = await run(['100', '120', box.file('after.png')]);
  assert.equal(done.status, 0, done.stderr);
  const answer = JSON.parse(done.stdout.toString().split('\n')[0]);
  assert.equal(answer.done, 1);
  const picture = readPng(fs.readFileSync(box.file('after.png')));
  assert.deepEqual([picture.width, picture.height], [320, 240]);
  const pointer = await daemon.json('POST', '/v1/act', { body: { actions: [{ type: 'cursor_position' }] } });
  assert.deepEqual([pointer.results[0].x, pointer.results[0].y], [100, 120]);

  // The daemon's errors and the socket's, each as a sentence.
  const outside = await run(['1000', '1', box.file('no.png')]);
  assert.equal(outside.status, 1);
  assert.match(outside.stderr, /^click: actions\[0\].*outside the 320x240 picture \(bad_request\)/);
  const nowhere = await run(['1', '1', box.file('no.png')], { BOXSCREEN_SOCKET: box.file('none') });
  assert.match(nowhere.stderr, /^click: no boxscreend answers on the socket: start one/);
  assert(!fs.existsSync(box.file('no.png')));

  assert(files.some((file) => file.endsWith('man3/libboxscreen.3')), 'the man page is installed');
});

boxTest('only the header\'s names are to be seen, under their version and soname', async (box) => {
  const library = path.join(build, 'client/libboxscreen.so');
  const declared = [...fs.readFileSync(header, 'utf8').matchAll(/^BOXSCREEN_API [^;(]*?(boxscreen_\w+)\(/gm)]
    .map((match) => match[1]);
  const shown = (await box.ok('nm', ['-D', '--defined-only', library])).trim().split('\n')
    .map((line) => line.split(' ').at(-1)).filter((name) => name.includes('@@BOXSCREEN_0'));
  assert(declared.length > 15);
  assert.deepEqual(shown.map((name) => name.split('@')[0]).sort(), declared.sort());
  const all = (await box.ok('nm', ['-D', '--defined-only', library])).trim().split('\n');
  assert.equal(all.length, shown.length + 1, 'nothing else, but the version itself');
  assert.match(await box.ok('objdump', ['-p', library]), /SONAME +libboxscreen\.so\.0\n/);
});

boxTest('the header is good for old C and for C++', async (box) => {
  await box.ok('cc', [...strict, '-std=c90', '-fsyntax-only', '-x', 'c', header]);
  await box.ok('clang', ['-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-x', 'c++', header]);
});

const other = `
#define _POSIX_C_SOURCE 200809L
#include <boxscreen.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int fds[2];
static int cancel(void *arg, const struct boxscreen_event *event)
{
	(void)event;
	++*(int *)arg;
	return write(fds[1], "x", 1) != 1;
}
static int count(void *arg, const void *data, size_t len) { (void)data; *(size_t *)arg += len; return 0; }
static int refuse(void *arg, const void *data, size_t len) { (void)arg; (void)data; (void)len; return 1; }
static int on_event(void *arg, const struct boxscreen_event *event)
{
	printf("event %s with id %s\\n", event->type, strcmp(event->id, "1") == 0 ? "1" : "other");
	fflush(stdout);
	return ++*(int *)arg == 2;
}
static int send_one(const struct boxscreen *screen, const char *method, const char *target, const char *name,
	const char *value)
{
	struct boxscreen_answer *answer;
	struct boxscreen_request *request = boxscreen_request_new(method, target);
	if (name != NULL)
		boxscreen_request_add_header(request, name, value);
	int ret = boxscreen_send(screen, request, &answer);
	boxscreen_answer_free(answer);
	boxscreen_request_free(request);
	return ret;
}
int main(void)
{
	struct boxscreen *screen;
	struct boxscreen_answer *answer;
	struct boxscreen_request *request;
	char path[200];
	size_t streamed = 0, len;
	int events = 0;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	printf("long %d\\n", boxscreen_open(path, &screen) == -ENAMETOOLONG && screen == NULL);
	boxscreen_open(NULL, &screen);
	printf("version %s\\n", boxscreen_version());
	printf("head %d\\n", send_one(screen, "HEAD", "/healthz", NULL, NULL) == -EINVAL);
	printf("target %d\\n", send_one(screen, "GET", "/v1/a b", NULL, NULL) == -EINVAL);
	printf("header %d\\n", send_one(screen, "GET", "/healthz", "X", "a\\r\\nY: b") == -EINVAL);
	printf("good %d\\n", send_one(screen, "GET", "/healthz", "X", "a"));
	request = boxscreen_request_new("GET", "/v1/shot");
	boxscreen_request_add_query(request, "region", "0,0,20,10");
	boxscreen_request_add_query(request, "format", "jpeg");
	boxscreen_request_set_on_body(request, count, &streamed);
	printf("streamed %d", boxscreen_send(screen, request, &answer));
	boxscreen_answer_body(answer, &len);
	printf(" %d %d %s\\n", streamed > 100, (int)len, boxscreen_answer_header(answer, "content-TYPE"));
	boxscreen_answer_free(answer);
	boxscreen_request_set_on_body(request, refuse, NULL);
	printf("stopped %d", boxscreen_send(screen, request, &answer) == -ECANCELED);
	printf(" %d\\n", boxscreen_answer_status(answer));
	boxscreen_answer_free(answer);
	boxscreen_request_free(request);
	request = boxscreen_request_new("PUT", "/v1/clipboard");
	boxscreen_request_set_body(request, "text/plain; charset=utf-8", "a\\xc3\\xa4", 3);
	boxscreen_send(screen, request, &answer);
	printf("put %d %s\\n", boxscreen_answer_status(answer), boxscreen_answer_error(answer, NULL) ? "bad" : "good");
	boxscreen_answer_free(answer);
	boxscreen_request_free(request);
	boxscreen_get(screen, "/v1/takeovers/t-0", &answer);
	printf("error %s\\n", boxscreen_answer_error(answer, NULL));
	boxscreen_answer_free(answer);
	request = boxscreen_request_new("GET", "/v1/shot?wait=change&timeout_ms=20000");
	boxscreen_request_set_silence(request, 50);
	printf("silence %d", boxscreen_send(screen, request, &answer) == -ETIMEDOUT);
	printf(" %d\\n", answer == NULL);
	boxscreen_request_free(request);
	printf("events %d\\n", boxscreen_events(screen, "1", on_event, &events, NULL) == -ECANCELED);
	events = 0;
	request = boxscreen_request_new("GET", "/v1/events");
	boxscreen_request_add_header(request, "Last-Event-ID", "1");
	boxscreen_request_set_silence(request, -1);
	boxscreen_request_set_on_event(request, cancel, &events);
	if (pipe(fds) != 0)
		return 1;
	boxscreen_request_set_cancel_fd(request, fds[0]);
	printf("canceled %d", boxscreen_send(screen, request, &answer) == -ECANCELED);
	printf(" %d %d\\n", events >= 1, boxscreen_answer_status(answer));
	boxscreen_answer_free(answer);
	boxscreen_request_set_cancel_fd(request, -1);
	boxscreen_request_free(request);
	boxscreen_close(screen);
	return 0;
}
`;

boxTest('requests, streams, errors, time-outs and events from C', async (box) => {
  const { env } = await install(box);
  const { daemon } = await box.startScreen({ width: 320, height: 240 });
  fs.writeFileSync(box.file('other.c'), other);
  const program = await compile(box, env, box.file('other.c'));
  await daemon.json('GET', '/v1/status');
  const output = await box.ok(program, [], { env: { ...env, ...daemon.env } });
  const version = (await daemon.json('GET', '/v1/status')).version;
  assert.deepEqual(output.trim().split('\n'), [
    'long 1', `version ${version}`, 'head 1', 'target 1', 'header 1', 'good 0', 'streamed 0 1 0 image/jpeg',
    'stopped 1 200', 'put 204 good', 'error not_found', 'silence 1 1',
    'event gap with id 1', 'event screen.ready with id other', 'events 1',
    'canceled 1 1 200']);
  assert.equal((await daemon.request('GET', '/v1/clipboard')).body.toString(), 'aä');
});
