package dev.writ.canonicalize.dsse;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Comparing;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * A DSSE envelope in our one form (spec/envelope.md): itself JCS, padded standard base64,
 * signatures sorted by key id and one for each key (protocol rule 23). What has another form is
 * refused. Holding an envelope says nothing about its signatures: {@code Trust} judges them.
 */
public final class Envelope {
  /** The largest payload; with all its signatures it still fits {@link #LIMITS}. */
  public static final int PAYLOAD_BYTES_MAX = 11 << 20;

  /** The most signatures on one envelope. */
  public static final int SIGNATURES_MAX = 16;

  /** Of the envelope itself: the object, its list, and the objects in that. */
  private static final Limits LIMITS = new Limits(Limits.DEFAULT.bytesMax(), 3);

  private static final int TYPE_CHARACTERS_MAX = 256;

  /** A key id is a SHA-256 digest in base64url. */
  private static final int KEY_ID_CHARACTERS = 43;

  private final String payloadType;
  private final byte[] payload;
  private final List<Signature> signatures;
  private final Digest id;

  /** The payload's value, after the first call of {@link #document}. */
  private volatile JsonValue parsed;

  /**
   * The key under which the signature at each place is known to be valid: because it was verified
   * before, or because this process made it, with that key over these bytes. It lives as long as
   * this object and is no part of the envelope's bytes, so nothing that comes from outside has it.
   */
  private volatile List<Optional<VerifyingKey>> held = List.of();

  /** One signature over the envelope's pre-authentication encoding. */
  public record Signature(String kid, byte[] bytes) {
    public Signature {
      bytes = bytes.clone();
    }

    @Override
    public byte[] bytes() {
      return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Signature that
          && kid.equals(that.kid)
          && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
      return 31 * kid.hashCode() + Arrays.hashCode(bytes);
    }
  }

  private static final byte[] HEAD = "{\"payload\":\"".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] AFTER_PAYLOAD =
      "\",\"payloadType\":".getBytes(StandardCharsets.US_ASCII);
  private static final String SIGNATURES = ",\"signatures\":[";
  private static final String KEY_ID = "{\"keyid\":\"";
  private static final String SIG = "\",\"sig\":\"";
  private static final String SIGNATURE_END = "\"}";
  private static final byte[] TAIL = "]}".getBytes(StandardCharsets.US_ASCII);

  private Envelope(String payloadType, byte[] payload, List<Signature> signatures) {
    this.payloadType = payloadType;
    this.payload = payload;
    this.signatures = signatures;
    this.id = Digest.sha256(payload);
  }

  /**
   * Signs a document with one or more keys of one holder. What was just written need not be read
   * again, nor what was just signed be verified: the envelope knows both.
   */
  public static Envelope sign(String payloadType, JsonValue document, SigningKey... keys) {
    Jcs.Written written = Jcs.written(document);
    Envelope envelope = signOwn(payloadType, written.bytes(), keys);
    if (written.depth() <= Limits.DEFAULT.depthMax()) { // deeper ones are refused when read
      envelope.parsed = document;
    }
    return envelope;
  }

  /**
   * Signs canonical bytes, for a caller that already has them.
   *
   * @throws WritException {@code CAN-009} for a payload over {@link #PAYLOAD_BYTES_MAX}
   * @throws IllegalArgumentException without a key, with a key twice, with too many, or for a
   *     payload type that no envelope may have: our own code never asks for these
   */
  public static Envelope signBytes(String payloadType, byte[] payload, SigningKey... keys) {
    return signOwn(payloadType, payload.clone(), keys);
  }

  /** Signs bytes that nobody else holds. */
  private static Envelope signOwn(String payloadType, byte[] payload, SigningKey... keys) {
    if (payload.length > PAYLOAD_BYTES_MAX) {
      throw new WritException(
          CanonicalizeError.TOO_LARGE,
          "payload of " + payload.length + " bytes, more than " + PAYLOAD_BYTES_MAX);
    }
    if (!isType(payloadType) || keys.length == 0 || keys.length > SIGNATURES_MAX) {
      throw new IllegalArgumentException(keys.length + " keys, type \"" + payloadType + "\"");
    }
    SigningKey[] signers = keys.clone();
    Arrays.sort(signers, Comparing.by(SigningKey::kid));
    byte[] message = preAuthEncoding(payloadType, payload);
    List<Signature> signatures = new ArrayList<>(signers.length);
    List<Optional<VerifyingKey>> held = new ArrayList<>(signers.length);
    for (SigningKey signer : signers) {
      signatures.add(new Signature(signer.kid(), signer.sign(message)));
      held.add(Optional.of(signer.verifyingKey()));
    }
    if (!isStrictlySorted(signatures)) {
      throw new IllegalArgumentException("a key signs twice");
    }
    Envelope envelope = new Envelope(payloadType, payload, List.copyOf(signatures));
    envelope.held = List.copyOf(held);
    return envelope;
  }

  /**
   * Reads an envelope; the payload is not looked into.
   *
   * @throws WritException {@code CAN-0xx} for any other form than ours
   */
  public static Envelope parse(byte[] bytes) {
    Fields fields = Fields.of("envelope", Jcs.parseCanonical(bytes, LIMITS));
    byte[] payload = StrictBase64.decode("envelope/payload", fields.string("payload"));
    if (payload.length > PAYLOAD_BYTES_MAX) {
      throw new WritException(
          CanonicalizeError.TOO_LARGE,
          "payload of " + payload.length + " bytes, more than " + PAYLOAD_BYTES_MAX);
    }
    String type = fields.string("payloadType");
    requireType(type);
    List<Signature> signatures = fields.list("signatures", Envelope::signature);
    fields.end();
    requireSignatures(signatures);
    return new Envelope(type, payload, signatures);
  }

  /**
   * An envelope of parts that were taken from one, for a store that keeps them apart.
   *
   * @throws WritException {@code CAN-023} for a type or signatures that no envelope has
   */
  public static Envelope of(String payloadType, byte[] payload, List<Signature> signatures) {
    requireType(payloadType);
    requireSignatures(signatures);
    return new Envelope(payloadType, payload.clone(), List.copyOf(signatures));
  }

  private static void requireType(String type) {
    if (!isType(type)) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "envelope/payloadType is not 1 to " + TYPE_CHARACTERS_MAX + " visible ASCII characters");
    }
  }

  private static void requireSignatures(List<Signature> signatures) {
    if (signatures.isEmpty() || signatures.size() > SIGNATURES_MAX) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "envelope/signatures has " + signatures.size() + " items, not 1 to " + SIGNATURES_MAX);
    }
    if (!isStrictlySorted(signatures)) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "envelope/signatures is not sorted by keyid, one for each key");
    }
  }

  private static Signature signature(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    String kid = fields.string("keyid");
    if (StrictBase64.decodeUrl(path + "/keyid", kid).length != Digest.LENGTH) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          path + "/keyid is not a thumbprint of " + KEY_ID_CHARACTERS + " characters");
    }
    Signature signature =
        new Signature(kid, StrictBase64.decode(path + "/sig", fields.string("sig")));
    fields.end();
    return signature;
  }

  private static boolean isType(String type) {
    for (int i = 0; i < type.length(); i++) {
      if (type.charAt(i) <= 0x20 || type.charAt(i) >= 0x7f) {
        return false;
      }
    }
    return !type.isEmpty() && type.length() <= TYPE_CHARACTERS_MAX;
  }

  private static boolean isStrictlySorted(List<Signature> signatures) {
    for (int i = 1; i < signatures.size(); i++) {
      if (signatures.get(i - 1).kid().compareTo(signatures.get(i).kid()) >= 0) {
        return false;
      }
    }
    return true;
  }

  /** What a signature covers: PAE of the DSSE protocol, version 1. */
  public static byte[] preAuthEncoding(String payloadType, byte[] payload) {
    byte[] type = payloadType.getBytes(StandardCharsets.UTF_8);
    byte[] head =
        ("DSSEv1 " + type.length + " " + payloadType + " " + payload.length + " ")
            .getBytes(StandardCharsets.UTF_8);
    byte[] all = Arrays.copyOf(head, head.length + payload.length);
    System.arraycopy(payload, 0, all, head.length, payload.length);
    return all;
  }

  /** What the signatures of this envelope cover. */
  public byte[] preAuthEncoding() {
    return preAuthEncoding(payloadType, payload);
  }

  /**
   * The envelope's canonical bytes: those of {@link #toJson}, put together without the tree, since
   * every document passes here. Base64 and key ids hold nothing that JSON escapes.
   */
  public byte[] toBytes() {
    byte[] body = Base64.getEncoder().encode(payload);
    ByteArrayOutputStream out =
        new ByteArrayOutputStream(body.length + 128 + 160 * signatures.size());
    out.writeBytes(HEAD);
    out.writeBytes(body);
    out.writeBytes(AFTER_PAYLOAD);
    out.writeBytes(Jcs.write(JsonValue.of(payloadType)));
    String separator = SIGNATURES;
    for (Signature signature : signatures) {
      out.writeBytes(
          (separator
                  + KEY_ID
                  + signature.kid()
                  + SIG
                  + StrictBase64.encode(signature.bytes)
                  + SIGNATURE_END)
              .getBytes(StandardCharsets.US_ASCII));
      separator = ",";
    }
    out.writeBytes(TAIL);
    return out.toByteArray();
  }

  /** How many bytes {@link #toBytes} gives, without making them. */
  public long size() {
    int type = Jcs.write(JsonValue.of(payloadType)).length;
    int commas = signatures.size() - 1;
    long size = HEAD.length + AFTER_PAYLOAD.length + type + SIGNATURES.length() + commas;
    size += base64(payload.length) + TAIL.length;
    for (Signature signature : signatures) {
      size += KEY_ID.length() + signature.kid().length() + SIG.length();
      size += base64(signature.bytes.length) + SIGNATURE_END.length();
    }
    return size;
  }

  private static long base64(int bytes) {
    return (bytes + 2L) / 3 * 4;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("payload", StrictBase64.encode(payload))
        .put("payloadType", payloadType)
        .putList(
            "signatures",
            signatures,
            s ->
                JsonValue.object()
                    .put("keyid", s.kid())
                    .put("sig", StrictBase64.encode(s.bytes))
                    .build())
        .build();
  }

  public String payloadType() {
    return payloadType;
  }

  public byte[] payload() {
    return payload.clone();
  }

  /** How long the payload is. */
  int payloadBytes() {
    return payload.length;
  }

  /** The payload as a value, parsed once; for documents of ours it must be canonical. */
  public JsonValue document() {
    JsonValue known = parsed;
    if (known == null) {
      known = Jcs.parseCanonical(payload, Limits.DEFAULT);
      parsed = known;
    }
    return known;
  }

  /** Remembers under which key each signature was already verified by the acceptance rule. */
  void holdsAhead(List<Optional<VerifyingKey>> keys) {
    held = List.copyOf(keys);
  }

  /**
   * Verifies every signature, each under the key at its place, unless it is known to hold under the
   * same key: it was verified before, or this process made it. Neither can change.
   *
   * @throws WritException {@code CAN-060} for the first that does not hold
   */
  public void verifySignatures(List<VerifyingKey> keys) {
    List<Optional<VerifyingKey>> known = held;
    byte[] message = null;
    for (int i = 0; i < signatures.size(); i++) {
      if (!holds(known, i, keys.get(i))) {
        message = message == null ? preAuthEncoding() : message;
        keys.get(i).verify(message, signatures.get(i).bytes);
      }
    }
    if (message != null) {
      List<Optional<VerifyingKey>> verified = new ArrayList<>(keys.size());
      keys.forEach(key -> verified.add(Optional.of(key)));
      held = List.copyOf(verified);
    }
  }

  /** Whether every signature is known to hold under the key at its place. */
  boolean isVerified(List<VerifyingKey> keys) {
    List<Optional<VerifyingKey>> known = held;
    for (int i = 0; i < signatures.size(); i++) {
      if (!holds(known, i, keys.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean holds(List<Optional<VerifyingKey>> known, int at, VerifyingKey key) {
    return at < known.size() && known.get(at).filter(key::equals).isPresent();
  }

  public List<Signature> signatures() {
    return signatures;
  }

  /** The document's id: the digest of the payload. Signatures are not part of it. */
  public Digest id() {
    return id;
  }
}
