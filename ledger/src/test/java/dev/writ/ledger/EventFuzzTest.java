package dev.writ.ledger;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.event.Event;
import java.time.Instant;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any bytes whatever: an event that is written as those very bytes, or a refusal. */
class EventFuzzTest {

  static Stream<byte[]> seeds() {
    Digest body = Digest.sha256(new byte[0]);
    Event first =
        Event.first(
            "acme", "run-1", "run.opened", body, Instant.EPOCH, Optional.of("0".repeat(64)));
    return Stream.of(
        first.toBytes(),
        first.next("request.received", body, Instant.EPOCH, Optional.empty()).toBytes());
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadIsWrittenBack(byte[] bytes) {
    Event event;
    try {
      event = Event.parse(bytes);
    } catch (WritException refused) {
      return;
    }
    if (!Arrays.equals(event.toBytes(), bytes)) {
      throw new AssertionError("two spellings of one event");
    }
  }
}
