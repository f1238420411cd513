package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/**
 * Finds which of some uploads are mentioned by documents: anywhere in their bytes, so that no kind
 * of document and no field can be overlooked. A mention keeps the content; a mention in a document
 * that also names a tenant keeps that tenant's claim. Not thread safe.
 */
final class Mentions {
  private static final String PREFIX = "sha256:";
  private static final int HEX = 2 * Digest.LENGTH;

  private final TreeSet<String> wanted = new TreeSet<>();
  private final TreeSet<String> contents = new TreeSet<>();
  private final TreeSet<String> claims = new TreeSet<>();
  private final Collection<String> keys;

  /**
   * @param keys of {@link Uploads}
   */
  Mentions(Collection<String> keys) {
    this.keys = keys;
    keys.forEach(key -> wanted.add(Uploads.hex(key)));
  }

  /** Of contents, whoever has a claim on them. */
  static Mentions ofContents(Collection<Digest> contents) {
    Mentions mentions = new Mentions(List.of());
    contents.forEach(content -> mentions.wanted.add(content.hex()));
    return mentions;
  }

  void look(byte[] document) {
    String text = new String(document, StandardCharsets.ISO_8859_1);
    for (int at = text.indexOf(PREFIX); at >= 0; at = text.indexOf(PREFIX, at + 1)) {
      int hex = at + PREFIX.length();
      if (hex + HEX <= text.length()) {
        String digest = text.substring(hex, hex + HEX);
        if (wanted.contains(digest)) {
          mentioned(digest, document);
        }
      }
    }
  }

  private void mentioned(String hex, byte[] document) {
    contents.add(hex);
    String text = new String(document, StandardCharsets.UTF_8);
    for (String key : keys) {
      if (Uploads.hex(key).equals(hex) && text.contains(tenantMember(Uploads.tenant(key)))) {
        claims.add(key);
      }
    }
  }

  /** As canonical JSON has it. */
  private static String tenantMember(String tenant) {
    String object =
        new String(
            Jcs.write(JsonValue.object().put("tenant", tenant).build()), StandardCharsets.UTF_8);
    return object.substring(1, object.length() - 1);
  }

  /** Keeps content because another tenant than its uploaders can read it. */
  void keepContent(String hex) {
    if (wanted.contains(hex)) {
      contents.add(hex);
    }
  }

  boolean keepsContent(String hex) {
    return contents.contains(hex);
  }

  boolean keepsClaim(String key) {
    return claims.contains(key);
  }

  boolean looksFor(String hex) {
    return wanted.contains(hex);
  }
}
