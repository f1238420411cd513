package dev.writ.embed.signer;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.SignerError;
import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The data types of SSH (RFC 4251, 5), of which agents use the byte, the uint32 and the string. */
final class SshWire {
  private final ByteBuffer from;

  /** Reads what came. */
  SshWire(byte[] from) {
    this.from = ByteBuffer.wrap(from);
  }

  /**
   * @throws WritException {@code SGN-006} where there is none
   */
  int uint8() {
    try {
      return from.get() & 0xff;
    } catch (BufferUnderflowException e) {
      throw cutOff();
    }
  }

  /**
   * @throws WritException {@code SGN-006} where there is none, or it is larger than any that an
   *     agent may send
   */
  int uint32() {
    try {
      int value = from.getInt();
      if (value < 0) {
        throw new WritException(SignerError.GARBAGE, "a length of more than 2 GiB");
      }
      return value;
    } catch (BufferUnderflowException e) {
      throw cutOff();
    }
  }

  /**
   * @throws WritException {@code SGN-006} where it is longer than what came
   */
  byte[] string() {
    int length = uint32();
    if (length > from.remaining()) {
      throw cutOff();
    }
    byte[] value = new byte[length];
    from.get(value);
    return value;
  }

  /** A string that is text: an algorithm, a comment. What is no UTF-8 is replaced. */
  String text() {
    return new String(string(), StandardCharsets.UTF_8);
  }

  /**
   * @throws WritException {@code SGN-006} where something is left
   */
  void end() {
    if (from.hasRemaining()) {
      throw new WritException(
          SignerError.GARBAGE, from.remaining() + " bytes behind the end of an answer");
    }
  }

  private static WritException cutOff() {
    return new WritException(SignerError.GARBAGE, "an answer that is cut off");
  }

  /** Puts a string. */
  static void put(ByteArrayOutputStream to, byte[] value) {
    to.writeBytes(uint32(value.length));
    to.writeBytes(value);
  }

  static byte[] uint32(int value) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
  }
}
