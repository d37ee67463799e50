// Which view is shown.

import { h } from '../../vendor/preact/preact.module.js';
import { useEffect, useState } from '../../vendor/preact/hooks.module.js';
import { Files } from './files.js';
import { Frame } from './frame.js';
import { Pair } from './pair.js';
import { Result, Sent } from './result.js';
import { address } from './routes.js';
import { Sessions } from './sessions.js';
import { Settings } from './settings.js';
import { Notice, Transcript } from './transcript.js';
import { Provide, useAround, useModel } from './use.js';

/** @typedef {import('../core/home.js').Home} Home */
/** @typedef {import('./routes.js').Route} Route */
/** @typedef {import('./router.js').Router} Router */
/** @typedef {import('./household.js').Household} Household */

const VIEWS = { sessions: Sessions, transcript: Transcript, result: Result, sent: Sent, files: Files };

/** @param {{router: Router, household: Household}} props */
export function App({ router, household }) {
  return h(Provide, { value: { router, household } }, h(View, null));
}

function View() {
  const { router, household } = useAround();
  const { route, key } = useModel(router);
  const { ready, pairings } = useModel(household);
  const [offered, offer] = useState(router.offered);
  useEffect(() => {
    router.onPairing = offer;
  }, []);
  if (!ready) return null;
  const taken = () => offer('');
  if (route.view === 'pair' || pairings.length === 0) return h(Pair, { offered, taken, key: offered });
  if (route.view === 'settings') return h(Settings, { pairing: route.pairing });
  const home = household.home(route.pairing);
  if (home === null) {
    return h(Frame, { title: 'Not paired', up: { view: 'sessions' } }, h(Notice, null, 'This browser is not paired with that device.'));
  }
  return h(Linked, { home, route, key });
}

/** @param {{home: Home, route: Route}} props */
function Linked({ home, route }) {
  const { household } = useAround();
  const { link } = useModel(home);
  if (link.kind !== 'refused') return h(/** @type {any} */ (VIEWS)[route.view], { home, route });
  return h(
    Frame,
    { title: 'Not paired any more', up: { view: 'settings' } },
    h(
      'div',
      { class: 'sheet' },
      h('p', { role: 'alert' }, link.why),
      h('p', null, h('a', { class: 'button main', href: address({ view: 'pair' }) }, 'Pair again')),
      h('button', { class: 'button', onClick: () => void household.signOut(home.pairing.id) }, 'Sign out and delete what is kept of it'),
    ),
  );
}
