// node zip64.mjs VERIFIER same SMALL FILE: the archive FILE has the entries of SMALL, and others.
// node zip64.mjs VERIFIER codes CASES FILE: one line for each changed FILE: its code, `-` where it holds.
// node zip64.mjs VERIFIER ends LINES: what follows a directory, for a count of entries and two offsets a line.
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [, , verifier, what, ...args] = process.argv;
const V = await import(pathToFileURL(verifier));

/** A file of which some bytes are others, and that ends elsewhere. */
function changed(fd, { at: from, bytes, length }) {
  const read = (at, count) => {
    const out = new Uint8Array(count);
    readSync(fd, out, 0, count, at);
    for (let i = Math.max(0, from - at); i < count && at + i < from + bytes.length; i++) out[i] = bytes[at + i - from];
    return out;
  };
  return { length, read };
}

function code(file, options) {
  try {
    V.readArchive(file, options);
    return '-';
  } catch (e) {
    return e instanceof V.Refusal ? e.code : `CRASH ${e.stack.replaceAll('\n', ' ')}`;
  }
}

if (what === 'same') {
  const small = V.readArchive(new Uint8Array(readFileSync(args[0])));
  const fd = openSync(args[1]);
  const whole = { at: 0, bytes: [], length: fstatSync(fd).size };
  const large = V.readArchive(changed(fd, whole), { checksums: false });
  let same = 0;
  for (const [name, bytes] of small) if (V.equalBytes(large.get(name), bytes)) same++;
  console.log(`${same} of ${large.size} entries are the same`);
  closeSync(fd);
} else if (what === 'codes') {
  const fd = openSync(args[1]);
  for (const one of JSON.parse(readFileSync(args[0], 'utf8'))) {
    console.log(code(changed(fd, { ...one, bytes: V.fromHex(one.bytes) }), { checksums: false }));
  }
  closeSync(fd);
} else {
  let same = 0;
  for (const line of readFileSync(args[0], 'utf8').trimEnd().split('\n')) {
    const [count, start, end, hex] = line.split(' ');
    if (V.toHex(V.endRecords(Number(count), Number(start), Number(end))) === hex) same++;
    else console.log(line);
  }
  console.log(`${same} ends are the same`);
}
