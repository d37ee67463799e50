// Which of the page's means are younger than the oldest browsers that it is for. Reads JSON from its first argument:
// {"browsers": {name: version}, "scripts": [path], "styles": [path]}; writes a JSON list of [file, means, browsers].
//
// It knows names, not types: a member is young only where every interface that has one of that name is.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { parse } from 'acorn';

const given = JSON.parse(process.argv[2]);
const data = createRequire(import.meta.url)('@mdn/browser-compat-data');
const found = new Map();

function note(path, means, missing) {
  if (missing.length > 0) found.set(`${path} ${means}`, [basename(path), means, missing]);
}

/** The browsers that do not have a feature, each by its name. */
function missingIn(feature, written = '') {
  return Object.entries(given.browsers)
    .filter(([browser, version]) => ![feature.support[browser] ?? []].flat().some((one) => has(one, version, written)))
    .map(([browser]) => browser);
}

function has({ version_added: added, version_removed: removed, flags, prefix = '' }, version, written) {
  if (typeof added !== 'string' || added === 'preview' || flags !== undefined) return false;
  if (typeof removed === 'string' && number(removed) <= version) return false;
  return (prefix === '' || written.startsWith(prefix)) && number(added) <= version;
}

function number(version) {
  return parseFloat(version.replace('≤', ''));
}

/** All features of that name, by what they belong to. */
const members = new Map();
const globals = new Map();
for (const owners of [data.api, data.javascript.builtins, data.javascript.builtins.Intl]) {
  for (const [owner, inside] of Object.entries(owners)) {
    if (inside.__compat !== undefined) globals.set(owner, [...(globals.get(owner) ?? []), inside.__compat]);
    for (const [key, feature] of Object.entries(inside)) {
      if (key === '__compat' || feature.__compat === undefined) continue;
      const name = key.replace(/_static$/, '');
      if (!members.has(name)) members.set(name, []);
      members.get(name).push({ owner, feature: feature.__compat });
    }
  }
}

for (const scope of ['Window', 'WorkerGlobalScope', 'ServiceWorkerGlobalScope']) {
  for (const [name, inside] of Object.entries(data.api[scope])) {
    if (inside.__compat !== undefined) globals.set(name, [...(globals.get(name) ?? []), inside.__compat]);
  }
}

function missingOf(features) {
  const all = features.map((feature) => missingIn(feature));
  return all.some((missing) => missing.length === 0) || all.length === 0 ? [] : all[0];
}

/** Names that the page gives: its own objects have them, and one sees in none whose it is. */
const own = new Set();

function collect(node) {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const one of node) collect(one);
    return;
  }
  const { type } = node;
  const named = { Property: node.key, MethodDefinition: node.key, PropertyDefinition: node.key };
  const bound = { ClassDeclaration: node.id, FunctionDeclaration: node.id, ImportSpecifier: node.local };
  const name = (named[type] ?? bound[type])?.name;
  if (name !== undefined && node.computed !== true) own.add(name);
  Object.values(node).forEach(collect);
}

function lookAt(node, path) {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    for (const one of node) lookAt(one, path);
    return;
  }
  if (node.type === 'MemberExpression' && !node.computed && node.property.type === 'Identifier') {
    const { name } = node.property;
    const owner = node.object.type === 'Identifier' ? node.object.name : '';
    const alike = members.get(name) ?? [];
    if (/^[A-Z]/.test(owner) && globals.has(owner)) {
      const its = alike.filter((one) => one.owner === owner);
      note(path, `${owner}.${name}`, missingOf(its.map((one) => one.feature)));
    } else if (['globalThis', 'window'].includes(owner)) {
      note(path, name, missingOf(globals.get(name) ?? []));
    } else if (!own.has(name)) {
      note(path, `.${name}`, missingOf(alike.map((one) => one.feature)));
    }
    lookAt(node.object, path);
    return;
  }
  if (node.type === 'Identifier' && !own.has(node.name)) note(path, node.name, missingOf(globals.get(node.name) ?? []));
  if (node.type === 'CallExpression' && /\.?addEventListener$/.test(nameOf(node.callee))) {
    const [event] = node.arguments;
    const name = `${event?.value ?? ''}_event`;
    note(path, name, missingOf((members.get(name) ?? []).map((one) => one.feature)));
  }
  for (const [key, value] of Object.entries(node)) {
    // What an object or a class calls its own is no global.
    if (key === 'key' && node.computed !== true) continue;
    lookAt(value, path);
  }
}

function nameOf(node) {
  return node.type === 'MemberExpression' ? (node.property.name ?? '') : (node.name ?? '');
}

/** Functions of styles, at whatever depth of the table. */
const functions = new Map();
(function list(features) {
  for (const [name, inside] of Object.entries(features)) {
    if (name === '__compat') continue;
    if (inside.__compat !== undefined && !functions.has(name)) functions.set(name, inside.__compat);
    list(inside);
  }
})(data.css.types);

function lookAtStyles(text, path) {
  const css = text.replace(/\/\*[^]*?\*\//g, ' ');
  const has_own = (name) => css.includes(`${name}:`);
  for (const [, name] of css.matchAll(/@([a-z-]+)/g)) noteStyle(path, `@${name}`, data.css['at-rules'][name]?.__compat);
  for (const [, selectors] of css.matchAll(/([^{};]+)\{/g)) {
    if (selectors.trim().startsWith('@')) continue;
    for (const [, name] of selectors.matchAll(/::?([a-z-]+)/g)) noteStyle(path, `:${name}`, data.css.selectors[name]?.__compat);
  }
  for (const [, property, value] of css.matchAll(/[{;]\s*([a-z-]+)\s*:\s*([^;{}]+)(?=[;}])/g)) {
    if (property.startsWith('--')) continue;
    const plain = property.replace(/^-webkit-/, '');
    const feature = data.css.properties[property] ?? data.css.properties[plain];
    const written = property !== plain || has_own(`-webkit-${property}`) ? `-webkit-${plain}` : property;
    noteStyle(path, property, feature?.__compat, written);
    for (const word of value.match(/[a-z][a-z-]*/g) ?? []) noteStyle(path, `${property}: ${word}`, feature?.[word]?.__compat, written);
    for (const [, name] of value.matchAll(/([a-z-]+)\(/g)) noteStyle(path, `${name}()`, functions.get(name));
  }
}

function noteStyle(path, means, feature, written = '') {
  if (feature !== undefined) note(path, means, missingIn(feature, written));
}

const scripts = given.scripts.map((path) => {
  const comments = [];
  const read = { ecmaVersion: 2022, sourceType: 'module', onComment: comments };
  const program = parse(readFileSync(path, 'utf8'), read);
  collect(program);
  // Fields of messages and states stand in types, which are comments.
  for (const { value } of comments) for (const [, name] of value.matchAll(/\b(\w+)\??:/g)) own.add(name);
  return [path, program];
});
for (const [path, program] of scripts) lookAt(program, path);
for (const path of given.styles) lookAtStyles(readFileSync(path, 'utf8'), path);
process.stdout.write(JSON.stringify([...found.values()].sort()));
