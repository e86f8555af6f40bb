// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the tests of takeovers share: opening one, being the person, looking at the log.
import assert from 'node:assert/strict';
import { followEvents, waitFor } from './harness.mjs';
import { LIKE_NOVNC } from './rfb.mjs';
import { openSession, WebSocketClient } from './websocket.mjs';

/** A screen with a daemon and its events. */
export async function startBox(box, { args = [], env, ...options } = {}) {
  const started = await box.startScreen({ ...options, daemon: { args, env } });
  const events = followEvents(started.daemon.socket);
  await events.connected;
  box.onClose(() => events.close());
  return { ...started, events };
}

/** POST /v1/takeovers. */
export async function openTakeover(daemon, body = {}) {
  const reply = await daemon.request('POST', '/v1/takeovers', { body: { note: 'Please log in', ...body } });
  assert(reply.status === 201 || reply.status === 200, reply.body.toString());
  return Object.assign(reply.json(), { httpStatus: reply.status });
}

export const control = async (daemon) => (await daemon.json('GET', '/v1/status')).control;

/** A person at the page: a session, and after connect() its socket and the screen on it. */
export class Person {
  static async at(box, url) {
    const person = new Person();
    person.session = await openSession(url);
    person.state = person.session.state;
    box.onClose(() => person.socket?.destroy());
    return person;
  }

  call(name, body) { return this.session.call(name, body); }

  async take(body) {
    const reply = await this.call('takeover', body);
    assert.equal(reply.status, 200, reply.text);
    return reply.json;
  }

  async connect(options = {}) {
    this.socket = await WebSocketClient.ofSession(this.session, options);
    assert.equal(this.socket.status, 101);
    this.screen = await this.socket.rfb().open();
    this.screen.setEncodings(LIKE_NOVNC);
    await this.told('state');
    return this;
  }

  /** Takes over and connects. */
  static async holding(box, url, body) {
    const person = await Person.at(box, url);
    await person.take(body);
    return person.connect();
  }

  /** The next JSON message of that kind that `fits`. */
  told(kind, fits = () => true, deadlineMs = 15000) {
    return waitFor(`the message ${kind}`, () => {
      const index = this.socket.texts.findIndex((text) => text.t === kind && fits(text));
      return index >= 0 && this.socket.texts.splice(index, 1)[0];
    }, deadlineMs);
  }
}

/** One action of the agent; its status. */
export async function actAsAgent(daemon) {
  return (await daemon.request('POST', '/v1/act', { body: { actions: [{ type: 'move', x: 5, y: 5 }] } })).status;
}
