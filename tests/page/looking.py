"""What a person who looks at the page would complain of, found by measuring it in the browser."""

from __future__ import annotations

from playwright.async_api import Page, expect

TEXT_ALONE = r"""times => {
  const larger = (rules) => {
    for (const rule of rules) {
      if (rule.cssRules !== undefined) larger(rule.cssRules);
      for (const name of ['font', 'font-size']) {
        const [size] = /^[\d.]+(?=rem)/.exec(rule.style?.getPropertyValue(name) ?? '') ?? [];
        if (size === undefined) continue;
        rule.style.setProperty(name, rule.style.getPropertyValue(name).replace(size, String(size * times)));
        break;
      }
    }
  };
  for (const sheet of document.styleSheets) larger(sheet.cssRules);
}"""
"""Makes letters larger and nothing else, as a browser's zoom of the text alone does."""

SPACED = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; }
    p { margin-block-end: 2em !important; }`);
  document.adoptedStyleSheets.push(sheet);
}"""
"""Sets text apart as far as WCAG 1.4.12 asks pages to bear."""

_WRONG = """() => {
  const wrong = [];
  const top = document.querySelector('dialog[open]') ?? document.querySelector('.frame');
  const short = (node) => (node.outerHTML ?? `“${node.data}” in ${node.parentElement.outerHTML}`).slice(0, 140);
  // These may be wider than the screen: code whose lines are not wrapped, and the names of many devices.
  const sideways = '.body.lines, .rows, .tabs';
  // These show the beginning of what stands in full in the session or over its text.
  const beginnings = '.title, .last, .directory, .sub > :first-child';
  // They lie over the text by intent. Numbers of lines stay where they are.
  const over = '.to-end, .over, .unseen, .skip:not(:focus), .row .number';

  for (const one of [document.documentElement, document.body, ...top.querySelectorAll('*'), top]) {
    if (one.closest(`${sideways}, svg, .unseen, .skip, input, ${beginnings}`) !== null) continue;
    if (one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1) wrong.push(`goes over the side: ${short(one)}`);
  }

  const walk = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
  const pieces = [];
  const isSeen = (element) => element.closest(over) === null && element.checkVisibility({ visibilityProperty: true });
  const put = (node, element, { left, right, top, bottom }) => {
    const at = { left, right, top, bottom };
    // A blank at which a line is broken may hang over its end.
    const { whiteSpaceCollapse, fontSize } = getComputedStyle(element);
    const hang = whiteSpaceCollapse === 'preserve' ? parseFloat(fontSize) : 1;
    for (let box = element; box !== document.documentElement; box = box.parentElement) {
      const { overflowX, overflowY, display } = getComputedStyle(box);
      if (overflowX === 'visible' || display === 'inline') continue;
      const { left, right, top, bottom } = box.getBoundingClientRect();
      if (!box.matches(`${beginnings}, input`)) {
        const free = overflowX !== 'hidden' && box.matches(sideways);
        if (!free && (at.left < left - hang || at.right > right + hang)) wrong.push(`cut at the side: ${short(node)}`);
        if (overflowY === 'hidden' && (at.top < top - 2 || at.bottom > bottom + 2)) wrong.push(`cut: ${short(node)}`);
      }
      at.left = Math.max(at.left, left);
      at.right = Math.min(at.right, right);
      at.top = Math.max(at.top, top);
      at.bottom = Math.min(at.bottom, bottom);
    }
    if (at.right - at.left > 1 && at.bottom - at.top > 1) pieces.push({ ...at, node });
  };
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (node.data.trim() === '' || !isSeen(node.parentElement)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) put(node, node.parentElement, rect);
  }
  for (const one of top.querySelectorAll('button, input, .tool, .button, .dot, .banner')) {
    if (isSeen(one)) put(one, one, one.getBoundingClientRect());
  }
  for (const [at, one] of pieces.entries()) {
    for (const other of pieces.slice(at + 1)) {
      if (one.node === other.node || one.node.contains(other.node) || other.node.contains(one.node)) continue;
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > 2 && high > 3) wrong.push(`overlap: ${short(one.node)} and ${short(other.node)}`);
    }
  }

  for (const one of top.querySelectorAll('a, button, input, [role=button]')) {
    // Within a line of text a link is as high as the line.
    if (one.closest('.text, .row code') !== null || !isSeen(one)) continue;
    if (getComputedStyle(one).display === 'inline' && one.parentElement.textContent !== one.textContent) continue;
    const { width, height } = one.getBoundingClientRect();
    if (width < 24 || height < 24) wrong.push(`too small to tap, ${width} by ${height}: ${short(one)}`);
  }

  const rows = new Set([...document.querySelectorAll('.bar > *')].map((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return Math.round((top + bottom) / 2 / 24);
  }));
  if (rows.size > 2) wrong.push(`the toolbar has ${rows.size} rows`);

  const id = /^#[0-9a-f]{4}/.exec(document.querySelector('h1').textContent)?.[0] ?? '';
  if (id !== '') {
    const walk = document.createTreeWalker(document.querySelector('h1'), NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    range.setStart(walk.nextNode(), 0);
    range.setEnd(walk.currentNode, id.length);
    const rects = range.getClientRects();
    if (rects.length !== 1 || rects[0].right > innerWidth) wrong.push(`the id is not whole: ${id}`);
  }

  const read = document.querySelector('.rows, .scroller');
  if (read !== null) {
    if (read.clientHeight < innerHeight / 2 - 2) wrong.push(`what is read has ${read.clientHeight} of ${innerHeight} px`);
    const { top, bottom } = read.getBoundingClientRect();
    const seen = Math.min(bottom, innerHeight) - top;
    const least = document.querySelector('.panel, .banner') === null ? 0.45 : 0;
    if (seen < innerHeight * least) wrong.push(`of what is read ${seen} of ${innerHeight} px are seen at first`);
    const frame = document.querySelector('.frame');
    frame.scrollTop = frame.scrollHeight;
    if (read.getBoundingClientRect().bottom > innerHeight + 1) wrong.push('the end of what is read cannot be scrolled to');
    frame.scrollTop = 0;
  }
  return [...new Set(wrong)];
}"""


async def at_rest(page: Page) -> None:
    """Waits until what is shown was loaded, and has its place."""
    await expect(page.locator("main")).to_be_visible()
    await expect(page.get_by_text("Loading…")).to_have_count(0)
    frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))"
    await page.evaluate(f"(async () => {{ for (let at = 0; at < 3; at += 1) await {frames}; }})()")


async def complaints(page: Page) -> list[str]:
    """What goes over the side, overlaps, is cut or is too small to tap, and where what is read has too little room."""
    await at_rest(page)
    wrong: list[str] = await page.evaluate(_WRONG)
    return wrong
