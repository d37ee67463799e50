// The page begins here.

import { h, render } from '../vendor/preact/preact.module.js';
import { openDatabase } from './core/database.js';
import { browserSurroundings, onWaking } from './core/surroundings.js';
import { keepShell } from './shell.js';
import { App } from './view/app.js';
import { Household } from './view/household.js';
import { Router } from './view/router.js';

async function start() {
  const place = /** @type {HTMLElement} */ (document.getElementById('app'));
  const router = new Router();
  const household = new Household(await openDatabase(), browserSurroundings());
  await household.load();
  onWaking(() => household.wake());
  addEventListener('pagehide', () => household.keep());
  render(h(App, { router, household }), place);
  void keepShell(() => household.noteUpdate());
}

void start();
