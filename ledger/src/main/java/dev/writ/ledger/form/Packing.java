package dev.writ.ledger.form;

import dev.writ.canonicalize.Comparing;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Writes canonical JSON in about a third of its bytes, and gives back the very same ones: digests
 * and seeds as 32 bytes, times and key ids as numbers, recurring texts as numbers of {@link
 * Phrases} (spec/storage.md). It takes any bytes; those below 0x20, which canonical JSON has not,
 * are its codes. Each value is packed on its own, so that each row is read alone.
 */
public final class Packing {
  /** The next byte stands for itself. */
  private static final int LITERAL = 0;

  /** {@code sha256:} and 64 hexadecimal digits. */
  private static final int DIGEST = 1;

  /** 64 hexadecimal digits. */
  private static final int HEX = 2;

  /** A time, as six bytes of milliseconds from 1970. */
  private static final int TIME = 3;

  /** 43 digits of base64url, as 32 bytes. */
  private static final int KEY_ID = 4;

  /** A phrase, whose number less {@link #SHORT_CODES} is in the next byte. */
  private static final int PHRASE = 5;

  /** The first code of a phrase with a code of its own. */
  private static final int SHORT = 6;

  private static final int SHORT_CODES = 0x20 - SHORT;

  private static final byte[] SHA256 = {'s', 'h', 'a', '2', '5', '6', ':'};
  private static final int HEX_DIGITS = 2 * Digest.LENGTH;

  /** How many bytes of a phrase choose its bucket; shorter ones have two buckets of their own. */
  private static final int HASHED = 5;

  private static final int BUCKETS = 1024;

  /** The numbers of phrases by what they begin with, the longest first; reading needs none. */
  private static final class Beginnings {
    static final int[][] OF_LONG = new int[BUCKETS][0];
    static final int[][] OF_SHORT = new int[BUCKETS][0];

    /** A bit for each pair of bytes: whether a phrase begins with it. Few places of a text do. */
    private static final long[] PAIRS = new long[1 << 10];

    static boolean mayBegin(byte[] text, int at) {
      int pair = pair(text, at);
      return (PAIRS[pair >> 6] >> pair & 1) != 0;
    }

    private static int pair(byte[] text, int at) {
      return (text[at] & 0xff) << 8 | text[at + 1] & 0xff;
    }

    static {
      List<Integer> longestFirst = new ArrayList<>();
      for (int number = 0; number < Phrases.ALL.size(); number++) {
        longestFirst.add(number);
      }
      longestFirst.sort(
          Comparing.by((Integer number) -> Phrases.ALL.get(number).length).reversed());
      for (int number : longestFirst) {
        byte[] phrase = Phrases.ALL.get(number);
        int pair = pair(phrase, 0);
        PAIRS[pair >> 6] |= 1L << pair;
        boolean isLong = phrase.length >= HASHED;
        int[][] buckets = isLong ? OF_LONG : OF_SHORT;
        int at = hash(phrase, 0, isLong ? HASHED : 2);
        int[] before = buckets[at];
        buckets[at] = Arrays.copyOf(before, before.length + 1);
        buckets[at][before.length] = number;
      }
    }
  }

  private Packing() {}

  private static int hash(byte[] bytes, int from, int count) {
    int hash = 0;
    for (int i = from; i < from + count; i++) {
      hash = 31 * hash + bytes[i];
    }
    return (hash ^ hash >>> 10) & BUCKETS - 1;
  }

  /** Packs a text. */
  public static byte[] pack(byte[] text) {
    PackedBytes out = new PackedBytes(text.length / 2 + 16);
    pack(text, out);
    return out.toBytes();
  }

  /** Appends a packed text. */
  public static void pack(byte[] text, PackedBytes out) {
    int at = 0;
    while (at < text.length) {
      int taken = phrase(text, at, out);
      if (taken == 0) {
        taken = value(text, at, out);
      }
      if (taken == 0) {
        if (text[at] >= 0 && text[at] < 0x20) {
          out.put(LITERAL);
        }
        out.put(text[at]);
        taken = 1;
      }
      at += taken;
    }
  }

  private static int phrase(byte[] text, int at, PackedBytes out) {
    if (at + 2 > text.length || !Beginnings.mayBegin(text, at)) {
      return 0;
    }
    if (at + HASHED <= text.length) {
      int taken = phrase(Beginnings.OF_LONG[hash(text, at, HASHED)], text, at, out);
      if (taken > 0) {
        return taken;
      }
    }
    return phrase(Beginnings.OF_SHORT[hash(text, at, 2)], text, at, out);
  }

  private static int phrase(int[] candidates, byte[] text, int at, PackedBytes out) {
    for (int number : candidates) {
      byte[] phrase = Phrases.ALL.get(number);
      if (at + phrase.length <= text.length
          && Arrays.equals(text, at, at + phrase.length, phrase, 0, phrase.length)) {
        if (number < SHORT_CODES) {
          out.put(SHORT + number);
        } else {
          out.put(PHRASE);
          out.put(number - SHORT_CODES);
        }
        return phrase.length;
      }
    }
    return 0;
  }

  /** A digest, seed, time or key id, which are looked for where a string begins. */
  private static int value(byte[] text, int at, PackedBytes out) {
    if (at > 0 && text[at - 1] != '"') {
      return 0;
    }
    int rest = text.length - at;
    byte first = text[at];
    if (first == 's'
        && rest >= SHA256.length + HEX_DIGITS
        && Arrays.equals(text, at, at + SHA256.length, SHA256, 0, SHA256.length)
        && out.putHex(DIGEST, text, at + SHA256.length, HEX_DIGITS)) {
      return SHA256.length + HEX_DIGITS;
    }
    if (rest >= HEX_DIGITS && out.putHex(HEX, text, at, HEX_DIGITS)) {
      return HEX_DIGITS;
    }
    if (rest >= PackedTime.LENGTH) {
      long millis = PackedTime.parse(text, at);
      if (millis >= 0) {
        out.put(TIME);
        out.putSixBytes(millis);
        return PackedTime.LENGTH;
      }
    }
    return rest > PackedBytes.KEY_DIGITS
            && text[at + PackedBytes.KEY_DIGITS] == '"'
            && out.putKeyId(KEY_ID, text, at)
        ? PackedBytes.KEY_DIGITS
        : 0;
  }

  /**
   * The text that was packed.
   *
   * @throws WritException {@code LED-006} for bytes that no text is packed to
   */
  public static byte[] unpack(byte[] packed, int from) {
    PackedBytes out = new PackedBytes(3 * (packed.length - from) + 16);
    try {
      int at = from;
      while (at < packed.length) {
        int code = packed[at++];
        if (code < 0 || code >= 0x20) {
          out.put(code);
          continue;
        }
        switch (code) {
          case LITERAL -> out.put(packed[at++]);
          case DIGEST -> {
            out.put(SHA256);
            out.putAsHex(packed, at, Digest.LENGTH);
            at += Digest.LENGTH;
          }
          case HEX -> {
            out.putAsHex(packed, at, Digest.LENGTH);
            at += Digest.LENGTH;
          }
          case TIME -> {
            PackedTime.format(PackedBytes.sixBytes(packed, at), out);
            at += 6;
          }
          case KEY_ID -> {
            out.put(PackedBytes.keyId(packed, at));
            at += Digest.LENGTH;
          }
          case PHRASE -> out.put(Phrases.ALL.get(SHORT_CODES + (packed[at++] & 0xff)));
          default -> out.put(Phrases.ALL.get(code - SHORT));
        }
      }
    } catch (IndexOutOfBoundsException e) {
      throw new WritException(LedgerError.CORRUPT, "a packed row cannot be read", e);
    }
    return out.toBytes();
  }
}
