package dev.writ.tools.sql;

import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads CSV by RFC 4180: commas, optional double quotes with {@code ""} for one inside, lines that
 * end with CR LF or LF, UTF-8. What is malformed is refused with its line.
 */
final class CsvReader {
  /** A field; quoting distinguishes an empty text from NULL. */
  record Field(String text, boolean quoted) {
    boolean isNull() {
      return text.isEmpty() && !quoted;
    }
  }

  private final String name;
  private final byte[] bytes;
  private int at;
  private int line = 1;

  CsvReader(String name, byte[] bytes) {
    this.name = name;
    this.bytes = bytes;
    boolean mark =
        bytes.length >= 3
            && bytes[0] == (byte) 0xef
            && bytes[1] == (byte) 0xbb
            && bytes[2] == (byte) 0xbf;
    this.at = mark ? 3 : 0;
  }

  /** The line on which the next record begins. */
  int line() {
    return line;
  }

  /** The fields of the next record, or null at the end. */
  List<Field> next() {
    if (at >= bytes.length) {
      return null;
    }
    List<Field> fields = new ArrayList<>();
    while (true) {
      fields.add(field());
      if (at < bytes.length && bytes[at] == ',') {
        at++;
        continue;
      }
      endOfLine();
      return fields;
    }
  }

  private void endOfLine() {
    if (at < bytes.length && bytes[at] == '\r') {
      at++;
      if (at >= bytes.length || bytes[at] != '\n') {
        throw malformed("a carriage return without a line feed");
      }
    }
    if (at < bytes.length) {
      at++;
    }
    line++;
  }

  private Field field() {
    return at < bytes.length && bytes[at] == '"' ? quoted() : plain();
  }

  private Field plain() {
    int begin = at;
    while (at < bytes.length && bytes[at] != ',' && bytes[at] != '\n' && bytes[at] != '\r') {
      if (bytes[at] == '"') {
        throw malformed("a quote inside a field that does not begin with one");
      }
      at++;
    }
    return new Field(text(bytes, begin, at), false);
  }

  private Field quoted() {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    at++;
    while (true) {
      int begin = at;
      while (at < bytes.length && bytes[at] != '"') {
        line += bytes[at] == '\n' ? 1 : 0;
        at++;
      }
      if (at >= bytes.length) {
        throw malformed("a quote that is not closed");
      }
      content.write(bytes, begin, at - begin);
      at++;
      if (at >= bytes.length || bytes[at] != '"') {
        break;
      }
      content.write('"');
      at++;
    }
    if (at < bytes.length && bytes[at] != ',' && bytes[at] != '\n' && bytes[at] != '\r') {
      throw malformed("text after a closing quote");
    }
    byte[] field = content.toByteArray();
    return new Field(text(field, 0, field.length), true);
  }

  private String text(byte[] from, int begin, int end) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(from, begin, end - begin))
          .toString();
    } catch (CharacterCodingException e) {
      throw malformed("bytes that are not UTF-8");
    }
  }

  GuestEnd malformed(String what) {
    return GuestEnd.failed(Reason.BAD_INPUT, name + ", line " + line + ": " + what);
  }
}
