// What a tool was asked, on one line.

import { oneLine } from '../core/entries.js';
import { number } from './format.js';

/** @typedef {import('../core/types.js').Entry} Entry */

const MOST_CHARS = 300;
const PATHS = ['path', 'file_path', 'filePath', 'file', 'filename', 'absolute', 'paths', 'files', 'directory', 'dir', 'cwd'];
const COMMANDS = ['command', 'cmd', 'script', 'code'];
const PATTERNS = ['pattern', 'query', 'regex', 'glob', 'url', 'prompt', 'name'];
/** What each tool is first asked by name; the others by what they are asked most. @type {{[tool: string]: string[]}} */
const FIRST = {
  bash: COMMANDS,
  shell: COMMANDS,
  grep: PATTERNS,
  search: PATTERNS,
  glob: PATTERNS,
};

/**
 * @param {Entry} entry of a result
 * @returns {string} empty where it was asked nothing
 */
export function askedFor(entry) {
  const { args, args_chars } = entry;
  const names = Object.keys(args);
  if (names.length === 0) return args_chars > 2 ? `${number(args_chars)} characters of arguments` : '';
  const main = firstOf(args, [...(FIRST[entry.tool] ?? []), ...COMMANDS, ...PATTERNS, ...PATHS]);
  if (main === null) return short(JSON.stringify(args));
  const [name, said] = main;
  const where = PATHS.includes(name) ? null : firstOf(args, PATHS);
  const parts = [said];
  if (where !== null) parts.push(`in ${where[1]}`);
  if (isNumber(args['offset'])) parts.push(`from line ${args['offset']}`);
  if (isNumber(args['limit'])) parts.push(`${args['limit']} lines`);
  return short(parts.join(' · '));
}

/**
 * @param {{[name: string]: unknown}} args
 * @param {string[]} names
 * @returns {[string, string] | null}
 */
function firstOf(args, names) {
  for (const name of names) {
    const value = args[name];
    if (typeof value === 'string' && value !== '') return [name, value];
    if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')) {
      return [name, value.join(', ')];
    }
  }
  return null;
}

/** @param {unknown} value */
function isNumber(value) {
  return typeof value === 'number';
}

/** @param {string} text */
function short(text) {
  const line = oneLine(text.slice(0, MOST_CHARS * 2).trim());
  return line.length > MOST_CHARS ? `${line.slice(0, MOST_CHARS)}…` : line;
}
