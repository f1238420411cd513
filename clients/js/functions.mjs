// Functions of the agent's own process, judged before they run and reported after (spec/client.md, 12).
// What the receipts prove is that the call was permitted and what the agent says came of it. The kernel
// neither ran the function nor keeps anybody from calling it directly.
import { Denied, WritError, canonicalize, digest } from './writ.mjs';

const utf8 = new TextEncoder();

/** A call under this key was permitted before: it may have run (GWY-065). */
export class PermittedBefore extends WritError {
  constructor(permit) {
    super('GWY-065', `the permit is ${permit.receiptId}`);
    this.permit = permit;
  }
}

/** The digest of what a function returned; what is no JSON counts as its text. */
async function resultDigest(value) {
  let text;
  try {
    text = canonicalize(value ?? null);
  } catch {
    text = String(value);
  }
  return digest(utf8.encode(text));
}

/**
 * Makes a governed function of a function that takes one object.
 *
 * @param client a WritClient
 * @param name as policy knows it, in `params.function`
 * @param run the function
 * @param {object} options run; wait: seconds to wait for an approval; keyOf: names a call by its arguments,
 *     for calls that must not happen twice; reported: is told the permit and the report of each call
 * @returns an async function that throws `Denied` where it was not let run; its second parameter may have
 *     `signal`, which ends the waiting for the permit. Once the function runs it is its own business
 */
export function governed(client, name, run, options = {}) {
  const { run: inRun = 'main', wait = 0, keyOf, reported } = options;
  return async function governedFunction(args = {}, { signal } = {}) {
    const key = keyOf?.(args);
    const permit = await client.call(
      { tool: 'function', operation: 'permit', params: { function: name, arguments: args } },
      { run: inRun, wait, signal, ...(key === undefined ? {} : { idempotencyKey: `${name}/${key}` }) });
    if (!permit.succeeded) throw new Denied(permit);
    if (key !== undefined && permit.repeated) throw new PermittedBefore(permit);
    const report = async (ended, value) => {
      const result = await resultDigest(value);
      const params = { function: name, permit: permit.receiptId, ended, result };
      const report = await client.call(
        { tool: 'function', operation: 'report', params },
        { run: inRun, consumes: [permit.receiptId] });
      reported?.({ permit, report });
    };
    let value;
    try {
      value = await run(args);
    } catch (e) {
      await report('raised', e?.name ?? 'Error');
      throw e;
    }
    await report('returned', value);
    return value;
  };
}
