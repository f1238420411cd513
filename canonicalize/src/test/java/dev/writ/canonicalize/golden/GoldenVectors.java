package dev.writ.canonicalize.golden;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.crypto.Rfc8032;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.Speccheck;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Where the vectors for digests, keys, signatures and envelopes come from. They are data for every
 * implementation; this only says how ours were made.
 */
final class GoldenVectors {
  private static final String RECEIPT = PayloadTypes.of("receipt");
  private static final String SIGNATURE = "ed25519.verify";
  private static final String ENVELOPE = "dsse.verify";
  private static final String TRUST = "trust.verify";

  private final SortedMap<String, Vector> all = new TreeMap<>();
  private final SigningKey executor = key(1);
  private final SigningKey second = key(2);
  private final SigningKey postQuantum = SigningKey.mlDsa65(new byte[32]);

  private GoldenVectors() {}

  /** All vectors, by their path under golden-vectors/. */
  static SortedMap<String, Vector> generate() {
    GoldenVectors vectors = new GoldenVectors();
    vectors.digests();
    vectors.ed25519();
    vectors.jwks();
    vectors.preAuthEncodings();
    vectors.envelopes();
    vectors.signers();
    return vectors.all;
  }

  private void add(String kind, String name, Vector vector) {
    if (all.put(kind + "/" + name + ".json", vector) != null) {
      throw new IllegalStateException("twice: " + name);
    }
  }

  /** A test key whose secret anybody can guess. */
  private static SigningKey key(int n) {
    return SigningKey.ed25519(Arrays.copyOf(new byte[] {(byte) n}, 32));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static JsonValue.Obj object(String key, String value) {
    return JsonValue.object().put(key, value).build();
  }

  private void digests() {
    List<String> texts = List.of("", "abc", "{\"a\":1}", "\u00fc\ud83d\udd11");
    for (int i = 0; i < texts.size(); i++) {
      byte[] bytes = utf8(texts.get(i));
      add(
          "digest",
          "sha256-" + i,
          new Vector(
              "SHA-256 of " + bytes.length + " bytes",
              "digest",
              object("bytes_b64", StrictBase64.encode(bytes)),
              object("digest", Digest.sha256(bytes).toString())));
    }
    String good = Digest.sha256().toString();
    add(
        "digest",
        "text",
        new Vector("the text form", "digest.parse", object("text", good), object("digest", good)));
    List<List<String>> bad =
        List.of(
            List.of("upper-case", good.toUpperCase(Locale.ROOT)),
            List.of("upper-case-hex", "sha256:" + good.substring(7).toUpperCase(Locale.ROOT)),
            List.of("no-prefix", good.substring(7)),
            List.of("other-hash", good.replace("sha256", "sha512")),
            List.of("short", good.substring(0, good.length() - 1)),
            List.of("long", good + "0"),
            List.of("not-hex", good.substring(0, good.length() - 1) + "g"),
            List.of("empty", ""));
    for (List<String> each : bad) {
      add(
          "digest",
          "refused-" + each.getFirst(),
          Vector.of(
              "refused: " + each.getFirst(),
              "digest.parse",
              object("text", each.getLast()),
              CanonicalizeError.DIGEST_MALFORMED));
    }
  }

  private static JsonValue.Obj signature(byte[] key, byte[] message, byte[] signature) {
    return JsonValue.object()
        .put("public_key_b64", StrictBase64.encode(key))
        .put("message_b64", StrictBase64.encode(message))
        .put("signature_b64", StrictBase64.encode(signature))
        .build();
  }

  private void ed25519() {
    JsonValue.Obj valid = JsonValue.object().put("valid", true).build();
    for (int i = 0; i < Rfc8032.ALL.size(); i++) {
      Rfc8032 v = Rfc8032.ALL.get(i);
      byte[] key = Rfc8032.hex(v.key());
      byte[] message = Rfc8032.hex(v.message());
      byte[] signature = Rfc8032.hex(v.signature());
      add(
          "ed25519",
          "rfc8032-" + i,
          new Vector(
              "RFC 8032, 7.1, " + v.about(), SIGNATURE, signature(key, message, signature), valid));
    }
    for (int i = 0; i < Speccheck.ALL.size(); i++) {
      Speccheck v = Speccheck.ALL.get(i);
      JsonValue.Obj input = signature(v.keyBytes(), v.messageBytes(), v.signatureBytes());
      String about = "speccheck " + i + ": " + v.about();
      boolean accepted = i >= 2 && i <= 5;
      boolean weak = i < 2 || i > 9;
      add(
          "ed25519",
          String.format(Locale.ROOT, "speccheck-%02d", i),
          accepted
              ? new Vector(about, SIGNATURE, input, valid)
              : Vector.of(
                  about,
                  SIGNATURE,
                  input,
                  weak ? CanonicalizeError.KEY_WEAK : CanonicalizeError.SIGNATURE_INVALID));
    }
    byte[] key = executor.verifyingKey().bytes();
    byte[] message = utf8("message");
    byte[] good = executor.sign(message);
    refusedSignature("message", key, utf8("massage"), good);
    refusedSignature("key", second.verifyingKey().bytes(), message, good);
    refusedSignature("short", key, message, Arrays.copyOf(good, 63));
    refusedSignature("long", key, message, Arrays.copyOf(good, 65));
    refusedSignature("empty", key, message, new byte[0]);
    refusedSignature("zero", key, message, new byte[64]);
    refusedSignature("s-plus-l", key, message, withSPlusL(good));
    byte[] flipped = good.clone();
    flipped[63] ^= 0x10;
    refusedSignature("flipped", key, message, flipped);
    byte[] offCurve = new byte[32];
    offCurve[0] = 2;
    add(
        "ed25519",
        "refused-off-curve",
        Vector.of(
            "the key is no point of the curve",
            SIGNATURE,
            signature(offCurve, message, good),
            CanonicalizeError.KEY_MALFORMED));
    add(
        "ed25519",
        "refused-short-key",
        Vector.of(
            "the key has 31 bytes",
            SIGNATURE,
            signature(Arrays.copyOf(key, 31), message, good),
            CanonicalizeError.KEY_MALFORMED));
  }

  private void refusedSignature(String what, byte[] key, byte[] message, byte[] signature) {
    add(
        "ed25519",
        "refused-" + what,
        Vector.of(
            "refused: " + what,
            SIGNATURE,
            signature(key, message, signature),
            CanonicalizeError.SIGNATURE_INVALID));
  }

  private static byte[] withSPlusL(byte[] signature) {
    BigInteger order =
        BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));
    byte[] big = new byte[32];
    for (int i = 0; i < 32; i++) {
      big[i] = signature[63 - i];
    }
    byte[] sum = new BigInteger(1, big).add(order).toByteArray();
    byte[] changed = signature.clone();
    for (int i = 0; i < 32; i++) {
      changed[32 + i] = i < sum.length ? sum[sum.length - 1 - i] : 0;
    }
    return changed;
  }

  private void jwks() {
    accepted(
        "rfc8037",
        "RFC 8037, A.2 and A.3",
        VerifyingKey.ed25519(Rfc8032.hex(Rfc8032.ALL.getFirst().key())));
    accepted("ed25519", "a test key", executor.verifyingKey());
    accepted(
        "ml-dsa-65", "the zero seed, which is the example of RFC 9964", postQuantum.verifyingKey());
    String x = StrictBase64.encodeUrl(executor.verifyingKey().bytes());
    refusedJwk("private", CanonicalizeError.FIELD_UNKNOWN, okp(x).put("d", x).build());
    refusedJwk("unknown-member", CanonicalizeError.FIELD_UNKNOWN, okp(x).put("use", "sig").build());
    refusedJwk("other-kid", CanonicalizeError.KEY_MALFORMED, okp(x).put("kid", "key-1").build());
    refusedJwk("padded", CanonicalizeError.FIELD_VALUE, okp(x + "=").build());
    refusedJwk("short", CanonicalizeError.KEY_MALFORMED, okp(x.substring(0, 40)).build());
    refusedJwk("empty", CanonicalizeError.KEY_MALFORMED, okp("").build());
    byte[] weak = new byte[32];
    refusedJwk(
        "small-order", CanonicalizeError.KEY_WEAK, okp(StrictBase64.encodeUrl(weak)).build());
    Arrays.fill(weak, (byte) 0xff);
    refusedJwk(
        "not-canonical", CanonicalizeError.KEY_WEAK, okp(StrictBase64.encodeUrl(weak)).build());
    refusedJwk(
        "other-curve",
        CanonicalizeError.FIELD_VALUE,
        JsonValue.object().put("kty", "OKP").put("crv", "Ed448").put("x", x).build());
    refusedJwk(
        "other-parameter-set",
        CanonicalizeError.FIELD_VALUE,
        JsonValue.object().put("kty", "AKP").put("alg", "ML-DSA-44").put("pub", x).build());
    refusedJwk(
        "missing-crv",
        CanonicalizeError.FIELD_MISSING,
        JsonValue.object().put("kty", "OKP").put("x", x).build());
  }

  private static ObjectBuilder okp(String x) {
    return JsonValue.object().put("kty", "OKP").put("crv", "Ed25519").put("x", x);
  }

  private void accepted(String name, String about, VerifyingKey key) {
    add(
        "jwk",
        name,
        new Vector(
            about,
            "key.enrol",
            JsonValue.object().put("jwk", key.toJwk()).build(),
            object("kid", key.kid())));
  }

  private void refusedJwk(String what, CanonicalizeError code, JsonValue.Obj jwk) {
    add(
        "jwk",
        "refused-" + what,
        Vector.of(
            "refused: " + what, "key.enrol", JsonValue.object().put("jwk", jwk).build(), code));
  }

  private void preAuthEncodings() {
    pae(
        "dsse-spec",
        "the vector of the DSSE protocol",
        "http://example.com/HelloWorld",
        "hello world");
    pae("empty", "empty type and payload", "", "");
    pae("lengths-in-bytes", "lengths count bytes, not characters", "\u00e9", "\ud83d\udd11");
  }

  private void pae(String name, String about, String type, String payload) {
    byte[] bytes = utf8(payload);
    // Written out here, so that the vector does not only say what our code does.
    String pae = "DSSEv1 " + utf8(type).length + " " + type + " " + bytes.length + " " + payload;
    add(
        "pae",
        name,
        new Vector(
            about,
            "dsse.pae",
            JsonValue.object()
                .put("payload_type", type)
                .put("payload_b64", StrictBase64.encode(bytes))
                .build(),
            object("pae_b64", StrictBase64.encode(utf8(pae)))));
  }

  private JsonValue enrol(SigningKey key, String role, String subject, String... more) {
    var jwk = JsonValue.object();
    key.verifyingKey().toJwk().members().forEach(jwk::put);
    jwk.put("writ_role", role)
        .put("writ_subject", subject)
        .put("writ_not_before", "2026-01-01T00:00:00.000Z");
    for (int i = 0; i < more.length; i += 2) {
      jwk.put(more[i], more[i + 1]);
    }
    return jwk.build();
  }

  private JsonValue.Obj input(byte[] envelope, String type, List<JsonValue> keys) {
    return JsonValue.object()
        .put("envelope_b64", StrictBase64.encode(envelope))
        .put("payload_type", type)
        .put("at", "2026-06-01T00:00:00.000Z")
        .put("keys", JsonValue.of(keys))
        .build();
  }

  private final JsonValue.Obj document =
      JsonValue.object().put("about", "a test document, \u00fc").put("n", 1).build();

  private JsonValue enrolledExecutor() {
    return enrol(executor, "executor", "executor-1");
  }

  /** An envelope alone: any known key may sign anything. */
  private static JsonValue.Obj signedBy(byte[] envelope, SigningKey... keys) {
    return JsonValue.object()
        .put("envelope_b64", StrictBase64.encode(envelope))
        .putList("keys", List.of(keys), key -> key.verifyingKey().toJwk())
        .build();
  }

  private static JsonValue.Obj opened(Envelope envelope) {
    return JsonValue.object()
        .putList("kids", envelope.signatures(), s -> JsonValue.of(s.kid()))
        .put("payload_b64", StrictBase64.encode(envelope.payload()))
        .put("payload_type", envelope.payloadType())
        .build();
  }

  /** The forms of an envelope: one is ours. */
  private void envelopes() {
    Envelope good = Envelope.sign(RECEIPT, document, executor);
    add(
        "dsse",
        "one-signature",
        new Vector("one test key", ENVELOPE, signedBy(good.toBytes(), executor), opened(good)));
    add(
        "dsse",
        "as-an-object",
        new Vector(
            "the envelope as a JSON value, whose canonical form is the envelope",
            ENVELOPE,
            JsonValue.object()
                .put("envelope", good.toJson())
                .putList("keys", List.of(executor), key -> key.verifyingKey().toJwk())
                .build(),
            opened(good)));
    Envelope foreign = Envelope.signBytes("text/plain", utf8("not JSON"), executor);
    add(
        "dsse",
        "another-payload-type",
        new Vector(
            "the payload may be anything",
            ENVELOPE,
            signedBy(foreign.toBytes(), executor),
            opened(foreign)));
    Envelope both = Envelope.sign(RECEIPT, document, executor, second);
    add(
        "dsse",
        "two-signatures",
        new Vector(
            "two keys, in the order of their ids",
            ENVELOPE,
            signedBy(both.toBytes(), executor, second),
            opened(both)));
    Envelope hybrid = Envelope.sign(RECEIPT, document, executor, postQuantum);
    add(
        "dsse",
        "ml-dsa-65-beside-ed25519",
        new Vector(
            "two algorithms",
            ENVELOPE,
            signedBy(hybrid.toBytes(), executor, postQuantum),
            opened(hybrid)));
    refusedEnvelope(
        "ml-dsa-65-key-for-ed25519",
        "the algorithm is the key's: an Ed25519 signature under an ML-DSA key's id",
        CanonicalizeError.SIGNATURE_INVALID,
        utf8(text(good).replace(executor.kid(), postQuantum.kid())),
        executor,
        postQuantum);
    refusedEnvelope(
        "other-key-id",
        "a good signature under another enrolled key's id",
        CanonicalizeError.SIGNATURE_INVALID,
        utf8(text(good).replace(executor.kid(), second.kid())),
        executor,
        second);
    refusedEnvelope(
        "unknown-key",
        "nobody enrolled the key",
        CanonicalizeError.KEY_UNKNOWN,
        good.toBytes(),
        second);
    refusedEnvelope(
        "one-of-two-unknown",
        "every signature counts: one of an unknown key spoils the other",
        CanonicalizeError.KEY_UNKNOWN,
        both.toBytes(),
        executor);
    refusedEnvelope(
        "one-of-two-wrong",
        "every signature counts: one that does not hold spoils the other",
        CanonicalizeError.SIGNATURE_INVALID,
        withFirstSignatureOfSecond(both),
        executor,
        second);
    refusedEnvelope(
        "key-twice",
        "a key is there twice",
        CanonicalizeError.KEY_TWICE,
        good.toBytes(),
        executor,
        executor);
    refusedEnvelope(
        "payload-signed-bare",
        "the signature is over the payload alone, without the pre-authentication encoding",
        CanonicalizeError.SIGNATURE_INVALID,
        utf8(
            text(good)
                .replace(
                    StrictBase64.encode(good.signatures().getFirst().bytes()),
                    StrictBase64.encode(executor.sign(good.payload())))),
        executor);
    forms(good);
    refusedEnvelope(
        "moved-to-another-type",
        "the signature covers the payload type",
        CanonicalizeError.SIGNATURE_INVALID,
        utf8(text(good).replace("receipt", "refusal")),
        executor);
    String list = text(both).substring(text(both).indexOf('[') + 1, text(both).indexOf(']'));
    String[] items = list.split("(?<=}),");
    refusedEnvelope(
        "unsorted",
        "the signatures are not in the order of their key ids",
        CanonicalizeError.FIELD_VALUE,
        utf8(text(both).replace(list, items[1] + "," + items[0])),
        executor,
        second);
  }

  private static String text(Envelope envelope) {
    return new String(envelope.toBytes(), StandardCharsets.UTF_8);
  }

  private static byte[] withFirstSignatureOfSecond(Envelope both) {
    return utf8(
        text(both)
            .replace(
                StrictBase64.encode(both.signatures().getFirst().bytes()),
                StrictBase64.encode(both.signatures().getLast().bytes())));
  }

  private void forms(Envelope good) {
    String payload = StrictBase64.encode(good.payload());
    refusedForm("leading-space", CanonicalizeError.NOT_CANONICAL, text -> " " + text);
    refusedForm("trailing-newline", CanonicalizeError.NOT_CANONICAL, text -> text + "\n");
    refusedForm("trailing-bytes", CanonicalizeError.TRAILING_BYTES, text -> text + "{}");
    refusedForm(
        "payload-without-padding",
        CanonicalizeError.FIELD_VALUE,
        text -> text.replace(payload, payload.replace("=", "")));
    refusedForm(
        "payload-with-spare-bits",
        CanonicalizeError.FIELD_VALUE,
        text -> text.replace(payload, withSpareBits(payload)));
    refusedForm(
        "unknown-member",
        CanonicalizeError.FIELD_UNKNOWN,
        text -> text.substring(0, text.length() - 1) + ",\"x\":1}");
    refusedForm(
        "unknown-member-in-signature",
        CanonicalizeError.FIELD_UNKNOWN,
        text -> text.substring(0, text.length() - 3) + ",\"x\":1}]}");
    refusedForm(
        "no-signatures",
        CanonicalizeError.FIELD_VALUE,
        text -> text.substring(0, text.indexOf('[')) + "[]}");
    refusedForm(
        "signature-twice",
        CanonicalizeError.FIELD_VALUE,
        text -> {
          String one = text.substring(text.indexOf('[') + 1, text.indexOf(']'));
          return text.replace(one, one + "," + one);
        });
    refusedForm(
        "payload-changed",
        CanonicalizeError.SIGNATURE_INVALID,
        text -> text.replace(payload, "A" + payload.substring(1)));
  }

  private void refusedEnvelope(
      String what, String about, CanonicalizeError code, byte[] envelope, SigningKey... keys) {
    add("dsse", "refused-" + what, Vector.of(about, ENVELOPE, signedBy(envelope, keys), code));
  }

  private static String withSpareBits(String base64) {
    int last = base64.indexOf('=') - 1;
    if (last < 0) {
      throw new IllegalStateException("the payload needs padding for this vector");
    }
    char[] changed = base64.toCharArray();
    changed[last]++;
    return new String(changed);
  }

  private void refusedForm(String what, CanonicalizeError code, UnaryOperator<String> change) {
    String good = text(Envelope.sign(RECEIPT, document, executor));
    String changed = change.apply(good);
    if (changed.equals(good)) {
      throw new IllegalStateException("changes nothing: " + what);
    }
    refusedEnvelope(what, "refused: " + what, code, utf8(changed), executor);
  }

  /** Who may sign. */
  private void signers() {
    Envelope both = Envelope.sign(RECEIPT, document, executor, second);
    JsonValue same = enrol(second, "executor", "executor-1");
    Envelope hybrid = Envelope.sign(RECEIPT, document, executor, postQuantum);
    JsonValue quantum = enrol(postQuantum, "executor", "executor-1");
    Envelope one = Envelope.sign(RECEIPT, document, executor);
    add(
        "trust",
        "one-signature",
        new Vector(
            "one enrolled key",
            TRUST,
            input(one.toBytes(), RECEIPT, List.of(enrolledExecutor())),
            JsonValue.object()
                .put("id", one.id())
                .put("payload_b64", StrictBase64.encode(one.payload()))
                .putList("signers", List.of(executor.kid()), JsonValue::of)
                .build()));
    add(
        "trust",
        "first-millisecond",
        new Vector(
            "the window's first millisecond is in it",
            TRUST,
            input(
                one.toBytes(),
                RECEIPT,
                List.of(
                    enrol(
                        executor,
                        "executor",
                        "executor-1",
                        "writ_not_after",
                        "2026-06-01T00:00:00.001Z"))),
            JsonValue.object()
                .put("id", one.id())
                .put("payload_b64", StrictBase64.encode(one.payload()))
                .putList("signers", List.of(executor.kid()), JsonValue::of)
                .build()));
    add(
        "trust",
        "ml-dsa-65-beside-ed25519",
        new Vector(
            "one holder with two algorithms; the required one comes first",
            TRUST,
            input(hybrid.toBytes(), RECEIPT, List.of(enrolledExecutor(), quantum)),
            JsonValue.object()
                .put("id", hybrid.id())
                .put("payload_b64", StrictBase64.encode(hybrid.payload()))
                .putList("signers", List.of(executor.kid(), postQuantum.kid()), JsonValue::of)
                .build()));
    required(hybrid, quantum);
    refusedSigner(
        "attestor-for-ours",
        CanonicalizeError.KEY_ROLE,
        one,
        List.of(enrol(executor, "attestor", "executor-1")));
    refusedSigner(
        "two-keys-of-one-algorithm",
        CanonicalizeError.SIGNATURE_TWICE,
        both,
        List.of(enrolledExecutor(), same));

    Envelope good = Envelope.sign(RECEIPT, document, executor);
    refusedSigner("unknown-key", CanonicalizeError.KEY_UNKNOWN, good, List.of(same));
    refusedSigner(
        "one-of-two-unknown", CanonicalizeError.KEY_UNKNOWN, both, List.of(enrolledExecutor()));
    refusedSigner(
        "role", CanonicalizeError.KEY_ROLE, good, List.of(enrol(executor, "guardian", "g")));
    refusedSigner(
        "revoked",
        CanonicalizeError.KEY_REVOKED,
        good,
        List.of(enrol(executor, "executor", "e", "writ_revoked_at", "2026-07-01T00:00:00.000Z")));
    refusedSigner(
        "expired",
        CanonicalizeError.KEY_WINDOW,
        good,
        List.of(enrol(executor, "executor", "e", "writ_not_after", "2026-06-01T00:00:00.000Z")));
    refusedSigner(
        "two-holders",
        CanonicalizeError.SIGNERS_DIFFER,
        both,
        List.of(enrolledExecutor(), enrol(second, "executor", "executor-2")));
    refusedSigner(
        "ml-dsa-65-alone",
        CanonicalizeError.SIGNATURE_MISSING,
        Envelope.sign(RECEIPT, document, postQuantum),
        List.of(quantum));
    refusedSigner(
        "key-twice",
        CanonicalizeError.KEY_TWICE,
        good,
        List.of(enrolledExecutor(), enrol(executor, "guardian", "g")));
    add(
        "trust",
        "refused-another-type",
        Vector.of(
            "refused: the envelope holds another type of document",
            TRUST,
            input(good.toBytes(), PayloadTypes.of("refusal"), List.of(enrolledExecutor())),
            CanonicalizeError.PAYLOAD_TYPE));
  }

  /** What a trust file requires of a role. */
  private void required(Envelope hybrid, JsonValue quantum) {
    signers(
        "ml-dsa-65-required",
        "ML-DSA-65 alone is required, so it comes first",
        hybrid,
        List.of(enrolledExecutor(), quantum),
        List.of("ML-DSA-65"),
        List.of(postQuantum.kid(), executor.kid()));
    SigningKey behind = behind(postQuantum.kid());
    signers(
        "both-required",
        "both are required: Ed25519 comes first, though its key id is the greater",
        Envelope.sign(RECEIPT, document, behind, postQuantum),
        List.of(enrol(behind, "executor", "executor-1"), quantum),
        List.of("Ed25519", "ML-DSA-65"),
        List.of(behind.kid(), postQuantum.kid()));
    add(
        "trust",
        "refused-one-of-two-required",
        Vector.of(
            "refused: one of two required algorithms",
            TRUST,
            requiring(
                Envelope.sign(RECEIPT, document, executor),
                List.of(enrolledExecutor(), quantum),
                List.of("Ed25519", "ML-DSA-65")),
            CanonicalizeError.SIGNATURE_MISSING));
  }

  /** An Ed25519 key whose id comes behind another's. */
  private static SigningKey behind(String kid) {
    byte[] seed = new byte[32];
    while (SigningKey.ed25519(seed).kid().compareTo(kid) < 0) {
      seed[0]++;
    }
    return SigningKey.ed25519(seed);
  }

  private JsonValue.Obj requiring(
      Envelope envelope, List<JsonValue> keys, List<String> algorithms) {
    var input = JsonValue.object();
    input(envelope.toBytes(), RECEIPT, keys).members().forEach(input::put);
    return input
        .put(
            "required_algorithms",
            JsonValue.object().putList("executor", algorithms, JsonValue::of).build())
        .build();
  }

  private void signers(
      String name,
      String about,
      Envelope envelope,
      List<JsonValue> keys,
      List<String> algorithms,
      List<String> signers) {
    add(
        "trust",
        name,
        new Vector(
            about,
            TRUST,
            requiring(envelope, keys, algorithms),
            JsonValue.object()
                .put("id", envelope.id())
                .put("payload_b64", StrictBase64.encode(envelope.payload()))
                .putList("signers", signers, JsonValue::of)
                .build()));
  }

  private void refusedSigner(
      String what, CanonicalizeError code, Envelope envelope, List<JsonValue> keys) {
    add(
        "trust",
        "refused-" + what,
        Vector.of("refused: " + what, TRUST, input(envelope.toBytes(), RECEIPT, keys), code));
  }
}
