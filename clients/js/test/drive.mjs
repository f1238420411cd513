// Plays the table of cases (../../table.json) by the JavaScript client. Reads from standard input
// where the server is and who may ask; writes one line of JSON for each step: what came of it.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Outcome, Refused, WritClient, WritError, canonicalize, signingKey } from 'writ-client';
import { governed } from 'writ-client/functions';

const place = JSON.parse(await text(process.stdin));
const table = JSON.parse(await readFile(place.table, 'utf8'));
const trust = JSON.parse(await readFile(place.trust, 'utf8'));

async function text(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

class Player {
  constructor(index) {
    this.index = index;
    this.made = {};
    this.clients = 0;
  }

  async client(step, who = step.who ?? 'agent') {
    const holder = place[who];
    const faults = `${place.faults}/${step.via}/${place.prefix}-${this.index}-${this.clients++}`;
    return new WritClient({
      url: step.via === 'nobody' ? place.nobody : step.via ? faults : place.url,
      origin: place.origin,
      tenant: place.tenant,
      keys: step.pins === 'none' ? [] : trust.keys,
      requiredAlgorithms: step.pins === 'required-both' ? { guardian: ['Ed25519', 'ML-DSA-65'] } : {},
      retryFor: step.retry_for ?? 20,
      answerWithin: step.answer_within ?? 120,
      ...(typeof holder === 'object'
        ? { subject: holder.subject, key: await signingKey(await readFile(holder.key, 'utf8')) }
        : { subject: place.agent.subject, token: holder ?? `writ_${'0'.repeat(64)}` }),
    });
  }

  run = (step) => `${place.prefix}-${step.run}`;

  effect(step) {
    const effect = {
      tool: step.tool,
      params: JSON.parse(JSON.stringify(step.params).replaceAll('$prefix', place.prefix)),
    };
    for (const name of ['operation', 'resources']) if (step[name]) effect[name] = step[name];
    if (step.inputs) effect.inputs = step.inputs.map((name) => this.made[name]);
    return effect;
  }

  options = (step) => (step.key ? { idempotencyKey: `${place.prefix}-${step.key}` } : {});

  async call(s) {
    const client = await this.client(s);
    if (s.mandate) return client.submit(await this.request(s));
    return client.call(this.effect(s), { run: this.run(s), ...this.options(s) });
  }

  async request(s) {
    const client = await this.client(s);
    if (!s.mandate) return client.request(this.run(s), this.effect(s), this.options(s));
    const prepared = await client.prepare(this.run(s), this.effect(s), this.options(s));
    const [wallet, ...given] = [...place.wallet, prepared.challenge];
    const mandate = execFileSync(wallet, given, { encoding: 'utf8' }).trim();
    return client.sign(prepared, { mandate });
  }

  submit = async (s) => (await this.client(s)).submit(this.made[s.of]);
  resend = async (s) => (await this.client(s)).submit(JSON.parse(canonicalize(this.made[s.of])));

  asker(s) {
    const asked = JSON.parse(Buffer.from(this.made[s.of].request.payload, 'base64').toString());
    return this.client(s, asked.origin ? 'token' : 'agent');
  }

  again = async (s) => (await this.asker(s)).again(this.made[s.of]);
  wait = async (s) => (await this.asker(s)).wait(this.made[s.of], s.timeout);

  async decide(s, verb) {
    const client = await this.client(s, 'approver');
    const { requestId } = this.made[s.of];
    const waiting = (await client.waiting()).find((w) => w.request_id === requestId);
    return { verdict: await client[verb](waiting, 'reviewer') };
  }

  approve = (s) => this.decide(s, 'approve');
  reject = (s) => this.decide(s, 'reject');

  aside(promise) {
    promise.catch(() => {}); // it is told where it is joined
    this.promise = promise;
  }

  async begin(s) {
    const client = await this.client(s);
    this.aside(client.submit(this.made[s.of]));
  }

  async cancel(s) {
    const client = await this.client(s);
    const request = this.made[s.of];
    const bytes = Buffer.from(request.payload, 'base64');
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
    for (const until = performance.now() + 20_000; ; ) {
      try {
        return await client.cancel(`sha256:${hash}`);
      } catch (e) { // it may not have begun
        if (!(e instanceof Refused) || e.code !== 'GWY-041' || performance.now() > until) throw e;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  end = () => this.promise;
  put = async (s) => (await this.client(s)).put(s.text, { name: s.file, mediaType: 'text/csv' });

  async blob(s) {
    const client = await this.client(s);
    return { text: Buffer.from(await client.blob(s.digest ?? this.made[s.of].digest)).toString() };
  }

  async follow(s) {
    const client = await this.client(s);
    this.aside((async () => {
      const events = [];
      for await (const event of client.events(this.run(s))) events.push(event);
      return events;
    })());
  }

  async followed() {
    const events = await this.promise;
    return {
      first: events[0].kind,
      last: events.at(-1).kind,
      in_order: events.every((e, i) => e.seq === i),
    };
  }

  close = async (s) => ({ checkpoint: await (await this.client(s)).close(this.run(s)) });

  async bundle(s) {
    const bytes = await (await this.client(s)).bundle(this.run(s));
    return { begins: Buffer.from(bytes.subarray(0, 2)).toString() };
  }

  async operations(s) {
    const found = (await (await this.client(s)).operations()).find((o) => o.tool === s.tool);
    return { name: found.name, sandbox: found.sandbox };
  }

  async govern(s) {
    const client = await this.client(s);
    const shown = { ran: false, returned: null, ended: null, code: null };
    const refund = governed(client, 'refund', ({ amount }) => {
      shown.ran = true;
      if (s.raises) throw new RangeError('no such order');
      return `refunded ${amount}`;
    }, {
      run: this.run(s),
      ...(s.key ? { keyOf: () => `${place.prefix}-${s.key}` } : {}),
      reported: ({ report }) => {
        const asked = JSON.parse(Buffer.from(report.request.payload, 'base64').toString());
        shown.ended = asked.effect.params.ended;
      },
    });
    try {
      shown.returned = await refund({ amount: s.amount });
    } catch (e) {
      if (e instanceof WritError) shown.code = e.code;
      else if (!(e instanceof RangeError)) throw e;
    }
    return shown;
  }

  async connect(s) {
    return void new WritClient({ url: s.url, token: 'writ_x', keys: [] });
  }
}

function told(value) {
  if (!(value instanceof Outcome)) return value ?? {};
  const shown = {
    verdict: value.verdict,
    status: value.status ?? null,
    code: value.code ?? null,
    repeated: value.repeated,
    receipt: value.receiptId ?? null,
    helped: value.help.length > 0,
  };
  if (value.output) {
    shown.output_bytes = value.output.length;
    if (value.output.length < 10_000) shown.output = value.json();
  }
  return shown;
}

for (const [index, { name, steps }] of table.cases.entries()) {
  const player = new Player(index);
  for (const step of steps) {
    const line = { case: name };
    try {
      const value = await player[step.do](step);
      if (step.as) player.made[step.as] = value;
      line.told = told(value);
    } catch (e) {
      line.fails = e instanceof WritError ? e.code : String(e.stack);
      line.message = String(e);
    }
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
}
