package dev.writ.conform.world;

import static dev.writ.conform.world.Made.inline;
import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.kid;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestPasskey;
import dev.writ.verify.bundle.Remade;
import dev.writ.verify.bundle.Unpacked;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.bouncycastle.util.BigIntegers;

/**
 * The part of golden-vectors/bundle in which every document of a run is signed by ES256: by the
 * operator, the policy owner, the guardian, the executor and the agent. The log's key is one of
 * Ed25519, as always.
 */
final class Es256BundleVectors {
  private static final String WHOLE = "es256.writ";
  private static final String DOCUMENTS = "documents/";
  private static final List<TestParty> SIGNERS =
      Plot.PARTIES.stream()
          .filter(party ->
              List.of("operator", "owner", "guardian", "executor", "alice").contains(party.name()))
          .toList();
  private static final TestParty LOG =
      Plot.PARTIES.stream().filter(party -> party.role() == KeyRole.LOG).findFirst().orElseThrow();

  private static final class Holder {
    static final Es256BundleVectors MADE = new Es256BundleVectors();
  }

  private final TreeMap<String, SigningKey> keys = new TreeMap<>();
  private final List<Made> made = new ArrayList<>();
  private final Remade remade;
  private final byte[] whole;

  private Es256BundleVectors() {
    SIGNERS.forEach(party -> keys.put(kid(party.name()), TestKeys.key(party.name())));
    SIGNERS.forEach(party -> keys.put(key(party).kid(), key(party)));
    keys.put(kid(LOG.name()), TestKeys.key(LOG.name()));
    this.remade = Remade.of(ShortRuns.SERVED.get(), keys::get, TestKeys.key(LOG.name()));
    for (TestParty party : SIGNERS) {
      Digest enrolment = body(remade, EventKind.KEY_ENROLLED, kid(party.name()));
      remade.change(enrolment, set("detail", trusted(party).toJson()));
      remade.replace(kid(party.name()), key(party).kid());
    }
    this.whole = remade.toBytes();
    pins();
    signatures();
  }

  static List<Made> all() {
    return Holder.MADE.made;
  }

  /** The bundle that these name, by its file name. */
  static SortedMap<String, byte[]> files() {
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put("bundle/" + WHOLE, Holder.MADE.whole);
    return files;
  }

  private static SigningKey key(TestParty party) {
    return TestKeys.es256(party.name());
  }

  private static TrustedKey trusted(TestParty party) {
    TrustedKey other = party.trusted();
    return new TrustedKey(
        key(party).verifyingKey(),
        other.role(),
        other.tenant(),
        other.subject(),
        other.notBefore(),
        other.notAfter(),
        other.revokedAt());
  }

  private void add(String name, String about, String wanted, ObjectBuilder input) {
    made.add(Made.bundle("es256-" + name, about, wanted, input));
  }

  /** Pinned as it is enrolled, but for one party. */
  private static ObjectBuilder pinned(String name, UnaryOperator<TrustedKey> otherwise) {
    List<TrustedKey> pins = new ArrayList<>(List.of(LOG.trusted()));
    SIGNERS.forEach(party ->
        pins.add(party.name().equals(name) ? otherwise.apply(trusted(party)) : trusted(party)));
    return JsonValue.object().put("bundle_file", WHOLE).putList("keys", pins, TrustedKey::toJson);
  }

  private static ObjectBuilder pinned() {
    return pinned("", key -> key);
  }

  private static UnaryOperator<TrustedKey> as(KeyRole role) {
    return key ->
        new TrustedKey(
            key.key(),
            role,
            key.tenant(),
            key.subject(),
            key.notBefore(),
            key.notAfter(),
            key.revokedAt());
  }

  private void pins() {
    add(
        "every-document",
        "every document of the run is signed by ES256",
        "ok",
        JsonValue.object().put("bundle_file", WHOLE));
    add("pinned", "the keys of ES256 are pinned as they are enrolled", "ok", pinned());
    add(
        "pinned-otherwise-operator",
        "the operator's key of Ed25519 is pinned, and that of ES256 signed",
        "RPL-041",
        pinned(
            "operator",
            _ ->
                SIGNERS.stream()
                    .filter(party -> party.name().equals("operator"))
                    .findFirst()
                    .orElseThrow()
                    .trusted()));
    add(
        "pinned-guardian-as-executor",
        "the guardian's key of ES256 is pinned as an executor's",
        "RPL-080",
        pinned("guardian", as(KeyRole.EXECUTOR)));
    add(
        "pinned-executor-as-guardian",
        "the executor's key of ES256 is pinned as a guardian's",
        "RPL-080",
        pinned("executor", as(KeyRole.GUARDIAN)));
    for (String role : List.of("guardian", "executor", "operator")) {
      add(
          "required-of-" + role,
          "the documents of a role have to be signed by ES256, and are: " + role,
          "ok",
          pinned().put("required_algorithms", Plot.json("{\"" + role + "\":[\"ES256\"]}")));
      add(
          "required-otherwise-of-" + role,
          "the documents of a role have to be signed by Ed25519, too: " + role,
          "RPL-083",
          pinned()
              .put("required_algorithms", Plot.json("{\"" + role + "\":[\"Ed25519\",\"ES256\"]}")));
    }
  }

  // ---- one signature that is none

  private byte[] with(Digest document, UnaryOperator<byte[]> change) {
    TreeMap<String, byte[]> entries = Unpacked.entries(whole);
    Digest now = named(document);
    entries.computeIfPresent(
        DOCUMENTS + now.hex() + ".json",
        (_, envelope) -> {
          JsonValue.Obj old = (JsonValue.Obj) Jcs.parse(envelope);
          JsonValue.Obj signature =
              (JsonValue.Obj) ((JsonValue.Arr) old.get("signatures")).items().getFirst();
          byte[] sig = StrictBase64.decode("sig", ((JsonValue.Str) signature.get("sig")).value());
          JsonValue changed = set("sig", StrictBase64.encode(change.apply(sig))).apply(signature);
          return Jcs.write(set("signatures", JsonValue.of(List.of(changed))).apply(old));
        });
    return Unpacked.pack(entries);
  }

  /** The id that a document of the bundle has, by that of what it was made from. */
  private Digest named(Digest document) {
    List<Digest> there = new ArrayList<>();
    Remade now = Remade.of(whole, keys::get, TestKeys.key(LOG.name()));
    for (int i = 0; i < remade.steps.size(); i++) {
      if (remade.steps.get(i).body.equals(document)) {
        there.add(now.steps.get(i).body);
      }
    }
    return there.getFirst();
  }

  private static byte[] spoiled(byte[] signature) {
    byte[] other = signature.clone();
    other[other.length - 1] ^= 1;
    return other;
  }

  /** The other value of s, for which the equation holds, too. */
  private static byte[] high(byte[] signature) {
    BigInteger s = new BigInteger(1, Arrays.copyOfRange(signature, 32, 64));
    byte[] other = signature.clone();
    System.arraycopy(
        BigIntegers.asUnsignedByteArray(32, TestPasskey.order().subtract(s)), 0, other, 32, 32);
    return other;
  }

  private void signatures() {
    one("key", EventKind.KEY_ENROLLED, "the operator's of an enrolment", "CAN-060");
    one("policy", EventKind.POLICY_ACTIVATED, "the policy owner's of the policy", "CAN-060");
    one("request", EventKind.REQUEST_RECEIVED, "the agent's of a request", "EXE-951");
    one("decision", EventKind.DECISION_MADE, "the guardian's of a decision", "EXE-951");
    one("receipt", EventKind.RECEIPT_SIGNED, "the executor's of a receipt", "EXE-951");
  }

  private void one(String name, String kind, String whose, String wanted) {
    Digest document = body(remade, kind);
    add(
        name + "-spoiled",
        "one signature is none: " + whose,
        wanted,
        inline(with(document, Es256BundleVectors::spoiled)));
    add(
        name + "-high-s",
        "one signature has the greater value of s: " + whose,
        wanted,
        inline(with(document, Es256BundleVectors::high)));
  }
}
