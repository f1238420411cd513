package dev.writ.sandbox.workspace;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * File names as bytes. The JDK converts names to text by the locale that the JVM was started in,
 * and loses characters outside it; but a path's URI has every byte.
 */
final class RawNames {
  private static final Path ROOT = Path.of("/");

  private RawNames() {}

  /** The bytes of a single name. */
  static byte[] bytes(Path name) {
    String encoded = ROOT.resolve(name).toUri().getRawPath();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 1; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      if (c == '%') {
        bytes.write(HexFormat.fromHexDigits(encoded, i + 1, i + 3));
        i += 2;
      } else if (c != '/') { // a URI ends in a slash if such a directory exists at the root
        bytes.write(c);
      }
    }
    return bytes.toByteArray();
  }

  /** A single name of these bytes: no separator, no NUL, neither {@code .} nor {@code ..}. */
  static Path path(byte[] name) {
    StringBuilder uri = new StringBuilder("file:///");
    for (byte b : name) {
      uri.append('%').append(HexFormat.of().toHexDigits(b));
    }
    return Path.of(URI.create(uri.toString())).getFileName();
  }

  static Path path(String name) {
    return path(name.getBytes(StandardCharsets.UTF_8));
  }

  /** Whether bytes are one plain name. */
  static boolean isPlain(byte[] name) {
    if (name.length == 0 || name.length > 255) {
      return false;
    }
    boolean dots = name[0] == '.' && (name.length == 1 || name.length == 2 && name[1] == '.');
    for (byte b : name) {
      if (b == 0 || b == '/') {
        return false;
      }
    }
    return !dots;
  }
}
