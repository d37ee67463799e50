import 'fake-indexeddb/auto';

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BLOCK_LINES, LINE_CHARS } from '../js/core/result.js';
import { chance } from './around.js';
import { house, reloaded } from './house.js';

/** The windows of a result with this text. */
async function windows(text, pageChars = 1000) {
  const all = await house();
  all.daemon.pageChars = pageChars;
  all.daemon.open('s');
  all.daemon.result('s', text, 'grep');
  await all.home.start();
  await all.world.pass(10);
  const { daemon, world } = all;
  /** Lets the clock run until a promise is settled. */
  const had = async (promise) => {
    let open = true;
    promise.then(() => (open = false), () => (open = false));
    while (open) await world.pass(10);
    return promise;
  };
  return { ...all, had, result: all.home.results('s', 1), shows: () => daemon.asked.filter((one) => one.type === 'show') };
}

const numbered = (count) => Array.from({ length: count }, (_, at) => `line ${at + 1}`);
const texts = (lines) => lines.map((line) => line.text);

test('lines come by windows, each asked for once', async () => {
  const { had, result, shows } = await windows(`${numbered(1000).join('\n')}\n`, 100_000);
  assert.deepEqual(result.meta, { tool: '', lines: null, seq: 0 });
  const lines = await had(result.lines(240, 20));
  assert.deepEqual([lines[0], lines.at(-1)], [
    { number: 240, text: 'line 240', cut: false },
    { number: 259, text: 'line 259', cut: false },
  ]);
  assert.deepEqual(result.meta, { tool: 'grep', lines: 1000, seq: 2 });
  assert.deepEqual(shows().map((show) => [show.offset, show.limit]), [[1, BLOCK_LINES], [251, BLOCK_LINES]]);
  await had(result.lines(1, 500));
  assert.equal(shows().length, 2);
});

test('a daemon that does not tell where the entry of a result is has its lines shown without', async () => {
  const { had, result, daemon } = await windows('one\ntwo\n');
  daemon.tellsSeq = false;
  assert.deepEqual(texts(await had(result.lines(1, 2))), ['one', 'two']);
  assert.deepEqual(result.meta, { tool: 'grep', lines: 2, seq: 0 });
});

test('at the end there are fewer lines, behind it none', async () => {
  const { had, result } = await windows(numbered(260).join('\n'), 100_000);
  assert.deepEqual(texts(await had(result.lines(255, 100))), ['line 255', 'line 256', 'line 257', 'line 258', 'line 259', 'line 260']);
  assert.deepEqual(await had(result.lines(261, 10)), []);
  assert.deepEqual(await had(result.lines(9000, 10)), []);
});

test('an empty result has no lines', async () => {
  const { had, result } = await windows('');
  assert.deepEqual([await had(result.lines(1, 100)), result.meta.lines], [[], 0]);
  assert.equal(await had(result.wholeText()), '');
});

test('whatever the sizes of lines and answers, lines are those of the text and pieces join to it', async () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = chance(seed);
    const pick = (count) => Math.floor(random() * count);
    const made = Array.from({ length: pick(700) }, () => 'é😀x\r'.repeat(pick(pick(5) === 0 ? 60 : 4)));
    const text = made.join('\n') + (pick(2) === 0 ? '\n' : '');
    const { had, result } = await windows(text, 30 + pick(300));
    const expected = text.replace(/\n$/, '') === '' && text === '' ? [] : text.replace(/\n$/, '').split('\n');
    const lines = await had(result.lines(1, 1000));
    assert.deepEqual(lines.map((line) => line.number), expected.map((_, at) => at + 1), `seed ${seed}`);
    for (const [at, line] of lines.entries()) {
      if (line.cut) assert.ok(expected[at].startsWith(line.text) && line.text !== '', `seed ${seed}`);
      else assert.equal(line.text, expected[at], `seed ${seed}`);
    }
    assert.equal(await had(result.wholeText()), text, `seed ${seed}`);
  }
});

test('of a giant line the beginning stands there, and the rest is had by pieces', async () => {
  const giant = '😀'.repeat(30_000);
  const { had, result, shows } = await windows(`before\n${giant}\nafter\n`, 16_000);
  const lines = await had(result.lines(1, 10));
  assert.deepEqual(lines.map((line) => line.cut), [false, true, false]);
  assert.equal(lines[1].text.length, LINE_CHARS);
  assert.equal(lines[2].text, 'after');
  assert.ok(shows().length <= 3);
  let whole = '';
  let from = 0;
  while (from !== null) {
    const piece = await had(result.linePiece(2, from));
    whole += piece.text;
    from = piece.next_char;
  }
  assert.equal(whole, giant);
  const odd = await windows(`x${giant}`, 30_000);
  const [line] = await odd.had(odd.result.lines(1, 1));
  assert.deepEqual([line.cut, line.text.length, line.text.isWellFormed?.() ?? true], [true, LINE_CHARS - 1, true]);
});

test('a text is found wherever it stands, across the ends of answers, too', async () => {
  const made = ['nothing', 'Needle and needle', `${'x'.repeat(95)}needle${'y'.repeat(300)}NEEDLE`, '', 'needl', 'e', 'aaaa'];
  for (const pageChars of [7, 50, 99, 100, 101, 5000]) {
    const { had, result } = await windows(made.join('\n'), pageChars);
    const found = async (text, from) => {
      const all = [];
      for await (const some of result.find(text, { from })) all.push(...some.map((one) => [one.line, one.from, one.to]));
      return all;
    };
    const expected = [[2, 0, 6], [2, 11, 17], [3, 95, 101], [3, 401, 407]];
    assert.deepEqual(await had(found('needle')), expected, `${pageChars}`);
    assert.deepEqual(await had(found('NEEDLE', 3)), [...expected.slice(2), ...expected.slice(0, 2)], `${pageChars}`);
    assert.deepEqual(await had(found('aa')), [[7, 0, 2], [7, 2, 4]], `${pageChars}`);
    assert.deepEqual(await had(found('')), []);
  }
});

test('what is searched for is a text and no expression', async () => {
  const made = 'a.b (c) [d] {e} $f ^g | h\\ *+?/-';
  const { had, result } = await windows(made);
  for (const text of ['.', '(c)', '[d]', '{e}', '$f', '^g', '|', 'h\\', '*+?/-', 'A.B']) {
    const found = await had(result.find(text).next());
    const from = made.toLowerCase().indexOf(text.toLowerCase());
    assert.deepEqual(found.value, [{ line: 1, from, to: from + text.length, from_char: from }], text);
  }
  assert.deepEqual((await had(result.find('a.c').next())).value, []);
});

test('a search and a walk tell how far they are, and stop when nobody wants them any more', async () => {
  const { had, result, shows } = await windows(`${numbered(5000).join('\n')}\n`, 1000);
  const stop = new AbortController();
  const progress = [];
  const whole = result.wholeText({
    signal: stop.signal,
    onProgress: (at) => {
      progress.push(at);
      if (progress.length === 20) stop.abort();
    },
  });
  await assert.rejects(had(whole), { name: 'AbortError' });
  assert.deepEqual([progress.length, progress[0]], [20, { line: 1, lines: 5000, units: 1000 }]);
  assert.ok(progress.every((at, index) => index === 0 || at.line >= progress[index - 1].line));
  const count = shows().length;
  const search = result.find('line 4999');
  await had(search.next());
  await search.return();
  assert.ok(shows().length > count);
});

test('a place in a line is told in units and in characters, wherever answers end', async () => {
  const line = `${'😀é'.repeat(90)}needle😀needle`;
  for (const pageChars of [13, 60, 181, 1000]) {
    const { had, result } = await windows(`x\n${line}\n`, pageChars);
    const all = [];
    const search = async () => {
      for await (const some of result.find('needle')) all.push(...some);
    };
    await had(search());
    assert.deepEqual(all, [
      { line: 2, from: 270, to: 276, from_char: 180 },
      { line: 2, from: 278, to: 284, from_char: 187 },
    ], `${pageChars}`);
  }
});

test('a search goes from a line to the end and then from the beginning, and many places come some at a time', async () => {
  const { had, result, shows } = await windows('a a\n'.repeat(5000), 100_000);
  const counts = [];
  const lines = [];
  const search = async () => {
    for await (const some of result.find('a', { from: 2901 })) {
      if (some.length === 0) continue;
      counts.push(some.length);
      lines.push(some[0].line, some.at(-1).line);
    }
  };
  await had(search());
  assert.deepEqual(counts, [1000, 1000, 1000, 1000, 200, 1000, 1000, 1000, 1000, 1000, 800]);
  assert.deepEqual([lines[0], lines[9], lines[10], lines.at(-1)], [2901, 5000, 1, 2900]);
  assert.deepEqual(shows().map((one) => [one.offset, one.limit]), [[2901, 2000], [4901, 2000], [1, 2000], [2001, 900]]);
});

test('a walk has several answers on their way, as large as they may be', async () => {
  const { had, daemon, result, shows, world } = await windows(`${'x'.repeat(99)}\n`.repeat(20_000), 100_000);
  daemon.delay_ms = (way) => (way === 'answer' ? 100 : 0);
  const start = world.time;
  assert.equal((await had(result.wholeText())).length, 2_000_000);
  // 2 MB are 20 full answers. The first tells how many lines one has room for.
  assert.ok(shows().length <= 25, `${shows().length} answers`);
  assert.ok(world.time - start < 15 * 100, `${world.time - start} ms`);
});

test('a walk leaves room for what a person taps, and is never told that it asks too often', async () => {
  const { had, daemon, result, world } = await windows('line\n'.repeat(200_000), 100_000);
  const times = [];
  daemon.delay_ms = (way, { type }) => {
    if (way === 'look' && type === 'show') times.push(world.time);
    return way === 'look' ? 5 : 0;
  };
  const start = world.time;
  const search = (async () => {
    for await (const _ of result.find('nowhere', { signal: new AbortController().signal }));
  })();
  let slowest = 0;
  for (let tap = 1; tap <= 5; tap += 1) {
    await world.pass(400);
    const before = world.time;
    await had(result.lines(tap * 20_000 + 1, 10));
    slowest = Math.max(slowest, world.time - before);
  }
  await had(search);
  assert.ok(slowest <= 20, `${slowest} ms`);
  assert.equal(times.length, 100 + 5);
  // All that a viewer may ask: 60 at once and 20 a second.
  for (const [at, time] of times.entries()) {
    for (let before = 0; before < at; before += 1) {
      assert.ok(at - before + 1 <= 60 + ((time - times[before]) * 20) / 1000 + 1, `${before} to ${at}`);
    }
  }
  assert.ok(world.time - start < 4000, `${world.time - start} ms`);
});

test('windows that were seen are there without a link, others and the rest of a line are not', async () => {
  const first = await windows(`${numbered(600).join('\n')}\n`, 100_000);
  await first.had(first.result.lines(251, 10));
  first.daemon.up = false;
  const { world, daemon, home } = await reloaded(first);
  await home.start();
  const result = home.results('s', 1);
  const kept = result.lines(251, 10);
  await world.pass(100);
  assert.equal(texts(await kept)[0], 'line 251');
  assert.deepEqual(result.meta, { tool: 'grep', lines: 600, seq: 2 });
  for (const asked of [() => result.lines(1, 10), () => result.linePiece(1, 0)]) {
    const refused = assert.rejects(asked(), { code: 'link_lost' });
    await world.pass(100);
    await refused;
  }
  daemon.up = true;
  await world.pass(2000);
  const had = result.lines(1, 10);
  await world.pass(100);
  assert.equal(texts(await had)[0], 'line 1');
});

test('a window that failed is asked for again', async () => {
  const { had, daemon, result } = await windows('a\nb\n');
  daemon.failing = ['internal'];
  await assert.rejects(had(result.lines(1, 2)), { code: 'internal' });
  assert.deepEqual(texts(await had(result.lines(1, 2))), ['a', 'b']);
});

test('what is kept of a result of another log is let go by a page that was loaded again', async () => {
  const first = await windows('of the first log\n');
  await first.had(first.result.lines(1, 1));
  first.daemon.restore(1, 'e2');
  first.daemon.result('s', 'of the other\n');
  const { world, home } = await reloaded(first);
  await home.start();
  await world.pass(1000);
  const had = home.results('s', 1).lines(1, 1);
  await world.pass(100);
  assert.deepEqual(texts(await had), ['of the other']);
});
