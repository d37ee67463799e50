import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, parseAddress } from '../static/js/view/router.js';

const NONE = { pairing: '', session: '', number: 0, seq: 0, line: 0 };

test('each view has an address that leads to it again', () => {
  const places = [
    ['#/', { ...NONE, view: 'sessions' }],
    ['#/pair', { ...NONE, view: 'pair' }],
    ['#/settings', { ...NONE, view: 'settings' }],
    ['#/s/fix', { ...NONE, view: 'transcript', session: 'fix' }],
    ['#/s/fix/files', { ...NONE, view: 'files', session: 'fix' }],
    ['#/s/fix/r/0012', { ...NONE, view: 'result', session: 'fix', number: 18 }],
    ['#/s/fix/r/0012?line=800', { ...NONE, view: 'result', session: 'fix', number: 18, line: 800 }],
    ['#/s/fix/e/77', { ...NONE, view: 'sent', session: 'fix', seq: 77 }],
    ['#/s/fix/a/77', { ...NONE, view: 'asked', session: 'fix', seq: 77 }],
    ['#/d/ab12/s/fix/r/0012', { ...NONE, view: 'result', pairing: 'ab12', session: 'fix', number: 18 }],
  ];
  for (const [hash, route] of places) {
    assert.deepEqual(parseAddress(hash), route);
    assert.equal(address(route), hash);
  }
});

test('a session may have any name', () => {
  const session = 'a/b?c#d%20 é';
  assert.equal(parseAddress(address({ view: 'files', session })).session, session);
});

test('an id in an address names the result that recall would show, and 0 where it names none', () => {
  for (const id of ['12', '012', '0012', '000012', '#12', '#0012', '%230012', ' 12 ', '%2012']) {
    assert.deepEqual(parseAddress(`#/s/fix/r/${id}`), { ...NONE, view: 'result', session: 'fix', number: 18 }, id);
  }
  for (const id of ['ab', 'AB', '00Ab', '#AB']) assert.equal(address(parseAddress(`#/s/fix/r/${id}`)), '#/s/fix/r/00ab');
  assert.equal(address(parseAddress('#/d/ab12/s/fix/r/1?line=7')), '#/d/ab12/s/fix/r/0001?line=7');
  for (const id of ['0', '0000', '-1', 'zzzz', '1.5', '1_0', '##1', '1#2', '0x1', '#', 'f'.repeat(14), 'f'.repeat(400)]) {
    const route = parseAddress(`#/s/fix/r/${id}`);
    assert.deepEqual(route, { ...NONE, view: 'result', session: 'fix', number: 0 }, id);
    assert.equal(address(route), '#/s/fix/r/0000');
  }
});

test('what is no address leads to the sessions, and one that is of nothing in a session to its transcript', () => {
  for (const hash of ['', '#', '#nowhere', '#/s/', '#/x/y']) assert.equal(parseAddress(hash).view, 'sessions');
  const wrong = ['#/s/fix/r', '#/s/fix/r/', '#/s/fix/e/x', '#/s/fix/e/0', '#/s/fix/a/-1', '#/s/%E0%A4%A'];
  for (const hash of wrong) assert.equal(parseAddress(hash).view, 'transcript');
  for (const line of ['-3', '1.5', 'x', '', '1e99']) assert.equal(parseAddress(`#/s/fix/r/0012?line=${line}`).line, 0);
});

test('the address of what an address leads to stays what it is', () => {
  const odd = ['', '#', '#/s/', '#/s/fix/r/zz%zz', '#/s/%E0%A4%A', '#/s/fix/r/00AB?line=1e3', '#/d//s/fix/', '#/pair/x'];
  for (const hash of odd) {
    const right = address(parseAddress(hash));
    assert.equal(address(parseAddress(right)), right, hash);
    assert.deepEqual(parseAddress(right), parseAddress(hash), hash);
  }
});
