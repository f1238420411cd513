package dev.writ.tools.language;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The worker protocol: frames of a length in four bytes, big endian, and so many bytes of JSON
 * (spec/tool-package.md). A worker is not trusted: anything that is not a complete frame of strict
 * JSON is a violation.
 */
final class Frames {
  static final long PROTOCOL = 1;
  private static final int HEAD = 4;

  private Frames() {}

  /** A worker violated the protocol. */
  static final class Violation extends Exception {
    private static final long serialVersionUID = 1L;

    Violation(String found) {
      super(found);
    }
  }

  static byte[] write(JsonValue.Obj frame) {
    byte[] body = Jcs.write(frame);
    return ByteBuffer.allocate(HEAD + body.length).putInt(body.length).put(body).array();
  }

  /** All frames of a stream that has ended. */
  static List<JsonValue.Obj> read(byte[] stream) throws Violation {
    List<JsonValue.Obj> frames = new ArrayList<>();
    int at = 0;
    while (at < stream.length) {
      if (stream.length - at < HEAD) {
        throw new Violation("a frame's head is cut off");
      }
      int length = ByteBuffer.wrap(stream, at, HEAD).getInt();
      at += HEAD;
      if (length < 0 || length > stream.length - at) {
        throw new Violation("a frame of " + Integer.toUnsignedString(length) + " bytes is cut off");
      }
      frames.add(frame(Arrays.copyOfRange(stream, at, at + length)));
      at += length;
    }
    return frames;
  }

  /** The stated length of the first frame in bytes; 0 if its head is incomplete. */
  static long announces(byte[] stream) {
    return stream.length < HEAD ? 0 : Integer.toUnsignedLong(ByteBuffer.wrap(stream).getInt());
  }

  private static JsonValue.Obj frame(byte[] body) throws Violation {
    JsonValue value;
    try {
      value = Jcs.parse(body);
    } catch (WritException e) {
      throw new Violation("a frame is no strict JSON: " + e.code().code() + " " + e.found());
    }
    if (value instanceof JsonValue.Obj object
        && object.get("protocol") instanceof JsonValue.Num version
        && version.value() == PROTOCOL
        && object.get("kind") instanceof JsonValue.Str) {
      return object;
    }
    throw new Violation("a frame has no kind, or another protocol than " + PROTOCOL);
  }

  static String kind(JsonValue.Obj frame) {
    return ((JsonValue.Str) frame.get("kind")).value();
  }
}
