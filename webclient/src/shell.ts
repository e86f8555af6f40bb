// SPDX-License-Identifier: GPL-2.0-or-later
//
// What stands around the stage: the agent's note, the row of tools, the panel, and how much room each
// gets in a window of that size.
import type { ServerState } from './api';
import type { Compose } from './compose';
import { button, el, icon } from './dom';
import type { Icon } from './dom';
import { layoutOf } from './layout';
import type { Panel } from './panel';
import type { SheetName, Sheets } from './sheets';
import type { Stage } from './stage';
import { say } from './words';
import type { Word } from './words';

const LEGIBLE = 0.8; // scale at which a phone's owner can read what is typed into

/** Whose tools are shown; '': none. */
export type ToolKind = 'control' | 'view' | '';

export interface ShellParts {
  stage: Stage;
  compose: Compose;
  sheets: Sheets;
  panel: Panel;
  isLive: () => boolean; // the screen is shown
}

export class Shell {
  private toolKind: ToolKind = '';
  private isStrip = false;

  constructor(private readonly parts: ShellParts) {
    el('note-toggle').addEventListener('click', () => this.toggleNote());
    el('note-toggle').append(icon('chevron'));
    el('note-toggle').setAttribute('aria-label', say('note_hide'));
    for (const each of [window, window.visualViewport]) {
      each?.addEventListener('resize', () => this.layOut());
    }
    window.visualViewport?.addEventListener('scroll', () => this.layOut());
  }

  // The note

  showNote(takeover: ServerState['takeover']): void {
    const text = takeover ? [takeover.note, ...(takeover.instructions ?? [])].join('\n') : '';
    el('note').hidden = text === '';
    if (el('note-text').textContent !== text) el('note-text').textContent = text;
  }

  private toggleNote() {
    const isOpen = el('note').classList.toggle('closed') === false;
    el('note-toggle').setAttribute('aria-expanded', String(isOpen));
    el('note-text').hidden = !isOpen;
    el('note-toggle').setAttribute('aria-label', say(isOpen ? 'note_hide' : 'note_show'));
  }

  // The tools

  showTools(kind: ToolKind): void {
    el('tools').hidden = kind === '';
    if (kind === this.toolKind) return;
    this.toolKind = kind;
    const { sheets } = this.parts;
    const tool = (word: Word & Icon, run: () => void) =>
      button(word, run, {
        icon: word,
        id: `tool-${word}`,
        attributes: { 'aria-expanded': 'false', 'aria-controls': 'sheet' },
      });
    const sheet = (name: Word & Icon & SheetName) => tool(name, () => sheets.toggle(name));
    const typing = button('type', () => this.toggleCompose(), {
      icon: 'type',
      id: 'type-button',
      attributes: { 'aria-expanded': 'false', 'aria-controls': 'compose' },
    });
    const tools = {
      control: [typing, sheet('paste'), sheet('zoom'), sheet('keys'), sheet('more')],
      view: [sheet('zoom'), sheet('more')],
      '': [],
    }[kind];
    el('tools').replaceChildren(...tools);
  }

  /** Which sheet is open, if any is. */
  markTools(open: SheetName | null): void {
    if (open) this.showPanel(false);
    for (const each of el('tools').querySelectorAll('[id^="tool-"]')) {
      each.setAttribute('aria-expanded', String(each.id === `tool-${open}`));
    }
    this.layOut();
  }

  private toggleCompose() {
    const { compose, sheets } = this.parts;
    sheets.close();
    this.showPanel(false);
    if (compose.isOpen) compose.close();
    else compose.open();
    this.layOut();
  }

  // The panel

  get isPanelBeside(): boolean {
    return document.body.dataset.layout === 'wide';
  }

  get isPanelSeen(): boolean {
    return this.isPanelBeside || !el('panel').hidden;
  }

  showPanel(isSeen: boolean): void {
    document.body.classList.toggle('with-panel', isSeen);
    this.layOut();
    if (isSeen) this.parts.panel.focus();
  }

  // The room

  layOut(): void {
    const { compose, isLive } = this.parts;
    const viewport = window.visualViewport;
    const width = viewport && viewport.scale === 1 ? viewport.width : window.innerWidth;
    const height = viewport && viewport.scale === 1 ? viewport.height : window.innerHeight;
    const { body } = document;
    // A keyboard that covers the page instead of shrinking it.
    document.documentElement.style.setProperty('--height', `${Math.round(height)}px`);
    if (viewport?.scale === 1) window.scrollTo(0, 0);
    const layout = layoutOf(width, height);
    const isTyping = compose.isOpen && compose.isFocused && layout !== 'wide' && height < 500;
    body.dataset.layout = layout;
    body.classList.toggle('typing', isTyping);
    const isPanelWanted = layout === 'wide' || body.classList.contains('with-panel');
    el('panel').hidden = !(isLive() && isPanelWanted);
    this.makeLegible(isTyping && layout === 'short');
    el('type-button')?.setAttribute('aria-expanded', String(compose.isOpen));
  }

  /** Of a phone held sideways the keyboard leaves a strip: it shows the place that is typed into. */
  private makeLegible(isStrip: boolean) {
    const { stage } = this.parts;
    if (isStrip === this.isStrip) return;
    this.isStrip = isStrip;
    if (!isStrip) stage.showFit();
    else if (stage.view.scale < LEGIBLE) stage.zoomTo(LEGIBLE);
  }
}
