// Where a phone is let in.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { WireError } from '../core/frames.js';
import { groupCode, linkUrl, readOffer } from '../core/pairings.js';
import { Frame, useAround, useModel } from './frame.js';

const NO_CODE =
  'This is neither a pairing link nor a code: a code has 26 letters and digits. Get one with `waybread pair`.';
const NO_CODE_YET = 'That is only an address: copy the code as well.';
const NONE = { why: '', page: '' };

/** @param {{offered: string, taken: () => void}} props `offered`: an address with a code that the page was opened with */
export function Pair({ offered, taken }) {
  const { router, household } = useAround();
  const { pairings, notice } = useModel(household);
  const [given, setGiven] = useState('');
  const [name, setName] = useState(nameOfThis());
  // `page`: the address of the page of the daemon that this one cannot pair with.
  const [problem, tell] = useState(NONE);
  const [busy, setBusy] = useState(false);
  /** @type {{current: HTMLInputElement | null}} */
  const field = useRef(null);
  const here = linkUrl(location.href);
  const link = offered === '' ? null : readOffer(offered, here);
  useEffect(() => {
    if (offered === '') return;
    tell(link ? NONE : { ...NONE, why: whyNot(offered) });
  }, [offered]);
  useEffect(() => {
    if (problem.why !== '') field.current?.focus();
  }, [problem]);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy) return;
    const offer = link ?? readOffer(given, here);
    if (offer === null) return tell({ ...NONE, why: whyNot(given) });
    setBusy(true);
    tell(NONE);
    try {
      const pairing = await household.pair(offer, name.trim() || nameOfThis());
      taken();
      const several = household.state.pairings.length > 1;
      router.go({ view: 'sessions', pairing: several ? pairing.id : '' }, { replace: true });
    } catch (fault) {
      const { message, code } = /** @type {WireError} */ (fault);
      const elsewhere = code === 'unreachable' && offer.url !== here;
      const page = elsewhere ? offer.url.replace('ws', 'http').replace(/link$/, `#pair=${offer.code}`) : '';
      tell({ why: message, page });
      setBusy(false);
      // Any other refusal may pass, and the code may still be good then.
      if (code === 'unauthenticated') taken();
    }
  };
  const main = h(
    'form',
    { class: 'sheet', onSubmit: submit },
    h('p', { class: 'problem', role: 'status' }, notice),
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
    h('p', { class: 'problem', role: 'alert' }, problem.why),
    problem.page && h('p', null, h('a', { class: 'button', href: problem.page }, `Open ${new URL(problem.page).host}`)),
    h('button', { class: 'button main', type: 'submit', disabled: busy }, busy ? 'Pairing…' : 'Pair'),
  );
  return pairings.length === 0
    ? h(Frame, { title: 'Pair this phone' }, h('div', { class: 'scroller page' }, main))
    : h(Frame, { title: 'Pair this phone', up: { view: 'settings' } }, h('div', { class: 'scroller page' }, main));
}

function nameOfThis() {
  return /iPhone|iPad|Android|Mac|Windows|CrOS|Linux/.exec(navigator.userAgent)?.[0] ?? 'Browser';
}

/** @param {string} text in which no code was found */
function whyNot(text) {
  return linkUrl(text.trim().replace(/.*\s/s, '')) === '' ? NO_CODE : NO_CODE_YET;
}
