package dev.writ.tools.process;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One way in which a secret may be written, as a sequence of units that are matched in turn. */
abstract sealed class SecretForm {
  /** There is something else. */
  static final int NO = -1;

  /** It ended too early to tell. */
  static final int CUT = -2;

  /** At the end of cut output, fewer bytes than these reveal nothing of a secret. */
  private static final int BEGUN_MIN = 4;

  private static final Pattern NUMBER = Pattern.compile("[+-]?([0-9.]+)(?:[eE][+-]?[0-9]+)?");

  final byte[] units;
  private final int unitBytesMax;

  SecretForm(byte[] units, int unitBytesMax) {
    this.units = units;
    this.unitBytesMax = unitBytesMax;
  }

  /** All forms of a value that are searched. */
  static List<SecretForm> of(byte[] value) {
    List<SecretForm> forms = new ArrayList<>();
    forms.add(new Plain(value));
    forms.add(new Percent(value));
    forms.add(new Escaped(value));
    forms.add(new Hex(value));
    for (int offset = 0; offset < 3; offset++) {
      byte[] standard = base64(value, offset, Base64.getEncoder());
      byte[] url = base64(value, offset, Base64.getUrlEncoder());
      forms.add(new Wrapped(standard));
      if (!Arrays.equals(standard, url)) {
        forms.add(new Wrapped(url));
      }
    }
    String text = new String(value, StandardCharsets.UTF_8);
    if (text.chars().anyMatch(c -> c > 0x7f) && text.indexOf('\ufffd') < 0) {
      forms.add(new EscapedText(text));
    }
    byte[] digits = digits(text);
    if (digits.length >= Masking.SECRET_BYTES_MIN) {
      forms.add(new Digits(digits));
    }
    return forms;
  }

  /** The digits of a number, without zeros that only position its point. */
  private static byte[] digits(String text) {
    Matcher number = NUMBER.matcher(text);
    if (!number.matches()) {
      return new byte[0];
    }
    String plain = number.group(1).replace(".", "").replaceFirst("^0+", "");
    return plain.replaceFirst("0+$", "").getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * The base64 characters that depend on the value alone, if it begins at this offset within a
   * group.
   */
  private static byte[] base64(byte[] value, int offset, Base64.Encoder encoder) {
    byte[] shifted = new byte[offset + value.length];
    System.arraycopy(value, 0, shifted, offset, value.length);
    byte[] encoded = encoder.withoutPadding().encode(shifted);
    return Arrays.copyOfRange(encoded, (offset * 8 + 5) / 6, shifted.length * 8 / 6);
  }

  /** The most bytes that it takes. */
  int longest() {
    return units.length * unitBytesMax;
  }

  /**
   * The end of a unit at a place; {@link #NO} if it does not match, {@link #CUT} if the bytes end
   * within it.
   */
  abstract int unit(byte[] bytes, int at, int index);

  /** Whether this form may begin with that byte. */
  abstract boolean mayBeginWith(byte c);

  private int match(byte[] bytes, int from) {
    int at = from;
    for (int i = 0; i < units.length; i++) {
      at = at == bytes.length ? CUT : unit(bytes, at, i);
      if (at < 0) {
        return at;
      }
    }
    return at;
  }

  /** The end of a match that begins at a place; the place itself if there is none. */
  int endAt(byte[] bytes, int from) {
    return Math.max(from, match(bytes, from));
  }

  /** Whether the bytes end within a match that begins at a place. */
  boolean isBegunAt(byte[] bytes, int from) {
    return bytes.length - from >= BEGUN_MIN
        && mayBeginWith(bytes[from])
        && match(bytes, from) == CUT;
  }

  /** A byte from two hexadecimal digits; {@link #NO} if they are none. */
  static int fromHex(byte high, byte low) {
    int first = Character.digit(high, 16);
    int second = Character.digit(low, 16);
    return first < 0 || second < 0 ? NO : first << 4 | second;
  }

  /** Skips a line break of wrapped text: one LF or CR LF at most. */
  static int pastBreak(byte[] bytes, int from, int index) {
    int at = from;
    if (index > 0 && at < bytes.length && bytes[at] == '\r') {
      at++;
    }
    if (index > 0 && at < bytes.length && bytes[at] == '\n') {
      at++;
    }
    return at;
  }

  /** As it is. */
  static final class Plain extends SecretForm {
    Plain(byte[] value) {
      super(value, 1);
    }

    @Override
    int unit(byte[] bytes, int at, int index) {
      return bytes[at] == units[index] ? at + 1 : NO;
    }

    @Override
    boolean mayBeginWith(byte c) {
      return c == units[0];
    }
  }

  /** RFC 3986: any byte may be encoded, in either case; a space may be a plus sign. */
  static final class Percent extends SecretForm {
    Percent(byte[] value) {
      super(value, 3);
    }

    @Override
    int unit(byte[] bytes, int at, int index) {
      if (bytes[at] == '%') {
        if (at + 2 >= bytes.length) {
          return CUT;
        }
        if (fromHex(bytes[at + 1], bytes[at + 2]) == (units[index] & 0xff)) {
          return at + 3;
        }
      }
      boolean same = bytes[at] == units[index] || units[index] == ' ' && bytes[at] == '+';
      return same ? at + 1 : NO;
    }

    @Override
    boolean mayBeginWith(byte c) {
      return c == units[0] || c == '%' || c == '+';
    }
  }

  /** The escapes of JSON (RFC 8259, 7), and those of a backslash and x. */
  static final class Escaped extends SecretForm {
    private static final byte[] LETTERS = "\"\\/bfnrt".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] MEANT = "\"\\/\b\f\n\r\t".getBytes(StandardCharsets.US_ASCII);

    Escaped(byte[] value) {
      super(value, 6);
    }

    @Override
    int unit(byte[] bytes, int at, int index) {
      return unit(bytes, at, units[index]);
    }

    static int unit(byte[] bytes, int at, byte wanted) {
      if (bytes[at] == '\\') {
        int end = escape(bytes, at, wanted);
        if (end != NO) {
          return end;
        }
      }
      return bytes[at] == wanted ? at + 1 : NO;
    }

    private static int escape(byte[] bytes, int at, byte wanted) {
      if (at + 1 >= bytes.length) {
        return CUT;
      }
      byte letter = bytes[at + 1];
      for (int i = 0; i < LETTERS.length; i++) {
        if (letter == LETTERS[i] && wanted == MEANT[i]) {
          return at + 2;
        }
      }
      int zeros = letter == 'u' ? 2 : letter == 'x' ? 0 : NO;
      if (zeros == NO) {
        return NO;
      }
      int digits = at + 2 + zeros;
      if (digits + 1 >= bytes.length) {
        return CUT;
      }
      boolean low = zeros == 0 || bytes[at + 2] == '0' && bytes[at + 3] == '0' && wanted >= 0;
      return low && fromHex(bytes[digits], bytes[digits + 1]) == (wanted & 0xff) ? digits + 2 : NO;
    }

    @Override
    boolean mayBeginWith(byte c) {
      return c == units[0] || c == '\\';
    }
  }

  /** Text with any characters as backslash, u and four digits, as programs write JSON in ASCII. */
  static final class EscapedText extends SecretForm {
    private final String text;

    EscapedText(String text) {
      super(new byte[text.length()], 6);
      this.text = text;
    }

    @Override
    int unit(byte[] bytes, int at, int index) {
      char wanted = text.charAt(index);
      if (bytes[at] == '\\' && (at + 1 >= bytes.length || bytes[at + 1] == 'u')) {
        if (at + 5 >= bytes.length) {
          return CUT;
        }
        int high = fromHex(bytes[at + 2], bytes[at + 3]);
        int low = fromHex(bytes[at + 4], bytes[at + 5]);
        return high >= 0 && low >= 0 && (high << 8 | low) == wanted ? at + 6 : NO;
      }
      if (wanted < 0x80) {
        return Escaped.unit(bytes, at, (byte) wanted);
      }
      byte[] plain = String.valueOf(wanted).getBytes(StandardCharsets.UTF_8);
      for (int i = 0; i < plain.length; i++) {
        if (at + i >= bytes.length) {
          return CUT;
        }
        if (bytes[at + i] != plain[i]) {
          return NO;
        }
      }
      return at + plain.length;
    }

    @Override
    boolean mayBeginWith(byte c) {
      byte[] first = text.substring(0, 1).getBytes(StandardCharsets.UTF_8);
      return c == '\\' || c == first[0];
    }
  }

  /** A number's digits, with any position of its point and any grouping. */
  static final class Digits extends SecretForm {
    Digits(byte[] digits) {
      super(digits, 2);
    }

    @Override
    int unit(byte[] bytes, int from, int index) {
      int at = from;
      if (index > 0 && ".,_".indexOf(bytes[at]) >= 0 && ++at >= bytes.length) {
        return CUT;
      }
      return bytes[at] == units[index] ? at + 1 : NO;
    }

    @Override
    boolean mayBeginWith(byte c) {
      return c == units[0];
    }
  }

  /** Two digits for each byte, in either case, possibly wrapped. */
  static final class Hex extends SecretForm {
    Hex(byte[] value) {
      super(value, 4);
    }

    @Override
    int unit(byte[] bytes, int from, int index) {
      int at = pastBreak(bytes, from, index);
      if (at + 1 >= bytes.length) {
        return CUT;
      }
      return fromHex(bytes[at], bytes[at + 1]) == (units[index] & 0xff) ? at + 2 : NO;
    }

    @Override
    boolean mayBeginWith(byte c) {
      return Character.digit(c, 16) == (units[0] & 0xff) >> 4;
    }
  }

  /** Characters of base64, possibly wrapped. */
  static final class Wrapped extends SecretForm {
    Wrapped(byte[] encoded) {
      super(encoded, 3);
    }

    @Override
    int unit(byte[] bytes, int from, int index) {
      int at = pastBreak(bytes, from, index);
      if (at >= bytes.length) {
        return CUT;
      }
      return bytes[at] == units[index] ? at + 1 : NO;
    }

    @Override
    boolean mayBeginWith(byte c) {
      return c == units[0];
    }
  }
}
