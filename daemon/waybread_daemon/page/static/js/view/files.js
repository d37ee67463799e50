// What a session has read.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useState } from '../../vendor/preact/hooks.module.js';
import { resultNumber } from '../core/texts.js';
import { Frame, Notice, useModel, Waiting } from './frame.js';
import { address } from './router.js';
import { number, plain } from './text.js';

/** @typedef {import('../core/types.js').ReadRow} ReadRow */
/** @typedef {import('../core/home.js').Home} Home */
/** @typedef {import('../core/transcript.js').SessionModel} SessionModel */
/** @typedef {import('./router.js').Route} Route */

const AGAIN_AFTER_MS = 400;
const SHA_DIGITS = 8;

/** @param {{home: Home, route: Route, model: SessionModel}} props */
export function Files({ home, route, model }) {
  const { row, entries } = useModel(model);
  const [reads, setReads] = useState(/** @type {ReadRow[] | null} */ (null));
  const [problem, tell] = useState('');
  const last = entries.at(-1)?.seq ?? 0;
  useEffect(() => {
    let left = false;
    const timer = setTimeout(
      () =>
        model.reads().then(
          (rows) => {
            if (left) return;
            setReads(rows.reverse());
            tell('');
          },
          (fault) => !left && tell(fault.message),
        ),
      reads === null ? 0 : AGAIN_AFTER_MS,
    );
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [model, last]);
  const { pairing, session } = route;
  return h(
    Frame,
    {
      title: 'Files read',
      up: { view: 'transcript', pairing, session },
      home,
      below: h('p', { class: 'sub', dir: 'auto' }, h('span', null, plain(row?.title || session))),
    },
    reads === null && problem === ''
      ? h(Waiting, { home })
      : reads === null || reads.length === 0
        ? h(Notice, null, problem || 'This session has read no file in full.')
        : h(
            'div',
            { class: 'scroller page', tabIndex: 0, role: 'group', 'aria-label': 'Files read' },
            h(
              'ul',
              { class: 'files' },
              reads.map((read) => h('li', { key: read.absolute }, file(read, pairing, session))),
            ),
          ),
  );
}

/**
 * @param {ReadRow} read
 * @param {string} pairing
 * @param {string} session
 */
function file(read, pairing, session) {
  const { path, absolute, first, last, lines, sha256, result, in_request, changed } = read;
  const href = address({ view: 'result', pairing, session, number: resultNumber(result) });
  const shown = lines === 0 ? 'empty' : `lines ${number(first)}–${number(last)} of ${number(lines)}`;
  return h(
    'article',
    { class: 'card file' },
    h(
      'div',
      { class: 'head' },
      h('span', { class: 'path', dir: 'ltr', title: absolute }, plain(path)),
      h('a', { class: 'id', href }, result),
    ),
    h(
      'p',
      { class: 'facts' },
      h('span', null, shown),
      h('span', { title: sha256 }, 'sha ', h('code', null, sha256.slice(0, SHA_DIGITS))),
      h(
        'span',
        { class: `label ${in_request ? 'here' : ''}` },
        in_request ? 'in the request now' : 'not in the request',
      ),
      changed ? h('span', { class: 'label stub' }, 'changed since') : null,
    ),
  );
}
