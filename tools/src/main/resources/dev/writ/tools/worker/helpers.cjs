// What the platform gives to tools in JavaScript (spec/tool-package.md, Helpers): import … from 'writ-helpers'.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

exports.VERSION = 1;

// The text of one of the tool's secrets.
exports.secret = function secret(context, name) {
  const paths = context.secrets ?? {};
  if (!Object.hasOwn(paths, name)) throw new Error(`the tool declares no secret ${name}`);
  return fs.readFileSync(paths[name], 'utf8');
};

// The path at which to write an artifact of this name.
exports.artifact = function artifact(context, name) {
  if (context.artifacts === undefined) throw new Error('the tool declares no artifacts');
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/u.test(name)) throw new Error('no plain name of a file');
  return path.join(context.artifacts, name);
};

// The path of the input file of this name.
exports.input = function input(context, name) {
  const found = context.inputs.find((at) => path.basename(at) === name);
  if (found === undefined) throw new Error(`the call has no input ${name}`);
  return found;
};
