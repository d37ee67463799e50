// Numbers and times for people.

/** @param {Intl.DateTimeFormatOptions} options */
function lazy(options) {
  /** @type {Intl.DateTimeFormat | null} */
  let made = null;
  return (/** @type {number} */ at_ms) => (made ??= new Intl.DateTimeFormat(undefined, options)).format(at_ms);
}

const time = lazy({ hour: '2-digit', minute: '2-digit' });
const date = lazy({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const year = lazy({ day: 'numeric', month: 'short', year: 'numeric' });
/** With seconds. */
export const clock = lazy({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
export const wholeTime = lazy({ dateStyle: 'long', timeStyle: 'medium' });

/**
 * @param {number} at_ms
 * @param {number} [now_ms]
 */
export function when(at_ms, now_ms = Date.now()) {
  const [then, now] = [new Date(at_ms), new Date(now_ms)];
  if (then.toDateString() === now.toDateString()) return time(at_ms);
  return then.getFullYear() === now.getFullYear() ? date(at_ms) : year(at_ms);
}

/** @param {number} count */
export function number(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * @param {number} count
 * @param {string} one its name in the singular; the plural has an `s`
 */
export function counted(count, one) {
  return `${number(count)} ${one}${count === 1 ? '' : 's'}`;
}

/** @param {number} bytes */
export function size(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let value = bytes;
  while (value >= 999.5 && at < units.length - 1) [value, at] = [value / 1000, at + 1];
  return `${at > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

/** @param {number} ms */
export function duration(ms) {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return counted(minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? counted(hours, 'hour') : counted(Math.floor(hours / 24), 'day');
}
