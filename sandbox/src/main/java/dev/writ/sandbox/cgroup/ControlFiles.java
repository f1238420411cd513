package dev.writ.sandbox.cgroup;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** Reads and writes the small files of cgroup file systems. */
final class ControlFiles {
  private ControlFiles() {}

  static void write(Path file, String value) {
    try {
      Files.writeString(file, value, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot write " + value + " to " + file, e);
    }
  }

  /** The text; empty if the file or its cgroup does not exist. */
  static Optional<String> read(Path file) {
    try {
      return Optional.of(Files.readString(file, StandardCharsets.US_ASCII));
    } catch (IOException e) {
      // A cgroup that was removed meanwhile answers ENODEV.
      return Optional.empty();
    }
  }

  /** A number that is alone in its file; 0 if there is none. */
  static long number(Path file) {
    return read(file).map(String::strip).map(ControlFiles::parse).orElse(0L);
  }

  /** The number after a key, in a file of lines {@code key number}; 0 if there is none. */
  static long number(Path file, String key) {
    for (String line : read(file).orElse("").split("\n")) {
      if (line.startsWith(key + " ")) {
        return parse(line.substring(key.length() + 1).strip());
      }
    }
    return 0;
  }

  private static long parse(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      return 0; // "max": no limit
    }
  }

  static void makeDirectory(Path directory) {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot make the cgroup " + directory, e);
    }
  }

  /** Removes a directory; returns whether it is gone. A cgroup with processes stays. */
  static boolean removeDirectory(Path directory) {
    try {
      Files.delete(directory);
      return true;
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
