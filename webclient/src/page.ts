// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page's first module, kept small: the agent's note is on the screen before the rest is there.
import { secret } from './secret'; // before anything else
import { enter } from './api';
import type { ServerState } from './api';

function showNote({ takeover, role, holder }: ServerState): void {
  if (!takeover || role !== 'control' || holder !== 'agent') return;
  document.getElementById('note-text')!.textContent = takeover.note;
  document.getElementById('note')!.hidden = false;
  document.body.dataset.phase = 'invite';
}

const entered = enter(secret);
entered.then(showNote, () => {}); // what went wrong is told by what follows
void import('./app').then(({ start }) => start(entered));
