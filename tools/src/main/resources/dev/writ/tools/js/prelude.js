// Makes the world that a script sees, runs it, and hands its result to the host. It is compiled once
// and run afresh in every invocation. Nothing here may be reachable from the script but what it is
// given on purpose. What the script does to built-in objects it does to its own result only.
const host = globalThis.java_invoke;
const io = globalThis.Javy.IO;
const { parse, stringify } = JSON;
const { apply, deleteProperty, defineProperty } = Reflect;
const { create, freeze } = Object;
const Bytes = Uint8Array;
const Text = String;
const evaluate = globalThis.eval;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
for (const name of [
  "Javy", "java_invoke", "plugin", "console",
  "BigDecimal", "BigFloat", "BigFloatEnv", "SharedArrayBuffer",
]) {
  deleteProperty(globalThis, name);
}

// Reads what the host offers under a name.
function offered(name) {
  const size = parse(host("writ", name, ""));
  const bytes = new Bytes(size);
  let at = 0;
  while (at < size) {
    const got = io.readSync(0, bytes.subarray(at));
    if (!(got > 0)) throw new Error("the host offers less than it says");
    at += got;
  }
  return bytes;
}

function put(descriptor, text) {
  const bytes = encoder.encode(text);
  let at = 0;
  while (at < bytes.length) {
    io.writeSync(descriptor, bytes.subarray(at, at + 65536));
    at += 65536;
  }
}

const setup = parse(decoder.decode(offered("setup")));

// xoshiro128** by Blackman and Vigna: 53 bits from two outputs.
let [a, b, c, d] = setup.seed;
const times = Math.imul;
function next() {
  const product = times(b, 5);
  const result = times((product << 7) | (product >>> 25), 9);
  const shifted = b << 9;
  c ^= a;
  d ^= b;
  b ^= c;
  a ^= d;
  c ^= shifted;
  d = (d << 11) | (d >>> 21);
  return result >>> 0;
}
defineProperty(Math, "random", {
  value: function random() {
    const high = next() >>> 5;
    return (high * 67108864 + (next() >>> 6)) / 9007199254740992;
  },
  writable: true,
  configurable: true,
  enumerable: false,
});

function shown(value) {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && !(value instanceof Error)) {
    try {
      return stringify(value) ?? Text(value);
    } catch {
      return "[object]";
    }
  }
  return Text(value);
}
const log = (...values) => {
  let line = "";
  for (let i = 0; i < values.length; i++) line += (i > 0 ? " " : "") + shown(values[i]);
  put(2, line + "\n");
};
const method = (value) => ({ value, writable: true, configurable: true, enumerable: true });
defineProperty(globalThis, "console", {
  ...method({ log, info: log, warn: log, error: log, debug: log }),
  enumerable: false,
});

const inputs = create(null);
for (let i = 0; i < setup.inputs.length; i++) {
  const { name, size, mediaType } = setup.inputs[i];
  const bytes = () => offered("input:" + i);
  const text = () => decoder.decode(bytes());
  inputs[name] = freeze({ name, size, mediaType, bytes, text, json: () => parse(text()) });
}
defineProperty(globalThis, "inputs", {
  value: freeze(inputs),
  writable: false,
  configurable: false,
  enumerable: true,
});
defineProperty(globalThis, "input", method(setup.input));

function fail(thrown) {
  let name = "";
  let message = "";
  let stack = "";
  try {
    if (typeof thrown === "object" && thrown !== null) {
      name = Text(thrown.name ?? "");
      message = Text(thrown.message ?? "");
      stack = Text(thrown.stack ?? "");
    }
    if (!name && !message) {
      message = shown(thrown);
    }
  } catch {
    message = "an exception that cannot be shown";
  }
  put(1, "E" + stringify({ name, message, stack }));
}

function finish(value) {
  let json;
  try {
    json = value === undefined ? "null" : stringify(value);
  } catch (e) {
    put(1, "R" + Text(e));
    return;
  }
  put(1, json === undefined ? "R" + typeof value + " is not JSON" : "V" + json);
}

async function run() {
  let value = apply(evaluate, undefined, [decoder.decode(offered("source"))]);
  const main = apply(evaluate, undefined, ["typeof main === 'function' ? main : undefined"]);
  if (main !== undefined) value = main(globalThis.input);
  return await value;
}

run().then(finish, fail);
