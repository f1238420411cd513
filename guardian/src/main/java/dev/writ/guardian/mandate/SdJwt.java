package dev.writ.guardian.mandate;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * An SD-JWT with key binding (RFC 9901), as it was presented: the issuer's JWT, disclosures, and
 * the holder's JWT. Nothing of it is verified yet.
 *
 * @param presented the text that the key binding covers: all up to the last tilde
 * @param holder the key binding JWT; empty if there is none
 */
record SdJwt(Jws issued, List<Disclosure> disclosures, String presented, String holder) {
  static final int CHARACTERS_MAX = 64 << 10;
  static final int DISCLOSURES_MAX = 128;

  private static final GuardianError FORM = GuardianError.MANDATE_FORM;
  private static final Pattern ALPHABET = Pattern.compile("[A-Za-z0-9_.~-]*");
  private static final String SUFFIX = "+sd-jwt";
  private static final String CLOSING = "kb+sd-jwt";
  private static final List<String> ALGORITHMS = List.of("ES256", "EdDSA");

  SdJwt {
    disclosures = List.copyOf(disclosures);
  }

  /**
   * One disclosed claim.
   *
   * @param digest by which the issuer's JWT names it
   * @param name of a member; absent for an item of a list
   */
  record Disclosure(String digest, Optional<String> name, JsonValue value) {}

  /**
   * @throws WritException {@code GRD-620} for any other form
   */
  static SdJwt parse(String text) {
    require(text.length() <= CHARACTERS_MAX, text.length() + " characters, not " + CHARACTERS_MAX);
    require(ALPHABET.matcher(text).matches(), "a character that no SD-JWT has");
    String[] parts = text.split("~", -1);
    require(parts.length >= 2, "no tilde, so it is no SD-JWT");
    require(
        parts.length - 2 <= DISCLOSURES_MAX,
        parts.length - 2 + " disclosures, not " + DISCLOSURES_MAX);
    Jws issued = Jws.parse("the issuer's JWT", parts[0], FORM);
    require(ALGORITHMS.contains(issued.stated("alg")), "an alg that is none of " + ALGORITHMS);
    String type = issued.stated("typ");
    require(type.endsWith(SUFFIX) && !type.equals(CLOSING), "a typ that is no SD-JWT's");
    JsonValue hash = issued.payload().get("_sd_alg");
    require(hash == null || hash.equals(JsonValue.of("sha-256")), "an _sd_alg other than sha-256");
    List<Disclosure> disclosures = new ArrayList<>();
    for (int i = 1; i < parts.length - 1; i++) {
      disclosures.add(disclosure("disclosure " + i, parts[i]));
    }
    String holder = parts[parts.length - 1];
    return new SdJwt(
        issued, disclosures, text.substring(0, text.length() - holder.length()), holder);
  }

  private static Disclosure disclosure(String what, String part) {
    require(
        Jws.json(what, part, FORM) instanceof JsonValue.Arr list
            && (list.items().size() == 2 || list.items().size() == 3)
            && list.items().getFirst() instanceof JsonValue.Str,
        what + " is no list of a salt, perhaps a name, and a value");
    List<JsonValue> items = ((JsonValue.Arr) Jws.json(what, part, FORM)).items();
    if (items.size() == 2) {
      return new Disclosure(digest(part), Optional.empty(), items.get(1));
    }
    require(
        items.get(1) instanceof JsonValue.Str name
            && !name.value().equals("_sd")
            && !name.value().equals("..."),
        what + " names no claim");
    return new Disclosure(
        digest(part), Optional.of(((JsonValue.Str) items.get(1)).value()), items.get(2));
  }

  /** SHA-256 of a text, in base64url. */
  static String digest(String text) {
    return StrictBase64.encodeUrl(Digest.sha256(text.getBytes(StandardCharsets.US_ASCII)).bytes());
  }

  private static void require(boolean holds, String found) {
    if (!holds) {
      throw new WritException(FORM, found);
    }
  }
}
