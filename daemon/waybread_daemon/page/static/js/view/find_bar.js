// Where one types what to find, and goes from place to place.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { icon } from './icons.js';
import { useModel } from './use.js';

/** @typedef {import('./finding.js').Finding} Finding */

/** @param {{finding: Finding, near: () => number}} props */
export function FindBar({ finding, near }) {
  const state = useModel(finding);
  const [text, setText] = useState('');
  /** @type {{current: HTMLInputElement | null}} */
  const field = useRef(null);
  useEffect(() => field.current?.focus(), []);
  const some = state.found.length > 0;
  return h(
    'form',
    {
      class: 'panel',
      role: 'search',
      onSubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (text !== state.text) void finding.start(text, near());
        else finding.step(1);
      },
    },
    h('input', {
      ref: field,
      type: 'search',
      'aria-label': 'Find in this text',
      placeholder: 'Find',
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: false,
      enterkeyhint: 'search',
      value: text,
      onInput: (/** @type {Event} */ event) => setText(/** @type {HTMLInputElement} */ (event.target).value),
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== 'Enter' || !event.shiftKey) return;
        event.preventDefault();
        finding.step(-1);
      },
    }),
    h('button', { class: 'tool', type: 'submit', 'aria-label': 'Find, or the next place' }, icon('search')),
    h(
      'button',
      { class: 'tool', type: 'button', disabled: !some, 'aria-label': 'The place before', onClick: () => finding.step(-1) },
      icon('up'),
    ),
    h(
      'button',
      { class: 'tool', type: 'button', disabled: !some, 'aria-label': 'The next place', onClick: () => finding.step(1) },
      icon('down'),
    ),
    state.running
      ? h('button', { class: 'button', type: 'button', onClick: () => finding.stop() }, 'Stop')
      : null,
    h('output', { class: 'count' }, finding.sentence),
  );
}
