// The page begins here: what there is, and which view of it is shown.

import { h, render } from '../vendor/preact/preact.module.js';
import { useEffect, useState } from '../vendor/preact/hooks.module.js';
import { openDatabase } from './core/database.js';
import { browserSurroundings, onWaking } from './core/surroundings.js';
import { keepShell } from './shell.js';
import { Files } from './view/files.js';
import { Frame, Notice, Provide, useAround, useModel } from './view/frame.js';
import { Household } from './view/household.js';
import { Pair } from './view/pair.js';
import { Result, Sent } from './view/result.js';
import { address, Router } from './view/router.js';
import { Sessions } from './view/sessions.js';
import { Settings } from './view/settings.js';
import { Transcript } from './view/transcript.js';

/** @typedef {import('./core/home.js').Home} Home */
/** @typedef {import('./view/router.js').Route} Route */

const VIEWS = { sessions: Sessions, transcript: Transcript, result: Result, sent: Sent, files: Files };

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
    return h(
      Frame,
      { title: 'Not paired', up: { view: 'sessions' } },
      h(Notice, null, 'This browser is not paired with that device.'),
    );
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
      h(
        'button',
        { class: 'button', onClick: () => void household.signOut(home.pairing.id) },
        'Sign out and delete what is kept of it',
      ),
    ),
  );
}

async function start() {
  const router = new Router();
  const household = new Household(await openDatabase(), browserSurroundings());
  await household.load();
  onWaking(() => household.wake());
  addEventListener('pagehide', () => household.keep());
  const place = /** @type {HTMLElement} */ (document.getElementById('app'));
  // What stood there until now is the file's own.
  place.replaceChildren();
  render(h(Provide, { value: { router, household } }, h(View, null)), place);
  void keepShell(() => household.noteUpdate());
}

void start();
