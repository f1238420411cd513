// Addresses: `#/page/part?filters`. What is filtered stands in them, so that it can be sent to a colleague.
import { store } from './store.mjs';

/**
 * `step` names the step of the history: it is another one wherever a link leads, and the same after Back.
 * @typedef {{page: string, part: string | null, query: Record<string, string>, step: string}} Place
 */

/**
 * @param {string} hash
 * @returns {Omit<Place, 'step'>}
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

let steps = 0;

/**
 * The place of the address. A step that is new gets its name, and is told from where it was taken.
 * @param {string | null} from
 * @returns {Place}
 */
function here(from) {
  if (typeof history.state?.step !== 'string') history.replaceState({ step: `${performance.timeOrigin}-${++steps}`, from }, '');
  return { ...parse(location.hash), step: history.state.step };
}

/** Where the page is. */
export const place = store(here(null));

/** @type {((step: string) => void)[]} */
const leaving = [];

/**
 * Is told of each step that is left, before another page is drawn.
 * @param {(step: string) => void} told
 */
export const leave = (told) => void leaving.push(told);

// Pages restore it themselves: where they are long, that is only once they have their rows again.
history.scrollRestoration = 'manual';

addEventListener('hashchange', (e) => {
  for (const told of leaving) told(place.get().step);
  place.set(here(new URL(e.oldURL).hash));
});

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
  replace(address(page, part, query));
}

/**
 * Another address for the same step of the history.
 * @param {string} to
 */
export function replace(to) {
  history.replaceState(history.state, '', to);
  place.set(here(null));
}

/**
 * Of a link to a list: who came from there goes back, and finds it as it was left.
 * @param {any} e the click
 */
export function asBack(e) {
  if (e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || history.state?.from !== e.currentTarget.getAttribute('href')) return;
  e.preventDefault();
  history.back();
}
