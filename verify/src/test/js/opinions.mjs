// node opinions.mjs VERIFIER DIR: verifies the bundles that DIR/cases.json names, and prints one line
// for each: its code, or `-` and what was not verified where it holds.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , verifier, dir] = process.argv;
const V = await import(pathToFileURL(verifier));
const read = (name) => (name ? new Uint8Array(readFileSync(join(dir, name))) : null);
for (const { bundle, trust, checkpoint, closed, witnesses, quorum, installation } of JSON.parse(readFileSync(join(dir, 'cases.json'), 'utf8'))) {
  try {
    const { notVerified } = await V.verifyBundle(read(bundle), { trust: read(trust), checkpoint: read(checkpoint), closed, witnesses, quorum, installation: read(installation) });
    console.log(`- ${JSON.stringify(notVerified)}`);
  } catch (e) {
    console.log(e instanceof V.Refusal ? `${e.code} ${String(e.message).replace(/[^ -~]/g, '?')}` : `CRASH ${e.stack.replaceAll('\n', ' ')}`);
  }
}
