// Keys of this browser. A private key is made by it, cannot be read out of it, and is known to no server.
import { pae, sha256, toBase64, toBase64Url, writeJson } from '../verify.mjs';

/**
 * @typedef {{role: string, subject: string, tenant: string}} Holder
 * @typedef {Holder & {kid: string, algorithm: string, created_at: string, x: string, key: CryptoKey}} BrowserKey
 */

const STORE = 'keys';

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open('writ', 1);
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
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const asked = work(transaction.objectStore(STORE));
      // Kept once the transaction is, not before.
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/**
 * The oldest first.
 * @returns {Promise<BrowserKey[]>}
 */
export async function listKeys() {
  const all = /** @type {BrowserKey[]} */ (await within('readonly', (store) => store.getAll()));
  return all.sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/**
 * Makes an Ed25519 key that cannot be taken out of this browser.
 * @param {Holder} holder
 * @returns {Promise<BrowserKey>}
 */
export async function makeKey({ role, subject, tenant }) {
  const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']));
  const x = toBase64Url(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)));
  const kid = toBase64Url(sha256(writeJson({ crv: 'Ed25519', kty: 'OKP', x })));
  const entry = { kid, algorithm: 'Ed25519', role, subject, tenant, created_at: new Date().toISOString(), x, key: pair.privateKey };
  await within('readwrite', (store) => store.put(entry));
  return entry;
}

/**
 * The public half, as spec/keys.md writes one.
 * @param {{kid: string, x: string}} key
 */
export function publicJwk(key) {
  return { crv: 'Ed25519', kid: key.kid, kty: 'OKP', x: key.x };
}

/** @param {string} kid */
export async function forget(kid) {
  await within('readwrite', (store) => store.delete(kid));
}

/**
 * Signs a document: its canonical bytes under its type, in an envelope.
 * @param {BrowserKey} key
 * @param {string} type
 * @param {object} document
 */
export async function signDocument(key, type, document) {
  const payload = writeJson(document);
  const sig = new Uint8Array(await crypto.subtle.sign('Ed25519', key.key, /** @type {any} */ (pae(type, payload))));
  return { payload: toBase64(payload), payloadType: type, signatures: [{ keyid: key.kid, sig: toBase64(sig) }] };
}
