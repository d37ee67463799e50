// The page begins here: what there is, and which view of it is shown.

import { h, render } from '../vendor/preact/preact.module.js';
import { useEffect, useState } from '../vendor/preact/hooks.module.js';
import { browserSurroundings, onWaking } from './core/surroundings.js';
import { Files } from './view/files.js';
import { Frame, Notice, Provide, useAround, useModel } from './view/frame.js';
import { Household } from './view/household.js';
import { Pair } from './view/pair.js';
import { Result, Sent } from './view/result.js';
import { address, Router } from './view/router.js';
import { Devices, Sessions } from './view/sessions.js';
import { Settings } from './view/settings.js';
import { Transcript } from './view/transcript.js';

/** @typedef {import('./core/home.js').Home} Home */
/** @typedef {import('./view/router.js').Route} Route */

const VIEWS = { transcript: Transcript, result: Result, sent: Sent, asked: Sent, files: Files };

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
  if (route.view === 'pair' || pairings.length === 0) return h(Pair, { offered, taken });
  if (route.view === 'settings') return h(Settings, { pairing: route.pairing });
  const home = household.home(route.pairing, route.view === 'sessions');
  if (home === null) {
    return h(
      Frame,
      { title: 'Not paired', up: { view: 'sessions' } },
      h(Notice, null, 'This browser is not paired with that device.'),
    );
  }
  return h(Linked, { home, route, at: key, key: home });
}

/** As long as there is that home. @param {{home: Home, route: Route, at: string}} props */
function Linked({ home, route, at }) {
  const { household } = useAround();
  const { link } = useModel(home);
  if (link.kind !== 'refused') return h(route.view === 'sessions' ? Sessions : OfSession, { home, route, key: at });
  return h(
    Frame,
    { title: 'Not paired any more', up: { view: 'settings' }, home: null },
    h(Devices, { now: home.pairing.id }),
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

/** Any view of one session, for as long as there is one. @param {{home: Home, route: Route}} props */
function OfSession({ home, route }) {
  const { household } = useAround();
  const model = household.session(home, route.session);
  const { gone, log } = useModel(model);
  // What a view took of another log is not of this one.
  if (!gone) return h(/** @type {any} */ (VIEWS)[route.view], { home, route, model, key: log });
  const up = { view: /** @type {const} */ ('sessions'), pairing: route.pairing };
  return h(
    Frame,
    { title: route.session, up, home },
    h(
      Notice,
      null,
      'This session is not there (any more): it was deleted, or its address is wrong. ',
      h('a', { href: address(up) }, 'All sessions'),
    ),
  );
}

async function start() {
  const router = new Router();
  const household = new Household(browserSurroundings());
  household.onForgotten = () => router.forget();
  await household.load();
  addEventListener('pagehide', () => household.rest(true));
  addEventListener('pageshow', () => household.rest(false));
  onWaking(() => household.wake());
  // What stood there until now is the file's own.
  place.replaceChildren();
  render(h(Provide, { value: { router, household } }, h(View, null)), place);
}

const place = /** @type {HTMLElement} */ (document.getElementById('app'));
start().catch((/** @type {unknown} */ fault) => {
  console.error(fault);
  const textContent = `This page could not start (${fault}). Load it again, or use another browser.`;
  Object.assign(place, { role: 'alert', className: 'notice', textContent });
});
