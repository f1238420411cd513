// Issues a mandate as a bank would, and binds it to a request as the holder's wallet would (spec/mandate.md).
//
//   node mandate.mjs BANK.jwk WALLET.jwk               makes the keys that are missing; the bank's public half is for policy
//   node mandate.mjs BANK.jwk WALLET.jwk CHALLENGE     a mandate for the request that has this challenge
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** The key of a file. */
function keyOf(file) {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(file, JSON.stringify(privateKey.export({ format: 'jwk' })), { mode: 0o600 });
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

function publicHalf({ d: _, ...key }) {
  return key;
}

const salt = () => randomBytes(16).toString('base64url');
const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const hash = (text) => createHash('sha256').update(text).digest('base64url');

/** A JSON Web Signature by ES256. */
function jws(key, typ, payload) {
  const signed = `${encode({ alg: 'ES256', typ })}.${encode(payload)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: createPrivateKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** What the bank gives the wallet: up to 50.00 EUR at once to a shop, 90.00 EUR and three uses in all, for an hour. */
function issue(bank, wallet, now) {
  const payee = encode([salt(), { id: 'shop', name: 'A shop' }]);
  const open = encode([salt(), {
    vct: 'mandate.payment.open.1',
    iat: now,
    exp: now + 3600,
    cnf: { jwk: publicHalf(wallet) },
    constraints: [
      { type: 'payment.amount_range', currency: 'EUR', max: 5000 },
      { type: 'payment.allowed_payees', allowed: [{ '...': hash(payee) }] },
      { type: 'payment.budget', currency: 'EUR', max: 9000 },
      { type: 'payment.agent_recurrence', frequency: 'ON_DEMAND', max_occurrences: 3 },
    ],
  }]);
  const issued = jws(bank, 'dc+sd-jwt', { iss: 'https://bank.example', _sd_alg: 'sha-256', delegate_payload: [{ '...': hash(open) }] });
  return `${issued}~${payee}~${open}~`;
}

/** What the wallet adds for one request. */
function bind(wallet, mandate, challenge, now) {
  return mandate + jws(wallet, 'kb+jwt', { aud: 'https://writ.acme.example', iat: now, nonce: challenge, sd_hash: hash(mandate) });
}

const [bankFile, walletFile, challenge] = process.argv.slice(2);
if (!walletFile) {
  console.error('usage: node mandate.mjs BANK.jwk WALLET.jwk [CHALLENGE]');
  process.exit(2);
}
const [bank, wallet] = [keyOf(bankFile), keyOf(walletFile)];
const now = Math.floor(Date.now() / 1000);
console.log(challenge ? bind(wallet, issue(bank, wallet, now), challenge, now) : JSON.stringify(publicHalf(bank)));
