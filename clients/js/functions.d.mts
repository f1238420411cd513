import { Abortable, Outcome, WritClient, WritError } from './writ.mjs';

/** A call under this key was permitted before: it may have run (GWY-065). */
export class PermittedBefore extends WritError {
  readonly permit: Outcome;
}

export interface GovernedOptions<A> {
  run?: string;
  wait?: number;
  keyOf?: (args: A) => string;
  reported?: (call: { permit: Outcome; report: Outcome }) => void;
}

/** A function of the agent's own process, judged before it runs and reported after: spec/client.md, 12. */
export function governed<A extends object, R>(
  client: WritClient,
  name: string,
  run: (args: A) => R | Promise<R>,
  options?: GovernedOptions<A>,
): (args?: A, options?: Abortable) => Promise<R>;
