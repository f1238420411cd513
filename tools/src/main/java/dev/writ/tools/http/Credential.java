package dev.writ.tools.http;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.yaml.Section;
import dev.writ.tools.error.ToolsError;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/**
 * How a secret goes into a request.
 *
 * @param secret its name in the installation
 * @param name of the header or query parameter; empty for the other ways
 */
public record Credential(String secret, Way way, String name) {

  /** The ways, by their words in {@code tool.manifest}. */
  public enum Way {
    /** {@code Authorization: Bearer} (RFC 6750). */
    BEARER,
    /** {@code Authorization: Basic} (RFC 7617); the secret is {@code user:password}. */
    BASIC,
    /** A header field of its own. */
    HEADER,
    /** A query parameter. */
    QUERY;

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static Credential read(String secret, Section section) {
    Way way = section.oneOf("as", List.of(Way.values()), Way::text);
    boolean named = way == Way.HEADER || way == Way.QUERY;
    String name = named ? section.name("name") : "";
    section.require(
        "name",
        way != Way.HEADER || ToolHeaders.maySend(name),
        "\"" + name + "\" is not for a tool");
    section.end();
    return new Credential(secret, way, way == Way.HEADER ? name.toLowerCase(Locale.ROOT) : name);
  }

  /**
   * The text that is sent, before it is encoded for a query.
   *
   * @throws WritException {@code TOL-253}, without a part of the secret
   */
  public String value(byte[] stored) {
    int length = stored.length;
    while (length > 0 && (stored[length - 1] == '\n' || stored[length - 1] == '\r')) {
      length--;
    }
    byte[] bytes = Arrays.copyOf(stored, length);
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw refused("is not UTF-8");
    }
    return switch (way) {
      case BEARER -> {
        if (!text.matches("[A-Za-z0-9._~+/-]+=*")) {
          throw refused("holds what no bearer token may");
        }
        yield "Bearer " + text;
      }
      case BASIC -> {
        if (text.indexOf(':') < 0 || text.chars().anyMatch(c -> c < 0x20 || c == 0x7f)) {
          throw refused("is not user:password");
        }
        yield "Basic " + Base64.getEncoder().encodeToString(bytes);
      }
      case HEADER -> {
        if (!ToolHeaders.isValue(text) || text.isEmpty()) {
          throw refused("holds what no header may");
        }
        yield text;
      }
      case QUERY -> text;
    };
  }

  private WritException refused(String why) {
    return new WritException(ToolsError.HTTP_CREDENTIAL, "the secret " + secret + " " + why);
  }
}
