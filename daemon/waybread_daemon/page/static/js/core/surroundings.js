// The browser as the models see it. The one file of this folder that knows `window`.

/** @typedef {import('./types.js').Surroundings} Surroundings */

/** @returns {Surroundings} */
export function browserSurroundings() {
  return {
    now: () => Date.now(),
    random: () => Math.random(),
    later: (run, ms) => setTimeout(run, ms),
    cancel: (timer) => clearTimeout(/** @type {number} */ (timer)),
    socket: (url, protocols) => new WebSocket(url, protocols),
    visible: () => document.visibilityState === 'visible',
    online: () => navigator.onLine,
    // The page's own policy lets it ask no other daemon. Of one that is down, a proxy says 502 or so.
    reach: (url) =>
      new URL(url).host === location.host
        ? fetch('/healthz', { cache: 'no-store', redirect: 'manual', signal: AbortSignal.timeout(10_000) }).then(
            ({ status }) => status < 500,
            () => false,
          )
        : null,
    ask: (path, method) => fetch(path, { method }).catch(() => Response.error()),
  };
}

/**
 * What the browser may forbid: storage of any kind, to look at it even.
 * @template T
 * @param {() => T} look
 * @returns {T | undefined} undefined where it does
 */
export function allowed(look) {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/**
 * The other tabs of this browser that have the page open.
 * @template T
 * @param {(said: T) => void} heard called with what one of them says
 * @returns {(said: T) => void} says it to all of them
 */
export function otherTabs(heard) {
  const channel = allowed(() => new BroadcastChannel('waybread'));
  if (channel !== undefined) channel.onmessage = (event) => heard(event.data);
  return (said) => channel?.postMessage(said);
}

/**
 * Calls `wake` whenever the page or the network may have come back: the link is then looked at at once.
 * @param {() => void} wake
 */
export function onWaking(wake) {
  const network = /** @type {{connection?: EventTarget}} */ (/** @type {unknown} */ (navigator)).connection;
  network?.addEventListener('change', wake);
  for (const name of ['online', 'offline', 'focus', 'pageshow']) addEventListener(name, wake);
  for (const name of ['visibilitychange', 'resume']) document.addEventListener(name, wake);
}

// The service worker that keeps the page's own files: put in place, and taken away again.

const SCRIPT = '/sw.js';
const PREFIX = 'waybread-shell-';

/** The address of the script, as the page trusts it. @type {string} */
let trusted = '';

/**
 * The page forbids itself every address of a script, but for this one. It may say so once.
 * @returns {string}
 */
function trustedScript() {
  const factory = /** @type {{trustedTypes?: {createPolicy(name: string, rules: object): any}}} */ (globalThis).trustedTypes;
  trusted ||=
    factory?.createPolicy('waybread-worker', { createScriptURL: () => SCRIPT }).createScriptURL(SCRIPT) ?? SCRIPT;
  return trusted;
}

/**
 * Puts the service worker in place, where the browser allows one: on an encrypted page or this machine's own.
 * `updated` is called when a newer version of the page is there; it shows when the page is loaded again.
 * @param {() => void} updated
 * @returns {Promise<void>}
 */
export async function keepShell(updated) {
  try {
    const workers = navigator.serviceWorker;
    if (workers === undefined) return;
    // Where none was in control, the first one takes over what it has just kept: that is no news.
    const known = workers.controller !== null;
    let controlled = known;
    workers.oncontrollerchange = () => {
      // Where a person has deleted it there is none.
      if (controlled && workers.controller) updated();
      controlled = true;
    };
    const registration = await workers.register(trustedScript(), { updateViaCache: 'none' });
    // A worker that another tab still has comes back as it was, after its files were deleted.
    if ((await shells()).length === 0) registration.active?.postMessage('keep');
    // Browsers look for a new version by themselves, but when it suits them.
    if (known) await registration.update();
  } catch (fault) {
    // Private windows and settings forbid it, and without a network there is nothing new: the page works without.
    console.info('The page is not kept, or not renewed:', fault);
  }
}

/** Takes away what is kept of the page. @returns {Promise<void>} */
export async function forgetShell() {
  // Where the browser forbids to look at them, it keeps none.
  try {
    for (const registration of await navigator.serviceWorker.getRegistrations()) await registration.unregister();
  } catch {}
  try {
    for (const name of await shells()) await caches.delete(name);
  } catch {}
}

async function shells() {
  return (await caches.keys()).filter((name) => name.startsWith(PREFIX));
}
