// SPDX-License-Identifier: GPL-2.0-or-later
//
// The page's first module.
import { secret } from './secret'; // before anything else
import { start } from './app';

void start(secret);
