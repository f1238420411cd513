package dev.writ.tools.language;

import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.util.List;
import java.util.Optional;

/** Any executable that speaks the protocol itself, such as a published .NET program. */
public final class ExecutableAdapter implements LanguageAdapter {

  @Override
  public Language language() {
    return Language.PROCESS;
  }

  /** It brings its own; its {@code runtime} is the version of the worker protocol. */
  @Override
  public Optional<Interpreter> interpreter() {
    return Optional.empty();
  }

  @Override
  public List<String> workers() {
    return List.of();
  }

  @Override
  public List<String> argv(ToolSource source) {
    return List.of(PACKAGE + "/" + source.entry());
  }

  @Override
  public Optional<List<String>> executables(ToolSource source) {
    return Optional.empty();
  }
}
