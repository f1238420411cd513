package dev.writ.tools.author;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A language that a tool can be written in; the driver of the same name runs it. The languages are
 * data of the release ({@code languages.json}): adding one takes an entry there and an adapter.
 *
 * @param text the word in {@code tool.manifest}, and the name of the driver
 * @param runtimes the compatibility matrix: prefixes of the runtime versions that this release
 *     supports
 * @param sandbox the profile that its tools run in
 * @param template the code of a new project, by its paths
 * @param sources extensions of the source files that its runtime runs; empty for {@code process},
 *     whose packages bring their own runtime, and for {@code dotnet}, which runs assemblies
 * @param redeclares a pattern for declarations in a source file that change its encoding from
 *     UTF-8; empty if the language has none
 */
public record Language(
    String text,
    List<String> runtimes,
    String sandbox,
    List<String> template,
    List<String> sources,
    String redeclares)
    implements Comparable<Language> {

  /** All of them, by their names. */
  public static final List<Language> ALL = read();

  /** Assemblies, which no parser reads. */
  public static final Language DOTNET = named("dotnet").orElseThrow();

  /** Descriptions of requests, without code. */
  public static final Language HTTP = named("http").orElseThrow();

  public static final Language JAVA = named("java").orElseThrow();
  public static final Language NODE = named("node").orElseThrow();
  public static final Language PYTHON = named("python").orElseThrow();
  public static final Language WASM = named("wasm").orElseThrow();

  /** Any executable that speaks the worker protocol. */
  public static final Language PROCESS = named("process").orElseThrow();

  public Language {
    runtimes = List.copyOf(runtimes);
    template = List.copyOf(template);
    sources = List.copyOf(sources);
  }

  /** Whether a file of a package is code that the language's runtime runs. */
  public boolean isSource(String path) {
    return sources.stream().anyMatch(path::endsWith);
  }

  public static Optional<Language> named(String text) {
    return ALL.stream().filter(language -> language.text.equals(text)).findFirst();
  }

  /**
   * Requires that this release supports the runtime that a tool is written for.
   *
   * @throws WritException {@code TOL-212}
   */
  public void requireSupported(RuntimeRange range) {
    if (runtimes.stream().noneMatch(range::meets)) {
      throw new WritException(
          ToolsError.RUNTIME_UNSUPPORTED,
          "runtime " + range.text() + " of " + text + ", supported are " + runtimes);
    }
  }

  /**
   * Requires that a runtime is supported by this release and within the tool's range.
   *
   * @param version its own full version
   * @throws WritException {@code TOL-213}
   */
  public void requireRuntime(RuntimeRange range, String version) {
    boolean supported = runtimes.stream().anyMatch(entry -> RuntimeRange.of(entry).admits(version));
    if (!supported || !range.admits(version)) {
      throw new WritException(
          ToolsError.RUNTIME_MISMATCH,
          "this host has "
              + text
              + " "
              + version
              + (supported
                  ? ", the tool is written for " + range.text()
                  : ", this release supports " + runtimes));
    }
  }

  @Override
  public int compareTo(Language other) {
    return text.compareTo(other.text);
  }

  /** Only the name, for tests and messages. */
  @Override
  public String toString() {
    return text;
  }

  private static List<Language> read() {
    try (InputStream in = Language.class.getResourceAsStream("languages.json")) {
      List<Language> all = new ArrayList<>();
      ((JsonValue.Obj) Jcs.parse(in.readAllBytes()))
          .members()
          .forEach((text, entry) -> {
            Fields fields = Fields.of(text, entry);
            all.add(
                new Language(
                    text,
                    fields.list("runtimes", Fields::stringItem),
                    fields.name("sandbox"),
                    fields.list("template", Fields::stringItem),
                    fields.list("sources", Fields::stringItem),
                    fields.string("redeclares")));
            fields.end();
          });
      all.sort(Comparator.naturalOrder());
      return List.copyOf(all);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
