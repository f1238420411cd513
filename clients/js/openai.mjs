// Tools of Writ for APIs in the style of OpenAI's function calling: definitions for the request, and
// answers for the model's tool calls. Nothing of any SDK is needed.
import { canonicalize } from './writ.mjs';

/** What a model is told of an outcome: the output, or why there is none. */
export function told(outcome) {
  if (outcome.succeeded) {
    if (outcome.output === undefined) return `Done; the output was not retained. Receipt: ${outcome.receiptId}.`;
    try {
      return outcome.text();
    } catch {
      return `Done: ${outcome.output.length} bytes that are no text. Receipt: ${outcome.receiptId}.`;
    }
  }
  if (outcome.waits) {
    const why = `${outcome.code}: ${outcome.reason}. Request: ${outcome.requestId}.`;
    return [`WAITS FOR APPROVAL, nothing was done: ${why}`, ...outcome.help].join('\n');
  }
  if (outcome.receipt) return `FAILED: ${outcome.status} ${outcome.reason}. Receipt: ${outcome.receiptId}.`;
  const why = `${outcome.code}: ${outcome.reason}. Signed denial: ${outcome.decisionId}.`;
  return [`DENIED ${why}`, ...outcome.help].join('\n');
}

/** Operations by names that model APIs accept, each once: the default versions of those that `only` takes. */
export function named(operations, only = () => true) {
  const byName = new Map();
  const usable = operations.filter((o) => o.default && only(o));
  for (const o of usable) {
    const several = usable.filter((other) => other.tool === o.tool).length > 1;
    const name = (several ? `${o.tool}_${o.name}` : o.tool).replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
    if (byName.has(name)) throw new TypeError(`two operations are named ${name}: take fewer by only`);
    byName.set(name, o);
  }
  return byName;
}

/** Tools for a model, each call of which is an effect of Writ. */
export class Toolbox {
  /** @param {object} options only: which operations; run; wait: seconds to wait for an approval */
  static async of(client, { only, run = 'main', wait = 0 } = {}) {
    return new Toolbox(client, named(await client.operations(run), only), run, wait);
  }

  constructor(client, operations, run, wait) {
    Object.assign(this, { client, operations, run, wait });
  }

  /** The definitions, for `tools` of a request. */
  get definitions() {
    return [...this.operations].map(([name, { description, input }]) => ({
      type: 'function',
      function: { name, description, parameters: input },
    }));
  }

  /**
   * Answers one tool call of a model with the message for it. The call's id, where it has one, is its idempotency key within the
   * run, so that an answer that gets lost is not a second effect.
   */
  async answer({ id, function: { name, arguments: text } }, { signal } = {}) {
    return { role: 'tool', tool_call_id: id, content: await this.#content(id, name, text, signal) };
  }

  async #content(id, name, text, signal) {
    const operation = this.operations.get(name);
    if (!operation) return `There is no tool named ${name}.`;
    let params;
    try {
      params = JSON.parse(text || '{}');
    } catch {
      return 'The arguments are no JSON.';
    }
    if (params === null || typeof params !== 'object' || Array.isArray(params)) return 'The arguments are no object.';
    try {
      canonicalize(params);
    } catch (e) {
      return `The arguments cannot be sent: ${e.message}.`;
    }
    const { tool, version } = operation;
    return told(await this.client.call(
      { tool, version, operation: operation.name, params },
      { run: this.run, wait: this.wait, signal, ...(id?.trim() ? { idempotencyKey: `${this.run}/${id}` } : {}) }));
  }

  /** The messages for all tool calls of a model's message, in their order. */
  async answers(message, options) {
    const answers = [];
    for (const call of message.tool_calls ?? []) answers.push(await this.answer(call, options));
    return answers;
  }
}
