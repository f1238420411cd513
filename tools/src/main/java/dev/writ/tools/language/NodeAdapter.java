package dev.writ.tools.language;

import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Node, without code from strings and without native addons. */
public final class NodeAdapter implements LanguageAdapter {
  private static final String NODE = "/usr/bin/node";

  private final Interpreter interpreter = Interpreter.asked(NODE, "--version");

  @Override
  public Language language() {
    return Language.NODE;
  }

  @Override
  public Optional<Interpreter> interpreter() {
    return Optional.of(interpreter);
  }

  @Override
  public List<String> workers() {
    return List.of("helpers.cjs", "worker.mjs");
  }

  @Override
  public List<String> argv(ToolSource source) {
    return List.of(
        NODE,
        "--disallow-code-generation-from-strings",
        "--no-addons",
        "--no-warnings",
        WORKERS + "/worker.mjs",
        source.entry(),
        PACKAGE);
  }

  @Override
  public Optional<List<String>> executables(ToolSource source, Path files) {
    return Optional.of(List.of(NODE));
  }
}
