package dev.writ.sandbox.egress;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * Passes a stream on unless it contains one of some strings, even across the borders of its pieces:
 * a server that repeats a credential in its answer must not reveal it to the command. Bytes that
 * may begin such a string are held back until it is clear that they do not.
 */
final class EchoGuard {

  /** The stream holds one of them. */
  static final class Echoed extends IOException {
    private static final long serialVersionUID = 1L;

    Echoed() {
      super("the answer repeats the credential");
    }
  }

  private final List<byte[]> strings;
  private final int[][] fallbacks;
  private final int[] matched;
  private byte[] held = new byte[0];

  EchoGuard(List<byte[]> strings) {
    this.strings = List.copyOf(strings);
    this.fallbacks = strings.stream().map(EchoGuard::fallback).toArray(int[][]::new);
    this.matched = new int[strings.size()];
  }

  /** For each prefix, the longest border of it (Knuth, Morris, Pratt). */
  private static int[] fallback(byte[] string) {
    int[] border = new int[string.length + 1];
    border[0] = -1;
    for (int i = 0, k = -1; i < string.length; border[++i] = ++k) {
      while (k >= 0 && string[i] != string[k]) {
        k = border[k];
      }
    }
    return border;
  }

  /**
   * @return the bytes to pass on: those held back and the new ones, without those that must be held
   *     back now
   * @throws Echoed at the last byte of one of the strings
   */
  byte[] pass(byte[] bytes, int length) throws Echoed {
    int waits = 0;
    for (int s = 0; s < matched.length; s++) {
      matched[s] = match(s, bytes, length);
      waits = Math.max(waits, matched[s]);
    }
    byte[] all = Arrays.copyOf(held, held.length + length);
    System.arraycopy(bytes, 0, all, held.length, length);
    held = Arrays.copyOfRange(all, all.length - waits, all.length);
    return Arrays.copyOf(all, all.length - waits);
  }

  private int match(int s, byte[] bytes, int length) throws Echoed {
    byte[] string = strings.get(s);
    int[] border = fallbacks[s];
    int k = matched[s];
    for (int i = 0; i < length; i++) {
      while (k >= 0 && bytes[i] != string[k]) {
        k = border[k];
      }
      if (++k == string.length) {
        throw new Echoed();
      }
    }
    return k;
  }

  /** The bytes still held back, at the end of the stream. */
  byte[] rest() {
    byte[] rest = held;
    held = new byte[0];
    return rest;
  }
}
