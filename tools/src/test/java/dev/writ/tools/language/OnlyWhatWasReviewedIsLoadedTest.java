package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a worker opens of a package, told by the kernel: exactly the sources that a parser read,
 * also where the package and the workspace hold all that its language would rather load. Lint and
 * the driver refuse such packages; here the worker is started without them.
 */
class OnlyWhatWasReviewedIsLoadedTest {
  private static final Pattern OPENED =
      Pattern.compile("open(?:at)?\\((?:AT_FDCWD, )?\"([^\"]+)\", .*");

  @TempDir Path home;
  private Path folder;
  private Path workspace;

  @BeforeEach
  void folders() throws IOException {
    home = home.toRealPath();
    folder = home.resolve("tool");
    workspace = Files.createDirectories(home.resolve("workspace"));
  }

  private static void write(Path file, byte[] bytes) {
    try {
      Files.createDirectories(file.getParent());
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Path file, String text) {
    write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  private static void sh(Path in, String... argv) throws Exception {
    Process process = new ProcessBuilder(argv).directory(in.toFile()).inheritIO().start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(String.join(" ", argv)).isZero();
  }

  /** What one call of {@code count} answers, and what was opened meanwhile below {@link #home}. */
  private record Traced(String answer, TreeSet<String> opened) {}

  private Traced call(LanguageAdapter adapter) throws Exception {
    Path workers = home.resolve("worker");
    adapter.workerFiles().forEach((name, bytes) -> write(workers.resolve(name), bytes));
    List<String> argv = new ArrayList<>();
    Path trace = home.resolve("trace");
    argv.addAll(List.of("strace", "-f", "-z", "-qq", "-e", "trace=open,openat,openat2", "-o"));
    argv.addAll(List.of(trace.toString(), "--"));
    ToolProject project = ToolProject.open(folder);
    for (String word : adapter.argv(project.source())) {
      argv.add(
          word.equals(LanguageAdapter.PACKAGE) || word.startsWith(LanguageAdapter.PACKAGE + "/")
              ? folder + word.substring(LanguageAdapter.PACKAGE.length())
              : word.startsWith(LanguageAdapter.WORKERS)
                  ? workers + word.substring(LanguageAdapter.WORKERS.length())
                  : word);
    }
    ProcessBuilder builder = new ProcessBuilder(argv).directory(workspace.toFile());
    builder.environment().clear();
    builder
        .environment()
        .putAll(Map.of("HOME", workspace.toString(), "LANG", "C.UTF-8", "PATH", "/usr/bin:/bin"));
    Path said = home.resolve("stderr");
    Process process = builder.redirectError(said.toFile()).start();
    JsonValue.Obj call =
        JsonValue.object()
            .put("protocol", Frames.PROTOCOL)
            .put("kind", "call")
            .put("operation", "count")
            .put("input", JsonValue.object().build())
            .put("context", JsonValue.object().build())
            .build();
    try (var out = process.getOutputStream()) {
      out.write(Frames.write(call));
    }
    List<JsonValue.Obj> frames = Frames.read(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    JsonValue.Obj last = frames.isEmpty() ? JsonValue.object().build() : frames.getLast();
    TreeSet<String> opened = new TreeSet<>();
    for (String line : Files.readAllLines(trace, StandardCharsets.ISO_8859_1)) {
      Matcher matcher = OPENED.matcher(line.replaceFirst("^[0-9]+ +", ""));
      if (matcher.matches()) {
        Path path = workspace.resolve(matcher.group(1)).normalize();
        boolean ours = path.startsWith(folder) || path.startsWith(workspace);
        if (ours && Files.isRegularFile(path)) {
          opened.add(home.relativize(path).toString());
        }
      }
    }
    String answer =
        last.get("output") == null
            ? Files.readString(said)
            : new String(Jcs.write(last.get("output")), StandardCharsets.UTF_8);
    return new Traced(answer, opened);
  }

  private void assertLoads(LanguageAdapter adapter, String... paths) throws Exception {
    Traced traced = call(adapter);
    assertThat(traced.answer()).isEqualTo("\"reviewed\"");
    assertThat(traced.opened()).containsExactlyInAnyOrder(paths);
    assertThat(paths).allMatch(path -> adapter.language().isSource(path) || path.endsWith(".jar"));
  }

  private void project(Language language, String entry) {
    Templates.make(language, "my-tool", folder);
    Dialect.entry(folder, entry);
  }

  private void compilePython(String source, String target) throws Exception {
    Path code = home.resolve("compiled.py");
    write(code, source);
    Files.createDirectories(folder.resolve(target).getParent());
    sh(
        home,
        "/usr/bin/python3",
        "-c",
        "import importlib.util, py_compile, sys; t = sys.argv[2]; t ="
            + " importlib.util.cache_from_source(t) if t.endswith('.py') else t;"
            + " py_compile.compile(sys.argv[1], cfile=t,"
            + " invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)",
        code.toString(),
        folder.resolve(target).toString());
  }

  @Test
  void python() throws Exception {
    String evil = "def word(): return 'hidden'\n";
    project(
        Language.PYTHON,
        """
        import json, decimal, lzma
        import helper, lib.part
        found = []
        for ghost in ('ghost', 'zipped', 'besides'):
            try:
                __import__(ghost)
                found.append(ghost)
            except ImportError:
                pass
        import sys
        sys.path.insert(0, '/')
        def count(input, context):
            return helper.word() if not found else found
        """);
    write(folder.resolve("src/helper.py"), "def word(): return 'reviewed'\n");
    write(folder.resolve("vendor/lib/__init__.py"), "");
    write(folder.resolve("vendor/lib/part.py"), "");
    compilePython(evil, "src/helper.py");
    compilePython(evil, "src/tool.py");
    compilePython(evil, "src/ghost.pyc");
    for (String name : new String[] {"sitecustomize.py", "usercustomize.py", "besides.py"}) {
      write(workspace.resolve(name), "raise SystemExit\n");
    }
    write(folder.resolve("vendor/more.pth"), "import besides\n");
    sh(home, "/usr/bin/python3", "-m", "zipfile", "-c", "tool/src/z.zip", "compiled.py");
    assertLoads(
        new PythonAdapter(),
        "tool/src/tool.py",
        "tool/src/helper.py",
        "tool/vendor/lib/__init__.py",
        "tool/vendor/lib/part.py");
  }

  /** In UTF-7, {@code +AAo-} is the end of a line: what follows is no comment. */
  @Test
  void aDeclaredEncodingIsNotFollowed() throws Exception {
    project(
        Language.PYTHON,
        """
        # coding: utf-7
        word = 'reviewed'
        # +AAo-word = 'hidden'
        def count(input, context):
            return word
        """);
    assertLoads(new PythonAdapter(), "tool/src/tool.py");
  }

  @Test
  void node() throws Exception {
    project(
        Language.NODE,
        """
        import { createRequire } from 'node:module';
        import { word } from './helper.mjs';
        import './classic.cjs';
        const require = createRequire(import.meta.url);
        const found = [];
        for (const name of ['ghost', 'beside', './data.txt', './addon.node', '/tmp', 'tool']) {
          try { require(name); found.push(name); } catch { /* refused */ }
          try { await import(name); found.push(name); } catch { /* refused */ }
        }
        try { await import('data:text/javascript,1'); found.push('data'); } catch { /* refused */ }
        export function count() { return found.length ? found : word; }
        """);
    write(folder.resolve("src/helper.mjs"), "export const word = 'reviewed';\n");
    write(folder.resolve("src/classic.cjs"), "module.exports = require('./more.js');\n");
    write(folder.resolve("src/more.js"), "module.exports = 1;\n");
    write(folder.resolve("src/data.txt"), "module.exports = 'hidden';\n");
    write(folder.resolve("src/addon.node"), "\u007fELF");
    write(
        folder.resolve("package.json"),
        "{\"name\":\"tool\",\"exports\":\"./src/data.txt\",\"main\":\"src/data.txt\"}");
    for (Path at : List.of(folder.resolve("node_modules"), workspace.resolve(".node_modules"))) {
      write(at.resolve("ghost/package.json"), "{\"main\":\"x.txt\"}");
      write(at.resolve("ghost/x.txt"), "module.exports = 'hidden';\n");
    }
    write(workspace.resolve("node_modules/beside/index.js"), "module.exports = 'hidden';\n");
    Traced traced = call(new NodeAdapter());
    assertThat(traced.answer()).isEqualTo("\"reviewed\"");
    assertThat(traced.opened().stream().filter(path -> !path.endsWith("package.json")))
        .containsExactlyInAnyOrder(
            "tool/src/tool.mjs", "tool/src/helper.mjs", "tool/src/classic.cjs", "tool/src/more.js");
  }

  @Test
  void java() throws Exception {
    project(
        Language.JAVA,
        """
        import java.util.Map;
        public final class Tool {
          public static Object count(Map<String, Object> input, Map<String, Object> context) {
            for (String name : new String[] {"Ghost", "Beside"}) {
              try {
                Class.forName(name);
                return name;
              } catch (ClassNotFoundException e) {
                continue;
              }
            }
            return Helper.word();
          }
        }
        """);
    write(
        folder.resolve("src/Helper.java"),
        "final class Helper { static String word() { return Other.word(); } }\n");
    write(
        folder.resolve("src/Other.java"),
        "final class Other { static String word() { return \"reviewed\"; } }\n");
    for (String name : new String[] {"Tool", "Ghost", "Beside", "Helper"}) {
      write(
          workspace.resolve(name + ".java"),
          "public final class "
              + name
              + " { public static Object count(java.util.Map<String, Object> i,"
              + " java.util.Map<String, Object> c) { return \"hidden\"; } }\n");
    }
    String bin = System.getProperty("java.home") + "/bin/";
    sh(
        workspace,
        bin + "javac",
        "-nowarn",
        "Tool.java",
        "Ghost.java",
        "Beside.java",
        "Helper.java");
    write(folder.resolve("src/Ghost.class"), Files.readAllBytes(workspace.resolve("Ghost.class")));
    write(folder.resolve("Ghost.class"), Files.readAllBytes(workspace.resolve("Ghost.class")));
    write(folder.resolve("vendor/Ghost.java"), "public final class Ghost {}");
    try (var jar = new JarOutputStream(Files.newOutputStream(folder.resolve("vendor/named.jar")))) {
      jar.putNextEntry(new ZipEntry("Other.java")); // javac would look for sources there
      jar.write(
          "final class Other { static String word() { return \"hidden\"; } }"
              .getBytes(StandardCharsets.UTF_8));
    }
    assertLoads(
        new JavaAdapter(),
        "tool/src/Tool.java",
        "tool/src/Helper.java",
        "tool/src/Other.java",
        "tool/vendor/named.jar");
  }

  @Test
  void aJarThatLeadsToOthersIsNotLoaded() throws Exception {
    project(
        Language.JAVA,
        """
        import java.util.Map;
        public final class Tool {
          public static Object count(Map<String, Object> input, Map<String, Object> context) {
            return "reviewed";
          }
        }
        """);
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().putValue("Manifest-Version", "1.0");
    manifest.getMainAttributes().putValue("Class-Path", "../../workspace/");
    Files.createDirectories(folder.resolve("vendor"));
    new JarOutputStream(Files.newOutputStream(folder.resolve("vendor/a.jar")), manifest).close();
    assertThat(call(new JavaAdapter()).answer()).contains("Class-Path");
  }

  @Test
  void perl() throws Exception {
    project(
        Language.named("perl").orElseThrow(),
        """
        package Tool;
        use strict;
        use Helper;
        my @found;
        for my $name ('Ghost', 'Beside') {
            push @found, $name if eval "require $name; 1";
        }
        sub count { return @found ? \\@found : Helper::word() . <DATA> }
        1;
        __DATA__
        ed\
        """);
    write(folder.resolve("vendor/Helper.pm"), "package Helper; sub word { return 'review' } 1;\n");
    for (String path : new String[] {"src/Tool.pmc", "vendor/Helper.pmc", "src/Ghost.pmc"}) {
      write(
          folder.resolve(path),
          "package Helper; sub word { 'hidden' } package Tool; sub count { 'hidden' } 1;\n");
    }
    write(workspace.resolve("Beside.pm"), "1;\n");
    write(workspace.resolve("sitecustomize.pl"), "die 'hidden';\n");
    assertLoads(new PerlAdapter(), "tool/src/Tool.pm", "tool/vendor/Helper.pm");
  }
}
