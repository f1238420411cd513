package dev.writ.sandbox.seccomp;

import dev.writ.canonicalize.Digest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads {@code seccomp.tsv}, the table of what a sandbox may ask of the kernel. */
public final class SystemCalls {
  private static final byte[] TABLE = load();

  private SystemCalls() {}

  /** The digest of the table: part of every profile's digest. */
  public static Digest digest() {
    return Digest.sha256(TABLE);
  }

  /** The calls that exist on an architecture, in the order of the table. */
  static List<SystemCall> of(Architecture architecture) {
    List<SystemCall> calls = new ArrayList<>();
    for (String line : new String(TABLE, StandardCharsets.UTF_8).split("\n")) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      String[] columns = line.split("\t", -1);
      if (!columns[architecture.column()].equals("-")) {
        calls.add(
            new SystemCall(
                columns[0], Integer.parseInt(columns[architecture.column()]), verdict(columns[3])));
      }
    }
    return List.copyOf(calls);
  }

  private static SystemCall.Verdict verdict(String text) {
    return switch (text) {
      case "allow" -> new SystemCall.Allow();
      case "eperm" -> new SystemCall.Refuse();
      case "kill" -> new SystemCall.Kill();
      default -> condition(text);
    };
  }

  private static SystemCall.Verdict condition(String text) {
    if (!text.startsWith("allow arg")) {
      throw new IllegalStateException("seccomp.tsv has the verdict " + text);
    }
    int argument = text.charAt("allow arg".length()) - '0';
    String rest = text.substring("allow argN".length());
    if (rest.startsWith("!=")) {
      return new SystemCall.AllowUnless(argument, number(rest.substring(2)));
    }
    if (rest.startsWith("&")) {
      return new SystemCall.AllowWithout(
          argument, number(rest.substring(1, rest.length() - "=0".length())));
    }
    return new SystemCall.AllowValues(
        argument, Arrays.stream(rest.substring(1).split(",")).map(SystemCalls::number).toList());
  }

  private static int number(String text) {
    return text.startsWith("0x")
        ? Integer.parseUnsignedInt(text.substring(2), 16)
        : Integer.parseInt(text);
  }

  private static byte[] load() {
    try (InputStream in = SystemCalls.class.getResourceAsStream("/dev/writ/sandbox/seccomp.tsv")) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
