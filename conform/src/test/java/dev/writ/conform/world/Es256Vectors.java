package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPasskey;
import dev.writ.guardian.document.Approval;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.bouncycastle.util.BigIntegers;

/**
 * Makes golden-vectors/es256: an approver's P-256 key signs an approval as spec/signatures.md says,
 * and otherwise in one way each. Where a signature is refused for its form, its equation holds, if
 * the form lets it.
 */
final class Es256Vectors {
  private static final String TYPE = Approval.TYPE;
  private static final Optional<String> TENANT = Optional.of(TestKeys.TENANT);
  private static final BigInteger ORDER = TestPasskey.order();
  private static final BigInteger HALF = ORDER.shiftRight(1);
  private static final SigningKey KEY = TestKeys.es256("rita");
  private static final TestPasskey PASSKEY = new TestPasskey("rita", TestPasskey.SITE);
  private static final byte[] PAYLOAD =
      Jcs.write(JsonValue.object().put("about", "a test document, \u00fc").put("n", 1).build());
  private static final byte[] SIGNED = Envelope.preAuthEncoding(TYPE, PAYLOAD);

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    Es256Vectors vectors = new Es256Vectors();
    vectors.keys();
    vectors.signatures();
    vectors.forms();
    vectors.otherKinds();
    vectors.standing();
    vectors.roles();
    return vectors.made;
  }

  private void add(String name, String about, String wanted, String op, JsonValue.Obj input) {
    made.add(new Made("es256/" + name, about, Optional.empty(), op, input, List.of(wanted)));
  }

  // ---- keys

  private void key(String name, String about, String wanted, JsonValue.Obj jwk) {
    add("key-" + name, about, wanted, "key.enrol", JsonValue.object().put("jwk", jwk).build());
  }

  private static JsonValue.Obj with(JsonValue.Obj object, String member, String value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    members.put(member, JsonValue.of(value));
    return new JsonValue.Obj(members);
  }

  private static JsonValue.Obj without(JsonValue.Obj object, String... names) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    members.keySet().removeAll(List.of(names));
    return new JsonValue.Obj(members);
  }

  private void keys() {
    JsonValue.Obj jwk = KEY.verifyingKey().toJwk();
    JsonValue.Obj bare = without(jwk, "kid");
    String zero = StrictBase64.encodeUrl(new byte[32]);
    byte[] beyond = new byte[32];
    Arrays.fill(beyond, (byte) 0xff);
    key("good", "a P-256 key", "ok", jwk);
    key("without-kid", "its id is computed", "ok", bare);
    key("off-curve", "no point of the curve", "CAN-050", with(bare, "y", zero));
    key(
        "zero",
        "the coordinates that some write for the point at infinity",
        "CAN-050",
        with(with(bare, "x", zero), "y", zero));
    key(
        "coordinate-beyond-p",
        "a coordinate that is not less than p",
        "CAN-050",
        with(bare, "x", StrictBase64.encodeUrl(beyond)));
    key(
        "short-coordinate",
        "a coordinate of 31 bytes",
        "CAN-050",
        with(bare, "y", StrictBase64.encodeUrl(new byte[31])));
    byte[] x = StrictBase64.decodeUrl("x", ((JsonValue.Str) jwk.get("x")).value());
    byte[] wide = new byte[33];
    System.arraycopy(x, 0, wide, 1, 32);
    key(
        "long-coordinate",
        "a coordinate of 33 bytes, the first of them zero",
        "CAN-050",
        with(bare, "x", StrictBase64.encodeUrl(wide)));
    key("without-y", "half a point", "CAN-020", without(bare, "y"));
    key("other-curve", "another curve", "CAN-023", with(bare, "crv", "P-384"));
    key("koblitz", "another curve of 256 bits", "CAN-023", with(bare, "crv", "secp256k1"));
    key("private", "a private key", "CAN-021", with(bare, "d", zero));
    key("with-alg", "a member that nothing needs", "CAN-021", with(bare, "alg", "ES256"));
    key("other-kid", "a kid that is not the thumbprint", "CAN-050", with(bare, "kid", zero));
  }

  // ---- signatures

  private static JsonValue.Obj trusted(SigningKey key) {
    return trusted(key, KeyRole.APPROVER, TENANT).toJson();
  }

  private static TrustedKey trusted(SigningKey key, KeyRole role, Optional<String> tenant) {
    return new TrustedKey(
        key.verifyingKey(),
        role,
        tenant,
        "rita",
        Instant.parse("2026-01-01T00:00:00.000Z"),
        Optional.empty(),
        Optional.empty());
  }

  private static JsonValue.Obj input(Envelope envelope, JsonValue... keys) {
    return JsonValue.object()
        .put("envelope_b64", StrictBase64.encode(envelope.toBytes()))
        .put("payload_type", envelope.payloadType())
        .put("at", "2026-06-01T00:00:00.000Z")
        .put("keys", JsonValue.of(List.of(keys)))
        .build();
  }

  private static JsonValue.Obj requiring(JsonValue.Obj input, String... algorithms) {
    TreeMap<String, JsonValue> members = new TreeMap<>(input.members());
    members.put(
        "required_algorithms",
        JsonValue.object().putList("approver", List.of(algorithms), JsonValue::of).build());
    return new JsonValue.Obj(members);
  }

  private static Envelope envelope(String kid, byte[] signature) {
    return Envelope.of(TYPE, PAYLOAD, List.of(new Envelope.Signature(kid, signature)));
  }

  private void signature(String name, String about, String wanted, SigningKey key, byte[] bytes) {
    add(name, about, wanted, "trust.verify", input(envelope(key.kid(), bytes), trusted(key)));
  }

  private void signature(String name, String about, byte[] bytes) {
    signature(name, about, "CAN-060", KEY, bytes);
  }

  private static byte[] pair(BigInteger r, BigInteger s) {
    byte[] pair = Arrays.copyOf(BigIntegers.asUnsignedByteArray(32, r), 64);
    System.arraycopy(BigIntegers.asUnsignedByteArray(32, s), 0, pair, 32, 32);
    return pair;
  }

  private static BigInteger half(byte[] pair, int from) {
    return new BigInteger(1, Arrays.copyOfRange(pair, from, from + 32));
  }

  /** The key under which this r and s hold over the document, r being that of the nonce 1. */
  private static SigningKey keyOf(BigInteger r, BigInteger s) {
    BigInteger digest = new BigInteger(1, Digest.sha256(SIGNED).bytes());
    BigInteger secret = s.subtract(digest).multiply(r.modInverse(ORDER)).mod(ORDER);
    return SigningKey.es256(BigIntegers.asUnsignedByteArray(32, secret));
  }

  private void signatures() {
    byte[] good = KEY.sign(SIGNED);
    BigInteger r = half(good, 0);
    BigInteger s = half(good, 32);
    BigInteger zero = BigInteger.ZERO;
    signature("good", "a P-256 key signs an approval", "ok", KEY, good);
    signature("s-high", "the other s, which anybody can compute", pair(r, ORDER.subtract(s)));
    byte[] point =
        SigningKey.es256(BigIntegers.asUnsignedByteArray(32, BigInteger.ONE))
            .verifyingKey()
            .bytes();
    BigInteger x = half(point, 1).mod(ORDER);
    SigningKey edge = keyOf(x, HALF);
    signature("s-half", "the greatest s that is taken", "ok", edge, pair(x, HALF));
    signature(
        "s-half-and-one",
        "the least s that is not",
        "CAN-060",
        edge,
        pair(x, HALF.add(BigInteger.ONE)));
    signature("s-one", "the least s", "ok", keyOf(x, BigInteger.ONE), pair(x, BigInteger.ONE));
    signature(
        "s-one-short",
        "the least s without the zeros before it",
        "CAN-060",
        keyOf(x, BigInteger.ONE),
        shortened(pair(x, BigInteger.ONE)));
    signature("s-zero", "s is zero", pair(r, zero));
    signature("r-zero", "r is zero", pair(zero, s));
    signature("both-zero", "r and s are zero", pair(zero, zero));
    signature("r-is-n", "r is the order", pair(ORDER, s));
    signature("s-is-n", "s is the order", pair(r, ORDER));
    signature(
        "r-beyond-n",
        "an r of all ones, beyond the order",
        pair(BigInteger.ONE.shiftLeft(256).subtract(BigInteger.ONE), s));
    byte[] flipped = good.clone();
    flipped[63] ^= 1;
    signature("flipped", "a bit is flipped", flipped);
    signature("swapped", "s before r", pair(s, r));
    signature("of-another", "another's key", TestKeys.es256("roy").sign(SIGNED));
    signature("of-the-payload", "a signature over the payload without its type", KEY.sign(PAYLOAD));
    signature(
        "hashed-twice",
        "a signature over the digest of what is signed",
        KEY.sign(Digest.sha256(SIGNED).bytes()));
  }

  /** r, and the last byte of s. */
  private static byte[] shortened(byte[] pair) {
    byte[] shortened = Arrays.copyOf(pair, 33);
    shortened[32] = pair[63];
    return shortened;
  }

  private void forms() {
    byte[] good = KEY.sign(SIGNED);
    BigInteger r = half(good, 0);
    BigInteger s = half(good, 32);
    signature("der", "r and s in DER, as other protocols have them", TestPasskey.der(r, s));
    signature("empty", "no signature", new byte[0]);
    signature("short", "63 bytes", Arrays.copyOf(good, 63));
    signature("long", "a byte after it", Arrays.copyOf(good, 65));
    byte[] padded = new byte[66];
    System.arraycopy(good, 0, padded, 1, 32);
    System.arraycopy(good, 32, padded, 34, 32);
    signature("wide", "r and s of 33 bytes each", padded);
  }

  // ---- keys of other kinds

  private void otherKinds() {
    SigningKey edwards = TestKeys.key("rita");
    signature("of-ed25519", "64 bytes of Ed25519 under a P-256 key", edwards.sign(SIGNED));
    signature(
        "under-ed25519",
        "64 bytes of P-256 under an Ed25519 key",
        "CAN-060",
        edwards,
        KEY.sign(SIGNED));
    // One private key in both forms: what makes the difference is what is enrolled.
    byte[] secret = Digest.sha256("test passkey rita".getBytes(StandardCharsets.UTF_8)).bytes();
    SigningKey same = SigningKey.es256(secret);
    byte[] assertion =
        PASSKEY.entry(
            PASSKEY.clientData(TestPasskey.challenge(TYPE, PAYLOAD)),
            PASSKEY.authenticatorData(TestPasskey.PERSON));
    signature(
        "passkey-entry",
        "a passkey's entry under its own key enrolled as ES256",
        "CAN-060",
        same,
        assertion);
    JsonValue.Obj passkey = PASSKEY.trusted(KeyRole.APPROVER, TENANT).toJson();
    add(
        "under-a-passkey",
        "an ES256 signature under the same key enrolled as a passkey",
        "CAN-065",
        "trust.verify",
        input(envelope(same.kid(), same.sign(SIGNED)), passkey));
    add(
        "same-key-twice",
        "one key as a passkey and as ES256: one id, enrolled twice",
        "CAN-056",
        "trust.verify",
        input(envelope(same.kid(), same.sign(SIGNED)), passkey, trusted(same)));
  }

  // ---- beside others, and in their place

  private static Envelope signed(SigningKey... keys) {
    return Envelope.signBytes(TYPE, PAYLOAD, keys);
  }

  private void standing(String name, String about, String wanted, JsonValue.Obj input) {
    add(name, about, wanted, "trust.verify", input);
  }

  private void standing() {
    SigningKey edwards = TestKeys.key("rita");
    SigningKey lattice =
        SigningKey.mlDsa65(
            Digest.sha256("test ml-dsa key rita".getBytes(StandardCharsets.UTF_8)).bytes());
    JsonValue.Obj[] keys = {trusted(KEY), trusted(edwards), trusted(lattice)};
    standing(
        "both-where-one-suffices",
        "ES256 stands in place of Ed25519, not beside it",
        "CAN-064",
        input(signed(KEY, edwards), keys));
    standing(
        "both-required",
        "both are required",
        "ok",
        requiring(input(signed(KEY, edwards), keys), "ES256", "Ed25519"));
    standing("required", "ES256 is required", "ok", requiring(input(signed(KEY), keys), "ES256"));
    standing(
        "ed25519-where-es256-is-required",
        "ES256 is required, and an Ed25519 key signed",
        "CAN-062",
        requiring(input(signed(edwards), keys), "ES256"));
    standing(
        "es256-where-ed25519-is-required",
        "trust names Ed25519: ES256 does not do",
        "CAN-062",
        requiring(input(signed(KEY), keys), "Ed25519"));
    standing(
        "beside-ml-dsa",
        "ES256 in place of Ed25519, and ML-DSA-65 besides: ES256 names the holder",
        "ok",
        input(signed(lattice, KEY), keys));
    standing(
        "ml-dsa-required-es256-besides",
        "ML-DSA-65 is required and names the holder",
        "ok",
        requiring(input(signed(lattice, KEY), keys), "ML-DSA-65"));
    standing(
        "unknown-algorithm-required",
        "another curve is required",
        "CAN-023",
        requiring(input(signed(KEY), keys), "ES384"));
    JsonValue.Obj passkey = PASSKEY.trusted(KeyRole.APPROVER, TENANT).toJson();
    Envelope.Signature person =
        new Envelope.Signature(
            PASSKEY.verifyingKey().kid(),
            PASSKEY.entry(
                PASSKEY.clientData(TestPasskey.challenge(TYPE, PAYLOAD)),
                PASSKEY.authenticatorData(TestPasskey.PERSON)));
    List<Envelope.Signature> two = new ArrayList<>(signed(KEY).signatures());
    two.add(person);
    two.sort((a, b) -> a.kid().compareTo(b.kid()));
    Envelope both = Envelope.of(TYPE, PAYLOAD, two);
    standing(
        "beside-a-passkey",
        "each of two in place of Ed25519",
        "CAN-064",
        input(both, trusted(KEY), passkey));
    standing(
        "and-a-passkey-required",
        "both are required",
        "ok",
        requiring(input(both, trusted(KEY), passkey), "ES256", "WebAuthn"));
    standing(
        "revoked",
        "a revoked P-256 key",
        "CAN-055",
        input(signed(KEY), with(trusted(KEY), "writ_revoked_at", "2026-05-01T00:00:00.000Z")));
  }

  // ---- roles

  private void roles() {
    Envelope approval = signed(KEY);
    for (KeyRole role : KeyRole.ALL) {
      if (role == KeyRole.ATTESTOR || role == KeyRole.LOG) {
        continue;
      }
      String type =
          role == KeyRole.SURFACE ? role.payloadTypes().getLast() : role.payloadTypes().getFirst();
      add(
          "role-" + role.text(),
          "a P-256 key of the role " + role.text(),
          "ok",
          "trust.verify",
          input(
              Envelope.signBytes(type, PAYLOAD, KEY),
              trusted(KEY, role, Optional.empty()).toJson()));
    }
    add(
        "role-attestor",
        "a P-256 key of an attestor",
        "ok",
        "trust.verify",
        input(
            Envelope.signBytes("application/vnd.in-toto+json", PAYLOAD, KEY),
            trusted(KEY, KeyRole.ATTESTOR, TENANT).toJson()));
    add(
        "role-log",
        "a P-256 key for the log, whose checkpoints are of Ed25519",
        "CAN-079",
        "trust.verify",
        input(approval, with(trusted(KEY), "writ_role", "log")));
    add(
        "role-that-may-not",
        "an agent's P-256 key under an approval",
        "CAN-053",
        "trust.verify",
        input(approval, with(trusted(KEY), "writ_role", "agent")));
  }
}
