// Text that others wrote: isolated, with every hidden character named, and cut where it is long.
import { h, useState } from './view.mjs';
import { t } from './text.mjs';

// What can hide text, turn it round, or is no character at all; the same as the report's.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc]|[\u2800\u{1d159}\u{e0000}-\u{e0fff}]|[\p{Cs}\p{Cf}\p{DI}]/gu;

const MARKS = 500; // hidden characters that are named one by one; behind them each is U+FFFD
const STEP = 1 << 20; // characters that one press shows more

/** @param {string} character */
const nameOf = (character) => `U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * @param {string} text
 * @returns {any[]}
 */
export function marked(text) {
  /** @type {any[]} */
  const out = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (out.length > 2 * MARKS) return [...out, text.slice(from).replace(HIDDEN, '\ufffd')];
    out.push(text.slice(from, match.index), h('span', { class: 'ctl', title: t('hidden.character') }, nameOf(match[0])));
    from = match.index + match[0].length;
  }
  out.push(text.slice(from));
  return out;
}

/**
 * The same for places that take text alone, such as a document's title.
 * @param {unknown} value
 * @param {number} most
 */
export function plain(value, most = 80) {
  const text = String(value).replace(HIDDEN, '\ufffd');
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/**
 * @param {{value: unknown, most?: number, all?: boolean, line?: boolean}} props `all` offers the rest of what was cut; `line` is for rows, where a break would break the row
 */
export function Foreign({ value, most = 2000, all = false, line = false }) {
  const [extra, more] = useState(0);
  const whole = String(value);
  const text = cut(whole, most + extra);
  const rest = whole.length - text.length;
  return h('bdi', { dir: 'ltr', class: 'foreign' },
    marked(line ? text.replace(/[\t\n\r]+/g, ' ') : text),
    rest > 0 && !all && h('span', { class: 'cut', title: t('cut.at', { shown: text.length, all: whole.length }) }, '…'),
    rest > 0 && all && h('span', { class: 'cut' }, ' ', t('cut.at', { shown: text.length, all: whole.length }), ' ',
      h('button', { type: 'button', class: 'small', onClick: () => more(extra + STEP) }, rest > STEP ? t('cut.more', { count: STEP }) : t('cut.all'))));
}

/**
 * Never in the middle of a character.
 * @param {string} text
 * @param {number} most
 */
function cut(text, most) {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

/** @param {{value: string}} props an id, its first digits; the whole of it is on the page of what it names */
export function Short({ value }) {
  const text = String(value);
  return h('span', { class: 'id' }, h(Foreign, { value: (text.startsWith('sha256:') ? text.slice(7) : text).slice(0, 12), line: true }));
}

/** @param {{value: unknown}} props */
export const Id = ({ value }) => h('span', { class: 'id' }, h(Foreign, { value, most: 300 }));
