package dev.writ.sinks.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A real server in a process of its own, which tests kill and start again. */
abstract class ServerProcess implements AutoCloseable {
  private final Path dir;
  private final String ready;
  private Process process;

  /**
   * @param dir its working directory, which it keeps when it is started again
   * @param ready part of the line that it prints when it can be used
   */
  ServerProcess(Path dir, String ready) {
    this.dir = dir;
    this.ready = ready;
  }

  abstract List<String> command();

  /** Starts it, and returns when it can be used. */
  public void start() {
    try {
      process =
          new ProcessBuilder(command()).directory(dir.toFile()).redirectErrorStream(true).start();
      BufferedReader out = process.inputReader();
      List<String> lines = new ArrayList<>();
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        lines.add(line);
        if (line.contains(ready)) {
          Thread.ofVirtual().start(() -> out.lines().forEach(_ -> {}));
          return;
        }
      }
      throw new IllegalStateException("it ended: " + String.join("\n", lines));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** SIGKILL: what is not on the disk is gone. */
  public void kill() {
    try {
      process.destroyForcibly().waitFor();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    if (process != null) {
      kill();
    }
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
