package dev.writ.conform.op;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.conform.adapter.Operation;
import java.time.Instant;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Canonical forms, digests, keys, signatures and envelopes. */
final class BasicOps {
  private BasicOps() {}

  static void addTo(SortedMap<String, Operation> operations) {
    operations.put("canonicalize", BasicOps::canonicalize);
    operations.put("digest", BasicOps::digest);
    operations.put("digest.parse", BasicOps::digestParse);
    operations.put("ed25519.verify", BasicOps::ed25519Verify);
    operations.put("key.enrol", BasicOps::keyEnrol);
    operations.put("dsse.pae", BasicOps::dssePae);
    operations.put("dsse.verify", BasicOps::dsseVerify);
    operations.put("trust.verify", BasicOps::trustVerify);
  }

  private static JsonValue.Obj canonicalize(Fields input) {
    byte[] canonical = Jcs.canonicalize(Bytes.get(input, "json_b64"));
    return Bytes.put("canonical_b64", canonical).put("digest", Digest.sha256(canonical)).build();
  }

  private static JsonValue.Obj digest(Fields input) {
    return JsonValue.object().put("digest", Digest.sha256(Bytes.get(input, "bytes_b64"))).build();
  }

  private static JsonValue.Obj digestParse(Fields input) {
    return JsonValue.object().put("digest", Digest.parse(input.string("text"))).build();
  }

  private static JsonValue.Obj ed25519Verify(Fields input) {
    VerifyingKey key = VerifyingKey.ed25519(Bytes.get(input, "public_key_b64"));
    key.verify(Bytes.get(input, "message_b64"), Bytes.get(input, "signature_b64"));
    return Bytes.valid();
  }

  private static JsonValue.Obj keyEnrol(Fields input) {
    return JsonValue.object().put("kid", VerifyingKey.fromJwk(input.value("jwk")).kid()).build();
  }

  private static JsonValue.Obj dssePae(Fields input) {
    String type = input.string("payload_type");
    return Bytes.put("pae_b64", Envelope.preAuthEncoding(type, Bytes.get(input, "payload_b64")))
        .build();
  }

  /**
   * Verifies the envelope alone: all signatures are valid and by known keys. Trust, not this, says
   * who may sign what.
   */
  private static JsonValue.Obj dsseVerify(Fields input) {
    TreeMap<String, VerifyingKey> keys = new TreeMap<>();
    for (VerifyingKey key : input.list("keys", (_, jwk) -> VerifyingKey.fromJwk(jwk))) {
      if (keys.put(key.kid(), key) != null) {
        throw new WritException(CanonicalizeError.KEY_TWICE, "key " + key.kid());
      }
    }
    Envelope envelope = Envelope.parse(Bytes.document(input, "envelope"));
    byte[] message = envelope.preAuthEncoding();
    for (Envelope.Signature signature : envelope.signatures()) {
      VerifyingKey key = keys.get(signature.kid());
      if (key == null) {
        throw new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + signature.kid());
      }
      key.verify(message, signature.bytes());
    }
    return JsonValue.object()
        .putList("kids", envelope.signatures(), s -> JsonValue.of(s.kid()))
        .put("payload_b64", StrictBase64.encode(envelope.payload()))
        .put("payload_type", envelope.payloadType())
        .build();
  }

  private static JsonValue.Obj trustVerify(Fields input) {
    Trust trust = trustFile(input);
    String type = input.string("payload_type");
    Instant at = input.time("at");
    Envelope envelope = Envelope.parse(Bytes.document(input, "envelope"));
    List<TrustedKey> signers = trust.verify(envelope, type, at);
    return JsonValue.object()
        .put("id", envelope.id())
        .put("payload_b64", StrictBase64.encode(envelope.payload()))
        .putList("signers", signers, signer -> JsonValue.of(signer.kid()))
        .build();
  }

  /** Builds a trust file from these members. */
  static Trust trustFile(Fields input) {
    return Trust.fromJson(
        JsonValue.object()
            .put("keys", input.value("keys"))
            .putIfPresent(
                "writ_required_algorithms",
                input.optional("required_algorithms", input::value),
                algorithms -> algorithms)
            .build());
  }

  /** The keys of a trust file. */
  static Trust trust(Fields input) {
    return Trust.of(input.list("keys", TrustedKey::fromJson));
  }
}
