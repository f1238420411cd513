package dev.writ.tools.language;

import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How one language says what the conformance suite asks of each: all that a further adapter adds to
 * its tests.
 *
 * @param body what stands around the code of the operation {@code count}, with {@code @CODE@}
 * @param code by behaviour
 */
record Dialect(Language language, String body, Map<Behaviour, String> code) {

  /** What an operation does in the suite. */
  enum Behaviour {
    ECHO,
    PRINTS_AND_GIVES_A_MEGABYTE,
    THROWS,
    NOT_A_NUMBER,
    HALF_A_CHARACTER,
    TOO_DEEP,
    EXITS,
    HANGS,
    BYTES,
    TEXT
  }

  static final Map<Behaviour, String> PYTHON_CODE =
      code(
          "return input['value']",
          "print('x' * 100); sys.stdout.write('y'); return 'x' * (1 << 20)",
          "raise ValueError('no such order')",
          "return float('nan')",
          "return chr(0xd800)",
          "v = []\n    for _ in range(900): v = [v]\n    return v",
          "os._exit(7)",
          "time.sleep(1000)",
          "return bytes(range(256))",
          "return 'é😀'");

  static final List<Dialect> ALL =
      List.of(
          new Dialect(
              Language.PYTHON,
              "import os, sys, time\n\ndef count(input, context):\n    @CODE@\n",
              PYTHON_CODE),
          new Dialect(
              Language.PROCESS,
              """
              #!/usr/bin/python3 -I
              import base64, json, os, struct, sys, time
              frames = os.fdopen(os.dup(1), "wb")
              os.dup2(2, 1)
              def write(**members):
                  body = json.dumps({"protocol": 1, **members}, allow_nan=False, ensure_ascii=False)
                  body = body.encode("utf-8")
                  frames.write(struct.pack(">I", len(body)) + body)
                  frames.flush()
              def count(input, context):
                  @CODE@
              write(kind="ready")
              (length,) = struct.unpack(">I", sys.stdin.buffer.read(4))
              call = json.loads(sys.stdin.buffer.read(length))
              try:
                  output = count(call["input"], call["context"])
                  if "media_type" in call:
                      output = output if isinstance(output, bytes) else output.encode()
                      text = base64.b64encode(output).decode()
                      write(kind="result", media_type=call["media_type"], base64=text)
                  else:
                      write(kind="result", output=output)
              except Exception as error:
                  write(kind="incident", incident="Failed", message=str(error)[:500])
              sys.stdout.flush()
              """,
              PYTHON_CODE),
          new Dialect(
              Language.NODE,
              "export function count(input, context) {\n@CODE@\n}\n",
              code(
                  "return input.value;",
                  "console.log('x'.repeat(100)); process.stdout.write('y'); return"
                      + " 'x'.repeat(1 << 20);",
                  "throw new Error('no such order');",
                  "return 1n;",
                  "return '\\ud800';",
                  "let v = []; for (let i = 0; i < 900; i++) v = [v]; return v;",
                  "process.exit(7);",
                  "for (;;) {}",
                  "return Uint8Array.from({ length: 256 }, (_, i) => i);",
                  "return 'é😀';")),
          new Dialect(
              Language.JAVA,
              "import java.util.*;\npublic final class Tool {\npublic static Object"
                  + " count(Map<String, Object> input, Map<String, Object> context) throws"
                  + " Exception {\n@CODE@\n}\n}\n",
              code(
                  "return input.get(\"value\");",
                  "System.out.println(\"x\".repeat(100)); System.out.print(\"y\"); return"
                      + " \"x\".repeat(1 << 20);",
                  "throw new IllegalStateException(\"no such order\");",
                  "return Double.NaN;",
                  "return \"\" + (char) 0xd800;",
                  "Object v = List.of(); for (int i = 0; i < 900; i++) v = List.of(v); return v;",
                  "Runtime.getRuntime().halt(7); return null;",
                  "Thread.sleep(1000000); return null;",
                  "byte[] b = new byte[256]; for (int i = 0; i < 256; i++) b[i] = (byte) i; return"
                      + " b;",
                  "return \"é😀\";")),
          new Dialect(
              Language.named("perl").orElseThrow(),
              "package Tool;\n"
                  + "use strict;\n"
                  + "sub count {\n"
                  + "my ($input, $context) = @_;\n"
                  + "@CODE@\n"
                  + "}\n"
                  + "1;\n",
              code(
                  "return $input->{value};",
                  "print 'x' x 100; print STDOUT 'y'; return 'x' x (1 << 20);",
                  "die \"no such order\\n\";",
                  "return 9**9**9;",
                  "no warnings; return chr 0xd800;",
                  "my $v = []; $v = [$v] for 1 .. 900; return $v;",
                  "exit 7;",
                  "sleep 1000;",
                  "return join '', map { chr } 0 .. 255;",
                  "return 'é😀';")));

  private static Map<Behaviour, String> code(String... each) {
    TreeMap<Behaviour, String> code = new TreeMap<>();
    for (Behaviour behaviour : Behaviour.values()) {
      code.put(behaviour, each[behaviour.ordinal()]);
    }
    return code;
  }

  /** A project of this language whose operation {@code count} does so. */
  Path project(Path folder, Behaviour behaviour) {
    return entry(template(folder), body.replace("@CODE@", code.get(behaviour)));
  }

  /** The same project with other text in its entry. */
  static Path entry(Path folder, String text) {
    try {
      Files.writeString(folder.resolve(ToolProject.open(folder).source().entry()), text);
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A tool without a test's behaviour: what {@code writ tool new} makes. */
  Path template(Path folder) {
    Templates.make(language, "my-tool", folder);
    return folder;
  }

  @Override
  public String toString() {
    return language.text();
  }
}
