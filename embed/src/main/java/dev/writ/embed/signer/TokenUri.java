package dev.writ.embed.signer;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.SignerError;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A {@code pkcs11:} URI (RFC 7512): which module, which of its tokens, and which key there
 * (spec/keys.md, "Keys in a token").
 *
 * @param path the attributes before the question mark, decoded; the bytes of {@code id} as
 *     hexadecimal digits
 * @param module the file of the PKCS#11 module
 * @param pinSource a file with the PIN
 */
record TokenUri(Map<String, String> path, Optional<Path> module, Optional<Path> pinSource) {
  /** What a URI of this kind begins with. */
  static final String SCHEME = "pkcs11:";

  private static final List<String> TOKEN =
      List.of("token", "manufacturer", "model", "serial", "slot-id");
  private static final List<String> KEY = List.of("object", "id");
  private static final String FILE = "file:";

  TokenUri {
    path = Map.copyOf(path);
  }

  /**
   * @throws WritException {@code SGN-010} for one that is not understood, and for one that has a
   *     PIN in it
   */
  static TokenUri parse(String text) {
    if (!text.startsWith(SCHEME)) {
      throw malformed("it does not begin with " + SCHEME);
    }
    String[] halves = text.substring(SCHEME.length()).split("\\?", 2);
    TreeMap<String, String> path = new TreeMap<>();
    for (String attribute : parts(halves[0], ";")) {
      String name = name(attribute);
      byte[] value = value(attribute);
      if (name.equals("type")) {
        require(new String(value, StandardCharsets.UTF_8).equals("private"), "type is private");
        continue;
      }
      require(TOKEN.contains(name) || KEY.contains(name), "\"" + name + "\" is not read");
      String read = name.equals("id") ? HexFormat.of().formatHex(value) : text(value);
      require(!name.equals("slot-id") || read.matches("[0-9]{1,18}"), "slot-id is a number");
      require(path.put(name, read) == null, "\"" + name + "\" is there twice");
    }
    Optional<Path> module = Optional.empty();
    Optional<Path> pin = Optional.empty();
    for (String attribute : halves.length == 1 ? List.<String>of() : parts(halves[1], "&")) {
      switch (name(attribute)) {
        case "module-path" -> module = Optional.of(absolute(text(value(attribute))));
        case "pin-source" -> {
          String source = text(value(attribute));
          require(source.startsWith(FILE), "pin-source names a file, file:/…");
          pin = Optional.of(absolute(source.substring(FILE.length())));
        }
        // Command lines and environments are seen by others.
        case "pin-value" -> throw malformed("a PIN does not stand in it: name a file, pin-source");
        default -> throw malformed("\"" + name(attribute) + "\" is not read");
      }
    }
    return new TokenUri(path, module, pin);
  }

  /** This one, with what it does not say taken from another. */
  TokenUri orElse(TokenUri other) {
    TreeMap<String, String> both = new TreeMap<>(path);
    // Which token is said by one of the two as a whole: half of either could name a third.
    if (TOKEN.stream().noneMatch(path::containsKey)) {
      other.path.forEach((name, value) -> {
        if (TOKEN.contains(name)) {
          both.put(name, value);
        }
      });
    }
    return new TokenUri(both, module.or(() -> other.module), pinSource.or(() -> other.pinSource));
  }

  Optional<String> attribute(String name) {
    return Optional.ofNullable(path.get(name));
  }

  boolean namesKey() {
    return KEY.stream().anyMatch(path::containsKey);
  }

  /** In words for people: what it says of a token or a key, without files. */
  String words() {
    return path.isEmpty() ? "any" : new TreeMap<>(path).toString();
  }

  private static List<String> parts(String half, String separator) {
    return half.isEmpty() ? List.of() : List.of(half.split(separator, -1));
  }

  private static String name(String attribute) {
    int equals = attribute.indexOf('=');
    require(equals > 0, "\"" + attribute + "\" is no attribute NAME=VALUE");
    return attribute.substring(0, equals);
  }

  /** What stands behind the equals sign, percent-decoded. */
  private static byte[] value(String attribute) {
    byte[] coded = attribute.substring(attribute.indexOf('=') + 1).getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    for (int i = 0; i < coded.length; i++) {
      if (coded[i] != '%') {
        value.write(coded[i]);
        continue;
      }
      require(i + 2 < coded.length, "it ends within a %XX");
      int high = Character.digit(coded[i + 1], 16);
      int low = Character.digit(coded[i + 2], 16);
      require(high >= 0 && low >= 0, "a % without two hexadecimal digits");
      value.write(high << 4 | low);
      i += 2;
    }
    require(value.size() > 0, "an attribute without a value");
    return value.toByteArray();
  }

  private static String text(byte[] utf8) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
    } catch (CharacterCodingException e) {
      throw malformed("a value is no UTF-8");
    }
  }

  private static Path absolute(String path) {
    require(path.startsWith("/") && path.indexOf('\0') < 0, "a path in it begins with /");
    return Path.of(path);
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw malformed(what);
    }
  }

  private static WritException malformed(String what) {
    return new WritException(SignerError.TOKEN_URI, what);
  }
}
