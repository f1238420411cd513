package dev.writ.sandbox;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.error.SandboxError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One command and everything that it gets; it has nothing that is not named here.
 *
 * @param argv the program and its arguments, as UTF-8
 * @param stdin its standard input; if empty it reads end of file
 * @param environment variables beside PATH, HOME, LANG and TZ, which the profile sets and this may
 *     replace; passed in the order of their names
 * @param directory where it starts: {@code /workspace} or a directory in it, {@code /tmp} or {@code
 *     /}
 * @param limits on its whole process tree
 * @param binds files of the host, beside those of the profile; read-only unless they say otherwise
 * @param secrets files that only this command can read
 * @param executables the only executables that exist, as absolute paths of the host; without a
 *     list, those of the profile
 * @param egress destinations that it may connect to, through a proxy; an empty list means no
 *     network
 * @param reproducible for a run that can be repeated live
 */
public record Command(
    List<String> argv,
    byte[] stdin,
    SortedMap<String, String> environment,
    String directory,
    CgroupLimits limits,
    List<Bind> binds,
    List<SecretFile> secrets,
    Optional<List<String>> executables,
    List<EgressRule> egress,
    Optional<Reproducible> reproducible) {
  /**
   * The most bytes of arguments and environment together, well below what the kernel accepts
   * (execve(2): a quarter of the stack).
   */
  private static final int MOST_BYTES = 1 << 20;

  /** The most bytes of one string of argv or the environment ({@code MAX_ARG_STRLEN}). */
  private static final int MOST_BYTES_EACH = 131_071;

  public Command {
    argv = List.copyOf(argv);
    environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
    binds = List.copyOf(binds);
    secrets = List.copyOf(secrets);
    executables = executables.map(List::copyOf);
    egress = List.copyOf(egress);
    requireArguments(argv, environment);
    requireAbsolute(directory);
    for (SecretFile secret : secrets) {
      if (!secret.name().matches("[A-Za-z0-9._-]{1,64}") || secret.name().startsWith(".")) {
        throw new WritException(SandboxError.COMMAND, "a secret's name is no plain file name");
      }
    }
  }

  private static void requireArguments(List<String> argv, SortedMap<String, String> environment) {
    if (argv.isEmpty() || argv.getFirst().isEmpty()) {
      throw new WritException(SandboxError.COMMAND, "argv names no program");
    }
    List<String> all = new ArrayList<>(argv);
    environment.forEach((name, value) -> {
      if (!name.matches("[A-Za-z_][A-Za-z0-9_]*")) {
        throw new WritException(SandboxError.COMMAND, "a variable's name is no identifier");
      }
      all.add(name + "=" + value);
    });
    long bytes = 0;
    for (String one : all) {
      int length = one.getBytes(StandardCharsets.UTF_8).length;
      bytes += length + 1;
      if (length > MOST_BYTES_EACH || bytes > MOST_BYTES) {
        throw new WritException(
            SandboxError.COMMAND,
            "argv and environment are too long; send what is long as stdin or as a file");
      }
      requireText(one);
    }
  }

  private static void requireText(String text) {
    boolean wellFormed = text.codePoints().noneMatch(c -> c == 0 || c >= 0xD800 && c <= 0xDFFF);
    if (!wellFormed) {
      throw new WritException(SandboxError.COMMAND, "a string holds NUL or half a character");
    }
  }

  private static void requireAbsolute(String directory) {
    requireText(directory);
    if (!directory.startsWith("/") || List.of(directory.split("/")).contains("..")) {
      throw new WritException(SandboxError.COMMAND, "the directory is no absolute plain path");
    }
  }

  /** A command in /workspace with the standard limits and nothing else. */
  public static Command of(String... argv) {
    return of(List.of(argv));
  }

  public static Command of(List<String> argv) {
    return new Command(
        argv,
        new byte[0],
        new TreeMap<>(),
        "/workspace",
        CgroupLimits.STANDARD,
        List.of(),
        List.of(),
        Optional.empty(),
        List.of(),
        Optional.empty());
  }

  public Command withStdin(byte[] bytes) {
    return new Command(
        argv,
        bytes,
        environment,
        directory,
        limits,
        binds,
        secrets,
        executables,
        egress,
        reproducible);
  }

  public Command withEnvironment(String name, String value) {
    TreeMap<String, String> more = new TreeMap<>(environment);
    more.put(name, value);
    return new Command(
        argv, stdin, more, directory, limits, binds, secrets, executables, egress, reproducible);
  }

  public Command withDirectory(String path) {
    return new Command(
        argv, stdin, environment, path, limits, binds, secrets, executables, egress, reproducible);
  }

  public Command withLimits(CgroupLimits all) {
    return new Command(
        argv,
        stdin,
        environment,
        directory,
        all,
        binds,
        secrets,
        executables,
        egress,
        reproducible);
  }

  public Command withBinds(List<Bind> all) {
    return new Command(
        argv,
        stdin,
        environment,
        directory,
        limits,
        all,
        secrets,
        executables,
        egress,
        reproducible);
  }

  public Command withSecrets(List<SecretFile> all) {
    return new Command(
        argv, stdin, environment, directory, limits, binds, all, executables, egress, reproducible);
  }

  public Command withExecutables(List<String> paths) {
    return new Command(
        argv,
        stdin,
        environment,
        directory,
        limits,
        binds,
        secrets,
        Optional.of(paths),
        egress,
        reproducible);
  }

  public Command withEgress(List<EgressRule> rules) {
    return new Command(
        argv,
        stdin,
        environment,
        directory,
        limits,
        binds,
        secrets,
        executables,
        rules,
        reproducible);
  }

  public Command reproducibly(Reproducible how) {
    return new Command(
        argv,
        stdin,
        environment,
        directory,
        limits,
        binds,
        secrets,
        executables,
        egress,
        Optional.of(how));
  }

  /** Names and sizes for logs; never arguments, stdin, values or secrets. */
  @Override
  public String toString() {
    return "Command of " + argv.size() + " strings, stdin of " + stdin.length + " bytes";
  }
}
