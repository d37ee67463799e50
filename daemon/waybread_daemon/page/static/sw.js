// Keeps the page's own files, so that it opens at once and without a network. It keeps nothing else: what sessions say
// lies in IndexedDB, and goes past here.
//
// The daemon fills in the line below when it starts. So this script is another one whenever any file is, and a browser
// that looks for it finds a new version by that alone. The new one takes over as soon as it is whole; pages that are open
// stay what they are until they are loaded again, and nothing is ever loaded again by itself.

const SHELL = { version: '', files: [''] };

const PREFIX = 'waybread-shell-';
const CACHE = PREFIX + SHELL.version;
const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

worker.addEventListener('install', (event) => {
  event.waitUntil(fetchAll().then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(dropOthers().then(() => worker.clients.claim()));
});

// Its files were deleted, and are wanted again.
worker.addEventListener('message', (event) => event.waitUntil(fetchAll()));

worker.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET' || url.origin !== worker.location.origin) return;
  if (SHELL.files.includes(url.pathname)) event.respondWith(fromShell(event.request, url.pathname));
});

/** All files, of this version, or none: a daemon that is replaced meanwhile gives files of two. */
async function fetchAll() {
  const cache = await caches.open(CACHE);
  await Promise.all(
    SHELL.files.map(async (path) => {
      const answer = await fetch(path, { cache: 'no-cache' });
      if (!answer.ok || answer.headers.get('Waybread-Shell') !== SHELL.version) {
        throw new Error(`${path} is not of the version ${SHELL.version}`);
      }
      await cache.put(path, answer);
    }),
  );
}

async function dropOthers() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)));
}

/**
 * @param {Request} request
 * @param {string} path
 */
async function fromShell(request, path) {
  // Where a person had it deleted, this does not make it anew.
  return (await caches.match(path, { cacheName: CACHE })) ?? fetch(request);
}
