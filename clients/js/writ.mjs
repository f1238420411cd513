// A client of Writ: signs requests, or has the server sign for a token, and believes an answer only
// where pinned keys have signed it (spec/client.md). No dependencies; runs in Node 18 and later and in
// browsers whose WebCrypto has Ed25519.
//
// Its signature check is the platform's: the rule of spec/signatures.md is stricter on crafted keys
// and signatures, so whoever audits uses `writ verify`.

/** Node 18 has WebCrypto, but not as a global. This is no literal in `import`, so no bundler for browsers looks for it. */
const BUILT_IN = 'node:crypto';
let ofNode;
async function webCrypto() {
  if (globalThis.crypto?.subtle) return globalThis.crypto;
  if (!globalThis.process?.versions?.node) {
    throw new TypeError('there is no WebCrypto here: a browser has it in pages of https:// and of this machine alone');
  }
  ofNode ??= (await import(/* webpackIgnore: true */ /* @vite-ignore */ BUILT_IN)).webcrypto;
  return ofNode;
}
const subtle = async () => (await webCrypto()).subtle;
const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TYPE = (kind) => `application/vnd.writ.${kind}.v1+json`;

/** Something did not hold; `code` is one of spec/errors.md. */
export class WritError extends Error {
  constructor(code, message, options) {
    super(`${code} ${message}`, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The server refused before a decision: `code` is its own, `problem` the whole of what it said. */
export class Refused extends WritError {
  constructor(status, problem) {
    super(problem.code ?? 'GWY-060', [problem.title, problem.detail].filter(Boolean).join(': '));
    this.status = status;
    this.problem = problem;
  }
}

/** No answer came (GWY-061). Where `sent` is false, nothing happened; else the same request may be sent again. */
export class NoAnswer extends WritError {
  constructor(message, sent, options) {
    super('GWY-061', message, options);
    this.sent = sent;
  }
}

/** What was given as a file's content is not what it must be. */
export class WrongFile extends WritError {}

/** The answer is not what pinned keys have signed about this request (GWY-062). */
export class NotBelieved extends WritError {
  constructor(message) {
    super('GWY-062', message);
  }
}

const refuse = (message) => {
  throw new NotBelieved(message);
};
const require = (holds, found) => {
  if (!holds) refuse(found);
};

/** The canonical form of a JSON value (RFC 8785). */
export function canonicalize(value) {
  return write(value, '');
}

function write(value, path) {
  const at = path && `${path}: `;
  if (value === null || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(`${at}JSON has no ${value}`);
    return JSON.stringify(value); // ECMAScript's own number form; minus zero is 0
  }
  if (typeof value === 'string') {
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)) {
      refuse(`${at}half of a surrogate pair`);
    }
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    const items = Array.from(value, (item, i) => {
      if (!Object.hasOwn(value, i)) refuse(`${path}[${i}]: a hole in an array`);
      return write(item, `${path}[${i}]`);
    });
    return `[${items.join(',')}]`;
  }
  if (typeof value === 'object') {
    const kind = Object.getPrototypeOf(value);
    if (kind !== null && Object.getPrototypeOf(kind) !== null) { // Object.prototype of any realm passes
      refuse(`${at}no JSON value: ${kind.constructor?.name || 'object'}`);
    }
    const keys = Object.keys(value).sort(); // by UTF-16 code units, as RFC 8785, 3.2.3 wants it
    const member = (k) => `${write(k, path)}:${write(value[k], path ? `${path}.${k}` : k)}`;
    return `{${keys.map(member).join(',')}}`;
  }
  return refuse(`${at}no JSON value: ${typeof value}`);
}

const toBase64 = (bytes) => {
  let text = '';
  for (const b of bytes) text += String.fromCharCode(b);
  return btoa(text);
};
const toBase64Url = (bytes) =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const fromBase64 = (text) => {
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    return refuse('no base64');
  }
};
const toHex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

async function hash(bytes) {
  return new Uint8Array(await (await subtle()).digest('SHA-256', bytes));
}

/** The digest of bytes, as Writ writes it. */
export async function digest(bytes) {
  return `sha256:${toHex(await hash(bytes))}`;
}

/** The key id of an Ed25519 or P-256 public key: its thumbprint (RFC 7638). */
export async function keyId(jwk) {
  const members = { crv: jwk.crv, kty: jwk.kty, x: jwk.x };
  if (jwk.kty === 'EC') members.y = jwk.y;
  return toBase64Url(await hash(utf8.encode(canonicalize(members))));
}

/**
 * A signing key out of the text of a PEM file (PKCS #8, not encrypted), as `writ key new` writes it.
 *
 * @throws {WrongFile} CAN-074 for no private key in PEM, CAN-075 for one that is not of Ed25519, CAN-077 for an encrypted one
 */
export async function signingKey(pem) {
  const label = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(pem)?.[1];
  if (label === 'ENCRYPTED PRIVATE KEY') {
    throw new WrongFile('CAN-077', 'the key is encrypted, and this client takes none that is: decrypt it before, as openssl pkcs8 does');
  }
  const body = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(pem);
  if (!body) {
    throw new WrongFile('CAN-074', `no whole private key in PEM (PKCS #8), but ${label ?? 'a text without PEM'}`);
  }
  const der = keyBytes(body[1]);
  let key;
  try {
    key = await (await subtle()).importKey('pkcs8', der, { name: 'Ed25519' }, true, ['sign']);
  } catch (cause) {
    throw new WrongFile('CAN-075', 'the key is not of Ed25519, as this client needs it, or is damaged', { cause });
  }
  return { key, kid: await keyId(await (await subtle()).exportKey('jwk', key)) };
}

function keyBytes(base64) {
  try {
    return fromBase64(base64.replace(/\s/g, ''));
  } catch (cause) {
    throw new WrongFile('CAN-074', 'the private key is cut off: no base64', { cause });
  }
}

function json(bytes) {
  try {
    const text = strictUtf8.decode(bytes);
    return [text, JSON.parse(text)];
  } catch {
    return refuse('no JSON');
  }
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
  const sig = await (await subtle()).sign('Ed25519', signer.key, preAuthEncoding(type, payload));
  return {
    payload: toBase64(payload),
    payloadType: type,
    signatures: [{ keyid: signer.kid, sig: toBase64(new Uint8Array(sig)) }],
  };
}

/** The algorithm of a pinned key, of those that this client has; undefined for others. */
function algorithmOf(jwk) {
  if (jwk.kty === 'OKP' && jwk.crv === 'Ed25519') return 'Ed25519';
  // With writ_rp_id it is a passkey, which signs other bytes.
  return jwk.kty === 'EC' && jwk.crv === 'P-256' && jwk.writ_rp_id === undefined ? 'ES256' : undefined;
}

/** (n − 1) / 2 of P-256: the greatest s that spec/signatures.md takes. */
const P256_HALF = 0x7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8n;

async function holds(jwk, signature, message) {
  if (algorithmOf(jwk) === 'Ed25519') {
    const members = { crv: jwk.crv, kty: jwk.kty, x: jwk.x };
    const key = await (await subtle()).importKey('jwk', members, { name: 'Ed25519' }, false, ['verify']);
    return (await subtle()).verify('Ed25519', key, signature, message);
  }
  if (signature.length !== 64 || BigInt(`0x${toHex(signature.subarray(32))}`) > P256_HALF) return false;
  const members = { crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y };
  const key = await (await subtle()).importKey('jwk', members, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);
  return (await subtle()).verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, message);
}

/**
 * Verifies an envelope by pinned keys.
 *
 * @param keys the `keys` of a trust file (trust.jwks)
 * @param role which the signing key must have there
 * @param at the time at which it must be valid
 * @param requiredAlgorithms `writ_required_algorithms` of the trust file
 * @returns {Promise<{id: string, document: object}>}
 */
export async function verify(envelope, kind, keys, role, at, requiredAlgorithms = {}) {
  if (envelope?.payloadType !== TYPE(kind)) refuse(`not a ${kind}`);
  const required = requiredAlgorithms[role] ?? ['Ed25519', 'ES256']; // either, where trust does not say
  const suffices = requiredAlgorithms[role] === undefined || required.join() === 'Ed25519' || required.join() === 'ES256';
  if (!suffices) refuse(`documents of a ${role} need ${required}; this client has one of Ed25519 and ES256`);
  if (!Array.isArray(envelope.signatures) || envelope.signatures.length === 0) refuse('unsigned');
  const payload = fromBase64(envelope.payload);
  let verified = 0;
  for (const { keyid, sig } of envelope.signatures) {
    const [jwk, ...more] = keys.filter((k) => k.kid === keyid);
    if (!jwk) refuse(`key ${keyid} is not pinned`);
    if (more.length) refuse(`key ${keyid} is pinned twice`);
    if (!required.includes(algorithmOf(jwk))) refuse(`key ${keyid} is not ${required.join(' or ')}`);
    if ((await keyId(jwk)) !== keyid) refuse(`key ${keyid} has another thumbprint`);
    if (jwk.writ_role !== role) refuse(`key ${keyid} is of role ${jwk.writ_role}`);
    const valid =
      jwk.writ_revoked_at === undefined &&
      jwk.writ_not_before <= at &&
      (jwk.writ_not_after === undefined || at < jwk.writ_not_after);
    if (!valid) refuse(`key ${keyid} is not in force`);
    if (!(await holds(jwk, fromBase64(sig), preAuthEncoding(envelope.payloadType, payload)))) {
      refuse(`the signature of key ${keyid} does not hold`);
    }
    verified += 1;
  }
  if (verified !== 1) refuse('several signatures of one algorithm');
  const [text, document] = json(payload);
  if (canonicalize(document) !== text) refuse('the payload is not canonical');
  return { id: await digest(payload), document };
}

/** What the nonce of the key binding of a mandate has to be (spec/mandate.md). */
async function challenge({ effect, nonce, run, subject, tenant }) {
  const asked = { effect: await digest(utf8.encode(canonicalize(effect))), nonce, run, subject, tenant };
  return toBase64Url(await hash(utf8.encode(canonicalize(asked))));
}

function outputBytes(output) {
  if (output?.json !== undefined) return utf8.encode(canonicalize(output.json));
  if (output?.text !== undefined) return utf8.encode(output.text);
  return output?.base64 === undefined ? undefined : fromBase64(output.base64);
}

/** What came of a request, as pinned keys have signed it. `repeated` is the server's word alone. */
export class Outcome {
  constructor(members) {
    Object.assign(this, members);
  }

  /** What would help, in sentences for people and models; unsigned (spec/guidance.md). */
  get help() {
    return this.guidance?.help ?? [];
  }

  /** Of the request that was decided; under an idempotency key that may be an earlier one. */
  get requestId() {
    return this.decision.request;
  }

  /** ALLOW, DENY or ESCALATE. */
  get verdict() {
    return this.decision.verdict;
  }

  /** Whether an approval is missing and nothing was done. */
  get waits() {
    return this.receipt === undefined && this.verdict === 'ESCALATE';
  }

  /** succeeded, failed, timed_out, killed, in_doubt; undefined where nothing was dispatched. */
  get status() {
    return this.receipt?.status;
  }

  get succeeded() {
    return this.status === 'succeeded';
  }

  /** Why not: the decision's or the receipt's code. */
  get code() {
    return this.decision.code ?? this.receipt?.code;
  }

  /** For people: the check that refused, or what the receipt says. */
  get reason() {
    if (this.receipt) return [this.receipt.reason, this.receipt.message].filter(Boolean).join(' ');
    const check = this.decision.checks?.find((c) => ['refuse', 'escalate'].includes(c.outcome));
    return check?.detail ?? '';
  }

  /** The output as text. */
  text() {
    require(this.output !== undefined, `there is no output: ${this.verdict} ${this.status ?? ''} ${this.reason}`);
    return strictUtf8.decode(this.output);
  }

  /** The output as JSON. */
  json() {
    return JSON.parse(this.text());
  }
}

/** A function of the agent's own process was not let run (GWY-066); `outcome` says why. */
export class Denied extends WritError {
  constructor(outcome) {
    super('GWY-066', `${outcome.verdict} ${outcome.code ?? ''} ${outcome.reason}`);
    this.outcome = outcome;
  }
}

const MODEST = { cpu_ms: 2000, memory_bytes: 64 << 20, output_bytes: 1 << 20, wall_ms: 5000 };
const ANSWER_BYTES_MAX = 32 << 20;
const CONTENT_BYTES_MAX = 64 << 20;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
/** Waits; a signal that is aborted meanwhile ends it by its reason. */
const pause = (ms, signal) => new Promise((resolve, reject) => {
  signal?.throwIfAborted();
  const stop = () => {
    clearTimeout(timer);
    reject(signal.reason);
  };
  const timer = setTimeout(() => {
    signal?.removeEventListener('abort', stop);
    resolve();
  }, ms);
  signal?.addEventListener('abort', stop, { once: true });
});
/** Options that nobody knows are mistakes: an idempotency key under another name would be none. */
const requireNone = (more, what) => {
  const name = Object.keys(more).find((n) => more[n] !== undefined);
  if (name !== undefined) throw new TypeError(`${what} has no option ${name}`);
};
const requireEffect = (effect) => {
  if (typeof effect?.tool !== 'string') throw new TypeError("an effect is an object: { tool: 'js', params: { … } }");
};
const part = encodeURIComponent;

/** A run's address. fetch takes a dot or two for steps in a path, however they are written (spec/gateway.md). */
const ofRun = (run, what) =>
  run === '.' || run === '..' ? `/v1/runs//${what}?run=${run}` : `/v1/runs/${part(run)}/${what}`;
const hex = async (count) => toHex((await webCrypto()).getRandomValues(new Uint8Array(count)));

/** Secrets go over TLS, or stay on this machine. */
function address(url) {
  const unfit = (found) => {
    throw new WritError('GWY-064', found);
  };
  let at;
  try {
    at = new URL(url);
  } catch {
    return unfit("a server's address is http://… or https://…");
  }
  if (at.username || at.password || at.search || at.hash) unfit('it has a user, a query or a fragment');
  if (!['http:', 'https:'].includes(at.protocol)) unfit("a server's address is http://… or https://…");
  if (at.protocol !== 'https:' && !(at.protocol === 'http:' && LOOPBACK.includes(at.hostname))) {
    unfit('http:// is for this machine alone; take https://');
  }
  return at.origin + at.pathname.replace(/\/$/, '');
}

/** Whether a refusal is of the moment. 503 GWY-038 may come after the work was done. */
const passes = (refused, repeatable) =>
  refused.status === 409 && refused.code === 'EXE-109'
    ? repeatable
    : [429, 503].includes(refused.status) && (repeatable || refused.code !== 'GWY-038');

/**
 * A client of a server of Writ: with `key` it signs its own requests; with `token` the server signs
 * (surface `vouched`).
 */
export class WritClient {
  #token;

  /**
   * @param {object} options url; tenant and subject; key (from `signingKey`) or token; keys (pinned, of
   *     trust.jwks), requiredAlgorithms (its `writ_required_algorithms`) and origin (the log's name);
   *     optional: retryFor and answerWithin in seconds, now (a function giving a Date), fetch
   */
  constructor({
    url, origin, tenant, subject, key, token, keys, requiredAlgorithms = {},
    retryFor = 30, answerWithin = 120, now = () => new Date(), fetch = globalThis.fetch,
    ...more
  }) {
    requireNone(more, 'a client');
    this.url = address(url);
    Object.assign(this, { origin, tenant, subject, keys, requiredAlgorithms, retryFor, answerWithin, now });
    Object.defineProperty(this, 'key', { value: key, enumerable: false });
    Object.defineProperty(this, 'fetch', { value: (...a) => fetch(...a), enumerable: false });
    this.#token = token;
    if ((key === undefined) === (token === undefined)) throw new TypeError('key or token');
    const texts = { tenant, subject, ...(key === undefined ? {} : { origin }) };
    for (const [name, value] of Object.entries(texts)) {
      if (typeof value !== 'string') throw new TypeError(`${name} is no text: ${name === 'origin' ? "the log's name, as `writ checkpoint` prints it" : `the ${name} of the key or token`}`);
    }
    if (key !== undefined && typeof key.kid !== 'string') throw new TypeError('key is none that `await signingKey(pem)` gives');
    // Of another file than trust.jwks; else it would be found when an answer is there, whose effect has run.
    if (!Array.isArray(keys)) throw new WrongFile('CAN-020', 'keys is no list: give the `keys` of the trust file (trust.jwks)');
  }

  time(offsetSeconds = 0) {
    return new Date(this.now().getTime() + offsetSeconds * 1000).toISOString();
  }

  /** The operations that this caller's roles may use. */
  async operations(run, { signal } = {}) {
    const { tools } = await this.get(`/v1/tools${run === undefined ? '' : `?run=${part(run)}`}`, { signal });
    return tools.flatMap((tool) =>
      tool.operations.map((o) => ({
        tool: tool.toolId,
        version: tool.toolVersion,
        default: tool.default,
        name: o.name,
        description: o.input.description ?? '',
        input: o.input,
        output: o.output,
        sandbox: o.sandbox,
        resources: o.resources,
      })));
  }

  async #complete(effect, run, signal) {
    requireEffect(effect);
    write(effect, 'effect'); // refuses what is no JSON, with its place
    const whole = { params: {}, inputs: [], ...effect };
    whole.inputs = [...whole.inputs].sort((a, b) => (a.name < b.name ? -1 : 1));
    if (['operation', 'version', 'sandbox', 'resources'].every((name) => whole[name] !== undefined)) {
      return whole;
    }
    const known = (await this.operations(run, { signal })).filter(
      (o) =>
        o.tool === effect.tool &&
        (effect.version === undefined ? o.default : o.version === effect.version) &&
        (effect.operation === undefined || o.name === effect.operation));
    if (known.length !== 1) { // the Guardian says why
      return { operation: 'call', version: 'not listed', sandbox: 'none', resources: MODEST, ...whole };
    }
    const [{ name, version, sandbox, resources: most }] = known;
    const resources = Object.fromEntries(
      Object.entries(MODEST).map(([k, v]) => [k, Math.min(v, most[k])]));
    return { operation: name, version, sandbox, resources, ...whole };
  }

  /** Signs a request without sending it. Kept, it can be sent by whoever comes after a crash, and runs once. */
  async request(run, effect, options) {
    return this.sign(await this.prepare(run, effect, options));
  }

  /** A request that is not signed yet. Its `challenge` is what a mandate is bound to; `sign` signs it. */
  async prepare(run, effect, options = {}) {
    const { idempotencyKey, consumes = [], retention = 'keep', evidence = [], signal, ...more } = options;
    requireNone(more, 'a request');
    this.#requireKey();
    const document = {
      tenant: this.tenant,
      run,
      subject: this.subject,
      effect: await this.#complete(effect, run, signal),
      consumes,
      nonce: await hex(16),
      retention,
      context: {},
      evidence,
      delegations: [],
    };
    if (idempotencyKey !== undefined) document.idempotency_key = idempotencyKey;
    return { document, challenge: await challenge(document) };
  }

  /** Signs a prepared request, with a mandate that is bound to it where one is given, for `submit`. */
  async sign({ document }, { mandate } = {}) {
    this.#requireKey();
    const now = { ...document, requested_at: this.time() };
    if (mandate === undefined) return sign('request', now, this.key);
    const brought = await sign('mandate', { mandate }, this.key);
    now.evidence = [...now.evidence, await digest(fromBase64(brought.payload))];
    return { evidence: [brought], request: await sign('request', now, this.key) };
  }

  #requireKey() {
    if (!this.key) throw new TypeError('a token signs nothing: use call');
  }

  /** Submits a signed request; sent again it gets its stored outcome. */
  async submit(request, { signal } = {}) {
    const body = canonicalize(request);
    const headers = { 'Content-Type': 'application/json' };
    const answer = await this.#effect(() =>
      this.#json('/v1/effects', { method: 'POST', headers: async () => headers, body, signal }, true));
    return this.#withOutput(await this.#believed(answer, request.request ?? request), signal);
  }

  /**
   * Has an effect judged and done.
   *
   * @param effect its tool and params; what is left out is completed
   * @param {object} options run; idempotencyKey: names the task, so that the same effect under it is
   *     done once; wait: how long to wait for an approval, in seconds; signal: an AbortSignal, which
   *     ends the waiting by its reason. What was sent by then may be done
   */
  async call(effect, { run = 'main', wait = 0, signal, ...rest } = {}) {
    requireEffect(effect);
    const outcome = this.key
      ? await this.submit(await this.request(run, effect, { ...rest, signal }), { signal })
      : await this.#vouched(run, effect, rest, signal);
    return wait && outcome.waits ? this.wait(outcome, wait, { signal }) : outcome;
  }

  async #vouched(run, effect, { idempotencyKey, consumes = [], retention = 'keep', ...more }, signal) {
    requireNone(more, 'a call by a token');
    // A key of our own binds the answer to this call, and lets it be repeated.
    const key = idempotencyKey ?? `once-${await hex(16)}`;
    write(effect, 'effect'); // refuses what is no JSON, with its place
    const body = canonicalize({ run, effect, idempotency_key: key, consumes, retention });
    const answer = await this.#effect(() =>
      this.#json('/v1/vouched-effects', {
        method: 'POST',
        headers: async () => ({ ...(await this.#reading()), 'Content-Type': 'application/json' }),
        body,
        signal,
      }, true));
    const { document } = await this.#verify(answer.request, 'request', 'surface');
    require(document.tenant === this.tenant && document.subject === this.subject,
      `the server knows the token as ${document.tenant}/${document.subject}, this client says ${this.tenant}/${this.subject}`);
    require(document.idempotency_key === key, 'the server asked under another key');
    for (const [name, value] of Object.entries(effect)) {
      const asked = document.effect[name];
      require(asked !== undefined && canonicalize(asked) === canonicalize(value),
        `the server asked for another effect: ${name}`);
    }
    return this.#withOutput(await this.#believed(answer, answer.request), signal);
  }

  /** The same request once more: after its approval it is executed. */
  async again(outcome, { signal } = {}) {
    if (this.key) return this.submit(outcome.request, { signal });
    const answer = await this.#effect(() =>
      this.#json(`/v1/vouched-effects/${outcome.requestId}`, { method: 'POST', signal }, true));
    return this.#withOutput(await this.#believed(answer, outcome.request), signal);
  }

  /** Asks again where what was decided is no longer in force: it is then judged anew. */
  async #effect(send) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send();
      } catch (e) {
        if (attempt > 3 || !['EXE-107', 'EXE-111', 'EXE-201'].includes(e.code)) throw e;
      }
    }
  }

  /** Waits for an approval or a rejection, at most that many seconds; what then holds. */
  async wait(outcome, timeoutSeconds, { signal } = {}) {
    const until = performance.now() + timeoutSeconds * 1000;
    let now = outcome;
    while (now.waits) {
      const left = Math.max(0, until - performance.now());
      // What comes later than this client listens is no answer.
      const seconds = Math.floor(Math.min(50, left / 1000, this.answerWithin / 2));
      const { state } = await this.get(`/v1/requests/${now.requestId}/outcome?wait_s=${seconds}`, { signal });
      if (state !== 'pending') now = await this.again(now, { signal });
      else if (left <= 0) break;
      else if (seconds === 0) await pause(Math.min(left, 1000), signal);
    }
    return now;
  }

  /** Interrupts the running effect of a request. It ends in its receipt all the same. */
  async cancel(requestId) {
    await this.#send(`/v1/executions/${requestId}/cancel`, { method: 'POST' }, false);
  }

  async #verify(envelope, kind, role) {
    return verify(envelope, kind, this.keys, role, this.time(), this.requiredAlgorithms);
  }

  /** The outcome, where pinned keys have signed it and it is about this request. */
  async #believed(answer, request) {
    const payload = fromBase64(request.payload);
    const [, asked] = json(payload);
    const effect = await digest(utf8.encode(canonicalize(asked.effect)));
    const { id: decisionId, document: decision } = await this.#verify(answer.decision, 'decision', 'guardian');
    require(decision.effect === effect, 'the decision is on another effect');
    require(decision.tenant === asked.tenant && decision.subject === asked.subject,
      'the decision is on another subject');
    // Under an idempotency key the stored outcome may be another request's, for the same effect.
    require(asked.idempotency_key !== undefined || decision.request === (await digest(payload)),
      'the decision is on another request');
    if (answer.receipt === undefined) {
      require(decision.verdict !== 'ALLOW', 'it was allowed, and there is no receipt');
      return new Outcome({ request, decisionId, decision, repeated: false, guidance: answer.guidance });
    }
    const { id: receiptId, document: receipt } = await this.#verify(answer.receipt, 'receipt', 'executor');
    require(decision.verdict === 'ALLOW', 'there is a receipt of what was not allowed');
    require(receipt.effect === effect, 'the receipt is of another effect');
    require(receipt.decision === decisionId, 'the receipt is of another decision');
    require(receipt.request === decision.request, 'the receipt is of another request');
    const output = outputBytes(answer.output);
    if (output !== undefined) {
      require((await digest(output)) === receipt.output?.digest, "the output is not the receipt's");
    }
    const repeated = answer.repeated === true;
    return new Outcome({ request, decisionId, decision, receiptId, receipt, output, repeated });
  }

  /** Large outputs are not in the answer; they are read at their own address. */
  async #withOutput(outcome, signal) {
    const stated = outcome.receipt?.output;
    if (stated && outcome.output === undefined && outcome.receipt.retained && stated.size <= CONTENT_BYTES_MAX) {
      outcome.output =
        await this.#content(`/v1/receipts/${outcome.receiptId}/output`, stated.digest, stated.size, signal);
    }
    return outcome;
  }

  async #content(path, wanted, bytesMax, signal) {
    const { body } = await this.#send(path, { signal }, true, bytesMax);
    require((await digest(body)) === wanted, 'the content has another digest');
    return body;
  }

  /** Stores content, which an effect can then name as an input. */
  async put(data, { name = 'data', mediaType = 'application/octet-stream', signal } = {}) {
    const bytes = typeof data === 'string' ? utf8.encode(data) : data;
    const named = await digest(bytes);
    const headers = async () => ({ ...(await this.#reading()), 'Content-Type': mediaType });
    const stored = await this.#json(`/v1/blobs/${named}`, { method: 'PUT', headers, body: bytes, signal }, true);
    require(stored.digest === named, 'other content is stored');
    return { name, digest: named, size: bytes.length, media_type: mediaType };
  }

  /** Content by its digest; `of` is a receipt or request that names it and that the caller may read. */
  async blob(wanted, { of, bytesMax = CONTENT_BYTES_MAX, signal } = {}) {
    return this.#content(`/v1/blobs/${wanted}${of === undefined ? '' : `?of=${part(of)}`}`, wanted, bytesMax, signal);
  }

  /** The run's events as they are committed, until it is closed; taken up where a connection broke. */
  async *events(run, { after, signal } = {}) {
    let last = after;
    let id;
    let failedAt;
    for (;;) {
      try {
        for await (const data of this.#following(run, last, signal)) {
          failedAt = undefined; // a run may be quiet for long
          if (data === undefined) continue;
          const [, document] = json(utf8.encode(data));
          // Told again to whoever has seen all of a closed run.
          if (id === undefined && document.seq === last && document.kind === 'run.closed') return;
          require(document.seq === (last === undefined ? 0 : last + 1), 'events are missing');
          require(id === undefined || document.prev === id, 'an event continues another one');
          last = document.seq;
          id = await digest(utf8.encode(canonicalize(document)));
          yield document;
          if (document.kind === 'run.closed') return;
        }
      } catch (e) {
        if (!(e instanceof NoAnswer) && ![429, 503].includes(e.status)) throw e;
      }
      failedAt ??= performance.now();
      if (performance.now() - failedAt > this.retryFor * 1000) {
        throw new NoAnswer('the events ended, and the run is open', true);
      }
      await pause(200, signal);
    }
  }

  /** The data of each event, and undefined for each sign of life. */
  async *#following(run, last, signal) {
    const address = this.url + ofRun(run, 'events');
    const headers = { ...(await this.#reading()), Accept: 'text/event-stream' };
    if (last !== undefined) headers['Last-Event-ID'] = String(last);
    const patience = new Patience(this.answerWithin, signal);
    try {
      const response = await patience.for(this.fetch(address, {
        headers, redirect: 'manual', signal: patience.signal,
      }));
      // A page that somebody else answers with would be read again and again.
      if (response.status !== 200 || mediaType(response) !== 'text/event-stream') {
        throw refusal(response, await limited(response, 1 << 20, patience));
      }
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      let rest = '';
      for (;;) {
        const { done, value } = await patience.for(reader.read());
        if (done) return;
        patience.renew();
        yield undefined;
        rest += decoder.decode(value, { stream: true });
        require(rest.length <= 1 << 20, 'an event of more than 1 MiB');
        for (let at; (at = rest.indexOf('\n\n')) >= 0; rest = rest.slice(at + 2)) {
          const data = rest.slice(0, at).split('\n')
            .filter((line) => line.startsWith('data:'))
            .map((line) => line.slice(5).replace(/^ /, ''));
          if (data.length) yield data.join('\n');
        }
      }
    } catch (e) {
      signal?.throwIfAborted();
      throw e instanceof WritError ? e : new NoAnswer(`no answer from ${this.url}: ${why(e)}`, true, { cause: e });
    } finally {
      patience.end();
    }
  }

  /** Ends a run that this key opened; the checkpoint that covers its end. */
  async close(run) {
    const document = { tenant: this.tenant, run, requested_at: this.time() };
    const { body } = await this.#signed(ofRun(run, 'close'), 'run-close', document);
    return strictUtf8.decode(body);
  }

  /** The run in one file, for `writ verify`. */
  async bundle(run, { bytesMax = 1 << 30, signal } = {}) {
    return (await this.#send(ofRun(run, 'bundle'), { signal }, true, bytesMax)).body;
  }

  /** What waits for approval, for approvers. */
  async waiting() {
    return (await this.get('/v1/approvals')).waiting;
  }

  /** Approves exactly this request, under the policy that `waiting` names; the verdict from then on. */
  async approve(waiting, role, { validSeconds = 3600 } = {}) {
    return this.#decide(waiting, role, 'approve', validSeconds);
  }

  /** Rejects a request, finally. */
  async reject(waiting, role, { validSeconds = 3600 } = {}) {
    return this.#decide(waiting, role, 'reject', validSeconds);
  }

  async #decide(waiting, role, verdict, validSeconds) {
    const effect = await digest(utf8.encode(canonicalize(waiting.effect)));
    require(effect === waiting.effect_digest, 'the effect that is shown is not the one named');
    const { body } = await this.#signed('/v1/approvals', 'approval', {
      tenant: this.tenant,
      approver: this.subject,
      role,
      request: waiting.request_id,
      effect,
      policy: waiting.policy,
      verdict,
      approved_at: this.time(),
      expires_at: this.time(validSeconds),
    });
    return json(body)[1].verdict;
  }

  async #signed(path, kind, document) {
    if (!this.key) throw new TypeError(`a token signs no ${kind}`);
    const body = canonicalize(await sign(kind, document, this.key));
    const headers = async () => ({ 'Content-Type': 'application/json' });
    return this.#send(path, { method: 'POST', headers, body }, false);
  }

  /** Reads JSON that the caller may see, for example `/v1/runs`. Nothing of it is signed. */
  async get(path, { signal } = {}) {
    return this.#json(path, { signal }, true);
  }

  /** The Authorization header of who reads: the token, or a document that the key has just signed. */
  async access() {
    if (this.#token !== undefined) return `Bearer ${this.#token}`;
    const envelope = await sign('access', {
      tenant: this.tenant,
      audience: this.origin,
      issued_at: this.time(),
      expires_at: this.time(60),
    }, this.key);
    return `Writ ${toBase64Url(utf8.encode(canonicalize(envelope)))}`;
  }

  async #reading() {
    return { Authorization: await this.access() };
  }

  async #json(path, options, repeatable) {
    const value = json((await this.#send(path, options, repeatable)).body)[1];
    require(value !== null && typeof value === 'object', 'the answer is no object');
    return value;
  }

  /**
   * Sends until it is answered. What may not be repeated is sent again only where it never arrived, or
   * where the server says that it did nothing.
   */
  async #send(path, options, repeatable, bytesMax = ANSWER_BYTES_MAX) {
    const until = performance.now() + this.retryFor * 1000;
    for (let attempt = 1; ; attempt += 1) {
      let between = Math.min(5000, 100 * 2 ** attempt) * (0.5 + Math.random() / 2);
      let failure;
      try {
        return await this.#once(path, options, bytesMax);
      } catch (e) {
        options.signal?.throwIfAborted();
        if (e instanceof Refused ? !passes(e, repeatable) : !(e instanceof NoAnswer)) throw e;
        if (e instanceof NoAnswer && e.sent && !repeatable) throw e;
        if (e instanceof NoAnswer && e.cause && why(e.cause) === BAD_PORT) throw e;
        if (e.retryAfter) between = Math.max(between, e.retryAfter * 1000);
        failure = e;
      }
      if (performance.now() + between > until) throw failure;
      await pause(between, options.signal);
    }
  }

  async #once(path, { method = 'GET', headers, body, signal }, bytesMax) {
    signal?.throwIfAborted();
    const sent = headers ? await headers() : await this.#reading();
    const patience = new Patience(this.answerWithin, signal);
    let response;
    let bytes;
    try {
      response = await patience.for(this.fetch(this.url + path, {
        method,
        headers: sent,
        body,
        redirect: 'manual',
        signal: patience.signal,
      }));
      bytes = await limited(response, bytesMax, patience);
    } catch (e) {
      if (e instanceof WritError) throw e;
      const sent = !NEVER_SENT.includes(why(e));
      throw new NoAnswer(`no ${sent ? 'answer from' : 'connection to'} ${this.url}: ${why(e)}`, sent, { cause: e });
    } finally {
      patience.end();
    }
    const known = [200, 201, 202, 206, 403].includes(response.status);
    // Nothing that somebody else says tells that the work was done. 403 without a problem is a denial.
    if (!known || ['application/problem+json', 'text/html'].includes(mediaType(response))) {
      const refused = refusal(response, bytes);
      refused.retryAfter = Number(response.headers.get('retry-after')) || 0;
      throw refused;
    }
    return { status: response.status, body: bytes };
  }
}

/** What failed below: a code of the system, or the platform's words (`bad port`). */
const why = (e) => e.cause?.code ?? e.cause?.message ?? (e.name === 'TypeError' ? e.message : e.name);

/** A port that fetch never opens, by its own list: it will not tomorrow, either. */
const BAD_PORT = 'bad port';

/** Where nothing left this machine. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', BAD_PORT];

/**
 * How long something may take. A signal that is given to fetch may be forgotten once the answer has begun
 * (Node keeps it weakly), and who reads then would wait for ever; so each step is ended here, too.
 */
class Patience {
  #ms;
  #timer;
  #fail;
  #controller = new AbortController();
  #asked;
  #leave = () => this.#stop(this.#asked.reason);

  /** @param asked the caller's own signal, if there is one */
  constructor(seconds, asked) {
    this.#ms = seconds * 1000;
    this.#asked = asked;
    asked?.addEventListener('abort', this.#leave, { once: true });
    this.renew();
    if (asked?.aborted) this.#leave();
  }

  get signal() {
    return this.#controller.signal;
  }

  renew() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#stop(new DOMException('too little came for too long', 'TimeoutError'));
    }, this.#ms);
  }

  #stop(reason) {
    this.#fail?.(reason);
    this.#controller.abort(reason);
  }

  for(step) {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      step.then(resolve, reject);
    });
  }

  end() {
    clearTimeout(this.#timer);
    this.#asked?.removeEventListener('abort', this.#leave);
    this.#controller.abort();
  }
}

const mediaType = (response) =>
  (response.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();

/** What an answer says that is none: a problem, or the word of something that is no Writ. */
function refusal(response, bytes) {
  const { status } = response;
  if (mediaType(response) === 'application/problem+json') {
    try {
      return new Refused(status, JSON.parse(strictUtf8.decode(bytes)));
    } catch {
      // told below
    }
  }
  const said = response.type === 'opaqueredirect' ? 'a redirect' : `status ${status}`; // of a browser, which hides it
  const found = `${said} of something that is no Writ`;
  return status >= 500 ? new NoAnswer(found, true) : new NotBelieved(found);
}

async function limited(response, bytesMax, patience) {
  const pieces = [];
  let size = 0;
  const reader = response.body?.getReader();
  try {
    for (let renewedAt = 0; reader; ) {
      const { done, value } = await patience.for(reader.read());
      if (done) break;
      size += value.length;
      if (size > bytesMax) refuse(`an answer of more than ${bytesMax} bytes`);
      pieces.push(value);
      if (size - renewedAt >= 1 << 16) {
        renewedAt = size;
        patience.renew();
      }
    }
  } catch (e) {
    reader.cancel().catch(() => {}); // its connection would stand
    throw e;
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
