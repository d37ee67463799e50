// The models against a daemon as it is: a process of its own, over real sockets, killed and started again.

import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { WebSocket } from 'ws';

import { groupCode, pair, readOffer } from '../js/core/pairings.js';
import { openDatabase } from '../js/core/database.js';
import { isCut } from '../js/core/texts.js';
import { Home } from '../js/core/home.js';
import { Wire } from '../js/core/wire.js';
import { isRun, seqs } from './house.js';

const PYTHON = process.env.PAGE_PYTHON;
let port = 0;
let daemon = null;
let tokens = {};

const around = {
  now: Date.now,
  random: Math.random,
  later: setTimeout,
  cancel: clearTimeout,
  socket: (url, protocols) => new WebSocket(url, protocols),
  visible: () => true,
  online: () => true,
  reach: () => fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => answer.ok, () => false),
};

async function start() {
  daemon = spawn(PYTHON, ['-m', 'waybread_daemon', 'serve', '--port', `${port}`], { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const line of createInterface(daemon.stdout)) {
    port = Number(/:(\d+)\//.exec(line)[1]);
    return;
  }
  throw new Error('the daemon did not start');
}

async function stop(signal) {
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill(signal);
  await ended;
}

function waybread(...words) {
  return JSON.parse(execFileSync(PYTHON, ['-m', 'waybread_daemon', ...words, '--json'], { encoding: 'utf8' }).split('\n')[0]);
}

/** Waits until something is so; a test that waits in vain fails with what it saw. */
async function until(what, see = () => '') {
  const end = Date.now() + 20_000;
  while (!what()) {
    if (Date.now() > end) assert.fail(`${what} did not come: ${JSON.stringify(see())}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

let factory = new IDBFactory();
const opened = [];

async function home(token = tokens.viewer) {
  const pairing = { id: 'p', url: `ws://127.0.0.1:${port}/link`, device: 'd', name: '', role: 'viewer', token, paired_ms: 1 };
  const one = new Home(pairing, await openDatabase(factory), around);
  opened.push(one);
  await one.start();
  return one;
}

/** The device that the phone looks at: what it sends goes on when the link breaks, by its keys. */
class Device {
  keys = 0;
  constructor() {
    this.wire = new Wire(`ws://127.0.0.1:${port}/link`, tokens.device, around);
    this.wire.start();
  }
  ask = (request) => this.wire.request(request);
  key = () => `k${Date.now()}-${(this.keys += 1)}`;
  open = (session) => this.ask({ type: 'open', session, kind: 'agent', title: `The ${session}`, directory: '/src' });
  say = (session, text) => this.ask({ type: 'message', session, key: this.key(), role: 'user', text });
  result = (session, text) => this.ask({ type: 'result', session, key: this.key(), tool: 'bash', body: { kind: 'text', text } });
}

let device = null;

before(async () => {
  await start();
  const one = waybread('device', 'add', 'laptop');
  const { device: id } = waybread('device', 'list');
  tokens = { device: one.token, viewer: waybread('device', 'add', 'phone', '--role', 'viewer', '--device', id).token };
  device = new Device();
});

after(async () => {
  device.wire.close();
  for (const one of opened) await one.close();
  await stop('SIGKILL');
});

test('a phone sees sessions, entries and results as they come', async () => {
  await device.open('s');
  const phone = await home();
  const model = phone.openSession('s');
  await until(() => phone.state.as_of_ms === null && model.joined);
  await device.say('s', 'Fix the tests.\n');
  const { result } = await device.result('s', Array.from({ length: 1000 }, (_, at) => `row ${at + 1}`).join('\n'));
  await until(() => model.state.entries.length === 3);
  assert.deepEqual(model.state.entries.map((entry) => entry.kind), ['opened', 'message', 'result']);
  const shown = model.state.entries[2];
  assert.deepEqual([shown.result, shown.capped, shown.text.split('\n')[0]], [result, true, '[#0001]']);
  await until(() => phone.state.sessions[0].raw_bytes > 7000);
  const [row] = phone.state.sessions;
  assert.deepEqual([row.title, row.directory, row.results, row.last_line], ['The s', '/src', 1, 'row 1000']);
  const windows = phone.results('s', 1);
  assert.deepEqual((await windows.lines(999, 5)).map((line) => line.text), ['row 999', 'row 1000']);
  const found = [];
  for await (const some of windows.find('ROW 77')) found.push(...some.map((one) => one.line));
  assert.deepEqual(found, [77, 770, 771, 772, 773, 774, 775, 776, 777, 778, 779]);
  assert.deepEqual(await model.reads(), []);
});

test('a long text is cut in its entry and had whole, a large result walked through exactly', async () => {
  const text = 'é€😀 and so on\n'.repeat(25_000);
  await device.open('long');
  await device.say('long', text);
  await device.result('long', text);
  const phone = await home();
  const model = phone.openSession('long');
  await until(() => model.state.entries.length > 0 && model.joined);
  while (model.state.has_older) await model.loadOlder();
  const message = model.state.entries.find((entry) => entry.kind === 'message');
  assert.equal(isCut(message), true);
  assert.equal(await model.fullText(message), text);
  assert.equal(await phone.results('long', 1).wholeText(), text);
});

test('a daemon that is killed and started again in mid-stream leaves no gap, and nothing is there twice', async () => {
  await device.open('stream');
  const phone = await home();
  const model = phone.openSession('stream');
  await until(() => model.joined);
  const holes = [];
  model.subscribe(() => {
    const at = seqs(model);
    if (at.some((seq, index) => index > 0 && seq <= at[index - 1])) holes.push(at);
  });
  const sent = [];
  let streaming = true;
  const stream = (async () => {
    for (let count = 0; streaming; count += 1) sent.push((await device.say('stream', `line ${count}`)).seq);
  })();
  for (const signal of ['SIGKILL', 'SIGTERM']) {
    const before = sent.length;
    await until(() => sent.length > before + 50);
    await stop(signal);
    await until(() => phone.state.link.kind === 'reconnecting');
    await start();
    const back = Date.now();
    await until(() => phone.state.as_of_ms === null, () => phone.state.link);
    assert.ok(Date.now() - back < 2500, `${Date.now() - back} ms`);
  }
  streaming = false;
  await stream;
  await until(() => seqs(model).at(-1) === sent.at(-1), () => [seqs(model).at(-1), sent.at(-1)]);
  assert.deepEqual(holes, []);
  assert.deepEqual(model.state.entries.slice(1).map((entry) => entry.text), sent.map((_, count) => `line ${count}`));
  assert.ok(isRun(model.state.entries, model.state.entries));
});

test('a phone that was away shows what it kept, then all that came', async () => {
  await device.open('away');
  await device.say('away', 'before');
  const phone = await home();
  let model = phone.openSession('away');
  await until(() => model.joined);
  await phone.close();
  const last = await device.say('away', 'meanwhile');
  const again = await home();
  model = again.openSession('away');
  await until(() => seqs(model).at(-1) === last.seq);
  assert.deepEqual(model.state.entries.map((entry) => entry.text), ['', 'before', 'meanwhile']);
});

test('a deleted session is gone from the list, from its page and from what was kept', async () => {
  await device.open('doomed');
  const phone = await home();
  const model = phone.openSession('doomed');
  await until(() => model.joined);
  await device.ask({ type: 'delete', session: 'doomed' });
  await until(() => model.state.gone);
  assert.ok(!phone.state.sessions.some((row) => row.session === 'doomed'));
  assert.equal(await phone.cache.entries('doomed'), null);
});

test('a phone whose token is taken back, or was never given, is refused', async () => {
  const { device: id } = waybread('device', 'list');
  const fresh = waybread('device', 'add', 'lost', '--role', 'viewer', '--device', id);
  const phone = await home(fresh.token);
  await until(() => phone.state.as_of_ms === null);
  execFileSync(PYTHON, ['-m', 'waybread_daemon', 'device', 'revoke', fresh.token.split('.')[0]]);
  await until(() => phone.state.link.kind === 'refused', () => phone.state.link);
  const stranger = await home('wb_nobody.nothing');
  await until(() => stranger.state.link.kind === 'refused');
});

test('a phone pairs by the address that a person is shown, and sees that device', async () => {
  const { device: id } = waybread('device', 'list');
  const offer = spawn(PYTHON, ['-m', 'waybread_daemon', 'pair', '--role', 'viewer', '--device', id, '--json'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface(offer.stdout)[Symbol.asyncIterator]();
  const shown = JSON.parse((await lines.next()).value);
  const said = readOffer(shown.page, 'ws://elsewhere/link');
  assert.deepEqual([said.url, groupCode(said.code)], [`ws://127.0.0.1:${port}/link`, shown.code]);
  const paired = await pair(said.url, said.code, 'my phone', around);
  assert.deepEqual([paired.device, paired.role], [id, 'viewer']);
  const phone = await home(paired.token);
  await until(() => phone.state.as_of_ms === null && phone.state.sessions.length > 0);
  await assert.rejects(pair(said.url, said.code, 'another', around), { code: 'unauthenticated' });
});

test('a wrong code pairs nothing', async () => {
  const pairing = pair(`ws://127.0.0.1:${port}/link`, '0'.repeat(26), 'phone', around);
  await assert.rejects(pairing, { code: 'unauthenticated' });
});

test('a device of many entries and a busy viewer: what is refused for a moment comes', async () => {
  await device.open('many');
  const asked = [];
  for (let count = 0; count < 2300; count += 1) asked.push(device.say('many', `${count}`));
  const last = (await Promise.all(asked)).at(-1);
  factory = new IDBFactory();
  const phone = await home();
  const model = phone.openSession('many');
  await until(() => seqs(model).at(-1) === last.seq);
  const looks = await Promise.all(Array.from({ length: 100 }, () => phone.wire.request({ type: 'ping' })));
  assert.ok(looks.every((answer) => answer.type === 'done'));
});
