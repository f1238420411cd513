package dev.writ.sandbox.workspace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The memory of this host. */
final class Memory {
  private Memory() {}

  static long totalBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/meminfo"), StandardCharsets.US_ASCII)) {
      if (line.startsWith("MemTotal:")) {
        return Long.parseLong(line.split("\\s+")[1]) * 1_024;
      }
    }
    throw new IOException("/proc/meminfo has no MemTotal");
  }
}
