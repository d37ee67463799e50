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
  };
}

/**
 * Calls `wake` whenever the page or the network may have come back: the link is then looked at at once.
 * @param {() => void} wake
 * @returns {() => void} ends it
 */
export function onWaking(wake) {
  const network = /** @type {{connection?: EventTarget}} */ (/** @type {unknown} */ (navigator)).connection;
  /** @type {[EventTarget, string][]} */
  const signs = [
    [window, 'online'],
    [window, 'offline'],
    [window, 'focus'],
    [window, 'pageshow'],
    [document, 'visibilitychange'],
    [document, 'resume'],
  ];
  if (network !== undefined) signs.push([network, 'change']);
  for (const [target, name] of signs) target.addEventListener(name, wake);
  return () => {
    for (const [target, name] of signs) target.removeEventListener(name, wake);
  };
}
