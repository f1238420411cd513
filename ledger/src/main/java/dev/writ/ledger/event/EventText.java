package dev.writ.ledger.event;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Timestamps;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;

/**
 * Reads and writes the canonical bytes of an event whose names are plain, as nearly all are:
 * without a tree, since each effect has six events, and a journal of a million lines is read
 * several times. What it does not take, whether wrong or only unusual, is left to {@link
 * Event#parseAny} and {@link Event#toJson}; so it refuses nothing, and says nothing of why.
 */
public final class EventText {
  private static final byte[] AT = ascii("{\"at\":\"");
  private static final byte[] BODY = ascii("\",\"body\":\"sha256:");
  private static final byte[] KIND = ascii("\",\"kind\":\"");
  private static final byte[] PREV = ascii(",\"prev\":\"sha256:");
  private static final byte[] SEED = ascii(",\"prng_seed\":\"");
  private static final byte[] RUN = ascii(",\"run\":\"");
  private static final byte[] SEQ = ascii("\",\"seq\":");
  private static final byte[] TENANT = ascii(",\"tenant\":\"");
  private static final byte[] END = ascii("\"}");
  private static final int TIME_CHARACTERS = 24;
  private static final int HEX = 2 * Digest.LENGTH;

  /** Far below the greatest integer of JSON. */
  private static final int SEQ_DIGITS = 15;

  /** More than most events have. */
  private static final int CHARACTERS = 480;

  private final byte[] text;
  private int at;

  EventText(byte[] text) {
    this.text = text;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** The canonical bytes; empty where a name is not plain. */
  static Optional<byte[]> write(Event event) {
    if (!isPlain(event.kind()) || !isPlain(event.run()) || !isPlain(event.tenant())) {
      return Optional.empty();
    }
    StringBuilder text = new StringBuilder(CHARACTERS);
    text.append("{\"at\":\"").append(Timestamps.format(event.at()));
    text.append("\",\"body\":\"").append(event.body());
    text.append("\",\"kind\":\"").append(event.kind()).append('"');
    if (event.prev().isPresent()) {
      text.append(",\"prev\":\"").append(event.prev().get()).append('"');
    }
    if (event.prngSeed().isPresent()) {
      text.append(",\"prng_seed\":\"").append(event.prngSeed().get()).append('"');
    }
    text.append(",\"run\":\"").append(event.run());
    text.append("\",\"seq\":").append(event.seq());
    text.append(",\"tenant\":\"").append(event.tenant()).append("\"}");
    return Optional.of(text.toString().getBytes(StandardCharsets.ISO_8859_1));
  }

  private static boolean isPlain(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') {
        return false;
      }
    }
    return true;
  }

  /** The event; null where the text is not of the plain form. */
  Event read() {
    try {
      return event();
    } catch (WritException e) {
      return null; // read again, in the order in which faults are looked for
    }
  }

  private Event event() {
    if (!next(AT)) {
      return null;
    }
    String time = characters(TIME_CHARACTERS);
    Digest body = next(BODY) ? digest() : null;
    String kind = next(KIND) ? name() : null;
    if (time == null || body == null || kind == null || !next((byte) '"')) {
      return null;
    }
    boolean hasPrev = next(PREV);
    Digest prev = hasPrev ? digest() : null;
    if (hasPrev && (prev == null || !next((byte) '"'))) {
      return null;
    }
    boolean hasSeed = next(SEED);
    String seed = hasSeed ? characters(HEX) : null;
    if (hasSeed && (seed == null || !next((byte) '"'))) {
      return null;
    }
    String run = next(RUN) ? name() : null;
    long seq = next(SEQ) ? number() : -1;
    String tenant = next(TENANT) ? name() : null;
    if (run == null || seq < 0 || tenant == null || !next(END) || at != text.length) {
      return null;
    }
    Instant read = Timestamps.parse(time);
    return new Event(
        tenant, run, seq, kind, Optional.ofNullable(prev), body, read, Optional.ofNullable(seed));
  }

  private boolean next(byte[] wanted) {
    if (text.length - at < wanted.length) {
      return false;
    }
    for (int i = 0; i < wanted.length; i++) {
      if (text[at + i] != wanted[i]) {
        return false;
      }
    }
    at += wanted.length;
    return true;
  }

  private boolean next(byte wanted) {
    if (at == text.length || text[at] != wanted) {
      return false;
    }
    at++;
    return true;
  }

  /** So many plain characters, whatever they are. */
  private String characters(int count) {
    for (int i = at; i < at + count; i++) {
      if (i >= text.length || !isPlain(text[i])) {
        return null;
      }
    }
    at += count;
    return new String(text, at - count, count, StandardCharsets.ISO_8859_1);
  }

  /** Up to the next quotation mark. */
  private String name() {
    int end = at;
    while (end < text.length && isPlain(text[end])) {
      end++;
    }
    String name = new String(text, at, end - at, StandardCharsets.ISO_8859_1);
    at = end;
    return name;
  }

  /** What stands for itself in JSON, and is one byte. */
  private static boolean isPlain(byte b) {
    return b >= 0x20 && b < 0x7f && b != '"' && b != '\\';
  }

  private long number() {
    int from = at;
    long number = 0;
    while (at < text.length && text[at] >= '0' && text[at] <= '9') {
      number = 10 * number + text[at++] - '0';
      if (at - from > SEQ_DIGITS) {
        return -1;
      }
    }
    boolean isCanonical = at > from && (text[from] != '0' || at == from + 1);
    return isCanonical ? number : -1;
  }

  private Digest digest() {
    if (text.length - at < HEX) {
      return null;
    }
    byte[] bytes = new byte[Digest.LENGTH];
    for (int i = 0; i < Digest.LENGTH; i++) {
      int high = digit(text[at++]);
      int low = digit(text[at++]);
      if ((high | low) < 0) {
        return null;
      }
      bytes[i] = (byte) (high << 4 | low);
    }
    return Digest.ofBytes(bytes);
  }

  /** The value of a lower-case hexadecimal digit; negative for anything else. */
  private static int digit(byte c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  }
}
