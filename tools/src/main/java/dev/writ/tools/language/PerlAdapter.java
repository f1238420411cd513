package dev.writ.tools.language;

import dev.writ.sandbox.Bind;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Perl 5 as in every Debian, without the host's own packages. */
public final class PerlAdapter implements LanguageAdapter {
  private static final String PERL = "/usr/bin/perl";
  private static final Path LIBRARIES = Path.of("/usr/lib");

  private final Interpreter interpreter = Interpreter.asked(PERL, "-e", "print $^V");

  @Override
  public Language language() {
    return Language.named("perl").orElseThrow();
  }

  @Override
  public Optional<Interpreter> interpreter() {
    return Optional.of(interpreter);
  }

  @Override
  public List<String> workers() {
    return List.of("WritHelpers.pm", "worker.pl");
  }

  @Override
  public List<String> argv(ToolSource source) {
    return List.of(PERL, "-f", WORKERS + "/worker.pl", source.entry(), PACKAGE);
  }

  @Override
  public Optional<List<String>> executables(ToolSource source, Path files) {
    return Optional.of(List.of(PERL));
  }

  /** The minimal modules that Debian keeps separately, in place of the full ones. */
  @Override
  public List<Bind> binds() {
    List<Bind> binds = new ArrayList<>();
    try (DirectoryStream<Path> triplets =
        Files.newDirectoryStream(LIBRARIES, path -> Files.isDirectory(path.resolve("perl-base")))) {
      triplets.forEach(triplet -> {
        Path modules = triplet.resolve("perl-base");
        binds.add(new Bind(modules, modules.toString()));
      });
    } catch (IOException e) {
      return List.of(); // the host keeps them elsewhere
    }
    return binds;
  }
}
