// Copies what is in sight, or all of it, however long that takes to come.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { copyText } from './clipboard.js';
import { number, size } from './format.js';

/** @typedef {import('./sources.js').Source} Source */

/** @param {{source: Source, first: number, last: number}} props */
export function CopyBar({ source, first, last }) {
  const [said, say] = useState('');
  const [loading, setLoading] = useState(false);
  /** All of it, where the browser wants to be tapped once more. */
  const [ready, setReady] = useState(/** @type {string | null} */ (null));
  const abort = useRef(/** @type {AbortController | null} */ (null));
  useEffect(() => () => abort.current?.abort(), []);
  const failed = (/** @type {unknown} */ fault) => say(fault instanceof Error ? fault.message : String(fault));
  const copySeen = async () => {
    try {
      const lines = await source.lines(first, last - first + 1);
      await copyText(lines.map((line) => line.text).join('\n'));
      say(lines.some((line) => line.cut) ? 'Copied; very long lines in part.' : 'Copied.');
    } catch (fault) {
      failed(fault);
    }
  };
  const copyAll = async () => {
    const controller = new AbortController();
    abort.current = controller;
    setLoading(true);
    say('0 %');
    try {
      const { signal } = controller;
      const onProgress = (/** @type {{line: number, lines: number}} */ { line, lines }) =>
        say(`${lines === 0 ? 100 : Math.floor((100 * line) / lines)} %`);
      const text = await source.wholeText({ signal, onProgress });
      try {
        await copyText(text);
        say(`Copied ${size(text.length)}.`);
      } catch {
        setReady(text);
        say('');
      }
    } catch (fault) {
      if (controller.signal.aborted) say('');
      else failed(fault);
    } finally {
      setLoading(false);
    }
  };
  const copyReady = async () => {
    try {
      await copyText(ready ?? '');
      say('Copied.');
      setReady(null);
    } catch (fault) {
      failed(fault);
    }
  };
  return h(
    'div',
    { class: 'panel' },
    h('button', { class: 'button', onClick: copySeen }, `Lines ${number(first)}–${number(last)}`),
    ready === null
      ? h('button', { class: 'button', disabled: loading, onClick: copyAll }, 'Everything')
      : h('button', { class: 'button', onClick: copyReady }, `Copy ${size(ready.length)} now`),
    loading ? h('button', { class: 'button', onClick: () => abort.current?.abort() }, 'Cancel') : null,
    h('output', { class: 'count' }, said),
  );
}
