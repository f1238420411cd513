package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.SignedNote;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes the attacks of golden-vectors/adversarial that need keys, envelopes and a log alone. */
final class AttackVectors {
  private static final SigningKey EXECUTOR = TestKeys.key("executor");
  private static final SigningKey MALLORY = TestKeys.key("mallory");
  private static final SigningKey QUANTUM = SigningKey.mlDsa65(new byte[32]);
  private static final String RECEIPT = "application/vnd.writ.receipt.v1+json";
  private static final JsonValue DOCUMENT = JsonValue.object().put("about", "a receipt").build();

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    AttackVectors vectors = new AttackVectors();
    vectors.keySubstitution();
    vectors.algorithmConfusion();
    vectors.downgrade();
    vectors.forks();
    return vectors.made;
  }

  private void add(
      String name, long promise, String about, String wanted, String op, ObjectBuilder input) {
    made.add(
        new Made(
            "adversarial/" + name,
            about,
            Optional.of(promise),
            op,
            input.build(),
            List.of(wanted)));
  }

  private static ObjectBuilder jwk(SigningKey key) {
    var jwk = JsonValue.object();
    key.verifyingKey().toJwk().members().forEach(jwk::put);
    return jwk;
  }

  private static ObjectBuilder enrol(ObjectBuilder jwk) {
    return JsonValue.object().put("jwk", jwk.build());
  }

  private static ObjectBuilder okp() {
    return JsonValue.object().put("kty", "OKP").put("crv", "Ed25519");
  }

  private static String x(SigningKey key) {
    return StrictBase64.encodeUrl(key.verifyingKey().bytes());
  }

  private void keySubstitution() {
    add(
        "key-substitution-kid",
        6,
        "a key under another key's id",
        "CAN-050",
        "key.enrol",
        enrol(okp().put("x", x(MALLORY)).put("kid", EXECUTOR.kid())));
    Envelope good = Envelope.sign(RECEIPT, DOCUMENT, EXECUTOR);
    Envelope bad = Envelope.sign(RECEIPT, DOCUMENT, MALLORY);
    add(
        "key-substitution-signature",
        6,
        "a signature of another key under the executor's key id",
        "CAN-060",
        "dsse.verify",
        JsonValue.object()
            .put(
                "envelope_b64",
                StrictBase64.encode(
                    utf8(
                        new String(bad.toBytes(), StandardCharsets.UTF_8)
                            .replace(MALLORY.kid(), EXECUTOR.kid()))))
            .putList("keys", List.of(EXECUTOR, MALLORY), k -> k.verifyingKey().toJwk()));
    add(
        "key-substitution-added-signature",
        6,
        "a second signer who adds himself to a good envelope",
        "CAN-063",
        "trust.verify",
        trust(Envelope.sign(RECEIPT, DOCUMENT, EXECUTOR, MALLORY), RECEIPT));
    add(
        "key-substitution-none",
        6,
        "the true signature, so that the others are not refused for something else",
        "ok",
        "trust.verify",
        trust(good, RECEIPT));
  }

  /** Mallory is an executor too, of another name. */
  private static ObjectBuilder trust(Envelope envelope, String type) {
    return JsonValue.object()
        .put("envelope_b64", StrictBase64.encode(envelope.toBytes()))
        .put("payload_type", type)
        .put("at", Plot.START)
        .putList(
            "keys",
            List.of("executor", "mallory"),
            name -> new TestParty(name, KeyRole.EXECUTOR, Optional.empty()).trusted().toJson());
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void algorithmConfusion() {
    add(
        "algorithm-confusion-none",
        6,
        "there is no algorithm that needs no signature",
        "CAN-021",
        "key.enrol",
        enrol(okp().put("x", x(EXECUTOR)).put("alg", "none")));
    add(
        "algorithm-confusion-symmetric",
        6,
        "a public key enrolled as a shared secret",
        "CAN-023",
        "key.enrol",
        enrol(JsonValue.object().put("kty", "oct").put("k", x(EXECUTOR))));
    add(
        "algorithm-confusion-curve",
        6,
        "a key of X25519, whose bytes look alike",
        "CAN-023",
        "key.enrol",
        enrol(JsonValue.object().put("kty", "OKP").put("crv", "X25519").put("x", x(EXECUTOR))));
    add(
        "algorithm-confusion-bytes",
        6,
        "an ML-DSA-65 key's bytes as an Ed25519 key",
        "CAN-050",
        "key.enrol",
        enrol(okp().put("x", x(QUANTUM))));
    add(
        "algorithm-confusion-two-kinds",
        6,
        "members of two kinds of key in one",
        "CAN-021",
        "key.enrol",
        enrol(jwk(QUANTUM).put("x", x(EXECUTOR))));
    Envelope envelope = Envelope.sign(RECEIPT, DOCUMENT, EXECUTOR);
    add(
        "algorithm-confusion-signature",
        6,
        "the algorithm follows from the key: an Ed25519 signature under an ML-DSA-65 key's id",
        "CAN-060",
        "dsse.verify",
        JsonValue.object()
            .put(
                "envelope_b64",
                StrictBase64.encode(
                    utf8(
                        new String(envelope.toBytes(), StandardCharsets.UTF_8)
                            .replace(EXECUTOR.kid(), QUANTUM.kid()))))
            .putList("keys", List.of(EXECUTOR, QUANTUM), k -> k.verifyingKey().toJwk()));
  }

  private void downgrade() {
    String old = "application/vnd.writ.receipt.v0+json";
    add(
        "downgrade-payload-type",
        6,
        "a rightly signed document of an older version of its type",
        "CAN-061",
        "trust.verify",
        trust(Envelope.sign(old, DOCUMENT, EXECUTOR), RECEIPT));
    add(
        "downgrade-payload-type-asked-for",
        6,
        "no role signs the older version, even where it is asked for",
        "CAN-053",
        "trust.verify",
        trust(Envelope.sign(old, DOCUMENT, EXECUTOR), old));
    add(
        "downgrade-payload-type-in-capitals",
        6,
        "media types compare without case, ours do not",
        "CAN-053",
        "trust.verify",
        trust(
            Envelope.sign("application/vnd.WRIT.receipt.v1+json", DOCUMENT, EXECUTOR),
            "application/vnd.WRIT.receipt.v1+json"));
  }

  private static Digest leaf(int i) {
    return Merkle.leafHash(utf8("event " + i));
  }

  private static Digest root(int from, int to) {
    List<Digest> leaves = new ArrayList<>();
    for (int i = from; i < to; i++) {
      leaves.add(leaf(i));
    }
    return Merkle.root(leaves);
  }

  private static ObjectBuilder consistency(
      long size1, Digest root1, long size2, Digest root2, Digest... proof) {
    return JsonValue.object()
        .put("size1", size1)
        .put("root1_b64", StrictBase64.encode(root1.bytes()))
        .put("size2", size2)
        .put("root2_b64", StrictBase64.encode(root2.bytes()))
        .putList("proof_b64", List.of(proof), d -> JsonValue.of(StrictBase64.encode(d.bytes())));
  }

  private void forks() {
    String op = "merkle.consistency";
    add(
        "fork-one-size",
        7,
        "two checkpoints of one size and two roots",
        "LED-042",
        op,
        consistency(4, root(0, 4), 4, root(1, 5)));
    add(
        "fork-history-rewritten",
        7,
        "a longer log whose first events are others: the proof is true of the new history alone",
        "LED-042",
        op,
        consistency(2, root(0, 2), 4, root(1, 5), root(3, 5)));
    add(
        "truncation-of-the-log",
        7,
        "a log that became shorter, with its root recomputed",
        "LED-040",
        op,
        consistency(4, root(0, 4), 2, root(0, 2), root(2, 4)));
    add(
        "fork-none",
        7,
        "the true continuation, so that the others are not refused for something else",
        "ok",
        op,
        consistency(2, root(0, 2), 4, root(0, 4), root(2, 4)));
    SigningKey log = TestKeys.key("log");
    String origin = TestHome.ORIGIN;
    SignedNote other =
        SignedNote.sign(
            "writ.example/other\n4\n" + StrictBase64.encode(root(0, 4).bytes()) + "\n",
            origin,
            log);
    add(
        "fork-under-another-name",
        7,
        "a checkpoint of another log under the same key and key name",
        "LED-054",
        "checkpoint.verify",
        JsonValue.object()
            .put("note", new String(other.toBytes(), StandardCharsets.UTF_8))
            .put("vkey", new NoteKey(origin, log.verifyingKey()).toString()));
    Checkpoint forged = Checkpoint.sign(origin, 4, root(1, 5), MALLORY);
    add(
        "fork-signed-by-another",
        7,
        "a checkpoint of a fork, signed by a key that is not the log's",
        "LED-053",
        "checkpoint.verify",
        JsonValue.object()
            .put("note", new String(forged.toBytes(), StandardCharsets.UTF_8))
            .put("vkey", new NoteKey(origin, log.verifyingKey()).toString()));
  }
}
