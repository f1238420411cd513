package dev.writ.gateway.http.limit;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Network addresses that begin with the same bits, such as {@code 10.0.0.0/8}; all bits for one
 * address.
 */
public final class AddressRange {
  private static final Pattern LITERAL = Pattern.compile("[0-9a-fA-F:.]{2,45}");
  private static final Pattern BITS = Pattern.compile("[0-9]{1,3}");

  private final byte[] first;
  private final int bits;

  private AddressRange(byte[] first, int bits) {
    this.first = first;
    this.bits = bits;
  }

  /**
   * Reads {@code ADDRESS} or {@code ADDRESS/BITS}.
   *
   * @return empty where it is neither, or where the address has bits behind those that count
   */
  public static Optional<AddressRange> parse(String text) {
    int slash = text.indexOf('/');
    Optional<InetAddress> address = address(slash < 0 ? text : text.substring(0, slash));
    if (address.isEmpty()) {
      return Optional.empty();
    }
    byte[] first = address.get().getAddress();
    int all = first.length * Byte.SIZE;
    int bits = all;
    if (slash >= 0) {
      String count = text.substring(slash + 1);
      bits = BITS.matcher(count).matches() ? Integer.parseInt(count) : all + 1;
    }
    if (bits > all || !Arrays.equals(first, masked(first, bits))) {
      return Optional.empty();
    }
    return Optional.of(new AddressRange(first, bits));
  }

  /** An address in figures; no name is looked up. */
  static Optional<InetAddress> address(String literal) {
    if (!LITERAL.matcher(literal).matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(InetAddress.ofLiteral(literal));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  boolean contains(InetAddress address) {
    byte[] bytes = address.getAddress();
    return bytes.length == first.length && Arrays.equals(first, masked(bytes, bits));
  }

  private static byte[] masked(byte[] address, int bits) {
    byte[] masked = address.clone();
    for (int i = 0; i < masked.length; i++) {
      int kept = Math.clamp(bits - (long) i * Byte.SIZE, 0, Byte.SIZE);
      masked[i] = (byte) (masked[i] & 0xff << Byte.SIZE - kept);
    }
    return masked;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof AddressRange range
        && bits == range.bits
        && Arrays.equals(first, range.first);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(first) + bits;
  }
}
