package dev.writ.conform.world;

import static dev.writ.conform.world.Made.inline;
import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.from;
import static dev.writ.conform.world.TrustVectors.kid;
import static dev.writ.conform.world.TrustVectors.place;
import static dev.writ.conform.world.TrustVectors.revoked;
import static dev.writ.conform.world.TrustVectors.saying;
import static dev.writ.conform.world.TrustVectors.set;
import static dev.writ.conform.world.TrustVectors.until;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestPasskey;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.NodeSource;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.Remade;
import dev.writ.verify.bundle.Unpacked;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The part of golden-vectors/bundle on small runs of an installation with two log keys: who signed
 * a checkpoint, which kept checkpoints fit, and what pins say where time goes back, where a key
 * signs in the moment after its revocation, and where some documents have two algorithms.
 */
final class LogKeyVectors {
  private static final List<TestParty> PARTIES =
      Stream.concat(
              Plot.PARTIES.stream()
                  .filter(p ->
                      List.of("operator", "owner", "guardian", "executor", "log", "alice", "bob")
                          .contains(p.name())),
              Stream.of(new TestParty("log2", KeyRole.LOG, Optional.empty())))
          .toList();

  private static final String CHECKPOINT = "log/checkpoint.txt";
  private static final String CONSISTENCY = "log/consistency.json";

  /** How many of its leaves an earlier checkpoint covers, and how many more a later one. */
  private static final int EARLIER = 5;

  private static final int MORE = 3;

  private static final String TWO_LOGS = "two-logs.writ";
  private static final String FROM_EARLIER = "consistent-with-earlier.writ";
  private static final String TO_LATER = "consistent-with-later.writ";
  private static final String LATE = "late-changes.writ";
  private static final String IN_FLIGHT = "revoked-in-flight.writ";
  private static final String TWO_ALGORITHMS = "two-algorithms.writ";
  private static final String PASSKEY = "passkey.writ";

  private static final class Holder {
    static final LogKeyVectors MADE = new LogKeyVectors();
  }

  private final TreeMap<String, SigningKey> keys = new TreeMap<>();
  private final TreeMap<String, byte[]> files = new TreeMap<>();
  private final TreeMap<String, String> keptNotes = new TreeMap<>();
  private final List<Made> made = new ArrayList<>();
  private final byte[] closed = record();
  private final Checkpoint checkpoint = Checkpoint.parse(Unpacked.entries(closed).get(CHECKPOINT));
  private final List<Digest> leaves = leaves();

  private LogKeyVectors() {
    PARTIES.forEach(p -> keys.put(kid(p.name()), TestKeys.key(p.name())));
    files.put(TWO_LOGS, closed);
    kept();
    consistency();
    checkpoints();
    late();
    inFlight();
    algorithms();
    passkey();
  }

  static List<Made> all() {
    return Holder.MADE.made;
  }

  /** The bundles that these name, by their file names. */
  static SortedMap<String, byte[]> files() {
    TreeMap<String, byte[]> files = new TreeMap<>();
    Holder.MADE.files.forEach((name, bytes) -> files.put("bundle/" + name, bytes));
    return files;
  }

  /**
   * The checkpoint of {@link #files} that is {@code earlier} or {@code later} than the bundle's.
   */
  static Checkpoint kept(String when) {
    return Checkpoint.parse(Holder.MADE.keptNotes.get(when).getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] record() {
    TestTools tools = BundleVectors.tools();
    try (TestHome home =
        Scenario.setup(PARTIES, Plot.policy().toJson(), tools, Plot.START).found()) {
      BundleVectors.submit(home, ask("alice", "calc", "n-1"), "alice");
      BundleVectors.close(home, "run-1");
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }

  private Remade remade() {
    return Remade.of(closed, keys::get, TestKeys.key("log"));
  }

  private List<Digest> leaves() {
    return remade().steps.stream().map(step -> Merkle.leafHash(step.was.toBytes())).toList();
  }

  // ---- the vectors

  private void add(String name, String about, String wanted, ObjectBuilder input) {
    made.add(Made.bundle(name, about, wanted, input));
  }

  private static ObjectBuilder file(String name) {
    return JsonValue.object().put("bundle_file", name);
  }

  /** Everybody's key is pinned as it is enrolled, one of them otherwise. */
  static ObjectBuilder pinned(ObjectBuilder input, String name, UnaryOperator<TrustedKey> change) {
    return input.putList(
        "keys",
        PARTIES,
        p -> (p.name().equals(name) ? change.apply(p.trusted()) : p.trusted()).toJson());
  }

  private byte[] changed(Consumer<Remade> change) {
    Remade remade = remade();
    change.accept(remade);
    return remade.toBytes();
  }

  private byte[] with(String entry, Function<byte[], byte[]> change) {
    TreeMap<String, byte[]> entries = Unpacked.entries(closed);
    entries.put(entry, change.apply(entries.get(entry)));
    return Unpacked.pack(entries);
  }

  // ---- kept checkpoints

  private String note(long size, Digest root, String who) {
    return note(checkpoint.origin(), size, root, TestKeys.key(who));
  }

  private static String note(String origin, long size, Digest root, SigningKey key) {
    return new String(Checkpoint.sign(origin, size, root, key).toBytes(), StandardCharsets.UTF_8);
  }

  private String same(String who) {
    return note(checkpoint.size(), checkpoint.root(), who);
  }

  private void kept() {
    add(
        "kept-of-another-log-key",
        "another key of the log signed the kept checkpoint",
        "ok",
        pinned(file(TWO_LOGS), "", key -> key).put("checkpoint", same("log2")));
    add(
        "kept-of-a-log-key-pinned-as-revoked",
        "the key that signed the kept checkpoint alone is pinned as revoked",
        "RPL-081",
        pinned(file(TWO_LOGS), "log2", revoked(Plot.START)).put("checkpoint", same("log2")));
    add(
        "kept-of-a-log-key-that-ended",
        "nothing says when a kept checkpoint was signed, so no pinned window is held",
        "ok",
        pinned(file(TWO_LOGS), "log2", until(Plot.START.minusSeconds(1)))
            .put("checkpoint", same("log2")));
    add(
        "kept-of-nobody",
        "a key that is not enrolled signed the kept checkpoint",
        "RPL-040",
        file(TWO_LOGS).put("checkpoint", same("mallory")));
    add(
        "kept-of-another-origin",
        "the kept checkpoint is of another log",
        "LED-054",
        file(TWO_LOGS)
            .put(
                "checkpoint",
                note("other.example", checkpoint.size(), checkpoint.root(), TestKeys.key("log"))));
    add(
        "kept-of-another-root",
        "the kept checkpoint has the size and another root",
        "RPL-042",
        file(TWO_LOGS).put("checkpoint", note(checkpoint.size(), Digest.sha256(), "log")));
    add(
        "kept-not-signed-well",
        "the signature of the kept checkpoint does not verify",
        "RPL-040",
        file(TWO_LOGS).put("checkpoint", new String(spoiled(same("log")), StandardCharsets.UTF_8)));
  }

  private byte[] proof(long size1, long size2, List<Digest> path) {
    return Jcs.write(
        JsonValue.object()
            .putList("path", path, d -> JsonValue.of(d.toString()))
            .put("size1", size1)
            .put("size2", size2)
            .build());
  }

  private static List<Digest> path(List<Digest> leaves, long size1, long size2) {
    return Merkle.consistencyProof(NodeSource.ofLeaves(leaves), size1, size2).hashes();
  }

  private void consistency() {
    long size = checkpoint.size();
    List<Digest> later = new ArrayList<>(leaves);
    for (int i = 0; i < MORE; i++) {
      later.add(Merkle.leafHash(new byte[] {(byte) i}));
    }
    Digest before = Merkle.root(leaves.subList(0, EARLIER));
    Digest after = Merkle.root(later);
    files.put(
        FROM_EARLIER, with(CONSISTENCY, _ -> proof(EARLIER, size, path(leaves, EARLIER, size))));
    files.put(
        TO_LATER, with(CONSISTENCY, _ -> proof(size, size + MORE, path(later, size, size + MORE))));
    history("earlier", FROM_EARLIER, EARLIER, before, EARLIER + 1);
    history("later", TO_LATER, size + MORE, after, size + MORE - 1);
    add(
        "kept-later-beside-a-proof-from-earlier",
        "the proof is of an earlier size, and the kept checkpoint later: it is not verified",
        "ok",
        file(FROM_EARLIER).put("checkpoint", note(size + MORE, after, "log")));
    add(
        "kept-earlier-beside-a-proof-to-later",
        "the proof is to a later size, and the kept checkpoint earlier: it is not verified",
        "ok",
        file(TO_LATER).put("checkpoint", note(EARLIER, before, "log")));
    form("of-one-size", "a proof from a size to itself", size, size, List.of());
    form("of-other-sizes", "a proof between two other sizes", 2, 4, path(leaves, 2, 4));
    form(
        "without-hashes",
        "a proof of fewer hashes than one between these sizes has",
        EARLIER,
        size,
        List.of());
    add(
        "consistency-with-more",
        "the proof of consistency says something more",
        "CAN-021",
        inline(
            with(
                CONSISTENCY,
                _ ->
                    Jcs.write(
                        set("more", "x")
                            .apply(
                                (JsonValue.Obj)
                                    Jcs.parse(
                                        proof(EARLIER, size, path(leaves, EARLIER, size))))))));
  }

  private void history(String when, String bundle, long size, Digest root, long other) {
    keptNotes.put(when, note(size, root, "log"));
    add(
        "kept-" + when,
        "a kept checkpoint of a size " + when + ", and the proof between",
        "ok",
        file(bundle).put("checkpoint", note(size, root, "log")));
    add(
        "kept-" + when + "-of-another-history",
        "a kept checkpoint of a size " + when + ", to which the proof does not lead",
        "RPL-042",
        file(bundle).put("checkpoint", note(size, Digest.sha256(), "log")));
    add(
        "kept-" + when + "-without-its-proof",
        "the proof is of another size than the kept checkpoint: that one is not verified",
        "ok",
        file(bundle).put("checkpoint", note(other, Digest.sha256(), "log")));
  }

  private void form(String name, String about, long size1, long size2, List<Digest> path) {
    add(
        "consistency-" + name,
        about,
        "RPL-084",
        inline(with(CONSISTENCY, _ -> proof(size1, size2, path))));
  }

  // ---- who signed the checkpoint

  private static String line(String note) {
    return note.substring(note.indexOf("\n\n") + 2);
  }

  /** With another last byte of the signature. */
  private static byte[] spoiled(String note) {
    String line = line(note);
    int space = line.lastIndexOf(' ');
    byte[] signature = StrictBase64.decode("note", line.substring(space + 1).strip());
    signature[signature.length - 1] ^= 1;
    return (note.substring(0, note.length() - line.length())
            + line.substring(0, space + 1)
            + StrictBase64.encode(signature)
            + "\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  private void checkpoints() {
    boolean inOrder = kid("log").compareTo(kid("log2")) < 0;
    String least = inOrder ? "log" : "log2";
    String greater = inOrder ? "log2" : "log";
    add(
        "log-keys-both",
        "two log keys signed the checkpoint, and that with the least id is pinned as ended",
        "RPL-082",
        pinned(
            inline(
                with(
                    CHECKPOINT,
                    _ -> (same(greater) + line(same(least))).getBytes(StandardCharsets.UTF_8))),
            least,
            until(Plot.START.minusSeconds(1))));
    add(
        "log-keys-one-signed-badly",
        "two log keys signed the checkpoint, and the signature of that with the least id is none",
        "ok",
        inline(
            with(
                CHECKPOINT,
                _ ->
                    (new String(spoiled(same(least)), StandardCharsets.UTF_8) + line(same(greater)))
                        .getBytes(StandardCharsets.UTF_8))));
    add(
        "log-key-signed-badly",
        "the log's signature on the checkpoint does not verify",
        "RPL-040",
        inline(with(CHECKPOINT, _ -> spoiled(same("log")))));
    Digest request = body(remade(), EventKind.REQUEST_RECEIVED);
    add(
        "signature-changed",
        "the signature of a request does not verify",
        "EXE-951",
        inline(with("documents/" + request.hex() + ".json", LogKeyVectors::signedBadly)));
    SigningKey quantum = before(kid("log"));
    add(
        "log-key-of-another-algorithm",
        "the checkpoint is signed by an enrolled log key of ML-DSA-65 alone",
        "RPL-040",
        inline(quantum(quantum, false)));
    add(
        "log-key-of-another-algorithm-beside",
        "a log key of ML-DSA-65, of the least id, signed beside the one that counts",
        "ok",
        inline(quantum(quantum, true)));
  }

  /** The second log key is one of ML-DSA-65; it signs the checkpoint, perhaps beside another. */
  private byte[] quantum(SigningKey key, boolean beside) {
    TreeMap<String, byte[]> entries =
        Unpacked.entries(
            changed(remade ->
                remade.change(
                    body(remade, EventKind.KEY_ENROLLED, kid("log2")),
                    set("detail", enrolment(key, "log2")))));
    String note = new String(entries.get(CHECKPOINT), StandardCharsets.UTF_8);
    String text = note.substring(0, note.length() - line(note).length() - 1);
    byte[] head = (checkpoint.origin() + "\n\u0001").getBytes(StandardCharsets.UTF_8);
    byte[] id = Digest.sha256(head, key.verifyingKey().bytes()).bytes();
    byte[] signature = key.sign(text.getBytes(StandardCharsets.UTF_8));
    byte[] both = Arrays.copyOf(id, 4 + signature.length);
    System.arraycopy(signature, 0, both, 4, signature.length);
    String signed = "\u2014 " + checkpoint.origin() + " " + StrictBase64.encode(both) + "\n";
    entries.put(
        CHECKPOINT,
        (text + "\n" + signed + (beside ? line(note) : "")).getBytes(StandardCharsets.UTF_8));
    return Unpacked.pack(entries);
  }

  /** With another last byte of its one signature. */
  private static byte[] signedBadly(byte[] envelope) {
    JsonValue.Obj old = (JsonValue.Obj) Jcs.parse(envelope);
    JsonValue.Obj signature =
        (JsonValue.Obj) ((JsonValue.Arr) old.get("signatures")).items().get(0);
    byte[] bytes = StrictBase64.decode("sig", ((JsonValue.Str) signature.get("sig")).value());
    bytes[bytes.length - 1] ^= 1;
    JsonValue changed = set("sig", StrictBase64.encode(bytes)).apply(signature);
    return Jcs.write(set("signatures", JsonValue.of(List.of(changed))).apply(old));
  }

  /** One whose id comes before another's. */
  private static SigningKey before(String kid) {
    for (int i = 0; ; i++) {
      SigningKey key = quantum("log " + i);
      if (key.kid().compareTo(kid) < 0) {
        return key;
      }
    }
  }

  private static SigningKey quantum(String name) {
    return SigningKey.mlDsa65(
        Digest.sha256(("test key of ML-DSA-65 " + name).getBytes(StandardCharsets.UTF_8)).bytes());
  }

  private static JsonValue.Obj enrolment(SigningKey key, String name) {
    return enrolled(key, name).toJson();
  }

  private static TrustedKey enrolled(SigningKey key, String name) {
    TrustedKey party =
        PARTIES.stream().filter(p -> p.name().equals(name)).findFirst().orElseThrow().trusted();
    return new TrustedKey(
        key.verifyingKey(),
        party.role(),
        party.tenant(),
        party.subject(),
        party.notBefore(),
        party.notAfter(),
        Optional.empty());
  }

  // ---- pins

  /** A change by the operator, brought in before the event at a place. */
  private static void bring(
      Remade remade, int at, Instant time, String kind, JsonValue.Obj detail) {
    JsonValue change = new SystemChange(kind, detail, time).toJson();
    remade.bringSystemEvent(
        at, time, kind, remade.bring(SystemChange.TYPE, change, List.of(kid("operator"))));
  }

  private static JsonValue.Obj revocation(String name) {
    return JsonValue.object().put("kid", kid(name)).build();
  }

  private Instant end() {
    return remade().steps.getLast().at;
  }

  private void pins(
      String name,
      String about,
      String wanted,
      String bundle,
      String who,
      UnaryOperator<TrustedKey> change) {
    add("pins-" + name, about, wanted, pinned(file(bundle), who, change));
  }

  /** The operator signs for three events behind the run, whose times go back. */
  private void late() {
    Instant first = Plot.START.minus(Duration.ofHours(1));
    Instant last = end().plusSeconds(60);
    files.put(
        LATE,
        changed(remade -> {
          bring(remade, remade.steps.size(), last, EventKind.KEY_REVOKED, revocation("bob"));
          bring(remade, remade.steps.size(), first, EventKind.KEY_REVOKED, revocation("log2"));
          bring(
              remade,
              remade.steps.size(),
              end(),
              EventKind.TOOL_REVOKED,
              Plot.json("{\"tool\":\"calc\",\"version\":\"1.0.0\"}"));
        }));
    pins("late-begins-then", "the earliest is not the first", "ok", LATE, "operator", from(first));
    pins(
        "late-begins-a-moment-later",
        "an event further on in the log is before the pinned window",
        "RPL-082",
        LATE,
        "operator",
        from(first.plusMillis(1)));
    pins(
        "late-ends-a-moment-later",
        "the latest is not the last",
        "ok",
        LATE,
        "operator",
        until(last.plusMillis(1)));
    pins(
        "late-ends-then",
        "an event further up in the log is behind the pinned window",
        "RPL-082",
        LATE,
        "operator",
        until(last));
  }

  /** The guardian's key is revoked, and what it was about to sign follows. */
  private void inFlight() {
    int at = place(remade(), EventKind.DECISION_MADE, saying());
    Instant shown = remade().steps.get(at).at.minusSeconds(30);
    files.put(
        IN_FLIGHT,
        changed(remade -> bring(remade, at, shown, EventKind.KEY_REVOKED, revocation("guardian"))));
    pins(
        "in-flight-then",
        "what was in flight when the key was revoked counts, as the log shows it",
        "ok",
        IN_FLIGHT,
        "guardian",
        revoked(shown));
    pins(
        "in-flight-earlier",
        "the log shows the revocation before the pins do, and what was in flight lies behind both",
        "ok",
        IN_FLIGHT,
        "guardian",
        revoked(shown.plusMillis(1)));
    pins(
        "in-flight-later",
        "the log shows the revocation behind the pins, and what was in flight lies behind both",
        "RPL-081",
        IN_FLIGHT,
        "guardian",
        revoked(shown.minusMillis(1)));
  }

  /**
   * The policy is signed with two algorithms, the first of two documents of the guardian, and the
   * last of two of the executor.
   */
  private void algorithms() {
    List<String> names = List.of("owner", "guardian", "executor");
    names.forEach(name -> keys.put(quantum(name).kid(), quantum(name)));
    files.put(
        TWO_ALGORITHMS,
        changed(remade -> {
          int at = place(remade, EventKind.POLICY_ACTIVATED, saying());
          for (String name : names) {
            bring(
                remade,
                at,
                remade.steps.get(at).at,
                EventKind.KEY_ENROLLED,
                enrolment(quantum(name), name));
          }
          both(remade, EventKind.POLICY_ACTIVATED, "owner");
          both(remade, EventKind.DECISION_MADE, "guardian");
          both(remade, EventKind.RUN_CLOSED, "executor");
        }));
    required("each", "every document of a role has the algorithms", "ok", "policy-owner");
    required("first", "the first document of a role alone has both", "RPL-083", "guardian");
    required("last", "the last document of a role alone has both", "RPL-083", "executor");
    required("the-log", "the checkpoint is a document of the role log", "RPL-083", "log");
  }

  private static void both(Remade remade, String kind, String name) {
    Digest document = body(remade, kind);
    List<String> kids = new ArrayList<>(List.of(kid(name), quantum(name).kid()));
    remade.signedBy(document, kids);
  }

  private void required(String name, String about, String wanted, String role) {
    add(
        "pins-algorithms-of-" + name,
        about,
        wanted,
        pinned(file(TWO_ALGORITHMS), "", key -> key)
            .put(
                "required_algorithms",
                Plot.json("{\"" + role + "\":[\"Ed25519\",\"ML-DSA-65\"]}")));
  }

  // ---- an approval by a passkey

  private static byte[] approvedByPasskey(TestPasskey rita) {
    TestTools tools = BundleVectors.tools();
    try (TestHome home =
        Scenario.setup(PARTIES, Plot.policy().toJson(), tools, Plot.START).found()) {
      home.enrol(rita.trusted(KeyRole.APPROVER, Optional.of(TestKeys.TENANT)));
      Envelope pay =
          Envelope.sign(Request.TYPE, ask("alice", "pay", "n-1").document(), TestKeys.key("alice"));
      home.kernel().submit(pay.toBytes(), List.of());
      home.kernel()
          .approve(
              rita.sign(
                  Approval.TYPE,
                  new Approval(
                          TestKeys.TENANT,
                          "rita",
                          "reviewer",
                          pay.id(),
                          Request.read(pay.document()).effect().digest(),
                          home.kernel().system().policyInForce().digest(),
                          Approval.Verdict.APPROVE,
                          home.clock.instant(),
                          home.clock.instant().plusSeconds(3600))
                      .toJson()));
      home.kernel().submit(pay.toBytes(), List.of());
      BundleVectors.close(home, "run-1");
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }

  private void passkey() {
    TestPasskey rita = new TestPasskey("rita", TestPasskey.SITE);
    files.put(PASSKEY, approvedByPasskey(rita));
    passkey("pins-passkey", "an approver's passkey is pinned as it is enrolled", "ok", rita);
    passkey(
        "pins-passkey-of-another-site",
        "an approver's passkey is pinned for the pages of another site",
        "RPL-080",
        new TestPasskey("rita", "other.example.org"));
  }

  private void passkey(String name, String about, String wanted, TestPasskey pinned) {
    List<JsonValue> pins =
        Stream.concat(
                PARTIES.stream().map(TestParty::trusted),
                Stream.of(pinned.trusted(KeyRole.APPROVER, Optional.of(TestKeys.TENANT))))
            .map(TrustedKey::toJson)
            .map(JsonValue.class::cast)
            .toList();
    add(name, about, wanted, file(PASSKEY).put("keys", JsonValue.of(pins)));
  }
}
