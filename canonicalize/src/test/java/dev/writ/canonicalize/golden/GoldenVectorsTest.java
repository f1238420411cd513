package dev.writ.canonicalize.golden;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every vector under golden-vectors/ that concerns keys, signatures, envelopes and digests. */
class GoldenVectorsTest {
  static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..", "golden-vectors");

  /** Those that {@link GoldenVectors} makes; others are made where their documents are known. */
  static final List<String> KINDS = List.of("digest", "dsse", "ed25519", "jwk", "pae", "trust");

  @TestFactory
  Stream<DynamicTest> everyVectorGivesWhatItExpects() throws IOException {
    Stream.Builder<DynamicTest> tests = Stream.builder();
    for (String kind : Stream.concat(KINDS.stream(), Stream.of("es256", "webauthn")).toList()) {
      List<Path> files = files(kind);
      assertThat(files).as(kind + " vectors").isNotEmpty();
      for (Path file : files) {
        Vector vector = Vector.read(file.toString(), Jcs.parse(Files.readAllBytes(file)));
        tests.add(
            DynamicTest.dynamicTest(
                kind + "/" + file.getFileName() + ": " + vector.about(),
                () -> assertThat(outcome(vector.op(), vector.input())).isEqualTo(vector.expect())));
      }
    }
    return tests.build();
  }

  static List<Path> files(String kind) throws IOException {
    try (Stream<Path> files = Files.list(ROOT.resolve(kind))) {
      return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    }
  }

  @Test
  void theLoaderSeesADifference() {
    JsonValue.Obj input = JsonValue.object().put("bytes_b64", "").build();
    assertThat(outcome("digest", input))
        .isNotEqualTo(JsonValue.object().put("digest", "sha256:" + "0".repeat(64)).build());
  }

  private static JsonValue.Obj outcome(String op, JsonValue.Obj input) {
    try {
      Fields fields = Fields.of(op, input);
      JsonValue.Obj result =
          switch (op) {
            case "digest" -> digest(fields);
            case "digest.parse" -> digest(fields);
            case "dsse.verify" -> dsse(fields);
            case "trust.verify" -> trust(fields);
            case "ed25519.verify" -> ed25519(fields);
            case "key.enrol" -> jwk(fields);
            case "dsse.pae" -> pae(fields);
            default -> throw new IllegalArgumentException(op);
          };
      fields.end();
      return result;
    } catch (WritException e) {
      return JsonValue.object().put("code", e.code().code()).build();
    }
  }

  private static byte[] bytes(Fields fields, String key) {
    return StrictBase64.decode(key, fields.string(key));
  }

  private static JsonValue.Obj digest(Fields fields) {
    Digest digest =
        fields.has("text")
            ? Digest.parse(fields.string("text"))
            : Digest.sha256(bytes(fields, "bytes_b64"));
    return JsonValue.object().put("digest", digest).build();
  }

  private static JsonValue.Obj dsse(Fields fields) {
    byte[] bytes =
        fields.has("envelope")
            ? Jcs.write(fields.value("envelope"))
            : bytes(fields, "envelope_b64");
    TreeMap<String, VerifyingKey> keys = new TreeMap<>();
    for (VerifyingKey key : fields.list("keys", (_, jwk) -> VerifyingKey.fromJwk(jwk))) {
      if (keys.put(key.kid(), key) != null) {
        throw new WritException(CanonicalizeError.KEY_TWICE, key.kid());
      }
    }
    Envelope envelope = Envelope.parse(bytes);
    for (Envelope.Signature signature : envelope.signatures()) {
      VerifyingKey key = keys.get(signature.kid());
      if (key == null) {
        throw new WritException(CanonicalizeError.KEY_UNKNOWN, signature.kid());
      }
      key.verify(envelope.preAuthEncoding(), signature.bytes());
    }
    return JsonValue.object()
        .putList("kids", envelope.signatures(), s -> JsonValue.of(s.kid()))
        .put("payload_b64", StrictBase64.encode(envelope.payload()))
        .put("payload_type", envelope.payloadType())
        .build();
  }

  private static JsonValue.Obj trust(Fields fields) {
    Trust trust =
        Trust.fromJson(
            JsonValue.object()
                .put("keys", fields.value("keys"))
                .putIfPresent(
                    "writ_required_algorithms",
                    fields.optional("required_algorithms", fields::value),
                    algorithms -> algorithms)
                .build());
    String type = fields.string("payload_type");
    var at = fields.time("at");
    Envelope envelope = Envelope.parse(bytes(fields, "envelope_b64"));
    List<TrustedKey> signers = trust.verify(envelope, type, at);
    return JsonValue.object()
        .put("id", envelope.id())
        .put("payload_b64", StrictBase64.encode(envelope.payload()))
        .putList("signers", signers, signer -> JsonValue.of(signer.kid()))
        .build();
  }

  private static JsonValue.Obj ed25519(Fields fields) {
    byte[] key = bytes(fields, "public_key_b64");
    byte[] message = bytes(fields, "message_b64");
    byte[] signature = bytes(fields, "signature_b64");
    VerifyingKey.ed25519(key).verify(message, signature);
    return JsonValue.object().put("valid", true).build();
  }

  private static JsonValue.Obj jwk(Fields fields) {
    VerifyingKey key = VerifyingKey.fromJwk(fields.value("jwk"));
    return JsonValue.object().put("kid", key.kid()).build();
  }

  private static JsonValue.Obj pae(Fields fields) {
    byte[] pae =
        Envelope.preAuthEncoding(fields.string("payload_type"), bytes(fields, "payload_b64"));
    return JsonValue.object().put("pae_b64", StrictBase64.encode(pae)).build();
  }
}
