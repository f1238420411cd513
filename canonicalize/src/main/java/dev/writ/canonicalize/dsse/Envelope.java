package dev.writ.canonicalize.dsse;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;

/**
 * A DSSE envelope in our one form: itself JCS, padded standard base64, signatures sorted by key id
 * and one for each key (PROTOCOL 23). What has another form is refused. Holding an envelope says
 * nothing about its signatures: {@link dev.writ.canonicalize.trust.Trust} judges them.
 */
public final class Envelope {
  private final String payloadType;
  private final byte[] payload;
  private final List<Signature> signatures;
  private final Digest id;

  /** One signature over the envelope's pre-authentication encoding. */
  public record Signature(String kid, byte[] bytes) {}

  private Envelope(String payloadType, byte[] payload, List<Signature> signatures) {
    this.payloadType = payloadType;
    this.payload = payload;
    this.signatures = signatures;
    this.id = Digest.sha256(payload);
  }

  /** Signs a document with one or more keys. */
  public static Envelope sign(String payloadType, JsonValue document, SigningKey... keys) {
    return signBytes(payloadType, Jcs.write(document), keys);
  }

  /** Signs canonical bytes, for a caller that already has them. */
  public static Envelope signBytes(String payloadType, byte[] payload, SigningKey... keys) {
    byte[] message = preAuthEncoding(payloadType, payload);
    List<Signature> signatures =
        Arrays.stream(keys)
            .map(key -> new Signature(key.kid(), key.sign(message)))
            .sorted(Comparator.comparing(Signature::kid))
            .toList();
    return new Envelope(payloadType, payload.clone(), signatures);
  }

  /**
   * Reads an envelope; the payload is not looked into.
   *
   * @throws WritException {@code CAN-0xx} for any other form than ours
   */
  public static Envelope parse(byte[] bytes) {
    Fields fields = Fields.of("envelope", Jcs.parseCanonical(bytes, Limits.DEFAULT));
    byte[] payload = base64(fields.string("payload"), "envelope/payload");
    String type = fields.name("payloadType");
    List<Signature> signatures =
        fields.list(
            "signatures",
            (path, value) -> {
              Fields item = Fields.of(path, value);
              Signature signature =
                  new Signature(item.name("keyid"), base64(item.string("sig"), path + "/sig"));
              item.end();
              return signature;
            });
    fields.end();
    if (signatures.isEmpty()) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, "envelope/signatures is empty");
    }
    for (int i = 1; i < signatures.size(); i++) {
      if (signatures.get(i - 1).kid().compareTo(signatures.get(i).kid()) >= 0) {
        throw new WritException(
            CanonicalizeError.FIELD_VALUE,
            "envelope/signatures is not sorted by keyid, one for each key");
      }
    }
    return new Envelope(type, payload, signatures);
  }

  private static byte[] base64(String text, String path) {
    try {
      byte[] bytes = Base64.getDecoder().decode(text);
      // The JDK's decoder takes missing padding and set spare bits; only one spelling is ours.
      if (Base64.getEncoder().encodeToString(bytes).equals(text)) {
        return bytes;
      }
    } catch (IllegalArgumentException e) {
      // refused below, with the other wrong forms
    }
    throw new WritException(
        CanonicalizeError.FIELD_VALUE, path + " is not padded standard base64 (RFC 4648, 4)");
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

  public byte[] toBytes() {
    return Jcs.write(toJson());
  }

  public JsonValue.Obj toJson() {
    Base64.Encoder base64 = Base64.getEncoder();
    return JsonValue.object()
        .put("payload", base64.encodeToString(payload))
        .put("payloadType", payloadType)
        .putList(
            "signatures",
            signatures,
            s ->
                JsonValue.object()
                    .put("keyid", s.kid())
                    .put("sig", base64.encodeToString(s.bytes()))
                    .build())
        .build();
  }

  public String payloadType() {
    return payloadType;
  }

  public byte[] payload() {
    return payload.clone();
  }

  /** The payload as a value; for documents of ours it must be canonical. */
  public JsonValue document() {
    return Jcs.parseCanonical(payload, Limits.DEFAULT);
  }

  public List<Signature> signatures() {
    return signatures;
  }

  /** The document's id: the digest of the payload. Signatures are not part of it. */
  public Digest id() {
    return id;
  }
}
