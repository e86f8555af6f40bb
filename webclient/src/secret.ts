// SPDX-License-Identifier: GPL-2.0-or-later
//
// The link's secret leaves the address bar before anything else happens: this module is the first that
// is run, and does it by being run.

function takeSecret(): string | null {
  const secret =
    new URLSearchParams(location.search).get('t') ??
    new URLSearchParams(location.hash.slice(1)).get('t');
  if (secret !== null) history.replaceState(null, '', location.pathname);
  return secret;
}

/** Null after a reload: the tab's session goes on. */
export const secret = takeSecret();
