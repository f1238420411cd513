// What the pages of tools say about a version.
import { h } from './view.mjs';
import { Foreign } from './foreign.mjs';
import { Chip } from './icons.mjs';
import { moment, named, span, t } from './text.mjs';

/**
 * @typedef {{at: string, by: string}} Said
 * @typedef {{name: string, version: string, stage: string, runs: boolean, prohibited: boolean, listed: boolean, registered: boolean, package?: string,
 *   driver?: string, upstream?: {places: string[]}, submitted?: Said, approved?: Said, staged?: Said, revoked?: Said, rejected?: boolean,
 *   approvals?: {role: string, needed: number, given: number}[], canary?: {percent: number, whole_tenant: boolean}, findings?: number}} Version
 */

/** @type {Record<string, [string, string]>} */
const LOOKS = { active: ['good', 'check'], canary: ['info', 'pulse'], draft: ['info', 'clock'], deprecated: ['warn', 'dash'], retired: ['none', 'dash'], revoked: ['bad', 'cross'] };

/**
 * @param {Version} version
 * @returns {[string, string]}
 */
export const lookOf = (version) => LOOKS[version.stage] ?? ['info', 'question'];

export const STAGES = Object.keys(LOOKS);

/** @param {{version: Version}} props */
export function Stage({ version }) {
  const [tone, sign] = lookOf(version);
  return h(Chip, { tone, sign }, STAGES.includes(version.stage) ? named('tools.stage', version.stage) : h(Foreign, { value: version.stage, most: 40, line: true }));
}

/** @param {{said: Said}} props */
export const When = ({ said }) => h('span', null, moment(said.at), ', ', h(Foreign, { value: said.by, most: 80, line: true }));

/** @param {{version: Version}} props where it comes from, in a few words */
export function Origin({ version }) {
  if (version.upstream) return h('span', null, t('tools.upstream'), ' ', h(Foreign, { value: version.upstream.places.join(', '), most: 160, line: true }));
  if (!version.registered) return h('span', null, t('tools.unregistered'));
  return h(Foreign, { value: version.driver, most: 60, line: true });
}

/**
 * A name or version may hold slashes; each is a part of the address of its own.
 * @param {string} name
 * @param {string} version
 * @param {string} [from] the version that it is compared with
 */
export function addressOf(name, version, from) {
  const part = (/** @type {string} */ text) => encodeURIComponent(encodeURIComponent(text));
  return `#/tools/${part(name)}/${part(version)}${from === undefined ? '' : `?${new URLSearchParams({ from })}`}`;
}

/**
 * The name and version of an address.
 * @param {string} part
 * @returns {[string, string] | null}
 */
export function namedBy(part) {
  const parts = part.split('/');
  try {
    return parts.length === 2 ? [decodeURIComponent(parts[0]), decodeURIComponent(parts[1])] : null;
  } catch {
    return null;
  }
}

/**
 * The path of a version in the API.
 * @param {string} name
 * @param {string} version
 */
export const pathOf = (name, version) => `/v1/tool-packages/${encodeURIComponent(name)}/${encodeURIComponent(version)}`;

/** @param {{label: string, heads: any[], rows: any[][]}} props rows of a name and of what is counted */
export const Numbers = ({ label, heads, rows }) => h('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label },
  h('table', null, h('caption', { class: 'sr' }, label),
    h('thead', null, h('tr', null, heads.map((head, i) => h('th', { scope: 'col', class: i > 0 ? 'num' : undefined }, head)))),
    h('tbody', null, rows.map(([name, ...cells]) => h('tr', null, h('th', { scope: 'row' }, name), cells.map((cell) => h('td', { class: 'num' }, cell)))))));

/** @param {number | undefined} ms */
export const took = (ms) => (ms === undefined ? '–' : span(ms));
