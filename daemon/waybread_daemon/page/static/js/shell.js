// The service worker that keeps the page's own files: put in place, and taken away again.

const SCRIPT = '/sw.js';
const PREFIX = 'waybread-shell-';

/**
 * The page forbids itself every address of a script, but for this one.
 * @returns {string}
 */
function trustedScript() {
  const factory = /** @type {{trustedTypes?: {createPolicy(name: string, rules: object): any}}} */ (globalThis).trustedTypes;
  if (factory === undefined) return SCRIPT;
  const policy = factory.createPolicy('waybread-worker', { createScriptURL: () => SCRIPT });
  return policy.createScriptURL(SCRIPT);
}

/**
 * Puts the service worker in place, where the browser allows one: on an encrypted page or this machine's own.
 * `updated` is called when a newer version of the page is there; it shows when the page is loaded again.
 * @param {() => void} updated
 * @returns {Promise<void>}
 */
export async function keepShell(updated) {
  const workers = navigator.serviceWorker;
  if (workers === undefined) return;
  // Where none was in control, the first one takes over what it has just kept: that is no news.
  const known = workers.controller !== null;
  let controlled = known;
  workers.addEventListener('controllerchange', () => {
    if (controlled) updated();
    controlled = true;
  });
  try {
    const registration = await workers.register(trustedScript(), { updateViaCache: 'none' });
    // Browsers look for a new version by themselves, but when it suits them.
    if (known) await registration.update();
  } catch (fault) {
    // Private windows and settings forbid it, and without a network there is nothing new: the page works without.
    console.info('The page is not kept, or not renewed:', fault);
  }
}

/** Takes away what is kept of the page. @returns {Promise<void>} */
export async function forgetShell() {
  const registrations = (await navigator.serviceWorker?.getRegistrations()) ?? [];
  await Promise.all(registrations.map((registration) => registration.unregister()));
  const names = globalThis.caches === undefined ? [] : await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX)).map((name) => caches.delete(name)));
}
