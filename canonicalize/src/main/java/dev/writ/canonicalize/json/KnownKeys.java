package dev.writ.canonicalize.json;

import java.nio.charset.StandardCharsets;

/**
 * The keys that documents have again and again, as one string each: it is not made anew for every
 * member, knows its hash, and where it is the constant of a program's text, it is the same object.
 * A string that comes first keeps its place, so that whoever sends ever new keys only has them made
 * as before. Threads may race for a place; whichever string is seen is equal to the text.
 */
final class KnownKeys {
  private static final int PLACES = 1 << 12;
  private static final int LENGTH_MAX = 32;
  private static final String[] KNOWN = new String[PLACES];

  private KnownKeys() {}

  /** The string of these bytes of UTF-8. */
  static String of(byte[] in, int start, int end) {
    int length = end - start;
    if (length > LENGTH_MAX) {
      return made(in, start, end);
    }
    int hash = length;
    for (int i = start; i < end; i++) {
      hash = 31 * hash + in[i];
    }
    int place = (hash ^ hash >>> 12 ^ hash >>> 24) & PLACES - 1;
    String known = KNOWN[place];
    if (known == null) {
      known = made(in, start, end).intern();
      KNOWN[place] = known;
      return known;
    }
    return isText(known, in, start, length) ? known : made(in, start, end);
  }

  private static String made(byte[] in, int start, int end) {
    return new String(in, start, end - start, StandardCharsets.UTF_8);
  }

  /** Only ASCII is compared: of other keys the lengths or characters differ. */
  private static boolean isText(String known, byte[] in, int start, int length) {
    if (known.length() != length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (known.charAt(i) != in[start + i]) {
        return false;
      }
    }
    return true;
  }
}
