// Writ's native API from JavaScript: signs requests, verifies what comes back. No dependencies;
// runs in Node 18 and later and in browsers whose WebCrypto has Ed25519.
//
// What it verifies is what the server's documents say under the keys that you pin. Its signature
// check is the platform's: the rule of spec/signatures.md is stricter on crafted keys and
// signatures, so whoever audits uses `writ verify`.

const crypto = globalThis.crypto?.subtle ? globalThis.crypto : (await import('node:crypto')).webcrypto;
const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TYPE = (kind) => `application/vnd.writ.${kind}.v1+json`;

/** A refusal: by the server, with its code, or by this client, with code CLIENT. */
export class WritError extends Error {
  constructor(code, message, problem) {
    super(`${code} ${message}`);
    this.code = code;
    this.problem = problem;
  }
}

const refuse = (message) => {
  throw new WritError('CLIENT', message);
};

/** The canonical form of a JSON value (RFC 8785). */
export function canonicalize(value) {
  if (value === null || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(`JSON has no ${value}`);
    return JSON.stringify(value); // ECMAScript's own number form; minus zero is 0
  }
  if (typeof value === 'string') {
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)) {
      refuse('half of a surrogate pair');
    }
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`;
  if (typeof value === 'object') {
    const keys = Object.keys(value).sort(); // by UTF-16 code units, as RFC 8785, 3.2.3 wants it
    return `{${keys.map((k) => `${canonicalize(k)}:${canonicalize(value[k])}`).join(',')}}`;
  }
  return refuse(`no JSON value: ${typeof value}`);
}

const toBase64 = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''));
const toBase64Url = (bytes) =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const toHex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

async function hash(bytes) {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

/** The digest of bytes, as Writ writes it. */
export async function digest(bytes) {
  return `sha256:${toHex(await hash(bytes))}`;
}

/** The key id of an Ed25519 public key: its thumbprint (RFC 7638). */
export async function keyId(jwk) {
  const members = { crv: jwk.crv, kty: jwk.kty, x: jwk.x };
  return toBase64Url(await hash(utf8.encode(canonicalize(members))));
}

/** A signing key out of a PEM file (PKCS #8, not encrypted), as `writ key new` writes it. */
export async function signingKey(pem) {
  const body = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(pem);
  if (!body) refuse('no unencrypted private key in PEM');
  const der = fromBase64(body[1].replace(/\s/g, ''));
  const key = await crypto.subtle.importKey('pkcs8', der, { name: 'Ed25519' }, true, ['sign']);
  return { key, kid: await keyId(await crypto.subtle.exportKey('jwk', key)) };
}

function preAuthEncoding(type, payload) {
  const head = utf8.encode(`DSSEv1 ${utf8.encode(type).length} ${type} ${payload.length} `);
  const all = new Uint8Array(head.length + payload.length);
  all.set(head);
  all.set(payload, head.length);
  return all;
}

/** Signs a document. The result is an envelope; `canonicalize` of it is what goes over the wire. */
export async function sign(kind, document, signer) {
  const payload = utf8.encode(canonicalize(document));
  const type = TYPE(kind);
  const sig = await crypto.subtle.sign('Ed25519', signer.key, preAuthEncoding(type, payload));
  return {
    payload: toBase64(payload),
    payloadType: type,
    signatures: [{ keyid: signer.kid, sig: toBase64(new Uint8Array(sig)) }],
  };
}

/**
 * Verifies an envelope by pinned keys.
 *
 * @param keys the `keys` of a trust file (trust.jwks)
 * @param role which the signing key must have there
 * @param at the time at which it must be valid
 * @returns {{id: string, document: object}}
 */
export async function verify(envelope, kind, keys, role, at) {
  if (envelope?.payloadType !== TYPE(kind)) refuse(`not a ${kind}`);
  if (!Array.isArray(envelope.signatures) || envelope.signatures.length === 0) refuse('unsigned');
  const payload = fromBase64(envelope.payload);
  let edwards = 0;
  for (const { keyid, sig } of envelope.signatures) {
    const jwk = keys.find((k) => k.kid === keyid);
    if (!jwk) refuse(`key ${keyid} is not pinned`);
    if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519') refuse(`key ${keyid} is not Ed25519`);
    if ((await keyId(jwk)) !== keyid) refuse(`key ${keyid} has another thumbprint`);
    if (jwk.writ_role !== role) refuse(`key ${keyid} is of role ${jwk.writ_role}`);
    const valid =
      jwk.writ_revoked_at === undefined &&
      jwk.writ_not_before <= at &&
      (jwk.writ_not_after === undefined || at < jwk.writ_not_after);
    if (!valid) refuse(`key ${keyid} is not in force`);
    const key = await crypto.subtle.importKey(
      'jwk', { crv: jwk.crv, kty: jwk.kty, x: jwk.x }, { name: 'Ed25519' }, false, ['verify']);
    const holds = await crypto.subtle.verify(
      'Ed25519', key, fromBase64(sig), preAuthEncoding(envelope.payloadType, payload));
    if (!holds) refuse(`the signature of key ${keyid} does not hold`);
    edwards += 1;
  }
  if (edwards !== 1) refuse('several signatures of one algorithm');
  const text = strictUtf8.decode(payload);
  const document = JSON.parse(text);
  if (canonicalize(document) !== text) refuse('the payload is not canonical');
  return { id: await digest(payload), document };
}

function outputBytes(output) {
  if (output.json !== undefined) return utf8.encode(canonicalize(output.json));
  if (output.text !== undefined) return utf8.encode(output.text);
  return output.base64 === undefined ? undefined : fromBase64(output.base64);
}

/** An agent's side of the native API. */
export class WritClient {
  /**
   * @param {object} options url, origin (the log's name), tenant, subject, key (from `signingKey`),
   *     keys (pinned, from trust.jwks), now (a function giving a Date; optional)
   */
  constructor({ url, origin, tenant, subject, key, keys, now = () => new Date() }) {
    Object.assign(this, { url: url.replace(/\/$/, ''), origin, tenant, subject, key, keys, now });
  }

  time(offsetSeconds = 0) {
    return new Date(this.now().getTime() + offsetSeconds * 1000).toISOString();
  }

  /** Signs a request for an effect; sent again, it is the same request. */
  async request(run, effect, { idempotencyKey } = {}) {
    const document = {
      tenant: this.tenant,
      run,
      subject: this.subject,
      effect: { inputs: [], ...effect },
      consumes: [],
      nonce: toHex(crypto.getRandomValues(new Uint8Array(16))),
      requested_at: this.time(),
      retention: 'keep',
      context: {},
      evidence: [],
      delegations: [],
    };
    if (idempotencyKey !== undefined) document.idempotency_key = idempotencyKey;
    return sign('request', document, this.key);
  }

  /** Submits a signed request and verifies what comes back. */
  async submit(request) {
    const answer = await this.#send('/v1/effects', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: canonicalize(request),
    });
    const payload = fromBase64(request.payload);
    const asked = JSON.parse(strictUtf8.decode(payload));
    const effect = await digest(utf8.encode(canonicalize(asked.effect)));
    const at = this.time();
    const decision = await verify(answer.decision, 'decision', this.keys, 'guardian', at);
    if (decision.document.effect !== effect) refuse('the decision is on another effect');
    // Under an idempotency key the stored outcome may be another request's, for the same effect.
    if (asked.idempotency_key === undefined && decision.document.request !== (await digest(payload))) {
      refuse('the decision is on another request');
    }
    const outcome = { verdict: decision.document.verdict, decision: decision.document };
    if (answer.receipt !== undefined) {
      const receipt = await verify(answer.receipt, 'receipt', this.keys, 'executor', at);
      if (receipt.document.effect !== effect) refuse('the receipt is of another effect');
      if (receipt.document.decision !== decision.id) refuse('the receipt is of another decision');
      if (receipt.document.request !== decision.document.request) {
        refuse('the receipt is of another request');
      }
      outcome.receipt = receipt.document;
      outcome.receiptId = receipt.id;
      const bytes = answer.output && outputBytes(answer.output);
      if (bytes !== undefined) {
        if ((await digest(bytes)) !== receipt.document.output?.digest) {
          refuse("the output is not the receipt's");
        }
        outcome.output = bytes;
      }
    }
    return outcome;
  }

  /** Reads JSON that the agent may see, for example `/v1/runs`. Nothing of it is verified. */
  async get(path) {
    return this.#send(path, { headers: { Authorization: await this.access() } });
  }

  /** The Authorization header of somebody who holds a key (spec/gateway.md). */
  async access() {
    const envelope = await sign(
      'access',
      {
        tenant: this.tenant,
        audience: this.origin,
        issued_at: this.time(),
        expires_at: this.time(60),
      },
      this.key);
    return `Writ ${toBase64Url(utf8.encode(canonicalize(envelope)))}`;
  }

  async #send(path, options) {
    const response = await fetch(this.url + path, options);
    const body = await response.json();
    if (response.headers.get('content-type') === 'application/problem+json') {
      throw new WritError(body.code, body.detail, body);
    }
    return body;
  }
}
