// The copy of the second verifier that has all mutants, for the adapter: a question's input names the
// one that is on. Where none is, those that the answer came by are written beside it. An input that
// has nothing else is the one of the question before.
import { writeFileSync } from 'node:fs';
import './remember.mjs';
import * as copy from './copy.mjs';
export * from './copy.mjs';

let last = null;

export function parseJson(bytes, limits) {
  globalThis.mutant = undefined;
  const question = copy.parseJson(bytes, limits);
  globalThis.mutant = question.input?.mutant ?? 0;
  if (question.input && Object.keys(question.input).length === 1) question.input = last;
  else last = question.input;
  globalThis.reached = globalThis.mutant === 0 ? new Set([0]) : undefined;
  return question;
}

export function writeJson(value, limits) {
  const isAnswer = limits !== undefined && 'ok' in value;
  if (isAnswer && globalThis.reached) writeFileSync(new URL('reached.txt', import.meta.url), [...globalThis.reached].join(' '));
  return copy.writeJson(value, limits);
}
