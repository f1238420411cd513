package dev.writ.tools.language;

import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Python 3: isolated, without the host's own packages. */
public final class PythonAdapter implements LanguageAdapter {
  private static final String PYTHON = "/usr/bin/python3";

  private final Interpreter interpreter = Interpreter.asked(PYTHON, "--version");

  @Override
  public Language language() {
    return Language.PYTHON;
  }

  @Override
  public Optional<Interpreter> interpreter() {
    return Optional.of(interpreter);
  }

  @Override
  public List<String> workers() {
    return List.of("worker.py", "writ_helpers.py");
  }

  @Override
  public List<String> argv(ToolSource source) {
    return List.of(PYTHON, "-I", "-S", "-B", WORKERS + "/worker.py", source.entry(), PACKAGE);
  }

  @Override
  public Optional<List<String>> executables(ToolSource source, Path files) {
    return Optional.of(List.of(PYTHON));
  }
}
