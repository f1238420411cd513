package dev.writ.bench;

import dev.writ.canonicalize.Digest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** SHA-256 through our digest, against the JDK's and against openssl's own benchmark. */
final class HashSteps {
  private static final int BYTES = 65_536;
  private static final BenchTarget TARGET = new BenchTarget.RateAtLeast(0.95);

  private HashSteps() {}

  static List<Step> of(Stopwatch watch) {
    byte[] data = new byte[BYTES];
    List<Step> steps = new ArrayList<>();
    steps.add(
        new Step(
            "SHA-256 of 64 KB",
            "the JDK's alone",
            TARGET,
            watch.repeat(() -> Digest.sha256(data)),
            watch.repeat(() -> jdk(data))));
    if (openssl().isPresent()) {
      steps.add(
          new Step(
              "SHA-256 of 64 KB",
              "openssl speed",
              TARGET,
              watch.repeat(() -> Digest.sha256(data)),
              () -> new Cost(openssl().orElseThrow(), 0)));
    }
    return steps;
  }

  private static byte[] jdk(byte[] data) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(data);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** Nanoseconds for the same bytes by openssl, which measures for a second; none without it. */
  private static Optional<Double> openssl() {
    try {
      Process process =
          new ProcessBuilder(
                  "openssl",
                  "speed",
                  "-mr",
                  "-elapsed",
                  "-seconds",
                  "1",
                  "-bytes",
                  Integer.toString(BYTES),
                  "-evp",
                  "sha256")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        return Optional.empty();
      }
      // +F:number:name:bytes a second
      return text.lines()
          .filter(line -> line.startsWith("+F:"))
          .map(line -> Double.parseDouble(line.substring(line.lastIndexOf(':') + 1)))
          .map(rate -> BYTES * 1e9 / rate)
          .findFirst();
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
