package dev.writ.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Whole processes, from the launcher on: verifying the bundle of one small run, and asking for the
 * version, against the JVM that does nothing.
 */
final class StartSteps {
  private static final String FLOOR = "java -version";

  private final String launcher;
  private final Path folder;

  private StartSteps(String launcher, Path folder) {
    this.launcher = launcher;
    this.folder = folder;
  }

  /**
   * None where Writ was not started by its launcher, as in tests: then there is nothing to start.
   *
   * @param folder where a data directory and a bundle are made
   */
  static List<Step> of(Path folder) throws IOException {
    String launcher = System.getProperty("writ.name", "");
    if (launcher.isEmpty()) {
      return List.of();
    }
    StartSteps starts =
        new StartSteps(
            Path.of(launcher).toAbsolutePath().toString(),
            Files.createDirectories(folder.resolve("start")));
    return List.of(
        starts.step("start: version", () -> starts.writ("version")),
        starts.step("start: verify a small bundle", starts::verify));
  }

  private void makeBundle() {
    run(writ("init"));
    run(writ("run", "js", "--param", "source='6*7'"));
    run(writ("checkpoint"));
    run(writ("export", "main", "-o", folder.resolve("run.writ").toString()));
  }

  /** The bundle is made during warm-up, so that nothing is made if the step is left out. */
  private List<String> verify() {
    Path bundle = folder.resolve("run.writ");
    if (!Files.exists(bundle)) {
      makeBundle();
    }
    return writ(
        "verify", bundle.toString(), "--trust", folder.resolve("home/trust.jwks").toString());
  }

  private Step step(String name, Supplier<List<String>> command) {
    List<String> java =
        List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(), "-version");
    return new Step(
        name, FLOOR, new BenchTarget.TimeAtMost(2), () -> cost(command.get()), () -> cost(java));
  }

  private List<String> writ(String... args) {
    List<String> command =
        new ArrayList<>(List.of(launcher, "--home", folder.resolve("home").toString()));
    command.addAll(List.of(args));
    return command;
  }

  /** The wall time of one process; its processor time is not ours to see. */
  private Cost cost(List<String> command) {
    Cost.Start start = Cost.Start.now();
    run(command);
    return new Cost(start.wallNanos(), 0);
  }

  private void run(List<String> command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      int status = process.waitFor();
      if (status != 0) {
        throw new IllegalStateException("exit status " + status + " of " + command);
      }
    } catch (IOException e) {
      throw new IllegalStateException("cannot run " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
