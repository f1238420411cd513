package dev.writ.sandbox.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A JVM beside this one, with the same class path. */
public final class OtherJvm implements AutoCloseable {
  private final Process process;
  private final BufferedReader out;

  /**
   * @param before what goes before {@code java} on the command line
   */
  public OtherJvm(List<String> before, Class<?> main, String... arguments) throws IOException {
    this(before, System.getProperty("java.class.path"), main, arguments);
  }

  public OtherJvm(List<String> before, String classPath, Class<?> main, String... arguments)
      throws IOException {
    List<String> argv = new ArrayList<>(before);
    argv.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    argv.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-Xshare:auto",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            classPath,
            main.getName()));
    argv.addAll(List.of(arguments));
    process = new ProcessBuilder(argv).redirectErrorStream(true).start();
    out = process.inputReader(StandardCharsets.UTF_8);
  }

  public long pid() {
    return process.pid();
  }

  /** Its next line, or null at its end. */
  public String line() throws IOException {
    return out.readLine();
  }

  /** All further lines; waits for its end. */
  public List<String> lines() throws Exception {
    List<String> lines = out.lines().toList();
    process.waitFor();
    return lines;
  }

  /** kill -9. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
