// SPDX-License-Identifier: GPL-2.0-or-later
//
// In place of the parts of noVNC that the page does itself (keyboard, gestures) or never needs (other
// kinds of authentication, its log, its key tables, deflating). They are kept out for their size,
// and so that no key or text ever reaches a log.

export default class Absent {
  attach() {}

  detach() {}

  grab() {}

  ungrab() {}
}

const nothing = () => {};
export const initLogging = nothing;
export const getLogging = () => 'none';
export const Debug = nothing;
export const Info = nothing;
export const Warn = nothing;
export const Error = nothing;
