/** A client of Writ: spec/client.md. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface PublicKey {
  kid: string;
  kty: string;
  crv?: string;
  x?: string;
  [member: string]: unknown;
}

export interface SigningKey {
  readonly key: CryptoKey;
  readonly kid: string;
}

export interface Envelope {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
}

/** A signed request, with the documents that go with it. */
export interface WithEvidence {
  request: Envelope;
  evidence: Envelope[];
}

/** A request that is not signed yet: spec/mandate.md. */
export interface Prepared {
  readonly document: { [name: string]: Json };
  /** What the nonce of the key binding of a mandate has to be. */
  readonly challenge: string;
}

export interface Resources {
  cpu_ms: number;
  memory_bytes: number;
  output_bytes: number;
  wall_ms: number;
}

export interface Input {
  name: string;
  digest: string;
  size: number;
  media_type: string;
}

/** What is to be done. What is left out policy and the tool's manifest complete. */
export interface Effect {
  tool: string;
  params?: { [name: string]: Json };
  operation?: string;
  version?: string;
  inputs?: Input[];
  resources?: Resources;
  sandbox?: string;
  workspace_before?: string;
}

export interface Operation {
  tool: string;
  version: string;
  default: boolean;
  name: string;
  description: string;
  input: { [name: string]: Json };
  output?: { [name: string]: Json };
  sandbox: string;
  resources: Resources;
}

export interface RunEvent {
  seq: number;
  kind: string;
  body: string;
  at: string;
  run: string;
  tenant: string;
  prev?: string;
  prng_seed?: string;
}

export interface Waiting {
  request_id: string;
  run: string;
  subject: string;
  effect: { [name: string]: Json };
  effect_digest: string;
  policy: string;
}

export interface Problem {
  code: string;
  detail: string;
  status: number;
  title: string;
  remedy?: string;
  trace_id?: string;
}

export class WritError extends Error {
  readonly code: string;
}
export class Refused extends WritError {
  readonly status: number;
  readonly problem: Problem;
}
export class NoAnswer extends WritError {
  readonly sent: boolean;
}
export class WrongFile extends WritError {}
export class NotBelieved extends WritError {}
export class Denied extends WritError {
  constructor(outcome: Outcome);
  readonly outcome: Outcome;
}

export class Outcome {
  readonly request: Envelope;
  readonly decisionId: string;
  readonly decision: { [name: string]: any };
  readonly receiptId?: string;
  readonly receipt?: { [name: string]: any };
  readonly output?: Uint8Array;
  readonly repeated: boolean;
  /** Unsigned: spec/guidance.md. */
  readonly guidance?: { [name: string]: any };
  get help(): string[];
  get requestId(): string;
  get verdict(): 'ALLOW' | 'DENY' | 'ESCALATE';
  get waits(): boolean;
  get status(): 'succeeded' | 'failed' | 'timed_out' | 'killed' | 'in_doubt' | undefined;
  get succeeded(): boolean;
  get code(): string | undefined;
  get reason(): string;
  text(): string;
  json(): any;
}

export interface ClientOptions {
  url: string;
  /** The log's name, the audience of what is signed for reading. */
  origin?: string;
  tenant: string;
  subject: string;
  /** Of who signs; else `token`. */
  key?: SigningKey;
  token?: string;
  /** Pinned keys: `keys` of a trust file. */
  keys: PublicKey[];
  /** `writ_required_algorithms` of the trust file. */
  requiredAlgorithms?: { [role: string]: string[] };
  /** Seconds for which a call is repeated that may be. */
  retryFor?: number;
  /** Seconds that one answer may take. */
  answerWithin?: number;
  now?: () => Date;
  fetch?: typeof globalThis.fetch;
}

/** What ends the waiting for an answer. What was sent by then may be done. */
export interface Abortable {
  signal?: AbortSignal;
}

export interface RequestOptions extends Abortable {
  idempotencyKey?: string;
  consumes?: string[];
  retention?: 'keep' | 'drop-output';
  evidence?: string[];
}

export interface CallOptions extends Omit<RequestOptions, 'evidence'> {
  run?: string;
  /** Seconds to wait for an approval. */
  wait?: number;
}

export class WritClient {
  constructor(options: ClientOptions);
  operations(run?: string, options?: Abortable): Promise<Operation[]>;
  call(effect: Effect, options?: CallOptions): Promise<Outcome>;
  request(run: string, effect: Effect, options?: RequestOptions): Promise<Envelope>;
  prepare(run: string, effect: Effect, options?: RequestOptions): Promise<Prepared>;
  sign(prepared: Prepared): Promise<Envelope>;
  sign(prepared: Prepared, options: { mandate: string }): Promise<WithEvidence>;
  submit(request: Envelope | WithEvidence, options?: Abortable): Promise<Outcome>;
  again(outcome: Outcome, options?: Abortable): Promise<Outcome>;
  wait(outcome: Outcome, timeoutSeconds: number, options?: Abortable): Promise<Outcome>;
  cancel(requestId: string): Promise<void>;
  put(data: Uint8Array | string, options?: { name?: string; mediaType?: string } & Abortable): Promise<Input>;
  blob(digest: string, options?: { of?: string; bytesMax?: number } & Abortable): Promise<Uint8Array>;
  events(run: string, options?: { after?: number } & Abortable): AsyncGenerator<RunEvent>;
  close(run: string): Promise<string>;
  bundle(run: string, options?: { bytesMax?: number } & Abortable): Promise<Uint8Array>;
  waiting(): Promise<Waiting[]>;
  approve(waiting: Waiting, role: string, options?: { validSeconds?: number }): Promise<string>;
  reject(waiting: Waiting, role: string, options?: { validSeconds?: number }): Promise<string>;
  get(path: string, options?: Abortable): Promise<any>;
  access(): Promise<string>;
}

export function canonicalize(value: unknown): string;
export function digest(bytes: Uint8Array): Promise<string>;
export function keyId(jwk: { kty: string; crv: string; x: string }): Promise<string>;
export function signingKey(pem: string): Promise<SigningKey>;
export function sign(kind: string, document: object, signer: SigningKey): Promise<Envelope>;
export function verify(
  envelope: Envelope,
  kind: string,
  keys: PublicKey[],
  role: string,
  at: string,
  requiredAlgorithms?: { [role: string]: string[] },
): Promise<{ id: string; document: any }>;
