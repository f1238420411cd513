// Runs one call's code as a script and writes what came of it to a file, a line about it and then
// the value: the arguments are VALUE-FILE LIMIT SESSION-FILE; stdin begins with the code's length, eight hexadecimal digits, and
// the code in UTF-8. The rest of stdin is the code's own.
(() => {
  'use strict';
  const fs = require('node:fs');
  const vm = require('node:vm');
  const v8 = require('node:v8');
  const util = require('node:util');
  const { stringify } = JSON;
  const [valueFile, limit, sessionFile] = process.argv.slice(1);
  process.argv.splice(1);
  delete process.env.FAKETIME_SHARED; // it names a process number
  delete process.env.PWD; // not every engine sets it
  process.env.PWD = process.cwd();
  const NAME = 'code';

  function readExactly(count) {
    const bytes = Buffer.alloc(count);
    for (let at = 0; at < count; ) {
      let read = 0;
      try {
        read = fs.readSync(0, bytes, at, count - at, null);
      } catch (error) {
        if (error.code === 'EAGAIN') {
          continue;
        }
        throw error;
      }
      if (read === 0) {
        throw new Error('the code is incomplete');
      }
      at += read;
    }
    return bytes.toString('utf8');
  }

  /** Beside its place first, so that what is there stays until all of the new is. */
  function writeNew(path, data) {
    const part = `${path}.new`;
    fs.rmSync(part, { force: true });
    fs.writeFileSync(part, data, { flag: 'wx', mode: 0o600 });
    fs.renameSync(part, path);
  }

  const session = { kept: [], lost: [] };
  let before;
  let loaded = false;

  /** Properties of the global object that structured cloning can copy. */
  function load() {
    before = new Set(Object.getOwnPropertyNames(globalThis));
    if (sessionFile && fs.existsSync(sessionFile)) {
      try {
        const saved = v8.deserialize(fs.readFileSync(sessionFile));
        for (const [name, bytes] of Object.entries(saved)) {
          globalThis[name] = v8.deserialize(bytes);
        }
      } catch {
        fs.writeSync(2, `the session's state cannot be read: ${sessionFile}\n`);
        process.exit(1);
      }
    }
    loaded = true;
  }

  function save() {
    if (!sessionFile || !loaded) {
      return;
    }
    const values = {};
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      if (before.has(name)) {
        continue;
      }
      try {
        values[name] = v8.serialize(globalThis[name]);
      } catch {
        session.lost.push(name);
      }
    }
    try {
      writeNew(sessionFile, v8.serialize(values));
      session.kept = Object.keys(values).sort();
    } catch {
      session.lost.push(...Object.keys(values));
    }
    session.lost.sort();
  }

  let found = { state: 'absent' };

  function describe(value) {
    if (value === undefined) {
      return;
    }
    let text;
    try {
      text = stringify(value);
    } catch {
      text = undefined;
    }
    if (text === undefined) {
      found = { state: 'not-json' };
    } else if (text.length > Number(limit)) {
      found = { state: 'too-large' };
    } else {
      found = { state: 'json', text };
    }
  }

  /** At the end, whatever it was: what is left in the globals, and the value that there was. */
  process.on('exit', () => {
    save();
    const about = { state: found.state, ...session, version: process.versions.node };
    try {
      writeNew(valueFile, `${stringify(about)}\n${found.text ?? ''}`);
    } catch {
      // The workspace is full: there is no value then.
    }
  });

  /** The stack without the runner's own frames at its end. */
  function fail(error) {
    let text = `Uncaught ${util.inspect(error)}`;
    if (util.types.isNativeError(error) && typeof error.stack === 'string') {
      const lines = error.stack.split('\n');
      const ours = lines.findIndex((line) => /^ +at .*(node:vm|\[eval\])/.test(line));
      text = (ours < 0 ? lines : lines.slice(0, ours)).join('\n');
    }
    fs.writeSync(2, `${text}\n`);
    process.exit(1);
  }

  const code = readExactly(parseInt(readExactly(8), 16));
  load();
  let value;
  try {
    value = vm.runInThisContext(code, { filename: NAME });
  } catch (error) {
    fail(error);
  }
  if (value !== null && typeof value === 'object' && typeof value.then === 'function') {
    value.then(describe, fail);
  } else {
    describe(value);
  }
})();
