package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.Digest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/**
 * The digest of a tree (spec/sandbox.md): SHA-256 over one record for each entry, sorted by name:
 * kind, mode in octal, the digest of the content or {@code -}, the name, and a NUL. Owners and
 * times are not part of it.
 */
final class TreeDigest {
  private TreeDigest() {}

  static Digest of(List<Entry> entries) throws IOException {
    MessageDigest hash = Digest.newSha256();
    for (Entry entry : entries) {
      String head = entry.kind() + " " + Integer.toOctalString(entry.mode()) + " ";
      hash.update(head.getBytes(StandardCharsets.US_ASCII));
      hash.update((content(entry) + " ").getBytes(StandardCharsets.US_ASCII));
      hash.update(entry.name());
      hash.update((byte) 0);
    }
    return Digest.ofBytes(hash.digest());
  }

  /** The content of a FIFO, socket or device is never read. */
  private static String content(Entry entry) throws IOException {
    return switch (entry.kind()) {
      case 'f' -> file(entry.path());
      case 'l' -> Digest.sha256(target(entry.path())).hex();
      default -> "-";
    };
  }

  private static String file(Path path) throws IOException {
    MessageDigest hash = Digest.newSha256();
    byte[] buffer = new byte[1 << 16];
    try (InputStream in = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS)) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        hash.update(buffer, 0, n);
      }
    }
    return HexFormat.of().formatHex(hash.digest());
  }

  /** The target of a link, as bytes. */
  static byte[] target(Path link) throws IOException {
    Path target = Files.readSymbolicLink(link);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    if (target.isAbsolute()) {
      bytes.write('/');
    }
    for (int i = 0; i < target.getNameCount(); i++) {
      if (i > 0) {
        bytes.write('/');
      }
      bytes.writeBytes(name(target.getName(i)));
    }
    return bytes.toByteArray();
  }

  /** A URI's path would resolve {@code .} and {@code ..}, so they are handled first. */
  private static byte[] name(Path part) {
    String text = part.toString();
    return text.equals(".") || text.equals("..") || text.isEmpty()
        ? text.getBytes(StandardCharsets.US_ASCII)
        : RawNames.bytes(part);
  }
}
