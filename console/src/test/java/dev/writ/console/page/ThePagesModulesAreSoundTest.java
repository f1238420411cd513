package dev.writ.console.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What can be said of the console's files without a browser. */
class ThePagesModulesAreSoundTest {
  private static final int BYTES_MAX = 300_000;

  private static final String SETTINGS =
      """
      {"compilerOptions":{"target":"es2023","module":"nodenext","moduleResolution":"nodenext",
       "lib":["es2024","dom","dom.iterable","dom.asynciterable"],"allowJs":true,"checkJs":true,"strict":true,
       "noEmit":true,"noUnusedLocals":true,"noImplicitReturns":true,"skipLibCheck":true,"types":[]},
       "files":["main.mjs"]}
      """;

  /** JSDoc says the types, and the compiler finds nothing. */
  @Test
  void types_fit(@TempDir Path dir) throws Exception {
    TreeMap<String, String> files = PageFiles.all();
    files.putAll(PageFiles.types());
    // The verifier has tests of its own; here it is what the pages import.
    files.compute("verify.mjs", (_, text) -> "// @ts-nocheck\n" + text);
    files.put("tsconfig.json", SETTINGS);
    for (Map.Entry<String, String> file : files.entrySet()) {
      put(dir, file.getKey(), file.getValue());
    }
    Path compiler = dir.resolve("tsc");
    String jar = "/META-INF/resources/webjars/typescript/6.0.3/lib/";
    for (String name : new TreeSet<>(List.of("_tsc.js", "tsc.js"))) {
      put(compiler, name, PageFiles.resource(jar + name));
    }
    libraries(jar, compiler);
    Process tsc =
        new ProcessBuilder("node", compiler.resolve("tsc.js").toString(), "-p", dir.toString())
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(tsc.getInputStream().readAllBytes(), UTF_8);
    assertThat(tsc.waitFor() + " " + said).isEqualTo("0 ");
  }

  /** Descriptions of the language and of browsers: each names those that it needs. */
  private static void libraries(String jar, Path to) throws IOException {
    TreeSet<String> wanted =
        new TreeSet<>(List.of("es2024", "dom", "dom.iterable", "dom.asynciterable", "decorators"));
    TreeSet<String> done = new TreeSet<>();
    while (!wanted.isEmpty()) {
      String name = wanted.pollFirst();
      if (done.add(name)) {
        String text = PageFiles.resource(jar + "lib." + name + ".d.ts");
        put(to, "lib." + name + ".d.ts", text);
        Pattern.compile("<reference lib=\"([a-z0-9.]+)\"")
            .matcher(text)
            .results()
            .forEach(found -> wanted.add(found.group(1)));
      }
    }
  }

  private static void put(Path dir, String name, String text) throws IOException {
    Path file = dir.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private static TreeMap<String, String> texts(String language) {
    JsonValue.Obj json =
        (JsonValue.Obj)
            Jcs.parse(PageFiles.own().get("text/" + language + ".json").getBytes(UTF_8));
    TreeMap<String, String> texts = new TreeMap<>();
    json.members().forEach((key, text) -> texts.put(key, ((JsonValue.Str) text).value()));
    return texts;
  }

  private static TreeSet<String> placeholders(String text) {
    TreeSet<String> names = new TreeSet<>();
    Pattern.compile("\\{[^}]*}").matcher(text).results().forEach(m -> names.add(m.group()));
    return names;
  }

  @Test
  void both_languages_say_the_same_things() {
    TreeMap<String, String> english = texts("en");
    TreeMap<String, String> german = texts("de");
    assertThat(german.keySet()).isEqualTo(english.keySet());
    english.forEach((key, text) -> {
      assertThat(german.get(key)).as(key).isNotBlank();
      assertThat(placeholders(german.get(key))).as(key).isEqualTo(placeholders(text));
      assertThat(placeholders(text)).as(key).allMatch(name -> name.matches("\\{[a-z]+}"));
    });
  }

  /** A name that is written out, and the beginning of one that is put together. */
  private static final Pattern USED =
      Pattern.compile(
          "\\b(?:t|T|count|named)\\((?:'([^']+)'|`([a-z.]+\\.)\\$\\{)"
              + "|[?:\\[,(] '([a-z]+(?:\\.[a-z_0-9-]+)+)'");

  @Test
  void each_text_that_is_used_exists_and_each_that_exists_is_used() {
    TreeSet<String> texts = new TreeSet<>(texts("en").keySet());
    TreeSet<String> unused = new TreeSet<>(texts);
    TreeSet<String> missing = new TreeSet<>();
    PageFiles.own()
        .forEach((name, source) -> {
          if (!name.endsWith(".mjs")) {
            return;
          }
          Matcher use = USED.matcher(source);
          while (use.find()) {
            String key = use.group(1) != null ? use.group(1) : use.group(2);
            String prefix = key == null ? use.group(3) : key;
            boolean known =
                texts.stream().anyMatch(t -> t.equals(prefix) || t.startsWith(dotted(prefix)));
            if (!known && key != null) {
              missing.add(name + ": " + key);
            }
            unused.removeIf(t -> t.equals(prefix) || t.startsWith(dotted(prefix)));
          }
        });
    assertThat(missing).isEmpty();
    assertThat(unused).isEmpty();
  }

  private static String dotted(String prefix) {
    return prefix.endsWith(".") ? prefix : prefix + ".";
  }

  @Test
  void each_file_is_served_and_none_besides() {
    TreeSet<String> files = new TreeSet<>(PageFiles.own().keySet());
    files.remove("files.txt");
    assertThat(PageFiles.own().get("files.txt").lines()).containsExactlyElementsOf(files);
  }

  /** Trusted Types forbids it in the browser; here it does not even get there. */
  @Test
  void no_markup_is_made_of_text_and_nothing_comes_from_elsewhere() {
    PageFiles.own()
        .forEach((name, source) ->
            assertThat(source)
                .as(name)
                .doesNotContainPattern(
                    "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|\\beval\\(|new"
                        + " Function")
                .doesNotContainPattern("(?<!xmlns=\")https?://")
                .doesNotContain("dangerouslySetInnerHTML"));
    assertThat(PageFiles.own().get("index.html"))
        .doesNotContainPattern("<script(?![^>]*\\bsrc=)")
        .doesNotContainPattern("<style|\\son[a-z]+=");
  }

  @Test
  void the_report_names_the_same_characters_that_are_not_seen() {
    Pattern hidden = Pattern.compile("const HIDDEN = [^\n]+");
    assertThat(
            hidden
                .matcher(PageFiles.resource("/dev/writ/replay/report/report.js"))
                .results()
                .map(MatchResult::group))
        .containsExactlyElementsOf(
            hidden
                .matcher(PageFiles.own().get("parts/foreign.mjs"))
                .results()
                .map(MatchResult::group)
                .toList())
        .hasSize(1);
  }

  @Test
  void all_files_together_are_small() throws IOException {
    int bytes = 0;
    for (String text : PageFiles.all().values()) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
        gzip.write(text.getBytes(UTF_8));
      }
      bytes += out.size();
    }
    assertThat(bytes).isLessThan(BYTES_MAX);
  }
}
