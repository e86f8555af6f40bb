// SPDX-License-Identifier: GPL-2.0-or-later
//
// The two clipboards. Nothing moves between them but on a tap.
import { findCode } from './code';
import { textLength, TEXT_MAX } from './outbox';
import type { TextResult } from './texts';
import type { Word } from './words';

const CLIPBOARD_MAX = 64 * 1024; // bytes, the daemon's limit
const ANSWER_MS = 5000;

/** What the person has copied; null when the browser does not let it be read. */
export async function readLocal(): Promise<string | null> {
  try {
    return await navigator.clipboard.readText();
  } catch {
    return null;
  }
}

/** Whether it worked. `text` may be still to come: browsers want the write begun in the tap itself. */
export async function writeLocal(text: Promise<string>): Promise<boolean> {
  try {
    if ('ClipboardItem' in window) {
      const blob = text.then((plain) => new Blob([plain], { type: 'text/plain' }));
      await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    } else await navigator.clipboard.writeText(await text);
    return true;
  } catch {
    return false;
  }
}

export interface ClipboardHost {
  isLive: () => boolean;
  send: (text: string, enter: boolean, secret: boolean) => Promise<TextResult>;
  /** Puts a text on the box's clipboard or, without one, asks for what is there. */
  askBox: (text?: string) => void;
  tell: (word: Word, values?: Record<string, number>) => void;
  /** A field for the browser's own paste. */
  askForPaste: (isCode: boolean) => void;
  showText: (text: string) => void;
  done: () => void;
}

const WORDS: Record<TextResult, Word> = {
  typed: 'inserted',
  failed: 'failed',
  cleared: 'secret_cleared',
};

export class Clipboard {
  private wanted: ((text: string) => void) | null = null;

  constructor(private readonly host: ClipboardHost) {}

  async paste(isCode: boolean): Promise<void> {
    const text = await readLocal();
    if (text === null) this.host.askForPaste(isCode);
    else await this.pasteText(text, isCode);
  }

  /** Types what was copied; a long text goes to the box's clipboard instead. */
  async pasteText(text: string, isCode: boolean): Promise<void> {
    const { host } = this;
    const wanted = isCode ? findCode(text) : text;
    if (!host.isLive()) return host.tell('no_line_text');
    if (wanted === '') return host.tell('nothing_to_paste');
    if (textLength(wanted) <= TEXT_MAX) {
      // A code is as good as a password while it lasts.
      const result = await host.send(wanted, false, isCode);
      host.tell(WORDS[result]);
      if (result === 'typed') host.done();
    } else if (new TextEncoder().encode(wanted).length <= CLIPBOARD_MAX) {
      host.askBox(wanted);
      host.tell('on_clipboard');
    } else host.tell('too_long', { n: CLIPBOARD_MAX });
  }

  async copyFromBox(): Promise<void> {
    const { host } = this;
    const text = new Promise<string>((resolve, reject) => {
      this.wanted = resolve;
      setTimeout(reject, ANSWER_MS, new Error('no answer'));
    });
    host.askBox();
    const isWritten = await writeLocal(text);
    const copied = await text.catch(() => null);
    if (copied === null) host.tell('failed');
    else if (copied === '') host.tell('copy_empty');
    else if (isWritten) host.tell('copied');
    else host.showText(copied);
  }

  /** The box's answer. */
  arrived(text: string): void {
    this.wanted?.(text);
    this.wanted = null;
  }
}
