// Where the examples' server is: WRIT_URL, WRIT_ORIGIN (the log's name), WRIT_TRUST (trust.jwks), WRIT_TENANT,
// WRIT_SUBJECT, WRIT_KEY (a key file).
import { readFile } from 'node:fs/promises';
import { WritClient, signingKey } from 'writ-client';

const { env } = process;
export const client = new WritClient({
  url: env.WRIT_URL,
  origin: env.WRIT_ORIGIN,
  tenant: env.WRIT_TENANT,
  subject: env.WRIT_SUBJECT,
  key: await signingKey(await readFile(env.WRIT_KEY, 'utf8')),
  keys: JSON.parse(await readFile(env.WRIT_TRUST, 'utf8')).keys,
});
