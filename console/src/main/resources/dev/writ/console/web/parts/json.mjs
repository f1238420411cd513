// Values and texts, laid out to be read.
import { h, useState } from './view.mjs';
import { Foreign } from './foreign.mjs';
import { t } from './text.mjs';

/** @param {any} value */
const leaf = (value) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/**
 * A value over several lines, its names in order.
 * @param {any} value
 * @param {string} [indent]
 * @returns {string}
 */
export function pretty(value, indent = '') {
  if (value === null || typeof value !== 'object') return leaf(value);
  const flat = oneLine(value);
  if (flat !== null) return flat;
  const inner = `${indent}  `;
  const array = Array.isArray(value);
  const items = array ? value.map((v) => inner + pretty(v, inner)) : Object.keys(value).sort().map((k) => `${inner}${JSON.stringify(k)}: ${pretty(value[k], inner)}`);
  return items.length === 0 ? (array ? '[]' : '{}') : `${array ? '[' : '{'}\n${items.join(',\n')}\n${indent}${array ? ']' : '}'}`;
}

/**
 * A small value on one line; null where it is not small.
 * @param {any} value
 * @param {number} [room]
 * @returns {string | null}
 */
function oneLine(value, room = 64) {
  if (value === null || typeof value !== 'object') {
    const text = leaf(value);
    return text.length <= room ? text : null;
  }
  const parts = [];
  let left = room - 4;
  for (const [key, item] of Object.entries(value)) {
    const lead = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `;
    const text = oneLine(item, left - lead.length);
    if (text === null) return null;
    parts.push(lead + text);
    left -= lead.length + text.length + 2;
    if (left < 0) return null;
  }
  return Array.isArray(value) ? `[${parts.join(', ')}]` : parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

const SHOWN = 20000;

/** @param {{value: any}} props */
export const Json = ({ value }) => h('pre', { tabIndex: 0 }, h(Foreign, { value: pretty(value), most: SHOWN, all: true }));

/** @param {{value: string}} props */
export const Text = ({ value }) => (isDiff(value) ? h(Diff, { value }) : h('pre', { tabIndex: 0 }, h(Foreign, { value, most: SHOWN, all: true })));

/** @param {string} text */
export const isDiff = (text) => /^(?:diff --git |--- )[^\n]*\n/.test(text) && /^@@ -\d/m.test(text);

const LINES = 2000;

/** @param {{value: string}} props a unified diff: what comes has a plus and goes has a minus, besides their colours */
function Diff({ value }) {
  const lines = value.replace(/\n$/, '').split('\n');
  const look = (/** @type {string} */ line) => (/^(?:\+\+\+|---|diff |index )/.test(line) ? 'file' : line[0] === '+' ? 'plus' : line[0] === '-' ? 'minus' : line.startsWith('@@') ? 'at' : '');
  if (lines.length > LINES) return h('pre', { tabIndex: 0 }, h(Foreign, { value, most: SHOWN, all: true }));
  return h('pre', { class: 'diff', tabIndex: 0 }, lines.map((line) => h('span', { class: look(line) }, h(Foreign, { value: line, most: 1000, all: true }), '\n')));
}

// More of them make a browser stand still for a minute, and nobody reads them as a table.
const COLUMNS = 100;

/** @param {any} value rows as a table: {columns, rows} with the `rest` of its members, or a list of records with the same plain members; null where it is neither */
export function tableOf(value) {
  if (value !== null && typeof value === 'object' && Array.isArray(value.columns) && Array.isArray(value.rows) && value.columns.length > 0 && value.columns.length <= COLUMNS
    && value.rows.every((/** @type {any} */ row) => Array.isArray(row) && row.length <= COLUMNS)) {
    const { columns, rows, ...rest } = value;
    return { heads: columns.map((/** @type {any} */ name) => (typeof name === 'string' ? name : JSON.stringify(name))), rows, rest };
  }
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => item !== null && typeof item === 'object' && !Array.isArray(item))) return null;
  const heads = Object.keys(value[0]);
  const flat = value.every((item) => Object.keys(item).length === heads.length && heads.every((k) => Object.hasOwn(item, k) && (item[k] === null || typeof item[k] !== 'object')));
  return flat && heads.length > 0 && heads.length <= 12 ? { heads, rows: value.map((item) => heads.map((k) => item[k])), rest: {} } : null;
}

const ROWS = 200;
const CELLS = 20000; // that one press shows more

/** @param {{label: string, heads: string[], rows: any[][]}} props */
export function Table({ label, heads, rows }) {
  const [most, show] = useState(ROWS);
  const more = Math.min(rows.length - most, Math.max(ROWS, Math.floor(CELLS / heads.length)));
  const numeric = heads.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  return h('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label },
    h('table', null, h('caption', { class: 'sr' }, label),
      h('thead', null, h('tr', null, heads.map((head, i) => h('th', { scope: 'col', class: numeric[i] ? 'num' : undefined }, h(Foreign, { value: head, most: 120 }))))),
      h('tbody', null, rows.slice(0, most).map((row) => h('tr', null, row.map((cell, i) => h('td', { class: numeric[i] ? 'num' : undefined }, h(Foreign, { value: cell === null || typeof cell !== 'object' ? cell : JSON.stringify(cell), most: 500, all: true }))))))),
    rows.length > most && h('p', { class: 'cut' }, t('cut.rows', { shown: most, all: rows.length }), ' ',
      h('button', { type: 'button', class: 'small', onClick: () => show(most + more) }, t('cut.more', { count: more }))));
}
