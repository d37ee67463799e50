import assert from 'node:assert/strict';
import { test } from 'node:test';

import { groupCode, linkUrl, normalizeCode, readOffer } from '../js/core/pairings.js';

const CODE = '0123456789ABCDEFGHJKMNPQRS';

test('a code is one however it is grouped, and whatever looks alike', () => {
  for (const typed of [
    CODE,
    CODE.toLowerCase(),
    '01234-56789-ABCDE-FGHJK-MNPQR-S',
    '  01234 56789\tabcde\nfghjk mnpqr s ',
    'O1234-56789-ABCDE-FGHJK-MNPQR-S',
    'oI234-56789-ABCDE-FGHJK-MNPQR-S',
    'ol234\u201356789\u2011ABCDE-FGHJK-MNPQR-S',
  ]) {
    assert.equal(normalizeCode(typed), CODE, typed);
  }
});

test('what is too short, too long or has other characters is no code', () => {
  for (const typed of ['', CODE.slice(1), `${CODE}0`, `${CODE.slice(1)}U`, `${CODE.slice(1)}é`, '#'.repeat(26)]) {
    assert.equal(normalizeCode(typed), '', typed);
  }
});

test('a code is shown in groups, as the daemon shows it', () => {
  assert.equal(groupCode(CODE), '0123-4567-89ABC-DEFG-HJKM-NPQRS');
  assert.equal(normalizeCode(groupCode(CODE)), CODE);
});

test('a link has the host of the page', () => {
  assert.equal(linkUrl('https://home.example'), 'wss://home.example/link');
  assert.equal(linkUrl('http://127.0.0.1:8787/#/s/x'), 'ws://127.0.0.1:8787/link');
  assert.equal(linkUrl('wss://[::1]:8787/link'), 'wss://[::1]:8787/link');
  for (const text of ['', 'home.example', 'ftp://home.example', 'javascript:alert(1)', 'https://']) {
    assert.equal(linkUrl(text), '', text);
  }
});

const HERE = 'wss://home.example/link';
const THERE = 'ws://10.0.0.2:8787/link';
const GROUPED = groupCode(CODE);
/** `text` broken into lines of so many columns, as a narrow terminal shows it. */
const wrapped = (text, columns, end = '\n') =>
  text
    .split('\n')
    .map((line) => line.replace(new RegExp(`(.{${columns}})(?=.)`, 'g'), `$1${end}`))
    .join('\n');

const LINES = `link         ${THERE}\ncode         ${GROUPED}`;
const WITH_TLS = `link         wss://way.bread.example.org:8787/link
code         ${GROUPED}
certificate  SHA-256 ${'AB:'.repeat(31)}CD
good until   2026-12-01 03:11:56, 5 minutes, for one device

Waiting for a device. Ctrl-C withdraws the code.
`;
const JSON_LINE = JSON.stringify({
  page: `http://10.0.0.2:8787/#pair=${CODE}&fp=${'ab'.repeat(32)}`,
  link: THERE,
  code: GROUPED,
  expires_ms: 1796094717246,
  fingerprint: 'ab'.repeat(32),
  others: ['ws://10.0.0.3:8787/link'],
});

test('a code alone is the page\u2019s own, however it is written', () => {
  for (const text of [
    CODE,
    GROUPED,
    GROUPED.toLowerCase(),
    ` ${GROUPED}. `,
    `"${GROUPED}"`,
    `\u201c${GROUPED}\u201d`,
    `\`${CODE}\``,
    GROUPED.replaceAll('-', ' '),
    GROUPED.replaceAll('-', '\u2013'),
    GROUPED.replaceAll('-', '-\n'),
    GROUPED.replaceAll('-', '\r\n'),
    GROUPED.replaceAll('0', 'o').replaceAll('1', 'l'),
    `code         ${GROUPED}`,
    `code         ${GROUPED}  .`,
    `code ${GROUPED.toLowerCase().replaceAll('-', ' ')}`,
    `"code":"${GROUPED}",`,
    `pair=${CODE}`,
    `pair=${GROUPED}`,
    `#pair=${CODE}&x=1`,
    `#pair=${CODE.toLowerCase()}&fp=${'ab'.repeat(32)}`,
    `The code is ${CODE}, good for five minutes`,
    `The code is ${GROUPED} and good for five minutes`,
  ]) {
    assert.deepEqual(readOffer(text, HERE), { url: HERE, code: CODE }, text);
  }
});

test('an address with a code, wherever they stand, is both', () => {
  for (const text of [
    `http://10.0.0.2:8787/#pair=${CODE}`,
    `"http://10.0.0.2:8787/#pair=${CODE}".`,
    `<http://10.0.0.2:8787/#pair=${GROUPED.toLowerCase()}&fp=ab12>`,
    `HTTP://10.0.0.2:8787/#PAIR=${CODE}`,
    `ws://10.0.0.2:8787/#pair=${GROUPED.replaceAll('-', '%2D')}`,
    `http://10.0.0.2:8787/#pair=${GROUPED.replaceAll('-', '%20')}`,
    `http://10.0.0.2:8787/#pair=${CODE.slice(0, 9)}\n${CODE.slice(9)}`,
    `http://10.0.\n0.2:8787/#pair=${CODE}`,
    LINES,
    LINES.replace('\n', ' '),
    LINES.replace('\n', ''),
    LINES.replaceAll('\n', '  \r\n'),
    `${THERE} ${CODE.toLowerCase()}`,
    `${THERE}\n${GROUPED.replaceAll('-', ' ')}`,
    `${GROUPED} ${THERE}.`,
    `http://10.0.0.2:8787/ ${GROUPED}`,
    `${GROUPED} http://10.0.0.2:8787.`,
    JSON_LINE,
    ...[20, 40, 60, 80].map((columns) => wrapped(LINES, columns)),
    ...[40, 80, 120].flatMap((columns) => [wrapped(JSON_LINE, columns), wrapped(JSON_LINE, columns, '')]),
  ]) {
    assert.deepEqual(readOffer(text, HERE), { url: THERE, code: CODE }, text);
  }
  for (const text of [WITH_TLS, WITH_TLS.replaceAll('\n', ''), ...[30, 40, 80].map((columns) => wrapped(WITH_TLS, columns))]) {
    assert.deepEqual(readOffer(text, HERE), { url: 'wss://way.bread.example.org:8787/link', code: CODE }, text);
  }
});

test('an address without a scheme has the page\u2019s, and the page\u2019s own host is reached as the page was', () => {
  for (const [text, url] of [
    [`10.0.0.2:8787/#pair=${CODE}`, 'wss://10.0.0.2:8787/link'],
    [`other.example/link ${GROUPED}`, 'wss://other.example/link'],
    [`[fd00::1]:8787/#pair=${CODE}`, 'wss://[fd00::1]:8787/link'],
    [`home.example/#pair=${CODE}`, HERE],
    [`ws://home.example/link ${GROUPED}`, HERE],
    [`http://Home.Example/#pair=${CODE}`, HERE],
  ]) {
    assert.deepEqual(readOffer(text, HERE), { url, code: CODE }, text);
  }
});

test('what holds no whole code, or an address that is none, is no offer', () => {
  for (const text of [
    '',
    'hello',
    'https://home.example/',
    'https://home.example/#pair=',
    `https://home.example/#pair=${CODE.slice(1)}`,
    `https://home.example/#pair=${CODE.slice(1)}U&x=1`,
    `code         ${GROUPED.slice(1)}`,
    `link         ${THERE}`,
    `certificate  SHA-256 ${'AB:'.repeat(31)}CD`,
    'ab'.repeat(32),
    `ws://:99999/link ${GROUPED}`,
  ]) {
    assert.equal(readOffer(text, HERE), null, text);
  }
});

test('a text of any length is read at once', () => {
  const begun = performance.now();
  for (const text of ['a'.repeat(300_000), 'http://'.repeat(40_000), 'A-'.repeat(150_000), 'code '.repeat(60_000)]) {
    assert.equal(readOffer(text, HERE), null);
  }
  assert.ok(performance.now() - begun < 3_000);
});
