// SPDX-License-Identifier: GPL-2.0-or-later
//
// A screen that is watched, for the tests of the live view.
import { Rfb, TIGHT } from './rfb.mjs';

/** A screen whose native viewers may act (or, with `role`, not). */
export async function startLive(box, { role = 'control', ...options } = {}) {
  const rfb = box.file('rfb.sock');
  const started = await box.startScreen({ ...options, daemon: { args: ['--rfb', rfb, '--rfb-role', role, '--takeover-privacy', 'off'] } });
  const connect = async (encodings = TIGHT, how = {}) => {
    const client = await (await Rfb.unix(rfb)).open(how);
    box.onClose(() => client.destroy());
    if (encodings) client.setEncodings(encodings);
    return client;
  };
  return { ...started, rfb, connect };
}

export const viewers = async (daemon) => (await daemon.json('GET', '/v1/status')).viewers;
