// SPDX-License-Identifier: GPL-2.0-or-later
//
// node docs/samples/tour-site.mjs [PORT]: a site with a sign-in that asks for a code, for docs/tour.md. Prints its address,
// and, in place of a text message to a phone, each code that it sends.
import { randomInt, randomUUID } from 'node:crypto';
import http from 'node:http';
import { once } from 'node:events';

const NAME = 'zoe', PASSWORD = 'a quiet lantern';
const codes = new Map(); // what was sent, by the visit that waits for it
const sessions = new Set();

const page = (body) => `<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content="width=device-width">
<title>Harbour Books</title><link rel=icon href=data:,>
<style>body{margin:0;background:#e7edf3;font:20px/1.5 sans-serif;color:#1d2b3a}main{width:520px;margin:70px auto;padding:30px 40px;background:#fff;
border-radius:12px;box-shadow:0 2px 12px #0002}h1{margin:0 0 16px;font-size:28px}label{display:block;margin:12px 0}
input{font:inherit;display:block;width:100%;box-sizing:border-box;padding:10px;border:2px solid #8aa;border-radius:8px}
button,a.button{font:inherit;display:inline-block;margin-top:16px;padding:10px 28px;border:0;border-radius:8px;background:#1f5f8b;color:#fff;text-decoration:none}
p.wrong{color:#a02020}td{padding:4px 24px 4px 0}</style><main>${body}</main>`;

const SIGN_IN = (wrong) => page(`<h1>Harbour Books</h1>${wrong ? '<p class=wrong>That is not right.</p>' : ''}
<form method=post action=/sign-in autocomplete=off><label>Name<input name=name autofocus></label>
<label>Password<input name=password style="-webkit-text-security:disc"></label><button>Sign in</button></form>`);
const ASK_CODE = (wrong) => page(`<h1>Check your phone</h1><p>We have sent a code of six digits to the number that ends in 07.</p>
${wrong ? '<p class=wrong>That was not the code.</p>' : ''}<form method=post action=/code autocomplete=off>
<label>Code<input name=code inputmode=numeric autofocus></label><button>Confirm</button></form>`);
const ACCOUNT = page(`<h1>Welcome back, Zoë</h1><p>Your invoices:</p><table><tr><td>October<td>18.40 €<td><a href=/invoice>open</a>
<tr><td>September<td>7.90 €<td></table>`);
const INVOICE = page('<h1>Invoice for October</h1><table><tr><td>The Lantern Maker<td>11.50 €<tr><td>Tides, a guide<td>6.90 €<tr><td><b>Total</b><td><b>18.40 €</b></table>');

async function readForm(request) {
  let text = '';
  for await (const part of request) text += part;
  return new URLSearchParams(text);
}

const visitOf = (request) => /visit=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];

async function answer(request, reply) {
  const visit = visitOf(request);
  const form = request.method === 'POST' ? await readForm(request) : null;
  const show = (html) => reply.setHeader('Content-Type', 'text/html; charset=utf-8').end(html);
  const goTo = (path) => reply.writeHead(303, { Location: path }).end();
  if (request.url === '/sign-in' && form) {
    if (form.get('name') !== NAME || form.get('password') !== PASSWORD) return show(SIGN_IN(true));
    const fresh = randomUUID(), code = String(randomInt(100000, 1000000));
    codes.set(fresh, code);
    console.log(`text message to ${NAME}: your code is ${code}`);
    reply.setHeader('Set-Cookie', `visit=${fresh}; HttpOnly; SameSite=Strict`);
    return goTo('/code');
  }
  if (request.url === '/code' && codes.has(visit)) {
    if (!form) return show(ASK_CODE(false));
    if (form.get('code').trim() !== codes.get(visit)) return show(ASK_CODE(true));
    sessions.add(visit);
    console.log(`${NAME} has signed in`);
    return goTo('/account');
  }
  if (sessions.has(visit) && request.url === '/account') return show(ACCOUNT);
  if (sessions.has(visit) && request.url === '/invoice') return show(INVOICE);
  return show(SIGN_IN(false));
}

const server = http.createServer((request, reply) => {
  answer(request, reply).catch((error) => reply.writeHead(500).end(String(error)));
});
server.listen(Number(process.argv[2] ?? 8099), '127.0.0.1');
await once(server, 'listening');
console.log(`http://127.0.0.1:${server.address().port}/`);
