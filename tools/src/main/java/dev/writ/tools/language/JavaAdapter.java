package dev.writ.tools.language;

import dev.writ.sandbox.Bind;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Java, in a JVM of its own, which is never the kernel's: the JDK that runs Writ, read-only. The
 * worker compiles the package's sources in memory.
 */
public final class JavaAdapter implements LanguageAdapter {
  private static final String JDK = "/jdk";

  @Override
  public Language language() {
    return Language.JAVA;
  }

  @Override
  public Optional<Interpreter> interpreter() {
    return Optional.of(
        Interpreter.known(
            Path.of(System.getProperty("java.home"), "bin", "java"),
            System.getProperty("java.version")));
  }

  @Override
  public List<String> workers() {
    return List.of("Worker.java");
  }

  @Override
  public List<String> argv(ToolSource source) {
    return List.of(
        JDK + "/bin/java",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData",
        "-Xshare:auto",
        "-XX:MaxRAMPercentage=60",
        WORKERS + "/Worker.java",
        source.entry(),
        PACKAGE);
  }

  /** The JDK brings its own programs; of the host it needs the loader and libc, as all do. */
  @Override
  public Optional<List<String>> executables(ToolSource source) {
    return Optional.empty();
  }

  @Override
  public List<Bind> binds() {
    return List.of(new Bind(Path.of(System.getProperty("java.home")), JDK));
  }
}
