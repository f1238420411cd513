package dev.writ.console.web;

import dev.writ.verify.bundle.SecondVerifier;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The files of the page: ours, which {@code files.txt} lists, the libraries' out of their WebJars,
 * and the second verifier, which is the one that the vectors test.
 */
final class Assets {
  private static final String PREACT = "/META-INF/resources/webjars/preact/10.27.2/";

  private static final String UPLOT =
      "/META-INF/resources/webjars/uplot/1.6.30/dist/uPlot.iife.min.js";

  private static final Map<String, String> LIBRARIES =
      Map.of(
          "lib/preact.mjs", PREACT + "dist/preact.module.js",
          "lib/hooks.mjs", PREACT + "hooks/dist/hooks.module.js");

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "mjs", "text/javascript; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "json", "application/json",
          "svg", "image/svg+xml");

  private Assets() {}

  /** By their names below {@code /console/}. */
  static SortedMap<String, Asset> all() {
    TreeMap<String, Asset> all = new TreeMap<>();
    names().forEach(name -> all.put(name, asset(name, read(name))));
    LIBRARIES.forEach((name, resource) -> all.put(name, asset(name, library(resource))));
    all.put("lib/uplot.mjs", asset("lib/uplot.mjs", charts()));
    all.put("verify.mjs", asset("verify.mjs", SecondVerifier.source()));
    return Collections.unmodifiableSortedMap(all);
  }

  private static Iterable<String> names() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(Assets.class.getResourceAsStream("files.txt")),
                StandardCharsets.UTF_8))) {
      return lines.lines().filter(line -> !line.isBlank()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Asset asset(String name, byte[] bytes) {
    String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    return Asset.of(Objects.requireNonNull(type, name), bytes);
  }

  /** Hooks name Preact as a package; here it lies beside them. Maps of sources are not served. */
  private static byte[] library(String resource) {
    String text = new String(read(resource), StandardCharsets.UTF_8);
    return text.replaceAll("from\\s*\"preact\"", "from\"./preact.mjs\"")
        .replaceAll("//# sourceMappingURL=\\S+\\s*$", "")
        .getBytes(StandardCharsets.UTF_8);
  }

  /** A script that makes one name, which becomes a module's. */
  private static byte[] charts() {
    String text = new String(read(UPLOT), StandardCharsets.UTF_8);
    return (text + "\nexport default uPlot;\n").getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] read(String resource) {
    try (InputStream in = Assets.class.getResourceAsStream(resource)) {
      return Objects.requireNonNull(in, resource).readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
