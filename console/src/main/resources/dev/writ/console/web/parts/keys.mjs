// Keys of this browser. A private key is made by it, cannot be read out of it, and is known to no server. A passkey's is kept by an authenticator
// (spec/webauthn.md); of it the browser knows which one it is.
import { pae, sha256, toBase64, toBase64Url, writeJson } from '../verify.mjs';

/**
 * @typedef {{role: string, subject: string, tenant: string}} Holder
 * @typedef {Holder & {kid: string, algorithm: 'Ed25519', created_at: string, x: string, key: CryptoKey}} OwnKey
 * @typedef {Holder & {kid: string, algorithm: 'WebAuthn', created_at: string, x: string, y: string, rp_id: string, credential: Uint8Array<ArrayBuffer>}} Passkey
 * @typedef {OwnKey | Passkey} BrowserKey
 */

const STORE = 'keys';

/**
 * Whether a key of this browser is that person's: enrolled as that, or made for that. Others may have made theirs in the same browser.
 * @param {BrowserKey} key
 * @param {import('./api.mjs').Session | null} session
 */
export function isOf(key, session) {
  if ((session?.keys ?? []).some((/** @type {any} */ jwk) => jwk.kid === key.kid)) return true;
  return key.subject === session?.subject && (key.role !== 'approver' || key.tenant === session?.tenant);
}

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
 * @returns {Promise<OwnKey>}
 */
export async function makeKey({ role, subject, tenant }) {
  const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']));
  const x = toBase64Url(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)));
  const kid = toBase64Url(sha256(writeJson({ crv: 'Ed25519', kty: 'OKP', x })));
  const entry = { kid, algorithm: /** @type {const} */ ('Ed25519'), role, subject, tenant, created_at: new Date().toISOString(), x, key: pair.privateKey };
  await within('readwrite', (store) => store.put(entry));
  return entry;
}

const ES256 = -7; // COSE (RFC 9053, 2.1)
const PATIENCE_MS = 120000;

/** Whether this address can be a relying party's: authenticators know domains, and no addresses of machines. */
export const hasPasskeys = () => 'credentials' in navigator && (location.hostname === 'localhost' || /\.[a-z][a-z0-9-]*$/.test(location.hostname));

/**
 * Has an authenticator make an ES256 key, for this origin's host alone.
 * @param {Holder} holder
 * @returns {Promise<Passkey>}
 */
export async function makePasskey({ role, subject, tenant }) {
  const rp_id = location.hostname;
  const made = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({
    publicKey: {
      challenge: crypto.getRandomValues(new Uint8Array(32)), // attested by nobody: an operator answers for the key
      rp: { id: rp_id, name: 'Writ' },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: `${subject}, ${tenant}`, displayName: subject },
      pubKeyCredParams: [{ type: 'public-key', alg: ES256 }],
      authenticatorSelection: { userVerification: 'required', residentKey: 'discouraged' },
      attestation: 'none',
      timeout: PATIENCE_MS,
    },
  }));
  const spki = new Uint8Array(/** @type {ArrayBuffer} */ (/** @type {AuthenticatorAttestationResponse} */ (made.response).getPublicKey()));
  const point = spki.slice(-64); // an uncompressed point ends every SubjectPublicKeyInfo of P-256 (RFC 5480)
  const x = toBase64Url(point.slice(0, 32));
  const y = toBase64Url(point.slice(32));
  const kid = toBase64Url(sha256(writeJson({ crv: 'P-256', kty: 'EC', x, y })));
  const entry = { kid, algorithm: /** @type {const} */ ('WebAuthn'), role, subject, tenant, created_at: new Date().toISOString(), x, y, rp_id, credential: new Uint8Array(made.rawId) };
  await within('readwrite', (store) => store.put(entry));
  return entry;
}

/**
 * The public half, as spec/keys.md and spec/webauthn.md write one.
 * @param {BrowserKey} key
 */
export function publicJwk(key) {
  return key.algorithm === 'WebAuthn' ? { crv: 'P-256', kid: key.kid, kty: 'EC', writ_rp_id: key.rp_id, x: key.x, y: key.y }
    : { crv: 'Ed25519', kid: key.kid, kty: 'OKP', x: key.x };
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
  const message = pae(type, payload);
  const sig = key.algorithm === 'WebAuthn' ? await asserted(key, message) : new Uint8Array(await crypto.subtle.sign('Ed25519', key.key, /** @type {any} */ (message)));
  return { payload: toBase64(payload), payloadType: type, signatures: [{ keyid: key.kid, sig: toBase64(sig) }] };
}

/**
 * An assertion over a message, as an envelope's signature (spec/webauthn.md).
 * @param {Passkey} key
 * @param {Uint8Array} message
 */
async function asserted(key, message) {
  const given = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({
    publicKey: { challenge: /** @type {any} */ (sha256(message)), rpId: key.rp_id, allowCredentials: [{ type: 'public-key', id: key.credential }], userVerification: 'required', timeout: PATIENCE_MS },
  }));
  const said = /** @type {AuthenticatorAssertionResponse} */ (given.response);
  const text = (/** @type {ArrayBuffer} */ bytes) => toBase64Url(new Uint8Array(bytes));
  return writeJson({ authenticator_data: text(said.authenticatorData), client_data: text(said.clientDataJSON), signature: text(said.signature) });
}
