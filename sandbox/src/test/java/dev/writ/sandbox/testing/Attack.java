package dev.writ.sandbox.testing;

import dev.writ.sandbox.EndReason;
import dev.writ.sandbox.cgroup.CgroupLimits;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One hostile program of {@code attacks.txt}.
 *
 * @param ends how it may end; empty where it must exit with 0 and say HELD
 */
public record Attack(
    String name,
    String language,
    String what,
    CgroupLimits limits,
    long freshBytes,
    List<EndReason> ends,
    Optional<EndReason> reached,
    String program) {

  public static List<Attack> all() {
    try (InputStream in = Attack.class.getResourceAsStream("/dev/writ/sandbox/attacks.txt")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      List<Attack> all = new ArrayList<>();
      for (String section : text.split("(?m)^=== ")) {
        if (!section.startsWith("#")) {
          all.add(parse(section));
        }
      }
      return all;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Attack parse(String section) {
    String[] parts = section.split("(?m)^---\n", 2);
    String[] lines = parts[0].split("\n");
    String[] first = lines[0].split(" ");
    String what = "";
    CgroupLimits limits = CgroupLimits.STANDARD.withWallMs(20_000).withCpuMs(15_000);
    long fresh = 64 << 20;
    List<EndReason> ends = List.of();
    Optional<EndReason> reached = Optional.empty();
    for (String line : lines) {
      if (line.startsWith("what: ")) {
        what = line.substring(6);
      } else if (line.startsWith("limits: ")) {
        for (String one : line.substring(8).split(" ")) {
          long value = Long.parseLong(one.substring(one.indexOf('=') + 1));
          if (one.startsWith("fresh=")) {
            fresh = value;
          } else {
            limits = with(limits, one.substring(0, one.indexOf('=')), value);
          }
        }
      } else if (line.startsWith("ends: ")) {
        ends = Arrays.stream(line.substring(6).split("\\|")).map(Attack::reason).toList();
      } else if (line.startsWith("reached: ")) {
        reached = Optional.of(reason(line.substring(9)));
      }
    }
    return new Attack(first[0], first[1], what, limits, fresh, ends, reached, parts[1]);
  }

  private static EndReason reason(String text) {
    return EndReason.valueOf(text.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  private static CgroupLimits with(CgroupLimits limits, String name, long value) {
    return switch (name) {
      case "pids" -> limits.withPids(value);
      case "wall" -> limits.withWallMs(value);
      case "grace" -> limits.withGraceMs(value);
      case "memory" -> limits.withMemoryBytes(value);
      case "cpu" -> limits.withCpuMs(value);
      case "tmp" -> limits.withTmpBytes(value);
      case "file" -> limits.withFileBytes(value);
      case "output" -> limits.withOutputBytes(value);
      default -> throw new IllegalArgumentException(name);
    };
  }

  /** The command that runs it, where it is bound as {@code /attack/NAME}. */
  public List<String> argv() {
    String path = "/attack/" + name;
    return switch (language) {
      case "sh" -> List.of("/bin/sh", path);
      case "python" -> List.of("/usr/bin/python3", path);
      case "node" -> List.of("/usr/bin/node", path);
      case "c" -> List.of(path);
      default -> throw new IllegalArgumentException(language);
    };
  }

  @Override
  public String toString() {
    return name;
  }
}
