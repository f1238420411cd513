package dev.writ.ledger;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.ledger.event.Event;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Whether an event is read or written with a tree or without: it is the same, or refused so. */
class EventsAreReadInOneWayTest {
  private static final Instant AT = Instant.parse("2026-01-31T12:00:00.001Z");
  private static final Digest BODY = Digest.sha256(new byte[] {1});

  private static final List<Event> EVENTS =
      List.of(
          Event.first("acme", "run-1", "run.opened", BODY, AT, Optional.of("5a".repeat(32))),
          Event.first("acme", "run-1", "run.opened", BODY, AT, Optional.empty())
              .next("intent.issued", BODY, AT, Optional.of("0f".repeat(32))),
          Event.first("a\"b", "é\\", "k", BODY, AT, Optional.empty())
              .next("ünusual/", BODY, Instant.EPOCH, Optional.empty()),
          new Event(
              "t",
              "r",
              9_007_199_254_740_991L,
              "k",
              Optional.of(BODY),
              BODY,
              AT,
              Optional.empty()));

  /** The event's bytes, or the refusal. */
  private static String outcome(Supplier<Event> read) {
    try {
      return new String(read.get().toBytes(), StandardCharsets.UTF_8);
    } catch (WritException e) {
      return e.code().code() + " " + e.found();
    }
  }

  @Test
  void everyEventComesBack() {
    for (Event event : EVENTS) {
      assertEquals(event, Event.parse(event.toBytes()));
      assertEquals(event, Event.parseAny(event.toBytes()));
    }
  }

  @Test
  void eachIsWrittenAsItsTreeIs() {
    for (Event event : EVENTS) {
      assertArrayEquals(Jcs.write(event.toJson()), event.toBytes());
    }
    for (String name : List.of("plain", "\"", "\\", "é", "\u0080", "\uD83D\uDE00", "~ /?")) {
      for (Event event :
          List.of(
              Event.first(name, "r", "k", BODY, AT, Optional.empty()),
              Event.first("t", name, "k", BODY, AT, Optional.empty()),
              Event.first("t", "r", "k", BODY, AT, Optional.empty())
                  .next(name, BODY, AT, Optional.of("0f".repeat(32))))) {
        assertArrayEquals(Jcs.write(event.toJson()), event.toBytes(), name);
      }
    }
  }

  @Test
  void withAnyOtherByteBothWaysSayTheSameAndWhatIsReadIsWrittenSo() {
    byte[] others = "\"\\ 0129afgAZ:,{}.-\u0000\u007f".getBytes(StandardCharsets.US_ASCII);
    for (Event event : EVENTS) {
      byte[] bytes = event.toBytes();
      for (int i = 0; i < bytes.length; i++) {
        byte was = bytes[i];
        for (byte other : others) {
          bytes[i] = other;
          same(bytes);
        }
        bytes[i] = (byte) (was | 0x80);
        same(bytes);
        bytes[i] = was;
      }
    }
  }

  @Test
  void soTheySayOfWhatIsCutOffOrLonger() {
    for (Event event : EVENTS) {
      byte[] bytes = event.toBytes();
      for (int length = 0; length < bytes.length; length++) {
        same(Arrays.copyOf(bytes, length));
      }
      same(Arrays.copyOf(bytes, bytes.length + 1));
    }
  }

  @Test
  void andOfNumbersNamesAndTimesAtTheirBounds() {
    String text = new String(EVENTS.get(1).toBytes(), StandardCharsets.UTF_8);
    for (String seq :
        List.of("0", "00", "01", "-1", "1.0", "1e3", "999999999999999", "9007199254740992", "")) {
      same(text.replace("\"seq\":1", "\"seq\":" + seq).getBytes(StandardCharsets.UTF_8));
    }
    for (String name : List.of("", "x".repeat(256), "x".repeat(257), "\\u0061", "\\n")) {
      same(text.replace("acme", name).getBytes(StandardCharsets.UTF_8));
    }
    for (String time :
        List.of(
            "2026-02-30T12:00:00.001Z", "2026-01-31T23:59:60.001Z", "0000-01-01T00:00:00.000Z")) {
      same(text.replace("2026-01-31T12:00:00.001Z", time).getBytes(StandardCharsets.UTF_8));
    }
  }

  private static void same(byte[] bytes) {
    String read = outcome(() -> Event.parse(bytes));
    assertEquals(outcome(() -> Event.parseAny(bytes)), read);
    if (read.startsWith("{")) {
      assertArrayEquals(bytes, Event.parse(bytes).toBytes());
    }
  }
}
