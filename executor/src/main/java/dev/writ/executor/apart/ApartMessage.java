package dev.writ.executor.apart;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * One message, or its answer: a head in canonical JSON, and parts of bytes whose sizes it states
 * (spec/apart.md, "Messages").
 *
 * @param said what the head says beside the sizes
 * @param parts envelopes and contents
 */
public record ApartMessage(JsonValue.Obj said, List<byte[]> parts) {
  /** The most bytes of one message. */
  public static final int BYTES_MAX = 96 << 20;

  public ApartMessage {
    parts = List.copyOf(parts);
  }

  /** A message without parts. */
  public static ApartMessage of(JsonValue.Obj said) {
    return new ApartMessage(said, List.of());
  }

  /** The bytes that are sent. */
  public byte[] toBytes() {
    byte[] head =
        Jcs.write(
            JsonValue.object()
                .putList("parts", parts, part -> JsonValue.of(part.length))
                .put("said", said)
                .build());
    int size = Integer.BYTES + head.length + parts.stream().mapToInt(part -> part.length).sum();
    ByteBuffer bytes = ByteBuffer.allocate(size).putInt(head.length).put(head);
    parts.forEach(bytes::put);
    return bytes.array();
  }

  /**
   * Reads one.
   *
   * @throws WritException {@code CAN-0xx} for any other form
   */
  public static ApartMessage parse(byte[] bytes) {
    if (bytes.length < Integer.BYTES) {
      throw malformed(bytes.length + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    int length = in.getInt();
    if (length < 0 || length > in.remaining()) {
      throw malformed("a head of " + length + " bytes in a message of " + bytes.length);
    }
    byte[] head = new byte[length];
    in.get(head);
    Fields fields = Fields.of("message", Jcs.parseCanonical(head, Limits.DEFAULT));
    List<Long> sizes = fields.list("parts", Fields::integerItem);
    JsonValue.Obj said = fields.obj("said");
    fields.end();
    List<byte[]> parts = new ArrayList<>();
    for (long size : sizes) {
      if (size < 0 || size > in.remaining()) {
        throw malformed("a part of " + size + " bytes, " + in.remaining() + " are left");
      }
      byte[] part = new byte[(int) size];
      in.get(part);
      parts.add(part);
    }
    if (in.hasRemaining()) {
      throw malformed(in.remaining() + " bytes behind the last part");
    }
    return new ApartMessage(said, parts);
  }

  /** The part of that number. */
  public byte[] part(int number) {
    if (number >= parts.size()) {
      throw malformed(parts.size() + " parts");
    }
    return parts.get(number);
  }

  private static WritException malformed(String found) {
    return new WritException(CanonicalizeError.FIELD_VALUE, "message: " + found);
  }
}
