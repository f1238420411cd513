package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** One connection to the service, for one request: HTTP/1.1. */
final class ApiConnection implements AutoCloseable {
  private static final ScheduledThreadPoolExecutor ALARMS = alarms();

  private final ServiceAddress address;
  private final InputStream in;
  private final OutputStream out;
  private final HalfClose half;
  private final Closeable whole;

  /** Ends what is sent; answers may still come. */
  @FunctionalInterface
  interface HalfClose {
    void run() throws IOException;
  }

  /**
   * @param whole closes it, and does not wait
   */
  ApiConnection(
      ServiceAddress address, InputStream in, OutputStream out, HalfClose half, Closeable whole) {
    this.address = address;
    this.in = new BufferedInputStream(in, 1 << 16);
    this.out = out;
    this.half = half;
    this.whole = whole;
  }

  private static ScheduledThreadPoolExecutor alarms() {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1, task -> Thread.ofPlatform().daemon().name("writ-sandbox-alarm").unstarted(task));
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }

  /** A step of a conversation. */
  @FunctionalInterface
  interface Step<T> {
    T take() throws IOException;
  }

  /**
   * Runs a step, and closes its connection if it takes too long.
   *
   * @throws WritException {@code SBX-009} then, and if the connection breaks; {@code SBX-051} where
   *     the other side refuses ours by TLS
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
      if (address.isRefusal(e)) {
        throw address.refused(e);
      }
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
    half.run();
  }

  @Override
  public void close() {
    try {
      whole.close();
    } catch (IOException e) {
      // It is closed all the same.
    }
  }
}
