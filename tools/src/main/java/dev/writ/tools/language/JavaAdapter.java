package dev.writ.tools.language;

import dev.writ.sandbox.Bind;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ToolSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Java, in a separate JVM, never in the kernel's; it uses the JDK that runs Writ, read-only. The
 * worker compiles the package's sources in memory.
 */
public final class JavaAdapter implements LanguageAdapter {
  private static final Path HOME = home();

  /** The class that is started. */
  private static final String WORKER = "Worker";

  /** Made on first use. */
  private static SortedMap<String, byte[]> classes;

  /** A JDK below /usr keeps its path in the sandbox. */
  private static final boolean IN_USR = HOME.startsWith("/usr");

  private static final String JDK = IN_USR ? HOME.toString() : "/jdk";

  @Override
  public Language language() {
    return Language.JAVA;
  }

  @Override
  public Optional<Interpreter> interpreter() {
    return Optional.of(
        Interpreter.known(HOME.resolve("bin/java"), System.getProperty("java.version")));
  }

  @Override
  public List<String> workers() {
    return List.of("Helpers.java", "Worker.java");
  }

  @Override
  public SortedMap<String, byte[]> workerFiles() {
    TreeMap<String, byte[]> files = new TreeMap<>(WorkerScripts.of(workers()));
    files.putAll(classes(files.get(WORKER + ".java")));
    return files;
  }

  private static synchronized SortedMap<String, byte[]> classes(byte[] source) {
    if (classes == null) {
      classes = CompiledWorker.of(WORKER, source);
    }
    return classes;
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
        "--class-path", // otherwise the JVM's start directory would be on it
        WORKERS,
        WORKER,
        source.entry(),
        PACKAGE);
  }

  /**
   * The JDK with its libraries. If the JDK is elsewhere than below /usr, the programs of the
   * profile are visible.
   */
  @Override
  public Optional<List<String>> executables(ToolSource source, Path files) {
    return IN_USR ? Optional.of(List.of(JDK + "/bin/java")) : Optional.empty();
  }

  @Override
  public List<Bind> binds() {
    return IN_USR ? List.of() : List.of(new Bind(HOME, JDK));
  }

  private static Path home() {
    try {
      return Path.of(System.getProperty("java.home")).toRealPath();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
