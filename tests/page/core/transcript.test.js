import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { house, isRun, reloaded, seqs } from './house.js';

/** A session of 120 entries: 1 to 120. */
async function long(how) {
  const all = await house(how);
  all.daemon.open('s', 'Long');
  for (let count = 1; count < 120; count += 1) all.daemon.say('s', `line ${count}`);
  await all.home.start();
  return all;
}

test('the end comes first, older entries when they are asked for, each once', async () => {
  const { world, daemon, home } = await long();
  await world.pass(10);
  const model = home.openSession('s');
  assert.deepEqual([model.state.loading, model.state.entries], [true, []]);
  await world.pass(10);
  assert.deepEqual([seqs(model)[0], seqs(model).at(-1), model.state.has_older, model.state.loading], [71, 120, true, false]);
  const older = model.loadOlder();
  assert.equal(model.state.older_loading, true);
  void model.loadOlder();
  await world.pass(10);
  await older;
  assert.deepEqual([seqs(model)[0], model.state.older_loading], [21, false]);
  const last = model.loadOlder();
  await world.pass(10);
  await last;
  assert.deepEqual([seqs(model), model.state.has_older], [daemon.of('s').map((entry) => entry.seq), false]);
  await model.loadOlder();
  assert.equal(daemon.asked.filter((message) => message.type === 'history').length, 3);
});

test('what comes while the end is on its way stands behind it, once', async () => {
  const { world, daemon, home } = await long();
  await world.pass(10);
  daemon.delay_ms = (way, request) => (way === 'answer' && request.type === 'history' ? 500 : 0);
  const model = home.openSession('s');
  daemon.say('s', 'before the daemon looks');
  await world.pass(10);
  daemon.say('s', 'after it looked');
  daemon.say('s', 'and another');
  await world.pass(10);
  assert.deepEqual(seqs(model), []);
  await world.pass(1000);
  assert.deepEqual(seqs(model).slice(-4), [120, 121, 122, 123]);
  assert.ok(isRun(model.state.entries, daemon.of('s')));
});

test('of two questions for the end the later one counts', async () => {
  const { world, daemon, home } = await long();
  await world.pass(10);
  let answer_ms = 500;
  daemon.delay_ms = (way, request) => (way === 'answer' && request.type === 'history' ? answer_ms : 0);
  const model = home.openSession('s');
  await world.pass(10);
  daemon.say('s', 'after the first look');
  await world.pass(10);
  answer_ms = 1000;
  void model.join();
  await world.pass(600);
  assert.equal(model.joined, false);
  await world.pass(1000);
  assert.equal(seqs(model).at(-1), 121);
  assert.ok(isRun(model.state.entries, daemon.of('s')));
});

test('what was kept does not take the place of what the daemon said sooner', async () => {
  const first = await long();
  first.home.openSession('s');
  await first.world.pass(1000);
  first.daemon.say('s', 'meanwhile');
  const { world, daemon, home, database } = await reloaded(first);
  await home.start();
  await world.pass(10);
  const all = database.all.bind(database);
  database.all = (store, prefix) => {
    const read = all(store, prefix);
    return new Promise((resolve) => world.around.later(() => resolve(read), 500));
  };
  const model = home.openSession('s');
  await world.pass(100);
  assert.equal(seqs(model).at(-1), 121);
  await world.pass(1000);
  assert.equal(seqs(model).at(-1), 121);
  assert.ok(isRun(model.state.entries, daemon.of('s')));
});

test('new entries come at the end, with those of other sessions left out', async () => {
  const { world, daemon, home } = await long();
  const model = home.openSession('s');
  await world.pass(10);
  const before = model.state.entries;
  daemon.open('other');
  daemon.say('s', 'new');
  await world.pass(10);
  assert.deepEqual(seqs(model).slice(-2), [120, 122]);
  assert.equal(before.at(-1).seq, 120);
});

test('turns taken back are told, those from before the end that is loaded, too', async () => {
  const { world, daemon, home } = await long();
  daemon.takeBack('s', 't1', 't2');
  const model = home.openSession('s');
  await world.pass(10);
  assert.deepEqual([...model.state.taken_back], ['t1', 't2']);
  const known = model.state.taken_back;
  daemon.say('s', 'x');
  await world.pass(10);
  assert.equal(model.state.taken_back, known);
  daemon.takeBack('s', 't3');
  await world.pass(10);
  assert.deepEqual([...model.state.taken_back], ['t1', 't2', 't3']);
  const older = model.loadOlder();
  await world.pass(10);
  await older;
  assert.deepEqual([...model.state.taken_back], ['t1', 't2', 't3']);
});

test('a text that was cut is had whole, and asked for once', async () => {
  const { world, daemon, home } = await long();
  const whole = 'é€😀 '.repeat(10);
  const entry = daemon.say('s', whole);
  Object.assign(entry, { text: [...whole].slice(0, 7).join(''), text_chars: [...whole].length, whole });
  const model = home.openSession('s');
  await world.pass(10);
  const [text, again] = [model.fullText(model.state.entries.at(-1)), model.fullText(model.state.entries.at(-1))];
  await world.pass(10);
  assert.deepEqual([await text, await again], [whole, whole]);
  assert.equal(daemon.asked.filter((message) => message.type === 'entry_text').length, 4);
  assert.equal(await model.fullText(model.state.entries.at(-2)), 'line 119');
});

test('what was kept is there at once and offline, and says how old it is', async () => {
  const first = await long();
  const opened = first.home.openSession('s');
  await first.world.pass(1000);
  const kept = seqs(opened);
  const then = first.world.time;
  first.daemon.up = false;
  const { world, daemon, home } = await reloaded(first);
  world.time += 3_600_000;
  await home.start();
  const model = home.openSession('s');
  await world.pass(100);
  assert.deepEqual([seqs(model), model.state.has_older, model.state.loading], [kept, true, false]);
  assert.ok(model.state.as_of_ms >= then - 1000 && model.state.as_of_ms <= then, `${model.state.as_of_ms} ${then}`);
  assert.deepEqual(home.state.sessions.map((row) => row.title), ['Long']);
  assert.equal(home.state.as_of_ms, model.state.as_of_ms);
  // And when the daemon is back, what is missing joins it.
  daemon.say('s', 'meanwhile');
  daemon.up = true;
  await world.pass(2000);
  assert.deepEqual(seqs(model), [...kept, 121]);
  assert.equal(model.state.as_of_ms, null);
});

test('what was kept and does not join the end gives way to it', async () => {
  const first = await long();
  first.home.openSession('s');
  await first.world.pass(1000);
  for (let count = 0; count < 300; count += 1) first.daemon.say('s', 'meanwhile');
  const { world, daemon, home } = await reloaded(first);
  await home.start();
  const model = home.openSession('s');
  await world.pass(100);
  assert.deepEqual([seqs(model)[0], seqs(model).at(-1), model.state.has_older], [371, 420, true]);
  assert.ok(isRun(model.state.entries, daemon.of('s')));
});

test('older entries that come after everything was dropped are not shown for the end', async () => {
  const { world, daemon, home } = await long();
  const model = home.openSession('s');
  await world.pass(10);
  daemon.delay_ms = (way) => (way === 'push' ? 0 : 100);
  const older = model.loadOlder();
  await world.pass(150);
  model.reset();
  void model.join();
  await world.pass(100);
  await older;
  assert.deepEqual([seqs(model), model.state.older_loading], [[], false]);
  await world.pass(1000);
  assert.deepEqual([seqs(model)[0], seqs(model).at(-1)], [71, 120]);
});

test('a session that was deleted, or never was, is gone', async () => {
  const { world, daemon, home } = await long();
  const model = home.openSession('s');
  const never = home.openSession('never');
  await world.pass(10);
  assert.deepEqual([never.state.gone, never.state.loading, model.state.gone], [true, false, false]);
  daemon.delete('s');
  await world.pass(10);
  assert.deepEqual([model.state.gone, model.state.entries, model.state.row], [true, [], null]);
  assert.deepEqual(home.state.sessions, []);
  assert.equal(await home.cache.entries('s'), null);
});

test('a daemon that fails is told, and what it fails at does not stay', async () => {
  const { world, daemon, home } = await long();
  await world.pass(10);
  daemon.failing = ['internal'];
  const model = home.openSession('s');
  await world.pass(10);
  assert.equal(model.state.problem, 'It is internal.');
  daemon.cut();
  await world.pass(2000);
  assert.equal(model.state.problem, 'It is internal.');
  void model.join();
  await world.pass(10);
  assert.deepEqual([model.state.problem, seqs(model).length], ['', 50]);
});

test('the same session is one model for all who look, and ends with the last', async () => {
  const { world, daemon, home } = await long();
  const model = home.openSession('s');
  assert.equal(home.openSession('s'), model);
  model.close();
  await world.pass(10);
  daemon.say('s', 'x');
  await world.pass(10);
  assert.equal(seqs(model).at(-1), 121);
  model.close();
  daemon.say('s', 'y');
  await world.pass(10);
  assert.equal(seqs(model).at(-1), 121);
  assert.notEqual(home.openSession('s'), model);
});

test('reads are asked of the daemon', async () => {
  const { world, home } = await long();
  const model = home.openSession('s');
  const reads = model.reads();
  await world.pass(10);
  assert.deepEqual(await reads, []);
});

test('an entry that is not loaded is had, but none of another session, nor without a link', async () => {
  const { world, daemon, home } = await long();
  daemon.open('other', 'Other');
  daemon.say('other', 'not of this one');
  await world.pass(10);
  const model = home.openSession('s');
  await world.pass(10);
  const asked = async (seq) => {
    const entry = model.entry(seq);
    entry.catch(() => {});
    await world.pass(10);
    return entry;
  };
  assert.equal((await asked(3)).seq, 3);
  await assert.rejects(asked(122), { message: 'This session has no entry 122.' });
  daemon.cut();
  await assert.rejects(asked(3), { code: 'link_lost' });
});

test('a session that is opened after it was looked for is there from then on', async () => {
  const { world, daemon, home } = await long();
  await world.pass(10);
  const model = home.openSession('later');
  await world.pass(10);
  assert.deepEqual([model.state.gone, model.state.loading], [true, false]);
  const { log } = model.state;
  daemon.open('later', 'Later');
  daemon.say('later', 'here');
  await world.pass(100);
  assert.deepEqual([model.state.gone, seqs(model)], [false, daemon.of('later').map((entry) => entry.seq)]);
  daemon.say('later', 'and on');
  await world.pass(10);
  assert.deepEqual(seqs(model), daemon.of('later').map((entry) => entry.seq));
  assert.ok(model.state.log > log);
});
