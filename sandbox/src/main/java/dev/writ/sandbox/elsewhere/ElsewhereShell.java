package dev.writ.sandbox.elsewhere;

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

/**
 * Runs our scripts in containers on another host, by the BusyBox that is there; each can be run
 * again after a lost connection.
 */
public final class ElsewhereShell {
  private static final long SCRIPT_MS = 120_000;
  public static final int TRIES = 6;
  private static final long FIRST_PAUSE_MS = 200;
  private static final Path NOTHING = Path.of("/dev/null");

  private final Programs programs;

  public ElsewhereShell(Programs programs) {
    this.programs = programs;
  }

  /** Runs a program in a container, once. */
  @FunctionalInterface
  public interface Programs {
    /**
     * @param in its input, of which it must itself know the end
     * @param mostMs how long it may take
     * @return its exit code
     */
    int run(String container, InputStream in, OutputStream out, long mostMs, List<String> argv)
        throws LostConnection, InterruptedException;
  }

  /** Opens where output goes, once for each try. */
  @FunctionalInterface
  public interface Sink {
    OutputStream open() throws IOException;
  }

  /**
   * Runs a script without input.
   *
   * @param script asked for at each try
   * @param done whether it did its work, though its answer was lost or it was killed after it
   * @throws WritException {@code SBX-004} if it fails, {@code SBX-009} if it cannot be reached
   */
  public void run(String container, Sink sink, Supplier<String> script, BooleanSupplier done)
      throws InterruptedException, IOException {
    run(container, NOTHING, sink, script, done);
  }

  /**
   * Runs a script with a file as its input.
   *
   * @param script asked for at each try
   * @param done whether it did its work, though its answer was lost or it was killed after it
   * @throws WritException {@code SBX-004} if it fails, {@code SBX-009} if it cannot be reached
   */
  void run(String container, Path in, Sink sink, Supplier<String> script, BooleanSupplier done)
      throws InterruptedException, IOException {
    LostConnection last = null;
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
      } catch (LostConnection e) {
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
  public static void pause(int tries) throws InterruptedException {
    Thread.sleep(FIRST_PAUSE_MS << tries);
  }

  private int once(String container, InputStream in, OutputStream out, List<String> argv)
      throws LostConnection, InterruptedException {
    return programs.run(container, in, out, SCRIPT_MS, argv);
  }

  /** Runs a program once, without input, for so long. */
  public int once(String container, OutputStream out, long mostMs, List<String> argv)
      throws LostConnection, InterruptedException {
    return programs.run(container, InputStream.nullInputStream(), out, mostMs, argv);
  }
}
