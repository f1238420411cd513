package dev.writ.sandbox.egress;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/**
 * Tells public internet addresses from others. Others, which a command may reach only if a rule
 * says so, include the host itself, its neighbours, and a cloud's metadata service
 * (169.254.169.254). The blocks are those of the IANA special-purpose registries (RFC 6890 and
 * successors).
 */
final class Addresses {
  private Addresses() {}

  private record Block(byte[] prefix, int bits) {
    static Block of(String address, int bits) {
      try {
        return new Block(InetAddress.getByName(address).getAddress(), bits);
      } catch (UnknownHostException e) {
        throw new IllegalStateException(e);
      }
    }

    boolean holds(byte[] address) {
      if (address.length != prefix.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        int mask = 0x80 >> bit % 8;
        if ((address[bit / 8] & mask) != (prefix[bit / 8] & mask)) {
          return false;
        }
      }
      return true;
    }
  }

  private static final List<Block> V4 =
      List.of(
          Block.of("0.0.0.0", 8),
          Block.of("10.0.0.0", 8),
          Block.of("100.64.0.0", 10),
          Block.of("127.0.0.0", 8),
          Block.of("169.254.0.0", 16),
          Block.of("172.16.0.0", 12),
          Block.of("192.0.0.0", 24),
          Block.of("192.0.2.0", 24),
          Block.of("192.88.99.0", 24),
          Block.of("192.168.0.0", 16),
          Block.of("198.18.0.0", 15),
          Block.of("198.51.100.0", 24),
          Block.of("203.0.113.0", 24),
          Block.of("224.0.0.0", 4),
          Block.of("240.0.0.0", 4));

  /** Global unicast; the blocks below are exceptions that are not public. */
  private static final Block V6_GLOBAL = Block.of("2000::", 3);

  private static final List<Block> V6 =
      List.of(
          Block.of("2001::", 23),
          Block.of("2001:db8::", 32),
          Block.of("3fff::", 20),
          Block.of("5f00::", 16));

  private static final Block SIX_TO_FOUR = Block.of("2002::", 16);
  private static final Block NAT64 = Block.of("64:ff9b::", 96);

  static boolean isPublic(InetAddress address) {
    return switch (address) {
      case Inet4Address four -> isPublicV4(four.getAddress());
      case Inet6Address six -> isPublicV6(six.getAddress());
      default -> false;
    };
  }

  private static boolean isPublicV4(byte[] address) {
    return V4.stream().noneMatch(block -> block.holds(address));
  }

  private static boolean isPublicV6(byte[] address) {
    // Two kinds of version 6 addresses contain a version 4 address and lead to it.
    if (SIX_TO_FOUR.holds(address)) {
      return isPublicV4(Arrays.copyOfRange(address, 2, 6));
    }
    if (NAT64.holds(address)) {
      return isPublicV4(Arrays.copyOfRange(address, 12, 16));
    }
    return V6_GLOBAL.holds(address) && V6.stream().noneMatch(block -> block.holds(address));
  }
}
