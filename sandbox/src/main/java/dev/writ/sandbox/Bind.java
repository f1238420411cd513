package dev.writ.sandbox;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A file or directory of the host that a command can read.
 *
 * @param source absolute, on the host
 * @param target absolute, in the sandbox; must not hide what the profile provides
 * @param writable whether the command may change what is there
 */
public record Bind(Path source, String target, boolean writable) {
  /** One that is read-only. */
  public Bind(Path source, String target) {
    this(source, target, false);
  }

  private static final List<String> OWN =
      List.of(
          "/proc",
          "/sys",
          "/dev",
          "/tmp",
          "/workspace",
          SecretFile.DIRECTORY,
          "/bin",
          "/lib",
          "/lib64",
          "/sbin");

  /**
   * Requires that the source is there and the target nothing of the sandbox's own.
   *
   * @throws WritException {@code SBX-027}
   */
  public void requireAllowed() {
    boolean plain =
        target.startsWith("/")
            && target.length() > 1
            && Path.of(target).normalize().toString().equals(target);
    boolean own = OWN.stream().anyMatch(o -> target.equals(o) || target.startsWith(o + "/"));
    if (!plain || own || !source.isAbsolute() || !Files.exists(source)) {
      throw new WritException(
          SandboxError.BIND,
          !plain
              ? "the target is no plain absolute path"
              : own ? target + " is the sandbox's own" : "the source is not there");
    }
  }
}
