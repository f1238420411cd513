package dev.writ.sandbox.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Programs of the host: where they are, and what short ones say. */
public final class HostCommands {
  private static final List<String> PLACES =
      List.of("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin");

  private HostCommands() {}

  /** Where a program is; the places are fixed, so that PATH decides nothing. */
  public static Optional<Path> find(String name) {
    return PLACES.stream()
        .map(place -> Path.of(place, name))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  /** The first line of a program's standard output, for a version; empty where it fails. */
  public static String firstLine(String... argv) {
    ProcessBuilder builder =
        new ProcessBuilder(argv).redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().clear();
    Process process = Spawner.start(builder);
    try (var in = process.getInputStream()) {
      String text = new String(in.readNBytes(4096), StandardCharsets.UTF_8);
      if (!process.waitFor(10, TimeUnit.SECONDS) || process.exitValue() != 0) {
        return "";
      }
      return text.lines().findFirst().orElse("").strip();
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    } finally {
      process.destroyForcibly();
    }
  }
}
