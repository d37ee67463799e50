// Small pictures, made of lines.

import { h } from '../../vendor/preact/preact.module.js';

const PATHS = {
  back: 'M15 5l-7 7 7 7',
  files: 'M6 3h8l4 4v14H6zM14 3v4h4',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M13 5v4M7 15v4',
  search: 'M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14M16 16l5 5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  wrap: 'M4 6h16M4 12h13a3 3 0 0 1 0 6h-4M15 15l-3 3 3 3M4 18h4',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  close: 'M6 6l12 12M18 6L6 18',
  line: 'M5 5v14M9 12h11M16 8l4 4-4 4',
};

/** @param {keyof typeof PATHS} name */
export function icon(name) {
  return h('svg', { class: `icon ${name}`, viewBox: '0 0 24 24', 'aria-hidden': 'true' }, h('path', { d: PATHS[name] }));
}
