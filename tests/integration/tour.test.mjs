// SPDX-License-Identifier: GPL-2.0-or-later
//
// docs/tour.md from its beginning to its end: each command in its sh blocks is run as it stands there, in order, and what the page
// says of it is checked. With BOXSCREEN_PICTURES=FOLDER the pictures of the page are taken too (needs pngquant:
// tests/bench/packages.txt).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { boxTest, build, followEvents, root, waitFor } from './harness.mjs';
import { DESKTOP, PIXEL, startPeople, Visitor } from './page.mjs';
import { assertGood } from './video.mjs';

const PICTURE_BYTES_MAX = 60000;
const folder = process.env.BOXSCREEN_PICTURES;
const page = fs.readFileSync(path.join(root, 'docs/tour.md'), 'utf8');
const commands = [...page.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap((match) => match[1].trim().split('\n'));

function savePicture(name, png) {
  if (!folder) return;
  fs.mkdirSync(folder, { recursive: true });
  const small = execFileSync('pngquant', ['--speed', '1', '--nofs', '48', '-'], { input: png });
  assert(small.length < PICTURE_BYTES_MAX, `${name}: ${small.length} bytes`);
  fs.writeFileSync(path.join(folder, `${name}.png`), small);
}

/** Runs the page's commands one after the other, in a shell that is set up as the page says. */
class Tour {
  constructor(box, daemon) {
    this.env = { ...daemon.env, PATH: `${path.join(build, 'cli')}:${process.env.PATH}`, DISPLAY: undefined };
    this.box = box;
    this.left = [...commands];
    fs.symlinkSync(path.join(root, 'docs'), box.file('docs'));
  }

  /** The next command; it must begin so. */
  take(beginning) {
    const command = this.left.shift();
    assert(command?.startsWith(beginning), `docs/tour.md: after the last command comes "${command}", not "${beginning}…"`);
    return command;
  }

  async run(beginning, { status = 0 } = {}) {
    const result = await this.box.run('sh', ['-c', this.take(beginning)], { env: this.env });
    assert.equal(result.status, status, `${beginning}: ${result.stderr}`);
    return { text: result.stdout.toString().trim(), complaint: result.stderr };
  }

  start(beginning, change = (command) => command) {
    return this.box.spawn('sh', ['-c', `exec ${change(this.take(beginning))}`], { env: this.env, name: beginning });
  }
}

async function startSite(tour) {
  const site = tour.start('node docs/samples/tour-site.mjs', (command) => `${command} 0`); // a free port
  const address = await waitFor('the site', () => site.output().match(/^http:.*/m)?.[0], 15000);
  return { address, code: () => site.output().match(/your code is (\d{6})/)?.[1], hasLetIn: () => site.output().includes('has signed in') };
}

/** A phone that enters the code and hands back; `whileHeld` runs once it holds the screen. */
async function enterCode(people, url, code, whileHeld) {
  const phone = await Visitor.open(people, url, { device: { ...PIXEL, deviceScaleFactor: 1 }, reducedMotion: 'reduce' });
  await phone.expectPhase('invite');
  assert.match(await phone.page.textContent('#note-text'), /has sent a code to your phone/);
  savePicture('tour-note', await phone.page.screenshot());
  await phone.takeOver();
  await whileHeld();
  await phone.tap(640, 380);
  await phone.page.click('#type-button');
  await phone.page.locator('#compose-field').pressSequentially(code, { delay: 30 });
  savePicture('tour-code', await phone.page.screenshot());
  await phone.page.press('#compose-field', 'Enter');
  await phone.expectField('');
  return phone;
}

async function handBack(phone) {
  await phone.page.click('#hand-back');
  await phone.page.check('#dialog input[value=done]');
  await phone.page.fill('#hand-back-message', 'You are signed in.');
  savePicture('tour-hand-back', await phone.page.screenshot());
  await phone.page.click('#hand-back-confirm');
  await phone.expectPhase('handed_back');
  await phone.expectClean();
}

/** The last picture of the chapters on which there is something new, each with its time and its name. */
async function saveChapters(box, people, video) {
  if (!folder) return;
  const figures = [];
  for (const [i, { at, title }] of video.chapters.entries()) {
    if (i === 0 || title === 'the agent has the screen again') continue;
    // There are pictures only where something changes: made to a steady rate, the one of that moment is there.
    const end = video.chapters[i + 1]?.at - 0.1 || video.duration - 1;
    await box.ok('ffmpeg', ['-v', 'error', '-y', '-i', 'copy.mp4', '-frames:v', '1', '-vf', `fps=50,trim=start=${end},scale=380:-1`, 'chapter.png']);
    const picture = fs.readFileSync(box.file('chapter.png')).toString('base64');
    figures.push(`<figure><img src="data:image/png;base64,${picture}"><figcaption>0:${String(Math.floor(at)).padStart(2, '0')} ${title}</figcaption></figure>`);
  }
  const sheet = await people.newPage({ viewport: { width: 1184, height: 10 } });
  await sheet.setContent(`<style>body{margin:10px;display:flex;flex-wrap:wrap;gap:12px;font:15px sans-serif}figure{margin:0}img{display:block}</style>${figures.join('')}`);
  savePicture('tour-video', await sheet.screenshot({ fullPage: true }));
}

boxTest('docs/tour.md: start, watch, record, a code, a person with a phone, hand back, the video', async (box) => {
  // ./start has tests of its own (start.test.mjs); this is what it starts.
  const daemon = await box.startDaemon({ xvfb: 'auto,1280x800' });
  const events = followEvents(daemon.socket);
  await events.connected;
  box.onClose(() => events.close());
  const tour = new Tour(box, daemon);
  tour.take('./start');
  tour.take('sudo apt-get install chromium curl ffmpeg'); // which ./start does not
  tour.take('npm --prefix tests ci');

  const people = await startPeople(box);
  const watcher = await Visitor.open(people, (await tour.run('boxscreen link view')).text, { device: DESKTOP });
  await watcher.expectPhase('view');
  await watcher.expectPicture();
  assert.match((await tour.run('boxscreen record start')).text, /^r-/);

  const site = await startSite(tour);
  const test = tour.start('node docs/samples/tour-test.mjs', (command) => command.replace(/http:\S+/, site.address));
  const opened = (await events.next('takeover.opened', 60000)).data;
  const link = await waitFor('the link of the takeover', () => test.log().match(/^http:.*/m)?.[0], 10000);
  assert.equal(new URL(link).origin, new URL(opened.url).origin);
  assert.match(site.code(), /^\d{6}$/);
  await daemon.request('GET', '/v1/shot?wait=stable&quiet_ms=400&timeout_ms=10000');
  savePicture('tour-watch', await watcher.page.screenshot());

  const phone = await enterCode(people, link, site.code(), async () => {
    for (const command of ['boxscreen click', 'boxscreen shot'])
      assert.match((await tour.run(command, { status: 4 })).complaint, /a person holds the screen/);
    assert(!fs.existsSync(box.file('secret.png')));
    await watcher.expectPicture();
    savePicture('tour-card', await watcher.page.screenshot());
  });
  await waitFor('the shop to let the person in', () => site.hasLetIn(), 10000);
  await handBack(phone);

  await waitFor('the end of the test', () => test.end, 40000);
  assert.equal(test.end.code, 0, test.log());
  assert.match(test.output(), /^handed back: done: You are signed in\.\npassed\n$/);

  assert.equal((await tour.run('boxscreen record stop')).text, box.file('tour.mp4'));
  await waitFor('the index of the video', async () =>
    (await daemon.json('GET', '/v1/recordings')).recordings[0].state === 'done', 20000, 50);
  assert.match((await tour.run('boxscreen record link')).text, /^http:.*\/files\//);
  await tour.run('curl -sS -o copy.mp4');
  assert(fs.readFileSync(box.file('copy.mp4')).equals(fs.readFileSync(box.file('tour.mp4'))));
  const chapters = (await tour.run('ffprobe')).text;
  for (const title of ['Sign in', 'a person has the screen', 'The invoice']) assert.match(chapters, new RegExp(`title=${title}`));
  assert.deepEqual(tour.left, [], 'nothing on the page is left out');
  const video = await assertGood(box, box.file('copy.mp4'));
  await saveChapters(box, people, video);
  await watcher.expectClean();
});
