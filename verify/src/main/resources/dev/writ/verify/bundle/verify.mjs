// The second verifier of Writ bundles. It is written from spec/ alone, shares no code with the first
// (which is Java), and depends on nothing: one file for Node 20 and for browsers.
//
//   node verify.mjs run.writ [--trust keys.jwks] [--checkpoint note] [--witness vkey]… [--quorum n] [--stamp tsr]… [--installation proof] [--closed] [--json]
//   import {verifyBundle} from './verify.mjs'
//
// A verifier returns what it verified or throws a Refusal {code, place, recorded, recomputed}; none
// returns a boolean. Codes are those of spec/errors.md. It judges nothing again: no policy language
// is in here.

// ------------------------------------------------------------------------------------- refusals

/** A refusal: what does not hold (`code`), where (`place`), and both values. */
export class Refusal extends Error {
  constructor(code, place, recorded = null, recomputed = null) {
    const values = recorded === null && recomputed === null ? ''
      : `: recorded ${show(recorded)}, recomputed ${show(recomputed)}`;
    super(`${code} at ${place}${values}`);
    this.name = 'Refusal';
    this.code = code;
    this.place = place;
    this.recorded = recorded;
    this.recomputed = recomputed;
  }
}

function show(value) {
  if (value === null || value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : String(value);
  return text.length > 200 ? text.slice(0, 200) + '…' : text;
}

function refuse(code, place, recorded, recomputed) {
  throw new Refusal(code, place, recorded ?? null, recomputed ?? null);
}

/** Runs `body`; a refusal in it is said to be at `place`, before the place it names itself. */
function within(place, body) {
  try {
    return body();
  } catch (e) {
    throw placed(e, place);
  }
}

function placed(e, place) {
  if (!(e instanceof Refusal)) return e;
  return new Refusal(e.code, e.place ? `${place} ${e.place}` : place, e.recorded, e.recomputed);
}

// ---------------------------------------------------------------------------------------- bytes

const ENCODER = new TextEncoder();
// Fatal, and a byte order mark is a character like any other.
const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function utf8(text) {
  return ENCODER.encode(text);
}

export function concat(...parts) {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export function equalBytes(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const HEX = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));

export function toHex(bytes) {
  let out = '';
  for (let i = 0; i < bytes.length; i++) out += HEX[bytes[i]];
  return out;
}

/** The bytes of lower-case hexadecimal digits that were checked before. */
export function fromHex(hex) {
  const out = new Uint8Array(hex.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = parseInt(hex.substr(2 * i, 2), 16);
  return out;
}

const STANDARD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const URL_SAFE = STANDARD.slice(0, 62) + '-_';

function reverse(alphabet) {
  const table = new Int16Array(128).fill(-1);
  for (let i = 0; i < 64; i++) table[alphabet.charCodeAt(i)] = i;
  return table;
}

const FROM_STANDARD = reverse(STANDARD);
const FROM_URL = reverse(URL_SAFE);

/** The bytes, or null where the text is not the one spelling: padding as asked, spare bits zero. */
function decode64(text, table, padded) {
  let length = text.length;
  if (padded) {
    if (length % 4 !== 0) return null;
    if (length > 0 && text[length - 1] === '=') length -= text[length - 2] === '=' ? 2 : 1;
  }
  if (length % 4 === 1) return null;
  const out = new Uint8Array(Math.floor((length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    const value = unit < 128 ? table[unit] : -1;
    if (value < 0) return null;
    held = ((held << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[at++] = (held >> bits) & 0xff;
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? out : null;
}

function encode64(bytes, alphabet, padded) {
  const parts = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const n = (bytes[i] << 16) | ((left > 1 ? bytes[i + 1] : 0) << 8) | (left > 2 ? bytes[i + 2] : 0);
    let group = alphabet[n >> 18] + alphabet[(n >> 12) & 63];
    if (left > 1) group += alphabet[(n >> 6) & 63];
    else if (padded) group += '=';
    if (left > 2) group += alphabet[n & 63];
    else if (padded) group += '=';
    parts.push(group);
  }
  return parts.join('');
}

/** Standard base64 with padding (RFC 4648, 4), or null. */
export const fromBase64 = (text) => decode64(text, FROM_STANDARD, true);
export const toBase64 = (bytes) => encode64(bytes, STANDARD, true);
/** base64url without padding (RFC 4648, 5), or null. */
export const fromBase64Url = (text) => decode64(text, FROM_URL, false);
export const toBase64Url = (bytes) => encode64(bytes, URL_SAFE, false);

// --------------------------------------------------------------------------------------- hashes

function primes(count) {
  const found = [];
  for (let n = 2; found.length < count; n++) if (found.every((p) => n % p !== 0)) found.push(n);
  return found;
}

/** The first `bits` bits of the fraction of n^(1/root), by integers alone (FIPS 180-4, 4.2). */
function fractionOfRoot(n, root, bits) {
  const scaled = BigInt(n) << BigInt(bits * root);
  let low = 0n;
  let high = 1n << BigInt(bits + 12);
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(root) <= scaled) low = middle;
    else high = middle;
  }
  return low & ((1n << BigInt(bits)) - 1n);
}

const K256 = Int32Array.from(primes(64), (p) => Number(fractionOfRoot(p, 3, 32)) | 0);
const H256 = Int32Array.from(primes(8), (p) => Number(fractionOfRoot(p, 2, 32)) | 0);
const WORDS = new Int32Array(64);

/** SHA-256 (FIPS 180-4) of a message that is at hand; quick for small ones. */
export function sha256(message) {
  const state = Int32Array.from(H256);
  return end256(state, blocks256(state, message), message.length);
}

/** Takes the whole blocks of a piece, and gives what is left; that of the last piece is for the end. */
function blocks256(state, piece) {
  const whole = piece.length - (piece.length % 64);
  for (let at = 0; at < whole; at += 64) block256(state, piece, at);
  return piece.subarray(whole);
}

function end256(state, rest, length) {
  const last = new Uint8Array(rest.length < 56 ? 64 : 128);
  last.set(rest);
  last[rest.length] = 0x80;
  const bits = new DataView(last.buffer);
  bits.setUint32(last.length - 8, Math.floor(length / 0x20000000));
  bits.setUint32(last.length - 4, (length << 3) >>> 0);
  for (let at = 0; at < last.length; at += 64) block256(state, last, at);
  const out = new Uint8Array(32);
  for (let i = 0; i < 8; i++) {
    const s = state[i];
    out[4 * i] = s >>> 24;
    out[4 * i + 1] = (s >>> 16) & 0xff;
    out[4 * i + 2] = (s >>> 8) & 0xff;
    out[4 * i + 3] = s & 0xff;
  }
  return out;
}

function block256(state, bytes, at) {
  const w = WORDS;
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15];
    const y = w[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K256[i] + w[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
  }
  state[0] += a; state[1] += b; state[2] += c; state[3] += d;
  state[4] += e; state[5] += f; state[6] += g; state[7] += h;
}

const LARGE = 1 << 16;

/** SHA-256 of anything: what is large goes to WebCrypto where there is one. */
export async function sha256Large(message) {
  if (message.length >= LARGE && globalThis.crypto?.subtle) {
    return new Uint8Array(await crypto.subtle.digest('SHA-256', message));
  }
  return sha256(message);
}

const MASK64 = (1n << 64n) - 1n;
const K512 = primes(80).map((p) => fractionOfRoot(p, 3, 64));
const H512 = primes(8).map((p) => fractionOfRoot(p, 2, 64));
const rotr64 = (x, n) => ((x >> n) | (x << (64n - n))) & MASK64;

/** SHA-512 (FIPS 180-4), for the few signatures that WebCrypto does not settle. */
export function sha512(message) {
  const length = Math.ceil((message.length + 17) / 128) * 128;
  const padded = new Uint8Array(length);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(length - 8, BigInt(message.length) * 8n);
  const state = H512.slice();
  const w = new Array(80);
  for (let at = 0; at < length; at += 128) {
    for (let i = 0; i < 16; i++) w[i] = view.getBigUint64(at + 8 * i);
    for (let i = 16; i < 80; i++) {
      const s0 = rotr64(w[i - 15], 1n) ^ rotr64(w[i - 15], 8n) ^ (w[i - 15] >> 7n);
      const s1 = rotr64(w[i - 2], 19n) ^ rotr64(w[i - 2], 61n) ^ (w[i - 2] >> 6n);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) & MASK64;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 80; i++) {
      const s1 = rotr64(e, 14n) ^ rotr64(e, 18n) ^ rotr64(e, 41n);
      const t1 = (h + s1 + ((e & f) ^ ((e ^ MASK64) & g)) + K512[i] + w[i]) & MASK64;
      const s0 = rotr64(a, 28n) ^ rotr64(a, 34n) ^ rotr64(a, 39n);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) & MASK64;
      h = g; g = f; f = e; e = (d + t1) & MASK64; d = c; c = b; b = a; a = (t1 + t2) & MASK64;
    }
    [a, b, c, d, e, f, g, h].forEach((v, i) => { state[i] = (state[i] + v) & MASK64; });
  }
  const out = new DataView(new ArrayBuffer(64));
  state.forEach((v, i) => out.setBigUint64(8 * i, v));
  return new Uint8Array(out.buffer);
}

export function hmacSha256(key, message) {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  return sha256(concat(block.map((b) => b ^ 0x5c), sha256(concat(block.map((b) => b ^ 0x36), message))));
}

/** HKDF-SHA-256 (RFC 5869) without salt, one block of 32 bytes. */
export function hkdf32(secret, info) {
  const extracted = hmacSha256(new Uint8Array(32), secret);
  return hmacSha256(extracted, concat(info, Uint8Array.of(1)));
}

/** `sha256:` and the lower-case hexadecimal digest. */
export function digestOf(bytes) {
  return 'sha256:' + toHex(sha256(bytes));
}

export async function digestOfLarge(bytes) {
  return 'sha256:' + toHex(await sha256Large(bytes));
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** A digest's text as it is, or CAN-040. */
export function parseDigest(text, place = 'digest') {
  if (typeof text !== 'string' || !DIGEST.test(text)) refuse('CAN-040', place, text, 'sha256:<64 lower-case hexadecimal digits>');
  return text;
}

const digestBytes = (digest) => fromHex(digest.slice(7));

// Keccak (FIPS 202), for SHAKE, for ML-DSA.

const ROTATIONS = [];
const ROUND_CONSTANTS = [];
{
  let [x, y] = [1, 0];
  const offsets = new Array(25).fill(0);
  for (let t = 0; t < 24; t++) {
    offsets[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  ROTATIONS.push(...offsets.map(BigInt));
  let lfsr = 1;
  for (let round = 0; round < 24; round++) {
    let constant = 0n;
    for (let j = 0; j < 7; j++) {
      if (lfsr & 1) constant |= 1n << ((1n << BigInt(j)) - 1n);
      lfsr = lfsr & 0x80 ? ((lfsr << 1) ^ 0x171) & 0xff : lfsr << 1;
    }
    ROUND_CONSTANTS.push(constant);
  }
}
const rotl64 = (v, n) => (n === 0n ? v : ((v << n) | (v >> (64n - n))) & MASK64);

function keccak(a) {
  const b = new Array(25);
  for (let round = 0; round < 24; round++) {
    const c = [0, 1, 2, 3, 4].map((x) => a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]);
    for (let x = 0; x < 5; x++) {
      const d = c[(x + 4) % 5] ^ rotl64(c[(x + 1) % 5], 1n);
      for (let y = 0; y < 25; y += 5) a[x + y] ^= d;
    }
    for (let x = 0; x < 5; x++) {
      for (let y = 0; y < 5; y++) {
        b[y + 5 * ((2 * x + 3 * y) % 5)] = rotl64(a[x + 5 * y], ROTATIONS[x + 5 * y]);
      }
    }
    for (let y = 0; y < 25; y += 5) {
      for (let x = 0; x < 5; x++) {
        a[x + y] = b[x + y] ^ ((b[((x + 1) % 5) + y] ^ MASK64) & b[((x + 2) % 5) + y]);
      }
    }
    a[0] ^= ROUND_CONSTANTS[round];
  }
}

/** A function that gives the next n bytes of SHAKE128 (rate 168) or SHAKE256 (rate 136). */
function shake(rate, message) {
  const state = new Array(25).fill(0n);
  const padded = new Uint8Array(Math.ceil((message.length + 1) / rate) * rate);
  padded.set(message);
  padded[message.length] = 0x1f;
  padded[padded.length - 1] |= 0x80;
  const view = new DataView(padded.buffer);
  for (let at = 0; at < padded.length; at += rate) {
    for (let i = 0; i < rate / 8; i++) state[i] ^= view.getBigUint64(at + 8 * i, true);
    keccak(state);
  }
  const block = new DataView(new ArrayBuffer(rate));
  let used = rate;
  let first = true;
  return (count) => {
    const out = new Uint8Array(count);
    for (let i = 0; i < count; i++) {
      if (used === rate) {
        if (!first) keccak(state);
        first = false;
        for (let j = 0; j < rate / 8; j++) block.setBigUint64(8 * j, state[j], true);
        used = 0;
      }
      out[i] = block.getUint8(used++);
    }
    return out;
  };
}

export const shake128 = (message, count) => shake(168, message)(count);
export const shake256 = (message, count) => shake(136, message)(count);

// --------------------------------------------------------------- canonical JSON (canonical-json.md)

export const LIMITS = Object.freeze({ bytes: 16 << 20, depth: 128 });

const ESCAPES = { 0x22: '"', 0x5c: '\\', 0x2f: '/', 0x62: '\b', 0x66: '\f', 0x6e: '\n', 0x72: '\r', 0x74: '\t' };
const isSpace = (b) => b === 0x20 || b === 0x0a || b === 0x0d || b === 0x09;
const isDigit = (b) => b >= 0x30 && b <= 0x39;

class JsonReader {
  constructor(bytes, limits) {
    this.bytes = bytes;
    this.limits = limits;
    this.at = 0;
  }

  fail(code, at = this.at) {
    refuse(code, `byte ${at}`);
  }

  document() {
    const { bytes, limits } = this;
    if (bytes.length > limits.bytes) this.fail('CAN-009', limits.bytes);
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.fail('CAN-010', 0);
    const value = this.value(0);
    this.space();
    if (this.at < bytes.length) this.fail('CAN-006');
    return value;
  }

  space() {
    while (isSpace(this.bytes[this.at])) this.at++;
  }

  /** The next byte that is no white space; the text must not end here. */
  next() {
    this.space();
    if (this.at >= this.bytes.length) this.fail('CAN-011');
    return this.bytes[this.at];
  }

  value(depth) {
    const b = this.next();
    if (b === 0x7b) return this.object(depth + 1);
    if (b === 0x5b) return this.array(depth + 1);
    if (b === 0x22) return this.string();
    if (b === 0x2d || isDigit(b)) return this.number();
    if (b === 0x74) return this.word('true', true);
    if (b === 0x66) return this.word('false', false);
    if (b === 0x6e) return this.word('null', null);
    return this.fail('CAN-003');
  }

  word(text, value) {
    for (let i = 0; i < text.length; i++, this.at++) {
      if (this.at >= this.bytes.length) this.fail('CAN-011');
      if (this.bytes[this.at] !== text.charCodeAt(i)) this.fail('CAN-003');
    }
    return value;
  }

  enter(depth) {
    if (depth > this.limits.depth) this.fail('CAN-008');
    this.at++;
  }

  array(depth) {
    this.enter(depth);
    const items = [];
    if (this.next() === 0x5d) {
      this.at++;
      return items;
    }
    for (;;) {
      items.push(this.value(depth));
      const b = this.next();
      if (b !== 0x2c && b !== 0x5d) this.fail('CAN-003');
      this.at++;
      if (b === 0x5d) return items;
    }
  }

  /** Members in an object without prototype, so that no key means anything but itself. */
  object(depth) {
    this.enter(depth);
    const members = Object.create(null);
    let twice = -1;
    if (this.next() === 0x7d) {
      this.at++;
      return members;
    }
    for (;;) {
      if (this.next() !== 0x22) this.fail('CAN-003');
      const start = this.at;
      const key = this.string();
      if (twice < 0 && key in members) twice = start;
      if (this.next() !== 0x3a) this.fail('CAN-003');
      this.at++;
      members[key] = this.value(depth);
      const b = this.next();
      if (b !== 0x2c && b !== 0x7d) this.fail('CAN-003');
      this.at++;
      if (b === 0x7d) break;
    }
    if (twice >= 0) this.fail('CAN-004', twice);
    return members;
  }

  string() {
    const { bytes } = this;
    let from = ++this.at;
    let text = '';
    for (;;) {
      if (this.at >= bytes.length) this.fail('CAN-011');
      const b = bytes[this.at];
      if (b === 0x22) break;
      if (b === 0x5c) {
        text += DECODER.decode(bytes.subarray(from, this.at)) + this.escape();
        from = this.at;
      } else if (b < 0x20) {
        this.fail('CAN-003');
      } else if (b < 0x80) {
        this.at++;
      } else {
        this.character(b);
      }
    }
    text += DECODER.decode(bytes.subarray(from, this.at));
    this.at++;
    return text;
  }

  /** One character of two to four bytes, as RFC 3629 writes it. */
  character(b) {
    const more = b >= 0xc2 && b <= 0xdf ? 1 : b >= 0xe0 && b <= 0xef ? 2 : b >= 0xf0 && b <= 0xf4 ? 3 : 0;
    if (more === 0) this.fail('CAN-001');
    for (let i = 1; i <= more; i++) {
      if (this.at + i >= this.bytes.length) this.fail('CAN-011', this.at + i);
      const c = this.bytes[this.at + i];
      let low = 0x80;
      let high = 0xbf;
      if (i === 1) {
        if (b === 0xe0) low = 0xa0;
        if (b === 0xed) high = 0x9f;
        if (b === 0xf0) low = 0x90;
        if (b === 0xf4) high = 0x8f;
      }
      if (c < low || c > high) this.fail('CAN-001');
    }
    this.at += more + 1;
  }

  escape() {
    const start = this.at;
    const { bytes } = this;
    if (start + 1 >= bytes.length) this.fail('CAN-011', start + 1);
    const kind = bytes[start + 1];
    if (kind !== 0x75) {
      if (!(kind in ESCAPES)) this.fail('CAN-003');
      this.at += 2;
      return ESCAPES[kind];
    }
    const unit = this.hexUnit(start);
    this.at += 6;
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
    if (unit > 0xdbff) this.fail('CAN-002', start);
    if (this.at >= bytes.length || (bytes[this.at] === 0x5c && this.at + 1 >= bytes.length)) this.fail('CAN-011', bytes.length);
    if (bytes[this.at] !== 0x5c || bytes[this.at + 1] !== 0x75) this.fail('CAN-002', start);
    const low = this.hexUnit(this.at);
    if (low < 0xdc00 || low > 0xdfff) this.fail('CAN-002', start);
    this.at += 6;
    return String.fromCharCode(unit, low);
  }

  hexUnit(start) {
    let unit = 0;
    for (let i = 2; i < 6; i++) {
      const b = this.bytes[start + i];
      if (b === undefined) this.fail('CAN-011', start + i);
      const digit = isDigit(b) ? b - 0x30 : b >= 0x61 && b <= 0x66 ? b - 0x57 : b >= 0x41 && b <= 0x46 ? b - 0x37 : -1;
      if (digit < 0) this.fail('CAN-003', start + i);
      unit = unit * 16 + digit;
    }
    return unit;
  }

  digits() {
    if (this.at >= this.bytes.length) this.fail('CAN-011');
    if (!isDigit(this.bytes[this.at])) this.fail('CAN-003');
    while (isDigit(this.bytes[this.at])) this.at++;
  }

  number() {
    const { bytes } = this;
    const start = this.at;
    if (bytes[this.at] === 0x2d) this.at++;
    if (bytes[this.at] === 0x30 && isDigit(bytes[this.at + 1])) this.fail('CAN-005');
    this.digits();
    if (bytes[this.at] === 0x2e) {
      this.at++;
      this.digits();
    }
    if (bytes[this.at] === 0x65 || bytes[this.at] === 0x45) {
      this.at++;
      if (bytes[this.at] === 0x2b || bytes[this.at] === 0x2d) this.at++;
      this.digits();
    }
    const literal = DECODER.decode(bytes.subarray(start, this.at));
    const value = Number(literal);
    if (!Number.isFinite(value)) this.fail('CAN-007', start);
    if (value === 0) {
      if (/[1-9]/.test(literal.split(/[eE]/)[0])) this.fail('CAN-014', start);
      return 0;
    }
    return value;
  }
}

/** The value of a JSON text: strict RFC 8259, no key twice. Objects have no prototype. */
export function parseJson(bytes, limits = LIMITS) {
  return new JsonReader(bytes, limits).document();
}

function writeString(text) {
  if (!text.isWellFormed()) refuse('CAN-002', 'string');
  return JSON.stringify(text);
}

function writeValue(value) {
  if (value === null || value === true || value === false) return String(value);
  if (typeof value === 'string') return writeString(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse('CAN-007', 'number');
    return String(value === 0 ? 0 : value);
  }
  if (Array.isArray(value)) return '[' + value.map(writeValue).join(',') + ']';
  // Array.prototype.sort compares UTF-16 code units, which is the order of RFC 8785.
  return '{' + Object.keys(value).sort().map((k) => writeString(k) + ':' + writeValue(value[k])).join(',') + '}';
}

/** The canonical bytes of a value. */
export function writeJson(value, limits = LIMITS) {
  const bytes = utf8(writeValue(value));
  if (bytes.length > limits.bytes) refuse('CAN-009', `byte ${limits.bytes}`);
  return bytes;
}

/** The canonical bytes of a JSON text. */
export function canonicalize(bytes, limits = LIMITS) {
  return writeJson(parseJson(bytes, limits), limits);
}

/** The value of a text that must be canonical already (CAN-012). */
export function parseCanonical(bytes, limits = LIMITS) {
  const value = parseJson(bytes, limits);
  const canonical = writeJson(value, limits);
  if (!equalBytes(bytes, canonical)) {
    let at = 0;
    while (at < bytes.length && bytes[at] === canonical[at]) at++;
    refuse('CAN-012', `byte ${at}`);
  }
  return value;
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

// ----------------------------------------------------------------- forms of fields and documents
//
// A form is a function (value, place) that returns the value or refuses: CAN-020 a member is missing,
// CAN-021 one is not known, CAN-022 another type, CAN-023 another value.

const quoted = (value) => {
  const text = typeof value === 'string' ? JSON.stringify(value) : writeValue(value ?? null);
  return text.length > 60 ? text.slice(0, 60) + '…' : text;
};

function typed(type, expected) {
  return (value, place) => {
    if (typeof value !== type) refuse('CAN-022', place, quoted(value), expected);
    return value;
  };
}

const text = typed('string', 'a string');
const bool = typed('boolean', 'true or false');

function matching(test, expected, code = 'CAN-023') {
  return (value, place) => {
    text(value, place);
    if (!test(value)) refuse(code, place, quoted(value), expected);
    return value;
  };
}

const oneOf = (...words) => matching((v) => words.includes(v), words.join(' or '));
const digest = (value, place) => parseDigest(text(value, place), place);
const seed = matching((v) => /^[0-9a-f]{64}$/.test(v), '64 lower-case hexadecimal digits');
const keyId = matching((v) => v.length === 43 && fromBase64Url(v) !== null, 'a thumbprint');

function isTime(value) {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value)) return false;
  const at = new Date(value);
  return !Number.isNaN(at.getTime()) && at.toISOString() === value;
}

const time = matching(isTime, 'RFC 3339, UTC, milliseconds');
/** Milliseconds of a time that was checked. */
const millis = (value) => Date.parse(value);

function isName(value) {
  return value.length >= 1 && value.length <= 256 && value.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(value);
}

const name = matching(isName, '1 to 256 characters without controls');

/** A text for people in one line, all of its characters shown. */
function isLine(value) {
  return value.length <= 1000 && value.isWellFormed() && /[^ ]/.test(value)
    && !/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/.test(value);
}

const line = matching(isLine, '1 to 1000 characters in one line, all of them shown');

function integer(least = -Number.MAX_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER) {
  return (value, place) => {
    if (typeof value !== 'number') refuse('CAN-022', place, quoted(value), 'an integer');
    if (!Number.isSafeInteger(value)) refuse('CAN-022', place, value, 'an integer');
    if (value < least || value > most) refuse('CAN-023', place, value, `${least} to ${most}`);
    return value;
  };
}

const count = integer(0);
const region = matching((v) => /^[a-z0-9][a-z0-9-]{0,62}$/.test(v), 'a region');
const anyObject = (value, place) => {
  if (!isObject(value)) refuse('CAN-022', place, quoted(value), 'an object');
  return value;
};
const anything = (value) => value;

function list(form, most = Infinity) {
  return (value, place) => {
    if (!Array.isArray(value)) refuse('CAN-022', place, quoted(value), 'a list');
    if (value.length > most) refuse('CAN-023', place, value.length, `at most ${most}`);
    value.forEach((item, i) => form(item, `${place}/${i}`));
    return value;
  };
}

/** A list in strictly rising order of `key`, which also means that nothing is in it twice. */
function sorted(form, key = (item) => item) {
  const each = list(form);
  return (value, place) => {
    each(value, place);
    for (let i = 1; i < value.length; i++) {
      if (!(key(value[i - 1]) < key(value[i]))) refuse('GRD-001', `${place}/${i}`, quoted(key(value[i])), `after ${quoted(key(value[i - 1]))}`);
    }
    return value;
  };
}

const absent = (value, place) => refuse('CAN-021', place, quoted(value), 'nothing');
const optional = (form) => Object.assign((value, place) => form(value, place), { optional: true });

/** An object with these members and no others. */
function record(members) {
  return (value, place) => {
    anyObject(value, place);
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(members, key)) absent(value[key], `${place}/${pointer(key)}`);
    }
    for (const [key, form] of Object.entries(members)) {
      if (key in value) form(value[key], `${place}/${pointer(key)}`);
      else if (!form.optional) refuse('CAN-020', `${place}/${pointer(key)}`, null, 'a member of this name');
    }
    return value;
  };
}

const pointer = (key) => key.replaceAll('~', '~0').replaceAll('/', '~1');

// -------------------------------------------------------------------------- Ed25519 (signatures.md)

const P = (1n << 255n) - 19n;
const L = (1n << 252n) + 27742317777372353535851937790883648493n;
const mod = (a, m = P) => ((a % m) + m) % m;

function power(base, exponent) {
  let result = 1n;
  for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = (b * b) % P) if (e & 1n) result = (result * b) % P;
  return result;
}

const invert = (a) => power(a, P - 2n);
const D = mod(-121665n * invert(121666n));
const SQRT_M1 = power(2n, (P - 1n) / 4n);

function littleEndian(bytes) {
  let n = 0n;
  for (let i = bytes.length - 1; i >= 0; i--) n = (n << 8n) | BigInt(bytes[i]);
  return n;
}

const IDENTITY = [0n, 1n, 1n, 0n];

// Extended coordinates (RFC 8032, 5.1.4).
function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = ((y1 - x1) * (y2 - x2)) % P;
  const b = ((y1 + x1) * (y2 + x2)) % P;
  const c = (2n * D * t1 * t2) % P;
  const d = (2n * z1 * z2) % P;
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [(e * f) % P, (g * h) % P, (f * g) % P, (e * h) % P];
}

function double([x, y, z]) {
  const a = (x * x) % P;
  const b = (y * y) % P;
  const c = 2n * z * z;
  const h = a + b;
  const e = h - (x + y) ** 2n;
  const g = a - b;
  const f = c + g;
  return [(e * f) % P, (g * h) % P, (f * g) % P, (e * h) % P];
}

const negate = ([x, y, z, t]) => [-x, y, z, -t];
const isIdentity = ([x, y, z]) => mod(x) === 0n && mod(y - z) === 0n;

/** a·A + b·B, bit by bit for both at once. */
function multiply2(a, pointA, b, pointB) {
  const both = add(pointA, pointB);
  let result = IDENTITY;
  for (let bit = BigInt(Math.max(a.toString(2).length, b.toString(2).length)) - 1n; bit >= 0n; bit--) {
    result = double(result);
    const which = Number(((a >> bit) & 1n) | (((b >> bit) & 1n) << 1n));
    if (which) result = add(result, which === 1 ? pointA : which === 2 ? pointB : both);
  }
  return result;
}

/** Whether 32 bytes encode y < p, and no minus zero. */
function isCanonicalPoint(bytes) {
  const encoded = littleEndian(bytes);
  const y = encoded & ((1n << 255n) - 1n);
  const sign = encoded >> 255n;
  return y < P && !(sign === 1n && (y === 1n || y === P - 1n));
}

/** The point of a canonical encoding (RFC 8032, 5.1.3), or null where there is none. */
function decompress(bytes) {
  const encoded = littleEndian(bytes);
  const y = encoded & ((1n << 255n) - 1n);
  const u = mod(y * y - 1n);
  const v = mod(D * y * y + 1n);
  let x = (u * power(v, 3n) * power(u * power(v, 7n), (P - 5n) / 8n)) % P;
  const check = mod(v * x * x);
  if (check === mod(-u)) x = (x * SQRT_M1) % P;
  else if (check !== u) return null;
  if ((x & 1n) !== encoded >> 255n) x = mod(-x);
  return [x, y, 1n, (x * y) % P];
}

const BASE = (() => {
  const y = mod(4n * invert(5n));
  const bytes = new Uint8Array(32);
  for (let i = 0; i < 32; i++) bytes[i] = Number((y >> BigInt(8 * i)) & 255n);
  return decompress(bytes);
})();

const timesEight = (point) => double(double(double(point)));

/** A public key that may be enrolled: canonical, a point, not of small order. */
export function checkEd25519Key(bytes, place = 'key') {
  if (bytes.length !== 32) refuse('CAN-050', place, `${bytes.length} bytes`, '32 bytes');
  if (!isCanonicalPoint(bytes)) refuse('CAN-051', place, toHex(bytes), 'a canonical encoding');
  const point = decompress(bytes);
  if (point === null) refuse('CAN-050', place, toHex(bytes), 'a point of the curve');
  if (isIdentity(timesEight(point))) refuse('CAN-051', place, toHex(bytes), 'a point that is not of small order');
  return { bytes, point, id: toHex(bytes) };
}

/** Our own judge: [8]S·B = [8]R + [8]k·A. */
function judgeEd25519(key, message, signature, s) {
  const r = signature.subarray(0, 32);
  const pointR = decompress(r);
  if (pointR === null) return false;
  const k = mod(littleEndian(sha512(concat(r, key.bytes, message))), L);
  const rest = add(multiply2(s, BASE, k, negate(key.point)), negate(pointR));
  return isIdentity(timesEight(rest));
}

let webCrypto; // a promise: whether WebCrypto has an Ed25519 that passes a known-answer test

function webCryptoEd25519() {
  webCrypto = webCrypto ?? (async () => {
    try {
      // RFC 8032, 7.1, TEST 2.
      const key = fromHex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c');
      const good = fromHex('92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00');
      const bad = Uint8Array.from(good);
      bad[40] ^= 1;
      const imported = await crypto.subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify']);
      const message = Uint8Array.of(0x72);
      return (await crypto.subtle.verify('Ed25519', imported, good, message))
        && !(await crypto.subtle.verify('Ed25519', imported, bad, message));
    } catch {
      return false;
    }
  })();
  return webCrypto;
}

/** Which engine verifies first: `WebCrypto`, or `own` where this runtime's has no Ed25519. */
export async function ed25519Engine() {
  return (await webCryptoEd25519()) ? 'WebCrypto' : 'own';
}

/** For tests: has everything judged by our own arithmetic (false), or asks the runtime again. */
export function useWebCrypto(yes) {
  webCrypto = yes ? undefined : Promise.resolve(false);
}

const importedKeys = new Map();

/** Verifies under the one rule of signatures.md; refuses with CAN-060. */
export async function verifyEd25519(key, message, signature, place = 'signature') {
  const no = (why) => refuse('CAN-060', place, toHex(signature.subarray(0, 64)), why);
  if (signature.length !== 64) no('64 bytes');
  if (!isCanonicalPoint(signature.subarray(0, 32))) no('a canonical R');
  const s = littleEndian(signature.subarray(32));
  if (s >= L) no('S < L');
  // The fast path may only say yes; since the checks above were made, its yes implies the rule's.
  if (await webCryptoEd25519()) {
    let imported = importedKeys.get(key.id);
    if (!imported) {
      imported = await crypto.subtle.importKey('raw', key.bytes, { name: 'Ed25519' }, false, ['verify']);
      importedKeys.set(key.id, imported);
    }
    if (await crypto.subtle.verify('Ed25519', imported, signature, message)) return;
  }
  if (!judgeEd25519(key, message, signature, s)) no('one that verifies under ' + toBase64Url(key.bytes));
}

// ------------------------------------------------------------------------------ ML-DSA-65 (FIPS 204)

const Q = 8380417;
const GAMMA1 = 1 << 19;
const GAMMA2 = (Q - 1) / 32;
const [TAU, BETA, OMEGA, ROWS, COLUMNS] = [49, 196, 55, 6, 5];
const times = (a, b) => (a * b) % Q; // below 2^46, so exact in a double
const modQ = (a) => ((a % Q) + Q) % Q;

const ZETAS = (() => {
  const out = new Int32Array(256);
  for (let m = 0; m < 256; m++) {
    let reversed = 0;
    for (let bit = 0; bit < 8; bit++) if (m & (1 << bit)) reversed |= 128 >> bit;
    let z = 1;
    for (let i = 0; i < reversed; i++) z = times(z, 1753);
    out[m] = z;
  }
  return out;
})();

function ntt(poly) {
  const w = Int32Array.from(poly, modQ);
  let m = 0;
  for (let len = 128; len >= 1; len >>= 1) {
    for (let start = 0; start < 256; start += 2 * len) {
      const z = ZETAS[++m];
      for (let j = start; j < start + len; j++) {
        const t = times(z, w[j + len]);
        w[j + len] = modQ(w[j] - t);
        w[j] = (w[j] + t) % Q;
      }
    }
  }
  return w;
}

function inverseNtt(poly) {
  const w = Int32Array.from(poly);
  let m = 256;
  for (let len = 1; len < 256; len *= 2) {
    for (let start = 0; start < 256; start += 2 * len) {
      const z = Q - ZETAS[--m];
      for (let j = start; j < start + len; j++) {
        const t = w[j];
        w[j] = (t + w[j + len]) % Q;
        w[j + len] = times(z, modQ(t - w[j + len]));
      }
    }
  }
  return w.map((c) => times(c, 8347681));
}

/** Little-endian fields of `bits` bits each (BitUnpack). */
function unpackBits(bytes, bits, each) {
  const out = new Int32Array(256);
  let held = 0;
  let have = 0;
  let at = 0;
  for (let i = 0; i < 256; i++) {
    while (have < bits) {
      held |= bytes[at++] << have;
      have += 8;
    }
    out[i] = each(held & ((1 << bits) - 1));
    held >>>= bits;
    have -= bits;
  }
  return out;
}

/** RejNTTPoly. */
function expandEntry(rho, row, column) {
  const next = shake(168, concat(rho, Uint8Array.of(column, row)));
  const out = new Int32Array(256);
  for (let i = 0; i < 256;) {
    const [b0, b1, b2] = next(3);
    const z = ((b2 & 0x7f) << 16) | (b1 << 8) | b0;
    if (z < Q) out[i++] = z;
  }
  return out;
}

function sampleInBall(seedBytes) {
  const next = shake(136, seedBytes);
  const signs = littleEndian(next(8));
  const c = new Int32Array(256);
  for (let i = 256 - TAU; i < 256; i++) {
    let [j] = next(1);
    while (j > i) [j] = next(1);
    c[i] = c[j];
    c[j] = (signs >> BigInt(i + TAU - 256)) & 1n ? -1 : 1;
  }
  return c;
}

/** HintBitUnpack: rows of zeros and ones, or null. */
function unpackHints(bytes) {
  const rows = [];
  let at = 0;
  for (let i = 0; i < ROWS; i++) {
    const end = bytes[OMEGA + i];
    if (end < at || end > OMEGA) return null;
    const row = new Uint8Array(256);
    for (let first = at; at < end; at++) {
      if (at > first && bytes[at - 1] >= bytes[at]) return null;
      row[bytes[at]] = 1;
    }
    rows.push(row);
  }
  for (; at < OMEGA; at++) if (bytes[at] !== 0) return null;
  return rows;
}

function useHint(hint, r) {
  let r0 = r % (2 * GAMMA2);
  if (r0 > GAMMA2) r0 -= 2 * GAMMA2;
  let r1 = (r - r0) / (2 * GAMMA2);
  if (r - r0 === Q - 1) {
    r1 = 0;
    r0 -= 1;
  }
  if (!hint) return r1;
  return (r1 + (r0 > 0 ? 1 : 15)) % 16;
}

/** ML-DSA.Verify of FIPS 204, pure, with the empty context; refuses with CAN-060. */
export function verifyMlDsa65(publicKey, message, signature, place = 'signature') {
  const no = (why) => refuse('CAN-060', place, toHex(signature.subarray(0, 32)) + '…', why);
  if (signature.length !== 3309) no('3309 bytes');
  const commitment = signature.subarray(0, 48);
  const z = [];
  for (let i = 0; i < COLUMNS; i++) {
    const packed = signature.subarray(48 + 640 * i, 48 + 640 * (i + 1));
    z.push(unpackBits(packed, 20, (v) => GAMMA1 - v));
  }
  const hints = unpackHints(signature.subarray(48 + 640 * COLUMNS));
  if (hints === null) no('well-formed hints');
  if (z.some((poly) => poly.some((c) => Math.abs(c) >= GAMMA1 - BETA))) no('a short z');
  const rho = publicKey.subarray(0, 32);
  const mu = shake256(concat(shake256(publicKey, 64), Uint8Array.of(0, 0), message), 64);
  const c = ntt(sampleInBall(commitment));
  const zHat = z.map(ntt);
  const w1 = new Uint8Array(128 * ROWS);
  for (let row = 0; row < ROWS; row++) {
    const t1 = unpackBits(publicKey.subarray(32 + 320 * row, 352 + 320 * row), 10, (v) => v * 8192);
    const t1Hat = ntt(t1);
    const sum = new Int32Array(256);
    for (let column = 0; column < COLUMNS; column++) {
      const a = expandEntry(rho, row, column);
      for (let i = 0; i < 256; i++) sum[i] = (sum[i] + times(a[i], zHat[column][i])) % Q;
    }
    for (let i = 0; i < 256; i++) sum[i] = modQ(sum[i] - times(c[i], t1Hat[i]));
    inverseNtt(sum).forEach((r, i) => {
      w1[128 * row + (i >> 1)] |= useHint(hints[row][i], r) << (4 * (i & 1));
    });
  }
  if (!equalBytes(shake256(concat(mu, w1), 48), commitment)) no('one that verifies');
}

// ------------------------------------------------------------- ES256 (signatures.md), passkeys (webauthn.md)

const P256 = {
  p: (1n << 256n) - (1n << 224n) + (1n << 192n) + (1n << 96n) - 1n,
  n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  g: [
    0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
    1n,
  ],
};

const bigEndian = (bytes) => BigInt('0x' + (toHex(bytes) || '0'));
const modP = (a) => mod(a, P256.p);

/** a to the power of m − 2, its inverse modulo a prime m. */
function inverse(a, m) {
  let result = 1n;
  for (let e = m - 2n, square = mod(a, m); e > 0n; e >>= 1n, square = (square * square) % m) {
    if (e & 1n) result = (result * square) % m;
  }
  return result;
}

/** Twice a point, in Jacobian coordinates; z = 0 is the neutral element. */
function double256([x, y, z]) {
  const d = y * y;
  const s = modP(4n * x * d);
  const w = modP(3n * (x - z * z) * (x + z * z));
  const x2 = modP(w * w - 2n * s);
  return [x2, modP(w * (s - x2) - 8n * d * d), modP(2n * y * z)];
}

function add256(a, b) {
  if (a[2] === 0n) return b;
  if (b[2] === 0n) return a;
  const zA = modP(a[2] * a[2]);
  const zB = modP(b[2] * b[2]);
  const u = modP(a[0] * zB);
  const s = modP(a[1] * b[2] * zB);
  const h = modP(b[0] * zA - u);
  const r = modP(b[1] * a[2] * zA - s);
  if (h === 0n) return r === 0n ? double256(a) : [1n, 1n, 0n];
  const hh = modP(h * h);
  const x = modP(r * r - hh * h - 2n * u * hh);
  return [x, modP(r * (u * hh - x) - s * hh * h), modP(h * a[2] * b[2])];
}

/** A key of P-256: two coordinates of a point; a passkey's JWK also names the site that it signs for. */
function checkPoint(jwk, place) {
  const [x, y] = ['x', 'y'].map((member) => {
    const bytes = fromBase64Url(jwk[member]);
    if (bytes === null) refuse('CAN-023', `${place}/${member}`, quoted(jwk[member]), 'base64url without padding');
    return bytes;
  });
  if (x.length !== 32 || y.length !== 32) refuse('CAN-050', place, `${x.length} and ${y.length} bytes`, '32 bytes each');
  const [a, b] = [bigEndian(x), bigEndian(y)];
  if (a >= P256.p || b >= P256.p || modP(b * b - (a * a * a - 3n * a + P256.b)) !== 0n) refuse('CAN-050', place, `${jwk.x}, ${jwk.y}`, 'a point of P-256');
  return { bytes: concat(Uint8Array.of(4), x, y), point: [a, b, 1n], relyingParty: jwk.writ_rp_id };
}

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const SITE = new RegExp(`^(?:localhost|(?:${LABEL}\\.)+(?![0-9]+$)${LABEL})$`);
const relyingParty = matching((v) => v.length <= 253 && SITE.test(v), 'localhost, or a domain of two or more labels in lower case');

/** [r, s] of strict DER with 0 < r, s < n, or null. */
function ecdsaNumbers(der) {
  if (der.length < 2 || der[0] !== 0x30 || der[1] > 0x7f || der[1] !== der.length - 2) return null;
  const numbers = [];
  let at = 2;
  while (at < der.length) {
    const length = der[at + 1];
    const value = der.subarray(at + 2, at + 2 + length);
    if (der[at] !== 2 || !(length >= 1 && length <= 33) || value.length !== length) return null;
    if (value[0] > 0x7f || (length > 1 && value[0] === 0 && value[1] < 0x80)) return null;
    const number = bigEndian(value);
    if (number === 0n || number >= P256.n) return null;
    numbers.push(number);
    at += 2 + length;
  }
  return numbers.length === 2 ? numbers : null;
}

/** [r, s] of 32 bytes each (RFC 7518, 3.4) with 0 < r, s < n, or null. */
function ecdsaPair(signature) {
  if (signature.length !== 64) return null;
  const numbers = [signature.subarray(0, 32), signature.subarray(32)].map(bigEndian);
  return numbers.every((number) => number > 0n && number < P256.n) ? numbers : null;
}

/** ECDSA over P-256 of a digest (FIPS 186-5, 6.4.2). Either of the two values of s will do. */
function judgeEcdsa(point, hash, [r, s]) {
  const w = inverse(s, P256.n);
  const u = mod(bigEndian(hash) * w, P256.n);
  const v = mod(r * w, P256.n);
  const both = add256(P256.g, point);
  let sum = [1n, 1n, 0n];
  for (let bit = 255n; bit >= 0n; bit--) {
    sum = double256(sum);
    const which = Number((u >> bit) & 1n) + 2 * Number((v >> bit) & 1n);
    if (which > 0) sum = add256(sum, [P256.g, point, both][which - 1]);
  }
  if (sum[2] === 0n) return false;
  const z = inverse(sum[2], P256.p);
  return mod(modP(sum[0] * z * z), P256.n) === r;
}

/** Verifies an ES256 signature over a message, whose s is the lower of two; refuses with CAN-060. */
export function verifyEs256(key, message, signature, place = 'signature') {
  const numbers = ecdsaPair(signature);
  if (numbers === null || numbers[1] > P256.n >> 1n || !judgeEcdsa(key.point, sha256(message), numbers)) {
    refuse('CAN-060', place, toHex(signature.subarray(0, 72)), 'one that verifies under ' + key.kid);
  }
}

const assertionForm = record({ authenticator_data: text, client_data: text, signature: text });

/** The three byte strings of a signature entry; refuses with CAN-065. */
function parseAssertion(bytes, place) {
  const form = (why, found = '') => refuse('CAN-065', place, found, why);
  const parsed = (read) => {
    try {
      return read();
    } catch (e) {
      if (!(e instanceof Refusal)) throw e;
      return form('the form of webauthn.md', `${e.code} ${e.place ?? ''}`);
    }
  };
  const value = parsed(() => assertionForm(parseCanonical(bytes, { bytes: 8192, depth: 1 }), 'sig'));
  const [data, clientData, signature] = ['authenticator_data', 'client_data', 'signature'].map((member) => fromBase64Url(value[member]) ?? form('base64url without padding', member));
  const client = parsed(() => anyObject(parseJson(clientData, { bytes: 4096, depth: 8 }), 'client_data'));
  for (const member of ['type', 'challenge', 'origin']) {
    if (!Object.hasOwn(client, member) || typeof client[member] !== 'string') form('a text', `client_data/${member}`);
  }
  const flags = data[32];
  if (data.length < 37 || (flags & 0x40) !== 0 || data.length > 37 !== ((flags & 0x80) !== 0)) form('37 bytes, or more with extensions', `${data.length} bytes, flags ${flags}`);
  if ((flags & 0x18) === 0x10) form('no backup of a key that has none', `flags ${flags}`);
  return { data, clientData, signature, client, flags };
}

function isAt(origin, site) {
  if (site === 'localhost') return /^https?:\/\/localhost(?::[1-9][0-9]{0,4})?$/.test(origin);
  const host = /^https:\/\/([a-z0-9.-]+)(?::[1-9][0-9]{0,4})?$/.exec(origin)?.[1];
  return host !== undefined && (host === site || host.endsWith('.' + site));
}

/** Verifies a passkey's assertion over a message (webauthn.md); refuses with CAN-060, CAN-065 to CAN-068. */
export function verifyWebAuthn(key, message, entry, place = 'signature') {
  const { data, clientData, signature, client, flags } = parseAssertion(entry, place);
  if (client.type !== 'webauthn.get') refuse('CAN-066', place, quoted(client.type), 'webauthn.get');
  const challenge = toBase64Url(sha256(message));
  if (client.challenge !== challenge) refuse('CAN-066', place, quoted(client.challenge), challenge);
  if (!isAt(client.origin, key.relyingParty)) refuse('CAN-067', place, quoted(client.origin), `a page of ${key.relyingParty}`);
  if ((Object.hasOwn(client, 'crossOrigin') && client.crossOrigin !== false) || Object.hasOwn(client, 'topOrigin')) refuse('CAN-067', place, 'a frame', 'a page in no frame of another origin');
  if (!equalBytes(data.subarray(0, 32), sha256(utf8(key.relyingParty)))) refuse('CAN-067', place, toHex(data.subarray(0, 32)), `the digest of ${key.relyingParty}`);
  if ((flags & 0x05) !== 0x05) refuse('CAN-068', place, `flags ${flags}`, 'a user who was present and verified');
  const numbers = ecdsaNumbers(signature);
  if (numbers === null || !judgeEcdsa(key.point, sha256(concat(data, sha256(clientData))), numbers)) {
    refuse('CAN-060', place, toHex(signature.subarray(0, 72)), 'one that verifies under ' + key.kid);
  }
}

// ------------------------------------------------------------------------------------ keys (keys.md)

const KEY_FORMS = {
  OKP: { algorithm: 'Ed25519', members: { kty: oneOf('OKP'), crv: oneOf('Ed25519'), x: text }, bytes: 'x', length: 32 },
  AKP: { algorithm: 'ML-DSA-65', members: { kty: oneOf('AKP'), alg: oneOf('ML-DSA-65'), pub: text }, bytes: 'pub', length: 1952 },
  EC: { algorithm: 'ES256', members: { kty: oneOf('EC'), crv: oneOf('P-256'), x: text, y: text } },
};

/** The same members with a site besides: a passkey, which signs other bytes (webauthn.md). */
const PASSKEY_FORM = { ...KEY_FORMS.EC, algorithm: 'WebAuthn', besides: { writ_rp_id: relyingParty } };

/** The bytes of a key of one byte string, and what else its algorithm works with. */
function checkKeyBytes(form, jwk, place) {
  const at = `${place}/${form.bytes}`;
  const bytes = fromBase64Url(jwk[form.bytes]);
  if (bytes === null) refuse('CAN-023', at, quoted(jwk[form.bytes]), 'base64url without padding');
  if (bytes.length !== form.length) refuse('CAN-050', at, `${bytes.length} bytes`, `${form.length} bytes`);
  return form.algorithm === 'Ed25519' ? checkEd25519Key(bytes, at) : { bytes };
}

/** A public key {algorithm, kid, bytes} of a JWK; `more` are members that may be there besides. */
export function parseJwk(jwk, place = 'jwk', more = {}) {
  anyObject(jwk, place);
  if (!('kty' in jwk)) refuse('CAN-020', `${place}/kty`, null, 'OKP, AKP or EC');
  oneOf('OKP', 'AKP', 'EC')(jwk.kty, `${place}/kty`);
  const form = jwk.kty === 'EC' && 'writ_rp_id' in jwk ? PASSKEY_FORM : KEY_FORMS[jwk.kty];
  record({ ...form.members, ...form.besides, kid: optional(text), ...more })(jwk, place);
  const checked = jwk.kty === 'EC' ? checkPoint(jwk, place) : checkKeyBytes(form, jwk, place);
  const named = Object.fromEntries(Object.keys(form.members).map((m) => [m, jwk[m]]));
  const kid = toBase64Url(sha256(writeJson(named)));
  if ('kid' in jwk && jwk.kid !== kid) refuse('CAN-050', `${place}/kid`, jwk.kid, kid);
  return { algorithm: form.algorithm, kid, ...checked };
}

const KINDS_OF_ROLE = {
  agent: ['request', 'execution', 'run-close', 'access', 'mandate'],
  surface: ['request', 'execution', 'run-close', 'mandate'],
  principal: ['delegation'],
  approver: ['approval', 'access', 'tool-approval'],
  guardian: ['decision', 'intent', 'cell-checkpoints', 'tenant-departed'],
  executor: ['receipt', 'refusal', 'run-closing', 'deletion', 'read-event'],
  operator: ['resolution', 'system-change'],
  'policy-owner': ['policy'],
  publisher: ['tool-package', 'tool-submission'],
  attestor: [],
  log: [],
};

/** The roles in which people sign, so that passkeys may. */
const OF_PEOPLE = ['approver', 'operator', 'policy-owner'];

export const typeOf = (kind) => `application/vnd.writ.${kind}.v1+json`;

/** Whether a role may sign documents of a type. */
function maySign(role, type) {
  if (role === 'attestor') return !type.toLowerCase().startsWith('application/vnd.writ.');
  return KINDS_OF_ROLE[role].some((kind) => typeOf(kind) === type);
}

const TRUST_MEMBERS = {
  writ_role: oneOf(...Object.keys(KINDS_OF_ROLE)),
  writ_subject: name,
  writ_tenant: optional(name),
  writ_not_before: time,
  writ_not_after: optional(time),
  writ_revoked_at: optional(time),
};

/** A key of a trust file: a public key with role, tenant, subject, window, and revocation. */
export function parseTrustedKey(jwk, place = 'key') {
  const key = parseJwk(jwk, place, TRUST_MEMBERS);
  if (key.algorithm === 'WebAuthn' && !OF_PEOPLE.includes(jwk.writ_role)) refuse('CAN-069', `${place}/writ_role`, jwk.writ_role, OF_PEOPLE.join(', '));
  if (key.algorithm === 'ES256' && jwk.writ_role === 'log') refuse('CAN-079', `${place}/writ_role`, jwk.writ_role, 'a role that signs documents');
  if ('writ_not_after' in jwk && !(jwk.writ_not_before < jwk.writ_not_after)) {
    refuse('CAN-023', `${place}/writ_not_after`, jwk.writ_not_after, 'after ' + jwk.writ_not_before);
  }
  return {
    ...key,
    role: jwk.writ_role,
    subject: jwk.writ_subject,
    tenant: jwk.writ_tenant ?? null,
    notBefore: jwk.writ_not_before,
    notAfter: jwk.writ_not_after ?? null,
    revokedAt: jwk.writ_revoked_at ?? null,
    jwk,
  };
}

/** In the order in which they name the holder (envelope.md, 10). */
const ALGORITHMS = ['Ed25519', 'ES256', 'ML-DSA-65', 'WebAuthn'];

/** A trust file: {keys: Map by kid, required: role → algorithms}. */
export function parseTrust(bytes) {
  const file = parseJson(bytes);
  record({ keys: list(anyObject), writ_required_algorithms: optional(anyObject) })(file, '');
  const keys = new Map();
  file.keys.forEach((jwk, i) => {
    const key = parseTrustedKey(jwk, `/keys/${i}`);
    if (keys.has(key.kid)) refuse('CAN-056', `/keys/${i}`, key.kid, 'each key once');
    keys.set(key.kid, key);
  });
  const required = file.writ_required_algorithms ?? {};
  for (const [role, algorithms] of Object.entries(required)) {
    const place = `/writ_required_algorithms/${pointer(role)}`;
    if (!Object.hasOwn(KINDS_OF_ROLE, role)) refuse('CAN-023', place, role, 'a role');
    list(oneOf(...ALGORITHMS))(algorithms, place);
    if (algorithms.length === 0 || new Set(algorithms).size !== algorithms.length) refuse('CAN-023', place, quoted(algorithms), 'each algorithm once');
  }
  return { keys, required };
}

const requiredAlgorithms = (trust, role) => (Object.hasOwn(trust.required, role) ? trust.required[role] : ['Ed25519']);

/** What a signature counts as: where trust does not name the role, ES256 and passkeys, which people alone have, stand in place of Ed25519. */
const inPlaceOf = (trust, role) => (algorithm) => {
  const stands = algorithm === 'ES256' || algorithm === 'WebAuthn';
  return stands && !Object.hasOwn(trust.required, role) ? 'Ed25519' : algorithm;
};

const inWindow = (key, at) => key.notBefore <= at && (key.notAfter === null || at < key.notAfter);

/** The question of `live` (keys.md, 8): is this key in force at that time? */
export function liveAt(at) {
  return (key, place) => {
    if (!inWindow(key, at)) refuse('CAN-054', place, at, `${key.notBefore} to ${key.notAfter ?? 'no end'}`);
    if (key.revokedAt !== null) refuse('CAN-055', place, at, `revoked at ${key.revokedAt}`);
  };
}

// -------------------------------------------------------------------------- envelopes (envelope.md)

const MIB = 1 << 20;
const isPayloadType = (v) => /^[\x21-\x7e]{1,256}$/.test(v);

const envelopeForm = record({
  payload: text,
  payloadType: matching(isPayloadType, '1 to 256 visible ASCII characters'),
  signatures: list(record({ keyid: keyId, sig: text }), 16),
});

/** An envelope in its one form: {payload, payloadType, signatures, id}. Says nothing of signatures. */
export function parseEnvelope(bytes, place = 'envelope') {
  return within(place, () => readEnvelope(parseCanonical(bytes)));
}

/** The same of a value, such as a delegation inside a request. */
export function readEnvelope(value, place = '') {
  envelopeForm(value, place);
  const payload = fromBase64(value.payload);
  if (payload === null) refuse('CAN-023', `${place}/payload`, quoted(value.payload), 'standard base64 with padding');
  if (payload.length > 11 * MIB) refuse('CAN-009', `${place}/payload`, payload.length, 11 * MIB);
  if (value.signatures.length === 0) refuse('CAN-023', `${place}/signatures`, '[]', '1 to 16 signatures');
  const signatures = value.signatures.map((signature, i) => {
    const sig = fromBase64(signature.sig);
    if (sig === null) refuse('CAN-023', `${place}/signatures/${i}/sig`, quoted(signature.sig), 'standard base64 with padding');
    if (i > 0 && !(value.signatures[i - 1].keyid < signature.keyid)) {
      refuse('CAN-023', `${place}/signatures/${i}/keyid`, signature.keyid, 'after ' + value.signatures[i - 1].keyid);
    }
    return { keyid: signature.keyid, sig };
  });
  return { payload, payloadType: value.payloadType, signatures, id: digestOf(payload) };
}

/** The pre-authentication encoding of DSSE. */
export function pae(type, payload) {
  const typeBytes = utf8(type);
  return concat(utf8(`DSSEv1 ${typeBytes.length} `), typeBytes, utf8(` ${payload.length} `), payload);
}

/**
 * Verifies an envelope under a trust and gives its signers, those of required algorithms first and
 * Ed25519 before ES256 before ML-DSA-65 before WebAuthn: the first is the holder (envelope.md, 10).
 * `inForce(key, place)` asks whether the key counts: now (`liveAt`), or at a place in the log.
 */
export async function verifyEnvelope(envelope, type, trust, inForce, place = 'envelope') {
  if (envelope.payloadType !== type) refuse('CAN-061', place, envelope.payloadType, type);
  const signers = envelope.signatures.map(({ keyid }, i) => {
    const at = `${place}/signatures/${i}`;
    const key = trust.keys.get(keyid);
    if (!key) refuse('CAN-052', at, keyid, 'an enrolled key');
    if (!maySign(key.role, type)) refuse('CAN-053', at, `role ${key.role}`, `a role that signs ${type}`);
    inForce(key, at);
    return key;
  });
  const [first] = signers;
  for (const key of signers) {
    if (key.role !== first.role || key.tenant !== first.tenant || key.subject !== first.subject) {
      refuse('CAN-063', place, `${key.role} ${key.subject}`, `${first.role} ${first.subject}`);
    }
  }
  const counts = inPlaceOf(trust, first.role);
  const algorithms = signers.map((key) => counts(key.algorithm));
  if (new Set(algorithms).size !== algorithms.length) refuse('CAN-064', place, algorithms.join(', '), 'each algorithm once');
  const required = requiredAlgorithms(trust, first.role);
  for (const algorithm of required) {
    if (!algorithms.includes(algorithm)) refuse('CAN-062', place, algorithms.join(', '), algorithm);
  }
  const message = pae(type, envelope.payload);
  for (let i = 0; i < signers.length; i++) {
    await verifySignature(signers[i], message, envelope.signatures[i].sig, `${place}/signatures/${i}`);
  }
  const rank = (key) => (required.includes(counts(key.algorithm)) ? 0 : ALGORITHMS.length) + ALGORITHMS.indexOf(key.algorithm);
  return signers.toSorted((a, b) => rank(a) - rank(b));
}

/** Verifies a signature by a key of whatever algorithm (signatures.md); refuses with CAN-060, CAN-065 to CAN-068. */
export async function verifySignature(key, message, signature, place = 'signature') {
  if (key.algorithm === 'Ed25519') await verifyEd25519(key, message, signature, place);
  else if (key.algorithm === 'ES256') verifyEs256(key, message, signature, place);
  else if (key.algorithm === 'WebAuthn') verifyWebAuthn(key, message, signature, place);
  else verifyMlDsa65(key.bytes, message, signature, place);
}

// ---------------------------------------------------------------------- Merkle trees (RFC 9162, 2.1)

export const EMPTY_ROOT = digestOf(new Uint8Array(0));
export const leafHash = (entry) => sha256(concat(Uint8Array.of(0), entry));
export const nodeHash = (left, right) => sha256(concat(Uint8Array.of(1), left, right));
const odd = (n) => n % 2 === 1;
const half = (n) => Math.floor(n / 2);
const text256 = (hash) => 'sha256:' + toHex(hash);

/** The greatest power of two that is smaller than n, which is at least 2. */
function split(n) {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** The root over leaf hashes (RFC 9162, 2.1.1). */
export function rootOf(leaves) {
  const root = (lo, hi) => {
    if (hi - lo === 1) return leaves[lo];
    const k = split(hi - lo);
    return nodeHash(root(lo, lo + k), root(lo + k, hi));
  };
  return leaves.length === 0 ? sha256(new Uint8Array(0)) : root(0, leaves.length);
}

/** RFC 9162, 2.1.3.2. Hashes are bytes. */
export function verifyInclusion(leaf, index, size, proof, root, place = 'proof') {
  if (!(index >= 0 && index < size)) refuse('LED-040', place, index, `below ${size}`);
  let [fn, sn, r] = [index, size - 1, leaf];
  for (const p of proof) {
    if (sn === 0) refuse('LED-041', place, proof.length, 'fewer hashes');
    if (odd(fn) || fn === sn) {
      r = nodeHash(p, r);
      while (!odd(fn) && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      r = nodeHash(r, p);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  if (sn !== 0) refuse('LED-041', place, proof.length, 'more hashes');
  if (!equalBytes(r, root)) refuse('LED-042', place, text256(root), text256(r));
}

/** RFC 9162, 2.1.4.2, and the empty proof between equal sizes and from size 0. */
export function verifyConsistency(size1, root1, size2, root2, proof, place = 'proof') {
  if (size1 > size2) refuse('LED-040', place, size1, `at most ${size2}`);
  if (size1 === size2 || size1 === 0) {
    if (proof.length !== 0) refuse('LED-041', place, proof.length, 0);
    const expected = size1 === 0 ? digestBytes(EMPTY_ROOT) : root2;
    if (!equalBytes(root1, expected)) refuse('LED-042', place, text256(root1), text256(expected));
    if (size2 === 0 && !equalBytes(root2, expected)) refuse('LED-042', place, text256(root2), text256(expected));
    return;
  }
  if (proof.length === 0) refuse('LED-041', place, 0, 'at least one hash');
  let [fn, sn] = [size1 - 1, size2 - 1];
  while (odd(fn)) [fn, sn] = [half(fn), half(sn)];
  const path = fn === 0 ? [root1, ...proof] : proof;
  let [fr, sr] = [path[0], path[0]];
  for (const c of path.slice(1)) {
    if (sn === 0) refuse('LED-041', place, proof.length, 'fewer hashes');
    if (odd(fn) || fn === sn) {
      [fr, sr] = [nodeHash(c, fr), nodeHash(c, sr)];
      while (!odd(fn) && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      sr = nodeHash(sr, c);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  if (sn !== 0) refuse('LED-041', place, proof.length, 'more hashes');
  if (!equalBytes(fr, root1)) refuse('LED-042', place, text256(root1), text256(fr));
  if (!equalBytes(sr, root2)) refuse('LED-042', place, text256(root2), text256(sr));
}

/** How many hashes a consistency proof has: that follows from the two sizes alone. */
export function consistencyHashes(size1, size2) {
  if (size1 === size2 || size1 === 0) return 0;
  let [fn, sn] = [size1 - 1, size2 - 1];
  while (odd(fn)) [fn, sn] = [half(fn), half(sn)];
  let hashes = fn === 0 ? 0 : 1;
  while (sn !== 0) {
    if (odd(fn) || fn === sn) while (!odd(fn) && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    hashes++;
    [fn, sn] = [half(fn), half(sn)];
  }
  return hashes;
}

// ------------------------------------------------------------- signed notes and checkpoints (log.md)

const NOTE_BYTES = 256 << 10;
const NOTE_SIGNATURES = 64;
// What Unicode calls a space, and a control character; \s has U+FEFF besides, which is none.
const isNoteName = (v) => v.length > 0 && !/[\u0000-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]/.test(v);

/** A C2SP signed note: {text, signatures: [{name, id, signature}]}. */
export function parseNote(bytes) {
  const bad = (what) => refuse('LED-050', 'note', what, 'a C2SP signed note');
  if (bytes.length > NOTE_BYTES) bad(`${bytes.length} bytes`);
  let whole;
  try {
    whole = DECODER.decode(bytes);
  } catch {
    bad('not UTF-8');
  }
  if (/[\u0000-\u0009\u000b-\u001f]/.test(whole)) bad('a control character');
  if (!whole.endsWith('\n')) bad('no final newline');
  const split = whole.lastIndexOf('\n\n');
  if (split < 0) bad('no empty line');
  const lines = whole.slice(split + 2).split('\n').slice(0, -1);
  if (lines.length === 0 || lines.length > NOTE_SIGNATURES) bad(`${lines.length} signature lines`);
  const signatures = lines.map((line) => {
    const match = /^\u2014 ([^ ]+) ([^ ]+)$/u.exec(line);
    if (!match || !isNoteName(match[1])) bad('a line that is no signature');
    const held = fromBase64(match[2]);
    if (held === null || held.length < 5) bad('a signature that is not base64');
    return { name: match[1], id: toHex(held.subarray(0, 4)), signature: held.subarray(4) };
  });
  return { text: whole.slice(0, split + 1), signatures };
}

const LOG_TYPE = 0x01;
const WITNESS_TYPE = 0x04;

const namedKey = (name, key, type) => ({ name, key, id: toHex(sha256(concat(utf8(name), Uint8Array.of(0x0a, type), key.bytes)).subarray(0, 4)) });

/** The name under which a key signs notes: {name, id, key}. */
export const noteKey = (name, key) => namedKey(name, key, LOG_TYPE);

function parseNamedKey(vkey, type) {
  const match = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/u.exec(vkey);
  const bytes = match ? fromBase64(match[3]) : null;
  if (!match || !isNoteName(match[1]) || bytes === null || bytes.length !== 33 || bytes[0] !== type) {
    refuse('LED-055', 'note key', vkey, `name+id+base64 of an Ed25519 key of the type ${type}`);
  }
  const key = namedKey(match[1], checkEd25519Key(bytes.subarray(1), 'note key'), type);
  if (key.id !== match[2]) refuse('LED-055', 'note key', match[2], key.id);
  return { ...key, text: vkey };
}

/** `name+id+base64`, as C2SP signed-note writes the key of a log. */
export const parseNoteKey = (vkey) => parseNamedKey(vkey, LOG_TYPE);

/** The same of a witness, whose type of signature is another. */
export const parseWitnessKey = (vkey) => parseNamedKey(vkey, WITNESS_TYPE);

/** A checkpoint's statement: {origin, size, root, extensions}. */
export function parseCheckpoint(noteText) {
  const bad = (what) => refuse('LED-051', 'checkpoint', what, 'origin, size, root');
  const lines = noteText.split('\n').slice(0, -1);
  if (lines.length < 3) bad(`${lines.length} lines`);
  const [origin, size, root, ...extensions] = lines;
  if (origin === '') bad('no origin');
  if (!/^(0|[1-9][0-9]{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) bad(`size ${quoted(size)}`);
  const hash = fromBase64(root);
  if (hash === null || hash.length !== 32) bad(`root ${quoted(root)}`);
  if (extensions.includes('')) bad('an empty extension line');
  return { origin, size: Number(size), root: text256(hash), extensions };
}

/** Verifies a checkpoint under a log's key and origin. */
export async function verifyCheckpoint(bytes, key, origin) {
  const note = parseNote(bytes);
  const ours = note.signatures.filter((s) => s.name === key.name && s.id === key.id);
  if (ours.length === 0) refuse('LED-053', 'note', note.signatures.map((s) => s.name).join(', '), key.name);
  for (const { signature } of ours) {
    try {
      await verifyEd25519(key.key, utf8(note.text), signature);
    } catch (e) {
      if (e instanceof Refusal) refuse('LED-052', 'note', e.recorded, e.recomputed);
      throw e;
    }
  }
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint.origin !== origin) refuse('LED-054', 'checkpoint', checkpoint.origin, origin);
  return checkpoint;
}

// ---------------------------------------------------------------------- cosignatures (witness.md)

const COSIGNED_MOST = 253402300799; // 9999-12-31T23:59:59Z

/** When a witness cosigned a checkpoint: seconds since 1970, of its earliest line; null where it has none. */
export async function cosignedAt(bytes, witness) {
  const note = parseNote(bytes);
  parseCheckpoint(note.text);
  let earliest = null;
  for (const { name, id, signature } of note.signatures) {
    if (name !== witness.name || id !== witness.id) continue;
    if (signature.length !== 72) refuse('LED-052', `witness ${witness.name}`, `${signature.length} bytes`, '72 bytes');
    const time = signature.subarray(0, 8).reduce((sum, byte) => sum * 256 + byte, 0); // beyond 2^53 it is rounded, and refused
    if (time === 0 || time > COSIGNED_MOST) refuse('LED-056', `witness ${witness.name}`, time, 'a time from 1970 to 9999');
    try {
      await verifyEd25519(witness.key, utf8(`cosignature/v1\ntime ${time}\n${note.text}`), signature.subarray(8));
    } catch (e) {
      if (e instanceof Refusal) refuse('LED-052', `witness ${witness.name}`, e.recorded, e.recomputed);
      throw e;
    }
    earliest = Math.min(earliest ?? time, time);
  }
  return earliest;
}

// ------------------------------------------------------------------- forms of documents and of events

const scope = { tenant: name, run: name, subject: name };
const content = record({ digest, media_type: name, size: count });
const sizedInput = record({ digest, media_type: name, name, size: count });
const resourceMembers = { cpu_ms: count, memory_bytes: count, output_bytes: count, wall_ms: count };
const resources = record(resourceMembers);
const toolRef = record({ name, package: digest, version: name });

const effectForm = record({
  inputs: sorted(sizedInput, (input) => input.name),
  operation: name,
  params: anyObject,
  resources,
  sandbox: name,
  tool: name,
  version: name,
  workspace_before: optional(digest),
});

const delegationForm = record({
  depth: count,
  expires_at: time,
  from: keyId,
  not_before: time,
  tenant: name,
  to: keyId,
  tools: sorted(name),
});

const checkForm = record({
  check: oneOf('profile', 'prg', 'budget', 'temporal', 'envelope'),
  code: optional(name),
  detail: text,
  outcome: oneOf('pass', 'refuse', 'escalate', 'would_refuse', 'would_escalate', 'not_reached'),
});

const objection = record({ code: name, reason: text });

const ROLLOUT = ['draft', 'canary', 'active', 'deprecated', 'retired'];

/** What a stage found in place of what was expected: one of them. */
const observed = (value, place) => {
  record({ input: optional(text), snapshot: optional(digest), workspace: optional(digest) })(value, place);
  if (Object.keys(value).length !== 1) refuse('CAN-023', place, Object.keys(value).length, 'one member');
};

const canaryForm = (value, place) => {
  record({ by: optional(oneOf('subject')), percent: integer(0, 100), tenants: list(text) })(value, place);
  if (value.tenants.some((tenant, i) => i > 0 && !(value.tenants[i - 1] < tenant))) {
    refuse('CAN-023', `${place}/tenants`, quoted(value.tenants), 'sorted, each once');
  }
  return value;
};

const isTrue = (value, place) => {
  if (bool(value, place) !== true) refuse('CAN-023', place, false, 'true, or nothing');
  return value;
};

/** What governance says of a version of a tool (tool-governance.md). */
const governedForm = record({ canary: optional(canaryForm), package: digest, revoked: optional(isTrue), stage: oneOf(...ROLLOUT) });

/** By which the documents of governance name a package. */
const governedTool = { package: digest, tool: name, version: name };

const refusedMandate = record({ id: digest, refused: name });
const mandateTerms = record({
  amount_max: optional(count), amount_min: optional(count), currency: text, expires_at: time, id: digest, issuer: name,
  mandate: digest, payees: list(text), total: optional(count), uses: optional(count), vct: text,
});

/** The mandates that a judgement saw (mandate.md); where there are none, the member is left out. */
const seenMandates = (value, place) => {
  list((seen, at) => (anyObject(seen, at).refused === undefined ? mandateTerms : refusedMandate)(seen, at))(value, place);
  if (value.length === 0) refuse('CAN-023', place, 'empty', 'at least one, or no member');
  return value;
};

const inputsForm = record({
  approvals: list(record({ approver: name, expires_at: time, id: digest, kid: keyId, role: name, verdict: oneOf('APPROVE', 'REJECT') })),
  artifacts: list(record({ id: digest, signers: list(record({ kid: keyId, role: name, subject: name })), type: name })),
  balances: list(record({ budget: name, key: text, limit: optional(count), reserved: count, used: count, window_start: time })),
  charged: list(name),
  governed: optional(governedForm),
  history: list(record({ operation: name, succeeded: bool, tool: name })),
  ignored: list(record({ code: name, id: digest })),
  mandates: optional(seenMandates),
  nonce_seen: bool,
  owner: optional(name),
  profile: optional(record({ approvals: optional(record({ count, role: name })), beyond: optional(objection), profile: name, refusal: optional(objection) })),
  rates: list(record({ count, key: text, rate: name })),
  received_at: time,
  roles: list(name),
  step: count,
  time,
  valid_until: optional(time),
});

/** Who shares runs (policy.md, Runs). */
const runShare = (value, place) => {
  record({
    everybody: optional(isTrue),
    roles: optional(nonEmpty(names)),
    runs: optional(name),
    subjects: optional(nonEmpty(names)),
    surfaces: optional(nonEmpty(names)),
    tenant: name,
  })(value, place);
  if (('everybody' in value) === ('roles' in value || 'subjects' in value)) refuse('CAN-023', place, quoted(value), 'roles and subjects, or everybody');
  return value;
};

const CONTENT_CLASSES = ['outputs', 'artifacts', 'observations', 'inputs'];

/** Which contents lie under keys of their own; a bundle has them in the clear. */
const sealedContents = record({ by: oneOf('run', 'subject'), contents: (value, place) => classesOnce(value, place) });

const deletedContent = record({ class: oneOf(...CONTENT_CLASSES), digest, seq: count, size: count });

/** The contents of one statement (retention.md): 1 to 1024, by event, class and digest. */
const deletedContents = (value, place) => {
  list(deletedContent, 1024)(value, place);
  const before = (a, b) => a.seq - b.seq || (a.class === b.class ? (a.digest < b.digest ? -1 : 1) : a.class < b.class ? -1 : 1);
  const sorted = value.every((one, i) => i === 0 || (before(value[i - 1], one) < 0 && contentKey(value[i - 1].class, value[i - 1].seq, value[i - 1].digest) !== contentKey(one.class, one.seq, one.digest)));
  if (value.length === 0 || !sorted) refuse('CAN-023', place, value.length, '1 to 1024 contents, sorted, none twice');
  return value;
};

/** What a person can read, sorted (read-event.md). */
const READ_WORDS = ['bundles', 'observations', 'outputs', 'parameters', 'policy', 'reports'];

const readWords = (value, place) => {
  list(oneOf(...READ_WORDS))(value, place);
  if (value.length === 0 || !value.every((word, i) => i === 0 || value[i - 1] < word)) refuse('CAN-023', place, value.join(' '), 'at least one, sorted, none twice');
  return value;
};

const readEventForm = record({ id: optional(digest), method: name, policy: digest, read_at: time, run: optional(name), subject: name, tenant: name, what: readWords });

const contentKey = (of, seq, id) => `${of} ${seq} ${id}`;

const DAY_S = 86400;
const YEAR_S = 366 * DAY_S;

/** Names in the order of their UTF-16 units, each once. */
const names = sorted(name);

/** An object whose members are named by whoever wrote the policy. */
function mapOf(form) {
  return (value, place) => {
    for (const [key, item] of Object.entries(anyObject(value, place))) form(item, `${place}/${pointer(key)}`);
    return value;
  };
}

/** The same list, and something in it. */
function nonEmpty(form) {
  return (value, place) => {
    form(value, place);
    if (value.length === 0) refuse('CAN-023', place, '[]', 'at least one');
    return value;
  };
}

const ofTenant = (member) => (one) => `${one.tenant}\u0000${one[member]}`;
const matchForm = record({ role: optional(name), subject: optional(name), tenant: optional(name), tool: optional(name) });
const effectPattern = record({ operation: optional(name), tool: name });
const accountScope = oneOf('role', 'subject', 'tenant', 'tool');
const paramPointer = matching((v) => isName(v) && v.startsWith('/') && !/~(?![01])/.test(v), 'a JSON Pointer into the params');
const ASKED_DEPTH = 16;

const askedApprovals = record({ count: integer(1, 100), role: name });
const askedMandate = record({
  amount: paramPointer, currency: matching((v) => /^[A-Z]{3}$/.test(v) || (isName(v) && v.startsWith('/') && !/~(?![01])/.test(v)), 'a code such as EUR, or a JSON Pointer'),
  issuers: nonEmpty(names), payee: paramPointer, vct: name,
});

const askedArtifact = (value, place) => {
  record({ role: oneOf(...Object.keys(KINDS_OF_ROLE)), subject: optional(name), type: name })(value, place);
  if (!maySign(value.role, value.type)) refuse('CAN-023', `${place}/role`, value.role, `a role that signs ${value.type}`);
};

/** What below a node is of that kind, as far as it has to be brought: not of what must not hold. */
const askedBelow = (node, kind) => (node[kind] ? [node[kind]] : [...(node.all ?? []), ...(node.any ?? [])].flatMap((child) => askedBelow(child, kind)));

/** A node of what a rule requires (policy.md, Requirements). That an expression is one of CEL is not looked at. */
function requirement(value, place, depth = 0) {
  if (depth >= ASKED_DEPTH) refuse('CAN-023', place, depth, `nested less than ${ASKED_DEPTH} deep`);
  const children = nonEmpty(list((child, at) => requirement(child, at, depth + 1)));
  record({
    all: optional(children), any: optional(children), none: optional(children),
    approvals: optional(askedApprovals), artifact: optional(askedArtifact), cel: optional(text), mandate: optional(askedMandate),
  })(value, place);
  const kinds = Object.keys(value);
  if (kinds.length !== 1) refuse('CAN-023', place, kinds.join(' '), 'one member');
  for (const kind of ['approvals', 'mandate']) {
    if (value.none?.some((child) => askedBelow(child, kind).length > 0)) refuse('CAN-023', `${place}/none`, kind, `none that asks for ${kind}`);
  }
  return value;
}

const ruleForm = (value, place) => {
  record({ effect: effectPattern, match: matchForm, message: optional(line), require: requirement })(value, place);
  if (askedBelow(value.require, 'mandate').length > 1) refuse('CAN-023', `${place}/require`, 'several mandates', 'one');
  return value;
};

const WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const minuteOfDay = matching((v) => /^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$/.test(v), 'a time of day like 08:00');

const hoursForm = (value, place) => {
  record({ days: nonEmpty(list(oneOf(...WEEK))), from: minuteOfDay, match: matchForm, offset: matching((v) => v !== '-00:00' && /^[+-](?:(?:0[0-9]|1[0-7]):[0-5][0-9]|18:00)$/.test(v), 'an offset like +01:00'), to: minuteOfDay })(value, place);
  const days = value.days.map((day) => WEEK.indexOf(day));
  if (!days.every((day, i) => i === 0 || days[i - 1] < day)) refuse('CAN-023', `${place}/days`, value.days.join(' '), 'in the order of the week, each once');
  if (!(value.from < value.to)) refuse('CAN-023', `${place}/to`, value.to, `after ${value.from}`);
};

/** A folder of the workspace: relative, in its one form. */
const isFolder = (v) => v === '.' || (!/[\\\u0000-\u001f\u007f]/.test(v) && v.split('/').every((part) => !['', '.', '..'].includes(part)));
const namedFolder = matching((v) => isName(v) && isFolder(v), 'a folder of the workspace');
const isBelow = (path, folder) => folder === '.' || path === folder || path.startsWith(`${folder}/`);

const isAddress4 = (v) => /^[0-9]+(?:\.[0-9]+){3}$/.test(v) && v.split('.').every((part) => Number(part) <= 255);

function isAddress6(text) {
  const halves = text.split('::');
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const last = groups[groups.length - 1];
  const ends4 = last.length > 0 && isAddress4(last[last.length - 1]);
  const all = groups.flat();
  const bytes = 2 * all.length + (ends4 ? 2 : 0);
  return all.every((group, i) => /^[0-9a-f]{1,4}$/.test(group) || (ends4 && i === all.length - 1))
    && (halves.length === 1 ? bytes === 16 : halves.length === 2 && bytes < 16);
}

/** A host and a port, or a star for what is before the host: host.example.org:443, *.example.org:443. */
function isPlace(v) {
  const [, host, port] = /^(?:\*\.)?(.+):([1-9][0-9]{0,4})$/s.exec(v) ?? [];
  if (host === undefined || Number(port) > 65535) return false;
  if (host.startsWith('[')) return host.endsWith(']') && isAddress6(host.slice(1, -1));
  const labels = host.split('.');
  return isAddress4(host)
    || (labels.every((label) => /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(label)) && (labels.length === 1 || /^[a-z]/.test(labels[labels.length - 1])));
}
const namedPlace = matching((v) => isName(v) && isPlace(v), 'a place like api.example.org:443');
const program = matching((v) => /^[A-Za-z0-9_[][A-Za-z0-9._+-]{0,63}$/.test(v), 'the name of a program');

const isWithin = (one, most) => Object.keys(resourceMembers).every((key) => one[key] <= most[key]);

const roleForm = (value, place) => {
  record({
    commands: optional(nonEmpty(sorted(program))), declared: optional(resources), environment: names, network: sorted(namedPlace),
    paths: sorted(namedFolder), resources, sandboxes: names, tools: names,
  })(value, place);
  if (value.declared && !isWithin(value.declared, value.resources)) refuse('CAN-023', `${place}/declared`, quoted(value.declared), 'no more than the ceiling');
};

const isSecret = (v) => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(v);
const secretName = matching(isSecret, 'the name of a secret');

/** To whom a secret may be handed: always in a tenant, to a tool. */
const grantForm = record({ match: record({ role: optional(name), subject: optional(name), tenant: name, tool: name }), name: secretName });

const WAIVABLE = ['cpu-limit', 'disk-limit', 'distinct-uid', 'measured', 'memory-limit', 'pids-limit', 'tmp-noexec'];

const CLASSES = ['small', 'medium', 'large'];

const ceilingForm = record({
  languages: names, network: sorted(namedPlace), resource_class: oneOf(...CLASSES), secrets: optional(nonEmpty(sorted(secretName))), spawn: bool, workspace: bool,
});

const libraryForm = record({ digest, name, version: name });

/** The effect of a surface's request: what begins with one dollar sign in its params is one of these. */
const templateForm = (variables) => (value, place) => {
  record({ operation: name, params: anyObject, tool: name, version: name })(value, place);
  const unknown = (item) => (typeof item === 'string'
    ? /^\$(?!\$)/.test(item) && !variables.includes(item)
    : item !== null && typeof item === 'object' && Object.values(item).some(unknown));
  if (unknown(value.params)) refuse('CAN-023', `${place}/params`, quoted(value.params), variables.join(' or '));
};

/** A number of thousandths above zero. */
const thousandths = (value, place) => {
  if (typeof value !== 'number') refuse('CAN-022', place, quoted(value), 'a number');
  const milli = Math.ceil(value * 1000);
  if (!(milli >= 1 && milli <= Number.MAX_SAFE_INTEGER && milli / 1000 === value)) refuse('CAN-023', place, value, 'thousandths above zero');
};

/** The commands that the tool gateway admits (policy.md, Commands). */
const commandsForm = (value, place) => {
  record({
    effect: templateForm(['$argv', '$commands', '$cpu_milli', '$cwd', '$env', '$image']),
    images: mapOf(name),
    limits: optional(record({ pids: integer(4, 100000), tmp_mb: integer(1, MIB) })),
    output_bytes: integer(1),
    roles: mapOf(record({
      commands: names, environment: names, paths: optional(sorted(namedFolder)),
      limits: record({ cpu: thousandths, mem_mb: integer(1, 2 ** 32), timeout_sec: integer(1, 2 ** 40) }),
    })),
    sandbox: name,
    workspace_root: matching((v) => isName(v) && v.startsWith('/') && isFolder(v.slice(1)), 'an absolute path'),
    workspaces: optional(mapOf(namedFolder)),
  })(value, place);
  const folders = Object.values(value.workspaces ?? {}).sort();
  folders.forEach((folder, i) => folders.forEach((other, j) => {
    if (i !== j && isBelow(folder, other)) refuse('CAN-023', `${place}/workspaces`, folder, `none that is in ${other}`);
  }));
};

const uuid = matching((v) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(v), 'a UUID in lower case');
const ceiling = oneOf('restricted', 'default', 'privileged');
/** As Kubernetes writes amounts: above zero. */
const amount = matching((v) => /^(?=[0-9.]*[1-9])[0-9]{1,18}(?:\.[0-9]{1,9})?(?:[eE][0-9]{1,2}|[mkMGTPE]|[KMGTPE]i)?$/.test(v), 'an amount like 500m or 128Mi');

const targetForm = (value, place) => {
  record({ any: optional(isTrue), program: optional(name), text: optional(text) })(value, place);
  if (Object.keys(value).length !== 1) refuse('CAN-023', place, Object.keys(value).join(' '), 'one member');
};

/** The executions that the strict gateway admits (policy.md, Execute). */
const executeForm = (value, place) => {
  record({
    freshness_s: integer(1, DAY_S),
    intents: sorted(record({
      ceiling, effect: templateForm(['$target', '$argv', '$parameters', '$output_files', '$network', '$workspace_id', '$cpu_milli']),
      id: uuid, network: names, output_bytes: integer(1), resources: record({ cpu: amount, memory: amount, timeout_ms: integer(1) }),
      state: oneOf('open', 'closed'), targets: list(targetForm), tenant: name, version: name,
    }), ofTenant('id')),
    privileged: optional(askedApprovals),
    sandboxes: record({ default: optional(name), privileged: optional(name), restricted: optional(name) }),
    tenants: sorted(record({
      ceiling, id: uuid, subjects: sorted(record({ id: uuid, subject: name }), (one) => one.subject), tenant: name, workspaces: sorted(uuid),
    }), (one) => one.tenant),
  })(value, place);
  if (new Set(value.tenants.map((one) => one.id)).size < value.tenants.length) refuse('CAN-023', `${place}/tenants`, 'an id twice', 'each once');
};

const classForm = record({
  artifact_bytes: optional(integer(0, 2 ** 30)), artifacts: optional(integer(0, 10000)), artifacts_bytes: optional(integer(0, 2 ** 30)),
  cpu_ms: integer(1), file_bytes: optional(integer(MIB, 2 ** 40)), grace_ms: optional(integer(0, 60000)), memory_bytes: integer(1),
  output_bytes: count, pids: optional(integer(4, 100000)), tmp_bytes: optional(integer(4096, 2 ** 40)), wall_ms: integer(1, 1000 * DAY_S),
  workspace_bytes: optional(integer(MIB, 2 ** 40)),
});
const quota = { running: integer(0, 4096), weight: integer(1, 1000) };

/** How many effects run at once, and whose (policy.md, Engine). */
const engineForm = (value, place) => {
  record({
    classes: record({ large: classForm, medium: classForm, small: classForm }),
    flags: list(record({ enabled: bool, match: record({ category: optional(name), tenant: optional(name), tool: optional(name) }) })),
    queue: record({ length: integer(0, 100000), per_tenant: count, ttl_ms: integer(1, 3600000) }),
    quotas: record({ default: record(quota), tenants: sorted(record({ ...quota, tenant: name }), (one) => one.tenant) }),
    slots: integer(1, 4096),
  })(value, place);
  const { classes, queue } = value;
  if (queue.per_tenant > queue.length) refuse('CAN-023', `${place}/queue/per_tenant`, queue.per_tenant, `at most ${queue.length}`);
  for (const [less, more] of [['small', 'medium'], ['medium', 'large']]) {
    if (!isWithin(classes[less], classes[more])) refuse('CAN-023', `${place}/classes/${more}`, quoted(classes[more]), `no less than ${less}`);
  }
};

/** Accounts that every policy has (mandate.md). */
const MANDATE_ACCOUNTS = ['mandate/amount', 'mandate/uses'];

/** Who has to approve tools, and how many of them there are. */
const governanceForm = (value, place) => {
  record({
    approvals: mapOf(integer(1, 100)), approvers: mapOf(names), ceiling: optional(ceilingForm),
    libraries: optional(sorted(libraryForm, (one) => `${one.name}\u0000${one.version}\u0000${one.digest}`)), runtimes: bool, tools: names,
  })(value, place);
  const wanted = Object.entries(value.approvals);
  if (wanted.length === 0) refuse('CAN-023', `${place}/approvals`, '{}', 'at least one');
  for (const [role, count] of wanted) {
    const held = Object.values(value.approvers).filter((roles) => roles.includes(role)).length;
    if (held < count) refuse('CAN-023', `${place}/approvals/${pointer(role)}`, count, `at most ${held}, who hold it`);
  }
  const pattern = value.tools.find((tool) => /\*./.test(tool));
  if (pattern !== undefined) refuse('CAN-023', `${place}/tools`, quoted(pattern), 'a star at the end alone');
};

/** The public key of who issues mandates, and no member more. */
const issuerKey = (value, place) => within(place, () => {
  parseJwsKey(value);
  const members = value.kty === 'EC' ? ['crv', 'kty', 'x', 'y'] : ['crv', 'kty', 'x'];
  for (const key of Object.keys(value)) if (!members.includes(key)) absent(value[key], `/${pointer(key)}`);
});

const classesOnce = (value, place) => {
  nonEmpty(list(oneOf(...CONTENT_CLASSES)))(value, place);
  const order = value.map((one) => CONTENT_CLASSES.indexOf(one));
  if (!order.every((one, i) => i === 0 || order[i - 1] < one)) refuse('CAN-023', place, value.join(' '), `in the order of ${CONTENT_CLASSES.join(', ')}, each once`);
};

/** How long contents are kept (policy.md, Retention). */
const retentionRule = record({
  bytes_max: optional(count),
  contents: classesOnce,
  keep_s: integer(0, 100 * YEAR_S),
  match: record({ subject: optional(name), tenant: optional(name), tool: optional(name) }),
  name,
});

const retentionForm = (value, place) => {
  record({
    archive_after_s: optional(integer(0, 100 * YEAR_S)), every_s: optional(integer(60, YEAR_S)), rules: list(retentionRule),
    sealed: optional(sealedContents),
  })(value, place);
  if (new Set(value.rules.map((rule) => rule.name)).size < value.rules.length) refuse('CAN-023', `${place}/rules`, 'a name twice', 'each once');
};

/** That every name in a policy is defined (policy.md, 4). */
function definedNames(policy, place) {
  const tools = new Set(policy.tools.map((one) => one.name));
  const principals = new Set(policy.principals.map(ofTenant('subject')));
  const tenants = new Set(policy.principals.map((one) => one.tenant));
  const approving = new Set(policy.approvers.flatMap((one) => one.roles));
  const issuing = new Set((policy.mandates?.issuers ?? []).map((one) => one.name));
  const need = (holds, section, kind, named) => {
    if (!holds) refuse('GRD-510', `${place} /${section}`, `${kind} ${quoted(named)}`, 'one that is defined');
  };
  const role = (section, named) => need(Object.hasOwn(policy.roles, named), section, 'role', named);
  const tool = (section, named) => need(tools.has(named) || governs(policy, named), section, 'tool', named);
  const tenant = (section, named) => need(tenants.has(named), section, 'tenant', named);
  const principal = (section, of, subject) => need(principals.has(ofTenant('subject')({ tenant: of, subject })), section, 'principal', subject);
  const ofOperation = (named) => named.split('/', 1)[0];
  for (const one of policy.principals) for (const held of one.roles) role('principals', held);
  for (const one of policy.execute_for) role('execute_for', one);
  for (const one of Object.values(policy.roles)) for (const named of one.tools) tool('roles', ofOperation(named));
  const { hours, order, rates } = policy.temporal;
  for (const { match } of [...policy.budgets, ...rates, ...hours, ...policy.requirements, ...(policy.secrets ?? [])]) {
    if (match.role !== undefined) role('roles', match.role);
    if (match.tool !== undefined) tool('tools', match.tool);
  }
  for (const rule of policy.requirements) {
    tool('requirements', rule.effect.tool);
    for (const asked of askedBelow(rule.require, 'approvals')) need(approving.has(asked.role), 'requirements', 'approver role', asked.role);
    for (const asked of askedBelow(rule.require, 'mandate')) for (const one of asked.issuers) need(issuing.has(one), 'requirements', 'issuer', one);
  }
  for (const named of Object.keys(policy.prices)) tool('prices', ofOperation(named));
  for (const one of order) for (const named of [one.effect.tool, one.after.tool]) tool('temporal', named);
  for (const one of policy.mandates?.issuers ?? []) tenant('mandates', one.tenant);
  for (const share of policy.runs?.shared_by ?? []) {
    for (const one of share.roles ?? []) role('runs', one);
    for (const subject of share.subjects ?? []) principal('runs', share.tenant, subject);
  }
  for (const one of policy.storage?.put_by ?? []) role('storage', one);
  const template = (section, effect) => need(listed(policy, effect.tool, effect.version) || governs(policy, effect.tool), section, 'tool', `${effect.tool} ${effect.version}`);
  const { commands, engine, execute } = policy;
  if (execute) {
    for (const one of execute.tenants) for (const { subject } of one.subjects) principal('execute', one.tenant, subject);
    for (const one of execute.intents) {
      need(execute.tenants.some(({ tenant: known }) => known === one.tenant), 'execute', 'tenant', one.tenant);
      template('execute', one.effect);
    }
    if (execute.privileged) need(approving.has(execute.privileged.role), 'execute', 'approver role', execute.privileged.role);
  }
  if (commands) {
    for (const one of Object.keys(commands.roles)) role('commands', one);
    for (const one of Object.keys(commands.workspaces ?? {})) tenant('commands', one);
    template('commands', commands.effect);
  }
  if (engine) {
    for (const one of engine.quotas.tenants) tenant('engine', one.tenant);
    for (const { match } of engine.flags) {
      if (match.tenant !== undefined) tenant('engine', match.tenant);
      if (match.tool !== undefined) tool('engine', match.tool);
    }
  }
}

/**
 * The tools that roles name, as sets of their numbers: of many as bits, 32 in a word, and of few as a list, so that all of them
 * together are as large as the policy is, and a union takes no longer than the smaller of both.
 */
function toolsOfRoles(policy) {
  const numbers = new Map();
  const lists = new Map();
  for (const [role, { tools }] of Object.entries(policy.roles)) {
    const named = new Set(tools.map((one) => one.split('/', 1)[0]));
    for (const tool of named) if (!numbers.has(tool)) numbers.set(tool, numbers.size);
    lists.set(role, Uint32Array.from(named, (tool) => numbers.get(tool)));
  }
  const words = Math.ceil(numbers.size / 32);
  const set = (bits, list) => {
    for (const number of list) bits[number >>> 5] |= 1 << (number & 31);
    return bits;
  };
  const dense = new Map();
  for (const [role, list] of lists) if (list.length > words) dense.set(role, set(new Uint32Array(words), list));
  return {
    names: [...numbers.keys()],
    /** Of all of these roles. */
    union: (roles) => {
      const all = new Uint32Array(words);
      for (const role of roles) {
        const bits = dense.get(role);
        if (bits === undefined) set(all, lists.get(role));
        else for (let i = 0; i < words; i++) all[i] |= bits[i];
      }
      return all;
    },
    /** Of these names, those that a role has; all of them for null. */
    named: (tools) => (tools === null ? new Uint32Array(words).fill(0xffffffff) : set(new Uint32Array(words), [...tools].map((one) => numbers.get(one)).filter((one) => one !== undefined))),
  };
}

/** That what a principal may use is counted by a budget in calls, and has a price where its cost is counted (policy.md, 5). */
function countedCalls(policy, place) {
  const { names, union, named } = toolsOfRoles(policy);
  const priced = named(Object.keys(policy.prices));
  for (const { tenant, subject, roles } of policy.principals) {
    // Who wrote a policy may be hostile: each budget is looked at once for a principal, and tools are counted by sets; null stands for any tool.
    const held = new Set(roles);
    const counting = { calls: new Set(), cost: new Set() };
    for (const { match, unit } of policy.budgets) {
      const applies = (match.tenant ?? tenant) === tenant && (match.subject ?? subject) === subject && (match.role === undefined || held.has(match.role));
      if (applies) counting[unit]?.add(match.tool ?? null);
    }
    const [calls, cost] = [counting.calls, counting.cost].map((tools) => named(tools.has(null) ? null : tools));
    const usable = union(held);
    for (let i = 0; i < usable.length; i++) {
      const faulty = usable[i] & (~calls[i] | (cost[i] & ~priced[i]));
      if (faulty === 0) continue;
      const bit = 31 - Math.clz32(faulty);
      const tool = names[i * 32 + bit];
      if ((calls[i] >>> bit) & 1) refuse('GRD-511', `${place} /prices`, quoted(tool), 'a price, as a budget counts its cost');
      refuse('GRD-511', `${place} /budgets`, `${quoted(tool)} for ${quoted(subject)}`, 'a budget in calls that covers it');
    }
  }
}

const FORMS = {
  request: record({
    ...scope,
    consumes: list(digest),
    context: anyObject,
    delegations: list(anything),
    effect: effectForm,
    evidence: list(digest),
    idempotency_key: optional(name),
    nonce: name,
    origin: optional(record({ execution: optional(name), method: name, principal: name, raw: digest, roles: optional(list(name)), run: optional(name), surface: name })),
    requested_at: time,
    retention: oneOf('keep', 'drop-output'),
  }),
  approval: record({
    approved_at: time,
    approver: name,
    effect: digest,
    expires_at: time,
    policy: digest,
    reason: optional(line),
    request: digest,
    role: name,
    tenant: name,
    verdict: oneOf('approve', 'reject'),
  }),
  decision: record({
    ...scope,
    checks: list(checkForm),
    code: optional(name),
    decided_at: time,
    effect: digest,
    holder: keyId,
    inputs: inputsForm,
    observed: optional(record({ code: optional(name), verdict: oneOf('ALLOW', 'DENY', 'ESCALATE') })),
    policy: digest,
    request: digest,
    snapshot: digest,
    supersedes: optional(digest),
    verdict: oneOf('ALLOW', 'DENY', 'ESCALATE'),
  }),
  intent: record({
    ...scope,
    audience: record({ epoch: optional(integer(1)), incarnation: integer(1), origin: name }),
    decision: digest,
    effect: digest,
    expires_at: time,
    holder: keyId,
    issued_at: time,
    prng_seed: seed,
    request: digest,
    tool: toolRef,
  }),
  refusal: record({
    ...scope,
    code: name,
    decision: digest,
    found: text,
    intent: digest,
    observed: optional(observed),
    refused_at: time,
    request: digest,
    stage: oneOf('gate', 'snapshot', 'prepare'),
  }),
  receipt: record({
    ...scope,
    args_hash: digest,
    artifacts: list(record({ content, name })),
    code: optional(name),
    decision: digest,
    effect: digest,
    finished_at: time,
    intent: digest,
    lamport: integer(1),
    message: matching((v) => v.length <= 501, 'at most 501 characters'),
    observations: optional(digest),
    output: optional(content),
    prev: digest,
    prng_seed: seed,
    raw_output: optional(content),
    reason: name,
    region: optional(region),
    request: digest,
    retained: bool,
    snapshot: digest,
    started_at: time,
    status: oneOf('succeeded', 'failed', 'timed_out', 'killed', 'in_doubt'),
    tool: toolRef,
    workspace_after: optional(digest),
    workspace_before: optional(digest),
  }),
  resolution: record({
    evidence: list(digest),
    found: oneOf('happened', 'did-not-happen', 'cannot-be-known'),
    note: text,
    receipt: digest,
    resolved_at: time,
    tenant: name,
  }),
  'run-close': record({ requested_at: time, run: name, tenant: name }),
  'run-closing': record({
    events: count,
    last_receipt: digest,
    receipts: count,
    request: digest,
    run: name,
    run_hash: digest,
    tenant: name,
  }),
  'system-change': record({
    changed_at: time,
    detail: anyObject,
    kind: oneOf(
      'key.enrolled', 'key.revoked', 'tool.revoked', 'tool.validated', 'tool.staged',
      'runtime.approved', 'runtime.withdrawn', 'hold.placed', 'hold.released', 'contents.erased', 'tenant.placed', 'tenant.moved',
      'cell.placed', 'ledger.incarnated', 'clock.corrected',
    ),
  }),
  deletion: (value, place) => {
    const { order, bundle } = anyObject(value, place);
    const reason = order !== undefined ? { order: digest } : bundle !== undefined ? { bundle: digest, policy: digest } : { policy: digest, rule: name };
    return record({ contents: deletedContents, deleted_at: time, ...reason, run: name, tenant: name })(value, place);
  },
  'read-event': (value, place) => {
    readEventForm(value, place);
    if (!('run' in value) && !('id' in value)) refuse('CAN-020', place, null, 'run or id');
    // A policy is of no run, and is read by itself.
    if (value.what.includes('policy') && (value.what.length > 1 || 'run' in value)) refuse('CAN-023', place, value.what.join(' '), 'policy alone, of no run');
    return value;
  },
  'tool-submission': record({ ...governedTool, submitted_at: time }),
  'tool-approval': record({ ...governedTool, approved_at: time, approver: name, role: name, verdict: oneOf('approve', 'reject') }),
  // Its form; definedNames looks at names, countedCalls at limits. Expressions are judged by the first verifier.
  policy: record({
    approvers: sorted(record({ roles: names, subject: name, tenant: name }), ofTenant('subject')),
    budgets: sorted(record({
      limit: (value, place) => (value === 'unlimited' ? value : count(value, place)),
      match: matchForm, name: matching((v) => isName(v) && !MANDATE_ACCOUNTS.includes(v), 'no account of mandates'), scope: accountScope, unit: oneOf('calls', 'cpu_ms', 'cost'), window_s: integer(1, YEAR_S),
    }), (budget) => budget.name),
    commands: optional(commandsForm),
    engine: optional(engineForm),
    execute: optional(executeForm),
    execute_for: names,
    governance: optional(governanceForm),
    limits: record({
      clock_idle_max_s: optional(integer(1, 3660 * DAY_S)), clock_step_max_s: optional(integer(1, 31 * DAY_S)),
      pending_max_s: integer(10, YEAR_S), request_age_max_s: integer(1, DAY_S), request_bytes_max: integer(1, 16 * MIB),
    }),
    mandates: optional(record({
      audience: name,
      issuers: sorted(record({ iss: optional(name), key: issuerKey, name, tenant: name }), ofTenant('name')),
    })),
    mode: optional(oneOf('observe')),
    name,
    people: optional(nonEmpty(sorted(record({ roles: sorted(oneOf('approver', 'auditor', 'developer', 'operator', 'viewer')), subject: name, tenant: name }), ofTenant('subject')))),
    previous: optional(digest),
    prices: mapOf(count),
    principals: sorted(record({ roles: names, subject: name, surfaces: names, tenant: name }), ofTenant('subject')),
    reads: optional(nonEmpty(sorted(record({ tenant: name, what: readWords }), (one) => one.tenant))),
    requirements: list(ruleForm),
    retention: optional(retentionForm),
    revoked: sorted(digest),
    roles: mapOf(roleForm),
    runs: optional(record({ idle_max_s: integer(1, YEAR_S), life_max_s: optional(integer(1, YEAR_S)), shared_by: optional(nonEmpty(sorted(runShare, (share) => DECODER.decode(writeJson(share))))) })),
    sandbox: optional(record({ waived: sorted(oneOf(...WAIVABLE)) })),
    secrets: optional(nonEmpty(sorted(grantForm, (grant) => `${grant.name}\u0000${DECODER.decode(writeJson(grant.match))}`))),
    storage: optional(record({ bytes_max: integer(0, 2 ** 50), put_by: optional(names), unnamed_s: integer(60, YEAR_S) })),
    temporal: record({
      hours: list(hoursForm),
      order: list(record({ after: record({ operation: name, tool: name }), effect: effectPattern })),
      rates: sorted(record({ limit: count, match: matchForm, name, per_s: integer(1, DAY_S), scope: accountScope }), (rate) => rate.name),
    }),
    tools: sorted(record({ name, package: digest, stage: name, version: name }), (tool) => `${tool.name}\u0000${tool.version}`),
    version: integer(1),
    writ_policy: integer(1, 1),
  }),
};

const eventForm = record({
  at: time,
  body: digest,
  kind: name,
  prev: optional(digest),
  prng_seed: optional(seed),
  run: name,
  seq: count,
  tenant: name,
});

/** An event of its canonical line (journal.md), with its id. */
export function parseEvent(bytes, place = 'event') {
  return within(place, () => {
    const event = eventForm(parseCanonical(bytes), '');
    if (('prev' in event) === (event.seq === 0)) refuse('CAN-023', '/prev', event.prev ?? null, 'absent for seq 0 alone');
    return { ...event, id: digestOf(bytes), bytes };
  });
}

const DOCUMENT_OF_EVENT = {
  'request.received': 'request',
  'approval.received': 'approval',
  'decision.made': 'decision',
  'intent.issued': 'intent',
  'effect.refused': 'refusal',
  'effect.dispatched': 'intent',
  'receipt.signed': 'receipt',
  'doubt.resolved': 'resolution',
  'run.closed': 'run-closing',
  'key.enrolled': 'system-change',
  'key.revoked': 'system-change',
  'tool.submitted': 'tool-submission',
  'tool.validated': 'system-change',
  'tool.approved': 'tool-approval',
  'tool.staged': 'system-change',
  'tool.revoked': 'system-change',
  'runtime.approved': 'system-change',
  'runtime.withdrawn': 'system-change',
  'hold.placed': 'system-change',
  'contents.erased': 'system-change',
  'hold.released': 'system-change',
  'tenant.placed': 'system-change',
  'tenant.moved': 'system-change',
  'cell.placed': 'system-change',
  'content.deleted': 'deletion',
  'content.read': 'read-event',
  'ledger.incarnated': 'system-change',
  'clock.corrected': 'system-change',
  'policy.activated': 'policy',
};
const SYSTEM_KINDS = [
  'key.enrolled', 'key.revoked', 'policy.activated', 'tool.submitted', 'tool.validated', 'tool.approved',
  'tool.staged', 'tool.revoked', 'runtime.approved', 'runtime.withdrawn', 'hold.placed', 'hold.released', 'contents.erased',
  'tenant.placed', 'tenant.moved', 'cell.placed', 'ledger.incarnated', 'clock.corrected',
];

/** The seed of an effect (runs.md, 2). */
export function effectSeed(runSeed, decision) {
  return toHex(hkdf32(fromHex(runSeed), concat(utf8('writ/seed/v1'), digestBytes(decision))));
}

// ------------------------------------------------------------------------------ the archive (bundle.md)

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

const crcOn = (c, bytes) => {
  for (let i = 0; i < bytes.length; i++) c = (c >>> 8) ^ CRC_TABLE[(c ^ bytes[i]) & 0xff];
  return c;
};

export function crc32(bytes) {
  return ~crcOn(-1, bytes) >>> 0;
}

const WINDOW = 1 << 14;
const AT_ONCE = 64 << 20;
const PIECE = 1 << 16;

/**
 * Reads a file by range: its bytes, or `{length, read(at, count)}`, which gives a new Uint8Array of so
 * many bytes. Nothing of a file that is read so stays in memory; it must not change meanwhile.
 */
class Reader {
  constructor(file) {
    this.file = file;
    this.length = file.length;
    this.whole = file instanceof Uint8Array ? file : null;
    this.window = new Uint8Array(0);
    this.from = 0;
  }

  /** The bytes of a range that lies within the file. */
  bytes(at, count) {
    if (this.whole) return this.whole.subarray(at, at + count);
    if (count > WINDOW) return this.read(at, count);
    if (at < this.from || at + count > this.from + this.window.length) {
      this.window = this.read(at, Math.min(WINDOW, this.length - at));
      this.from = at;
    }
    return this.window.slice(at - this.from, at - this.from + count);
  }

  /** The byte at a place within the file. */
  byte(at) {
    if (this.whole) return this.whole[at];
    if (at < this.from || at >= this.from + this.window.length) this.bytes(at, 1);
    return this.window[at - this.from];
  }

  read(at, count) {
    if (count > AT_ONCE) refuse('RPL-012', `byte ${at}`, `${count} bytes`, `at most ${AT_ONCE} in one piece`);
    const bytes = this.file.read(at, count);
    if (bytes.length !== count) refuse('RPL-011', `byte ${at}`, `${bytes.length} bytes`, `${count} bytes`);
    return bytes;
  }

  /** Hands on a range in pieces. */
  pieces(at, count, take) {
    for (let done = 0; done < count; done += PIECE) take(this.bytes(at + done, Math.min(PIECE, count - done)));
  }
}

const PAGE_BITS = 14;
const PAGE_NUMBERS = 1 << PAGE_BITS;

/** Numbers of 32 bits that are added one by one, in pages, so that nothing is copied when they are many. */
class Numbers {
  constructor() {
    this.pages = [];
    this.length = 0;
  }

  push(value) {
    if (this.length % PAGE_NUMBERS === 0) this.pages.push(new Uint32Array(PAGE_NUMBERS));
    this.pages[this.length >>> PAGE_BITS][this.length % PAGE_NUMBERS] = value;
    this.length++;
  }

  at(i) {
    return this.pages[i >>> PAGE_BITS][i % PAGE_NUMBERS];
  }
}

const HALF = 2 ** 32;

/** Increasing numbers up to 2^53 in four bytes each: the lower half of each, and where the upper half changes. */
class Increasing {
  constructor() {
    this.lower = new Numbers();
    this.firsts = []; // the first number of each upper half that there is
    this.uppers = [];
  }

  get length() {
    return this.lower.length;
  }

  push(value) {
    const upper = Math.floor(value / HALF);
    if (upper !== (this.uppers.at(-1) ?? 0)) {
      this.firsts.push(this.length);
      this.uppers.push(upper);
    }
    this.lower.push(value % HALF);
  }

  at(i) {
    let low = 0;
    let high = this.firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.firsts[middle] <= i) low = middle + 1;
      else high = middle;
    }
    return (low === 0 ? 0 : this.uppers[low - 1]) * HALF + this.lower.at(i);
  }
}

/** Numbers in ranges that increase: those from a first one on, so many of them, one after the other. */
class Ranges {
  constructor() {
    this.length = 0;
    this.places = new Increasing(); // of the first number of each range
    this.firsts = new Increasing();
  }

  push(first, many) {
    this.places.push(this.length);
    this.firsts.push(first);
    this.length += many;
  }

  at(i) {
    let low = 0;
    let high = this.places.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.places.at(middle) <= i) low = middle;
      else high = middle - 1;
    }
    return this.firsts.at(low) + i - this.places.at(low);
  }
}

const DIGEST_WORDS = 8;
const PROBES = 64; // places that are looked at for one digest; those of real digests are found in a few

/** Digests in some 45 bytes each, each added once. Those that were made up to have one place are kept by their text. */
class Digests {
  constructor() {
    this.words = new Numbers();
    this.places = new Uint32Array(16); // open addressing: numbers plus one
    this.crowded = new Set(); // those that found no place nearby
    this.size = 0;
  }

  add(digest) {
    const words = this.wordsOf(digest);
    words.forEach((word) => this.words.push(word));
    this.put(this.placeOf(words), digest, ++this.size);
    if (2 * this.size > this.places.length) this.grow();
  }

  put(place, digest, number) {
    if (place < 0) this.crowded.add(digest);
    else this.places[place] = number;
  }

  has(digest) {
    const place = this.placeOf(this.wordsOf(digest));
    return place < 0 ? this.crowded.has(digest) : this.places[place] !== 0;
  }

  wordsOf(digest) {
    const hex = hexOf(digest);
    return Array.from({ length: DIGEST_WORDS }, (_, i) => parseInt(hex.slice(8 * i, 8 * i + 8), 16));
  }

  *[Symbol.iterator]() {
    for (let number = 0; number < this.size; number++) yield this.textOf(this.wordsAt(number));
  }

  wordsAt(number) {
    return Array.from({ length: DIGEST_WORDS }, (_, i) => this.words.at(number * DIGEST_WORDS + i));
  }

  textOf(words) {
    return `sha256:${words.map((word) => word.toString(16).padStart(8, '0')).join('')}`;
  }

  /** Where it is, or would be; -1 where others have all of the places nearby. */
  placeOf(words) {
    const mask = this.places.length - 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const place = (words[0] + probe) & mask;
      if (this.places[place] === 0 || this.isAt(this.places[place] - 1, words)) return place;
    }
    return -1;
  }

  isAt(number, words) {
    return words.every((word, i) => this.words.at(number * DIGEST_WORDS + i) === word);
  }

  grow() {
    this.places = new Uint32Array(2 * this.places.length);
    this.crowded.clear();
    for (let number = 0; number < this.size; number++) {
      const words = this.wordsAt(number);
      this.put(this.placeOf(words), this.textOf(words), number + 1);
    }
  }
}

const BLOB_NAME = 'blobs/'.length + 64;
const DOCUMENT_NAME = 'documents/'.length + 64 + '.json'.length;
const keyOf = (hex) => parseInt(hex.slice(0, 8), 16);

/**
 * The entries of an archive, in the order of their names. Of each it keeps where it is; of a blob and a
 * document besides the first 32 bits of the digest in its name, by which it is found. The few others are
 * found by name; of names that no bundle has, only the first is kept.
 */
class Entries {
  constructor(file) {
    this.reader = new Reader(file);
    this.headers = new Increasing(); // and last the directory
    this.keys = new Numbers(); // of others the length of the name
    this.named = new Map(); // others by name
    this.unknown = null;
    this.blobs = { first: 0, last: 0 };
    this.documents = { first: 0, last: 0 };
  }

  get size() {
    return this.keys.length;
  }

  add(named, header) {
    const i = this.size;
    const match = PLACES.exec(named);
    const digest = match?.[1] ?? match?.[2];
    if (digest) {
      const range = match[1] ? this.blobs : this.documents;
      if (range.last === 0) range.first = i;
      range.last = i + 1;
    } else if (match || named === CONSISTENCY || SINGLE.includes(named)) {
      this.named.set(named, i);
    } else {
      this.unknown = this.unknown ?? named; // without ??=, so that an old Node parses this and is told its version
    }
    this.headers.push(header);
    this.keys.push(digest ? keyOf(digest) : named.length);
  }

  /** Where no name is unknown: such names could be anywhere. */
  nameLength(i) {
    const { blobs, documents } = this;
    if (i >= blobs.first && i < blobs.last) return BLOB_NAME;
    return i >= documents.first && i < documents.last ? DOCUMENT_NAME : this.keys.at(i);
  }

  nameAt(i) {
    return String.fromCharCode(...this.reader.bytes(this.headers.at(i) + 30, this.nameLength(i)));
  }

  start(i) {
    return this.headers.at(i) + 30 + this.nameLength(i);
  }

  sizeAt(i) {
    return this.headers.at(i + 1) - this.start(i);
  }

  bytesAt(i) {
    return this.reader.bytes(this.start(i), this.sizeAt(i));
  }

  /** The digest of a content, which can be larger than what one piece of memory can hold. */
  async digestAt(i) {
    if (this.sizeAt(i) <= AT_ONCE) return digestOfLarge(this.bytesAt(i));
    const state = Int32Array.from(H256);
    let rest = null;
    this.reader.pieces(this.start(i), this.sizeAt(i), (bytes) => {
      rest = blocks256(state, bytes);
    });
    return text256(end256(state, rest, this.sizeAt(i)));
  }

  /** Where an entry is; -1 where there is none. */
  find(named) {
    const match = PLACES.exec(named);
    const digest = match?.[1] ?? match?.[2];
    if (!digest) return this.named.get(named) ?? -1;
    const range = match[1] ? this.blobs : this.documents;
    const key = keyOf(digest);
    let low = range.first;
    let high = range.last;
    // Whoever made the names up can have given many of them one key, so names of one key are compared, too.
    while (low < high) {
      const middle = (low + high) >>> 1;
      const own = this.keys.at(middle);
      if (own < key || (own === key && this.nameAt(middle) < named)) low = middle + 1;
      else high = middle;
    }
    return low < range.last && this.keys.at(low) === key && this.nameAt(low) === named ? low : -1;
  }

  has(named) {
    return this.find(named) >= 0;
  }

  get(named) {
    const i = this.find(named);
    return i < 0 ? undefined : this.bytesAt(i);
  }

  *[Symbol.iterator]() {
    for (let i = 0; i < this.size; i++) yield [this.nameAt(i), this.bytesAt(i)];
  }
}

const ENTRIES_MOST = 2 ** 24;
const BYTES_MOST = 2 ** 40;
const ZIP64 = 0xffffffff; // numbers from here on have their place in a ZIP64 field or record
const COUNT_ZIP64 = 0xffff;
const CONTENT_MOST = ZIP64 - 1;
const NAME_BYTES = 2048;
const NAME_PARTS = 16;
const DOS_DATE = 0x21; // 1980-01-01
const LOCAL = 0x04034b50;
const END = 0x06054b50;
const END_BYTES = 22;

/** A name that a bundle may have: relative, ASCII, no part of which begins with a dot. */
function checkEntryName(bytes, place) {
  const text = Array.from(bytes, (b) => String.fromCharCode(b)).join('');
  const parts = text.split('/');
  const fits = parts.length <= NAME_PARTS && parts.every((part) => /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/.test(part));
  if (!fits) refuse('RPL-013', place, quoted(text), 'a relative name of plain parts');
  return text;
}

/** The fields of a local or a central header, from signature to the two lengths. */
function header(view, at, central) {
  const u16 = (o) => view.getUint16(at + o, true);
  const u32 = (o) => view.getUint32(at + o, true);
  const o = central ? 2 : 0;
  return {
    fixed: [u16(4 + o), u16(6 + o), u16(8 + o), u16(10 + o), u16(12 + o)].join(),
    crc: u32(14 + o),
    packed: u32(18 + o),
    size: u32(22 + o),
    name: u16(26 + o),
    extra: u16(28 + o),
  };
}

const FIXED = [10, 0, 0, 0, DOS_DATE].join();

/**
 * The entries of a bundle by name, of a file that is in the one form of bundle.md. Every byte of it
 * is accounted for: what follows the entries must be what they give.
 */
export function readArchive(file, { checksums = true } = {}) {
  if (file.length > BYTES_MOST) refuse('RPL-012', 'archive', file.length, BYTES_MOST);
  const entries = new Entries(file);
  const reader = new Reader(file);
  let at = 0;
  let last = null;
  const need = (bytes, place) => {
    if (at + bytes > file.length) refuse('RPL-011', place, `${file.length} bytes`, `at least ${at + bytes}`);
  };
  const signature = (from) => viewOf(reader.bytes(from, 4)).getUint32(0, true);
  need(END_BYTES, 'archive');
  if (signature(0) !== LOCAL) refuse('RPL-010', 'byte 0', signature(0).toString(16), LOCAL.toString(16));
  const end = signature(file.length - END_BYTES);
  if (end !== END) refuse('RPL-011', 'the end record', end.toString(16), END.toString(16));
  while (signature(at) === LOCAL) {
    const place = `entry at byte ${at}`;
    need(30, place);
    const h = header(viewOf(reader.bytes(at, 30)), 0, false);
    need(30 + h.name, place);
    if (h.name > NAME_BYTES) refuse('RPL-013', place, `${h.name} bytes`, `at most ${NAME_BYTES}`);
    const entry = checkEntryName(reader.bytes(at + 30, h.name), place);
    if (last === entry) refuse('RPL-014', entry, entry, 'each name once');
    if (last !== null && !(last < entry)) refuse('RPL-010', entry, entry, `after ${last}`);
    if (h.fixed !== FIXED || h.extra !== 0) refuse('RPL-010', entry, `${h.fixed}, extra ${h.extra}`, `${FIXED}, extra 0`);
    need(30 + h.name + h.size, entry);
    if (h.size > CONTENT_MOST) refuse('RPL-012', entry, h.size, `at most ${CONTENT_MOST}`);
    if (h.packed !== h.size) refuse('RPL-010', entry, `${h.packed} of ${h.size}`, 'stored');
    if (checksums) {
      let c = -1;
      reader.pieces(at + 30 + h.name, h.size, (bytes) => {
        c = crcOn(c, bytes);
      });
      const crc = ~c >>> 0;
      if (crc !== h.crc) refuse('RPL-015', entry, h.crc.toString(16), crc.toString(16));
    }
    entries.add(entry, at);
    if (entries.size > ENTRIES_MOST) refuse('RPL-012', entry, entries.size, ENTRIES_MOST);
    last = entry;
    at += 30 + h.name + h.size;
    need(4, `byte ${at}`);
  }
  entries.headers.push(at);
  checkTail(file, at, entries);
  return entries;
}

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** With a ZIP64 field where the offset needs it. */
function centralHeader({ crc, size }, nameBytes, offset) {
  const zip64 = offset >= ZIP64;
  const version = zip64 ? 45 : 10;
  const out = new Uint8Array(46 + nameBytes.length + (zip64 ? 12 : 0));
  const view = viewOf(out);
  view.setUint32(0, 0x02014b50, true);
  [version, version, 0, 0, 0, DOS_DATE].forEach((v, i) => view.setUint16(4 + 2 * i, v, true));
  [crc, size, size].forEach((v, i) => view.setUint32(16 + 4 * i, v, true));
  view.setUint16(28, nameBytes.length, true);
  view.setUint16(30, zip64 ? 12 : 0, true);
  view.setUint32(42, Math.min(offset, ZIP64), true);
  out.set(nameBytes, 46);
  if (zip64) {
    view.setUint16(46 + nameBytes.length, 1, true);
    view.setUint16(48 + nameBytes.length, 8, true);
    view.setBigUint64(50 + nameBytes.length, BigInt(offset), true);
  }
  return out;
}

/** What follows the directory of so many entries, which begins and ends there. */
export function endRecords(count, start, end) {
  const size = end - start;
  const zip64 = count >= COUNT_ZIP64 || size >= ZIP64 || start >= ZIP64;
  const out = new DataView(new ArrayBuffer(zip64 ? 76 + END_BYTES : END_BYTES));
  if (zip64) {
    out.setUint32(0, 0x06064b50, true);
    out.setBigUint64(4, 44n, true);
    out.setUint16(12, 45, true);
    out.setUint16(14, 45, true);
    [count, count, size, start].forEach((v, i) => out.setBigUint64(24 + 8 * i, BigInt(v), true));
    out.setUint32(56, 0x07064b50, true);
    out.setBigUint64(64, BigInt(end), true);
    out.setUint32(72, 1, true);
  }
  const record = out.byteLength - END_BYTES;
  out.setUint32(record, END, true);
  out.setUint16(record + 8, Math.min(count, COUNT_ZIP64), true);
  out.setUint16(record + 10, Math.min(count, COUNT_ZIP64), true);
  out.setUint32(record + 12, Math.min(size, ZIP64), true);
  out.setUint32(record + 16, Math.min(start, ZIP64), true);
  return new Uint8Array(out.buffer);
}

/** The central directory and the end records, byte by byte as the entries give them. */
function checkTail(file, start, entries) {
  let at = start;
  const reader = new Reader(file);
  const expect = (bytes, place) => {
    const found = reader.bytes(at, Math.min(bytes.length, file.length - at));
    for (let i = 0; i < bytes.length; i++) {
      if (i >= found.length) refuse('RPL-011', place, `${file.length} bytes`, `at least ${at + bytes.length}`);
      if (found[i] !== bytes[i]) refuse('RPL-010', `${place}, byte ${at + i}`, HEX[found[i]], HEX[bytes[i]]);
    }
    at += bytes.length;
  };
  for (let i = 0; i < entries.size; i++) {
    const offset = entries.headers.at(i);
    const h = header(viewOf(entries.reader.bytes(offset, 30)), 0, false);
    expect(centralHeader(h, entries.reader.bytes(offset + 30, h.name), offset), 'central directory');
  }
  expect(endRecords(entries.size, start, at), 'end of central directory');
  if (at !== file.length) refuse('RPL-010', `byte ${at}`, `${file.length - at} bytes more`, 'nothing');
}

// ------------------------------------------------------------------- the parts of a bundle (bundle.md)

const MANIFEST = 'bundle.json';
const JOURNALS = { consumed: 'journal/consumed.jsonl', run: 'journal/run.jsonl', system: 'journal/system.jsonl' };
const CHECKPOINT = 'log/checkpoint.txt';
const CONSISTENCY = 'log/consistency.json';
const INCLUSION = 'log/inclusion.json';
const TRUST = 'trust.jwks';
const hexOf = (digest) => digest.slice(7);

const manifestForm = record({
  blobs: oneOf('included', 'left-out'),
  format: integer(2, 2),
  incarnation: integer(1),
  origin: name,
  run: name,
  size: count,
  state: oneOf('open', 'closed'),
  tenant: name,
  tools: oneOf('included', 'left-out'),
});

function readManifest(entries) {
  const bytes = entry(entries, MANIFEST);
  const value = within(MANIFEST, () => parseCanonical(bytes));
  if (isObject(value) && 'format' in value && value.format !== 2) refuse('RPL-020', `${MANIFEST} /format`, quoted(value.format), 2);
  return within(MANIFEST, () => manifestForm(value, ''));
}

/** In bytes; what else is in an archive has its own bounds. */
const ENTRY_MOST = { [MANIFEST]: 64 << 10, [CHECKPOINT]: NOTE_BYTES, [CONSISTENCY]: 64 << 10 };

function entry(entries, named) {
  return entries.bytesAt(requireEntry(entries, named));
}

function requireEntry(entries, named) {
  const i = entries.find(named);
  if (i < 0) refuse('RPL-023', named, null, 'an entry of this name');
  if (entries.sizeAt(i) > ENTRY_MOST[named]) refuse('RPL-012', named, entries.sizeAt(i), `at most ${ENTRY_MOST[named]}`);
  return i;
}

/**
 * The events of a journal. Of each it keeps where its line is, and where the event is in the log; the
 * event itself is parsed again whenever it is asked for.
 */
class Journal {
  constructor(entries, kind) {
    this.named = JOURNALS[kind];
    this.kind = kind;
    const i = requireEntry(entries, this.named);
    this.start = entries.start(i);
    this.reader = new Reader(entries.reader.file);
    this.ends = new Increasing(); // of the lines, each the place of its '\n'
    this.indexes = null; // in the log
    this.kept = new Map(); // the first and the last
    this.split(entries.sizeAt(i));
  }

  /** '\n' ends each line. */
  split(size) {
    let base = this.start;
    this.reader.pieces(this.start, size, (bytes) => {
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) this.ends.push(base + at);
      base += bytes.length;
    });
    const last = this.length === 0 ? this.start : this.ends.at(this.length - 1) + 1;
    if (last < this.start + size) refuse('RPL-031', `${this.named} line ${this.length + 1}`, 'a line without an end', 'an event and a newline');
  }

  get length() {
    return this.ends.length;
  }

  line(i) {
    const from = i === 0 ? this.start : this.ends.at(i - 1) + 1;
    return this.reader.bytes(from, this.ends.at(i) - from);
  }

  /** The event of a line; like an array's, a negative one counts from the end. */
  at(i) {
    const line = i < 0 ? this.length + i : i;
    if (line < 0 || line >= this.length) return undefined;
    const known = this.kept.get(line);
    if (known) return known;
    const event = this.parse(line);
    event.journal = this.kind;
    if (this.indexes) event.index = this.indexes.at(line);
    if (line === 0 || line === this.length - 1) this.kept.set(line, event);
    return event;
  }

  parse(i) {
    const place = `${this.named} line ${i + 1}`;
    try {
      return parseEvent(this.line(i), place);
    } catch (e) {
      if (e instanceof Refusal) refuse('RPL-031', `${e.place} (${e.code})`, e.recorded, e.recomputed);
      throw e;
    }
  }

  *[Symbol.iterator]() {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }
}

const placeOf = (event) => `event ${event.tenant}/${event.run} ${event.seq} ${event.kind}`;

/** Each line is an event; and unless `run` is null `seq` is without gaps and `prev` the event before, of one run, from `run.opened`. */
function checkEvents(journal, tenant, run) {
  const { named } = journal;
  let broken = null; // the form of all lines comes first
  const wrong = (place, recorded, recomputed) => {
    broken = broken ?? new Refusal('RPL-032', place, recorded, recomputed);
  };
  let prev = null;
  for (let i = 0; i < journal.length; i++) {
    const event = journal.parse(i);
    if (run === null || broken) continue;
    const place = `${named} line ${i + 1}`;
    if (event.tenant !== tenant || event.run !== run) wrong(place, `${event.tenant}/${event.run}`, `${tenant}/${run}`);
    if (event.seq !== i) wrong(`${place} /seq`, event.seq, i);
    if ((event.prev ?? null) !== prev) wrong(`${place} /prev`, event.prev ?? null, prev);
    if ((event.kind === 'run.opened') !== (i === 0)) wrong(`${place} /kind`, event.kind, i === 0 ? 'run.opened' : 'another kind');
    prev = event.id;
  }
  if (run !== null && journal.length === 0) refuse('RPL-030', named, 0, 'at least run.opened');
  if (broken) throw broken;
}

const DIGEST_TEXT = 'sha256:'.length + 64;
const LATIN = new TextDecoder('latin1');

/**
 * Reads the text of `log/inclusion.json`, which can be as long as the run, forward and in pieces: numbers, and
 * texts that can only be these.
 */
class InclusionText {
  constructor(entries, from = 0) {
    const i = requireEntry(entries, INCLUSION);
    this.start = entries.start(i);
    this.size = entries.sizeAt(i);
    this.reader = new Reader(entries.reader.file);
    this.at = from;
  }

  refuse(wanted) {
    const found = this.at < this.size ? LATIN.decode(this.reader.bytes(this.start + this.at, Math.min(20, this.size - this.at))) : null;
    refuse('RPL-033', `${INCLUSION} byte ${this.at}`, found, wanted);
  }

  /** The next byte; -1 at the end. */
  peek() {
    return this.at < this.size ? this.reader.byte(this.start + this.at) : -1;
  }

  expect(wanted) {
    for (let i = 0; i < wanted.length; i++, this.at++) if (this.peek() !== wanted.charCodeAt(i)) this.refuse(wanted);
  }

  number() {
    const from = this.at;
    let value = 0;
    for (let c = this.peek(); isDigit(c); c = this.peek()) {
      if (this.at > from && value === 0) this.refuse('a number without a zero in front');
      value = 10 * value + c - 48;
      if (value > Number.MAX_SAFE_INTEGER) this.refuse('a number up to 2^53 - 1');
      this.at++;
    }
    if (this.at === from) this.refuse('a number');
    return value;
  }

  digest() {
    if (this.at + DIGEST_TEXT > this.size) this.refuse('a digest');
    const found = LATIN.decode(this.reader.bytes(this.start + this.at, DIGEST_TEXT));
    if (!DIGEST.test(found)) this.refuse('a digest');
    this.at += DIGEST_TEXT;
    return found;
  }

  /** Before each item of a list, and after the last; whether there is one more. */
  more(first) {
    if (first) this.expect('[');
    if (this.peek() === 93) {
      this.at++;
      return false;
    }
    if (!first) this.expect(',');
    return true;
  }

  /** The log index of each line of a journal, of ranges that are increasing, disjoint and maximal. */
  indexes(lines, size) {
    const out = new Ranges();
    let free = -1; // the least index that the next range may begin with; adjacent ones are merged
    for (let first = true; this.more(first); first = false) {
      this.expect('[');
      const from = this.number();
      this.expect(',');
      const many = this.number();
      this.expect(']');
      if (from <= free) this.refuse(`a range after ${free}`);
      if (many < 1 || from + many > size || out.length + many > lines) this.refuse(`a range within ${size}, ${lines} in all`);
      out.push(from, many);
      free = from + many;
    }
    if (out.length !== lines) this.refuse(`${lines} indexes`);
    return out;
  }
}

/** Where each event is in the log, and the hashes that lead from them to its root, which are read one by one. */
function readInclusion(entries, journals, size) {
  const text = new InclusionText(entries);
  const indexes = (journal) => {
    journals[journal].indexes = text.indexes(journals[journal].length, size);
    journals[journal].kept.clear();
  };
  text.expect('{"consumed":');
  indexes('consumed');
  text.expect(',"hashes":');
  const hashes = hashesOf(new InclusionText(entries, text.at));
  for (const _ of hashesOf(text)); // their form alone
  text.expect(',"run":');
  indexes('run');
  text.expect(',"system":');
  indexes('system');
  text.expect('}');
  if (text.at < text.size) text.refuse('nothing more');
  return hashes;
}

function* hashesOf(text) {
  for (let first = true; text.more(first); first = false) {
    text.expect('"');
    const found = text.digest();
    text.expect('"');
    yield found;
  }
}

/** Proves all events at once: the root of the log from their leaves and the hashes of the rest. */
function checkInclusion(journals, hashes, size, root) {
  let before = -1;
  for (const { index } of inOrder(journals)) {
    if (index === before) refuse('RPL-033', INCLUSION, `index ${index} twice`, 'each index once');
    before = index;
  }
  const walk = inOrder(journals);
  let next = walk.next().value;
  const rootBetween = (lo, hi) => {
    if (next === undefined || next.index >= hi) {
      const hash = hashes.next();
      if (hash.done) refuse('RPL-033', `${INCLUSION} /hashes`, 'their end', 'more hashes');
      return digestBytes(hash.value);
    }
    if (hi - lo === 1) {
      const leaf = leafHash(next.journal.line(next.i));
      next = walk.next().value;
      return leaf;
    }
    const k = split(hi - lo);
    const left = rootBetween(lo, lo + k);
    return nodeHash(left, rootBetween(lo + k, hi));
  };
  const computed = text256(rootBetween(0, size));
  if (!hashes.next().done) refuse('RPL-033', `${INCLUSION} /hashes`, 'more hashes', 'their end');
  if (computed !== root) refuse('RPL-033', `${CHECKPOINT} root`, root, computed);
}

/** The lines of all journals in the order of the log: of which journal, which line, and where in the log. */
function* inOrder(journals) {
  const cursors = [journals.run, journals.system, journals.consumed].map((journal) => ({ journal, i: 0 }));
  const index = ({ journal, i }) => (i < journal.length ? journal.indexes.at(i) : Infinity);
  for (;;) {
    let least = cursors[0];
    for (const one of cursors) if (index(one) < index(least)) least = one;
    if (index(least) === Infinity) return;
    yield { journal: least.journal, i: least.i, index: index(least) };
    least.i++;
  }
}

/** The last event in the order of the log. */
function lastOf(journals) {
  return Object.values(journals).map((journal) => journal.at(-1)).filter(Boolean).reduce((a, b) => (a.index > b.index ? a : b));
}

const SINGLE = [MANIFEST, ...Object.values(JOURNALS), CHECKPOINT, INCLUSION, TRUST];
const PLACES = /^(?:blobs\/([0-9a-f]{64})|documents\/([0-9a-f]{64})\.json|tools\/([^/]+)\/([0-9a-f]{64})\/(manifest\.json|files\/.+))$/;

/** Which of the entries from `first` on were marked. */
class Marks {
  constructor({ first, last }) {
    this.first = first;
    this.last = last;
    this.bits = new Uint8Array((last - first + 7) >> 3);
  }

  add(i) {
    this.bits[(i - this.first) >> 3] |= 1 << ((i - this.first) & 7);
  }

  has(i) {
    return (this.bits[(i - this.first) >> 3] & (1 << ((i - this.first) & 7))) !== 0;
  }

  /** The first without a mark; -1 where all have one. */
  firstWithout() {
    for (let i = this.first; i < this.last; i++) if (!this.has(i)) return i;
    return -1;
  }
}

const DOCUMENTS_KEPT = 256;

/** The documents of a bundle by id, each held against its name whenever it is read; the latest are kept. */
class Documents {
  constructor(entries) {
    this.entries = entries;
    this.recent = new Map(); // id → {i, envelope}
    this.needed = new Marks(entries.documents);
  }

  get size() {
    return this.entries.documents.last - this.entries.documents.first;
  }

  find(id) {
    return this.recent.get(id)?.i ?? this.entries.find(`documents/${hexOf(id)}.json`);
  }

  has(id) {
    return this.find(id) >= 0;
  }

  sizeOf(id) {
    return this.entries.sizeAt(this.find(id));
  }

  /** That something refers to it, if it is here. */
  need(id) {
    const i = this.find(id);
    if (i >= 0) this.needed.add(i);
  }

  /** What a document says, of a bundle that is verified; null where it is not here. */
  document(id) {
    if (!this.has(id)) return null;
    const envelope = this.get(id, id);
    const kind = Object.keys(FORMS).find((one) => typeOf(one) === envelope.payloadType);
    return kind ? readDocument(envelope, kind, id) : null;
  }

  get(id, place) {
    const known = this.recent.get(id);
    if (known) return known.envelope;
    const i = this.find(id);
    const named = `documents/${hexOf(id)}.json`;
    if (i < 0) refuse('RPL-023', place, null, named);
    const envelope = parseEnvelope(this.entries.bytesAt(i), named);
    if (envelope.id !== id) refuse('RPL-022', named, hexOf(id), envelope.id);
    this.recent.set(id, { i, envelope });
    if (this.recent.size > DOCUMENTS_KEPT) this.recent.delete(this.recent.keys().next().value);
    return envelope;
  }
}

/** The blobs of a bundle by digest; they were held against their names. */
class Contents {
  constructor(entries) {
    this.entries = entries;
    this.needed = new Marks(entries.blobs);
  }

  get size() {
    return this.entries.blobs.last - this.entries.blobs.first;
  }

  get(digest) {
    const named = `blobs/${hexOf(digest)}`;
    const { entries } = this;
    const i = entries.find(named);
    return i < 0 ? undefined : { i, named, length: entries.sizeAt(i), get bytes() { return entries.bytesAt(i); } };
  }
}

/** Looks through the entries by where they lie; nothing may lie elsewhere. Blobs are what their names say. */
async function readContents(entries, progress) {
  const contents = { documents: new Documents(entries), blobs: new Contents(entries), manifests: new Map(), files: new Map() };
  if (entries.unknown !== null) refuse('RPL-024', entries.unknown, entries.unknown, 'an entry that a bundle has');
  for (const named of SINGLE) requireEntry(entries, named);
  let done = 0;
  for (let i = entries.blobs.first; i < entries.blobs.last; i++) {
    const named = entries.nameAt(i);
    const found = await entries.digestAt(i);
    if (found !== 'sha256:' + hexOfBlob(named)) refuse('RPL-022', named, hexOfBlob(named), found);
    progress('contents', ++done, entries.size);
  }
  for (const [named, i] of entries.named) {
    const match = PLACES.exec(named);
    if (!match) continue;
    if (match[5] === 'manifest.json') {
      const id = 'sha256:' + match[4];
      if (contents.manifests.has(id)) refuse('RPL-024', named, named, contents.manifests.get(id).named);
      contents.manifests.set(id, readToolManifest(entries.bytesAt(i), named, match[3], id));
    } else {
      contents.files.set(named, i);
    }
  }
  progress('contents', entries.size, entries.size);
  return contents;
}

const hexOfBlob = (named) => named.slice('blobs/'.length);

const texts = sorted(text);
const capabilitiesForm = record({
  commands: optional(nonEmpty(texts)), environment: texts, hosts: optional(nonEmpty(texts)), network: texts, own_secrets: optional(nonEmpty(texts)),
  paths: texts, secrets: optional(nonEmpty(texts)), workspace: bool,
});

/** A tool's manifest (tool-manifest.md); the schemas in it are not read. */
const toolManifestForm = record({
  capabilities: capabilitiesForm,
  category: optional(name),
  determinism: oneOf('pure', 'reproducible', 'recorded'),
  driver: name,
  files: sorted(record({ digest, path: name, size: count }), (file) => file.path),
  name,
  operations: sorted(record({ input: anyObject, media_type: name, name, output: optional(anyObject) }), (operation) => operation.name),
  resources_max: resources,
  sandboxes: texts,
  version: name,
  workload: optional(oneOf('cpu', 'io')),
});

/** The manifest of the package that its place names. */
function readToolManifest(bytes, named, folder, expected) {
  const found = digestOf(bytes);
  if (found !== expected) refuse('RPL-022', named, hexOf(expected), found);
  const manifest = within(named, () => toolManifestForm(parseCanonical(bytes), ''));
  if (`${manifest.name}-${manifest.version}` !== folder) refuse('RPL-022', named, folder, `${manifest.name}-${manifest.version}`);
  return { manifest, named };
}

// ------------------------------------------------------------------- the system run (system-run.md)

const IN_FLIGHT_MS = 60000;

/** How long an intent lives after policy's limits of a request, and the margin of a deletion (retention.md). */
const EXECUTABLE_MS = 300000 + 60000;
const LATE_MS = 86400000;
const SYSTEM = { tenant: 'writ', run: 'system' };
/** The run of the installation whose events state deletions (retention.md). */
const DELETIONS = { tenant: 'writ', run: 'retention' };
/** The run of the installation whose events state what people read (read-event.md). */
const READS = { tenant: 'writ', run: 'reads' };
const isOfSystem = (event) => event.tenant === SYSTEM.tenant && event.run === SYSTEM.run;

/** From which stage an operator may put a version into which. */
const LEADS_TO = {
  draft: ['canary', 'active', 'retired'],
  canary: ['draft', 'canary', 'active', 'retired'],
  active: ['deprecated', 'retired'],
  deprecated: ['active', 'retired'],
  retired: [],
};
const RUNS = ['canary', 'active', 'deprecated'];

/** A tool that the policy itself lists. */
const listed = (policy, tool, version) => policy.tools.find((one) => one.name === tool && one.version === version);

/** Whether the policy lets govern a tool: it does not list it, and covers its name. */
function governs(policy, tool, version) {
  const covers = (pattern) => (pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern);
  return !listed(policy, tool, version) && (policy.governance?.tools ?? []).some(covers);
}

/** Whether callers choose if they meet a canary: its share is of runs, and they name their runs. */
const isChosenByCallers = (canary) => canary.by === undefined && canary.percent > 0 && canary.percent < 100;

/** What decides whether a call meets a canary: its run's owner, else who asks; in documents without `by` the run. */
const drawOf = ({ run, subject, tenant }, owner) => ({ run, subject: owner ?? subject, tenant });

/** Whether a call meets a version that governance has so. */
function mayRun(governed, tool, version, { run, subject, tenant }) {
  if (governed.revoked || !RUNS.includes(governed.stage)) return false;
  if (governed.stage !== 'canary') return true;
  const { by, percent, tenants } = governed.canary;
  const first = sha256(writeJson([tool, version, tenant, by === undefined ? run : subject])).subarray(0, 8);
  const place = BigInt(`0x${toHex(first)}`) % 100n;
  return tenants.includes(tenant) || place < BigInt(percent);
}

/** What was submitted, found, said and staged of tools (tool-governance.md). */
class Governance {
  constructor() {
    this.versions = new Map(); // tool and version → what was said of it
    this.runtimes = new Map(); // language and version → {approved, at}
    this.drawsBySubject = false; // from the first canary with `by` on, no share is of runs
  }

  static key = (tool, version) => writeValue([tool, version]);

  /** The version that a document is about, of the package that was submitted. */
  submitted(detail, place) {
    const version = this.versions.get(Governance.key(detail.tool, detail.version));
    if (!version) refuse('EXE-914', place, `${detail.tool} ${detail.version}`, 'a version that was submitted');
    same('EXE-915', place, '/package', detail.package, version.package);
    return version;
  }

  draft(detail, place) {
    const version = this.submitted(detail, place);
    if (version.stage !== 'draft') refuse('EXE-914', place, version.stage, 'draft');
    return version;
  }

  rules(policy, detail, place) {
    if (!policy || !governs(policy, detail.tool, detail.version)) {
      refuse('EXE-915', place, `${detail.tool} ${detail.version}`, 'a tool that the policy in force lets govern');
    }
    return policy.governance;
  }

  notAhead(said, event, place) {
    if (millis(said) > millis(event.at) + SKEW_MS) refuse('EXE-914', place, said, `not after ${event.at}`);
  }

  submit(event, document, signer, policy, prohibited, place) {
    this.rules(policy, document, place);
    if (prohibited) refuse('EXE-914', place, 'prohibited', 'a version that no operator prohibited');
    this.notAhead(document.submitted_at, event, place);
    const key = Governance.key(document.tool, document.version);
    const before = this.versions.get(key);
    if (before && before.stage !== 'draft') refuse('EXE-914', place, before.stage, 'a new version, or a draft');
    if (before && before.package === document.package) refuse('EXE-914', place, document.package, 'each package once');
    this.versions.set(key, {
      package: document.package, publisher: signer.subject, submittedAt: event.at,
      passed: null, words: new Map(), stage: 'draft', canary: null, stagedAt: null,
    });
  }

  validate(detail, place) {
    within(place, () => record({
      ...governedTool, findings: list(record({ code: name, found: text, place: text }), 100), validator: name,
    })(detail, '/detail'));
    const version = this.draft(detail, place);
    if (version.words.size > 0) refuse('EXE-914', place, `${version.words.size} words of approvers`, 'none before the validation');
    version.passed = detail.findings.length === 0;
  }

  say(event, document, signer, policy, place) {
    const version = this.draft(document, place);
    const rules = this.rules(policy, document, place);
    if (signer.subject !== document.approver) refuse('EXE-916', `${place} /approver`, document.approver, signer.subject);
    if (!approvesAs(rules, document.approver, document.role)) {
      refuse('EXE-916', place, `${document.approver} as ${document.role}`, 'an approver whom the policy names');
    }
    if (document.approver === version.publisher) refuse('EXE-916', place, document.approver, 'somebody who did not publish it');
    this.notAhead(document.approved_at, event, place);
    if (millis(document.approved_at) + SKEW_MS < millis(version.submittedAt)) {
      refuse('EXE-914', `${place} /approved_at`, document.approved_at, `not before ${version.submittedAt}`);
    }
    if (version.words.has(document.approver)) refuse('EXE-914', place, document.approver, 'each approver once');
    if (document.verdict === 'approve' && version.passed !== true) {
      refuse('EXE-917', place, version.passed === null ? 'no validation' : 'a validation that failed', 'a validation without findings');
    }
    version.words.set(document.approver, { role: document.role, verdict: document.verdict, kid: signer.kid });
  }

  stage(event, change, policy, trust, place) {
    const { detail } = change;
    within(place, () => {
      record({ ...governedTool, canary: optional(canaryForm), stage: oneOf(...ROLLOUT) })(detail, '/detail');
      if (('canary' in detail) !== (detail.stage === 'canary')) refuse('CAN-023', '/detail/canary', 'canary' in detail, detail.stage);
    });
    const version = this.submitted(detail, place);
    if (!LEADS_TO[version.stage].includes(detail.stage)) {
      refuse('EXE-914', `${place} /detail/stage`, detail.stage, `after ${version.stage}: ${LEADS_TO[version.stage].join(', ') || 'nothing'}`);
    }
    if (version.stagedAt !== null && !(change.changed_at > version.stagedAt)) {
      refuse('EXE-914', `${place} /changed_at`, change.changed_at, `after ${version.stagedAt}`);
    }
    if (version.stage === 'draft' && RUNS.includes(detail.stage)) {
      this.requireApproved(version, this.rules(policy, detail, place), trust, place);
    }
    if (this.drawsBySubject && detail.canary && isChosenByCallers(detail.canary)) {
      refuse('EXE-984', `${place} /detail/canary/by`, 'nothing', 'subject, as in a canary before');
    }
    version.stage = detail.stage;
    version.canary = detail.canary ?? null;
    this.drawsBySubject = this.drawsBySubject || detail.canary?.by !== undefined;
    version.stagedAt = change.changed_at;
  }

  requireApproved(version, rules, trust, place) {
    if (version.passed !== true) refuse('EXE-917', place, 'no validation without findings', 'one');
    const words = [...version.words];
    if (words.some(([, word]) => word.verdict === 'reject')) refuse('EXE-917', place, 'rejected', 'rejected by nobody');
    for (const [role, wanted] of Object.entries(rules.approvals)) {
      const counts = ([approver, word]) => word.role === role && approvesAs(rules, approver, role) && trust.keys.get(word.kid).revokedAt === null;
      const found = words.filter(counts).length;
      if (found < wanted) refuse('EXE-917', place, `approved by ${found} as ${role}`, wanted);
    }
  }

  runtime(approved, change, place) {
    const { detail } = change;
    within(place, () => record({ language: name, version: name })(detail, '/detail'));
    const key = Governance.key(detail.language, detail.version);
    const before = this.runtimes.get(key);
    if ((before?.approved === true) === approved) refuse('EXE-914', place, approved ? 'approved' : 'not approved', 'a change');
    if (before && !(change.changed_at > before.at)) refuse('EXE-914', `${place} /changed_at`, change.changed_at, `after ${before.at}`);
    this.runtimes.set(key, { approved, at: change.changed_at });
  }

  /** The log's time goes on from an earlier one: what was said later was said by then. */
  notAfter(time) {
    const earlier = (at) => (at !== null && at > time ? time : at);
    for (const version of this.versions.values()) {
      version.submittedAt = earlier(version.submittedAt);
      version.stagedAt = earlier(version.stagedAt);
    }
    for (const word of this.runtimes.values()) word.at = earlier(word.at);
  }

  /** As a decision records it; null where nothing was submitted. */
  governed(tool, version, prohibited) {
    const known = this.versions.get(Governance.key(tool, version));
    if (!known) return null;
    const governed = { package: known.package, stage: known.stage };
    if (known.canary) governed.canary = known.canary;
    if (prohibited) governed.revoked = true;
    return governed;
  }
}

const erasureForm = record({ run: optional(name), subject: optional(name), tenant: name });
const tenantPlaceForm = record({ cell: integer(1, 255), tenant: name });
const tenantMoveForm = record({ cell: integer(1, 255), from: integer(1, 255), tenant: name });
const cellRegionsForm = record({ cell: integer(1, 255), elsewhere: oneOf('forward', 'refuse'), regions: list(region, 8) });
const holdForm = (placed) => record(placed ? { name, run: optional(name), tenant: name } : { name });
const approvesAs = (rules, subject, role) => Object.hasOwn(rules.approvers, subject) && rules.approvers[subject].includes(role);

/** What is in force at a place of the log, as the system run adds up. */
class System {
  constructor() {
    this.trust = { keys: new Map(), required: {} };
    this.revocations = new Map(); // kid → event
    this.policies = new Map(); // digest → {policy, from, until}
    this.policy = null;
    this.prohibited = new Map(); // tool version → event
    this.governance = new Governance();
    this.holds = new Map(); // name → {tenant, run}
    this.named = new Set(); // tenants that a key or a policy has named
    this.stated = new Map(); // tenant → the cell that operators have stated last
    this.erasures = new Map(); // id of the order → {detail, latest}
    this.past = []; // what held before each event that can still be in flight, {until, policy, about, governed}
    this.incarnation = 1;
    this.founder = null;
    this.inFlight = 0;
    this.signed = new Signed();
    this.latest = -Infinity; // greatest time since it went back last, in milliseconds
    this.floor = -Infinity; // the time that it went back to
    this.correctedAt = -1; // where in the log that was
  }

  /** No event lies more than a day behind those before it, and none before what time went back to (log.md). */
  time(event) {
    const at = millis(event.at);
    const least = Math.max(this.floor, this.latest - LATE_MS);
    if (at < least) refuse('EXE-982', placeOf(event), event.at, `not before ${new Date(least).toISOString()}`);
    this.latest = Math.max(this.latest, at);
  }

  /**
     * Whether a key counts for a document that this event logs (keys.md, 11). What was in flight
     * (audit.md, bounds 6) is a run's alone: the system run is what it adds up to.
     */
  inForce(event) {
    return (key, place) => {
      if (!inWindow(key, event.at)) refuse('CAN-054', place, event.at, `${key.notBefore} to ${key.notAfter ?? 'no end'}`);
      const revoked = this.revocations.get(key.kid);
      if (revoked && !isOfSystem(event)) this.allowInFlight(event, revoked, 'CAN-055', place, key.kid);
      else if (key.revokedAt !== null) refuse('CAN-055', place, key.kid, 'a revocation that the log shows');
    };
  }

  /** The kernel acts on what was in force when it looked. */
  allowInFlight(event, ended, code, place, what) {
    if (this.isLongBefore(event, ended)) refuse(code, place, `${what} at ${event.at}`, `ended at ${ended.at}`);
    this.inFlight++;
  }

  isLongBefore(event, ended) {
    return ended.index < this.correctedAt || millis(event.at) > millis(ended.at) + IN_FLIGHT_MS;
  }

  /** Whether the revocation of a key by which something was signed before counts at an event. */
  isRevokedAt(event, key) {
    const revoked = this.revocations.get(key.kid);
    return revoked !== undefined && this.isLongBefore(event, revoked);
  }

  async apply(event, documents) {
    const place = placeOf(event);
    if (event.seq === 0) return;
    if (!SYSTEM_KINDS.includes(event.kind)) refuse('EXE-950', place, event.kind, SYSTEM_KINDS.join(' or '));
    same('EXE-950', place, '/prng_seed', event.prng_seed, null);
    const kind = DOCUMENT_OF_EVENT[event.kind];
    const { envelope, document } = bodyOf(event, kind, documents, 'EXE-950');
    if (kind === 'system-change' && document.kind !== event.kind) refuse('EXE-950', `${place} /kind`, document.kind, event.kind);
    if (this.founder === null) this.found(event, envelope, document, place);
    const signers = await verifyAt(this, event, envelope, kind, place);
    if (signers[0].tenant !== null) refuse('CAN-053', place, `a key of ${signers[0].tenant}`, 'a key of the installation');
    if (kind === 'system-change' && millis(document.changed_at) > millis(event.at) + SKEW_MS) {
      refuse('EXE-112', `${place} /changed_at`, document.changed_at, `not after ${event.at}`);
    }
    this.forgetPast();
    this.past.push(this.before(event, document));
    if (event.seq > 1 && event.kind === 'key.enrolled') this.enrol(document.detail, place);
    if (event.kind === 'key.revoked') this.revoke(event, document.detail, place);
    if (event.kind === 'policy.activated') this.activate(event, envelope.id, document, place);
    if (event.kind.startsWith('tool.')) this.govern(event, document, signers[0], place);
    if (event.kind.startsWith('runtime.')) this.governance.runtime(event.kind === 'runtime.approved', document, place);
    if (event.kind.startsWith('hold.')) this.hold(event.kind === 'hold.placed', document.detail, place);
    if (event.kind === 'tenant.placed') this.place(document.detail, place);
    if (event.kind === 'tenant.moved') this.move(document.detail, place);
    if (event.kind === 'cell.placed') this.putIn(document.detail, place);
    if (event.kind === 'contents.erased') this.erase(event, envelope.id, document.detail, place);
    if (event.kind === 'ledger.incarnated') this.incarnate(document.detail, place);
    if (event.kind === 'clock.corrected') this.correct(event, document.detail, place);
  }

  /** The first document enrols the operator that signs it. */
  found(event, envelope, document, place) {
    if (event.kind !== 'key.enrolled') refuse('EXE-950', place, event.kind, 'key.enrolled first');
    const key = this.enrol(document.detail, place);
    if (key.role !== 'operator') refuse('EXE-950', place, key.role, 'an operator first');
    this.founder = key;
  }

  enrol(jwk, place) {
    const key = within(place, () => parseTrustedKey(jwk, '/detail'));
    if (this.trust.keys.has(key.kid)) refuse('CAN-056', place, key.kid, 'each key once');
    if (key.tenant === SYSTEM.tenant) refuse('EXE-950', place, key.tenant, 'another tenant');
    this.trust.keys.set(key.kid, key);
    this.named.add(key.tenant); // null where it is of the installation, which names none
    return key;
  }

  revoke(event, detail, place) {
    within(place, () => record({ kid: keyId })(detail, '/detail'));
    const key = this.trust.keys.get(detail.kid);
    if (!key) refuse('CAN-052', place, detail.kid, 'an enrolled key');
    if (key.revokedAt !== null) refuse('CAN-055', place, detail.kid, 'a key that is not revoked');
    this.revocations.set(key.kid, event);
    key.revokedAt = event.at;
  }

  activate(event, id, policy, place) {
    const before = this.policy;
    definedNames(policy, place);
    countedCalls(policy, place);
    if ((policy.previous ?? null) !== (before?.id ?? null)) refuse('EXE-950', `${place} /previous`, policy.previous ?? null, before?.id ?? null);
    if (before && !(policy.version > before.policy.version)) refuse('EXE-950', `${place} /version`, policy.version, `above ${before.policy.version}`);
    if (before) before.until = event;
    this.policy = { id, policy, until: null };
    this.policies.set(id, this.policy);
    for (const { tenant } of [...policy.principals, ...policy.approvers]) this.named.add(tenant);
  }

  /** The cell of a tenant that nothing has named yet; which cell that is, a log of one cell cannot show. */
  place(detail, place) {
    within(`${place} /detail`, () => tenantPlaceForm(detail, ''));
    if (this.named.has(detail.tenant)) refuse('EXE-964', `${place} /detail/tenant`, detail.tenant, 'a tenant that no key and no policy has named');
    this.stated.set(detail.tenant, detail.cell);
  }

  /** To another cell, of a tenant that has a name by then, from the cell that was stated, if one was. */
  move(detail, place) {
    within(`${place} /detail`, () => tenantMoveForm(detail, ''));
    const { cell, from, tenant } = detail;
    if (!this.named.has(tenant)) refuse('EXE-968', `${place} /detail/tenant`, tenant, 'a tenant that a key or a policy has named');
    if (from !== (this.stated.get(tenant) ?? from)) refuse('EXE-968', `${place} /detail/from`, from, this.stated.get(tenant));
    if (from === cell) refuse('EXE-968', `${place} /detail/cell`, cell, 'another cell');
    this.stated.set(tenant, cell);
  }

  /** In which regions a cell may be; none: in any again, so that nothing comes from elsewhere. */
  putIn(detail, place) {
    within(`${place} /detail`, () => cellRegionsForm(detail, ''));
    const { elsewhere, regions } = detail;
    if (new Set(regions).size < regions.length) refuse('CAN-023', `${place} /detail/regions`, regions.join(' '), 'each once');
    if (regions.length === 0 && elsewhere === 'refuse') refuse('CAN-023', `${place} /detail/elsewhere`, elsewhere, 'forward, where no region is stated');
  }

  /** A hold keeps the contents of a tenant's runs, or of one of them, until it is released. */
  hold(placed, detail, place) {
    within(`${place} /detail`, () => holdForm(placed)(detail, ''));
    if (this.holds.has(detail.name) === placed) refuse('EXE-950', `${place} /detail/name`, detail.name, placed ? 'a new name' : 'a hold that is placed');
    if (placed) this.holds.set(detail.name, detail);
    else this.holds.delete(detail.name);
  }

  /** An operator's order, unless a hold keeps all that it is about; a hold of one run keeps that run alone. */
  erase(event, id, detail, place) {
    within(`${place} /detail`, () => erasureForm(detail, ''));
    if (('subject' in detail) === ('run' in detail)) refuse('CAN-023', `${place} /detail`, Object.keys(detail).join(' '), 'one of subject and run');
    const holding = [...this.holds.values()].find((hold) => hold.tenant === detail.tenant && (hold.run === undefined || hold.run === detail.run));
    if (holding) refuse('EXE-962', `${place} /detail`, holding.name, 'no hold that covers it');
    if (this.erasures.has(id)) refuse('EXE-950', place, id, 'each order once');
    // Times of a log in which time went back do not tell what was before.
    const latest = this.floor === -Infinity ? millis(event.at) + IN_FLIGHT_MS : Infinity;
    this.erasures.set(id, { detail, latest });
  }

  isHeld({ tenant, run }) {
    return [...this.holds.values()].some((hold) => hold.tenant === tenant && (hold.run ?? run) === run);
  }

  govern(event, document, signer, place) {
    const { governance, trust } = this;
    const policy = this.policy?.policy ?? null;
    const steps = {
      'tool.submitted': () => governance.submit(event, document, signer, policy, this.prohibited.has(`${document.tool} ${document.version}`), place),
      'tool.validated': () => governance.validate(document.detail, place),
      'tool.approved': () => governance.say(event, document, signer, policy, place),
      'tool.staged': () => governance.stage(event, document, policy, trust, place),
      'tool.revoked': () => this.prohibit(event, document.detail, place),
    };
    steps[event.kind]();
  }

  /** What an event is about to change: the policy, and what governance says of the tool that it names. */
  before(event, document) {
    const { tool, version } = document.detail ?? document;
    const named = typeof tool === 'string' && typeof version === 'string';
    return {
      until: event,
      policy: this.policy?.policy ?? null,
      about: named ? Governance.key(tool, version) : null,
      governed: named ? this.governedNow(tool, version) : null,
    };
  }

  governedNow(tool, version) {
    return this.governance.governed(tool, version, this.prohibited.has(`${tool} ${version}`));
  }

  /** What of a tool the kernel can have seen at an event, {policy, governed}, the newest first; found as far as it is asked for. */
  *seenAt(event, tool, version) {
    let seen = { policy: this.policy?.policy ?? null, governed: this.governedNow(tool, version) };
    yield seen;
    const key = Governance.key(tool, version);
    for (const { until, policy, about, governed } of this.past.toReversed()) {
      if (until.index < this.correctedAt) break;
      seen = { policy, governed: about === key ? governed : seen.governed };
      if (millis(event.at) <= millis(until.at) + IN_FLIGHT_MS) yield seen;
    }
  }

  /** No event that may follow saw any of these. Those behind one that an event may have seen stay: times may go back. */
  forgetPast() {
    const earliest = Math.max(this.floor, this.latest - LATE_MS);
    const kept = this.past.findIndex(({ until }) => until.index >= this.correctedAt && millis(until.at) + IN_FLIGHT_MS >= earliest);
    this.past.splice(0, kept < 0 ? this.past.length : kept);
  }

  prohibit(event, detail, place) {
    within(place, () => record({ tool: name, version: name })(detail, '/detail'));
    const tool = `${detail.tool} ${detail.version}`;
    if (!this.prohibited.has(tool)) this.prohibited.set(tool, event);
  }

  incarnate(detail, place) {
    within(place, () => record({ incarnation: integer(1) })(detail, '/detail'));
    this.begin(detail, place);
  }

  /** The operator states from where the log's time goes on; what was in flight before it went back is void. */
  correct(event, detail, place) {
    within(place, () => record({ from: time, incarnation: optional(integer(1)), to: time, tree_size: count })(detail, '/detail'));
    const back = detail.to < detail.from;
    if (back !== ('incarnation' in detail)) refuse('EXE-981', `${place} /detail/incarnation is there`, 'incarnation' in detail, back);
    same('EXE-981', place, '/detail/to', detail.to, event.at);
    same('EXE-981', place, '/detail/tree_size', detail.tree_size, event.index);
    if (millis(detail.from) < this.latest) refuse('EXE-981', `${place} /detail/from`, detail.from, `not before ${new Date(this.latest).toISOString()}`);
    if (!back) return;
    this.begin(detail, place);
    this.latest = millis(detail.to);
    this.floor = this.latest;
    this.correctedAt = event.index;
    this.governance.notAfter(detail.to);
  }

  begin(detail, place) {
    if (!(detail.incarnation > this.incarnation)) refuse('EXE-950', `${place} /detail/incarnation`, detail.incarnation, `above ${this.incarnation}`);
    this.incarnation = detail.incarnation;
  }

  /** The trust file that all of it adds up to. */
  toTrustFile() {
    const keys = [...this.trust.keys.values()].sort((a, b) => (a.kid < b.kid ? -1 : 1)).map((key) => {
      const jwk = Object.assign(Object.create(null), key.jwk, { kid: key.kid });
      if (key.revokedAt !== null) jwk.writ_revoked_at = key.revokedAt;
      return jwk;
    });
    return writeJson({ keys });
  }
}

/** The document that an event is about: of the right type and form. */
function bodyOf(event, kind, documents, code = 'EXE-952') {
  const place = placeOf(event);
  const envelope = documents.get(event.body, place);
  return { envelope, document: readDocument(envelope, kind, place, code) };
}

function readDocument(envelope, kind, place, code = 'EXE-952') {
  if (envelope.payloadType !== typeOf(kind)) refuse(code, `${place} (CAN-061)`, envelope.payloadType, typeOf(kind));
  if (envelope.document) return envelope.document;
  try {
    envelope.document = FORMS[kind](parseCanonical(envelope.payload), '');
  } catch (e) {
    if (e instanceof Refusal) refuse(code, `${place} ${e.place} (${e.code})`, e.recorded, e.recomputed);
    throw e;
  }
  return envelope.document;
}

/** Verifies an envelope under the trust at the place of an event; an event of the system run may found it. */
async function verifyAt(system, event, envelope, kind, place) {
  const code = isOfSystem(event) ? null : 'EXE-951';
  try {
    const signers = await verifyEnvelope(envelope, kind === null ? envelope.payloadType : typeOf(kind), system.trust, system.inForce(event), place);
    system.signed.add(signers, event);
    return signers;
  } catch (e) {
    if (e instanceof Refusal && code) refuse(code, `${e.place} (${e.code})`, e.recorded, e.recomputed);
    throw e;
  }
}

// -------------------------------------------------------------------------- what a run means (audit.md)

const same = (code, place, member, recorded, recomputed) => {
  if ((recorded ?? null) !== (recomputed ?? null)) refuse(code, `${place} ${member}`, recorded ?? null, recomputed ?? null);
};

const EMPTY_TREE = `sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`;

/** Codes of a receipt that need not say how the tree was left. */
const NOT_MEASURED = ['EXE-402', 'EXE-701', 'EXE-702'];

/** A run's workspace: one effect in it after the other, and none while a doubt is open (protocol rule 20). */
class Workspace {
  constructor() {
    this.tree = EMPTY_TREE; // as the last effect left it; null where that is not known
    this.freeSince = -1;
    this.quarantine = new Set(); // receipts that do not say how they left it
    this.changed = 0;
    this.emptied = 0;
  }

  receipt({ id, document, event, place }, pinned, dispatch, manifest) {
    const { workspace_before: before, workspace_after: after } = document;
    if (pinned !== undefined) same('EXE-953', place, '/workspace_before', before, pinned);
    const there = before !== undefined;
    if (manifest) same('EXE-953', place, '/workspace_before is there', there, manifest.capabilities.workspace);
    const may = there && document.status !== 'in_doubt';
    const need = may && !NOT_MEASURED.includes(document.code);
    if (after !== undefined ? !may || document.code === 'EXE-402' : need) refuse('EXE-953', `${place} /workspace_after is there`, after !== undefined, need);
    if (!there) return;
    if (this.quarantine.size > 0) refuse('EXE-954', place, `its workspace was in quarantine by receipt ${[...this.quarantine][0]}`, 'one effect in it after the other');
    if (dispatch.seq <= this.freeSince) refuse('EXE-954', place, `its workspace was not free before event ${this.freeSince}`, 'one effect in it after the other');
    if (this.tree !== null && this.tree !== before) {
      if (before === EMPTY_TREE) this.emptied++;
      else this.changed++;
    }
    this.tree = after ?? null;
    this.freeSince = event.seq;
    if (after === undefined) this.quarantine.add(id);
  }

  resolved(receipt, event) {
    if (this.quarantine.delete(receipt)) this.freeSince = event.seq;
  }

  /** What is to be told, and is no proof of a wrong: only who has the host can do it. */
  told() {
    const lines = [];
    if (this.changed > 0) lines.push(`${this.changed} effects: found their workspace other than the effect before left it, by nobody in the log`);
    if (this.emptied > 0) lines.push(`${this.emptied} effects: found their workspace empty, which the effect before did not leave so; as when its time is over`);
    return lines;
  }
}

/** What the statements of a bundle name, each with when and by what it is gone, read first; they are verified at their places. */
function statedDeletions({ journals, contents, manifest }) {
  const stated = new Map();
  for (const event of journals.consumed) {
    if (event.kind !== 'content.deleted' || !contents.documents.has(event.body)) continue;
    let document;
    try {
      document = bodyOf(event, 'deletion', contents.documents).document;
    } catch (e) {
      if (e instanceof Refusal) continue; // refused at its place
      throw e;
    }
    if (document.tenant !== manifest.tenant || document.run !== manifest.run) continue;
    const { deleted_at: at, rule, order, bundle } = document;
    const gone = { at, rule, order, bundle };
    for (const item of document.contents) stated.set(contentKey(item.class, item.seq, item.digest), gone);
  }
  return stated;
}

/** Stands for every request whose effect has its end, where nothing can be said of it any more. */
const SERVED = Object.freeze({ state: 'served' });

/** A map by the ids of documents. Of what is over only a mark is kept, and what can be said of it then. */
class Remembered {
  constructor(documents, said) {
    this.documents = documents;
    this.said = said;
    this.open = new Map();
    this.over = new Marks(documents.entries.documents);
  }

  isOver(id) {
    const i = this.documents.find(id);
    return i >= 0 && this.over.has(i);
  }

  has(id) {
    return this.open.has(id) || this.isOver(id);
  }

  get(id) {
    return this.open.get(id) ?? (this.isOver(id) ? this.said(id) : undefined);
  }

  set(id, value) {
    this.open.set(id, value);
  }

  end(id) {
    this.open.delete(id);
    this.over.add(this.documents.find(id));
  }
}

/** Numbers of steps, a bit for each, since they are dense. */
class Steps {
  constructor() {
    this.words = new Map(); // 32 steps in each
  }

  has(step) {
    return ((this.words.get(Math.floor(step / 32)) ?? 0) & (1 << (step % 32))) !== 0;
  }

  add(step) {
    const at = Math.floor(step / 32);
    this.words.set(at, (this.words.get(at) ?? 0) | (1 << (step % 32)));
  }
}

/** The idempotency keys of subjects. One that is the id of a request of the same subject, as by default, is kept as a mark. */
class Keys {
  constructor(documents) {
    this.documents = documents;
    this.ids = new Marks(documents.entries.documents);
    this.others = new Digests();
  }

  /** The entry of the request whose id the key is; -1 where it is none of that subject. */
  entryOf(scoped) {
    const [subject, id] = scoped.split('\n');
    try {
      const isHere = DIGEST.test(id) && this.documents.has(id);
      return isHere && readDocument(this.documents.get(id, id), 'request', id).subject === subject ? this.documents.find(id) : -1;
    } catch (e) {
      if (e instanceof Refusal) return -1;
      throw e;
    }
  }

  has(scoped) {
    const i = this.entryOf(scoped);
    return i < 0 ? this.others.has(digestOf(utf8(scoped))) : this.ids.has(i);
  }

  add(scoped) {
    const i = this.entryOf(scoped);
    if (i < 0) this.others.add(digestOf(utf8(scoped)));
    else this.ids.add(i);
  }
}

/** One run's events in the order of the log, each held against those before it. */
class Run {
  constructor(bundle, system) {
    this.bundle = bundle;
    this.documents = bundle.contents.documents;
    this.system = system;
    this.requests = new Remembered(this.documents, () => SERVED); // id → {id, document, holder, …}
    this.byIntent = new Remembered(this.documents, () => SERVED);
    this.epoch = 0; // of the latest intent that names one
    this.byReceipt = new Remembered(this.documents, (id) => this.documents.document(id).lamport);
    this.idempotency = new Keys(this.documents);
    this.steps = new Steps();
    this.done = new Set(); // tool and operation of what succeeded
    this.otherReceipts = 0;
    this.allowedFormerly = 0;
    this.foreign = new Map(); // id of a consumed receipt → its document
    this.sized = new Marks(bundle.entries.blobs); // blobs whose stated size is the entry's
    this.sizes = new Map(); // of the needed blobs whose size is stated otherwise than the entry's, or that are not here: digest → {size, place}
    this.neededPackages = new Map(); // digest → {tool, dispatched}
    this.neededForeign = new Set();
    this.stated = statedDeletions(bundle); // class, seq and digest of contents that statements name → {at, rule, order, bundle}
    this.deleted = new Set(); // by rules
    this.dropped = new Digests(); // outputs that were not retained
    this.erased = new Map(); // by order
    this.archived = null; // the bundle that the archive has, and which contents went there
    this.closedAt = null;
    this.named = new Map(); // what statements can name: class, seq and digest → {at, request, size, …}
    this.lastReceipt = null;
    this.receipts = 0;
    this.finished = null; // effect.finished whose receipt must follow
    this.workspace = new Workspace();
    this.closing = null;
    this.opener = null;
    this.owner = null; // the subject of the first request
    this.ownerIsRecorded = false; // by a decision so far: then by every later one that has to
    this.counts = { requests: 0, decisions: 0, allowed: 0, denied: 0, escalated: 0, intents: 0, dispatched: 0, receipts: 0, refused: 0, signatures: 0, deleted: 0, erased: 0, archived: 0, deletedBySize: 0, reads: 0 };
  }

  async verify(event, envelope, kind) {
    this.counts.signatures += envelope.signatures.length;
    return verifyAt(this.system, event, envelope, kind, placeOf(event));
  }

  /** The same of what a document has in it or names, which is not counted with what was in flight: it has no event. */
  async verifyWithin(event, envelope, kind) {
    const before = this.system.inFlight;
    const signers = await this.verify(event, envelope, kind);
    this.system.inFlight = before;
    return signers;
  }

  /** The verified document of an event, of its tenant and run. */
  async document(event) {
    const kind = DOCUMENT_OF_EVENT[event.kind];
    const { envelope, document } = bodyOf(event, kind, this.documents);
    this.documents.need(envelope.id);
    const signers = await this.verify(event, envelope, kind);
    const place = placeOf(event);
    same('EXE-952', place, '/tenant', document.tenant, event.tenant);
    if ('run' in document) same('EXE-952', place, '/run', document.run, event.run);
    return { id: envelope.id, document, signers, place };
  }

  async apply(event) {
    const place = placeOf(event);
    if (this.closing) refuse('EXE-954', place, event.kind, 'nothing after run.closed');
    if (this.finished && event.kind !== 'receipt.signed') refuse('EXE-954', place, event.kind, 'receipt.signed after effect.finished');
    if (event.seq === 1 && (event.kind !== 'request.received' || event.body !== this.bundle.journals.run.at(0).body)) {
      refuse('EXE-953', place, `${event.kind} ${event.body}`, `request.received ${this.bundle.journals.run.at(0).body}`);
    }
    const steps = {
      'run.opened': () => this.opened(event, place),
      'request.received': () => this.received(event),
      'approval.received': () => this.approved(event),
      'decision.made': () => this.decided(event),
      'intent.issued': () => this.issued(event),
      'effect.refused': () => this.refused(event),
      'effect.dispatched': () => this.dispatched(event),
      'effect.finished': () => this.ended(event, place),
      'receipt.signed': () => this.signed(event),
      'doubt.resolved': () => this.resolved(event),
      'run.closed': () => this.closed(event),
    };
    if (!Object.hasOwn(steps, event.kind)) refuse('EXE-954', place, event.kind, 'a kind that a run has');
    const withSeed = ['run.opened', 'intent.issued', 'effect.dispatched'].includes(event.kind);
    if ('prng_seed' in event !== withSeed) refuse('EXE-953', `${place} /prng_seed`, event.prng_seed ?? null, withSeed ? 'a seed' : null);
    await steps[event.kind]();
  }

  /** At the end: the kernel writes a request with its decision, and an ALLOW with its intent. */
  end() {
    for (const { id, state } of this.requests.open.values()) {
      if (state === 'received' || state === 'allowed') refuse('EXE-954', `request ${id}`, state, 'a decision, and an intent where it is ALLOW');
    }
  }

  opened(event) {
    this.seed = event.prng_seed;
    this.documents.need(event.body);
  }

  async received(event) {
    const { id, document, signers, place } = await this.document(event);
    if (this.requests.has(id)) refuse('EXE-954', place, id, 'each request once');
    const signer = holderOf(signers);
    for (const key of signers) {
      same('EXE-951', `${place} (GRD-003)`, 'tenant', key.tenant, document.tenant);
      if (key.role !== 'surface') same('EXE-951', `${place} (GRD-003)`, 'subject', key.subject, document.subject);
    }
    same('EXE-953', `${place} (GRD-008)`, '/origin', 'origin' in document, signer.role === 'surface');
    if (document.origin) same('EXE-953', `${place} (GRD-008)`, '/origin/surface', document.origin.surface, signer.subject);
    this.opener = this.opener ?? signer.kid;
    this.owner = this.owner ?? document.subject;
    same('EXE-953', `${place} (EXE-902)`, 'holder', signer.kid, this.opener);
    const delegated = await this.delegations(event, document, signer, place);
    const effect = digestOf(writeJson(document.effect));
    const request = {
      id, document, event, effect, holder: signer.kid, decision: null, intent: null, receivedAt: event.at,
      args: digestOf(writeJson(document.effect.params)), state: 'received', approvals: new Map(),
      size: this.documents.sizeOf(id), ...delegated, signers: [...signers, ...delegated.signers],
    };
    this.requests.set(id, request);
    for (const input of document.effect.inputs) this.name('inputs', event, input, request);
    this.counts.requests++;
  }

  /** The chain of delegation.md; its times are the judgement's business. */
  async delegations(event, request, holder, place) {
    const links = request.delegations;
    const read = [];
    if (links.length > 4) refuse('EXE-953', `${place} /delegations (GRD-601)`, links.length, 'at most 4');
    let before = null;
    const seen = new Set();
    for (let i = 0; i < links.length; i++) {
      const at = `${place} /delegations/${i}`;
      let envelope;
      try {
        envelope = readEnvelope(links[i]);
      } catch (e) {
        if (e instanceof Refusal) refuse('EXE-952', `${at}${e.place} (${e.code})`, e.recorded, e.recomputed);
        throw e;
      }
      if (envelope.payloadType !== typeOf('delegation')) refuse('EXE-952', `${at} (CAN-061)`, envelope.payloadType, typeOf('delegation'));
      const link = delegationOf(envelope, at);
      const signers = await this.verifyWithin(event, envelope, 'delegation');
      const [from] = signers;
      same('EXE-953', `${at} (GRD-606)`, '/from', link.from, from.kid);
      same('EXE-953', `${at} (GRD-606)`, 'tenant', from.tenant, request.tenant);
      same('EXE-953', `${at} (GRD-603)`, '/tenant', link.tenant, request.tenant);
      if (!link.tools.includes(request.effect.tool)) refuse('EXE-953', `${at} /tools (GRD-603)`, quoted(link.tools), request.effect.tool);
      if (before) {
        same('EXE-953', `${at} (GRD-602)`, '/from', link.from, before.to);
        if (!link.tools.every((tool) => before.tools.includes(tool))) refuse('EXE-953', `${at} /tools (GRD-603)`, quoted(link.tools), quoted(before.tools));
        if (link.expires_at > before.expires_at) refuse('EXE-953', `${at} /expires_at (GRD-604)`, link.expires_at, before.expires_at);
        if (!(link.depth < before.depth)) refuse('EXE-953', `${at} /depth (GRD-605)`, link.depth, `below ${before.depth}`);
      }
      if (seen.has(link.from)) refuse('EXE-953', `${at} /from (GRD-602)`, link.from, 'each key once');
      seen.add(link.from);
      read.push({ id: envelope.id, link, subject: from.subject, signers });
      before = link;
    }
    if (before) {
      same('EXE-953', `${place} /delegations (GRD-602)`, 'the last /to', before.to, holder.kid);
      if (seen.has(holder.kid)) refuse('EXE-953', `${place} /delegations (GRD-602)`, holder.kid, 'each key once');
    }
    return {
      links: read,
      charged: [...new Set([request.subject, ...read.map((one) => one.subject)])],
      keys: new Set([holder.kid, ...seen]),
      signers: read.flatMap((one) => one.signers),
    };
  }

  request(id, place, member = '/request') {
    const request = this.requests.get(id);
    if (!request) refuse('EXE-954', `${place} ${member}`, id, 'a request of this run before');
    return request;
  }

  async approved(event) {
    const { id, document, signers, place } = await this.document(event);
    const request = this.request(document.request, place);
    if (request.state !== 'waiting') refuse('EXE-954', place, request.state, 'a request that waits for approval');
    same('EXE-953', place, '/effect', document.effect, request.effect);
    for (const key of signers) {
      same('EXE-953', `${place} (GRD-614)`, 'tenant', key.tenant, document.tenant);
      same('EXE-953', `${place} (GRD-614)`, '/approver', document.approver, key.subject);
    }
    if (request.approvals.has(id)) refuse('EXE-954', place, id, 'each approval once');
    request.approvals.set(id, { document, signers });
  }

  async decided(event) {
    const { id, document, place } = await this.document(event);
    const request = this.request(document.request, place);
    if (!['received', 'waiting', 'issued', 'dead'].includes(request.state)) {
      refuse('EXE-954', place, request.state, 'a request that is neither dispatched nor denied');
    }
    same('EXE-953', place, '/supersedes', document.supersedes, request.decision?.id);
    same('EXE-953', place, '/subject', document.subject, request.document.subject);
    same('EXE-953', place, '/holder', document.holder, request.holder);
    same('EXE-953', place, '/effect', document.effect, request.effect);
    const { inputs } = document;
    same('EXE-953', place, '/decided_at', document.decided_at, event.at);
    same('EXE-956', place, '/decided_at', document.decided_at, inputs.time);
    same('EXE-956', place, '/inputs/charged', inputs.charged.join('\n'), request.charged.join('\n'));
    if (this.steps.has(inputs.step)) refuse('EXE-957', `${place} /inputs/step`, inputs.step, 'a step of its own');
    this.steps.add(inputs.step);
    const policy = this.policyOf(event, document, place);
    this.receipt(inputs, request, place);
    this.admitted(request, policy, place);
    this.readmitted(event, document, request, place);
    this.standing(document, request, policy, place);
    this.succeeded(inputs.history, place);
    this.governed(event, document, request, policy, place);
    checkVerdict(document, request.document, policy, place);
    this.ownership(document, request, policy, place);
    const counted = inputs.approvals.map((seen) => seen.id);
    const aside = inputs.ignored.map((one) => one.id);
    const wanted = [...request.approvals.keys()].filter((one) => !aside.includes(one)).sort();
    same('EXE-956', place, '/inputs/approvals', counted.join('\n'), wanted.join('\n'));
    inputs.approvals.forEach((seen, i) => {
      const at = `${place} /inputs/approvals/${i}`;
      checkSeenApproval(seen, request, document, policy, at);
      for (const key of request.approvals.get(seen.id).signers) {
        if (this.system.isRevokedAt(event, key)) refuse('EXE-956', `${at} (CAN-055)`, `${key.kid} at ${event.at}`, `revoked at ${key.revokedAt}`);
        if (!inWindow(key, document.decided_at)) refuse('EXE-956', `${at} (CAN-054)`, document.decided_at, `${key.notBefore} to ${key.notAfter ?? 'no end'}`);
      }
    });
    for (let i = 0; i < inputs.artifacts.length; i++) await this.artifact(event, inputs.artifacts[i], request, `${place} /inputs/artifacts/${i}`);
    await this.mandates(document, request, policy, place);
    request.decision = { id, document, policy };
    request.intent = null;
    request.state = { ALLOW: 'allowed', DENY: 'denied', ESCALATE: 'waiting' }[document.verdict];
    this.counts.decisions++;
    this.counts[{ ALLOW: 'allowed', DENY: 'denied', ESCALATE: 'escalated' }[document.verdict]]++;
  }

  /**
   * The time of receipt is the event's; a later judgement may state that of another call with the
   * request, made before the first one had ended (audit.md, bound 11).
   */
  receipt(inputs, request, place) {
    const judgedAt = request.judgedAt ?? -Infinity; // none has judged it yet
    request.judgedAt = request.judgedAt ?? millis(inputs.time);
    if (inputs.received_at === request.receivedAt) return;
    const other = millis(inputs.received_at);
    if (other > millis(inputs.time) || other > judgedAt + IN_FLIGHT_MS) {
      refuse('EXE-956', `${place} /inputs/received_at`, inputs.received_at, request.receivedAt);
    }
    request.receivedAt = inputs.received_at;
    this.otherReceipts++;
  }

  /** What of a request is held before it is judged, beside its signatures and delegations (request.md, Admission). */
  admitted(request, policy, place) {
    const { request_age_max_s: age, request_bytes_max: most } = policy.limits;
    if (request.size > most) refuse('EXE-956', `${place} (GRD-002)`, request.size, `at most ${most} bytes`);
    const asked = millis(request.document.requested_at);
    const received = millis(request.receivedAt);
    if (asked - SKEW_MS > received) refuse('EXE-956', `${place} (GRD-004)`, request.receivedAt, request.document.requested_at);
    if (asked + age * 1000 < received) refuse('EXE-956', `${place} (GRD-005)`, request.receivedAt, `${age} s at most`);
  }

  /** Who signed the request and its delegations could do so at its receipt, or at this judgement, and was not revoked by then. */
  readmitted(event, decision, request, place) {
    const revoked = request.signers.find((key) => this.system.isRevokedAt(event, key));
    if (revoked) refuse('EXE-956', `${place} (CAN-055)`, `${revoked.kid} at ${event.at}`, `revoked at ${revoked.revokedAt}`);
    const holds = (now) => request.signers.every((key) => inWindow(key, now))
      && request.links.every(({ link }) => link.not_before <= now && now < link.expires_at);
    if (!holds(request.receivedAt) && !holds(decision.decided_at)) {
      refuse('EXE-956', `${place} (CAN-054, GRD-604)`, `${request.receivedAt}, ${decision.decided_at}`, 'a time at which its keys and delegations hold');
    }
  }

  /** What a judgement says to have succeeded in the run did so before it; a false may have come true since. */
  succeeded(history, place) {
    for (const { tool, operation, succeeded } of history) {
      if (succeeded && !this.done.has(`${tool}\n${operation}`)) {
        refuse('EXE-956', `${place} /inputs/history`, `${tool} ${operation} succeeded`, 'no such receipt before');
      }
    }
  }

  /** Whose the run is that a surface opened: its first subject's, and those with whom policy shares it (runs.md, 7). */
  ownership(decision, request, policy, place) {
    const { origin, run, subject, tenant } = request.document;
    const { owner } = decision.inputs;
    this.ownerIsRecorded = this.ownerIsRecorded || owner !== undefined;
    const wanted = origin && this.ownerIsRecorded ? this.owner : undefined;
    same('EXE-956', place, '/inputs/owner', owner, wanted);
    const prg = decision.checks.find((c) => c.check === 'prg');
    if (prg.outcome === 'not_reached') return;
    const foreign = origin?.run !== undefined
      || (owner !== undefined && !request.charged.includes(owner) && !sharesRun(policy, tenant, origin.surface, run, owner, subject, origin.roles));
    same('EXE-956', `${place} (GRD-721)`, 'run of somebody else', prg.code === 'GRD-721', foreign);
  }

  /** What governance said of the tool, and that a version which does not run here was not allowed. */
  governed(event, decision, request, policy, place) {
    const { tool, version } = request.document.effect;
    const recorded = decision.inputs.governed ?? null;
    const told = (value) => (value === null ? 'nothing' : writeValue(value));
    const wanted = told(recorded);
    const seen = governs(policy, tool, version) ? this.system.seenAt(event, tool, version) : [{ governed: null }];
    const at = placeIn(seen, ({ governed }) => told(governed) === wanted);
    if (at < 0) refuse('EXE-956', `${place} /inputs/governed`, wanted, told(governs(policy, tool, version) ? this.system.governedNow(tool, version) : null));
    if (at > 0) this.system.inFlight++;
    if (decision.verdict !== 'ALLOW' || listed(policy, tool, version)) return;
    if (recorded === null) refuse('EXE-956', `${place} /verdict`, 'ALLOW', 'DENY: policy does not list the tool, and nobody submitted it');
    if (!mayRun(recorded, tool, version, drawOf(decision, decision.inputs.owner))) {
      refuse('EXE-956', `${place} /verdict (GRD-416)`, 'ALLOW', `DENY: ${told(recorded)}`);
    }
  }

  /** What a judgement gathers of who asks: roles, delegations, and how long the answer can hold. */
  standing(decision, request, policy, place) {
    const { tenant, subject } = request.document;
    const principal = policy.principals.find((p) => p.tenant === tenant && p.subject === subject);
    if (!principal) refuse('EXE-956', `${place} (GRD-006)`, subject, 'a principal of the policy');
    same('EXE-956', place, '/inputs/roles', decision.inputs.roles.join('\n'), principal.roles.join('\n'));
    const { origin } = request.document;
    if (origin && !principal.surfaces.includes(origin.surface)) refuse('EXE-956', `${place} (GRD-008)`, origin.surface, principal.surfaces.join(', '));
    request.links.forEach(({ id, subject: delegator }, i) => {
      const at = `${place} /delegations/${i}`;
      if (policy.revoked.includes(id)) refuse('EXE-956', `${at} (GRD-607)`, id, 'a delegation that the policy does not revoke');
      if (!policy.principals.some((p) => p.tenant === tenant && p.subject === delegator)) refuse('EXE-956', `${at} (GRD-006)`, delegator, 'a principal of the policy');
    });
    const ends = [...request.links.map(({ link }) => link.expires_at), ...decision.inputs.approvals.filter((a) => a.verdict === 'APPROVE').map((a) => a.expires_at), ...(decision.inputs.mandates ?? []).map((m) => m.expires_at)].sort(); // none is sorted last
    same('EXE-956', place, '/inputs/valid_until', decision.inputs.valid_until, ends[0]);
    if (decision.inputs.nonce_seen) refuse('EXE-956', `${place} /inputs/nonce_seen`, 'true', 'false: such a request is not let in');
  }

  policyOf(event, decision, place) {
    const known = this.system.policies.get(decision.policy);
    if (!known) refuse('EXE-950', `${place} /policy`, decision.policy, 'a policy that was activated before');
    if (known.until) this.system.allowInFlight(event, known.until, 'EXE-950', `${place} /policy`, decision.policy);
    return known.policy;
  }

  async artifact(event, seen, request, place) {
    if (!request.document.evidence.includes(seen.id)) refuse('EXE-953', place, seen.id, 'evidence that the request names');
    const envelope = this.documents.get(seen.id, place);
    this.documents.need(seen.id);
    same('EXE-953', place, '/type', seen.type, envelope.payloadType);
    const signers = await this.verifyWithin(event, envelope, null);
    const told = signers.map((k) => `${k.kid} ${k.role} ${k.subject}`).sort().join(', ');
    same('EXE-953', place, '/signers', seen.signers.map((k) => `${k.kid} ${k.role} ${k.subject}`).sort().join(', '), told);
    for (const key of signers) if (key.tenant !== null) same('EXE-953', place, 'tenant of a signer', key.tenant, request.document.tenant);
  }

  /** The mandates that were brought are verified again, and what the decision makes of them (mandate.md). */
  async mandates(decision, request, policy, place) {
    const { artifacts, balances, mandates = [] } = decision.inputs;
    const brought = artifacts.filter(({ type }) => type === typeOf('mandate'));
    same('EXE-956', place, '/inputs/mandates', mandates.map(({ id }) => id).join(), brought.map(({ id }) => id).join());
    for (let i = 0; i < brought.length; i++) {
      const seen = await seeMandate(this.documents.get(brought[i].id, place), request, policy.mandates, decision.decided_at);
      same('EXE-956', place, `/inputs/mandates/${i}`, writeValue(mandates[i]), writeValue(seen));
    }
    const wanted = mandateOfRule(policy, request.document);
    const { use, refused } = wanted ? findMandate(wanted.node, request.document, mandates) : {};
    const [prg, budget] = ['prg', 'budget'].map((check) => decision.checks.find((c) => c.check === check));
    if (wanted?.alone && prg.outcome !== 'not_reached' && !['GRD-105', 'GRD-721'].includes(prg.code)) {
      same('EXE-956', place, 'code of the check prg', prg.code, refused);
    }
    if (wanted?.required && prg.outcome === 'pass' && !use) refuse('EXE-956', `${place} /verdict (${refused})`, 'ALLOW', 'a mandate that covers it');
    const dues = use ? mandateDues(use, request.document.tenant) : [];
    const kept = balances.filter(({ budget: of }) => of.startsWith('mandate/'));
    const told = (all) => all.map(({ budget: of, key, limit, window_start: from }) => `${of} ${key} ${limit} ${from}`).join();
    same('EXE-956', place, "/inputs/balances of the mandate", told(kept), told(dues));
    const isSpent = dues.some(({ amount, limit }, i) => limit !== undefined && kept[i].used + kept[i].reserved + amount > limit);
    if (budget.outcome === 'pass' && isSpent) refuse('EXE-956', `${place} (GRD-629)`, 'pass', 'a mandate that is not used up');
    if (budget.code === 'GRD-629' && !isSpent) refuse('EXE-956', `${place} (GRD-629)`, 'refuse', 'a mandate that is used up');
  }

  async issued(event) {
    const { id, document, place } = await this.document(event);
    const request = this.request(document.request, place);
    const { decision } = request;
    if (request.state !== 'allowed') refuse('EXE-954', place, request.state, 'a request that was just allowed');
    same('EXE-953', place, '/decision', document.decision, decision.id);
    for (const member of ['subject', 'holder', 'effect']) same('EXE-953', place, `/${member}`, document[member], decision.document[member]);
    same('EXE-953', place, '/prng_seed', document.prng_seed, effectSeed(this.seed, decision.id));
    same('EXE-953', place, 'prng_seed of the event', event.prng_seed, document.prng_seed);
    same('EXE-953', place, '/audience/origin', document.audience.origin, this.bundle.manifest.origin);
    same('EXE-953', place, '/audience/incarnation', document.audience.incarnation, this.system.incarnation);
    this.owned(document.audience, place);
    this.epoch = Math.max(this.epoch, document.audience.epoch ?? 0);
    const effect = request.document.effect;
    same('EXE-953', place, '/tool/name', document.tool.name, effect.tool);
    same('EXE-953', place, '/tool/version', document.tool.version, effect.version);
    const approved = listed(decision.policy, effect.tool, effect.version) ?? decision.document.inputs.governed;
    same('EXE-953', place, '/tool/package', document.tool.package, approved.package);
    same('EXE-953', place, '/issued_at', document.issued_at, event.at);
    if (document.issued_at < decision.document.decided_at) refuse('EXE-953', `${place} /issued_at`, document.issued_at, `not before ${decision.document.decided_at}`);
    const latest = millis(document.issued_at) + 300000;
    const until = decision.document.inputs.valid_until;
    if (millis(document.expires_at) > latest || (until && document.expires_at > until)) {
      refuse('EXE-953', `${place} /expires_at`, document.expires_at, until ?? new Date(latest).toISOString());
    }
    request.intent = { id, document };
    request.state = 'issued';
    this.byIntent.set(id, request);
    this.need(document.tool, false);
    this.counts.intents++;
  }

  /** What an owner of the log issued is void under the next one, which has a greater epoch. */
  owned(audience, place) {
    if (audience.epoch < this.epoch) refuse('EXE-954', `${place} /audience/epoch`, audience.epoch, `${this.epoch} or more`);
  }

  need(tool, dispatched) {
    const known = this.neededPackages.get(tool.package);
    this.neededPackages.set(tool.package, { tool, dispatched: dispatched || Boolean(known?.dispatched) });
  }

  /** The request whose live intent this is. */
  live(intent, place, member) {
    const request = this.byIntent.get(intent);
    if (!request || (request !== SERVED && request.intent?.id !== intent)) refuse('EXE-954', `${place} ${member}`, intent, 'the live intent of a request before');
    return request;
  }

  async refused(event) {
    const { document, place } = await this.document(event);
    const request = this.live(document.intent, place, '/intent');
    if (request.state !== 'issued') refuse('EXE-954', place, request.state, 'an intent that was not dispatched');
    same('EXE-953', place, '/request', document.request, request.id);
    same('EXE-953', place, '/decision', document.decision, request.decision.id);
    same('EXE-953', place, '/subject', document.subject, request.document.subject);
    same('EXE-953', place, '/refused_at', document.refused_at, event.at);
    request.state = 'dead';
    this.counts.refused++;
  }

  async dispatched(event) {
    const { document, place } = await this.document(event);
    const request = this.live(event.body, place, '/body');
    if (request.state !== 'issued') refuse(request.state === 'dead' ? 'EXE-954' : 'EXE-957', place, request.state, 'an intent that was not dispatched');
    same('EXE-953', place, 'prng_seed of the event', event.prng_seed, document.prng_seed);
    if (millis(event.at) + SKEW_MS < millis(document.issued_at) || event.at >= document.expires_at) refuse('EXE-954', `${place} /at`, event.at, `${document.issued_at} to ${document.expires_at}`);
    same('EXE-954', place, 'incarnation', document.audience.incarnation, this.system.incarnation);
    this.owned(document.audience, place);
    const tool = `${document.tool.name} ${document.tool.version}`;
    const prohibited = this.system.prohibited.get(tool);
    if (prohibited) this.system.allowInFlight(event, prohibited, 'EXE-954', place, tool);
    const late = this.requireRunning(event, document, request.decision.document.inputs.owner, place);
    if (late && !prohibited) this.system.inFlight++;
    this.standingWords(event, request);
    const key = request.document.idempotency_key ?? request.id;
    const scoped = `${request.document.subject}\n${key}`;
    if (this.idempotency.has(scoped)) refuse('EXE-957', `${place} idempotency key`, key, 'each key once');
    this.idempotency.add(scoped);
    request.dispatch = event;
    request.state = 'running';
    this.need(document.tool, true);
    for (const input of request.document.effect.inputs) this.needBlob(input, place, this.name('inputs', event, input, request));
    for (const consumed of request.document.consumes) if (!this.byReceipt.has(consumed)) this.neededForeign.add(consumed);
    this.counts.dispatched++;
  }

  /** Kernels up to November 2026 did not ask whether who allowed an effect had a key in force. */
  standingWords(event, request) {
    const approvals = request.decision.document.inputs.approvals.filter(({ verdict }) => verdict === 'APPROVE');
    const words = [...approvals.map(({ id }) => request.approvals.get(id)), ...request.links];
    const revoked = words.flatMap(({ signers }) => signers).filter(({ kid }) => this.system.revocations.has(kid));
    if (revoked.some((key) => this.system.isRevokedAt(event, key))) this.allowedFormerly++;
    else if (revoked.length > 0) this.system.inFlight++;
  }

  /** Policy had the tool run for this call when it was dispatched, or a moment before; whether it was the latter. */
  requireRunning(event, intent, owner, place) {
    const { name: tool, version, package: id } = intent.tool;
    const runs = ({ policy, governed }) => {
      if (!policy) return false;
      const own = listed(policy, tool, version);
      if (own) return own.package === id;
      return governs(policy, tool, version) && governed?.package === id && mayRun(governed, tool, version, drawOf(intent, owner));
    };
    const at = placeIn(this.system.seenAt(event, tool, version), runs);
    if (at < 0) refuse('EXE-954', place, `${tool} ${version}`, 'a tool that policy has run for this subject');
    return at > 0;
  }

  /** Where a content is named; statements of deletion can only name such. */
  name(of, { at, seq }, { digest: id, size }, request) {
    const key = contentKey(of, seq, id);
    if (this.stated.has(key)) this.named.set(key, { at, request, size });
    return key;
  }

  needBlob({ digest: id, size }, place, key) {
    if (this.stated.has(key)) return;
    const blob = this.bundle.contents.blobs.get(id);
    const known = this.sizes.get(id);
    // A size that was stated, and is the entry's, need not be kept.
    const before = known ? known.size : blob && this.sized.has(blob.i) ? blob.length : undefined;
    if (before !== undefined && size !== undefined) same('EXE-953', place, `size of ${id}`, size, before);
    if (blob) this.bundle.contents.blobs.needed.add(blob.i);
    const now = size ?? before;
    if (blob && (now === undefined || now === blob.length)) {
      if (now !== undefined) this.sized.add(blob.i);
    } else {
      this.sizes.set(id, { size: now, place });
    }
  }

  ended(event) {
    this.finished = event;
    this.needBlob({ digest: event.body }, placeOf(event), contentKey('observations', event.seq, event.body));
  }

  async signed(event) {
    const { id, document, place } = await this.document(event);
    const request = this.live(document.intent, place, '/intent');
    if (request.state !== 'running') refuse('EXE-954', place, request.state, 'an effect that runs');
    this.bindReceipt(event, document, request, place);
    this.chainReceipt(document, request, place);
    const manifest = this.bundle.contents.manifests.get(document.tool.package)?.manifest;
    this.workspace.receipt({ id, document, event, place }, request.document.effect.workspace_before, request.dispatch, manifest);
    const doubt = document.status === 'in_doubt';
    same('EXE-953', place, '/observations', document.observations, this.finished?.body);
    if (this.finished) this.name('observations', this.finished, { digest: this.finished.body }, request);
    this.finished = null;
    const outputs = [document.output, document.raw_output].filter(Boolean);
    const artifacts = document.artifacts.map(({ content: kept }) => kept);
    if (document.retained && !doubt) {
      for (const kept of outputs) this.needBlob(kept, place, this.name('outputs', event, kept, request));
      for (const kept of artifacts) this.needBlob(kept, place, this.name('artifacts', event, kept, request));
    } else {
      for (const { digest: id } of [...outputs, ...artifacts]) if (!this.dropped.has(id)) this.dropped.add(id);
    }
    if (document.status === 'succeeded') this.done.add(`${document.tool.name}\n${request.document.effect.operation}`);
    request.receipt = { id, document, event };
    request.state = doubt ? 'in-doubt' : 'served';
    this.lastReceipt = { id, lamport: document.lamport };
    this.byReceipt.set(id, request);
    if (!doubt && this.stated.size === 0) this.forget(request);
    this.receipts++;
    this.counts.receipts++;
  }

  /** Of an effect that has its end only what later events may ask is kept: that it was; its lamport is in its receipt. */
  forget(request) {
    this.byReceipt.end(request.receipt.id);
    this.byIntent.end(request.intent.id);
    this.requests.end(request.id);
  }

  /** How many outputs were dropped, without those that are here, or left out, for another reason. */
  notKept() {
    return [...this.dropped].filter((id) => !this.bundle.contents.blobs.get(id) && !this.sizes.has(id)).length;
  }

  bindReceipt(event, receipt, request, place) {
    const intent = request.intent.document;
    same('EXE-953', place, '/request', receipt.request, request.id);
    same('EXE-953', place, '/decision', receipt.decision, request.decision.id);
    same('EXE-953', place, '/subject', receipt.subject, request.document.subject);
    same('EXE-953', place, '/effect', receipt.effect, request.effect);
    same('EXE-953', place, '/args_hash', receipt.args_hash, request.args);
    same('EXE-953', place, '/tool', writeValue(receipt.tool), writeValue(intent.tool));
    same('EXE-953', place, '/snapshot', receipt.snapshot, request.decision.document.snapshot);
    same('EXE-953', place, '/prng_seed', receipt.prng_seed, intent.prng_seed);
    same('EXE-953', place, '/started_at', receipt.started_at, request.dispatch.at);
    same('EXE-953', place, '/finished_at', receipt.finished_at, event.at);
    if (this.finished) same('EXE-953', placeOf(this.finished), '/at', this.finished.at, event.at);
    // A doubt that is found after the clock was set back is found at an earlier time.
    if (receipt.finished_at < receipt.started_at && request.dispatch.index > this.system.correctedAt) {
      refuse('EXE-953', `${place} /finished_at`, receipt.finished_at, `not before ${receipt.started_at}`);
    }
    same('EXE-953', place, '/retained', receipt.retained, request.document.retention === 'keep');
    same('EXE-953', place, '/output is there', 'output' in receipt, receipt.status === 'succeeded');
    if (receipt.status === 'succeeded' && 'raw_output' in receipt) refuse('EXE-953', `${place} /raw_output`, 'there', 'absent where it succeeded');
  }

  chainReceipt(receipt, request, place) {
    same('EXE-955', place, '/prev', receipt.prev, this.lastReceipt?.id ?? this.bundle.journals.run.at(0).id);
    let greatest = this.lastReceipt?.lamport ?? 0;
    for (const consumed of request.document.consumes) {
      const own = this.byReceipt.get(consumed);
      const receiptBefore = typeof own === 'number' ? { lamport: own } : own?.receipt.document ?? this.foreign.get(consumed);
      if (!receiptBefore) refuse('RPL-023', place, null, `the event of the consumed receipt ${consumed}`);
      greatest = Math.max(greatest, receiptBefore.lamport);
    }
    same('EXE-955', place, '/lamport', receipt.lamport, greatest + 1);
  }

  /** A receipt of another run that an effect of this one builds on, or a statement of deletion or of reading. */
  async consumed(event) {
    const place = placeOf(event);
    if (event.kind === 'content.deleted') return this.stateDeletion(event, place);
    if (event.kind === 'content.read') return this.stateRead(event, place);
    if (event.kind !== 'receipt.signed') refuse('RPL-024', place, event.kind, 'receipt.signed');
    if (event.tenant !== this.bundle.manifest.tenant) refuse('EXE-953', place, event.tenant, this.bundle.manifest.tenant);
    if (event.run === this.bundle.manifest.run) refuse('RPL-024', place, event.run, 'another run');
    if (this.foreign.has(event.body)) refuse('RPL-024', place, event.body, 'each receipt once');
    same('EXE-953', place, '/prng_seed', event.prng_seed, null);
    const { id, document } = await this.document(event);
    this.foreign.set(id, document);
  }

  /** Contents of this run were deleted, by a rule of the policy in force or an operator's order (retention.md). */
  async stateDeletion(event, place) {
    same('EXE-953', place, '/prng_seed', event.prng_seed, null);
    if (event.tenant !== DELETIONS.tenant || event.run !== DELETIONS.run) refuse('EXE-954', place, `${event.tenant}/${event.run}`, `${DELETIONS.tenant}/${DELETIONS.run}`);
    const { envelope, document } = bodyOf(event, 'deletion', this.documents);
    this.documents.need(envelope.id);
    await this.verify(event, envelope, 'deletion');
    same('EXE-953', place, '/deleted_at', document.deleted_at, event.at);
    const { policy, erasures } = this.system;
    const order = document.order && erasures.get(document.order);
    if (document.order && !(order && policy)) refuse('EXE-961', `${place} /order`, document.order, 'an order that was given before');
    if (!document.order && policy?.id !== document.policy) refuse('EXE-950', `${place} /policy`, document.policy, policy?.id ?? null);
    if (document.bundle) this.archivedIn(event, document, policy.policy, place);
    if (this.system.isHeld(document)) refuse('EXE-961', place, `${document.tenant}/${document.run}`, 'no run that a hold covers');
    document.contents.forEach((item, i) => this.deletedContent(event, { document, order, policy: policy.policy }, item, `${place} /contents/${i}`));
  }

  /** Somebody read something of this run, which the policy in force has recorded (read-event.md). */
  async stateRead(event, place) {
    const { manifest } = this.bundle;
    same('EXE-953', place, '/prng_seed', event.prng_seed, null);
    if (event.tenant !== READS.tenant || event.run !== READS.run) refuse('EXE-954', place, `${event.tenant}/${event.run}`, `${READS.tenant}/${READS.run}`);
    const { envelope, document } = bodyOf(event, 'read-event', this.documents);
    this.documents.need(envelope.id);
    await this.verify(event, envelope, 'read-event');
    same('EXE-953', place, '/read_at', document.read_at, event.at);
    const { policy } = this.system;
    if (policy?.id !== document.policy) refuse('EXE-950', `${place} /policy`, document.policy, policy?.id ?? null);
    const recorded = policy.policy.reads?.find((one) => one.tenant === document.tenant)?.what ?? [];
    if (!document.what.every((word) => recorded.includes(word))) refuse('EXE-954', `${place} /what`, document.what.join(' '), `${recorded.join(' ')}, which policy has recorded`);
    if (document.tenant !== manifest.tenant || document.run !== manifest.run) refuse('EXE-953', place, `${document.tenant}/${document.run ?? ''}`, `${manifest.tenant}/${manifest.run}`);
    this.counts.reads++;
  }

  deletedContent(event, { document, order, policy }, item, place) {
    const { manifest } = this.bundle;
    const ofThisRun = document.tenant === manifest.tenant && document.run === manifest.run;
    const named = ofThisRun ? this.named.get(contentKey(item.class, item.seq, item.digest)) : undefined;
    if (!named || (named.request.dispatch && item.seq === named.request.event.seq)) refuse('EXE-961', place, `${item.class} ${item.digest} of event ${item.seq}`, 'a content that this event names so');
    if (named.size !== undefined) same('EXE-961', place, '/size', item.size, named.size);
    const { request } = named;
    if (this.needsContents(request, millis(event.at), policy.limits)) refuse('EXE-961', place, item.digest, 'nothing that an effect needs which may still be executed or has no known end');
    if (order) this.deletedByOrder(document, order, item, named, place);
    else if (document.bundle) this.archived.contents.add(item.digest);
    else this.deletedByRule(event, document, policy, item, named, place);
  }

  /** Contents of a closed run go to the archive, as long after its closing as policy says, and into one bundle alone. */
  archivedIn(event, document, policy, place) {
    const { manifest } = this.bundle;
    const after = policy.retention?.archive_after_s;
    if (after === undefined) refuse('EXE-961', `${place} /policy`, document.policy, 'a policy that lets runs be archived');
    const isThisRun = document.tenant === manifest.tenant && document.run === manifest.run;
    if (!isThisRun || this.closedAt === null) refuse('EXE-961', place, `${document.tenant}/${document.run} is open`, 'a run that is closed');
    const earliest = this.closedAt + after * 1000;
    if (millis(event.at) < earliest) refuse('EXE-961', `${place} /deleted_at`, event.at, `not before ${new Date(earliest).toISOString()}`);
    this.archived = this.archived ?? { bundle: document.bundle, contents: new Set() };
    same('EXE-961', place, '/bundle', document.bundle, this.archived.bundle);
  }

  /** What events before the order name for requests that it is about. */
  deletedByOrder(document, order, item, { at, request }, place) {
    const about = Object.entries(order.detail).every(([key, value]) => request.document[key] === value);
    if (!about) refuse('EXE-961', place, `${request.document.subject} in ${request.document.run}`, writeValue(order.detail));
    if (millis(at) > order.latest) refuse('EXE-961', place, `named at ${at}`, 'before the order');
    const of = this.erased.get(document.order) ?? { contents: new Set(), at: null };
    of.contents.add(item.digest);
    of.at = document.deleted_at;
    this.erased.set(document.order, of);
  }

  deletedByRule(event, document, policy, item, named, place) {
    const { tenant, subject, effect } = named.request.document;
    const who = { tenant, subject, tool: effect.tool };
    const covers = ({ contents, match }) => contents.includes(item.class) && Object.entries(match).every(([key, value]) => who[key] === value);
    const rule = policy.retention?.rules.find(covers);
    if (rule?.name !== document.rule) refuse('EXE-961', `${place} /rule`, document.rule, rule?.name ?? 'no rule: it is kept');
    const over = millis(named.at) + rule.keep_s * 1000;
    if (millis(event.at) < over) refuse('EXE-961', `${place} /deleted_at`, event.at, `not before ${new Date(over).toISOString()}`);
    if (rule.bytes_max !== undefined) this.counts.deletedBySize++;
    this.deleted.add(item.digest);
  }

  /** Whether its effect may still be executed at that time, or was and has no known end. */
  needsContents(request, at, limits) {
    if (request.dispatch) return request.state === 'running' || request.state === 'in-doubt';
    const until = millis(request.event.at) + Math.max(limits.pending_max_s, limits.request_age_max_s) * 1000 + EXECUTABLE_MS;
    return request.state !== 'denied' && !this.closing && until >= at;
  }

  async resolved(event) {
    const { document, signers, place } = await this.document(event);
    const found = this.byReceipt.get(document.receipt);
    const request = typeof found === 'number' ? SERVED : found;
    if (request?.state !== 'in-doubt') refuse('EXE-954', place, request?.state ?? document.receipt, 'a receipt in doubt');
    if (signers[0].tenant !== null) same('EXE-951', place, 'tenant', signers[0].tenant, document.tenant);
    this.workspace.resolved(document.receipt, event);
    request.resolution = document;
    request.state = 'resolved';
  }

  async closed(event) {
    const { document, place } = await this.document(event);
    for (const request of this.requests.open.values()) {
      if (['waiting', 'running', 'in-doubt'].includes(request.state)) refuse('EXE-954', place, `${request.id} is ${request.state}`, 'nothing unfinished');
    }
    same('EXE-955', place, '/events', document.events, event.seq);
    same('EXE-955', place, '/run_hash', document.run_hash, event.prev);
    same('EXE-955', place, '/receipts', document.receipts, this.receipts);
    same('EXE-955', place, '/last_receipt', document.last_receipt, this.lastReceipt?.id ?? this.bundle.journals.run.at(0).id);
    const envelope = this.documents.get(document.request, place);
    this.documents.need(document.request);
    const close = readDocument(envelope, 'run-close', place);
    const signer = holderOf(await this.verify(event, envelope, 'run-close'));
    same('EXE-953', place, 'the run-close /tenant', close.tenant, event.tenant);
    same('EXE-953', place, 'the run-close /run', close.run, event.run);
    same('EXE-953', place, 'the signer of the run-close', signer.kid, this.opener);
    this.closing = document;
    this.closedAt = millis(event.at);
  }
}

/** The place of the first that fits; -1 where none does. No further ones are asked for. */
function placeIn(all, fits) {
  let place = 0;
  for (const one of all) {
    if (fits(one)) return place;
    place++;
  }
  return -1;
}

/** Of several keys that signed a request, the first names its holder (envelope.md, 10). */
const holderOf = ([first]) => first;

function delegationOf(envelope, place) {
  try {
    return delegationForm(parseCanonical(envelope.payload), '');
  } catch (e) {
    if (e instanceof Refusal) refuse('EXE-952', `${place} ${e.place} (${e.code})`, e.recorded, e.recomputed);
    throw e;
  }
}

const CHECKS = ['prg', 'budget', 'temporal', 'envelope'];
const SURFACES_WITH_PROFILE = ['execute', 'tools'];

/** Whether policy shares a run that was opened for one subject with another one (policy.md, Runs). */
function sharesRun(policy, tenant, surface, run, owner, subject, narrowed) {
  const rolesOf = (of) => policy.principals.find((p) => p.tenant === tenant && p.subject === of)?.roles ?? [];
  const holding = rolesOf(subject).filter((role) => !narrowed || narrowed.includes(role));
  const isOf = (share, of, roles) => share.everybody === true
    || (share.subjects ?? []).includes(of) || (share.roles ?? []).some((role) => roles.includes(role));
  const named = (pattern) => (pattern.endsWith('*') ? run.startsWith(pattern.slice(0, -1)) : run === pattern);
  return (policy.runs?.shared_by ?? []).some((share) => share.tenant === tenant
    && (!share.surfaces || share.surfaces.includes(surface))
    && (!share.runs || named(share.runs))
    && isOf(share, owner, rolesOf(owner)) && isOf(share, subject, holding));
}

/** The rule that covers a request: the mandate that it asks for, if it asks for one (policy.md, Requirements). */
function mandateOfRule(policy, { tenant, subject, effect }) {
  const roles = policy.principals.find((p) => p.tenant === tenant && p.subject === subject)?.roles ?? [];
  const covers = ({ effect: of, match = {} }) => of.tool === effect.tool
    && (of.operation === undefined || of.operation === effect.operation)
    && (match.tenant === undefined || match.tenant === tenant) && (match.subject === undefined || match.subject === subject)
    && (match.role === undefined || roles.includes(match.role)) && (match.tool === undefined || match.tool === effect.tool);
  const rule = policy.requirements.find(covers);
  const below = ({ mandate, all, any }, required, alone) => (mandate
    ? [{ node: mandate, required, alone }]
    : [...(all ?? []).flatMap((child) => below(child, required, false)), ...(any ?? []).flatMap((child) => below(child, false, false))]);
  return rule && below(rule.require, true, true)[0];
}

/** The first of the mandates that covers payee and amount, or the code of what the first one lacks. */
function findMandate(wanted, request, mandates) {
  const of = mandates.filter(({ refused, issuer, vct }) => refused !== undefined || (wanted.issuers.includes(issuer) && vct === wanted.vct));
  const found = of.map((seen) => useOf(wanted, request.effect.params, seen));
  return found.find(({ use }) => use) ?? found[0] ?? { refused: 'GRD-626' };
}

function useOf(wanted, params, seen) {
  if (seen.refused !== undefined) return { refused: seen.refused };
  const at = (pointed) => pointed.slice(1).split('/').reduce((value, part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(value) && Object.hasOwn(value, key) ? value[key] : null;
  }, params);
  if (!seen.payees.includes(at(wanted.payee))) return { refused: 'GRD-627' };
  const currency = wanted.currency.startsWith('/') ? at(wanted.currency) : wanted.currency;
  const amount = at(wanted.amount);
  const within = Number.isSafeInteger(amount) && amount >= (seen.amount_min ?? 0)
    && amount <= (seen.amount_max ?? Infinity) && amount <= (seen.total ?? Infinity);
  return currency === seen.currency && within ? { use: { amount, seen } } : { refused: 'GRD-628' };
}

/** What a use is charged to: the mandate's total, and the number of its uses. */
function mandateDues({ amount, seen }, tenant) {
  const account = { key: writeValue([tenant, seen.mandate]), window_start: '1970-01-01T00:00:00.000Z' };
  return [{ ...account, budget: 'mandate/amount', amount, limit: seen.total }, { ...account, budget: 'mandate/uses', amount: 1, limit: seen.uses }];
}

/** The refusals that a policy which only observes lets pass: those of its rules and of its roles (policy.md, *Observing*). */
const OBSERVABLE = {
  'prg would_refuse': ['GRD-101', 'GRD-102', 'GRD-103', 'GRD-620', 'GRD-621', 'GRD-622', 'GRD-623', 'GRD-624', 'GRD-625', 'GRD-626', 'GRD-627', 'GRD-628'],
  'prg would_escalate': ['GRD-104'],
  'envelope would_refuse': ['GRD-405', 'GRD-406', 'GRD-407', 'GRD-408', 'GRD-409', 'GRD-410', 'GRD-413'],
};

/** The verdict is what the checks say: the first that does not pass decides (decision.md). */
function checkVerdict(decision, request, policy, place) {
  const profiled = SURFACES_WITH_PROFILE.includes(request.origin?.surface);
  same('EXE-956', place, '/checks', decision.checks.map((c) => c.check).join(), [...(profiled ? ['profile'] : []), ...CHECKS].join());
  const stop = decision.checks.findIndex((c) => !['pass', 'would_refuse', 'would_escalate'].includes(c.outcome));
  const first = stop < 0 ? null : decision.checks[stop];
  const verdict = first === null ? 'ALLOW' : { refuse: 'DENY', escalate: 'ESCALATE', not_reached: 'none' }[first.outcome];
  same('EXE-956', place, '/verdict', decision.verdict, verdict);
  same('EXE-956', place, '/code', decision.code, first?.code);
  decision.checks.forEach((c, i) => {
    if (stop >= 0 && i > stop) same('EXE-956', place, `/checks/${i}/outcome`, c.outcome, 'not_reached');
    const would = c.outcome.startsWith('would_');
    if ('code' in c !== (i === stop || would)) refuse('EXE-956', `${place} /checks/${i}/code`, c.code ?? null, i === stop || would ? 'a code' : null);
    if (would && (policy.mode !== 'observe' || !(OBSERVABLE[`${c.check} ${c.outcome}`] ?? []).includes(c.code))) {
      refuse('EXE-956', `${place} /checks/${i}/outcome`, `${c.outcome} ${c.code}`, 'what policy enforces');
    }
  });
  const next = decision.checks.find((c) => c.outcome !== 'pass');
  const enforced = next === undefined ? 'ALLOW' : next.outcome.endsWith('escalate') ? 'ESCALATE' : 'DENY';
  same('EXE-956', place, '/observed', decision.observed?.verdict, policy.mode === 'observe' ? enforced : undefined);
  same('EXE-956', place, '/observed/code', decision.observed?.code, policy.mode === 'observe' ? next?.code : undefined);
}

/**
 * An approval that a decision counts (approval.md). A rejection is final: neither its time nor the
 * policy that it names binds it.
 */
function checkSeenApproval(seen, request, decision, policy, place) {
  const { document, signers } = request.approvals.get(seen.id); // those that were received are those that count
  const kids = signers.map((key) => key.kid);
  same('EXE-956', place, '/approver', seen.approver, document.approver);
  same('EXE-956', place, '/kid', seen.kid, kids[0]);
  same('EXE-956', place, '/role', seen.role, document.role);
  same('EXE-956', place, '/expires_at', seen.expires_at, document.expires_at);
  same('EXE-956', place, '/verdict', seen.verdict, document.verdict.toUpperCase());
  const subjects = [...request.charged, request.document.origin?.principal];
  if (subjects.includes(document.approver) || kids.some((kid) => request.keys.has(kid))) {
    refuse('EXE-956', `${place} (GRD-612)`, document.approver, 'somebody who does not ask');
  }
  const known = policy.approvers.some((a) => a.tenant === document.tenant && a.subject === document.approver && a.roles.includes(document.role));
  if (!known) refuse('EXE-956', `${place} (GRD-613)`, `${document.approver} as ${document.role}`, 'an approver of the policy');
  if (policy.revoked.includes(seen.id)) refuse('EXE-956', `${place} (GRD-607)`, seen.id, 'an approval that the policy does not revoke');
  if (document.verdict === 'reject') return;
  same('EXE-956', place, 'policy of the approval (GRD-610)', document.policy, decision.policy);
  const now = millis(decision.decided_at);
  if (millis(document.approved_at) - SKEW_MS > now || now >= millis(document.expires_at)) {
    refuse('EXE-956', `${place} (GRD-611)`, `${document.approved_at} to ${document.expires_at}`, decision.decided_at);
  }
}

const SKEW_MS = 2000;

// -------------------------------------------------------------------------- mandates (mandate.md)

const MANDATE_JSON = { bytes: 65536, depth: 16 };
const MANDATE_DEPTH = 32;
const MAY_LACK = ['allowed', 'delegate_payload'];

/** What a body gives; whatever refuses in it refuses with this code. */
function coded(code, body) {
  try {
    return body();
  } catch (e) {
    if (!(e instanceof Refusal) || e.code === code) throw e;
    return refuse(code, e.place, e.code, 'the form of mandate.md');
  }
}

const own = (object, member) => (Object.hasOwn(object, member) ? object[member] : undefined);

/** A condition of a mandate, by the code of its step. */
const asks = (code) => (holds, found) => {
  if (!holds) refuse(code, 'mandate', found, 'the form of mandate.md');
};

const bytesOfMandate = (part, code) => fromBase64Url(part) ?? refuse(code, 'mandate', 'base64', 'base64url without padding');

/** A JSON Web Signature in compact form; nothing of it is verified. */
function parseJws(text, code) {
  return coded(code, () => {
    const parts = text.split('.');
    asks(code)(parts.length === 3, `${parts.length} parts`);
    const [header, payload] = [parts[0], parts[1]].map((part) => anyObject(parseJson(bytesOfMandate(part, code), MANDATE_JSON), 'mandate'));
    asks(code)(!Object.hasOwn(header, 'crit'), 'critical headers');
    return { header, payload, signed: utf8(`${parts[0]}.${parts[1]}`), signature: bytesOfMandate(parts[2], code) };
  });
}

/** A key of ES256 or EdDSA; other members of the JWK are not read. */
function parseJwsKey(jwk) {
  anyObject(jwk, 'jwk');
  if (Object.hasOwn(jwk, 'd')) refuse('CAN-021', 'jwk/d', 'a private key', 'a public one');
  const [members, crv] = own(jwk, 'kty') === 'EC' ? [['x', 'y'], 'P-256'] : [['x'], 'Ed25519'];
  oneOf('EC', 'OKP')(own(jwk, 'kty'), 'jwk/kty');
  oneOf(crv)(own(jwk, 'crv'), 'jwk/crv');
  for (const member of members) text(own(jwk, member), `jwk/${member}`);
  if (crv === 'P-256') return { alg: 'ES256', ...checkPoint(jwk, 'jwk') };
  const bytes = fromBase64Url(jwk.x);
  if (bytes === null) refuse('CAN-023', 'jwk/x', jwk.x, 'base64url without padding');
  return { alg: 'EdDSA', ...checkEd25519Key(bytes, 'jwk/x') };
}

async function isSignedBy({ header, signed, signature }, key) {
  if (own(header, 'alg') !== key.alg) return false;
  if (key.alg === 'ES256') {
    const numbers = ecdsaPair(signature);
    return numbers !== null && judgeEcdsa(key.point, sha256(signed), numbers);
  }
  try {
    await verifyEd25519(key, signed, signature);
    return true;
  } catch (e) {
    if (e instanceof Refusal) return false;
    throw e;
  }
}

const hashOfText = (value) => toBase64Url(sha256(utf8(value)));

/** An SD-JWT with key binding as it was presented (RFC 9901). */
function parseSdJwt(presented) {
  const require = asks('GRD-620');
  require(presented.length <= 65536 && /^[A-Za-z0-9_.~-]*$/.test(presented), `${presented.length} characters`);
  const parts = presented.split('~');
  require(parts.length >= 2 && parts.length <= 130, `${parts.length - 2} disclosures`);
  const issued = parseJws(parts[0], 'GRD-620');
  require(['ES256', 'EdDSA'].includes(own(issued.header, 'alg')), 'alg');
  const type = own(issued.header, 'typ');
  require(typeof type === 'string' && type.endsWith('+sd-jwt') && type !== 'kb+sd-jwt', 'typ');
  require(!Object.hasOwn(issued.payload, '_sd_alg') || issued.payload._sd_alg === 'sha-256', '_sd_alg');
  const disclosures = parts.slice(1, -1).map((part) => coded('GRD-620', () => {
    const items = parseJson(bytesOfMandate(part, 'GRD-620'), MANDATE_JSON);
    require(Array.isArray(items) && (items.length === 2 || items.length === 3) && typeof items[0] === 'string', 'a disclosure');
    require(items.length === 2 || (typeof items[1] === 'string' && !['_sd', '...'].includes(items[1])), 'the name of a disclosure');
    return { digest: hashOfText(part), name: items.length === 3 ? items[1] : null, value: items.at(-1) };
  }));
  const binding = parts.at(-1);
  return { issued, disclosures, covered: presented.slice(0, presented.length - binding.length), binding };
}

/** The payload with what was disclosed; only what makes the mandate narrower may be missing. */
function disclosed({ issued, disclosures }) {
  const require = asks('GRD-623');
  const left = new Map(disclosures.map((one) => [one.digest, one]));
  require(left.size === disclosures.length, 'a disclosure twice');
  const named = new Set();
  const take = (id) => {
    require(typeof id === 'string' && !named.has(id), 'a digest twice');
    named.add(id);
    const one = left.get(id);
    left.delete(id);
    return one;
  };
  const walk = (value, member, depth) => {
    if (Array.isArray(value)) {
      require(depth <= MANDATE_DEPTH, 'nested too deeply');
      return value.flatMap((item) => {
        if (!isObject(item) || !Object.hasOwn(item, '...')) return [walk(item, '', depth + 1)];
        require(Object.keys(item).length === 1, '... beside other members');
        const one = take(item['...']);
        require(one || MAY_LACK.includes(member), 'an item that is not disclosed');
        require(!one || one.name === null, 'a member in the place of an item');
        return one ? [walk(one.value, '', depth + 1)] : [];
      });
    }
    if (!isObject(value)) return value;
    require(depth <= MANDATE_DEPTH, 'nested too deeply');
    require(!Object.hasOwn(value, '...'), 'a member named ...');
    const whole = Object.create(null);
    for (const key of Object.keys(value)) if (key !== '_sd') whole[key] = walk(value[key], key, depth + 1);
    if (Object.hasOwn(value, '_sd')) {
      require(Array.isArray(value._sd), '_sd');
      for (const id of value._sd) {
        const one = take(id);
        require(one && one.name !== null && !Object.hasOwn(whole, one.name), 'a member that is not disclosed, or twice');
        whole[one.name] = walk(one.value, one.name, depth + 1);
      }
    }
    return whole;
  };
  const payload = Object.assign(Object.create(null), issued.payload);
  delete payload._sd_alg;
  const whole = walk(payload, '', 0);
  require(left.size === 0, 'a disclosure that nothing names');
  return whole;
}

/** What a mandate allows; a limit that is not known is refused (mandate.md, Terms). */
function termsOf(claims, content) {
  const require = asks('GRD-625');
  const object = (value) => {
    require(isObject(value), 'no object');
    return value;
  };
  const items = (value) => {
    require(Array.isArray(value), 'no list');
    return value;
  };
  const textOf = (of, member, test) => {
    const value = own(of, member);
    require(typeof value === 'string' && value.length > 0 && test(value), member);
    return value;
  };
  const number = (of, member) => {
    const value = own(of, member);
    require(Number.isSafeInteger(value) && value >= 0, member);
    return value + 0;
  };
  const only = (of, ...members) => Object.keys(of).forEach((key) => require(members.includes(key), key));
  const terms = { uses: 1 };
  const inCurrency = (of) => {
    const code = textOf(of, 'currency', (value) => /^[A-Z]{3}$/.test(value));
    require((terms.currency ?? code) === code, 'several currencies');
    terms.currency = code;
  };
  const between = (min, max) => {
    terms.amount_min = Math.max(min, terms.amount_min ?? 0);
    terms.amount_max = Math.min(max, terms.amount_max ?? max);
  };
  const payees = (allowed) => {
    const ids = [...new Set(allowed.map((one) => textOf(object(one), 'id', (value) => value.length <= 256)))].sort();
    terms.payees = terms.payees ? terms.payees.filter((id) => ids.includes(id)) : ids;
  };
  for (const limit of ['constraints', 'payee', 'payment_amount']) require(content === claims || !Object.hasOwn(claims, limit), limit);
  for (const limit of ['aud', 'execution_date', 'payment_instrument', 'pisp', 'status']) require(!Object.hasOwn(claims, limit) && !Object.hasOwn(content, limit), limit);
  terms.vct = textOf(content, 'vct', (value) => value.length <= 256);
  if (Object.hasOwn(content, 'payment_amount')) {
    const amount = object(content.payment_amount);
    only(amount, 'amount', 'currency');
    inCurrency(amount);
    between(number(amount, 'amount'), number(amount, 'amount'));
  }
  if (Object.hasOwn(content, 'payee')) payees([content.payee]);
  const types = new Set();
  for (const item of Object.hasOwn(content, 'constraints') ? items(content.constraints) : []) {
    const type = textOf(object(item), 'type', () => true);
    require(!types.has(type), type);
    types.add(type);
    if (type === 'payment.amount_range') {
      only(item, 'type', 'currency', 'max', 'min');
      inCurrency(item);
      between(Object.hasOwn(item, 'min') ? number(item, 'min') : 0, number(item, 'max'));
    } else if (type === 'payment.allowed_payees') {
      only(item, 'type', 'allowed');
      payees(items(own(item, 'allowed')));
    } else if (type === 'payment.budget') {
      only(item, 'type', 'currency', 'max');
      inCurrency(item);
      terms.total = number(item, 'max');
    } else if (type === 'payment.agent_recurrence') {
      only(item, 'type', 'frequency', 'max_occurrences');
      textOf(item, 'frequency', (value) => value === 'ON_DEMAND');
      terms.uses = Object.hasOwn(item, 'max_occurrences') ? number(item, 'max_occurrences') : undefined;
    } else {
      require(false, type);
    }
  }
  require(terms.currency !== undefined && terms.payees !== undefined, 'no amount or no payee that limits it');
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

const secondsOf = (value, code) => {
  asks(code)(Number.isSafeInteger(value) && value >= 0 && value <= 253402300799, quoted(value));
  return value * 1000;
};

/** The end of a mandate that holds at a time, in milliseconds. */
function endOf(places, now) {
  const stated = (member) => places.filter((of) => Object.hasOwn(of, member)).map((of) => secondsOf(of[member], 'GRD-622'));
  for (const from of [...stated('nbf'), ...stated('iat')]) asks('GRD-622')(from - SKEW_MS <= now, 'not yet');
  const ends = stated('exp');
  asks('GRD-622')(ends.length > 0 && now < Math.min(...ends), 'over, or without an end');
  return Math.min(...ends);
}

async function requireBinding({ binding, covered }, confirmed, request, audience, now) {
  const require = asks('GRD-624');
  require(binding !== '', 'no key binding JWT');
  require(isObject(confirmed) && Object.hasOwn(confirmed, 'jwk'), 'no cnf with a jwk');
  const key = coded('GRD-624', () => parseJwsKey(confirmed.jwk));
  const jws = parseJws(binding, 'GRD-624');
  const { nonce, run, subject, tenant } = request.document;
  const challenge = toBase64Url(sha256(writeJson({ effect: request.effect, nonce, run, subject, tenant })));
  require(own(jws.header, 'typ') === 'kb+jwt', 'typ');
  require(own(jws.payload, 'aud') === audience, 'aud');
  require(own(jws.payload, 'nonce') === challenge, 'nonce');
  require(own(jws.payload, 'sd_hash') === hashOfText(covered), 'sd_hash');
  require(secondsOf(own(jws.payload, 'iat'), 'GRD-624') - SKEW_MS <= now, 'iat');
  require(await isSignedBy(jws, key), 'the signature');
}

async function verifyMandate(envelope, request, trust, at) {
  const form = record({ mandate: text });
  const presented = parseSdJwt(coded('GRD-620', () => form(parseCanonical(envelope.payload), '').mandate));
  const { issued } = presented;
  let issuer;
  for (const one of trust?.issuers ?? []) {
    const isOne = one.tenant === request.document.tenant && (one.iss === undefined || one.iss === own(issued.payload, 'iss'));
    if (!issuer && isOne && (await isSignedBy(issued, parseJwsKey(one.key)))) issuer = one.name;
  }
  asks('GRD-621')(issuer !== undefined, 'another issuer');
  const claims = disclosed(presented);
  const delegated = own(claims, 'delegate_payload');
  asks('GRD-625')(delegated === undefined || (Array.isArray(delegated) && delegated.length === 1 && isObject(delegated[0])), 'delegate_payload');
  const content = delegated === undefined ? claims : delegated[0];
  const terms = termsOf(claims, content);
  const now = millis(at);
  const end = endOf([claims, content], now);
  await requireBinding(presented, Object.hasOwn(content, 'cnf') ? content.cnf : own(claims, 'cnf'), request, trust.audience, now);
  return { ...terms, expires_at: new Date(end).toISOString(), id: envelope.id, issuer, mandate: digestOf(issued.signed) };
}

/** A mandate as a decision records it: what it allows, or the code for which it does not count. */
async function seeMandate(envelope, request, trust, at) {
  try {
    return await verifyMandate(envelope, request, trust, at);
  } catch (e) {
    if (e instanceof Refusal && e.code.startsWith('GRD-62')) return { id: envelope.id, refused: e.code };
    throw e;
  }
}

// ---------------------------------------------------------------------------------- the whole bundle

/**
 * The checkpoint: signed by a key of the role log that is enrolled, not revoked, and in force at the
 * last event that it is known to cover (RPL-040); of a kept checkpoint none is known. What another
 * key's signature is worth, or is not, says nothing of this one's.
 */
async function checkCheckpoint(bytes, trust, origin, covered, place) {
  const note = within(place, () => parseNote(bytes));
  const stated = within(place, () => parseCheckpoint(note.text));
  for (const kid of [...trust.keys.keys()].sort()) {
    const key = trust.keys.get(kid);
    if (key.role !== 'log' || key.algorithm !== 'Ed25519' || key.revokedAt !== null) continue;
    if (covered && !inWindow(key, covered.at)) continue;
    try {
      await verifyCheckpoint(bytes, noteKey(origin, key), origin);
      return { checkpoint: stated, key };
    } catch (e) {
      if (!(e instanceof Refusal)) throw e;
    }
  }
  return refuse('RPL-040', place, note.signatures.map((s) => `${s.name}+${s.id}`).join(', '), 'a signature of an enrolled log key');
}

/** Who signed, from when to when, and with which algorithms every document of a role is signed. */
class Signed {
  constructor() {
    this.keys = new Map(); // kid → {key, first, last}: the earliest and the latest event
    this.algorithms = new Map(); // role → the sets of them that documents were signed with, as text
  }

  /** For a kept checkpoint there is no event: nothing says when it was signed. */
  add(signers, event) {
    const found = signers.map((key) => key.algorithm);
    for (const key of signers) {
      const seen = this.keys.get(key.kid) ?? { key, first: null, last: null };
      this.keys.set(key.kid, seen);
      if (event && (seen.first === null || event.at < seen.first.at)) seen.first = event;
      if (event && (seen.last === null || event.at > seen.last.at)) seen.last = event;
      if (!this.algorithms.has(key.role)) this.algorithms.set(key.role, new Set());
      this.algorithms.get(key.role).add(found.join());
    }
  }

  /**
   * Holds what the pins say of a key against what it signed (bundle.md, Pins): its holder, its
   * revocation, its window; and the algorithms of each role. Nothing in the bundle outweighs a pin.
   */
  hold(pins, trust) {
    for (const kid of [...this.keys.keys()].sort()) {
      const pin = pins.keys.get(kid);
      if (!pin) continue;
      const { first, last } = this.keys.get(kid);
      const enrolled = trust.keys.get(kid);
      const holder = (key) => writeValue([key.role, key.tenant, key.subject, key.relyingParty ?? null]);
      same('RPL-080', `key ${kid}`, 'holder', holder(enrolled), holder(pin));
      if (pin.revokedAt !== null) this.holdRevocation(pin, enrolled, last);
      for (const event of [first, last]) {
        if (event && !inWindow(pin, event.at)) {
          refuse('RPL-082', `key ${kid} in ${placeOf(event)}`, event.at, `pinned from ${pin.notBefore} to ${pin.notAfter ?? 'no end'}`);
        }
      }
    }
    for (const role of Object.keys(KINDS_OF_ROLE)) {
      for (const found of this.algorithms.get(role) ?? []) {
        const signed = found.split(',');
        const counted = signed.concat(signed.map(inPlaceOf(pins, role)));
        const missing = requiredAlgorithms(pins, role).find((algorithm) => !counted.includes(algorithm));
        if (missing) refuse('RPL-083', `documents of role ${role}`, found, `${missing} in each, as pinned`);
      }
    }
  }

  /** One that the log shows no later is held by the place of each document in the log. */
  holdRevocation(pin, enrolled, last) {
    const place = `key ${pin.kid}`;
    const pinned = `revoked at ${pin.revokedAt}, as pinned`;
    if (enrolled.revokedAt === null) refuse('RPL-081', place, 'no revocation in the log', pinned);
    if (enrolled.revokedAt > pin.revokedAt && last && last.at >= pin.revokedAt) {
      refuse('RPL-081', `${place} in ${placeOf(last)}`, `signed at ${last.at}, revoked in the log at ${enrolled.revokedAt}`, pinned);
    }
  }
}

function checkPins(pins, founder, logKey) {
  for (const [what, key] of [['the founding operator', founder], ['the log', logKey]]) {
    const pinned = pins.keys.get(key.kid);
    if (!pinned) refuse('RPL-041', what, key.kid, 'a key that is pinned');
    if (pinned.role !== key.role) refuse('RPL-041', what, `pinned as ${pinned.role}`, key.role);
  }
}

const hashesForm = (value, place) => {
  list(digest)(value, place);
  if (value.length > 64) refuse('LED-041', place, value.length, 'at most 64');
  return value;
};
const consistencyForm = record({ path: hashesForm, size1: count, size2: count });

/** Its hashes mean something beside a kept checkpoint alone; its form does always. */
function readConsistency(entries, size) {
  if (!entries.has(CONSISTENCY)) return null;
  const bytes = entry(entries, CONSISTENCY);
  const proof = within(CONSISTENCY, () => consistencyForm(parseCanonical(bytes), ''));
  const { size1, size2, path } = proof;
  const fits = size1 < size2 && (size1 === size || size2 === size) && path.length === consistencyHashes(size1, size2);
  if (!fits) refuse('RPL-084', CONSISTENCY, `${path.length} hashes between ${size1} and ${size2}`, `a proof for size ${size}`);
  return proof;
}

/** What is said of a checkpoint that the reader kept: a line for "verified" or for "not verified". */
async function checkKept(kept, bundle, sum) {
  const { origin } = within('the kept checkpoint', () => parseCheckpoint(parseNote(kept).text));
  if (origin !== bundle.manifest.origin) refuse('LED-054', 'the kept checkpoint', origin, bundle.manifest.origin);
  const { checkpoint: earlier, key } = await checkCheckpoint(kept, sum.trust, bundle.manifest.origin, null, 'the kept checkpoint');
  bundle.system.signed.add([key], null);
  const { checkpoint, consistency } = bundle;
  const says = `the kept checkpoint of size ${earlier.size}`;
  if (earlier.size === checkpoint.size) {
    if (earlier.root !== checkpoint.root) refuse('RPL-042', `checkpoints of size ${checkpoint.size}`, checkpoint.root, earlier.root);
    return { verified: [`${says} has the same root`], notVerified: [], uncovered: null };
  }
  const [first, second] = earlier.size < checkpoint.size ? [earlier, checkpoint] : [checkpoint, earlier];
  if (!consistency || consistency.size1 !== first.size || consistency.size2 !== second.size) {
    return { verified: [], notVerified: [`that the log of size ${checkpoint.size} is consistent with ${says}: the bundle has no proof of that; export it with --checkpoint`], uncovered: 'no proof to it' };
  }
  try {
    verifyConsistency(first.size, digestBytes(first.root), second.size, digestBytes(second.root), consistency.path.map(digestBytes), CONSISTENCY);
  } catch (e) {
    if (e instanceof Refusal) refuse('RPL-042', `${e.place} (${e.code})`, e.recorded, e.recomputed);
    throw e;
  }
  const uncovered = first === earlier ? `size ${earlier.size}` : null;
  return { verified: [`${says} is consistent with the bundle's`], notVerified: [], uncovered };
}

/** What the system cell states of the logs of the other cells (cells.md, "One root"). */
const cellsForm = record({
  cells: list(record({ cell: integer(1, 255), checkpoint: text, incarnation: integer(1) })),
  stated_at: time,
});

const installationForm = record({
  checkpoint: text,
  consistency: optional(consistencyForm),
  document: cellsForm,
  event: eventForm,
  format: integer(1, 1),
  index: count,
  path: hashesForm,
});

/** The proof of an installation: its form alone. */
function readInstallation(bytes) {
  const proof = installationForm(parseCanonical(bytes), '');
  proof.said = digestOf(writeJson(proof.document));
  proof.event = parseEvent(writeJson(proof.event));
  proof.root = parseCheckpoint(parseNote(utf8(proof.checkpoint)).text);
  const { cells } = proof.document;
  cells.forEach((stated, i) => {
    stated.log = parseCheckpoint(parseNote(utf8(stated.checkpoint)).text);
    if (i > 0 && cells[i - 1].cell >= stated.cell) refuse('CAN-023', `/document/cells/${i}`, stated.cell, `more than ${cells[i - 1].cell}`);
  });
  return proof;
}

/** Does something, whose refusal means that the proof of an installation does not hold. */
function inProof(body) {
  try {
    return body();
  } catch (e) {
    if (e instanceof Refusal) refuse('RPL-026', `the installation: ${e.place} (${e.code})`, e.recorded, e.recomputed);
    throw e;
  }
}

/** The installation states the log of the bundle, or one that continues it. A line for "verified". */
async function checkInstallation(bytes, bundle, sum, pins) {
  const place = 'the installation';
  const { document, said, event, root, index, path, consistency, checkpoint: note } = inProof(() => readInstallation(bytes));
  if (event.tenant !== 'writ' || event.run !== 'cells' || event.kind !== 'cells.stated') refuse('RPL-026', place, placeOf(event), 'cells.stated of writ/cells');
  if (event.body !== said) refuse('RPL-026', place, event.body, said);
  inProof(() => verifyInclusion(leafHash(event.bytes), index, root.size, path.map(digestBytes), digestBytes(root.root)));
  const { origin, size, root: ofLog } = bundle.checkpoint;
  const stated = document.cells.find((one) => one.log.origin === origin);
  if (!stated) refuse('RPL-026', place, document.cells.map((one) => one.log.origin).join(' '), origin);
  const keys = [];
  for (const [signed, log] of [[note, root], [stated.checkpoint, stated.log]]) {
    keys.push((await checkCheckpoint(utf8(signed), sum.trust, log.origin, null, `${place}'s ${log.origin}`)).key);
  }
  bundle.system.signed.add(keys, null);
  if (pins) keys.forEach((key) => checkPins(pins, sum.founder, key));
  if (stated.log.size === size && !consistency) {
    if (stated.log.root !== ofLog) refuse('RPL-027', `${place} at size ${size}`, ofLog, stated.log.root);
  } else {
    const leads = consistency && size < stated.log.size && consistency.size1 === size && consistency.size2 === stated.log.size;
    if (!leads) refuse('RPL-026', place, size, `a proof from this size to ${stated.log.size}`);
    inProof(() => verifyConsistency(size, digestBytes(ofLog), stated.log.size, digestBytes(stated.log.root), consistency.path.map(digestBytes)));
  }
  return `the installation ${root.origin} of size ${root.size}, root ${root.root}: states this log of size ${stated.log.size}`;
}

/** The witnesses that are asked for, and how many of them are enough: one key under two names is one. */
function askedWitnesses(vkeys, quorum) {
  const keys = vkeys.map(parseWitnessKey);
  return { keys, quorum: quorum ?? new Set(keys.map((witness) => toHex(witness.key.bytes))).size };
}

/**
 * Who cosigned the kept checkpoint, or without one the bundle's (witness.md). `kept.uncovered` says why that
 * does not cover all of the bundle, or is null.
 */
async function checkWitnesses({ keys, quorum }, note, kept, size) {
  if (keys.length === 0) return;
  if (kept.uncovered !== null) refuse('RPL-085', 'the checkpoint that witnesses saw', kept.uncovered, `one that covers size ${size}`);
  for (const witness of keys) {
    const time = await cosignedAt(note, witness);
    if (time !== null) kept.witnesses.push({ witness, time });
  }
  const seen = new Set(kept.witnesses.map(({ witness }) => toHex(witness.key.bytes))).size;
  if (seen < quorum) refuse('RPL-085', 'the checkpoint that witnesses saw', `${seen} witnesses`, quorum);
}

function tellWitnesses({ keys }, note, kept) {
  const { size } = parseCheckpoint(parseNote(note).text);
  for (const witness of keys) {
    const own = kept.witnesses.find((one) => one.witness === witness);
    if (own) kept.verified.push(`witness ${witness.name}: saw the log of size ${size} at ${new Date(own.time * 1000).toISOString().replace('.000Z', 'Z')}`);
    else kept.notVerified.push(`that witness ${witness.name} saw the log of size ${size}`);
  }
}

/** Everything that is referred to is there, as far as it is said to be; and nothing else is. */
function checkReferences(bundle, run) {
  const { contents, manifest } = bundle;
  for (const receipt of run.neededForeign) {
    if (!run.foreign.has(receipt)) refuse('RPL-023', JOURNALS.consumed, null, `the event of ${receipt}`);
  }
  for (const receipt of run.foreign.keys()) {
    if (!run.neededForeign.has(receipt)) refuse('RPL-024', JOURNALS.consumed, receipt, 'receipts that are consumed');
  }
  const document = contents.documents.needed.firstWithout();
  if (document >= 0) {
    const named = bundle.entries.nameAt(document);
    refuse('RPL-024', named, 'sha256:' + PLACES.exec(named)[2], 'documents that are referred to');
  }
  const included = manifest.blobs === 'included';
  for (const [id, { size, place }] of included ? run.sizes : []) {
    const blob = contents.blobs.get(id);
    if (!blob) refuse('RPL-023', place, null, `blobs/${hexOf(id)}`);
    if (size !== undefined) same('RPL-022', blob.named, 'size', blob.length, size);
  }
  const blob = included ? contents.blobs.needed.firstWithout() : contents.blobs.size > 0 ? bundle.entries.blobs.first : -1;
  if (blob >= 0) {
    const named = bundle.entries.nameAt(blob);
    refuse('RPL-024', named, 'sha256:' + hexOfBlob(named), 'blobs that are referred to');
  }
  checkPackages(bundle, manifest.tools === 'included' ? run.neededPackages : new Map());
}

function checkPackages({ contents, entries }, needed) {
  const files = new Map();
  for (const [id, { tool, dispatched }] of needed) {
    const folder = `tools/${tool.name}-${tool.version}/${hexOf(id)}`;
    const known = contents.manifests.get(id);
    if (!known || known.named !== `${folder}/manifest.json`) refuse('RPL-023', `${folder}/manifest.json`, known?.named ?? null, 'the manifest of the package');
    if (dispatched) for (const file of known.manifest.files) files.set(`${folder}/files/${file.path}`, file);
  }
  for (const [id, { named }] of contents.manifests) if (!needed.has(id)) refuse('RPL-024', named, id, 'packages that intents name');
  for (const [named, file] of files) {
    if (!contents.files.has(named)) refuse('RPL-023', named, null, file.digest);
    const bytes = entries.bytesAt(contents.files.get(named));
    same('RPL-022', named, 'digest', digestOf(bytes), file.digest);
    same('RPL-022', named, 'size', bytes.length, file.size);
  }
  for (const named of contents.files.keys()) if (!files.has(named)) refuse('RPL-024', named, named, 'files of packages that were dispatched');
}

/** `trust.jwks` is the sum; nothing is verified under that file itself. */
function checkTrustFile(bytes, system) {
  const file = system.toTrustFile();
  if (equalBytes(bytes, file)) return;
  let at = 0;
  while (bytes[at] === file[at]) at++;
  const shown = (all) => (at < all.length ? HEX[all[at]] : null);
  refuse('RPL-025', `${TRUST} byte ${at}`, shown(bytes), shown(file));
}

/** The trust in force before each event of the run depends on the order of the log. */
async function walk(bundle, run, progress) {
  const total = Object.values(bundle.journals).reduce((sum, { length }) => sum + length, 0);
  let done = 0;
  for (const { journal, i } of inOrder(bundle.journals)) {
    const event = journal.at(i);
    progress('events', ++done, total);
    if (event.journal === 'system') {
      bundle.contents.documents.need(event.body);
      if (event.seq > 0) run.counts.signatures++;
      await bundle.system.apply(event, bundle.contents.documents);
      bundle.system.time(event);
    } else if (event.journal === 'consumed') {
      await run.consumed(event);
    } else {
      bundle.system.time(event);
      await run.apply(event);
    }
  }
}

/**
 * Verifies a bundle: the bytes of a file, or `{length, read(at, count)}`, of which only pieces are in
 * memory; such a file must not change meanwhile. `trust` and `checkpoint` are files' bytes (a trust file, a signed note); `closed`
 * refuses bundles of open runs; `witnesses` are keys as text, of which all or `quorum` must have cosigned; `stamps` are texts that name time stamps, which are
 * not verified here and told as that; `installation` is the file of a proof that the installation's root covers the log. Gives what was verified and what was not, and the parts of the bundle;
 * throws the first {@link Refusal}.
 */
export async function verifyBundle(file, { trust = null, checkpoint = null, witnesses = [], quorum = null, stamps = [], closed = false, installation = null, progress = () => {} } = {}) {
  const asked = askedWitnesses(witnesses, quorum);
  const pins = trust ? within('the trust file', () => parseTrust(trust)) : null;
  const entries = readArchive(file);
  const manifest = readManifest(entries);
  const contents = await readContents(entries, progress);
  const bundle = { entries, manifest, contents, journals: readJournals(entries, manifest) };
  checkState(bundle, closed);
  bundle.checkpoint = within(CHECKPOINT, () => parseCheckpoint(parseNote(entry(entries, CHECKPOINT)).text));
  same('RPL-025', MANIFEST, '/origin', manifest.origin, bundle.checkpoint.origin);
  same('RPL-025', MANIFEST, '/size', manifest.size, bundle.checkpoint.size);
  bundle.consistency = readConsistency(entries, bundle.checkpoint.size);
  const hashes = readInclusion(entries, bundle.journals, bundle.checkpoint.size);
  checkInclusion(bundle.journals, hashes, bundle.checkpoint.size, bundle.checkpoint.root);
  const last = lastOf(bundle.journals);
  const sum = await addUp(bundle);
  bundle.logKey = (await checkCheckpoint(entry(entries, CHECKPOINT), sum.trust, manifest.origin, last, CHECKPOINT)).key;
  if (pins) checkPins(pins, sum.founder, bundle.logKey);
  bundle.system = new System();
  const kept = { ...(checkpoint ? await checkKept(checkpoint, bundle, sum) : { verified: [], notVerified: [], uncovered: null }), witnesses: [] };
  const witnessed = checkpoint ?? entry(entries, CHECKPOINT);
  await checkWitnesses(asked, witnessed, kept, bundle.checkpoint.size);
  if (installation) kept.verified.push(await checkInstallation(installation, bundle, sum, pins));
  tellWitnesses(asked, witnessed, kept);
  checkTrustFile(entry(entries, TRUST), sum);
  same('EXE-950', MANIFEST, '/incarnation', manifest.incarnation, sum.incarnation);
  bundle.run = new Run(bundle, bundle.system);
  await walk(bundle, bundle.run, progress);
  bundle.run.end();
  checkReferences(bundle, bundle.run);
  // The checkpoint is no older than the last event that it covers.
  bundle.system.signed.add([bundle.logKey], last);
  if (pins) bundle.system.signed.hold(pins, sum.trust);
  const result = describe(bundle, bundle.run, pins);
  result.verified.push(...kept.verified);
  result.notVerified.push(...kept.notVerified, ...stamps.map((name) => `${name}: this verifier does not check time stamps of RFC 3161; writ verify --stamp and openssl ts -verify do`));
  result.witnesses = kept.witnesses.map(({ witness, time }) => ({ key: witness.text, time }));
  return result;
}

function readJournals(entries, manifest) {
  const journals = {};
  for (const [journal, tenant, run] of [['run', manifest.tenant, manifest.run], ['system', SYSTEM.tenant, SYSTEM.run]]) {
    journals[journal] = new Journal(entries, journal);
    checkEvents(journals[journal], tenant, run);
  }
  journals.consumed = new Journal(entries, 'consumed');
  checkEvents(journals.consumed, null, null);
  return journals;
}

function checkState({ journals, manifest }, closed) {
  const closes = journals.run.at(-1).kind === 'run.closed';
  same('RPL-034', MANIFEST, '/state', manifest.state, closes ? 'closed' : 'open');
  if (closed && !closes) refuse('RPL-035', MANIFEST, 'open', 'closed');
}

/** The whole system run before the checkpoint's size: who signs the log, and what trust.jwks says. */
async function addUp(bundle) {
  const sum = new System();
  for (const event of bundle.journals.system) await sum.apply(event, bundle.contents.documents);
  if (sum.founder === null) refuse('EXE-950', JOURNALS.system, null, 'the key of an operator');
  return sum;
}

function describe(bundle, run, pins) {
  const { manifest, journals, checkpoint, contents } = bundle;
  const c = run.counts;
  c.deleted = run.deleted.size;
  c.erased = [...run.erased.values()].reduce((n, { contents: erased }) => n + erased.size, 0);
  c.archived = run.archived?.contents.size ?? 0;
  const verified = [
    `the archive: ${bundle.entries.size} entries, every byte accounted for`,
    `${journals.run.length} events of the run, ${journals.system.length} of the system run and ${journals.consumed.length} consumed: chained without gaps, and in the log of ${checkpoint.size} events`,
    `the checkpoint of size ${checkpoint.size}: signed by the log key ${bundle.logKey.kid}`,
    `${contents.documents.size} documents: ${c.signatures} signatures under the trust at their place in the log`,
    `${c.requests} requests, ${c.decisions} decisions, ${c.intents} intents, ${c.receipts} receipts: each names what it follows from; seeds, lamport and prev hold`,
  ];
  if (manifest.blobs === 'included') verified.push(`${contents.blobs.size} blobs: digests and sizes`);
  for (const [order, { contents: erased, at }] of run.erased) verified.push(`${erased.size} contents: erased at ${at} by order ${order} of an operator, as the executor signed; only their digests are here`);
  if (run.archived) verified.push(`${c.archived} contents: moved to the archive, into the bundle ${run.archived.bundle}, as the executor signed; only their digests are here`);
  if (c.deleted > 0) verified.push(`${c.deleted} contents: deleted, as the executor signed, by rules of the policies in force; only their digests are here`);
  if (c.reads > 0) verified.push(`${c.reads} reads by people: stated, as policy asks, as the executor signed`);
  if (manifest.tools === 'included') verified.push(`${contents.manifests.size} tool manifests and ${contents.files.size} package files: digests`);
  if (manifest.state === 'closed') verified.push('the run is closed: its closing covers every event');
  const signers = [...bundle.system.signed.keys.keys()];
  const others = pins ? signers.filter((kid) => !pins.keys.has(kid)).length : 0;
  if (pins) verified.push(`the founding operator and the log key are pinned; ${signers.length - others} pinned keys that signed: holder, window and revocation are as pinned`);
  const notVerified = [];
  if (!pins) notVerified.push(`who signed it: integrity only; signer not pinned: who holds the founding operator's key ${bundle.system.founder.kid}`);
  if (others > 0) notVerified.push(`${others} keys that signed: not pinned; that they are in force says the log alone`);
  if (manifest.state === 'open') notVerified.push('the end of the run: it is open; events can follow, or be left out here');
  notVerified.push(
    'judgements: no decision is judged again here (no policy language); `writ verify` and `writ replay` do that',
    'that the system run is whole up to the checkpoint: its last events, such as a revocation, can be left out; only the whole log shows that',
    'balances, rates and nonces across runs: that is `writ audit`',
    'outcomes: no tool ran again, and no stage; that is for replay',
  );
  if (manifest.blobs === 'left-out') notVerified.push(`${run.sizes.size} blobs: left out; their digests are signed, they are not here`);
  const notKept = run.notKept();
  if (notKept > 0) notVerified.push(`${notKept} outputs: not kept, as the request asked; only their digests`);
  if (manifest.tools === 'left-out') notVerified.push('tool manifests and packages: left out');
  if (run.archived) notVerified.push('1 bundles of archived runs: that the archive still has them, `writ archive verify` says');
  if (run.otherReceipts > 0) notVerified.push(`${run.otherReceipts} decisions: judged with the time at which another call with the same request came in (spec/audit.md, bound 11)`);
  if (run.allowedFormerly > 0) notVerified.push(`${run.allowedFormerly} dispatches: after the key of somebody who allowed them was revoked, which kernels up to November 2026 did not ask`);
  if (c.reads > 0) notVerified.push('that these are all reads: only the whole log shows that');
  if (c.deletedBySize > 0) notVerified.push(`${c.deletedBySize} contents: deleted by a rule with bytes_max; that there were more bytes is not recomputed`);
  notVerified.push(...run.workspace.told());
  if (bundle.system.inFlight > 0) notVerified.push(`${bundle.system.inFlight} documents: reached the log after a revocation or change that the kernel's clock puts behind them`);
  return { pinned: pins !== null, manifest, verified, notVerified, counts: c, bundle };
}

// ----------------------------------------------------------------------------------- the command line

const EXIT = { verified: 0, usage: 2, broken: 4, integrity: 5, unavailable: 6, fault: 70 };

const USAGE = 'usage: node verify.mjs run.writ [--trust keys.jwks] [--checkpoint note] [--witness vkey]… [--quorum n] [--stamp tsr]… [--installation proof] [--closed] [--json]\n';

function parseArguments(args) {
  const options = { json: false, closed: false, witnesses: [], quorum: null, stamps: [] };
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--json') options.json = true;
    else if (args[i] === '--closed') options.closed = true;
    else if (['--trust', '--checkpoint', '--installation'].includes(args[i]) && i + 1 < args.length) options[args[i].slice(2)] = args[++i];
    else if (args[i] === '--witness' && i + 1 < args.length) options.witnesses.push(args[++i]);
    else if (args[i] === '--stamp' && i + 1 < args.length) options.stamps.push(`the time stamp ${args[++i]}`);
    else if (args[i] === '--quorum' && /^[1-9][0-9]?$/.test(args[i + 1])) options.quorum = Number(args[++i]);
    else if (!args[i].startsWith('-') && !options.file) options.file = args[i];
    else return null;
  }
  return options.file ? options : null;
}

/** So many witnesses can have cosigned; of what is no key of one the verification says so. */
function mostWitnesses(vkeys) {
  try {
    return askedWitnesses(vkeys, null).quorum;
  } catch (e) {
    if (e instanceof Refusal) return Infinity;
    throw e;
  }
}

/** What others wrote must not steer a terminal. */
const plain = (value) => String(value).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, '\ufffd');

/** Runs the command line; gives the exit status of `writ verify`. */
export async function main(args, { readFile, openFile = readFile, out, err }) {
  const options = parseArguments(args);
  if (!options) {
    err(USAGE);
    return EXIT.usage;
  }
  if (options.quorum !== null && options.quorum > mostWitnesses(options.witnesses)) {
    err(`--quorum is of witnesses: name as many of them by --witness\n${USAGE}`);
    return EXIT.usage;
  }
  let files;
  try {
    const read = async (path) => (path === undefined ? null : new Uint8Array(await readFile(path)));
    files = { file: await openFile(options.file), trust: await read(options.trust), checkpoint: await read(options.checkpoint), installation: await read(options.installation) };
  } catch (e) {
    err(`cannot read: ${plain(e.message)}\n`);
    return EXIT.unavailable;
  }
  try {
    const result = await verifyBundle(files.file, { ...files, witnesses: options.witnesses, quorum: options.quorum, stamps: options.stamps, closed: options.closed });
    const { pinned, manifest, verified, notVerified, witnesses } = result;
    if (options.json) {
      out(DECODER.decode(writeJson({ holds: true, not_verified: notVerified, pinned, run: manifest.run, tenant: manifest.tenant, verified, ...(witnesses.length > 0 ? { witnesses } : {}) })) + '\n');
    } else {
      for (const line of verified) out(`verified: ${plain(line)}\n`);
      for (const line of notVerified) out(`not verified: ${plain(line)}\n`);
    }
    return pinned ? EXIT.verified : EXIT.integrity;
  } catch (e) {
    if (!(e instanceof Refusal)) {
      err(`an unexpected failure of this verifier, which says nothing of the bundle: ${plain(e)}\n`);
      return EXIT.fault;
    }
    if (options.json) {
      const value = (v) => (v === null ? null : show(v).toWellFormed());
      out(DECODER.decode(writeJson({ failure: { code: e.code, place: String(e.place).toWellFormed(), recomputed: value(e.recomputed), recorded: value(e.recorded) }, holds: false })) + '\n');
    } else {
      err(`${plain(e.message)}\n`);
    }
    return EXIT.broken;
  }
}

/** A file of Node's, read by range. What is no file on a disk, such as a pipe or a device, may have no end, and is not opened. */
function byRange(fs, path) {
  if (!fs.statSync(path).isFile()) throw new Error(`${path} is no file on a disk: a pipe or a device may have no end, so save it as a file first`);
  const file = fs.openSync(path);
  const { size } = fs.fstatSync(file);
  const read = (at, count) => {
    const bytes = new Uint8Array(count);
    let done = 0;
    for (let n = -1; done < count && n !== 0; done += n) n = fs.readSync(file, bytes, done, count - done, at + done);
    return bytes.subarray(0, done);
  };
  return { length: size, read };
}

const NODE_LEAST = 20;

/** What is missing for this file to run; the syntax of all of it is read from Node 14.8 on. */
function lacking(version) {
  if (parseInt(version, 10) >= NODE_LEAST && ''.isWellFormed && [].toSorted) return null;
  return `verify.mjs needs Node ${NODE_LEAST} or later; this is ${version}`;
}

// Under Node, and only where this file is what was started.
if (typeof process === 'object' && process.versions?.node && process.argv[1]) {
  const [{ pathToFileURL }, fs] = await Promise.all([import('node:url'), import('node:fs')]);
  let self = null;
  try {
    self = pathToFileURL(fs.realpathSync(process.argv[1])).href;
  } catch {
    // What was started is no file.
  }
  if (self === import.meta.url && lacking(process.versions.node)) {
    process.stderr.write(`${lacking(process.versions.node)}\n`);
    process.exitCode = EXIT.unavailable;
  } else if (self === import.meta.url) {
    // Who reads no further (`| head -1`) still gets the verdict, by the exit code.
    process.stdout.on('error', (e) => {
      if (['EPIPE', 'ERR_STREAM_DESTROYED'].includes(e.code)) return;
      process.stderr.write(`standard output: ${e.code}\n`);
      process.exit(EXIT.unavailable);
    });
    process.stderr.on('error', () => {});
    process.exitCode = await main(process.argv.slice(2), {
      readFile: (path) => byRange(fs, path).read(0, LIMITS.bytes + 1),
      openFile: (path) => byRange(fs, path),
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
    });
  }
}
