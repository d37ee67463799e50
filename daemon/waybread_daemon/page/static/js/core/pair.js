// A one-time code becomes a token.

import { WireError } from './faults.js';
import { CLIENT, Frames, MAX_BYTES, SUBPROTOCOL } from './frames.js';

/** @typedef {import('./types.js').Paired} Paired */
/** @typedef {import('./types.js').Surroundings} Surroundings */

const TIMEOUT_MS = 10_000;

/**
 * Takes up a one-time code: a link of its own that ends with the answer. Rejects with `WireError`.
 * @param {string} url
 * @param {string} code
 * @param {string} name what the new device is to be called
 * @param {Surroundings} around
 * @returns {Promise<Paired>}
 */
export function pair(url, code, name, around) {
  return new Promise((resolve, reject) => {
    const socket = around.socket(url, [SUBPROTOCOL]);
    const frames = new Frames(MAX_BYTES);
    /** @param {() => void} settle */
    const end = (settle) => {
      around.cancel(timer);
      socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
      socket.close(1000);
      settle();
    };
    /** @param {string} reason */
    const unreachable = (reason) =>
      end(() => reject(new WireError('unreachable', `The daemon at ${url} ${reason}`, true)));
    const timer = around.later(() => unreachable('does not answer.'), TIMEOUT_MS);
    socket.onopen = () => socket.send(JSON.stringify({ type: 'hello', id: 1, code, name, client: CLIENT }));
    socket.onclose = () => unreachable('cannot be reached.');
    // Where the page's own policy forbids an address, some browsers tell of no close.
    socket.onerror = () => {
      if (socket.readyState === WebSocket.CLOSED) unreachable('cannot be reached.');
    };
    socket.onmessage = (event) => {
      try {
        const message = frames.take(event.data);
        if (message?.type === 'paired') end(() => resolve(/** @type {any} */ (message)));
        if (message?.type === 'error') {
          end(() => reject(new WireError(message['code'], message['message'], message['retry'] === true)));
        }
      } catch (fault) {
        end(() => reject(fault));
      }
    };
  });
}
