package dev.writ.sinks.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A real server in a process of its own, which tests kill and start again. */
public abstract class ServerProcess implements AutoCloseable {
  protected final Path dir;
  private final int port = freePort();
  protected Process process;

  /**
   * @param dir its working directory, which it keeps when it is started again; its log is there
   */
  protected ServerProcess(Path dir) {
    this.dir = dir;
  }

  /** Where it listens on loopback, also after it was started again. */
  public int port() {
    return port;
  }

  protected abstract List<String> command();

  /** Starts it, and returns when it accepts connections. */
  public void start() {
    try {
      Path log = dir.resolve("server.log");
      process =
          new ProcessBuilder(command())
              .directory(dir.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      while (!accepts()) {
        if (process.waitFor(20, TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException("it ended: " + Files.readString(log));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  protected boolean accepts() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
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

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
