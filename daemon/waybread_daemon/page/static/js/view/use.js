// How views look at models.

import { createContext } from '../../vendor/preact/preact.module.js';
import { useContext, useLayoutEffect, useMemo, useState } from '../../vendor/preact/hooks.module.js';

/** @typedef {import('./router.js').Router} Router */
/** @typedef {import('./household.js').Household} Household */

/** @type {import('../../vendor/preact/preact.module.js').Context<{router: Router, household: Household}>} */
const Around = createContext(/** @type {any} */ (null));
export const Provide = Around.Provider;

/** The address bar and what is open. */
export function useAround() {
  return useContext(Around);
}

/** Where one is in the view that is shown, as long as it is. */
export function useSpot() {
  const { router } = useAround();
  return useMemo(() => router.spot(), [router]);
}

/** @type {Set<() => void>} */
const waiting = new Set();

/**
 * Calls at the next frame, once however often it is asked: however much comes, a view is made once a frame.
 * @param {() => void} run
 */
export function atFrame(run) {
  if (waiting.size === 0) {
    requestAnimationFrame(() => {
      const now = [...waiting];
      waiting.clear();
      for (const one of now) one();
    });
  }
  waiting.add(run);
}

/**
 * The state of a model, made anew when that changes.
 * @template {object} S
 * @param {import('../core/observable.js').Observable<S>} model
 * @returns {Readonly<S>}
 */
export function useModel(model) {
  const [, again] = useState(0);
  useLayoutEffect(() => {
    const seen = model.state;
    const tell = () => again((count) => count + 1);
    const end = model.subscribe(() => atFrame(tell));
    if (model.state !== seen) atFrame(tell);
    return () => {
      waiting.delete(tell);
      end();
    };
  }, [model]);
  return model.state;
}

/** The time, every half minute. */
export function useNow() {
  const [now, set] = useState(Date.now());
  useLayoutEffect(() => {
    const timer = setInterval(() => set(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
