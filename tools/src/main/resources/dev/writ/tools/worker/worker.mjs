// Runs one operation of a Node tool: the worker side of the protocol in spec/tool-package.md.
// argv: the entry file, the folder of the package. What the tool prints goes to standard error.
import { readSync, writeSync } from 'node:fs';
import Module from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import path from 'node:path';

const PROTOCOL = 1;
const out = 1;
for (const name of ['log', 'info', 'debug', 'table', 'dir', 'group']) console[name] = console.error;
process.stdout.write = process.stderr.write.bind(process.stderr);

// A pipe that node has made non-blocking says "not now" when it is full, or empty: wait and go on.
function patiently(step) {
  for (;;) {
    try {
      return step();
    } catch (error) {
      if (error?.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

function writeAll(bytes) {
  for (let at = 0; at < bytes.length;) at += patiently(() => writeSync(out, bytes, at));
}

function write(kind, members = {}) {
  const body = Buffer.from(JSON.stringify({ protocol: PROTOCOL, kind, ...members }), 'utf8');
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  writeAll(Buffer.concat([head, body]));
}

function fail(incident, error) {
  process.stderr.write(`${error?.stack ?? error}\n`);
  write('incident', { incident, message: String(error?.message ?? error).slice(0, 500).toWellFormed?.() ?? '' });
  process.exit(0);
}

function read(length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length;) {
    const n = patiently(() => readSync(0, bytes, at, length - at));
    if (n === 0) process.exit(0);
    at += n;
  }
  return bytes;
}

// The module that the platform provides, and where it is.
const HELPERS = 'writ-helpers';
const helpers = new URL('./helpers.cjs', import.meta.url).href;

// Modules come out of the sources of the package, out of Node itself and the helpers, and of nothing else. This function also
// runs in the thread where older versions resolve imports, so it names all that it needs.
function reviewed(url, folder, helpers) {
  const own = url.startsWith(`${folder}/`) && /\.(?:cjs|js|json|mjs)$/u.test(url.split(/[?#]/u)[0]);
  if (own || url === helpers || url.startsWith('node:')) return;
  throw Object.assign(new Error(`no module is loaded from ${url}`), { code: 'ERR_MODULE_NOT_FOUND' });
}

function confine(folder) {
  if (Module.registerHooks) {
    Module.registerHooks({
      resolve(specifier, context, next) {
        if (specifier === HELPERS) return { url: helpers, format: 'commonjs', shortCircuit: true };
        const found = next(specifier, context);
        reviewed(found.url, folder, helpers);
        return found;
      },
    });
    return;
  }
  if (!Module.register) throw new Error(`node ${process.version} cannot be told what it may load`);
  const hook = `${reviewed}
    export async function resolve(specifier, context, next) {
      if (specifier === ${JSON.stringify(HELPERS)})
        return { url: ${JSON.stringify(helpers)}, format: 'commonjs', shortCircuit: true };
      const found = await next(specifier, context);
      reviewed(found.url, ${JSON.stringify(folder)}, ${JSON.stringify(helpers)});
      return found;
    }`;
  Module.register(`data:text/javascript,${encodeURIComponent(hook)}`);
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (request, ...rest) {
    if (request === HELPERS) return fileURLToPath(helpers);
    const found = resolve.call(this, request, ...rest);
    reviewed(Module.isBuiltin(found) ? 'node:' : pathToFileURL(found).href, folder, helpers);
    return found;
  };
}

// The members of the result: bytes, or text in UTF-8, where the operation's media type is not JSON.
function result(output, mediaType) {
  if (mediaType === undefined) return { output };
  let bytes;
  if (typeof output === 'string' && (output.isWellFormed?.() ?? true)) bytes = Buffer.from(output, 'utf8');
  else if (output instanceof ArrayBuffer) bytes = Buffer.from(output);
  else if (ArrayBuffer.isView(output)) bytes = Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  else throw new TypeError(`an output of ${mediaType} is bytes or text`);
  return { media_type: mediaType, base64: bytes.toString('base64') };
}

process.on('uncaughtException', (error) => fail('Failed', error));
const [entry, folder] = process.argv.slice(2);
let tool;
try {
  confine(pathToFileURL(folder).href);
  tool = await import(pathToFileURL(path.join(folder, entry)));
} catch (error) {
  fail('DependencyLoadFailure', error);
}
write('ready');
const call = JSON.parse(read(read(4).readUInt32BE()).toString('utf8'));
try {
  const name = call.operation.replaceAll(/-([a-z0-9])/gu, (_, letter) => letter.toUpperCase());
  const output = await tool[name](call.input, call.context);
  write('result', result(output, call.media_type));
} catch (error) {
  fail('Failed', error);
}
process.exit(0);
