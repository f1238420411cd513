package dev.writ.cli.doctor;

import dev.writ.embed.home.Home;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Every secret that a data directory and an environment are known to have, so that none of them
 * leaves: the last of several defences, since what leaves is chosen and not filtered.
 */
final class KnownSecrets {
  /** What is shorter stands in any text by chance. */
  private static final int LENGTH_MIN = 8;

  private static final int FILE_BYTES_MAX = 64 << 10;
  private static final String LEFT_OUT = "(left out)";

  private static final Pattern NAMES =
      Pattern.compile("(?i).*(PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH|PIN|URL|DSN).*");

  /** The part of an address in which a password may stand. */
  private static final Pattern USER_INFO = Pattern.compile("//[^/\\s\"@]*@");

  /** The longest first, so that no part of one is left of another. */
  private final List<String> secrets;

  private KnownSecrets(TreeSet<String> found) {
    this.secrets =
        found.stream()
            .filter(secret -> secret.length() >= LENGTH_MIN)
            .sorted(Comparator.comparing(String::length).reversed())
            .toList();
  }

  /**
   * Reads them. One that cannot be read is none that could get anywhere.
   *
   * @param environment variables that are named like a secret have one, unless it is a path
   */
  static KnownSecrets of(Home home, Map<String, String> environment) {
    TreeSet<String> found = new TreeSet<>();
    environment.forEach((name, value) -> {
      if (NAMES.matcher(name).matches() && !value.startsWith("/")) {
        found.add(value);
      }
    });
    for (Path folder : home.keyPlaces().folders()) {
      files(folder).forEach(file -> addLines(file, found));
    }
    files(home.dir().resolve("secrets")).forEach(file -> addLines(file, found));
    files(home.dir()).stream()
        .filter(file -> file.toString().matches(".*\\.(txt|secret|token|pem|key)"))
        .forEach(file -> addLines(file, found));
    if (Files.isRegularFile(home.serving())) {
      Pattern.compile("\"token\":\"([^\"]+)\"")
          .matcher(read(home.serving()))
          .results()
          .forEach(match -> found.add(match.group(1)));
    }
    return new KnownSecrets(found);
  }

  private static List<Path> files(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(file -> Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS))
          .sorted()
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private static void addLines(Path file, TreeSet<String> found) {
    read(file)
        .lines()
        .map(String::strip)
        .filter(line -> !line.startsWith("-----"))
        .forEach(found::add);
  }

  private static String read(Path file) {
    try {
      return Files.size(file) > FILE_BYTES_MAX
          ? ""
          : new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }

  /** A text without them, and without what stands before the host of an address. */
  String without(String text) {
    String left = USER_INFO.matcher(text).replaceAll("//");
    for (String secret : secrets) {
      left = left.replace(secret, LEFT_OUT);
    }
    return left;
  }

  /** Whether one of them is in a text. */
  boolean isIn(String text) {
    return secrets.stream().anyMatch(text::contains);
  }
}
