package dev.writ.ledger.form;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * What rows hold (spec/storage.md): events, documents and rows of tables in a binary form from
 * which exactly their bytes come back. Rows that format 1 has written are JSON; each row shows by
 * itself which form it has.
 */
public final class StoredForm {
  private static final byte JSON = '{';

  /** An event or a document in the binary form, its text packed. */
  private static final byte PACKED = 2;

  /** A document whose payload is longer when packed, and stands there as it is. */
  private static final byte PLAIN = 3;

  private static final int HAS_PREV = 1;
  private static final int HAS_SEED = 2;

  /** Bytes of the position that an event's row begins with. */
  private static final int POSITION = Long.BYTES;

  private StoredForm() {}

  /** An event's row but for its position; the row's key has tenant, run and seq. */
  public static byte[] event(Event event) {
    PackedBytes out = new PackedBytes(160);
    out.put(PACKED);
    out.put(
        (event.prev().isPresent() ? HAS_PREV : 0) | (event.prngSeed().isPresent() ? HAS_SEED : 0));
    for (byte b : Keys.number(event.at().toEpochMilli())) {
      out.put(b);
    }
    out.put(event.body().bytes());
    event.prev().ifPresent(prev -> out.put(prev.bytes()));
    event.prngSeed().ifPresent(seed -> out.put(HexFormat.of().parseHex(seed)));
    Packing.pack(event.kind().getBytes(StandardCharsets.UTF_8), out);
    return out.toBytes();
  }

  /** The canonical bytes of a stored event. */
  public static byte[] eventBytes(byte[] key, byte[] row) {
    requireEvent(row);
    return isPackedEvent(row)
        ? parseEvent(key, row).toBytes()
        : Arrays.copyOfRange(row, POSITION, row.length);
  }

  /**
   * A stored event.
   *
   * @throws WritException {@code LED-006} for a row of another form; {@code CAN-0xx} and {@code
   *     LED-02x} where it holds no event
   */
  public static Event parseEvent(byte[] key, byte[] row) {
    requireEvent(row);
    if (!isPackedEvent(row)) {
      return Event.parse(Arrays.copyOfRange(row, POSITION, row.length));
    }
    if (key.length < Long.BYTES) {
      throw new WritException(LedgerError.CORRUPT, "an event's key of " + key.length + " bytes");
    }
    RunId run = Keys.run(Arrays.copyOf(key, key.length - Long.BYTES));
    int at = POSITION + 2;
    int flags = byteAt(row, POSITION + 1);
    long millis = Keys.number(slice(row, at, Long.BYTES));
    at += Long.BYTES;
    Digest body = Digest.ofBytes(slice(row, at, Digest.LENGTH));
    at += Digest.LENGTH;
    Optional<Digest> prev = Optional.empty();
    if ((flags & HAS_PREV) != 0) {
      prev = Optional.of(Digest.ofBytes(slice(row, at, Digest.LENGTH)));
      at += Digest.LENGTH;
    }
    Optional<String> seed = Optional.empty();
    if ((flags & HAS_SEED) != 0) {
      seed = Optional.of(HexFormat.of().formatHex(slice(row, at, Digest.LENGTH)));
      at += Digest.LENGTH;
    }
    return new Event(
        run.tenant(),
        run.run(),
        Keys.number(slice(key, key.length - Long.BYTES, Long.BYTES)),
        new String(Packing.unpack(row, at), StandardCharsets.UTF_8),
        prev,
        body,
        Instant.ofEpochMilli(millis),
        seed);
  }

  /** Whether an event's row has the binary form. */
  static boolean isPackedEvent(byte[] row) {
    return row.length > POSITION && row[POSITION] == PACKED;
  }

  private static void requireEvent(byte[] row) {
    if (row.length < POSITION) {
      throw new WritException(LedgerError.CORRUPT, "an event's row of " + row.length + " bytes");
    }
  }

  /** A document's row. */
  public static byte[] document(Envelope envelope) {
    byte[] payload = envelope.payload();
    byte[] packed = Packing.pack(payload);
    boolean isShorter = packed.length < payload.length;
    byte[] type = Packing.pack(envelope.payloadType().getBytes(StandardCharsets.US_ASCII));
    List<Envelope.Signature> signatures = envelope.signatures();
    PackedBytes out =
        new PackedBytes(
            Math.min(packed.length, payload.length) + type.length + 112 * signatures.size() + 8);
    out.put(isShorter ? PACKED : PLAIN);
    out.putLength(type.length);
    out.put(type);
    out.put(signatures.size());
    for (Envelope.Signature signature : signatures) {
      byte[] bytes = signature.bytes();
      out.put(StrictBase64.decodeUrl("keyid", signature.kid()));
      out.putLength(bytes.length);
      out.put(bytes);
    }
    out.put(isShorter ? packed : payload);
    return out.toBytes();
  }

  /**
   * A stored document.
   *
   * @throws WritException {@code LED-006} for a row that cannot be read, {@code CAN-0xx} where it
   *     holds no envelope
   */
  public static Envelope document(byte[] row) {
    if (row.length == 0 || row[0] != PACKED && row[0] != PLAIN) {
      return Envelope.parse(row);
    }
    int[] at = {1};
    int typeLength = length(row, at);
    String type =
        new String(Packing.unpack(slice(row, at[0], typeLength), 0), StandardCharsets.US_ASCII);
    at[0] += typeLength;
    int count = byteAt(row, at[0]++);
    List<Envelope.Signature> signatures = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String kid = StrictBase64.encodeUrl(slice(row, at[0], Digest.LENGTH));
      at[0] += Digest.LENGTH;
      int bytes = length(row, at);
      signatures.add(new Envelope.Signature(kid, slice(row, at[0], bytes)));
      at[0] += bytes;
    }
    byte[] payload =
        row[0] == PACKED ? Packing.unpack(row, at[0]) : slice(row, at[0], row.length - at[0]);
    return Envelope.of(type, payload, signatures);
  }

  /**
   * The document of a row.
   *
   * @throws WritException {@code LED-006} where it cannot be read, or has another id than its key
   */
  public static Envelope document(Digest id, byte[] bytes) {
    Envelope envelope;
    try {
      envelope = document(bytes);
    } catch (WritException e) {
      throw new WritException(LedgerError.CORRUPT, "document " + id + ": " + e.getMessage(), e);
    }
    if (!envelope.id().equals(id)) {
      throw new WritException(
          LedgerError.CORRUPT, "document " + id + " has the calculated id " + envelope.id());
    }
    return envelope;
  }

  /*
   * A value of a table is the caller's bytes. What begins like JSON is packed, behind that same
   * first byte, since no JSON goes on with a byte below 0x20. A value of 32 bytes is always a plain
   * one: digests are the only values that format 1 wrote and that may begin in any way.
   */
  private static final int VALUE_PLAIN = 4;

  private static final int VALUE_PACKED = PACKED;

  /** Added where the row would have 32 bytes; one more byte follows then. */
  private static final int VALUE_PADDED = 1;

  /** The row of a table's value. */
  public static byte[] value(byte[] value) {
    if (value.length < 2 || value.length == Digest.LENGTH || value[0] != JSON) {
      return value.clone();
    }
    byte[] packed = Packing.pack(value);
    if (packed.length + 3 < value.length) {
      return value(VALUE_PACKED, packed);
    }
    return value[1] >= 0 && value[1] < 0x20 ? value(VALUE_PLAIN, value) : value.clone();
  }

  private static byte[] value(int form, byte[] content) {
    PackedBytes out = new PackedBytes(content.length + 3);
    boolean isPadded = content.length + 2 == Digest.LENGTH;
    out.put(JSON);
    out.put(isPadded ? form + VALUE_PADDED : form);
    if (isPadded) {
      out.put(0);
    }
    out.put(content);
    return out.toBytes();
  }

  /**
   * The value of a table's row.
   *
   * @throws WritException {@code LED-006} for a row that cannot be read
   */
  public static byte[] fromValue(byte[] row) {
    if (row.length < 2 || row.length == Digest.LENGTH || row[0] != JSON) {
      return row;
    }
    return switch (row[1]) {
      case VALUE_PACKED -> Packing.unpack(row, 2);
      case VALUE_PACKED + VALUE_PADDED -> Packing.unpack(row, 3);
      case VALUE_PLAIN -> slice(row, 2, row.length - 2);
      case VALUE_PLAIN + VALUE_PADDED -> slice(row, 3, row.length - 3);
      default -> row;
    };
  }

  private static int length(byte[] row, int[] at) {
    int value = 0;
    for (int shift = 0; shift < 32; shift += 7) {
      int next = byteAt(row, at[0]++);
      value |= (next & 0x7f) << shift;
      if (next < 0x80) {
        return value;
      }
    }
    throw tooShort(row);
  }

  private static int byteAt(byte[] row, int at) {
    if (at >= row.length) {
      throw tooShort(row);
    }
    return row[at] & 0xff;
  }

  private static byte[] slice(byte[] row, int from, int length) {
    if (length < 0 || from > row.length - length) {
      throw tooShort(row);
    }
    return Arrays.copyOfRange(row, from, from + length);
  }

  private static WritException tooShort(byte[] row) {
    return new WritException(
        LedgerError.CORRUPT, "a row of " + row.length + " bytes ends too early");
  }
}
