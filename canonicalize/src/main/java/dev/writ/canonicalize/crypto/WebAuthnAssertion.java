package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an authenticator gives for one signature, in the form in which an envelope carries it
 * (spec/webauthn.md; Web Authentication Level 3, 5.8.1 and 6.1).
 */
final class WebAuthnAssertion {
  /** The whole signature entry. */
  private static final Limits LIMITS = new Limits(8192, 1);

  private static final Limits CLIENT_DATA_LIMITS = new Limits(4096, 8);

  private static final String TYPE = "webauthn.get";
  private static final int FLAGS_AT = Digest.LENGTH;

  /** Hash of the relying party's id, flags, and the counter. */
  private static final int DATA_BYTES = Digest.LENGTH + 1 + 4;

  private static final int USER_PRESENT = 0x01;
  private static final int USER_VERIFIED = 0x04;
  private static final int BACKUP_ELIGIBLE = 0x08;
  private static final int BACKED_UP = 0x10;
  private static final int ATTESTED = 0x40;
  private static final int EXTENSIONS = 0x80;

  private static final String PORT = "(?::[1-9][0-9]{0,4})?";
  private static final Pattern LOCAL = Pattern.compile("https?://localhost" + PORT);
  private static final Pattern SECURE = Pattern.compile("https://([a-z0-9.-]+)" + PORT);

  private final byte[] data;
  private final byte[] clientData;
  private final byte[] signature;
  private final JsonValue.Obj client;

  private WebAuthnAssertion(byte[] data, byte[] clientData, byte[] signature) {
    this.data = data;
    this.clientData = clientData;
    this.signature = signature;
    this.client = client(clientData);
    int flags = flags();
    boolean longer = data.length > DATA_BYTES;
    if (data.length < DATA_BYTES || has(flags, ATTESTED) || longer != has(flags, EXTENSIONS)) {
      throw malformed(
          "authenticator_data of " + data.length + " bytes with flags " + flags + " is no one's");
    }
    if (has(flags, BACKED_UP) && !has(flags, BACKUP_ELIGIBLE)) {
      throw malformed("authenticator_data states a backup of a key that has none");
    }
  }

  /**
   * @throws WritException {@code CAN-065} for any other form than ours
   */
  static WebAuthnAssertion parse(byte[] bytes) {
    try {
      Fields fields = Fields.of("sig", Jcs.parseCanonical(bytes, LIMITS));
      byte[] data = bytes(fields, "authenticator_data");
      byte[] clientData = bytes(fields, "client_data");
      byte[] signature = bytes(fields, "signature");
      fields.end();
      return new WebAuthnAssertion(data, clientData, signature);
    } catch (WritException e) {
      throw e.code() == CanonicalizeError.WEBAUTHN_FORM ? e : malformed(e.getMessage());
    }
  }

  private static byte[] bytes(Fields fields, String member) {
    return StrictBase64.decodeUrl("sig/" + member, fields.string(member));
  }

  /** The browser's statement; what it holds besides is signed and means nothing here. */
  private static JsonValue.Obj client(byte[] json) {
    if (Jcs.parse(json, CLIENT_DATA_LIMITS) instanceof JsonValue.Obj client) {
      return client;
    }
    throw malformed("client_data is no object");
  }

  /**
   * Requires that the assertion was asked for over this message, and is one at all.
   *
   * @throws WritException {@code CAN-066} for another
   */
  void requireChallenge(String challenge) {
    String type = text("type");
    if (!type.equals(TYPE)) {
      throw new WritException(
          CanonicalizeError.WEBAUTHN_CHALLENGE, "of type " + type + ", not " + TYPE);
    }
    String found = text("challenge");
    if (!found.equals(challenge)) {
      throw new WritException(
          CanonicalizeError.WEBAUTHN_CHALLENGE, "over " + found + ", this document's " + challenge);
    }
  }

  /**
   * Requires that the page that asked belongs to the relying party and was in no frame of another.
   *
   * @throws WritException {@code CAN-067} for any other
   */
  void requireOrigin(String relyingParty) {
    String origin = text("origin");
    if (!belongs(origin, relyingParty)) {
      throw new WritException(
          CanonicalizeError.WEBAUTHN_ORIGIN, "made at " + origin + ", for " + relyingParty);
    }
    JsonValue cross = client.members().get("crossOrigin");
    boolean alone = cross == null || JsonValue.of(false).equals(cross);
    if (!alone || client.members().containsKey("topOrigin")) {
      throw new WritException(
          CanonicalizeError.WEBAUTHN_ORIGIN, "made in a frame of another origin");
    }
  }

  private static boolean belongs(String origin, String relyingParty) {
    if (relyingParty.equals("localhost")) {
      return LOCAL.matcher(origin).matches();
    }
    Matcher secure = SECURE.matcher(origin);
    return secure.matches()
        && (secure.group(1).equals(relyingParty) || secure.group(1).endsWith("." + relyingParty));
  }

  /**
   * @throws WritException {@code CAN-067} where the authenticator signed for another relying party
   */
  void requireRelyingParty(byte[] sha256) {
    if (!Arrays.equals(data, 0, Digest.LENGTH, sha256, 0, Digest.LENGTH)) {
      throw new WritException(
          CanonicalizeError.WEBAUTHN_ORIGIN, "the authenticator signed for another relying party");
    }
  }

  /**
   * Requires that a person was there and was recognised by the authenticator.
   *
   * @throws WritException {@code CAN-068} where not
   */
  void requirePerson() {
    int flags = flags();
    if (!has(flags, USER_PRESENT) || !has(flags, USER_VERIFIED)) {
      throw new WritException(
          CanonicalizeError.WEBAUTHN_PERSON,
          has(flags, USER_PRESENT) ? "the user was not verified" : "the user was not present");
    }
  }

  /** SHA-256 of what an authenticator signs: its data and the digest of the browser's statement. */
  byte[] signedDigest() {
    byte[] client = Digest.sha256(clientData).bytes();
    byte[] all = Arrays.copyOf(data, data.length + client.length);
    System.arraycopy(client, 0, all, data.length, client.length);
    return Digest.sha256(all).bytes();
  }

  /** In DER. */
  byte[] signature() {
    return signature;
  }

  private String text(String member) {
    if (client.members().get(member) instanceof JsonValue.Str text) {
      return text.value();
    }
    throw malformed("client_data has no text " + member);
  }

  private int flags() {
    return data.length > FLAGS_AT ? data[FLAGS_AT] & 0xff : 0;
  }

  private static boolean has(int flags, int flag) {
    return (flags & flag) != 0;
  }

  private static WritException malformed(String what) {
    return new WritException(CanonicalizeError.WEBAUTHN_FORM, what);
  }
}
