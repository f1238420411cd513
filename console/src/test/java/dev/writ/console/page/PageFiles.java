package dev.writ.console.page;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The console's files as a browser gets them: its own, the verifier, the library of views. */
final class PageFiles {
  private static final Path WEB = Path.of("src/main/resources/dev/writ/console/web");
  private static final String PREACT = "/META-INF/resources/webjars/preact/10.27.2/";

  private static final String UPLOT = "/META-INF/resources/webjars/uplot/1.6.30/dist/";

  private PageFiles() {}

  /** Those that this module has, by their path. */
  static TreeMap<String, String> own() {
    TreeMap<String, String> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(WEB)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        files.put(WEB.relativize(file).toString(), Files.readString(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }

  /** All that a browser loads. */
  static TreeMap<String, String> all() {
    TreeMap<String, String> files = own();
    files.put("verify.mjs", resource("/dev/writ/verify/bundle/verify.mjs"));
    files.put("lib/preact.mjs", resource(PREACT + "dist/preact.mjs"));
    files.put(
        "lib/hooks.mjs",
        resource(PREACT + "hooks/dist/hooks.mjs")
            .replace("from\"preact\"", "from\"./preact.mjs\""));
    files.put("lib/uplot.mjs", resource(UPLOT + "uPlot.iife.min.js") + "\nexport default uPlot;\n");
    return files;
  }

  /** The library's types, under the names that our imports have. */
  static TreeMap<String, String> types() {
    TreeMap<String, String> files = new TreeMap<>();
    String preact = resource(PREACT + "src/index.d.ts");
    files.put("lib/preact.d.mts", preact.replace("'./jsx'", "'./jsx.js'"));
    files.put("lib/jsx.d.ts", types("src/jsx.d.ts").replace("'./dom'", "'./dom.js'"));
    files.put("lib/dom.d.ts", types("src/dom.d.ts"));
    files.put("lib/hooks.d.mts", types("hooks/src/index.d.ts"));
    files.put(
        "lib/uplot.d.mts",
        resource(UPLOT + "uPlot.d.ts")
            .replace("export = uPlot;", "export default uPlot;")
            .replace("export as namespace uPlot;", ""));
    return files;
  }

  private static String types(String name) {
    return resource(PREACT + name)
        .replaceAll("from (['\"])(?:preact|\\.\\.|\\.|\\./index)\\1", "from './preact.mjs'");
  }

  static String resource(String name) {
    try (InputStream in = PageFiles.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
