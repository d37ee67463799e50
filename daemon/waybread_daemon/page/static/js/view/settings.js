// What this browser is paired with, and how it forgets.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';
import { Frame, useAround, useModel } from './frame.js';
import { address } from './router.js';
import { wholeTime } from './text.js';

/** @typedef {import('../core/types.js').Pairing} Pairing */

/** @param {{pairing: string}} props */
export function Settings({ pairing }) {
  const { household } = useAround();
  const { pairings, wrap, notice } = useModel(household);
  const [leaving, leave] = useState(/** @type {Pairing | 'all' | null} */ (null));
  const server = (household.looked ?? household.home(pairing))?.wire.welcome?.server ?? '';
  const go = async () => {
    if (leaving === 'all') {
      await household.forgetAll();
    } else if (leaving !== null) {
      await household.signOut(leaving.id);
      leave(null);
    }
  };
  return h(
    Frame,
    { title: 'Settings', up: { view: 'sessions' } },
    h(
      'div',
      { class: 'scroller page', tabIndex: 0, role: 'group', 'aria-label': 'Settings' },
      h('p', { class: 'problem' }, notice),
      h('h2', null, 'Paired with'),
      h(
        'ul',
        { class: 'files' },
        pairings.map((one) =>
          h('li', { key: one.id }, h(Paired, { pairing: one, called: household.called(one), several: pairings.length > 1, leave })),
        ),
      ),
      h('p', null, h('a', { class: 'button', href: address({ view: 'pair' }) }, 'Pair with another device')),
      h('h2', null, 'Reading'),
      h(
        'label',
        { class: 'choice' },
        h('input', { type: 'checkbox', checked: wrap, onChange: () => household.setWrap(!wrap) }),
        'Wrap long lines from tools',
      ),
      h('p', { class: 'hint' }, 'Light and dark, and the size of letters, are those of this phone.'),
      h('h2', null, 'Forget'),
      h(
        'p',
        { class: 'hint' },
        'Deletes every pairing and everything that this browser keeps: sessions, results, the page itself.',
      ),
      h('p', null, h('button', { class: 'button grave', onClick: () => leave('all') }, 'Forget everything')),
      h('h2', null, 'About'),
      h('p', { class: 'hint' }, server === '' ? 'Waybread' : `Daemon: ${server}`),
      leaving === null
        ? null
        : h(Confirm, {
            title: leaving === 'all' ? 'Forget everything?' : `Sign out of ${household.called(leaving)}?`,
            yes: leaving === 'all' ? 'Forget' : 'Sign out',
            go,
            stay: () => leave(null),
          }),
    ),
  );
}

/** @param {{pairing: Pairing, called: string, several: boolean, leave: (pairing: Pairing) => void}} props */
function Paired({ pairing, called, several, leave }) {
  const { id, role, device, url, paired_ms } = pairing;
  return h(
    'article',
    { class: 'card file' },
    h(
      'div',
      { class: 'head' },
      h('a', { class: 'path', dir: 'auto', href: address({ view: 'sessions', pairing: several ? id : '' }) }, called),
    ),
    h(
      'p',
      { class: 'facts' },
      h('span', null, role),
      h('span', { dir: 'ltr' }, url),
      h('span', null, 'device ', h('code', null, device)),
      h('span', null, `since ${wholeTime(paired_ms)}`),
    ),
    h('button', { class: 'button', onClick: () => leave(pairing), 'aria-label': `Sign out of ${called}` }, 'Sign out'),
  );
}

/** Asks once more before something is gone.
 * @param {{title: string, yes: string, go: () => Promise<void>, stay: () => void}} props
 */
function Confirm({ title, yes, go, stay }) {
  /** @type {{current: HTMLDialogElement | null}} */
  const dialog = useRef(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog.current?.showModal();
    return () => before?.focus();
  }, []);
  return h(
    'dialog',
    { ref: dialog, 'aria-labelledby': 'confirm-title', onCancel: stay, onClose: stay },
    h('h2', { id: 'confirm-title' }, title),
    h('p', null, 'The daemon keeps its sessions. To see them here you pair again.'),
    h(
      'div',
      { class: 'choices' },
      h('button', { class: 'button', onClick: stay }, 'Cancel'),
      h(
        'button',
        {
          class: 'button grave',
          disabled: busy,
          onClick: () => {
            setBusy(true);
            void go();
          },
        },
        yes,
      ),
    ),
  );
}
