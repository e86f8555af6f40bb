// SPDX-License-Identifier: GPL-2.0-or-later
//
// Holds calls and answers against the OpenAPI document of the control socket.
import assert from 'node:assert/strict';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';

const escaped = (part) => part.replaceAll('~', '~0').replaceAll('/', '~1');

export class Contract {
  constructor(document) {
    this.document = document;
    // The document around the schemas is no schema: only what is referred to is compiled.
    this.ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(this.ajv);
    this.ajv.addSchema(document, 'openapi');
    this.seen = new Map(); // "GET /v1/status 200" → how often
  }

  /** {path, method, operation} of a call, or undefined. A path without {id} goes first. */
  find(method, target) {
    const wanted = target.split('?')[0];
    const fits = (path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(wanted);
    const path = Object.keys(this.document.paths).find((name) => name === wanted)
      ?? Object.keys(this.document.paths).find(fits);
    const operation = this.document.paths[path]?.[method.toLowerCase()];
    return operation && { path, method: method.toLowerCase(), operation };
  }

  /** What is wrong with a value by the schema at that place of the document; undefined when nothing is. */
  faults(pointer, value) {
    const ref = `openapi#/${pointer.map(escaped).map(encodeURIComponent).join('/')}`;
    const validate = this.ajv.getSchema(ref);
    assert(validate, `there is no schema at ${ref}`);
    if (validate(value)) return undefined;
    return this.ajv.errorsText(validate.errors, { dataVar: '' });
  }

  /** What is wrong with a request's JSON body. */
  bodyFaults(method, target, body) {
    const { path, method: name } = this.find(method, target);
    return this.faults(['paths', path, name, 'requestBody', 'content', 'application/json', 'schema'], body);
  }

  /** Fails unless the reply is one that the document has for the call. */
  check(method, target, reply) {
    const found = this.find(method, target);
    assert(found, `${method} ${target} is not in the document`);
    const { path, operation } = found;
    const where = `${method} ${path} ${reply.status}`;
    const status = String(reply.status);
    let response = operation.responses[status];
    assert(response, `${where}: the document has only ${Object.keys(operation.responses)}`);
    let pointer = ['paths', path, found.method, 'responses', status];
    if (response.$ref) {
      pointer = response.$ref.slice(2).split('/');
      response = pointer.reduce((value, name) => value[name], this.document);
    }
    this.seen.set(where, (this.seen.get(where) ?? 0) + 1);
    if (!response.content) {
      assert.equal(reply.body.length, 0, `${where} has a body`);
      return;
    }
    const type = reply.headers['content-type']?.split(';')[0];
    assert(type in response.content, `${where} is ${type}`);
    if (type !== 'application/json') return;
    const faults = this.faults([...pointer, 'content', type, 'schema'], reply.json());
    assert.equal(faults, undefined, `${where}: ${faults}\n${reply.body.toString('latin1', 0, 2000)}`);
    if (reply.status >= 400) {
      const code = response === operation.responses[status] ? undefined : pointer.at(-1);
      assert.equal(reply.json().error, code, `${where} has the code of its status`);
    }
  }
}
