// Calls of the documented API, with the session's cookie and its token against forged requests.
import { store } from './store.mjs';

/**
 * @typedef {{tenant: string, subject: string, roles?: string[], people_roles?: string[], csrf: string, expires_at: string, approver_roles?: string[], by?: string,
 *   log_origin: string, keys?: any[], server?: {version?: string, region?: string}}} Session
 * @typedef {{session: Session | null, ways: string[], known: boolean, left?: boolean, ended?: boolean}} Standing `left` where a session by the organization was signed out,
 *   `ended` where one was over before it was signed out
 */

/** Who is signed in; `known` is false until the server was asked. */
export const standing = store(/** @type {Standing} */ ({ session: null, ways: [], known: false }));

/** Why the code of an address did not sign anybody in. */
export const codeRefused = store(/** @type {Problem | null} */ (null));

/** A refusal of the server, or that there was no answer. */
export class Problem extends Error {
  /**
   * @param {number} status 0 where there was no answer
   * @param {{code?: string, title?: string, detail?: string, remedy?: string, trace_id?: string}} body
   */
  constructor(status, body) {
    super(body.title ?? String(status));
    this.status = status;
    this.code = body.code ?? null;
    this.title = body.title ?? null;
    this.detail = body.detail ?? null;
    this.remedy = body.remedy ?? null;
    this.trace = body.trace_id ?? null;
  }
}

/** @param {Response} answer */
async function problemOf(answer) {
  try {
    const body = await answer.json();
    return new Problem(answer.status, body !== null && typeof body === 'object' ? body : {});
  } catch {
    return new Problem(answer.status, {});
  }
}

/**
 * The session that the page shows: of another one, such as another tab's, the server says that it is (GWY-091).
 * @returns {Record<string, string>}
 */
function guarded() {
  const { session } = standing.get();
  return session === null ? {} : { 'Writ-Csrf': session.csrf };
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{body?: any, headers?: Record<string, string>, signal?: AbortSignal}} [options]
 * @returns {Promise<Response>}
 */
async function send(method, path, { body, headers = {}, signal } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...(method === 'GET' && path === '/console/session' ? {} : guarded()), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ?? null,
    });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Problem(0, {});
  }
  if (answer.ok) return answer;
  const problem = await problemOf(answer);
  // The session is over, or never was: whoever is here signs in again, and comes back to this address.
  // What a signed document is refused for (CAN-…) is about its key, not about the session.
  if (problem.status === 401 && !problem.code?.startsWith('CAN-') && !path.startsWith('/console/session')) standing.set({ ...standing.get(), session: null, ended: standing.get().session !== null || standing.get().ended });
  if (problem.code === 'GWY-091') whoami().catch(() => {}); // somebody else is signed in: the page becomes theirs
  throw problem;
}

/**
 * Where a run is read. A browser takes `.` and `..` for steps in a path, however they are written: such a name stands in the query.
 * @param {string} run
 * @param {string} [part]
 */
export const pathOfRun = (run, part = '') => (run === '.' || run === '..' ? `/v1/runs/${part}?run=${run}` : `/v1/runs/${encodeURIComponent(run)}${part}`);

/**
 * @param {string} path
 * @param {Record<string, string | number | undefined>} [query]
 */
export function withQuery(path, query = {}) {
  const values = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined && value !== '') values.set(key, String(value));
  const tail = values.toString().replaceAll('+', '%20'); // a plus is a plus to the API
  return tail === '' ? path : `${path}?${tail}`;
}

/**
 * What an answer holds. One that breaks off, as where the connection or the page ends, is no answer.
 * @template T
 * @param {Promise<T>} content
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
async function whole(content, signal) {
  try {
    return await content;
  } catch (e) {
    if (signal?.aborted || e instanceof SyntaxError) throw e;
    throw new Problem(0, {});
  }
}

/**
 * @param {string} path
 * @param {Record<string, string | number | undefined>} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function get(path, query, signal) {
  return whole((await send('GET', withQuery(path, query), { signal })).json(), signal);
}

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export async function getBytes(path, signal) {
  return new Uint8Array(await whole((await send('GET', path, { signal })).arrayBuffer(), signal));
}

/**
 * @param {string} path
 * @param {any} body
 * @returns {Promise<any>}
 */
export async function post(path, body) {
  const answer = await send('POST', path, { body });
  const text = await whole(answer.text());
  return text === '' ? null : JSON.parse(text);
}

/**
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function remove(path) {
  const text = await whole((await send('DELETE', path)).text());
  return text === '' ? null : JSON.parse(text);
}

const SKEW_MS = 300000;

let ahead = 0; // milliseconds that the server's clock is ahead of this device's

/** The server's time as it was when it last said who is signed in: for spans from times that it wrote. */
export const serverNow = () => Date.now() + ahead;

/**
 * The server's time, since it refuses what is signed in its future; this device's where they are so far apart that a person has to look.
 * @returns {Promise<number>}
 */
export async function serversTime() {
  const server = Date.parse((await get('/console/session')).now);
  return Math.abs(server - Date.now()) < SKEW_MS ? server : Date.now();
}

/**
 * The session, and what policy lets its person see: where one of these is another, so is the page.
 * @param {Session} session
 */
export const sightOf = (session) => JSON.stringify([session.csrf, session.roles, session.people_roles, session.approver_roles]);

/**
 * Whether the server says the same of a session, but for the time.
 * @param {any} a
 * @param {any} b
 */
const isSame = (a, b) => a !== null && JSON.stringify({ ...a, now: '' }) === JSON.stringify({ ...b, now: '' });

/** Asks who is signed in, and how one can sign in where nobody is. */
export async function whoami() {
  try {
    const session = await get('/console/session');
    const server = Date.parse(session.now);
    if (!Number.isNaN(server)) ahead = server - Date.now();
    if (!isSame(standing.get().session, session)) standing.set({ session, ways: [], known: true });
  } catch (e) {
    if (!(e instanceof Problem) || e.status !== 401) throw e;
    const ways = await askWays();
    const { session, ended } = standing.get();
    standing.set({ session: null, ways, known: true, ended: session !== null || ended });
  }
}

/** Whether anybody is signed in, asked without showing it. */
export const isSignedIn = () => get('/console/session').then(() => true, (e) => {
  if (e instanceof Problem && e.status === 401) return false;
  throw e;
});

/**
 * How one can sign in.
 * @returns {Promise<string[]>}
 */
export async function askWays() {
  try {
    return (await get('/console/sign-in')).ways ?? ['token'];
  } catch (e) {
    if (e instanceof Problem && e.status === 0) throw e; // nobody answers
    return ['token'];
  }
}

/**
 * @param {string | null} credential a token or a code; null for what the connection itself shows: a client certificate
 * @param {'Bearer' | 'Writ-Code'} [scheme]
 */
export async function signIn(credential, scheme = 'Bearer') {
  await send('POST', '/console/session', { headers: credential === null ? {} : { Authorization: `${scheme} ${credential}` } });
  codeRefused.set(null);
  await whoami();
}

/** @param {boolean} [everywhere] all sessions of the person */
export async function signOut(everywhere = false) {
  const left = standing.get().session?.by === 'oidc';
  try {
    await remove(everywhere ? '/console/sessions' : '/console/session');
  } catch (e) {
    if (!(e instanceof Problem) || e.status !== 401) throw e; // it was over already
  }
  try {
    sessionStorage.clear(); // a text that was being written is its author's
  } catch {
    // A browser that keeps nothing.
  }
  standing.set({ ...standing.get(), session: null, left });
}

const SILENCE_MS = 45000; // a server gives a sign of life every ten seconds

/**
 * Follows a stream of server-sent events until it is aborted: takes it up again by `Last-Event-ID`, later each time it fails. One that
 * says nothing for a while is taken for lost: a connection that nobody closed would look like quiet.
 * @param {string} path
 * @param {{event: (name: string, data: any) => void, state: (state: 'open' | 'lost', why: Problem | null) => void, anew?: () => void, signal: AbortSignal}} to
 *   `anew` is called where it begins at the newest once more, since nothing had said yet from where to take it up
 */
export async function follow(path, { event, state, anew, signal }) {
  let last = '';
  let failures = 0;
  let tried = false;
  while (!signal.aborted) {
    /** @type {Problem | null} */
    let why = null;
    const mine = new AbortController();
    const end = () => mine.abort();
    signal.addEventListener('abort', end, { once: true });
    let silence = 0;
    const alive = () => {
      clearTimeout(silence);
      silence = window.setTimeout(end, SILENCE_MS);
    };
    alive();
    try {
      const answer = await send('GET', path, { headers: { Accept: 'text/event-stream', ...(last === '' ? {} : { 'Last-Event-ID': last }) }, signal: mine.signal });
      state('open', null);
      failures = 0;
      if (tried && last === '') anew?.();
      tried = true;
      for await (const message of messages(/** @type {ReadableStream<Uint8Array>} */ (answer.body), alive)) {
        if (message.id !== null) last = message.id;
        if (message.data !== null) event(message.name, message.data === '' ? null : JSON.parse(message.data));
      }
    } catch (e) {
      if (signal.aborted) return;
      tried = true;
      why = e instanceof Problem ? e : new Problem(0, {});
      if (why.status === 401 || why.status === 403 || why.status === 404) {
        state('lost', why);
        return;
      }
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', end);
    }
    state('lost', why);
    failures++;
    await pause(Math.min(15000, 500 * 2 ** Math.min(failures, 5)), signal);
  }
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 */
function pause(ms, signal) {
  return /** @type {Promise<void>} */ (new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  }));
}

/**
 * The messages of a stream (HTML Standard, 9.2): names, ids and data lines; comments are left out. One without data is a new id alone,
 * which counts as any other does: a stream that is quiet says by it from where to take it up.
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} [alive] called for whatever comes, comments too
 */
export async function* messages(body, alive = () => {}) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let held = '';
  let name = 'message';
  /** @type {string | null} */
  let id = null;
  /** @type {string[]} */
  let data = [];
  let placed = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      alive();
      held += decoder.decode(value, { stream: true });
      const lines = held.split(/\r\n|\n/);
      held = /** @type {string} */ (lines.pop());
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0 || placed) yield { name, id, data: data.length > 0 ? data.join('\n') : null };
          name = 'message';
          data = [];
          placed = false;
          continue;
        }
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const rest = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'event') name = rest;
        else if (field === 'data') data.push(rest);
        else if (field === 'id') {
          id = rest;
          placed = true;
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
