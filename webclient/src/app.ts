// SPDX-License-Identifier: GPL-2.0-or-later
//
// Puts the parts together: what the daemon says goes into the model, the model decides what is shown, and
// what the person does goes to the daemon while, and only while, they have control.
import { forget, getState, NotValid, post, Refused, takeOver } from './api';
import type { Message, ServerState } from './api';
import { showCard } from './cards';
import { Clipboard } from './clipboard';
import { Compose } from './compose';
import { askHandBack, closeDialog, confirmTake } from './dialogs';
import { el, translate } from './dom';
import { tellHost } from './embed';
import { Hand } from './hand';
import { Header } from './header';
import { KEYSYM } from './keysyms';
import { Line } from './line';
import { endOf, INITIAL, opensAtOnce, phaseOf, showsPicture } from './model';
import type { Model, Phase } from './model';
import { More } from './more';
import { Notices } from './notices';
import { Panel } from './panel';
import type { Picture } from './picture';
import type { RfbChannel, ServerMessage } from './rfb_channel';
import { Sheets } from './sheets';
import { Shell } from './shell';
import { Stage } from './stage';
import { Steps } from './steps';
import type { StepMessage } from './steps';
import { Texts } from './texts';
import { keepAwake } from './wake';
import { loadWords, say } from './words';

const LOOK_AGAIN_MS = 5000;

class App {
  private readonly model: Model = { ...INITIAL };
  private readonly line: Line;
  private readonly stage: Stage;
  private readonly hand: Hand;
  private readonly texts: Texts;
  private readonly compose: Compose;
  private readonly sheets: Sheets;
  private readonly more: More;
  private readonly panel: Panel;
  private readonly header: Header;
  private readonly notices: Notices;
  private readonly clipboard: Clipboard;
  private readonly steps: Steps;
  private readonly shell: Shell;
  private phase: Phase = 'opening';
  private picture: Picture | null = null;
  private lastPicture: Picture | null = null;
  private wasConnected = false;
  private endsAt: number | null = null; // the takeover's, by this device's clock, which also runs in its sleep
  private isNewLine = false; // since the last word on who has control

  constructor() {
    this.line = new Line({
      // Its files may not come either, on a line that is bad.
      onChannel: (channel) => void this.openPicture(channel).catch(() => channel.drop()),
      onMessage: (message) => this.onMessage(message),
      onUp: () => this.gainLine(),
      onDown: () => this.loseLine('down'),
      onSilent: () => this.loseLine('silent'),
      onNoScreen: () => this.set({ isScreenMissing: true }),
      onEnd: (code) => this.end(endOf(code) ?? 'invalid'),
    });
    this.stage = new Stage(el('stage'), el('frame'), el('pointer'), (data) => this.line.send(data));
    this.hand = new Hand(this.stage, {
      isInControl: () => this.isInControl,
      isComposing: () => this.compose.isFocused,
      send: (data) => this.line.send(data),
      pasted: (text) => void this.clipboard.pasteText(text, false),
      leaveStage: () => (el('tools').querySelector('button') ?? el('hand-back')).focus(),
      tell: (word) => this.notices.tell(word),
    });
    this.texts = new Texts((message) => this.line.tell(message));
    this.notices = new Notices(() => this.header.restore());
    this.clipboard = new Clipboard({
      isLive: () => this.isInControl,
      send: (text, withEnter, secret) => this.texts.send(text, withEnter, secret),
      askBox: (text) => this.line.tell({ t: 'clipboard', ...(text === undefined ? {} : { text }) }),
      tell: (word, values) => this.notices.tell(word, values),
      askForPaste: (isCode) => this.sheets.askForPaste(isCode),
      showText: (text) => this.sheets.showText('copy', text),
      done: () => this.sheets.close(),
    });
    this.compose = new Compose({
      send: (text, withEnter, secret) => this.texts.send(text, withEnter, secret),
      isLive: () => this.isInControl,
      pasteCode: () => void this.clipboard.paste(true),
      pressEnter: () => this.hand.sticky.tap(KEYSYM.Return),
      tell: (word, values) => this.notices.tell(word, values),
      onFocus: () => this.shell.layOut(),
    });
    this.sheets = this.makeSheets();
    this.more = this.makeMore();
    this.panel = new Panel(
      (text) => this.sendNote(text),
      () => this.shell.showPanel(false),
    );
    this.header = new Header((text) => this.notices.announce(text));
    this.steps = new Steps(el('stage').parentElement!, () => this.picture?.canvas ?? null);
    this.shell = new Shell({
      stage: this.stage,
      compose: this.compose,
      sheets: this.sheets,
      panel: this.panel,
      isLive: () => showsPicture(this.phase),
    });
    this.bind();
  }

  private makeSheets(): Sheets {
    return new Sheets({
      stage: this.stage,
      sticky: this.hand.sticky,
      isTouchpad: () => this.hand.isTouchpad,
      setTouchpad: (isOn) => {
        this.hand.isTouchpad = isOn;
      },
      pasteCode: () => void this.clipboard.paste(true),
      pasteAll: () => void this.clipboard.paste(false),
      pasted: (text, isCode) => void this.clipboard.pasteText(text, isCode),
      copy: () => void this.clipboard.copyFromBox(),
      more: () => this.more.items(),
      onToggle: (name) => this.shell.markTools(name),
    });
  }

  private makeMore(): More {
    return new More(this.sheets, {
      server: () => this.model.server,
      canvas: () => (this.picture ?? this.lastPicture)?.canvas ?? null,
      isPanelBeside: () => this.shell.isPanelBeside,
      openMessages: () => this.openMessages(),
      typeDirectly: () => {
        this.sheets.close();
        this.compose.close();
        this.hand.typeDirectly();
      },
      allowWatchers: (allow) => this.line.tell({ t: 'watchers', allow }),
      tell: (word) => this.notices.tell(word),
    });
  }

  // Getting in

  async start(entered: Promise<ServerState>): Promise<void> {
    if (el('note').hidden) this.set({});
    try {
      this.take(await entered);
      if (opensAtOnce(this.model.server!)) this.openLive();
      tellHost({ type: 'ready' });
      await import('./picture'); // while the note is read
    } catch (error) {
      if (error instanceof NotValid) this.end('invalid');
      else this.set({ hasFailed: true });
    }
  }

  /** Without a socket nobody tells when another person comes or goes, or the agent gives up. */
  private async lookAgain() {
    if (document.hidden || (this.phase !== 'invite' && this.phase !== 'held')) return;
    try {
      this.take(await getState());
    } catch (error) {
      if (error instanceof NotValid) this.end('invalid');
    }
  }

  private openLive() {
    this.set({ wantsLive: true, line: this.line.isUp ? 'up' : 'connecting' });
    this.line.open();
  }

  private async takeOver(confirm: boolean) {
    this.set({ isTaking: true });
    try {
      const server = await takeOver(confirm);
      this.take(server);
      this.set({ isTaking: false });
      this.openLive();
      this.hand.focus();
    } catch (error) {
      this.set({ isTaking: false });
      if (error instanceof NotValid) this.end('invalid');
      else if (error instanceof Refused && error.code === 'held') await this.offerToTake();
      else this.notices.tell('failed');
    }
  }

  private async offerToTake() {
    await getState().then(
      (server) => this.take(server),
      () => {},
    );
    if (await confirmTake()) await this.takeOver(true);
  }

  // What the daemon says

  private take(server: Partial<ServerState>) {
    const { messages, ...rest } = server;
    if (rest.takeover) this.endsAt = Date.now() + rest.takeover.expires_in_s * 1000;
    for (const message of messages ?? []) this.panel.add(message);
    this.set({ server: { ...this.model.server, ...rest } as ServerState });
  }

  private onMessage(message: ServerMessage) {
    if (this.texts.handle(message)) return;
    switch (message.t) {
      case 'state':
        return this.onState(message as unknown as ServerState);
      case 'say':
      case 'note':
        return this.onSaid(message as unknown as Message);
      case 'ended':
        return this.onEnded(message);
      case 'clipboard':
        return this.clipboard.arrived(String(message.text ?? ''));
      case 'step':
        return this.steps.add(message as unknown as StepMessage);
      case 'error':
        return this.notices.tell('failed');
      default:
    }
  }

  private onState(server: ServerState) {
    const before = this.model.server;
    this.take(server);
    if (this.model.server!.holder === 'you') {
      if (before?.holder !== 'you' || this.isNewLine) this.texts.resend();
      this.isNewLine = false;
      if (!this.wasConnected) tellHost({ type: 'connected' });
      this.wasConnected = true;
    } else if (before?.holder === 'you') {
      this.texts.failAll();
      if (this.model.server!.takeover && this.model.server!.holder === 'agent') {
        this.notices.tell('back_open');
      }
    }
  }

  private onSaid(message: Message) {
    if (!this.panel.add(message) || message.from !== 'agent') return;
    this.notices.announce(`${say('from_agent')}: ${message.text}`);
    if (!this.shell.isPanelSeen) this.notices.quote(say('from_agent'), message.text);
  }

  private onEnded(message: ServerMessage) {
    const heldS = typeof message.held_s === 'number' ? message.held_s : null;
    const outcome = typeof message.outcome === 'string' ? message.outcome : null;
    this.set({ heldS, outcome });
    if (message.state === 'handed_back') this.end('handed_back');
    else this.end(message.state === 'cancelled' ? 'cancelled' : 'invalid');
  }

  // The end

  private end(end: NonNullable<Model['end']>) {
    if (this.model.end) return;
    this.hand.releaseAll();
    this.set({ end, line: 'none' });
    this.line.close();
    this.texts.failAll();
    this.compose.clear();
    for (const picture of [this.picture, this.lastPicture]) picture?.remove();
    this.picture = this.lastPicture = null;
    el('frame').replaceChildren();
    el('pointer').replaceChildren();
    closeDialog();
    this.sheets.close();
    // What was taken over can be taken back after a reload.
    if (end !== 'taken_over') forget();
    if (end === 'handed_back') tellHost({ type: 'handed_back', outcome: this.model.outcome });
    if (end === 'invalid' || end === 'cancelled') tellHost({ type: 'expired' });
  }

  private async handBack() {
    const answer = await askHandBack(this.compose.hasText || this.panel.hasText);
    if (!answer || this.model.end) return;
    try {
      const reply = (await post('hand_back', answer)) as { held_s?: number };
      // A plain link goes on watching.
      if (this.model.server?.takeover) {
        this.set({ outcome: answer.outcome, heldS: reply.held_s ?? null });
        this.end('handed_back');
      }
    } catch (error) {
      if (error instanceof NotValid) this.end('invalid');
      else this.notices.tell('failed');
    }
  }

  // The line and the picture

  private gainLine() {
    this.isNewLine = true;
    this.set({ line: 'up', isScreenMissing: false });
  }

  private loseLine(line: 'down' | 'silent') {
    if (this.model.end) return;
    this.hand.releaseAll();
    if (line === 'down' || !this.line.isUp) this.keepLastPicture();
    this.set({ line });
  }

  private keepLastPicture() {
    if (!this.picture) return;
    this.lastPicture?.remove();
    this.lastPicture = this.picture;
    this.picture = null;
    this.lastPicture.freeze();
  }

  private async openPicture(channel: RfbChannel) {
    const { Picture, decoderProbe } = await import('./picture');
    await decoderProbe;
    if (channel.isOver) return;
    this.picture = new Picture(el('frame'), channel, {
      onShown: () => {
        this.lastPicture?.remove();
        this.lastPicture = null;
      },
      onSize: (size) => this.stage.setScreen(size),
      onCursor: (shape) => this.stage.setCursor(shape),
      onPointer: (x, y) => this.stage.pointerMoved(x, y),
    });
  }

  // Showing

  private set(change: Partial<Model>) {
    Object.assign(this.model, change);
    const before = this.phase;
    this.phase = phaseOf(this.model);
    if (before === 'control' && this.phase !== 'control') this.hand.releaseAll();
    this.render(before);
  }

  private get isInControl(): boolean {
    return this.phase === 'control' && this.line.isUp;
  }

  private render(before: Phase) {
    const { phase, model } = this;
    const isLive = showsPicture(phase);
    const isHolder = isLive && model.server?.holder === 'you';
    document.body.dataset.phase = phase;
    this.hand.setActive(phase === 'control');
    el('pointer').hidden = !isLive;
    el('stage').setAttribute('aria-label', say('stage_name'));
    this.shell.showNote(model.end ? null : (model.server?.takeover ?? null));
    this.header.update(phase, model.server, isHolder ? this.endsAt : null, isHolder);
    showCard(phase, model, {
      takeOver: () => void this.takeOver(false),
      takeFromOther: () => void this.offerToTake(),
      watch: () => this.openLive(),
      reload: () => location.reload(),
    });
    this.panel.canSend = model.server?.role === 'control' && model.end === null;
    this.shell.showTools(isHolder ? 'control' : isLive ? 'view' : '');
    this.steps.show(phase === 'view' || (isLive && model.server?.role === 'view'));
    void keepAwake(phase === 'control');
    if (before !== phase) this.onPhase(phase);
    this.shell.layOut();
  }

  private onPhase(phase: Phase) {
    if (phase !== 'control') {
      this.compose.close();
      this.sheets.close();
    }
    if (phase === 'control') {
      if (this.compose.hasText) this.compose.show();
      this.hand.focus();
    } else if (phase === 'invite' || phase === 'held') el('card-take')?.focus();
  }

  // Messages

  private openMessages() {
    this.sheets.close();
    this.shell.showPanel(true);
  }

  private async sendNote(text: string): Promise<boolean> {
    try {
      await post('note', { text });
      return true;
    } catch {
      this.notices.tell('failed');
      return false;
    }
  }

  // What happens around the page

  private bind() {
    const on = (id: string, run: () => void) => el(id).addEventListener('click', run);
    on('take', () => void this.takeOver(false));
    on('hand-back', () => void this.handBack());
    on('extend', () => this.line.tell({ t: 'extend' }));
    addEventListener('blur', () => this.hand.leave());
    addEventListener('focus', () => this.hand.comeBack());
    addEventListener('online', () => this.line.hurry());
    addEventListener('pagehide', () => this.hand.leave());
    addEventListener('beforeunload', (event) => {
      if (this.phase === 'control') event.preventDefault();
    });
    document.addEventListener('visibilitychange', () => this.onVisibility());
    setInterval(() => void this.lookAgain(), LOOK_AGAIN_MS);
  }

  private onVisibility() {
    if (document.hidden) {
      this.hand.leave();
      this.compose.clearSecret();
      this.texts.clearSecrets();
      return;
    }
    this.hand.comeBack();
    this.line.hurry();
    void keepAwake(this.phase === 'control');
  }
}

/** entered: how things are, once the daemon has said so. */
export async function start(entered: Promise<ServerState>): Promise<void> {
  await loadWords(navigator.languages);
  translate();
  await new App().start(entered);
}
