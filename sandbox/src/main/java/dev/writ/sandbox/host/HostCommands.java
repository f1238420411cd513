package dev.writ.sandbox.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Finds programs of the host, and runs short ones. */
public final class HostCommands {
  private static final List<String> PLACES =
      List.of("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin");

  private HostCommands() {}

  /** The path of a program; searched in fixed places, so that PATH has no influence. */
  public static Optional<Path> find(String name) {
    return PLACES.stream()
        .map(place -> Path.of(place, name))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  /** The first line of a program's standard output, for its version; empty if it fails. */
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
