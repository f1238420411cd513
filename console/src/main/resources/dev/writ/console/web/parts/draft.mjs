// The text of a policy that is being written: kept for this tab, and for its author alone.
import { standing } from './api.mjs';

const DRAFT = 'writ-policy-draft';

/** @param {import('./api.mjs').Session | null} session */
const nameOf = (session) => (session === null ? '' : JSON.stringify([session.tenant, session.subject]));

/** @param {string | null} text what stands on the policy's page; null where it is the policy in force */
export function keepDraft(text) {
  if (text === null) sessionStorage.removeItem(DRAFT);
  else sessionStorage.setItem(DRAFT, JSON.stringify({ by: nameOf(standing.get().session), text }));
}

/**
 * What the person kept who is signed in.
 * @returns {string | null}
 */
export function draft() {
  const { by, text } = held();
  return by === nameOf(standing.get().session) ? text : null;
}

/** @returns {{by: string, text: string | null}} */
function held() {
  try {
    const { by, text } = JSON.parse(sessionStorage.getItem(DRAFT) ?? '{}');
    return { by: String(by), text: typeof text === 'string' ? text : null };
  } catch {
    return { by: '', text: null };
  }
}

// A session ends by itself, too, and its author comes back to the text; whoever else signs in here takes it out.
standing.follow(({ session }) => {
  if (session !== null && held().text !== null && draft() === null) keepDraft(null);
});
