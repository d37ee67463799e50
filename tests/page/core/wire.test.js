import assert from 'node:assert/strict';
import { test } from 'node:test';

import { WireError } from '../js/core/frames.js';
import { Wire } from '../js/core/wire.js';
import { settle, WELCOME, World } from './around.js';

const URL = 'ws://home/link';

function greeted(world, welcome = {}) {
  const { socket } = world;
  socket.open();
  socket.tell({ ...WELCOME, re: socket.last('hello').id, ...welcome });
  return socket;
}

async function linked(world = new World()) {
  const wire = new Wire(URL, 'wb_token', world.around);
  wire.start();
  const socket = greeted(world);
  await settle();
  return { world, wire, socket };
}

const fails = (code) => (fault) => fault instanceof WireError && fault.code === code;

test('says hello with its token and the sizes that it takes, and is linked when it is greeted', async () => {
  const world = new World();
  const wire = new Wire(URL, 'wb_token', world.around);
  assert.deepEqual(wire.state, { kind: 'reconnecting', since_ms: world.time, why: '' });
  wire.start();
  assert.deepEqual([world.socket.url, world.socket.protocols], [URL, ['waybread.v1.json']]);
  world.socket.open();
  assert.deepEqual(world.socket.sent, [
    { type: 'hello', id: 1, token: 'wb_token', client: 'waybread-page 1', max_message: 2097152 },
  ]);
  await world.pass(40);
  const welcomes = [];
  wire.onLinked = (welcome) => welcomes.push(welcome.epoch);
  world.socket.tell({ ...WELCOME, re: 1 });
  assert.deepEqual(wire.state, { kind: 'linked', since_ms: world.time, why: '' });
  assert.deepEqual(welcomes, ['e1']);
});

test('answers go to their requests, in whatever order they come', async () => {
  const { wire, socket } = await linked();
  const one = wire.request({ type: 'reads', session: 'a' });
  const other = wire.request({ type: 'reads', session: 'b' });
  const [first, second] = socket.sent.slice(-2);
  assert.notEqual(first.id, second.id);
  socket.tell({ type: 'read_list', re: second.id, reads: ['b'] });
  socket.tell({ type: 'read_list', re: first.id, reads: ['a'] });
  assert.deepEqual([(await one).reads, (await other).reads], [['a'], ['b']]);
});

test('an error is its code and its sentence', async () => {
  const { wire, socket } = await linked();
  const asked = wire.request({ type: 'reads', session: 'a' });
  socket.tell({ type: 'error', re: socket.last('reads').id, code: 'gone', message: 'It was deleted.', retry: false });
  await assert.rejects(asked, (fault) => fails('gone')(fault) && fault.message === 'It was deleted.' && !fault.retry);
});

test('a request without a link waits for it, and one whose link breaks is sent again on the next', async () => {
  const { world, wire, socket } = await linked();
  const sent = wire.request({ type: 'reads', session: 'a' });
  socket.end();
  const waiting = wire.request({ type: 'reads', session: 'b' });
  assert.equal(wire.state.kind, 'reconnecting');
  await world.pass(1000);
  const next = greeted(world);
  assert.notEqual(next, socket);
  const again = next.sent.filter((message) => message.type === 'reads');
  assert.deepEqual(again.map((message) => message.session).sort(), ['a', 'b']);
  for (const { id, session } of again) next.tell({ type: 'read_list', re: id, reads: [session] });
  assert.deepEqual([(await sent).reads, (await waiting).reads], [['a'], ['b']]);
});

test('what belongs to one link fails when that breaks, and at once where there is none', async () => {
  const { world, wire, socket } = await linked();
  const sent = wire.request({ type: 'sync' }, { once: true });
  socket.end();
  await assert.rejects(sent, fails('link_lost'));
  await assert.rejects(wire.request({ type: 'sync' }, { once: true }), fails('link_lost'));
  await world.pass(1000);
  assert.equal(greeted(world).last('sync'), undefined);
});

test('a busy daemon is asked again, after a while that grows', async () => {
  const { world, wire, socket } = await linked();
  const asked = wire.request({ type: 'ping' });
  const waits = [];
  for (let tries = 0; tries < 7; tries += 1) {
    const { id } = socket.last('ping');
    const from = world.time;
    socket.tell({ type: 'error', re: id, code: 'busy', message: 'Too many.', retry: true });
    while (socket.last('ping').id === id) await world.pass(10);
    waits.push(world.time - from);
  }
  assert.ok(waits[0] <= 260 && waits[0] >= 125, waits);
  assert.ok(waits[6] <= 4010 && waits[6] >= 2000, waits);
  socket.tell({ type: 'done', re: socket.last('ping').id, seq: 0, repeated: false });
  await asked;
});

test('what can be ended leaves a viewer room for what cannot, and goes on as fast as it may', async () => {
  const { world, wire, socket } = await linked();
  const count = () => socket.sent.filter((one) => one.type === 'reads').length;
  const { signal } = new AbortController();
  for (let number = 0; number < 100; number += 1) void wire.request({ type: 'reads', session: 's' }, { signal });
  assert.equal(count(), 41);
  for (let tap = 0; tap < 19; tap += 1) void wire.request({ type: 'reads', session: 's' });
  assert.equal(count(), 60);
  // The room is made again first: 20 a second.
  await world.pass(940);
  assert.equal(count(), 60);
  await world.pass(1010);
  assert.equal(count(), 60 + 20);
  await world.pass(2000);
  assert.equal(count(), 60 + 59);
});

test('where the daemon lets a viewer ask less often, what can be ended waits for a second', async () => {
  const { world, wire, socket } = await linked();
  void wire.request({ type: 'reads', session: 's' });
  socket.tell({ type: 'error', re: socket.last('reads').id, code: 'busy', message: 'Too many.', retry: true });
  void wire.request({ type: 'show', session: 's', result: '#0001' }, { signal: new AbortController().signal });
  await world.pass(900);
  assert.equal(socket.last('show'), undefined);
  await world.pass(200);
  assert.equal(socket.last('show').result, '#0001');
});

test('another role than a viewer’s waits for nothing, nor does anyone for a clock that was set back', async () => {
  const world = new World();
  const wire = new Wire(URL, 'wb_token', world.around);
  wire.start();
  const socket = greeted(world, { role: 'agent' });
  await settle();
  const { signal } = new AbortController();
  for (let number = 0; number < 100; number += 1) void wire.request({ type: 'ping' }, { signal });
  assert.equal(socket.sent.filter((one) => one.type === 'ping').length, 100);
  const viewer = await linked();
  void viewer.wire.request({ type: 'ping' });
  viewer.world.time -= 3_600_000;
  void viewer.wire.request({ type: 'reads', session: 's' }, { signal });
  assert.equal(viewer.socket.last('reads').session, 's');
});

test('a busy answer does not carry what belongs to one link over to the next', async () => {
  const { world, wire, socket } = await linked();
  const asked = wire.request({ type: 'sync' }, { once: true });
  socket.tell({ type: 'error', re: socket.last('sync').id, code: 'busy', message: 'Too many.', retry: true });
  world.random = () => 0;
  socket.end();
  await world.pass(0);
  const next = greeted(world);
  const rejected = assert.rejects(asked, fails('link_lost'));
  await world.pass(1000);
  await rejected;
  assert.equal(next.last('sync'), undefined);
});

test('tries again after a while that grows to a second while the page is seen, and to half a minute while it is not', async () => {
  for (const [seen, most] of [
    [true, 1000],
    [false, 30_000],
  ]) {
    const world = new World();
    world.seen = seen;
    world.random = () => 0.999;
    const wire = new Wire(URL, 't', world.around);
    wire.start();
    world.answering = () => false;
    world.socket.end();
    const begins = [world.time];
    while (world.looks.length < 10) await world.pass(50);
    begins.push(...world.looks);
    const waits = world.looks.map((look, at) => look - begins[at]);
    assert.ok(waits[0] <= 300, waits);
    assert.ok(waits[9] > most * 0.9 && waits[9] <= most + 50, waits);
    assert.ok(waits.every((wait, at) => at === 0 || wait >= waits[at - 1]), waits);
  }
});

const OTHER = 'ws://other/link';

/** Every socket fails at once. */
function failing(world, url = URL) {
  const begun = [];
  world.connect = (socket) => {
    begun.push(world.time);
    world.around.later(() => socket.end(), 1);
  };
  const wire = new Wire(url, 't', world.around);
  wire.start();
  return { wire, begun };
}

test('where nobody answers no socket is tried, and the link is there within a second of the return', async () => {
  for (const away of [20_000, 600_000]) {
    const { world, wire, socket } = await linked();
    world.answering = () => false;
    world.connect = (next) => world.around.later(() => next.end(), 1);
    socket.end();
    await world.pass(away);
    assert.equal(world.sockets.length, 2);
    assert.ok(world.looks.length > away / 1000, `${world.looks.length} looks`);
    world.answering = () => true;
    world.connect = () => {};
    await world.pass(1000);
    assert.equal(world.sockets.length, 3);
    greeted(world);
    assert.equal(wire.state.kind, 'linked');
  }
});

test('when it wakes it looks at once, once for signs that come together, and links when that is answered', async () => {
  const { world, wire, socket } = await linked();
  world.seen = false;
  world.random = () => 0.999;
  world.answering = () => false;
  socket.end();
  await world.pass(300);
  world.socket.end();
  await world.pass(120_000);
  const count = world.looks.length;
  world.answering = () => true;
  for (let sign = 0; sign < 3; sign += 1) wire.wake();
  await world.pass(0);
  assert.deepEqual([world.looks.length, world.sockets.length], [count + 1, 3]);
});

test('a look that hangs from before is replaced when the network is back, and not heard any more', async () => {
  const { world, wire, socket } = await linked();
  const answers = [];
  world.around.reach = () => new Promise((resolve) => answers.push(resolve));
  socket.end();
  await world.pass(300);
  world.socket.end();
  await world.pass(1000);
  assert.equal(answers.length, 1);
  wire.wake();
  assert.equal(answers.length, 2);
  answers[0](true);
  await world.pass(0);
  assert.equal(world.sockets.length, 2);
  answers[1](true);
  await world.pass(0);
  assert.equal(world.sockets.length, 3);
  world.socket.end();
  await world.pass(1000);
  wire.close();
  answers[2](true);
  await world.pass(60_000);
  assert.deepEqual([world.sockets.length, answers.length], [3, 3]);
});

test('where someone answers and no socket opens, and at a daemon that cannot be asked, sockets stay few', async () => {
  for (const url of [URL, OTHER]) {
    const world = new World();
    const { wire, begun } = failing(world, url);
    await world.pass(3000);
    assert.ok(begun.length >= 4, `${begun}`);
    await world.pass(177_000);
    assert.ok(begun.length <= 12, `${begun}`);
    await world.pass(180_000);
    assert.ok(begun.length <= 15, `${begun}`);
    assert.ok(world.looks.length < 15, `${world.looks}`);
    const count = begun.length;
    world.connect = () => {};
    wire.wake();
    await world.pass(0);
    assert.equal(world.sockets.length, count + 1);
    greeted(world);
    // What was opened counts anew: the next break is mended as soon as the first.
    world.socket.end();
    await world.pass(1000);
    assert.equal(world.sockets.length, count + 2);
  }
});

test('the wait is anything up to its bound, so that not everyone comes back at once', async () => {
  const world = new World();
  world.random = () => 0;
  const wire = new Wire(URL, 't', world.around);
  wire.start();
  world.socket.end();
  await world.pass(0);
  assert.equal(world.sockets.length, 2);
});

test('what is unreachable is reconnecting since the link was last there, and offline where the browser says so', async () => {
  const { world, wire, socket } = await linked();
  await world.pass(9000);
  const lost = world.time;
  socket.end();
  assert.deepEqual([wire.state.kind, wire.state.since_ms], ['reconnecting', lost]);
  await world.pass(3000);
  assert.deepEqual([wire.state.kind, wire.state.since_ms], ['reconnecting', lost]);
  world.hasNetwork = false;
  wire.wake();
  assert.deepEqual([wire.state.kind, wire.state.since_ms], ['offline', lost]);
  world.hasNetwork = true;
  wire.wake();
  assert.deepEqual([wire.state.kind, wire.state.since_ms], ['reconnecting', lost]);
  await world.pass(0);
  greeted(world);
  assert.equal(wire.state.kind, 'linked');
});

test('when the network is back, it connects at once, however long it would have waited', async () => {
  const world = new World();
  world.seen = false;
  world.random = () => 0.999;
  const wire = new Wire(URL, 't', world.around);
  wire.start();
  for (let tries = 0; tries < 8; tries += 1) {
    world.socket.end();
    await world.pass(20_000);
  }
  world.socket.end();
  const count = world.sockets.length;
  wire.wake();
  await world.pass(0);
  assert.equal(world.sockets.length, count + 1);
});

test('a try that hangs from before is replaced when the network is back, a fresh one is not', async () => {
  const world = new World();
  const wire = new Wire(URL, 't', world.around);
  wire.start();
  await world.pass(400);
  wire.wake();
  assert.equal(world.sockets.length, 1);
  await world.pass(400);
  wire.wake();
  await world.pass(0);
  assert.equal(world.sockets.length, 2);
  assert.equal(world.sockets[0].readyState, 3);
  world.sockets[0].onclose?.({ code: 1006, reason: '' });
  greeted(world);
  assert.equal(wire.state.kind, 'linked');
});

test('a link that died in sleep is found dead within a second of waking', async () => {
  const { world, wire } = await linked();
  await world.pass(15_000);
  wire.wake();
  await world.pass(900);
  assert.equal(wire.state.kind, 'reconnecting');
});

test('a link that lives answers and stays, and a page that was held up does not take it for dead', async () => {
  const { world, wire, socket } = await linked();
  await world.pass(15_000);
  wire.wake();
  socket.tell({ type: 'done', re: socket.last('ping').id, seq: 0, repeated: false });
  await world.pass(900);
  assert.equal(wire.state.kind, 'linked');
  wire.wake();
  // The clock jumps over the timeout while the answer waits in the queue.
  world.time += 800;
  const passing = world.pass(0);
  socket.tell({ type: 'done', re: socket.last('ping').id, seq: 0, repeated: false });
  await passing;
  await world.pass(300);
  assert.equal(wire.state.kind, 'linked');
});

test('it pings every 20 seconds and gives up a link that says nothing for 10', async () => {
  const { world, wire, socket } = await linked();
  for (let round = 0; round < 3; round += 1) {
    const count = socket.sent.length;
    await world.pass(20_000);
    assert.equal(socket.sent.length, count + 1);
    socket.tell({ type: 'done', re: socket.last('ping').id, seq: 0, repeated: false });
    await world.pass(10_000);
    assert.equal(wire.state.kind, 'linked');
  }
  await world.pass(20_000 + 10_001);
  assert.equal(socket.readyState, 3);
  assert.equal(wire.state.kind, 'reconnecting');
});

test('a daemon that takes the socket and says nothing is given up', async () => {
  const world = new World();
  const wire = new Wire(URL, 't', world.around);
  wire.start();
  world.socket.open();
  await world.pass(12_000);
  assert.ok(world.sockets.length >= 2);
  assert.equal(wire.state.why, 'The daemon does not answer.');
});

test('a token that is not taken, or taken back, ends it for good', async () => {
  for (const refuse of [
    (socket) => socket.tell({ type: 'error', re: 1, code: 'unauthenticated', message: 'no', retry: false }),
    (socket) => socket.end(4401),
    (socket) => {
      socket.tell({ ...WELCOME, re: 1 });
      socket.end(4403);
    },
  ]) {
    const world = new World();
    const wire = new Wire(URL, 't', world.around);
    wire.start();
    const waiting = wire.request({ type: 'ping' });
    world.socket.open();
    refuse(world.socket);
    assert.equal(wire.state.kind, 'refused');
    assert.match(wire.state.why, /pair again/);
    await assert.rejects(waiting, fails('refused'));
    await assert.rejects(wire.request({ type: 'ping' }), fails('refused'));
    await world.pass(60_000);
    wire.wake();
    wire.start();
    assert.equal(world.sockets.length, 1);
  }
});

test('a greeting that is busy, or cannot be read, is tried again', async () => {
  const world = new World();
  const wire = new Wire(URL, 't', world.around);
  wire.start();
  world.socket.open();
  world.socket.tell({ type: 'error', re: 1, code: 'busy', message: 'Too many links.', retry: true });
  assert.equal(wire.state.why, 'The daemon says: Too many links.');
  await world.pass(1000);
  assert.equal(world.sockets.length, 2);
  world.socket.open();
  world.socket.tell('nonsense');
  await world.pass(1000);
  assert.equal(world.sockets.length, 3);
});

test('pushes come in order; unknown ones, unknown fields and answers that nobody waits for are passed over', async () => {
  const { wire, socket } = await linked();
  const seen = [];
  wire.onPush = (push) => seen.push(push.type === 'entry' ? push.entry.seq : push.type);
  socket.tell({ type: 'entry', entry: { seq: 5 }, new: 1 });
  socket.tell({ type: 'weather', sunny: true });
  socket.tell({ type: 'done', re: 999 });
  socket.tell({ type: 'error', re: 0, code: 'bad_message', message: '', retry: false });
  socket.tell({ type: 'entry', entry: { seq: 6 } });
  socket.tell({ type: 'lagged', next: 6 });
  assert.deepEqual(seen, [5, 6, 'lagged']);
});

test('what an old socket still says is not heard', async () => {
  const { world, wire, socket } = await linked();
  const seen = [];
  wire.onPush = (push) => seen.push(push);
  const { onmessage, onclose } = socket;
  socket.end();
  await world.pass(1000);
  greeted(world);
  onmessage({ data: '{"type":"entry","entry":{"seq":9}}' });
  onclose({ code: 4403, reason: '' });
  assert.deepEqual(seen, []);
  assert.equal(wire.state.kind, 'linked');
});

test('a request that nobody wants any more is not sent, nor answered', async () => {
  const { world, wire, socket } = await linked();
  const stop = new AbortController();
  const asked = wire.request({ type: 'ping' }, { signal: stop.signal });
  socket.end();
  stop.abort();
  await assert.rejects(asked, { name: 'AbortError' });
  await assert.rejects(wire.request({ type: 'ping' }, { signal: stop.signal }), { name: 'AbortError' });
  await world.pass(1000);
  assert.equal(greeted(world).last('ping'), undefined);
});

test('an address that the page may not open is refused, with the browser\u2019s words', async () => {
  const world = new World();
  world.connect = () => {
    throw new Error('refused by policy');
  };
  const wire = new Wire(URL, 't', world.around);
  wire.start();
  assert.equal(wire.state.kind, 'refused');
  assert.match(wire.state.why, /refused by policy/);
});

test('a closed wire stays closed, and what waited fails', async () => {
  const { world, wire, socket } = await linked();
  const asked = wire.request({ type: 'ping' });
  wire.close();
  await assert.rejects(asked, fails('link_lost'));
  await assert.rejects(wire.request({ type: 'ping' }), fails('link_lost'));
  assert.equal(socket.closed, 1000);
  wire.wake();
  await world.pass(60_000);
  assert.equal(world.sockets.length, 1);
});
