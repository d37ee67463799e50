// Where a phone is let in.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { groupCode, parsePairUrl } from '../core/codes.js';
import { Frame, useAround, useModel } from './frame.js';

/** @param {{offered: string, taken: () => void}} props `offered`: an address with a code that the page was opened with */
export function Pair({ offered, taken }) {
  const { router, household } = useAround();
  const { pairings } = useModel(household);
  const [given, setGiven] = useState('');
  const [name, setName] = useState(nameOfThis());
  const [problem, tell] = useState('');
  const [busy, setBusy] = useState(false);
  /** @type {{current: HTMLInputElement | null}} */
  const field = useRef(null);
  const link = offered === '' ? null : parsePairUrl(offered);
  useEffect(() => {
    if (offered !== '' && link === null)
      tell('The address that this page was opened with holds no code. Ask for a new one.');
  }, [offered]);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    tell('');
    try {
      const pairing = await household.pair(link === null ? given : offered, name.trim() || nameOfThis());
      taken();
      const several = household.state.pairings.length > 1;
      router.go({ view: 'sessions', pairing: several ? pairing.id : '' }, { replace: true });
    } catch (fault) {
      tell(fault instanceof Error ? fault.message : String(fault));
      setBusy(false);
      taken();
      field.current?.focus();
    }
  };
  const main = h(
    'form',
    { class: 'sheet', onSubmit: submit },
    h(
      'p',
      null,
      'On the computer that runs the daemon, ',
      h('code', null, 'waybread pair --role viewer --device ID'),
      ' shows a QR code: point this phone’s camera at it, or copy here what it prints. ID is the device whose sessions you ' +
        'want to see; ',
      h('code', null, 'waybread device list'),
      ' has it.',
    ),
    link === null
      ? [
          h('label', { for: 'code', key: 'label' }, 'Link or code'),
          h('input', {
            key: 'code',
            id: 'code',
            ref: field,
            class: 'code',
            value: given,
            required: true,
            autocomplete: 'off',
            autocapitalize: 'characters',
            spellcheck: false,
            'aria-describedby': 'code-help',
            onInput: (/** @type {Event} */ event) => setGiven(/** @type {HTMLInputElement} */ (event.target).value),
          }),
          h('p', { key: 'help', id: 'code-help', class: 'hint' }, 'Good for five minutes and one device.'),
        ]
      : h('p', { class: 'offer' }, 'Code ', h('code', null, groupCode(link.code))),
    h('label', { for: 'name' }, 'Name of this phone'),
    h('input', {
      id: 'name',
      value: name,
      maxLength: 100,
      autocomplete: 'off',
      onInput: (/** @type {Event} */ event) => setName(/** @type {HTMLInputElement} */ (event.target).value),
    }),
    h('p', { class: 'problem', role: 'alert' }, problem),
    h('button', { class: 'button main', type: 'submit', disabled: busy }, busy ? 'Pairing…' : 'Pair'),
  );
  return pairings.length === 0
    ? h(Frame, { title: 'Pair this phone' }, h('div', { class: 'scroller page' }, main))
    : h(Frame, { title: 'Pair this phone', up: { view: 'settings' } }, h('div', { class: 'scroller page' }, main));
}

function nameOfThis() {
  return /iPhone|iPad|Android|Mac|Windows|CrOS|Linux/.exec(navigator.userAgent)?.[0] ?? 'Browser';
}
