// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page's first module, kept small and run before the page is parsed: the agent's note is on the
// screen before the rest is even looked at.
import { secret } from './secret'; // before anything else
import { enter } from './api';
import type { ServerState } from './api';

const PATIENCE_MS = 1000; // with a daemon that does not answer

const parsed = new Promise<void>((resolve) => {
  if (document.readyState !== 'loading') resolve();
  else document.addEventListener('DOMContentLoaded', () => resolve());
});

async function showNote({ takeover, role, holder }: ServerState): Promise<void> {
  if (!takeover || role !== 'control' || holder !== 'agent') return;
  await parsed;
  document.getElementById('note-text')!.textContent = takeover.note;
  document.getElementById('note')!.hidden = false;
  document.body.dataset.phase = 'invite';
  // Two frames: one that draws it, one that says so. A hidden page has none.
  if (document.hidden) return;
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}

async function run(): Promise<void> {
  const entered = enter(secret);
  const noted = entered.then(showNote).catch(() => {}); // what went wrong is told by the app
  await Promise.race([noted, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  await parsed;
  const { start } = await import('./app');
  await start(entered);
}

void run();
