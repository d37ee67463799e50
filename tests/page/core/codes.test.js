import assert from 'node:assert/strict';
import { test } from 'node:test';

import { groupCode, linkUrl, normalizeCode, parsePairUrl } from '../js/core/codes.js';

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

test('a pairing address has the link, the code, and the fingerprint where there is one', () => {
  assert.deepEqual(parsePairUrl(` https://home.example/#pair=${groupCode(CODE).toLowerCase()}&fp=ab12 `), {
    url: 'wss://home.example/link',
    code: CODE,
    fp: 'ab12',
  });
  assert.deepEqual(parsePairUrl(`http://10.0.0.2:8787/#pair=${CODE}`), {
    url: 'ws://10.0.0.2:8787/link',
    code: CODE,
    fp: '',
  });
});

test('an address without a code, or a code without an address, is none', () => {
  for (const text of ['', CODE, 'https://home.example/', 'https://home.example/#pair=', `https://home.example/?pair=${CODE}`]) {
    assert.equal(parsePairUrl(text), null, text);
  }
});
