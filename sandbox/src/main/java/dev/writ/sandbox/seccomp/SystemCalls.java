package dev.writ.sandbox.seccomp;

import dev.writ.canonicalize.Digest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads {@code seccomp.tsv}, the table of system calls that a sandbox allows. */
public final class SystemCalls {
  private static final byte[] TABLE = load();

  private static final String UNLISTED = " unlisted";

  private static final String EPERM = "eperm=";

  /** Which of the calls are there. */
  public enum Rules {
    /** All that the table allows. */
    OPEN,
    /** For a command that lists its executables: no calls that could bring in others. */
    LISTED
  }

  private SystemCalls() {}

  /** The digest of the table: part of every profile's digest. */
  public static Digest digest() {
    return Digest.sha256(TABLE);
  }

  /** The calls that exist on an architecture, in the order of the table. */
  static List<SystemCall> of(Architecture architecture, Rules rules) {
    List<SystemCall> calls = new ArrayList<>();
    for (String line : new String(TABLE, StandardCharsets.UTF_8).split("\n")) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      String[] columns = line.split("\t", -1);
      String verdict = columns[3];
      boolean unlisted = verdict.endsWith(UNLISTED);
      if (unlisted) {
        verdict = verdict.substring(0, verdict.length() - UNLISTED.length());
      }
      boolean there = !unlisted || rules == Rules.OPEN;
      if (there && !columns[architecture.column()].equals("-")) {
        calls.add(
            new SystemCall(
                columns[0], Integer.parseInt(columns[architecture.column()]), verdict(verdict)));
      }
    }
    return List.copyOf(calls);
  }

  private static SystemCall.Verdict verdict(String text) {
    return switch (text) {
      case "allow" -> new SystemCall.Allow();
      case "eperm" -> new SystemCall.Refuse();
      case "kill" -> new SystemCall.Kill();
      default -> conditional(text);
    };
  }

  private static SystemCall.Verdict conditional(String text) {
    String[] words = text.split(" ");
    List<SystemCall.Condition> all =
        Arrays.stream(words)
            .skip(1)
            .filter(word -> !word.startsWith(EPERM))
            .map(SystemCalls::condition)
            .toList();
    return switch (words[0]) {
      case "allow" -> new SystemCall.AllowWhere(all);
      case "pass" ->
          new SystemCall.PassOver(
              all.stream().map(SystemCall.OneOf.class::cast).toList(),
              words[words.length - 1].startsWith(EPERM)
                  ? numbers(words[words.length - 1].substring(EPERM.length()))
                  : List.of());
      default -> throw new IllegalStateException("seccomp.tsv has the verdict " + text);
    };
  }

  /** {@code argN=V,V}, {@code argN!=V,V} or {@code argN&M=0}. */
  private static SystemCall.Condition condition(String text) {
    if (!text.startsWith("arg")) {
      throw new IllegalStateException("seccomp.tsv has the condition " + text);
    }
    int argument = text.charAt("arg".length()) - '0';
    String rest = text.substring("argN".length());
    if (rest.startsWith("!=")) {
      return new SystemCall.NoneOf(argument, numbers(rest.substring(2)));
    }
    if (rest.startsWith("&")) {
      return new SystemCall.Without(
          argument, number(rest.substring(1, rest.length() - "=0".length())));
    }
    return new SystemCall.OneOf(argument, numbers(rest.substring(1)));
  }

  private static List<Integer> numbers(String text) {
    return Arrays.stream(text.split(",")).map(SystemCalls::number).toList();
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
