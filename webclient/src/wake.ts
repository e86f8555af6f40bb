// SPDX-License-Identifier: GPL-2.0-or-later
//
// Keeps the phone's screen on while somebody works on the box's.

let lock: WakeLockSentinel | null = null;
let isWanted = false;
let isAsking = false;

/** May be called as often as one likes. */
export async function keepAwake(wanted: boolean): Promise<void> {
  isWanted = wanted;
  if (!wanted) {
    const held = lock;
    lock = null;
    await held?.release().catch(() => {});
    return;
  }
  if (lock !== null || isAsking || !('wakeLock' in navigator) || document.hidden) return;
  isAsking = true;
  const taken = await navigator.wakeLock.request('screen').catch(() => null);
  isAsking = false;
  if (!isWanted) {
    await taken?.release().catch(() => {});
    return;
  }
  lock = taken;
  // The browser takes it back when the page is hidden.
  taken?.addEventListener('release', () => {
    if (lock === taken) lock = null;
  });
}
