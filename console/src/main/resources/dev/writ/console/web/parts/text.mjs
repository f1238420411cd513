// Every text of the console, from one file for each language, and the ways to write numbers and times.
import { keep, kept, store } from './store.mjs';

export const LANGUAGES = ['en', 'de'];

/** @type {Record<string, string>} */
let texts = {};

/** The language that is shown. */
export const language = store('en');

function preferred() {
  const chosen = kept('writ-language');
  if (chosen !== null && LANGUAGES.includes(chosen)) return chosen;
  for (const tag of navigator.languages ?? []) {
    const base = tag.slice(0, 2).toLowerCase();
    if (LANGUAGES.includes(base)) return base;
  }
  return 'en';
}

/**
 * Loads a language's texts and shows them.
 * @param {string} [name] the preferred one where it is absent
 */
export async function speak(name = preferred()) {
  const answer = await fetch(`/console/text/${name}.json`);
  if (!answer.ok) throw new Error(`texts: ${answer.status}`);
  texts = await answer.json();
  document.documentElement.lang = name;
  plurals = new Intl.PluralRules(name);
  numbers = new Intl.NumberFormat(name);
  // A day is written as the language does; a time has seconds, and is of this browser's zone.
  clocks = new Intl.DateTimeFormat(name, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  days = new Intl.DateTimeFormat(name, { day: 'numeric', month: 'short', year: 'numeric' });
  language.set(name);
}

/** @param {string} name */
export async function choose(name) {
  await speak(name);
  keep('writ-language', name);
}

let plurals = new Intl.PluralRules('en');
let numbers = new Intl.NumberFormat('en');
let clocks = new Intl.DateTimeFormat('en', { timeStyle: 'medium' });
let days = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** @param {string} key */
const has = (key) => Object.hasOwn(texts, key);

/**
 * A text; `{name}` in it is replaced. What others wrote does not belong into it: see `T`.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  return T(key, values).join('');
}

/**
 * The same with nodes among its values, as a list of children.
 * @param {string} key
 * @param {Record<string, any>} values
 * @returns {any[]}
 */
export function T(key, values) {
  const found = has(key) ? texts[key] : key;
  return found.split(/(\{[a-z]+\})/).map((part) => {
    const name = /^\{([a-z]+)\}$/.exec(part)?.[1];
    if (name === undefined || !(name in values)) return part;
    return typeof values[name] === 'number' ? number(values[name]) : values[name];
  });
}

/**
 * A text for a count: its key with `.one` or `.other`.
 * @param {string} key
 * @param {number} count
 * @param {Record<string, string | number>} [values]
 */
export function count(key, count, values = {}) {
  return t(`${key}.${plurals.select(count) === 'one' ? 'one' : 'other'}`, { ...values, count });
}

/**
 * A text where there is one for that name, else the name itself: of states and verdicts that a newer server may add.
 * @param {string} prefix
 * @param {string} name
 */
export const named = (prefix, name) => (has(`${prefix}.${name}`) ? texts[`${prefix}.${name}`] : String(name));

/** @param {number} n */
export const number = (n) => numbers.format(n);

/** @param {string} at an instant as documents write it */
const instant = (at) => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? null : date;
};

/** @param {string} at */
export const clock = (at) => {
  const date = instant(at);
  return date === null ? String(at) : clocks.format(date);
};

/**
 * With milliseconds.
 * @param {string} at
 */
export const fine = (at) => {
  const date = instant(at);
  return date === null ? String(at) : `${clocks.format(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
};

/** @param {string} at */
export const day = (at) => {
  const date = instant(at);
  return date === null ? String(at) : days.format(date);
};

/** @param {string} at */
export const moment = (at) => `${day(at)}, ${clock(at)}`;

/**
 * A span of time in two units at most.
 * @param {number} ms
 */
export function span(ms) {
  if (!(ms >= 0)) return '–';
  if (ms < 1000) return `${number(Math.round(ms))} ms`;
  const s = ms / 1000;
  if (s < 60) return `${number(Math.round(s * 10) / 10)} s`;
  const whole = Math.floor(s);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60 === 0 ? '' : `${whole % 60} s`}`.trim();
  if (whole < 172800) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return count('days', Math.floor(whole / 86400));
}

/**
 * The same in one unit, for lists.
 * @param {number} ms
 */
export function rough(ms) {
  if (!(ms >= 60000)) return ms >= 1000 ? `${Math.floor(ms / 1000)} s` : span(ms);
  if (ms < 3600000) return `${Math.floor(ms / 60000)} min`;
  return ms < 172800000 ? `${Math.floor(ms / 3600000)} h` : span(ms);
}

/** @param {number} n */
export function size(n) {
  if (n < 1024) return count('bytes', n);
  return n < 1 << 20 ? `${number(Math.round(n / 102.4) / 10)} KiB` : `${number(Math.round(n / (1 << 20) * 10) / 10)} MiB`;
}
