// Addresses: `#/page/part?filters`. What is filtered stands in them, so that it can be sent to a colleague.
import { store } from './store.mjs';

/** @typedef {{page: string, part: string | null, query: Record<string, string>}} Place */

/**
 * @param {string} hash
 * @returns {Place}
 */
export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [page, ...parts] = path.split('/');
  /** @type {Record<string, string>} */
  const values = {};
  for (const [key, value] of new URLSearchParams(query)) if (value !== '') values[key] = value;
  return { page: page || 'live', part: parts.length === 0 ? null : decode(parts.join('/')), query: values };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string} page
 * @param {string | null} [part]
 * @param {Record<string, string | undefined>} [query]
 */
export function address(page, part = null, query = {}) {
  const values = new URLSearchParams();
  for (const key of Object.keys(query).sort()) if (query[key]) values.set(key, /** @type {string} */ (query[key]));
  const tail = values.toString();
  // Colons stay, so that an id can be read in an address.
  return `#/${page}${part === null ? '' : `/${encodeURIComponent(part).replaceAll('%3A', ':')}`}${tail === '' ? '' : `?${tail}`}`;
}

/** Where the page is. */
export const place = store(parse(location.hash));

addEventListener('hashchange', () => place.set(parse(location.hash)));

/** @param {string} to */
export function go(to) {
  location.hash = to;
}

/**
 * Another query of the same page, without a step in the history for each key that is typed.
 * @param {Record<string, string | undefined>} query
 */
export function refine(query) {
  const { page, part } = place.get();
  history.replaceState(null, '', address(page, part, query));
  place.set(parse(location.hash));
}
