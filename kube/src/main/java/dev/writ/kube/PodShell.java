package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Runs our scripts in a pod's containers; each can be run again after a lost connection. */
final class PodShell {
  private static final long SCRIPT_MS = 120_000;
  static final int TRIES = 6;
  private static final long FIRST_PAUSE_MS = 200;
  static final Path NOTHING = Path.of("/dev/null");

  private final Cluster cluster;
  private final String pod;

  PodShell(Cluster cluster, String pod) {
    this.cluster = cluster;
    this.pod = pod;
  }

  /** Opens where output goes, once for each try. */
  @FunctionalInterface
  interface Sink {
    OutputStream open() throws IOException;
  }

  /**
   * Runs a script with a file as its input.
   *
   * @param in {@link #NOTHING} for none
   * @param script asked for at each try
   * @param done whether it did its work, though its answer was lost or it was killed after it
   * @throws WritException {@code SBX-004} if it fails, {@code SBX-009} if it cannot be reached
   */
  void run(String container, Path in, Sink sink, Supplier<String> script, BooleanSupplier done)
      throws InterruptedException, IOException {
    Cluster.Cut last = null;
    for (int i = 0; i < TRIES; i++) {
      try (InputStream input = new BufferedInputStream(Files.newInputStream(in));
          OutputStream output = sink.open()) {
        int code =
            once(container, input, output, List.of("/bin/busybox", "sh", "-c", script.get()));
        if (code != 0 && !done.getAsBoolean()) {
          throw new WritException(
              SandboxError.ENGINE_FAILED, container + ": a step of ours ended with " + code);
        }
        return;
      } catch (Cluster.Cut e) {
        last = e;
        if (done.getAsBoolean()) {
          return;
        }
        pause(i);
      }
    }
    throw new WritException(SandboxError.ENGINE_ANSWER, container + ": " + last.getMessage(), last);
  }

  /** Between a try and the next one. */
  static void pause(int tries) throws InterruptedException {
    Thread.sleep(FIRST_PAUSE_MS << tries);
  }

  private int once(String container, InputStream in, OutputStream out, List<String> argv)
      throws Cluster.Cut, InterruptedException {
    return cluster.exec(new Cluster.Place(pod, container), in, out, SCRIPT_MS, argv);
  }

  /** Runs a program once, without input, for so long. */
  int once(String container, OutputStream out, long mostMs, List<String> argv)
      throws Cluster.Cut, InterruptedException {
    return cluster.exec(
        new Cluster.Place(pod, container), InputStream.nullInputStream(), out, mostMs, argv);
  }
}
