// Asks once more before something is gone.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useRef, useState } from '../../vendor/preact/hooks.module.js';

/** @param {{title: string, text: string, yes: string, go: () => Promise<void>, stay: () => void}} props */
export function Confirm({ title, text, yes, go, stay }) {
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
    h('p', null, text),
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
