package dev.writ.executor.testing;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.executor.driver.Invocation;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** What tools of tests do, well and badly. */
public final class Behaviours {
  public static final String JSON = "application/json";
  public static final Metrics USED = new Metrics(7, 1 << 20, 9, 11);

  private Behaviours() {}

  /** Succeeds, and shows all that it was given. */
  public static DriverOutcome echo(Invocation invocation) {
    return DriverOutcome.succeeded(TestDriver.seenBytes(invocation), JSON, USED);
  }

  public static DriverOutcome text(Invocation invocation) {
    return DriverOutcome.succeeded(bytes("plain, not {json\n"), "text/plain", USED);
  }

  /** Succeeds with exactly these bytes. */
  public static TestDriver.Behaviour gives(String output, String mediaType) {
    return gives(bytes(output), mediaType);
  }

  public static TestDriver.Behaviour gives(byte[] output, String mediaType) {
    return _ -> DriverOutcome.succeeded(output, mediaType, USED);
  }

  /** Ends without success, with something on its output. */
  public static TestDriver.Behaviour ends(DriverOutcome.End end, String reason) {
    return _ ->
        new DriverOutcome(
            end,
            reason,
            "the tool's own words",
            Optional.of(new DriverOutcome.Output(bytes("half an answer"), JSON)),
            List.of(),
            USED,
            JsonValue.object().put("stderr", "went wrong").build());
  }

  public static TestDriver.Behaviour fails() {
    return ends(DriverOutcome.End.FAILED, "exit-1");
  }

  /** The driver itself breaks. */
  public static TestDriver.Behaviour throwing(RuntimeException exception) {
    return _ -> {
      throw exception;
    };
  }

  /** The driver's stack overflows, for real. */
  public static DriverOutcome overflows(Invocation invocation) {
    return overflows(invocation); // until there is no stack
  }

  /** Output of that many bytes, which is JSON of the pinned form. */
  public static TestDriver.Behaviour huge(int size) {
    String head = "{\"ok\":true,\"filler\":\"";
    return gives(head + "x".repeat(size - head.length() - 2) + "\"}", JSON);
  }

  /** Says that it has begun, then waits until it may go on. */
  public static TestDriver.Behaviour blocks(CountDownLatch begun, CountDownLatch goOn) {
    return invocation -> {
      begun.countDown();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return echo(invocation);
    };
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
