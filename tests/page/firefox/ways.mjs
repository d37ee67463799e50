// The main ways through the page, in Firefox over WebDriver BiDi. Reads what it needs as JSON from its first argument;
// talks in lines of JSON: {"step"} each time one is done, {"ask"} where the test has to do something and answers with a line.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import puppeteer from 'puppeteer-core';

const given = JSON.parse(process.argv[2]);
const lines = createInterface({ input: process.stdin });
const answers = lines[Symbol.asyncIterator]();
const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function ask(what) {
  tell({ ask: what });
  await answers.next();
}

const browser = await puppeteer.launch({ browser: 'firefox', executablePath: given.firefox, headless: true });
const complaints = [];
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 390, height: 844 }).catch((fault) => {
    // Firefox 140 does not know it; the size goes by a command of its own.
    assert.match(String(fault), /unknown command emulation\.setScreenOrientationOverride/);
  });
  page.on('pageerror', (fault) => {
    // The browser's own words on a daemon that is away.
    if (!/establish a connection|connection to .* was interrupted/.test(String(fault))) complaints.push(String(fault));
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });

  const until = async (what, look, ...args) => {
    const end = Date.now() + 15_000;
    for (;;) {
      const value = await page.evaluate(look, ...args).catch(() => false);
      if (value) return value;
      assert.ok(Date.now() < end, `it did not come to this: ${what}; the page says: ${await page.evaluate(() => document.body.innerText.slice(0, 500))}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  };
  const shows = (text) => until(`“${text}” is shown`, (sought) => document.body.innerText.includes(sought), text);
  // The library's own way asks older releases for what the page's policy forbids, an evaluated text.
  const click = async (selector) => {
    const middle = (sought) => {
      const one = document.querySelector(sought);
      one?.scrollIntoView({ block: 'nearest' });
      const { x, y, width, height } = one?.getBoundingClientRect() ?? new DOMRect();
      const at = { x: x + width / 2, y: y + height / 2 };
      return one?.contains(document.elementFromPoint(at.x, at.y)) ? at : null;
    };
    const { x, y } = await until(`${selector} can be tapped`, middle, selector);
    await page.mouse.click(x, y);
  };
  const walk = () => page.evaluate(() => [...document.querySelectorAll('.message .text')].map((one) => one.textContent));

  await until("a phone's width", () => innerWidth === 390);
  await page.goto(given.page);
  await until('the code is out of the address', () => location.hash === '#/pair');
  await click('button[type=submit]');
  await shows('Fix the parser');
  tell({ step: 'paired by the link' });

  await click('a[href="#/s/parser"]');
  await shows('The parser was mended');
  await until('live', () => document.querySelector('.dot.live') !== null);
  await page.evaluate(() => { window.mark = 1; });
  tell({ step: 'opened a transcript' });

  await click('.message a.id');
  await shows('output 1');
  await until('its title', () => document.querySelector('h1').textContent.startsWith('#0006'));
  await page.goBack();
  await shows('The parser was mended');
  tell({ step: 'opened a result by its id, and came back' });

  await page.goto(`${given.site}#/s/parser/r/0006?line=1500`);
  await until('line 1500', () => document.querySelector('.row[data-line="1500"] code')?.textContent === 'output 1500');
  await page.evaluate(() => {
    const rows = document.querySelector('.rows');
    rows.scrollTop = rows.scrollHeight;
  });
  await until('the last line', () => document.querySelector('.row[data-line="2000"] code')?.textContent === 'output 2000');
  assert.ok((await page.evaluate(() => document.querySelectorAll('.row').length)) < 200);
  tell({ step: 'read windows of a result' });

  await page.goto(`${given.site}#/s/hostile`);
  await shows('<script>');
  await until('marks', () => [...document.querySelectorAll('.mark')].some((mark) => mark.title === 'U+202E right-to-left override'));
  assert.equal(await page.evaluate(() => document.querySelectorAll('main script, main img').length), 0);
  tell({ step: 'saw hostile text as text' });

  await page.goto(`${given.site}#/s/live`);
  await shows('Message 1.');
  await ask('insert');
  await until('followed', () => [...document.querySelectorAll('.message .text')].at(-1)?.textContent === 'Message 5.');
  tell({ step: 'followed' });

  await ask('kill and start');
  await until('followed on', () => [...document.querySelectorAll('.message .text')].at(-1)?.textContent === 'Message 9.');
  assert.deepEqual(await walk(), Array.from({ length: 9 }, (_, at) => `Message ${at + 1}.`));
  assert.equal(await page.evaluate(() => window.mark), 1);
  tell({ step: 'was right again after the daemon was killed, without a reload' });

  await until('the worker', () => navigator.serviceWorker.ready.then(() => true));
  await new Promise((done) => setTimeout(done, 700));
  await ask('kill');
  await page.reload();
  await shows('Message 9.');
  await shows('Reconnecting since');
  await shows('old.');
  tell({ step: 'opened without a daemon, and said how old it is' });
  await ask('start');
  await until('live again', () => document.querySelector('.dot.live') !== null);

  await page.goto(`${given.site}#/settings`);
  await page.evaluate(() => [...document.querySelectorAll('button')].find((one) => one.textContent === 'Forget everything').click());
  await until('asked', () => document.querySelector('dialog') !== null);
  await page.evaluate(() => [...document.querySelectorAll('dialog button')].find((one) => one.textContent === 'Forget').click());
  await shows('Pair this phone');
  const kept = await page.evaluate(async () => {
    const { openDatabase } = await import('/js/core/database.js');
    const database = await openDatabase();
    const stores = ['pairings', 'sessions', 'entries', 'windows'];
    const all = (await Promise.all(stores.map((store) => database.all(store)))).flat();
    database.close();
    return [all.length, localStorage.length];
  });
  assert.deepEqual(kept, [0, 0]);
  tell({ step: 'forgot everything' });
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
  lines.close();
}
