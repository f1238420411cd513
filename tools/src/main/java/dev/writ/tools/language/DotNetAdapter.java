package dev.writ.tools.language;

import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * An assembly on the host's .NET runtime, such as an existing tool in C# (seed 004). It speaks the
 * worker protocol itself. No host of our tests has a .NET runtime.
 */
public final class DotNetAdapter implements LanguageAdapter {
  static final String DOTNET = "/usr/bin/dotnet";

  private final Interpreter interpreter = Interpreter.asked(DOTNET, "--list-runtimes");

  @Override
  public Language language() {
    return Language.DOTNET;
  }

  @Override
  public Optional<Interpreter> interpreter() {
    return Optional.of(interpreter);
  }

  @Override
  public List<String> workers() {
    return List.of();
  }

  @Override
  public List<String> argv(ToolSource source) {
    return List.of(DOTNET, "exec", PACKAGE + "/" + source.entry());
  }

  /** All of the profile's: where the runtime's host program and libraries lie differs by host. */
  @Override
  public Optional<List<String>> executables(ToolSource source, Path files) {
    return Optional.empty();
  }
}
