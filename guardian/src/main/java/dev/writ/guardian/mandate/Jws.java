package dev.writ.guardian.mandate;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.JwsKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.guardian.error.GuardianError;
import java.nio.charset.StandardCharsets;

/**
 * A JSON Web Signature in compact form (RFC 7515), not verified yet.
 *
 * @param signed the bytes that are signed: header and payload as they are written
 */
record Jws(JsonValue.Obj header, JsonValue.Obj payload, byte[] signed, byte[] signature) {
  /** One JSON text of a mandate. */
  static final Limits LIMITS = new Limits(64 << 10, 16);

  /**
   * @param code with which any other form is refused
   */
  static Jws parse(String what, String text, GuardianError code) {
    String[] parts = text.split("\\.", -1);
    if (parts.length != 3) {
      throw new WritException(code, what + " has " + parts.length + " parts between dots, not 3");
    }
    Jws jws =
        new Jws(
            object(what + "'s header", parts[0], code),
            object(what + "'s payload", parts[1], code),
            (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII),
            bytes(what + "'s signature", parts[2], code));
    if (jws.header.get("crit") != null) {
      throw new WritException(code, what + " has critical headers");
    }
    return jws;
  }

  private static JsonValue.Obj object(String what, String part, GuardianError code) {
    if (json(what, part, code) instanceof JsonValue.Obj object) {
      return object;
    }
    throw new WritException(code, what + " is no object");
  }

  /** The JSON of a text in base64url. */
  static JsonValue json(String what, String part, GuardianError code) {
    try {
      return Jcs.parse(bytes(what, part, code), LIMITS);
    } catch (WritException e) {
      throw e.code() == code ? e : new WritException(code, what + ": " + e.code().code(), e);
    }
  }

  private static byte[] bytes(String what, String part, GuardianError code) {
    try {
      return StrictBase64.decodeUrl(what, part);
    } catch (WritException e) {
      throw new WritException(code, what + " is not base64url without padding", e);
    }
  }

  /** A text of the header; empty if it is not there or no text. */
  String stated(String member) {
    return header.get(member) instanceof JsonValue.Str text ? text.value() : "";
  }

  boolean isSignedBy(JwsKey key) {
    return stated("alg").equals(key.algorithm()) && key.holds(signed, signature);
  }
}
