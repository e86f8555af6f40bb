// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ground of the integration tests: real X servers, the real daemon, real clients, each test with a
// folder, a socket and a display of its own, so that all run in parallel. boxTest() gives a test a
// `box`; what the test starts through it is ended by pid afterwards, pass or fail, and every log is
// printed on failure. Things are waited for, never slept for.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const build = process.env.BOXSCREEN_BUILD || path.join(root, 'build');
export const kind = process.env.BOXSCREEN_KIND || 'werror';
export const isSanitized = kind === 'asan' || kind === 'tsan';
/** Sanitized programs are slower: deadlines are stretched by this. */
export const patience = isSanitized ? 5 : 1;
export const programs = {
  boxscreen: path.join(build, 'cli/boxscreen'),
  boxscreend: path.join(build, 'service/boxscreend'),
  xhelper: path.join(build, 'tests/xhelper'),
};

const SANITIZER_REPORT = /ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:/;

/**
 * Resolves to what `condition` (may be async) returns once that is truthy; fails after the deadline. Without
 * one it waits as long as a busy machine may need: times that are promised to users are given by who calls.
 */
export async function waitFor(what, condition, deadlineMs = 15000, pauseMs = 5) {
  const end = performance.now() + deadlineMs * patience;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited ${deadlineMs * patience} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Whether a process of that pid is there and no zombie. */
export function isAlive(pid) {
  try {
    return !/^State:\s+[ZX]/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether somebody accepts connections on the Unix socket. */
export function canConnect(socketPath) {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath);
    const finish = (result) => { socket.destroy(); resolve(result); };
    socket.on('connect', () => finish(true));
    socket.on('error', () => finish(false));
  });
}

/** A process that a test started: its output is kept, its end can be waited for. */
class Child {
  constructor(name, process_) {
    Object.assign(this, { name, process: process_, pid: process_.pid, stdout: [], stderr: [] });
    process_.stdout?.on('data', (data) => this.stdout.push(data));
    process_.stderr?.on('data', (data) => this.stderr.push(data));
    // 'close' comes when its output is complete as well, unless a grandchild holds it open.
    this.exited = new Promise((resolve) => {
      process_.on('error', (error) => resolve({ code: null, signal: null, error }));
      process_.on('exit', (code, signal) => {
        const end = { code, signal };
        process_.on('close', () => resolve(end));
        setTimeout(() => resolve(end), 500).unref();
      });
    });
    this.exited.then((end) => { this.end = end; });
  }

  output() { return Buffer.concat(this.stdout).toString(); }

  log() { return Buffer.concat([...this.stdout, ...this.stderr]).toString(); }

  /** Sends the signal and waits for the end; SIGKILL when it does not come. */
  async stop(signal = 'SIGTERM', deadlineMs = 10000) {
    if (this.end) return this.end;
    this.process.kill(signal);
    const timer = setTimeout(() => {
      this.wasStuck = true;
      this.process.kill('SIGKILL');
    }, deadlineMs * patience);
    const end = await this.exited;
    clearTimeout(timer);
    return end;
  }
}

class Daemon extends Child {
  /** One request on a connection of its own; see request(). */
  request(method, target, options) { return request(this.socket, method, target, options); }

  async json(method, target, options) {
    const reply = await this.request(method, target, options);
    assert.equal(reply.status, 200, `${method} ${target}: ${reply.body}`);
    return reply.json();
  }

  /** A PNG screenshot, decoded, with the reply's headers. */
  async shot(query = '') {
    const reply = await this.request('GET', `/v1/shot${query}`);
    assert.equal(reply.status, 200, `GET /v1/shot${query}: ${reply.status} ${reply.body}`);
    const { readPng } = await import('./png.mjs');
    return Object.assign(readPng(reply.body), { headers: reply.headers });
  }

  async waitReady(deadlineMs = 15000) {
    await waitFor('the daemon to have its screen', async () => {
      assert(!this.end, 'the daemon has ended');
      const reply = await this.request('GET', '/v1/status').catch(() => null);
      return reply?.status === 200 && reply.json().screen.state === 'ready';
    }, deadlineMs);
  }

  /** What the process uses: resident KiB, descriptors, threads, SHM segments it is attached to. */
  usage() {
    const status = fs.readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const number = (name) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'))[1]);
    const maps = fs.readFileSync(`/proc/${this.pid}/maps`, 'utf8');
    return {
      rssKb: number('VmRSS'),
      threads: number('Threads'),
      fds: fs.readdirSync(`/proc/${this.pid}/fd`).length,
      segments: maps.split('\n').filter((line) => /SYSV|memfd|\/dev\/shm/.test(line)).length,
    };
  }

  /** Processor time used so far, ms. */
  cpuMs() {
    const fields = fs.readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }
}

export class Box {
  constructor() {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'boxtest.'));
    this.children = [];
    this.daemonCount = 0;
    this.closers = [];
  }

  /** Calls `closer` when the test is over, before the programs are ended. */
  onClose(closer) { this.closers.push(closer); }

  file(name) { return path.join(this.folder, name); }

  /** Starts a program that stays; `fds` adds stdio entries behind stderr. */
  spawn(command, args = [], { env = {}, name, fds = [], ChildClass = Child, ...options } = {}) {
    const child = new ChildClass(name || path.basename(command), spawn(command, args, {
      env: this.env(env), stdio: ['ignore', 'pipe', 'pipe', ...fds], cwd: this.folder, ...options,
    }));
    this.children.push(child);
    return child;
  }

  env(extra = {}) {
    const { DISPLAY, BOXSCREEN_SOCKET, XDG_RUNTIME_DIR, ...env } = process.env;
    return { ...env, LC_ALL: 'C.UTF-8', ...extra };
  }

  /** Runs a program to its end: {status, signal, stdout (Buffer), stderr (text)}. */
  async run(command, args = [], { env, input, timeoutMs = 20000, ...options } = {}) {
    const process_ = spawn(command, args, { env: this.env(env), cwd: this.folder, ...options });
    const out = [], err = [];
    process_.stdout?.on('data', (data) => out.push(data));
    process_.stderr?.on('data', (data) => err.push(data));
    process_.stdin?.on('error', () => {}); // it need not read all of its input
    process_.stdin?.end(input);
    const timer = setTimeout(() => process_.kill('SIGKILL'), timeoutMs * patience);
    const [status, signal] = await new Promise((resolve, reject) => {
      process_.on('error', reject);
      process_.on('close', (...end) => resolve(end));
    });
    clearTimeout(timer);
    return { status, signal, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() };
  }

  /** run(), and fails unless the program ends with 0. Returns its output as text. */
  async ok(command, args, options) {
    const result = await this.run(command, args, options);
    assert.equal(result.status, 0, `${command} ${args?.join(' ')}: ${result.stderr}`);
    return result.stdout.toString();
  }

  /** An X server on a free display, or on `display` (then with the lock file that a server has). */
  async startXvfb({ width = 1280, height = 800, depth = 24, args = [], display } = {}) {
    const screen = ['-screen', '0', `${width}x${height}x${depth}`, '-noreset', '-nolisten', 'tcp'];
    // -displayfd makes a server go without a lock, even where the display is named.
    const where = display ? [display] : ['-displayfd', '3'];
    const server = this.spawn('Xvfb', [...where, ...screen, ...args], { fds: display ? [] : ['pipe'] });
    if (display) {
      await waitFor(`the X server of ${display}`, () => {
        assert(!server.end, `Xvfb ended: ${server.log()}`);
        return canConnect(`/tmp/.X11-unix/X${display.slice(1)}`);
      }, 10000);
    }
    server.display = display || `:${await firstLine(server, 3, 10000)}`;
    server.env = { DISPLAY: server.display };
    return server;
  }

  /**
   * boxscreend, with a socket of its own; `wrap`: words that run it (taskset, unshare). Waits for its ready line unless `waits` is false; then
   * at least for the socket.
   */
  async startDaemon({ display, xvfb, args = [], env, waits = true, socket, wrap = [], stateDir } = {}) {
    const number = this.daemonCount++;
    socket = socket || this.file(`control${number}.sock`);
    const screen = [...(display ? ['--display', display] : []), ...(xvfb ? ['--xvfb', xvfb] : [])];
    const [command, ...lead] = [...wrap, programs.boxscreend];
    const daemon = this.spawn(command, [...lead, ...screen, '--socket', socket,
      '--listen', '127.0.0.1:0', '--state-dir', stateDir || this.file(`state${number}`), '--ready-fd', '3', ...args],
    { env, fds: ['pipe'], ChildClass: Daemon, name: `boxscreend ${number}` });
    daemon.socket = socket;
    daemon.env = { BOXSCREEN_SOCKET: socket };
    if (waits) {
      const line = await firstLine(daemon, 3, 10000);
      const words = line.split(' ');
      assert.equal(words[0], 'ready', `ready line: ${line}`);
      [, daemon.display, , daemon.url] = words;
      daemon.env.DISPLAY = daemon.display;
    } else {
      await waitFor('the socket', () => {
        assert(!daemon.end, 'the daemon has ended');
        return fs.existsSync(socket);
      });
    }
    return daemon;
  }

  /** Xvfb and a daemon on it. */
  async startScreen(options = {}) {
    const server = await this.startXvfb(options);
    const daemon = await this.startDaemon({ display: server.display, ...options.daemon });
    return { server, daemon, env: server.env };
  }

  /** boxscreen, the tool, against a daemon. */
  tool(daemon, args, options = {}) {
    return this.run(programs.boxscreen, args, { ...options, env: { ...daemon?.env, ...options.env } });
  }

  /** A window or pattern of xhelper, once it is painted. */
  async paint(env, ...args) {
    const helper = this.spawn(programs.xhelper, args.map(String), { env });
    const line = await firstLine(helper, 1, 10000);
    helper.window = Number(line.split(' ')[1]);
    return helper;
  }

  /** Runs tests/painter until it has shown its window. */
  async startPainter(env, ...args) {
    const painter = this.spawn(path.join(build, 'tests/painter'), args.map(String), { env });
    await waitFor('the painter', () => painter.output().includes('window'), 20000);
    return painter;
  }

  printLogs() {
    for (const child of this.children) {
      const end = child.end ? `ended ${JSON.stringify(child.end)}` : 'running';
      console.log(`# ---- ${child.name} (pid ${child.pid}, ${end})`);
      console.log(child.log().replace(/^/gm, '#   '));
    }
  }

  /** Ends all, daemons first. Returns what was wrong with how they ended. */
  async close() {
    const faults = [];
    for (const closer of this.closers.reverse()) {
      try {
        await closer();
      } catch (error) {
        faults.push(error.message);
      }
    }
    for (const child of [...this.children].reverse()) {
      const wasRunning = !child.end;
      const end = await child.stop();
      if (!(child instanceof Daemon)) continue;
      if (child.wasStuck) faults.push(`${child.name} did not end on SIGTERM`);
      else if (wasRunning && end.code !== 0) faults.push(`${child.name} ended with ${JSON.stringify(end)}`);
      if (SANITIZER_REPORT.test(child.log())) faults.push(`${child.name}: sanitizer report`);
    }
    fs.rmSync(this.folder, { recursive: true, force: true });
    return faults;
  }
}

/** A test with a box of its own. */
export function boxTest(name, body, options = {}) {
  test(name, { timeout: 120000 * patience, ...options }, async (t) => {
    const box = new Box();
    let error;
    try {
      // A test whose time is over is not waited for any longer: its programs are ended, its logs printed.
      await Promise.race([body(box, t), new Promise((_, reject) => {
        t.signal.addEventListener('abort', () => reject(new Error('its time was over')), { once: true });
      })]);
    } catch (caught) {
      error = caught;
    }
    const faults = await box.close();
    if (!error && faults.length > 0) error = new Error(faults.join('\n'));
    if (error) {
      box.printLogs();
      throw error;
    }
  });
}

/** The first line that the child writes to the descriptor; fails when it ends or is too late. */
function firstLine(child, fd, deadlineMs) {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`${child.name}: no line on descriptor ${fd}`)),
      deadlineMs * patience);
    child.process.stdio[fd].on('data', (data) => {
      text += data;
      if (text.includes('\n')) {
        clearTimeout(timer);
        resolve(text.split('\n')[0]);
      }
    });
    child.exited.then((end) => {
      clearTimeout(timer);
      reject(new Error(`${child.name} ended: ${JSON.stringify(end)}\n${child.log()}`));
    });
  });
}

/**
 * One HTTP request to a Unix socket. `body` may be a string, a Buffer, or an object (sent as JSON); `signal`
 * gives it up.
 * Resolves to {status, headers, body (Buffer), json()}.
 */
export function request(socketPath, method, target, { headers = {}, body, timeoutMs = 30000, agent, signal } = {}) {
  const isPlain = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const data = isPlain ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const length = data === undefined ? {} : { 'Content-Length': Buffer.byteLength(data) };
    const call = http.request({ socketPath, method, path: target, agent: agent || false, signal,
      headers: { ...length, ...headers } }, (reply) => {
      const parts = [];
      reply.on('data', (part) => parts.push(part));
      reply.on('error', reject);
      reply.on('end', () => {
        const whole = Buffer.concat(parts);
        resolve({ status: reply.statusCode, headers: reply.headers, body: whole,
          json: () => JSON.parse(whole.toString()) });
      });
    });
    call.setTimeout(timeoutMs * patience, () => call.destroy(new Error(`${method} ${target}: no answer`)));
    call.on('error', reject);
    call.end(data);
  });
}

/**
 * Sends bytes as they are (a string is taken as Latin-1) and resolves to all that comes back until
 * the peer closes, or until `until` matches it, or, failing that, `timeoutMs` is over.
 */
export function rawRequest(socketPath, bytes, { until, timeoutMs = 5000, ends = false } = {}) {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath);
    let text = '', isClosed = false;
    const finish = (timedOut) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, isClosed, timedOut });
    };
    const timer = setTimeout(() => finish(true), timeoutMs * patience);
    socket.on('connect', () => {
      socket.write(Buffer.from(bytes, 'latin1'));
      if (ends) socket.end();
    });
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (until?.test(text)) finish(false);
    });
    socket.on('error', () => {}); // a reset is a close: 'close' follows
    socket.on('close', () => { isClosed = true; finish(false); });
  });
}

/** Follows GET /v1/events. `events` grows; next(type) resolves to the next one of that type. */
export function followEvents(socketPath, { lastId } = {}) {
  const follower = { events: [], isClosed: false };
  const headers = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
  follower.connected = new Promise((resolve, reject) => {
    const call = http.request({ socketPath, path: '/v1/events', agent: false, headers }, (reply) => {
      follower.status = reply.statusCode;
      let text = '';
      reply.on('data', (data) => {
        text += data;
        const blocks = text.split('\n\n');
        text = blocks.pop();
        for (const block of blocks) {
          const field = (name) => block.match(new RegExp(`^${name}: ?(.*)$`, 'm'))?.[1];
          if (field('data') === undefined) continue;
          follower.events.push({ id: field('id'), type: field('event'), data: JSON.parse(field('data')) });
        }
      });
      reply.on('close', () => { follower.isClosed = true; });
      reply.on('error', () => {});
      resolve();
    });
    call.on('error', (error) => { follower.isClosed = true; reject(error); });
    call.end();
    follower.close = () => call.destroy();
  });
  follower.connected.catch(() => {});
  follower.next = (type, deadlineMs = 15000) => waitFor(`event ${type}`, () => {
    const index = follower.events.findIndex((event) => event.type === type);
    return index >= 0 && follower.events.splice(0, index + 1)[index];
  }, deadlineMs);
  return follower;
}
