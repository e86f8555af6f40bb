// SPDX-License-Identifier: GPL-2.0-or-later
//
// Clients of boxscreen mcp: the official SDKs' (one that begins with a handshake, one that speaks 2026-07-28),
// and one that sends and reads lines as they are.
import assert from 'node:assert/strict';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { patience, programs, waitFor } from './harness.mjs';
import { readPng } from './png.mjs';

/** The servers are the tests' own children: nobody else looks at what sanitizers say of them. */
const assertSane = (log) => assert.doesNotMatch(log, /Sanitizer|runtime error:/);

const parameters = (box, daemon, args, env) => ({ command: programs.boxscreen, args: ['mcp', ...args],
  env: box.env({ ...daemon?.env, ...env }), stderr: 'pipe' });

/**
 * An SDK's client, connected; closed at the test's end. `modern`: the one of 2026-07-28. Its
 * `call(name, args)` is callTool, `tool(name, args)` fails when the result is an error, and
 * `refused(name, args, pattern)` when it is none that says so.
 */
export async function connect(box, daemon, { args = [], modern = false, name = 'test', env, options = {} } = {}) {
  const [ClientClass, TransportClass] = modern ? [ModernClient, ModernTransport] : [Client, StdioClientTransport];
  const transport = new TransportClass(parameters(box, daemon, args, env));
  const client = new ClientClass({ name, version: '1' },
    { ...(modern ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {}), ...options });
  client.stderr = '';
  transport.stderr.on('data', (data) => { client.stderr += data; });
  await client.connect(transport);
  client.pid = transport.pid;
  box.onClose(async () => {
    await client.close();
    assertSane(client.stderr);
  });
  client.call = (tool, input = {}, more = {}) => (modern
    ? client.callTool({ name: tool, arguments: input }, { timeout: 60000 * patience, ...more })
    : client.callTool({ name: tool, arguments: input }, undefined, { timeout: 60000 * patience, ...more }));
  client.tool = async (tool, input, more) => {
    const result = await client.call(tool, input, more);
    assert(!result.isError, `${tool}: ${textOf(result)}`);
    return result;
  };
  client.refused = async (tool, input, pattern) => {
    const result = await client.call(tool, input);
    assert.equal(result.isError, true, `${tool} ${JSON.stringify(input)}: ${textOf(result)}`);
    assert.match(textOf(result), pattern);
    return result;
  };
  return client;
}

export const textOf = (result) => result.content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n');

export const imagesOf = (result) => result.content.filter(({ type }) => type === 'image');

/** The only picture of a result, decoded. */
export function pictureOf(result) {
  const images = imagesOf(result);
  assert.equal(images.length, 1, textOf(result));
  assert.equal(images[0].mimeType, 'image/png');
  return readPng(Buffer.from(images[0].data, 'base64'));
}

/** The server with its lines: send(object or text), next(fits) resolves to the next message that fits. */
export function startRaw(box, daemon, { args = [], env } = {}) {
  const server = box.spawn(programs.boxscreen, ['mcp', ...args], { env: { ...daemon?.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'], name: 'mcp' });
  const messages = [];
  let rest = '';
  server.process.stdout.on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) messages.push(JSON.parse(line));
  });
  server.process.stdin.on('error', () => {}); // it may have ended
  box.onClose(async () => {
    server.process.stdin.end();
    await server.exited;
    assertSane(server.log());
  });
  server.messages = messages;
  server.write = (text) => server.process.stdin.write(text);
  server.send = (message) => server.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  server.next = (fits = () => true, deadlineMs = 5000) => waitFor('a message of the server', () => {
    const index = messages.findIndex(fits);
    return index >= 0 && messages.splice(index, 1)[0];
  }, deadlineMs);
  server.ask = (message) => {
    server.send({ jsonrpc: '2.0', ...message });
    return server.next((reply) => reply.id === message.id);
  };
  server.initialize = (protocolVersion = '2025-11-25') => server.ask({ id: 'init', method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } } });
  server.finish = () => { server.process.stdin.end(); return server.exited; };
  return server;
}
