package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** One connection to the service, for one request: HTTP/1.1 over a Unix socket. */
final class ApiConnection implements AutoCloseable {
  private static final ScheduledThreadPoolExecutor ALARMS = alarms();

  private final SocketChannel channel;
  private final InputStream in;
  private final OutputStream out;

  private ApiConnection(SocketChannel channel) {
    this.channel = channel;
    this.in = new BufferedInputStream(Channels.newInputStream(channel), 1 << 16);
    this.out = Channels.newOutputStream(channel);
  }

  private static ScheduledThreadPoolExecutor alarms() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1, task -> Thread.ofPlatform().daemon().name("writ-sandbox-alarm").unstarted(task));
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  static ApiConnection open(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
      return new ApiConnection(channel);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** A step of a conversation. */
  @FunctionalInterface
  interface Step<T> {
    T take() throws IOException;
  }

  /**
   * Runs a step, and closes its connection if it takes too long.
   *
   * @throws WritException {@code SBX-009} then, and if the connection breaks
   */
  <T> T within(long ms, Step<T> step) {
    AtomicBoolean late = new AtomicBoolean();
    var alarm =
        ALARMS.schedule(
            () -> {
              late.set(true);
              close();
            },
            ms,
            TimeUnit.MILLISECONDS);
    try {
      return step.take();
    } catch (IOException e) {
      throw new WritException(
          SandboxError.ENGINE_ANSWER,
          late.get() ? "no answer within " + ms + " ms" : "the connection broke",
          e);
    } finally {
      alarm.cancel(false);
    }
  }

  /** Sends a whole request; its target and headers are ours, so nothing needs escaping. */
  void send(String method, String target, String headers, byte[] body) throws IOException {
    String head =
        String.format(
            Locale.ROOT,
            "%s %s HTTP/1.1\r\nHost: docker\r\n%sContent-Length: %d\r\n\r\n",
            method,
            target,
            headers,
            body.length);
    out.write(head.getBytes(StandardCharsets.US_ASCII));
    out.write(body);
  }

  InputStream in() {
    return in;
  }

  OutputStream out() {
    return out;
  }

  /** Half-closes the connection: nothing more is sent, answers may still come. */
  void endOutput() throws IOException {
    channel.shutdownOutput();
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // It is closed all the same.
    }
  }
}
