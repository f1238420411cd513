// Texts that are being written: kept for this tab, and for their author alone.
import { standing } from './api.mjs';

const DRAFT = 'writ-draft ';

/** @param {import('./api.mjs').Session | null} session */
const nameOf = (session) => (session === null ? '' : JSON.stringify([session.tenant, session.subject]));

/**
 * @param {string} name what it is a draft of
 * @param {string | null} text null where there is nothing to keep
 */
export function keepDraft(name, text) {
  try {
    if (text === null) sessionStorage.removeItem(DRAFT + name);
    else sessionStorage.setItem(DRAFT + name, JSON.stringify({ by: nameOf(standing.get().session), text }));
  } catch {
    // A browser that keeps nothing: the text is on the page alone.
  }
}

/**
 * What the person kept who is signed in.
 * @param {string} name
 * @returns {string | null}
 */
export function draft(name) {
  const { by, text } = held(DRAFT + name);
  return by === nameOf(standing.get().session) ? text : null;
}

/**
 * @param {string} key
 * @returns {{by: string, text: string | null}}
 */
function held(key) {
  try {
    const { by, text } = JSON.parse(sessionStorage.getItem(key) ?? '{}');
    return { by: String(by), text: typeof text === 'string' ? text : null };
  } catch {
    return { by: '', text: null };
  }
}

/** @returns {string[]} */
function keys() {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(DRAFT));
  } catch {
    return [];
  }
}

// A session ends by itself, too, and its author comes back to the text; whoever else signs in here takes it out.
standing.follow(({ session }) => {
  if (session !== null) for (const key of keys()) if (held(key).by !== nameOf(session)) sessionStorage.removeItem(key);
});
