// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which of the three layouts a window of that size gets. Pure. By size alone, not by orientation: a
// phone held upright with its keyboard up is wider than high, and still a phone held upright.

export type Layout = 'tall' | 'short' | 'wide';

export function layoutOf(width: number, height: number): Layout {
  if (width >= 900 && height >= 500) return 'wide'; // a panel beside the stage
  if (width >= 560 && height < 500) return 'short'; // a rail beside the stage
  return 'tall'; // a bar below the stage
}
