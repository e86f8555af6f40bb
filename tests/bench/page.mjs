// SPDX-License-Identifier: GPL-2.0-or-later
//
// node tests/bench/page.mjs: how soon the page shows the agent's note, with the processor slowed 4×, as
// a phone's. Needs a build (BOXSCREEN_BUILD) and tests/node_modules. Prints milliseconds to the first
// frame with the note on it, from the load event and from the navigation.
import { Box } from '../integration/harness.mjs';
import { openTakeover, PIXEL, startPeople } from '../integration/page.mjs';

const RUNS = 15;

const box = new Box();
try {
  const { daemon } = await box.startScreen();
  const { url } = await openTakeover(daemon);
  const people = await startPeople(box);
  const times = [];
  for (let i = 0; i < RUNS; i++) {
    const context = await people.newContext(PIXEL); // nothing is cached
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.addInitScript(() => {
      const look = () => {
        if (!document.getElementById('note-text')?.textContent) requestAnimationFrame(look);
        else requestAnimationFrame(() => { window.noteAt = performance.now(); });
      };
      requestAnimationFrame(look);
    });
    await page.goto(url);
    await page.waitForFunction(() => window.noteAt);
    times.push(await page.evaluate(() => {
      const { loadEventEnd } = performance.getEntriesByType('navigation')[0];
      return { load: Math.max(0, window.noteAt - loadEventEnd), navigation: window.noteAt };
    }));
    await context.close();
  }
  for (const from of ['load', 'navigation']) {
    const sorted = times.map((time) => time[from]).sort((a, b) => a - b);
    const at = (share) => Math.round(sorted[Math.floor(share * (RUNS - 1))]);
    console.log(`note visible ${at(0.5)} ms after the ${from} (median), ${at(0.9)} ms (90 %), ${at(1)} ms (worst of ${RUNS})`);
  }
} finally {
  await box.close();
}
