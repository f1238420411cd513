package dev.writ.bench;

import dev.writ.verify.bundle.SecondVerifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whole processes, from the launcher on: what people ask most, against the JVM that does nothing;
 * verifying the bundle of one small run also against the second verifier in Node, where there is
 * one. Node's own cost is a row too, so that both can be seen.
 */
final class StartSteps {
  private static final String FLOOR = "java -version";

  private static final Pattern ID = Pattern.compile("sha256:[0-9a-f]{64}");

  private final String launcher;
  private final Path folder;
  private String receipt = "";

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
    List<Step> steps =
        new ArrayList<>(
            List.of(
                starts.step("start: version", 2, () -> starts.writ("version")),
                starts.step("start: verify a small bundle", 3, starts::verify),
                starts.step("start: receipts", 3, () -> starts.inHome("receipts")),
                starts.step("start: show", 3, () -> starts.inHome("show", starts.receipt())),
                starts.step(
                    "start: run js",
                    6,
                    () -> starts.inHome("run", "js", "--param", "source='6*7'"))));
    if (starts.hasNode()) {
      steps.add(
          new Step(
              "start: verify a small bundle",
              "node verify.mjs",
              new BenchTarget.TimeAtMost(1),
              () -> starts.cost(starts.verify()),
              () -> starts.cost(starts.verifyByNode())));
    }
    return steps;
  }

  private boolean hasNode() {
    for (String place : System.getenv().getOrDefault("PATH", "").split(":")) {
      if (Files.isExecutable(Path.of(place, "node"))) {
        return true;
      }
    }
    return false;
  }

  private List<String> inHome(String... args) {
    bundle();
    return writ(args);
  }

  private List<String> verifyByNode() {
    Path verifier = folder.resolve("verify.mjs");
    if (!Files.exists(verifier)) {
      try {
        Files.write(verifier, SecondVerifier.source());
      } catch (IOException e) {
        throw new IllegalStateException("cannot write " + verifier, e);
      }
    }
    return List.of(
        "node",
        verifier.toString(),
        bundle().toString(),
        "--trust",
        folder.resolve("home/trust.jwks").toString());
  }

  /** The id of a receipt of the home. */
  private String receipt() {
    bundle();
    try {
      if (receipt.isEmpty()) {
        Path out = folder.resolve("receipts.json");
        run(writ("receipts", "--json"), ProcessBuilder.Redirect.to(out.toFile()));
        Matcher id = ID.matcher(Files.readString(out));
        receipt = id.find() ? id.group() : "";
      }
      return receipt;
    } catch (IOException e) {
      throw new IllegalStateException("cannot list receipts", e);
    }
  }

  private void makeBundle() {
    run(writ("init"));
    run(writ("run", "js", "--param", "source='6*7'"));
    run(writ("checkpoint"));
    run(writ("export", "main", "-o", folder.resolve("run.writ").toString()));
  }

  /** It is made during warm-up, so that nothing is made if the steps are left out. */
  private Path bundle() {
    Path bundle = folder.resolve("run.writ");
    if (!Files.exists(bundle)) {
      makeBundle();
    }
    return bundle;
  }

  private List<String> verify() {
    return writ(
        "verify", bundle().toString(), "--trust", folder.resolve("home/trust.jwks").toString());
  }

  private Step step(String name, double most, Supplier<List<String>> command) {
    List<String> java =
        List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(), "-version");
    return new Step(
        name, FLOOR, new BenchTarget.TimeAtMost(most), () -> cost(command.get()), () -> cost(java));
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
    run(command, ProcessBuilder.Redirect.DISCARD);
  }

  private void run(List<String> command, ProcessBuilder.Redirect out) {
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .redirectOutput(out)
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
