import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { settle } from './around.js';
import { house, isRun, PAIRING, reloaded, seqs } from './house.js';

const names = (home) => home.state.sessions.map((row) => row.session);

async function started(how) {
  const all = await house(how);
  for (const session of ['a', 'b', 'c']) all.daemon.open(session, session.toUpperCase());
  await all.home.start();
  await all.world.pass(10);
  return all;
}

test('sessions are last changed first, and say live what was said last', async () => {
  const { world, daemon, home } = await started();
  assert.deepEqual([names(home), home.state.loaded_all, home.state.loading, home.state.as_of_ms], [['c', 'b', 'a'], true, false, null]);
  daemon.say('a', 'Fix it.\n\n');
  daemon.result('b', '[#0001]\nok 1\n');
  await world.pass(10);
  assert.deepEqual(names(home), ['b', 'a', 'c']);
  const [b, a] = home.state.sessions;
  assert.deepEqual([a.last_line, b.last_line, b.results, b.head], ['Fix it.', 'ok 1', 1, 5]);
  assert.equal(b.raw_bytes, 0);
  // What only the list knows comes a moment later.
  await world.pass(2000);
  assert.ok(home.state.sessions[0].raw_bytes > 0);
});

test('a new session is there at once, and its directory a moment later', async () => {
  const { world, daemon, home } = await started();
  daemon.open('d', 'New');
  await world.pass(10);
  const [row] = home.state.sessions;
  assert.deepEqual([row.session, row.title, row.kind, row.directory], ['d', 'New', 'agent', '']);
  await world.pass(2000);
  assert.equal(home.state.sessions[0].directory, '/home/d');
});

test('a deleted session leaves the list', async () => {
  const { world, daemon, home } = await started();
  daemon.delete('b');
  await world.pass(10);
  assert.deepEqual(names(home), ['c', 'a']);
});

test('older sessions are loaded when they are asked for, and those that change come by themselves', async () => {
  const all = await house();
  const { world, daemon, home } = all;
  for (let number = 0; number < 450; number += 1) daemon.open(`s${number}`);
  await home.start();
  await world.pass(10);
  assert.deepEqual([home.state.sessions.length, home.state.loaded_all], [200, false]);
  daemon.say('s3', 'an old one moves');
  await world.pass(3000);
  assert.equal(names(home)[0], 's3');
  assert.equal(home.state.sessions.length, 201);
  for (const count of [401, 450]) {
    const more = home.moreSessions();
    await world.pass(10);
    await more;
    assert.equal(home.state.sessions.length, count);
  }
  assert.equal(home.state.loaded_all, true);
  assert.deepEqual(names(home), daemon.list().map((row) => row.session));
  await home.moreSessions();
});

test('without a link it says since when, and that nothing is live', async () => {
  const { world, daemon, home } = await started();
  const model = home.openSession('a');
  await world.pass(1000);
  daemon.up = false;
  daemon.cut();
  await world.pass(10);
  const lost = world.time - 10;
  assert.deepEqual([home.state.link.kind, home.state.link.since_ms], ['reconnecting', lost]);
  assert.deepEqual([home.state.as_of_ms, model.state.as_of_ms], [lost, lost]);
  await home.moreSessions();
  world.hasNetwork = false;
  home.wake();
  await world.pass(10);
  assert.equal(home.state.link.kind, 'offline');
  world.hasNetwork = true;
  daemon.up = true;
  daemon.say('a', 'meanwhile');
  home.wake();
  await world.pass(900);
  assert.deepEqual([home.state.link.kind, home.state.as_of_ms, model.state.as_of_ms], ['linked', null, null]);
  assert.deepEqual(seqs(model), [1, 4]);
});

test('how long the link is away is told from when it was last there, also by a page that was loaded again', async () => {
  const first = await started();
  await first.world.pass(70_000);
  const lost = first.world.time;
  first.daemon.up = false;
  first.daemon.cut();
  await first.world.pass(3_600_000);
  assert.equal(first.home.state.link.since_ms, lost);
  const { world, home } = await reloaded(first);
  world.hasNetwork = false;
  await home.start();
  await world.pass(100);
  assert.deepEqual([home.state.link.kind, home.state.link.since_ms, home.state.as_of_ms], ['offline', lost, lost]);
  world.hasNetwork = true;
  home.wake();
  await world.pass(100);
  assert.deepEqual([home.state.link.kind, home.state.link.since_ms], ['reconnecting', lost]);
});

test('a page that ends while it is live is right up to when the daemon was last heard', async () => {
  const first = await started();
  await first.world.pass(95_000);
  first.home.keep();
  await settle();
  first.daemon.up = false;
  const { world, home } = await reloaded(first);
  await home.start();
  await world.pass(100);
  const ago_ms = world.time - home.state.link.since_ms;
  assert.ok(ago_ms >= 100 && ago_ms < 20_200, String(ago_ms));
  assert.equal(home.state.as_of_ms, home.state.link.since_ms);
});

test('a page that was never linked was last there when it was paired', async () => {
  const { world, daemon, home } = await house();
  daemon.up = false;
  await home.start();
  await world.pass(5000);
  assert.deepEqual([home.state.link.since_ms, home.state.as_of_ms], [PAIRING.paired_ms, 0]);
});

test('a link that died in sleep was last there before the sleep, and what is shown is as old', async () => {
  for (const told of [true, false]) {
    const { world, daemon, home } = await started();
    await world.pass(1000);
    const heard = home.wire.heard_ms;
    daemon.up = false;
    // No timer runs while it sleeps.
    world.time += 3_600_000;
    if (told) daemon.cut();
    else for (const { socket } of daemon.links) socket.onsent = () => {};
    home.wake();
    await world.pass(1500);
    assert.deepEqual([home.state.link.since_ms, home.state.as_of_ms], [heard, heard], `told: ${told}`);
  }
});

test('that the link is away is told when it is for longer than a moment, and at once by a page that begins without a network', async () => {
  const first = await started();
  const { world, daemon, home } = first;
  assert.equal(home.state.away, false);
  daemon.cut();
  await world.pass(690);
  if (home.state.link.kind !== 'linked') assert.equal(home.state.away, false);
  await world.pass(2000);
  assert.deepEqual([home.state.link.kind, home.state.away], ['linked', false]);
  daemon.up = false;
  daemon.cut();
  await world.pass(650);
  assert.equal(home.state.away, false);
  await world.pass(100);
  assert.equal(home.state.away, true);
  const again = (await reloaded(first)).home;
  await again.start();
  await settle();
  assert.equal(again.state.away, false);
  await world.pass(750);
  assert.equal(again.state.away, true);
  world.hasNetwork = false;
  const offline = (await reloaded({ ...first, home: again })).home;
  await offline.start();
  assert.equal(offline.state.away, true);
  world.hasNetwork = true;
  daemon.up = true;
  offline.wake();
  await world.pass(1000);
  assert.deepEqual([offline.state.link.kind, offline.state.away], ['linked', false]);
});

test('another log starts over without fuss', async () => {
  const { world, daemon, home } = await started();
  const model = home.openSession('a');
  daemon.say('a', '1');
  await world.pass(500);
  daemon.say('a', '2');
  await world.pass(500);
  daemon.restore(4, 'e2');
  await world.pass(1500);
  assert.deepEqual([seqs(model), names(home)], [[1, 4], ['a', 'c', 'b']]);
  daemon.say('a', 'another 2');
  await world.pass(500);
  assert.deepEqual(model.state.entries.map((entry) => entry.text), ['', '1', 'another 2']);
  assert.deepEqual((await home.cache.entries('a')).entries.map((entry) => entry.text), ['', '1', 'another 2']);
});

test('after a long absence the list is taken anew, and open sessions show their end', async () => {
  const { world, daemon, home } = await started();
  const model = home.openSession('a');
  await world.pass(500);
  daemon.cut();
  for (let count = 0; count < 2500; count += 1) daemon.say('a', `${count}`);
  await world.pass(3000);
  assert.equal(seqs(model).at(-1), daemon.head);
  assert.ok(isRun(model.state.entries, daemon.of('a')));
  assert.equal(daemon.asked.filter((message) => message.type === 'sync').length, 2);
});

test('after a long absence what is kept of sessions that nobody has open has no hole', async () => {
  const { world, daemon, home } = await started();
  const model = home.openSession('b');
  await world.pass(500);
  model.close();
  daemon.cut();
  for (let count = 0; count < 2500; count += 1) daemon.say(count % 2 === 0 ? 'b' : 'a', `${count}`);
  daemon.failing = [];
  // The look that would bring it up to date does not get through.
  daemon.delay_ms = (way, request) => (way === 'look' && request.type === 'history' ? 1e9 : 0);
  await world.pass(3000);
  daemon.say('b', 'live again');
  await world.pass(1000);
  assert.ok(isRun((await home.cache.entries('b')).entries, daemon.of('b')));
});

test('a list that is newer than the log is told is not taken back', async () => {
  const { world, daemon, home } = await started();
  daemon.result('a', '1');
  await world.pass(1000);
  daemon.delay_ms = (way) => (way === 'push' ? 2000 : 0);
  daemon.say('a', '2');
  await world.pass(400);
  daemon.say('a', '3');
  await world.pass(500);
  assert.equal(home.state.sessions[0].last_line, '3');
  await world.pass(1200);
  assert.deepEqual([home.state.sessions[0].last_line, home.state.sessions[0].head], ['3', 6]);
});

test('what is kept of sessions that nobody has open stays up to date', async () => {
  const first = await started();
  for (const session of ['a', 'b']) {
    const model = first.home.openSession(session);
    await first.world.pass(100);
    model.close();
  }
  // While it is live, by what it follows.
  first.daemon.say('a', 'live');
  await first.world.pass(1000);
  assert.deepEqual((await first.home.cache.entries('a')).entries.map((entry) => entry.text), ['', 'live']);
  // And after it was away, by a look.
  first.daemon.say('b', 'meanwhile');
  first.daemon.delete('a');
  const { world, daemon, home } = await reloaded(first);
  daemon.say('b', 'and more');
  await home.start();
  await world.pass(1000);
  assert.deepEqual((await home.cache.entries('b')).entries.map((entry) => entry.text), ['', 'meanwhile', 'and more']);
  assert.equal(await home.cache.entries('a'), null);
  assert.deepEqual(home.cache.tails(), ['b']);
  assert.deepEqual(daemon.asked.filter((message) => message.type === 'history').map((message) => message.session), ['a', 'b', 'b']);
});

test('a kept session that is older than the list is let go when the daemon has it no more', async () => {
  const first = await started();
  const model = first.home.openSession('a');
  await first.world.pass(100);
  model.close();
  for (let number = 0; number < 250; number += 1) first.daemon.open(`s${number}`);
  first.daemon.delete('a');
  const { world, home } = await reloaded(first);
  await home.start();
  await world.pass(1000);
  assert.deepEqual(home.cache.tails(), []);
});

test('a token that was taken back ends the link and keeps what there is', async () => {
  const { world, daemon, home } = await started();
  daemon.cut(4403);
  await world.pass(10);
  assert.equal(home.state.link.kind, 'refused');
  assert.match(home.state.link.why, /taken back/);
  assert.deepEqual(names(home), ['c', 'b', 'a']);
});

test('sessions that are opened before what is kept was read are not taken for empty', async () => {
  const first = await started();
  const opened = first.home.openSession('a');
  await first.world.pass(1000);
  first.daemon.up = false;
  const { world, home } = await reloaded(first);
  const model = home.openSession('a');
  home.results('a', 1);
  await home.start();
  await world.pass(1000);
  assert.deepEqual(seqs(model), seqs(opened));
  await home.close();
});

test('whatever happens to the link, the list and the open sessions are right, at every moment without a hole', async () => {
  for (let seed = 1; seed <= 40; seed += 1) {
    let all = await house({ seed });
    const { world, daemon } = all;
    const pick = (count) => Math.floor(world.random() * count);
    daemon.delay_ms = (way) => pick(way === 'push' ? 30 : 150);
    daemon.pageEntries = 1 + pick(6);
    const sessions = ['a', 'b', 'c', 'd'];
    for (const session of sessions) daemon.open(session);
    let open = new Map();
    const holes = [];
    const look = (session) => {
      const model = all.home.openSession(session);
      const { epoch } = daemon;
      model.subscribe(() => {
        if (epoch !== daemon.epoch) return;
        if (!isRun(model.state.entries, daemon.of(session))) holes.push(`${session}: ${seqs(model)}`);
      });
      open.set(session, model);
    };
    void all.home.start();
    for (let step = 0; step < 100; step += 1) {
      const act = pick(20);
      const session = sessions[pick(4)];
      if (act < 7) daemon.say(session, `${seed} ${step}`);
      else if (act < 9) daemon.result(session, `${seed} ${step}`);
      else if (act === 9) daemon.takeBack(session, `t${step}`);
      else if (act === 10) daemon.cut();
      else if (act === 11) daemon.lag();
      else if (act === 12) all.home.wake();
      else if (act === 13) daemon.failing.push('busy');
      else if (act === 14) daemon.up = !daemon.up || pick(2) === 0;
      else if (act < 17 && !open.has(session)) look(session);
      else if (act === 17 && open.has(session)) {
        open.get(session).close();
        open.delete(session);
      } else if (act === 18) void open.get(session)?.loadOlder();
      else if (act === 19 && pick(4) === 0) {
        await all.home.close();
        daemon.cut();
        all = await house({ factory: all.factory, world, daemon });
        open = new Map();
        void all.home.start();
      }
      await world.pass(pick(60));
    }
    Object.assign(daemon, { up: true, failing: [] });
    for (const session of sessions) if (!open.has(session)) look(session);
    await world.pass(40_000);
    // Each is changed once more, so that its row is wholly known.
    for (const session of sessions) daemon.result(session, `the end of ${session}`);
    await world.pass(5000);
    const told = ({ session, head, results, last_line, directory }) => ({ session, head, results, last_line, directory });
    assert.deepEqual(all.home.state.sessions.map(told), daemon.list().map(told), `seed ${seed}`);
    for (const [session, model] of open) {
      const log = daemon.of(session);
      assert.ok(isRun(model.state.entries, log), `seed ${seed}: ${seqs(model)}`);
      assert.equal(seqs(model).at(-1), log.at(-1).seq, `seed ${seed}`);
      const shown = log.slice(-model.state.entries.length);
      assert.deepEqual([...model.state.taken_back].sort(), shown.flatMap((entry) => entry.turns).sort(), `seed ${seed}`);
      assert.deepEqual([model.state.has_older, model.state.loading], [shown.length < log.length, false], `seed ${seed}`);
      const kept = await all.home.cache.entries(session);
      assert.ok(isRun(kept.entries, log) && kept.entries.at(-1).seq === log.at(-1).seq, `seed ${seed}: the cache`);
    }
    assert.deepEqual(holes, [], `seed ${seed}`);
    await all.home.close();
  }
});
