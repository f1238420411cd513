package dev.writ.tools.hostile;

import dev.writ.executor.error.ExecutorError;
import java.util.ArrayList;
import java.util.List;

/**
 * Workers that lie, die, hang and flood, each with the end that its receipt must have. A line of
 * code is the whole of what it does after it has said how frames are written.
 */
final class HostileWorkers {

  /**
   * @param status of the receipt
   * @param reason of the receipt
   */
  record Case(String name, String language, String code, String status, String reason) {
    @Override
    public String toString() {
      return language + ": " + name;
    }
  }

  private static final String HEAD =
      """
      #!/usr/bin/python3 -I
      import json, os, signal, socket, struct, sys, time
      def raw(data):
          sys.stdout.buffer.write(data)
          sys.stdout.buffer.flush()
      def body(text):
          data = text.encode() if isinstance(text, str) else text
          raw(struct.pack(">I", len(data)) + data)
      def frame(kind, **members):
          body(json.dumps({"protocol": 1, "kind": kind, **members}))
      def ready():
          frame("ready")
      def result(output={"ok": True}):
          frame("result", output=output)
      """;

  /** Stage 5, which judges by the manifest whatever the driver says. */
  private static final String DRIFT = ExecutorError.CONTRACT_DRIFT.meaning();

  private HostileWorkers() {}

  private static Case process(String name, String code, String status, String reason) {
    return new Case(name, "process", HEAD + code + "\n", status, reason);
  }

  private static Case liar(String name, String code) {
    return process(name, code, "failed", "protocol-violation");
  }

  static List<Case> all() {
    List<Case> cases = new ArrayList<>();
    cases.addAll(dead());
    cases.addAll(liars());
    cases.addAll(outputs());
    cases.addAll(floods());
    cases.addAll(inEachLanguage());
    return List.copyOf(cases);
  }

  private static List<Case> dead() {
    return List.of(
        process("exits at once", "os._exit(1)", "failed", "worker-died"),
        process("exits with success and no word", "os._exit(0)", "failed", "worker-died"),
        process("exits after ready", "ready(); os._exit(3)", "failed", "worker-died"),
        process(
            "kills itself",
            "ready(); os.kill(os.getpid(), signal.SIGKILL)",
            "failed",
            "worker-died"),
        process("hangs before ready", "time.sleep(60)", "timed_out", "timed-out"),
        process("hangs after ready", "ready(); time.sleep(60)", "timed_out", "timed-out"),
        process(
            "closes its stdout and goes on",
            "ready(); os.close(1); time.sleep(60)",
            "timed_out",
            "timed-out"),
        process(
            "ignores the signal to end",
            "signal.signal(signal.SIGTERM, signal.SIG_IGN); ready(); time.sleep(60)",
            "timed_out",
            "timed-out"),
        process(
            "cannot load",
            "frame('incident', incident='DependencyLoadFailure', message='m')",
            "failed",
            "dependency-load-failure"),
        process(
            "fails",
            "ready(); frame('incident', incident='Failed', message='m' * 100000)",
            "failed",
            "tool-error"));
  }

  private static List<Case> liars() {
    return List.of(
        liar("two results", "ready(); result(); result()"),
        liar("a result before ready", "result()"),
        liar("ready after the result", "result(); ready()"),
        liar("ready twice", "ready(); ready(); result()"),
        liar(
            "an incident after the result",
            "ready(); result(); frame('incident', incident='Failed', message='m')"),
        liar(
            "a result after the incident",
            "ready(); frame('incident', incident='Failed', message='m'); result()"),
        liar(
            "an incident of its own making",
            "ready(); frame('incident', incident='PolicyDenied', message='m')"),
        liar("an incident without words", "ready(); frame('incident', incident='Failed')"),
        liar(
            "loading fails after ready",
            "ready(); frame('incident', incident='DependencyLoadFailure', message='m')"),
        liar("a call of its own", "ready(); frame('call', operation='do')"),
        liar("another protocol", "body('{\"protocol\":2,\"kind\":\"ready\"}'); result()"),
        liar("a protocol that is text", "body('{\"protocol\":\"1\",\"kind\":\"ready\"}')"),
        liar("no kind", "body('{\"protocol\":1}')"),
        liar("a result without output", "ready(); frame('result')"),
        liar(
            "a result with both",
            "ready(); frame('result', output={'ok': True}, media_type='image/png', base64='')"),
        liar("bytes without a media type", "ready(); frame('result', base64='AAAA')"),
        liar("a media type without bytes", "ready(); frame('result', media_type='image/png')"),
        liar(
            "a value with a media type",
            "ready(); frame('result', output={'ok': True}, media_type='application/json')"),
        liar(
            "bytes in no base64",
            "ready(); frame('result', media_type='image/png', base64='AA=A')"),
        liar(
            "bytes with spare bits",
            "ready(); frame('result', media_type='image/png', base64='AB==')"),
        liar(
            "a media type that is none",
            "ready(); frame('result', media_type='image/png\\r\\nX: y', base64='AAAA')"),
        liar("a frame that is a list", "body('[]')"),
        liar("a frame of nothing", "raw(b'\\0\\0\\0\\0')"),
        liar(
            "a length that is too short",
            "raw(b'\\0\\0\\0\\5{\"protocol\":1,\"kind\":\"ready\"}')"),
        liar("a length that is too long", "ready(); raw(b'\\0\\0\\1\\0{}')"),
        liar("a huge length", "ready(); raw(b'\\x7f\\xff\\xff\\xff{}')"),
        liar("the largest length", "ready(); raw(b'\\xff\\xff\\xff\\xff{}')"),
        liar("half a head", "ready(); raw(b'\\0\\0')"),
        liar("garbage", "raw(b'Traceback: no such thing\\n')"),
        liar("garbage before ready", "raw(b'\\n'); ready(); result()"),
        liar("garbage after the result", "ready(); result(); raw(b'done\\n')"),
        liar("no JSON", "body('{protocol: 1}')"),
        liar("JSON with a key twice", "body('{\"protocol\":1,\"protocol\":1,\"kind\":\"ready\"}')"),
        liar("JSON and more", "body('{\"protocol\":1,\"kind\":\"ready\"}{}')"),
        liar("bytes that are no UTF-8", "ready(); body(b'{\"protocol\":1,\"kind\":\"\\xff\"}')"),
        liar("half a character", "ready(); result(chr(0xd800))"),
        liar(
            "a number that is none",
            "ready(); body('{\"protocol\":1,\"kind\":\"result\",\"output\":{\"ok\":NaN}}')"),
        liar(
            "a number past every double",
            "ready(); body('{\"protocol\":1,\"kind\":\"result\",\"output\":{\"ok\":1e999}}')"),
        liar(
            "JSON that is too deep",
            "ready(); body('{\"protocol\":1,\"kind\":\"result\",\"output\":' + '[' * 100000 + ']' *"
                + " 100000 + '}')"));
  }

  private static List<Case> outputs() {
    return List.of(
        process(
            "an output that misses its schema", "ready(); result({'ok': 'yes'})", "failed", DRIFT),
        process(
            "an output that says more",
            "ready(); result({'ok': True, 'secret': 1})",
            "failed",
            DRIFT),
        process(
            "bytes where JSON is declared",
            "ready(); frame('result', media_type='image/png', base64='AAAA')",
            "failed",
            DRIFT),
        process(
            "bytes that are called JSON and are none",
            "ready(); frame('result', media_type='application/json', base64='eyJvayI6')",
            "failed",
            ExecutorError.NO_CANONICAL_FORM.meaning()),
        process("an output that is null", "ready(); result(None)", "failed", DRIFT),
        process(
            "an output that is too large",
            "ready(); result({'ok': True, 'x': 'x' * (9 << 20)})",
            "killed",
            "output-limit"),
        process(
            "an output that never ends",
            "ready()\nwhile True:\n    raw(b'x' * 65536)",
            "killed",
            "output-limit"),
        process(
            "words that never end",
            "ready()\nwhile True:\n    os.write(2, b'x' * 65536)",
            "killed",
            "output-limit"),
        process(
            "a result, and a process that stays",
            "ready(); result()\nif os.fork() == 0:\n    os.setsid(); time.sleep(60)",
            "succeeded",
            "ok"),
        process(
            "a result from a process that it left behind",
            "ready()\nif os.fork() == 0:\n    time.sleep(60); result()",
            "failed",
            "worker-died"),
        process("reads nothing of its call", "ready(); result()", "succeeded", "ok"));
  }

  private static List<Case> floods() {
    return List.of(
        process(
            "eats memory",
            "ready(); x = [bytearray(1 << 20) for _ in range(4096)]",
            "killed",
            "out-of-memory"),
        process("burns its time", "ready()\nwhile True: pass", "killed", "cpu-limit"),
        process(
            "forks without end",
            "ready()\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(60)\n"
                + "except OSError: os._exit(1)",
            "failed",
            "pids-limit"),
        process(
            "asks the kernel for what none may have",
            "import ctypes\nready(); ctypes.CDLL(None).ptrace(0, 0, 0, 0); result()",
            "killed",
            "seccomp-violation"),
        process(
            "calls home",
            "ready()\ntry:\n    socket.create_connection(('192.0.2.1', 443), 5); result()\n"
                + "except OSError as e: frame('incident', incident='Failed', message=str(e))",
            "failed",
            "tool-error"));
  }

  /** What code inside of the release's own workers can do; they write its frames. */
  private static List<Case> inEachLanguage() {
    List<Case> cases = new ArrayList<>();
    cases.addAll(
        language(
            "python",
            "import os, sys, time\ndef do(input, context):\n    @CODE@\n",
            new String[][] {
              {"dies", "os._exit(0)"},
              {"throws", "raise SystemExit(0)"},
              {"garbage", "os.write(1, b'garbage'); return {'ok': True}", "succeeded", "ok"},
              {"misses its schema", "return {'ok': 1}"},
              {"never ends", "while True: pass"},
            }));
    cases.addAll(
        language(
            "node",
            "import fs from 'node:fs';\nexport function do_(input) {}\nexport { f as do };\n"
                + "function f(input, context) { @CODE@ }\n",
            new String[][] {
              {"dies", "process.exit(0);"},
              {"throws", "throw null;"},
              {
                "garbage",
                "fs.writeSync(1, 'garbage'); return { ok: true };",
                "failed",
                "protocol-violation"
              },
              {"misses its schema", "return { ok: 1 };"},
              {"never ends", "for (;;) {}"},
            }));
    cases.addAll(
        language(
            "java",
            "import java.io.*; import java.util.*;\npublic final class Tool { public static Object"
                + " run(Map<String, Object> input, Map<String, Object> context) throws Exception {"
                + " @CODE@ } }\n",
            new String[][] {
              {"dies", "Runtime.getRuntime().halt(0); return null;"},
              {"throws", "throw new StackOverflowError();"},
              {
                "garbage",
                "new FileOutputStream(FileDescriptor.out).write(65); return Map.of(\"ok\", true);",
                "failed",
                "protocol-violation"
              },
              {"misses its schema", "return Map.of(\"ok\", 1);"},
              {"never ends", "for (;;) {}"},
            }));
    cases.addAll(
        language(
            "perl",
            "package Tool;\nsub do { my ($input, $context) = @_; @CODE@ }\n1;\n",
            new String[][] {
              {"dies", "exit 0;"},
              {"throws", "die;"},
              {"garbage", "print STDOUT 'garbage'; return { ok => \\1 };", "succeeded", "ok"},
              {"misses its schema", "return { ok => 1 };"},
              {"never ends", "1 while 1;"},
            }));
    return cases;
  }

  private static List<Case> language(String language, String around, String[][] behaviours) {
    String[][] ends = {
      {"failed", "worker-died"},
      {"failed", "tool-error"},
      {},
      {"failed", DRIFT},
      {"killed", "cpu-limit"},
    };
    List<Case> cases = new ArrayList<>();
    for (int i = 0; i < behaviours.length; i++) {
      String[] one = behaviours[i];
      String[] end = one.length > 2 ? new String[] {one[2], one[3]} : ends[i];
      cases.add(new Case(one[0], language, around.replace("@CODE@", one[1]), end[0], end[1]));
    }
    return cases;
  }
}
