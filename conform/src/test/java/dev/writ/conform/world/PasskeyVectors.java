package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Makes golden-vectors/webauthn: an approver's passkey signs an approval as spec/webauthn.md says,
 * and otherwise in one way each. All else of each vector is right: what the browser and the
 * authenticator state is truly signed, so that only the named rule can refuse it.
 */
final class PasskeyVectors {
  private static final String TYPE = Approval.TYPE;
  private static final Optional<String> TENANT = Optional.of(TestKeys.TENANT);
  private static final TestPasskey RITA = new TestPasskey("rita", TestPasskey.SITE);
  private static final TestPasskey LOCAL = new TestPasskey("rita", "localhost");
  private static final byte[] PAYLOAD =
      Jcs.write(JsonValue.object().put("about", "a test document, \u00fc").put("n", 1).build());

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    PasskeyVectors vectors = new PasskeyVectors();
    vectors.keys();
    vectors.good();
    vectors.statements();
    vectors.authenticators();
    vectors.signatures();
    vectors.forms();
    vectors.holders();
    return vectors.made;
  }

  private void add(String name, String about, String wanted, String op, JsonValue.Obj input) {
    made.add(new Made("webauthn/" + name, about, Optional.empty(), op, input, List.of(wanted)));
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

  private void keys() {
    JsonValue.Obj jwk = RITA.jwk();
    String zero = StrictBase64.encodeUrl(new byte[32]);
    byte[] prime = new byte[32];
    Arrays.fill(prime, (byte) 0xff);
    key("good", "a passkey for a site", "ok", jwk);
    key("localhost", "a passkey for pages of this computer", "ok", LOCAL.jwk());
    key("off-curve", "no point of the curve", "CAN-050", with(jwk, "y", zero));
    key(
        "coordinate-beyond-p",
        "a coordinate that is not less than p",
        "CAN-050",
        with(jwk, "x", StrictBase64.encodeUrl(prime)));
    key(
        "short-coordinate",
        "a coordinate of 31 bytes",
        "CAN-050",
        with(jwk, "x", StrictBase64.encodeUrl(new byte[31])));
    key("other-curve", "another curve", "CAN-023", with(jwk, "crv", "P-384"));
    key("private", "a private key", "CAN-021", with(jwk, "d", zero));
    key("other-kid", "a kid that is not the thumbprint", "CAN-050", with(jwk, "kid", zero));
    key("site-in-capitals", "a domain in capitals", "CAN-023", site("Console.example.org"));
    key("site-with-scheme", "an origin and no domain", "CAN-023", site("https://example.org"));
    key("site-of-one-label", "a domain of one label", "CAN-023", site("org"));
    key("site-with-dot", "a domain with a dot at its end", "CAN-023", site("example.org."));
    key("site-an-address", "an address and no domain", "CAN-023", site("192.0.2.1"));
    key("site-empty", "no domain", "CAN-023", site(""));
  }

  private static JsonValue.Obj site(String site) {
    return with(RITA.jwk(), "writ_rp_id", site);
  }

  // ---- who signs, and how

  private static JsonValue.Obj input(Envelope envelope, JsonValue... keys) {
    return JsonValue.object()
        .put("envelope_b64", StrictBase64.encode(envelope.toBytes()))
        .put("payload_type", TYPE)
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

  private static JsonValue.Obj enrolled(TestPasskey key) {
    return key.trusted(KeyRole.APPROVER, TENANT).toJson();
  }

  private void entry(String name, String about, String wanted, TestPasskey key, byte[] entry) {
    add(
        name,
        about,
        wanted,
        "trust.verify",
        input(key.envelope(TYPE, PAYLOAD, entry), enrolled(key)));
  }

  private static String stated() {
    return RITA.clientData(TestPasskey.challenge(TYPE, PAYLOAD));
  }

  private void statement(String name, String about, String wanted, UnaryOperator<String> change) {
    String statement = change.apply(stated());
    if (statement.equals(stated())) {
      throw new IllegalStateException("changes nothing: " + name);
    }
    entry(
        name,
        about,
        wanted,
        RITA,
        RITA.entry(statement, RITA.authenticatorData(TestPasskey.PERSON)));
  }

  private static UnaryOperator<String> origin(String origin) {
    return text -> text.replace("https://" + TestPasskey.SITE, origin);
  }

  private static UnaryOperator<String> more(String members) {
    return text -> text.substring(0, text.length() - 1) + "," + members + "}";
  }

  private void good() {
    entry("good", "a passkey signs an approval", "ok", RITA, good(RITA));
    entry(
        "localhost",
        "a page of this computer, without TLS",
        "ok",
        LOCAL,
        LOCAL.entry(
            stated().replace("https://" + TestPasskey.SITE, "http://localhost:8443"),
            LOCAL.authenticatorData(TestPasskey.PERSON)));
    statement(
        "port", "a page at another port", "ok", origin("https://" + TestPasskey.SITE + ":8443"));
    statement("subdomain", "a page of a subdomain", "ok", origin("https://eu." + TestPasskey.SITE));
    statement(
        "without-cross-origin",
        "crossOrigin is left out",
        "ok",
        text -> text.replace(",\"crossOrigin\":false", ""));
    statement(
        "client-data-with-more",
        "browsers may state more, which is signed and means nothing here",
        "ok",
        more("\"other_keys_can_be_added_here\":\"do not compare\""));
    authenticator("other-flags", "backed up, and a bit of the future", "ok", 0x3f, new byte[0]);
    authenticator(
        "extensions", "the authenticator states more", "ok", 0x85, new byte[] {(byte) 0xa0});
    byte[] data = RITA.authenticatorData(TestPasskey.PERSON);
    BigInteger[] numbers = RITA.numbers(data, bytes(stated()));
    entry(
        "other-s",
        "the other s of the same signature: authenticators give either",
        "ok",
        RITA,
        signed(TestPasskey.der(numbers[0], TestPasskey.order().subtract(numbers[1]))));
  }

  private static byte[] good(TestPasskey key) {
    return key.entry(
        key.clientData(TestPasskey.challenge(TYPE, PAYLOAD)),
        key.authenticatorData(TestPasskey.PERSON));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void statements() {
    String challenge = TestPasskey.challenge(TYPE, PAYLOAD);
    statement(
        "other-challenge",
        "an assertion over another document",
        "CAN-066",
        text -> text.replace(challenge, TestPasskey.challenge(TYPE, bytes("{}"))));
    statement(
        "challenge-of-the-payload",
        "an assertion over the payload without its type",
        "CAN-066",
        text -> text.replace(challenge, StrictBase64.encodeUrl(Digest.sha256(PAYLOAD).bytes())));
    statement(
        "challenge-padded",
        "a challenge with padding",
        "CAN-066",
        text -> text.replace(challenge, challenge + "="));
    statement(
        "made-at-enrolment",
        "the statement of a key's making",
        "CAN-066",
        text -> text.replace("webauthn.get", "webauthn.create"));
    statement("other-origin", "a page of another site", "CAN-067", origin("https://example.net"));
    statement(
        "origin-that-ends-alike",
        "a site whose name only ends like it",
        "CAN-067",
        origin("https://evil" + TestPasskey.SITE));
    statement("origin-of-the-parent", "the domain above", "CAN-067", origin("https://example.org"));
    statement(
        "origin-without-tls",
        "a page without TLS",
        "CAN-067",
        origin("http://" + TestPasskey.SITE));
    statement(
        "origin-with-path",
        "more than an origin",
        "CAN-067",
        origin("https://evil.example/@" + TestPasskey.SITE));
    statement(
        "origin-with-user",
        "an origin has no user",
        "CAN-067",
        origin("https://a@" + TestPasskey.SITE));
    statement(
        "origin-of-an-app", "an app and no page", "CAN-067", origin("android:apk-key-hash:x"));
    statement(
        "localhost-for-a-site", "this computer for a site", "CAN-067", origin("https://localhost"));
    statement(
        "cross-origin",
        "in a frame of another origin",
        "CAN-067",
        text -> text.replace("\"crossOrigin\":false", "\"crossOrigin\":true"));
    statement(
        "cross-origin-as-text",
        "crossOrigin is no truth value",
        "CAN-067",
        text -> text.replace("\"crossOrigin\":false", "\"crossOrigin\":\"false\""));
    statement(
        "top-origin",
        "the page above is named",
        "CAN-067",
        more("\"topOrigin\":\"https://example.net\""));
    statement(
        "origin-twice", "a member twice", "CAN-065", more("\"origin\":\"https://a.example\""));
    statement(
        "without-origin",
        "no origin",
        "CAN-065",
        text -> text.replace("\"origin\":\"https://" + TestPasskey.SITE + "\",", ""));
    statement(
        "origin-no-text",
        "an origin of numbers",
        "CAN-065",
        text -> text.replace("\"https://" + TestPasskey.SITE + "\"", "1"));
    statement("client-data-no-object", "a list", "CAN-065", text -> "[" + text + "]");
    statement("client-data-no-json", "no JSON", "CAN-065", text -> text + "}");
    statement(
        "client-data-too-large",
        "more than 4096 bytes",
        "CAN-065",
        more("\"more\":\"" + "x".repeat(4096) + "\""));
  }

  private void authenticator(String name, String about, String wanted, int flags, byte[] more) {
    byte[] data = RITA.authenticatorData(flags);
    byte[] longer = Arrays.copyOf(data, data.length + more.length);
    System.arraycopy(more, 0, longer, data.length, more.length);
    entry(name, about, wanted, RITA, RITA.entry(stated(), longer));
  }

  private void authenticators() {
    entry(
        "other-site-signed",
        "the authenticator states another site than the browser",
        "CAN-067",
        RITA,
        RITA.entry(stated(), LOCAL.authenticatorData(TestPasskey.PERSON)));
    authenticator("user-not-verified", "nobody was recognised", "CAN-068", 0x01, new byte[0]);
    authenticator("user-not-present", "nobody was there", "CAN-068", 0x04, new byte[0]);
    authenticator("no-flags", "nobody at all", "CAN-068", 0x00, new byte[0]);
    authenticator("attested", "the data of a key's making", "CAN-065", 0x45, new byte[40]);
    authenticator("longer", "bytes after the counter", "CAN-065", 0x05, new byte[1]);
    authenticator("no-extensions", "extensions that are not there", "CAN-065", 0x85, new byte[0]);
    authenticator("backup-of-none", "a backup of what has none", "CAN-065", 0x15, new byte[0]);
    entry(
        "short-data",
        "the authenticator's data is cut short",
        "CAN-065",
        RITA,
        RITA.entry(stated(), Arrays.copyOf(RITA.authenticatorData(TestPasskey.PERSON), 36)));
    entry("no-data", "no authenticator's data", "CAN-065", RITA, RITA.entry(stated(), new byte[0]));
  }

  private static byte[] signed(byte[] der) {
    return Jcs.write(
        TestPasskey.entry(RITA.authenticatorData(TestPasskey.PERSON), bytes(stated()), der));
  }

  private void der(String name, String about, byte[] der) {
    entry(name, about, "CAN-060", RITA, signed(der));
  }

  private void signatures() {
    byte[] data = RITA.authenticatorData(TestPasskey.PERSON);
    BigInteger[] numbers = RITA.numbers(data, bytes(stated()));
    BigInteger r = numbers[0];
    BigInteger s = numbers[1];
    byte[] good = TestPasskey.der(r, s);
    byte[] flipped = good.clone();
    flipped[flipped.length - 1] ^= 1;
    der("signature-flipped", "a bit is flipped", flipped);
    der("signature-empty", "no signature", new byte[0]);
    der("signature-cut", "cut short", Arrays.copyOf(good, good.length - 1));
    der("signature-longer", "a byte after it", Arrays.copyOf(good, good.length + 1));
    der("signature-zero", "r and s are zero", TestPasskey.der(BigInteger.ZERO, BigInteger.ZERO));
    BigInteger n = TestPasskey.order();
    der("signature-s-beyond-n", "s and the order", TestPasskey.der(r, s.add(n)));
    der("signature-r-is-n", "r is the order", TestPasskey.der(n, s));
    der("signature-negative", "a negative s", TestPasskey.der(r, s.subtract(n)));
    der("signature-of-three", "three numbers", TestPasskey.der(r, s, BigInteger.ONE));
    der("signature-of-one", "one number", TestPasskey.der(r));
    byte[] longLength = new byte[good.length + 1];
    longLength[0] = 0x30;
    longLength[1] = (byte) 0x81;
    System.arraycopy(good, 1, longLength, 2, good.length - 1);
    der("signature-long-length", "a length in the long form: BER and not DER", longLength);
    byte[] wide = new byte[good.length + 1];
    wide[0] = 0x30;
    wide[1] = (byte) (good[1] + 1);
    wide[2] = 2;
    wide[3] = (byte) (good[3] + 1);
    System.arraycopy(good, 4, wide, 5, good.length - 4);
    der("signature-leading-zero", "a number with a zero too many", wide);
    byte[] raw = new byte[64];
    System.arraycopy(fixed(r), 0, raw, 0, 32);
    System.arraycopy(fixed(s), 0, raw, 32, 32);
    der("signature-raw", "r and s without DER", raw);
    TestPasskey roy = new TestPasskey("roy", TestPasskey.SITE);
    BigInteger[] others = roy.numbers(data, bytes(stated()));
    der("signature-of-another", "another's passkey", TestPasskey.der(others));
  }

  private static byte[] fixed(BigInteger number) {
    byte[] bytes = number.toByteArray();
    byte[] fixed = new byte[32];
    int length = Math.min(32, bytes.length);
    System.arraycopy(bytes, bytes.length - length, fixed, 32 - length, length);
    return fixed;
  }

  private void form(String name, String about, UnaryOperator<String> change) {
    String text = new String(good(RITA), StandardCharsets.UTF_8);
    String changed = change.apply(text);
    if (changed.equals(text)) {
      throw new IllegalStateException("changes nothing: " + name);
    }
    entry(name, about, "CAN-065", RITA, bytes(changed));
  }

  private void forms() {
    form(
        "entry-with-more",
        "a member more, which nobody signed",
        text -> text.substring(0, text.length() - 1) + ",\"user_handle\":\"cml0YQ\"}");
    form(
        "entry-with-less",
        "no client_data",
        text -> text.replaceFirst("\"client_data\":\"[^\"]*\",", ""));
    form("entry-not-canonical", "a space", text -> text.replace("{", "{ "));
    form(
        "entry-padded",
        "base64 with padding",
        text -> text.replaceFirst("\"client_data\":\"([^\"]*)\"", "\"client_data\":\"$1=\""));
    form(
        "entry-no-text",
        "a number",
        text -> text.replaceFirst("\"signature\":\"[^\"]*\"", "\"signature\":1"));
    form("entry-no-json", "a signature alone", _ -> "MEUCIQ");
    entry(
        "entry-of-ed25519",
        "64 bytes, as Ed25519 has them",
        "CAN-065",
        RITA,
        TestKeys.key("rita").sign(Envelope.preAuthEncoding(TYPE, PAYLOAD)));
    // The other way round: what a passkey gives, under the id of an Ed25519 key.
    TrustedKey rita = TestKeys.trusted("rita", KeyRole.APPROVER, TENANT);
    add(
        "entry-under-ed25519",
        "a passkey's entry under the id of an Ed25519 key",
        "CAN-060",
        "trust.verify",
        input(
            Envelope.of(TYPE, PAYLOAD, List.of(new Envelope.Signature(rita.kid(), good(RITA)))),
            rita.toJson()));
  }

  // ---- whose it is

  private void holders() {
    TrustedKey rita = TestKeys.trusted("rita", KeyRole.APPROVER, TENANT);
    Envelope passkey = RITA.envelope(TYPE, PAYLOAD, good(RITA));
    Envelope plain = Envelope.signBytes(TYPE, PAYLOAD, TestKeys.key("rita"));
    List<Envelope.Signature> two = new ArrayList<>();
    two.addAll(passkey.signatures());
    two.addAll(plain.signatures());
    two.sort((a, b) -> a.kid().compareTo(b.kid()));
    Envelope both = Envelope.of(TYPE, PAYLOAD, two);
    add(
        "ed25519-beside-an-enrolled-passkey",
        "an Ed25519 key of one who also has a passkey",
        "ok",
        "trust.verify",
        input(plain, enrolled(RITA), rita.toJson()));
    add(
        "both-where-one-suffices",
        "a passkey stands in place of an Ed25519 key, not beside it",
        "CAN-064",
        "trust.verify",
        input(both, enrolled(RITA), rita.toJson()));
    add(
        "both-required",
        "both are required",
        "ok",
        "trust.verify",
        requiring(input(both, enrolled(RITA), rita.toJson()), "Ed25519", "WebAuthn"));
    add(
        "passkey-required",
        "a passkey is required",
        "ok",
        "trust.verify",
        requiring(input(passkey, enrolled(RITA)), "WebAuthn"));
    add(
        "ed25519-where-a-passkey-is-required",
        "a passkey is required, and an Ed25519 key signed",
        "CAN-062",
        "trust.verify",
        requiring(input(plain, rita.toJson()), "WebAuthn"));
    add(
        "passkey-where-ed25519-is-required",
        "trust names Ed25519: a passkey does not do",
        "CAN-062",
        "trust.verify",
        requiring(input(passkey, enrolled(RITA)), "Ed25519"));
    JsonValue.Obj agent = with(enrolled(RITA), "writ_role", "agent");
    add("role-of-programs", "an agent's passkey", "CAN-069", "trust.verify", input(passkey, agent));
    add(
        "enrolled-for-another-site",
        "the key is enrolled for another site",
        "CAN-067",
        "trust.verify",
        input(passkey, with(enrolled(RITA), "writ_rp_id", "example.net")));
    add(
        "revoked",
        "a revoked passkey",
        "CAN-055",
        "trust.verify",
        input(passkey, with(enrolled(RITA), "writ_revoked_at", "2026-05-01T00:00:00.000Z")));
  }
}
