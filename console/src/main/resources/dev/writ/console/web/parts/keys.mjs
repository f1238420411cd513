// Keys of this browser: made by WebCrypto, kept by IndexedDB, and never seen by anybody, this page included.
import { pae, sha256, toBase64, toBase64Url, writeJson } from '../verify.mjs';

const DATABASE = 'writ-keys';
const STORE = 'keys';

/**
 * @typedef {{kid: string, algorithm: 'Ed25519', role: string, tenant: string, subject: string, created_at: string, x: string}} Held
 * @typedef {Held & {key: CryptoKey}} Kept
 */

/** @returns {Promise<IDBDatabase>} */
function opened() {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(DATABASE, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(STORE, { keyPath: 'kid' });
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
}

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} work
 * @returns {Promise<T>}
 */
async function within(mode, work) {
  const database = await opened();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const asked = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** @param {Kept} kept */
const shown = ({ key, ...held }) => held;

/** The keys of this browser, the oldest first. */
export async function listKeys() {
  const all = /** @type {Kept[]} */ (await within('readonly', (store) => store.getAll()));
  return all.map(shown).sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
}

/**
 * Makes a key whose secret part no script can read.
 * @param {{role: string, subject: string | undefined, tenant: string | undefined}} whose
 */
export async function makeKey({ role, subject, tenant }) {
  const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify']));
  const x = toBase64Url(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)));
  const kid = toBase64Url(sha256(writeJson({ crv: 'Ed25519', kty: 'OKP', x })));
  const kept = { kid, algorithm: /** @type {const} */ ('Ed25519'), role, tenant: tenant ?? '', subject: subject ?? '', created_at: new Date().toISOString(), x, key: pair.privateKey };
  await within('readwrite', (store) => store.add(kept));
  return shown(kept);
}

/** @param {{kid: string, x: string}} key */
export const publicJwk = ({ kid, x }) => ({ crv: 'Ed25519', kid, kty: 'OKP', x });

/** @param {string} kid */
export async function forget(kid) {
  await within('readwrite', (store) => store.delete(kid));
}

/**
 * The envelope (DSSE) of a document, signed by a key of this browser.
 * @param {{kid: string}} key
 * @param {string} type
 * @param {any} object
 */
export async function signDocument({ kid }, type, object) {
  const kept = /** @type {Kept | undefined} */ (await within('readonly', (store) => store.get(kid)));
  if (kept === undefined) throw new Error('the key is not in this browser any more');
  const payload = writeJson(object);
  const sig = new Uint8Array(await crypto.subtle.sign({ name: 'Ed25519' }, kept.key, pae(type, payload)));
  return { payload: toBase64(payload), payloadType: type, signatures: [{ keyid: kid, sig: toBase64(sig) }] };
}
