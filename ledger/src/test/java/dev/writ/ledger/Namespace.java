package dev.writ.ledger;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/** Runs a command where it may mount: a mount namespace of its own, as the root of it. */
final class Namespace {
  private Namespace() {}

  /**
   * @param setUp shell commands that run first; {@code $1} is {@code place}
   */
  static List<String> command(String setUp, String place, List<String> command)
      throws IOException, InterruptedException {
    Process probe = new ProcessBuilder("sh", "-c", "unshare -rm mount -t tmpfs none /mnt").start();
    if (probe.waitFor() != 0) {
      String missing = "unshare -rm may not mount here";
      if ("true".equals(System.getenv("CI"))) {
        Assertions.fail(missing);
      }
      Assumptions.abort(missing);
    }
    List<String> wrapped = new ArrayList<>();
    wrapped.addAll(List.of("unshare", "-rm", "sh", "-c", setUp + " && shift && exec \"$@\"", "sh"));
    wrapped.add(place);
    wrapped.addAll(command);
    return wrapped;
  }
}
