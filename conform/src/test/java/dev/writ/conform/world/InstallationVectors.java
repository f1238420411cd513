package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.NodeSource;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.Unpacked;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle on the root of an installation (spec/cells.md, "One root"): the
 * bundles are those of {@link LogKeyVectors}, whose log is said to be a cell's.
 */
final class InstallationVectors {
  private static final String TWO_LOGS = "two-logs.writ";
  private static final String INSTALLATION = "installation.example/log";

  /** Events of the system cell's log before the statement, and behind it. */
  private static final int BEFORE = 5;

  private static final int BEHIND = 2;

  private final List<Made> made = new ArrayList<>();
  private final byte[] bundle = LogKeyVectors.files().get("bundle/" + TWO_LOGS);
  private final Checkpoint own =
      Checkpoint.parse(Unpacked.entries(bundle).get("log/checkpoint.txt"));
  private final JsonValue.Obj toLater =
      (JsonValue.Obj)
          Jcs.parse(
              Unpacked.entries(LogKeyVectors.files().get("bundle/consistent-with-later.writ"))
                  .get("log/consistency.json"));

  private InstallationVectors() {}

  static List<Made> all() {
    InstallationVectors vectors = new InstallationVectors();
    vectors.states();
    vectors.sizes();
    vectors.signers();
    vectors.inclusion();
    vectors.events();
    vectors.forms();
    return vectors.made;
  }

  /** A proof that holds, of a statement that is changed before the log has it. */
  static JsonValue.Obj proof(UnaryOperator<JsonValue.Obj> statement) {
    return new InstallationVectors().planned(plan -> plan.statement = statement);
  }

  /** What a proof is made of; a vector changes one thing before it is made. */
  private final class Plan {
    private RunId run = CellCheckpoints.RUN;
    private String kind = EventKind.CELLS_STATED;
    private String rootKey = "log";
    private Checkpoint stated = own;
    private Optional<JsonValue.Obj> consistency = Optional.empty();
    private Optional<JsonValue> body = Optional.empty();
    private UnaryOperator<JsonValue.Obj> statement = document -> document;

    private JsonValue.Obj make() {
      Checkpoint other =
          Checkpoint.sign(INSTALLATION + "/cell-2", 3, Digest.sha256(), TestKeys.key("log"));
      JsonValue.Obj document =
          statement.apply(
              new CellCheckpoints(
                      List.of(
                          new CellCheckpoints.Stated(1, stated, 1),
                          new CellCheckpoints.Stated(2, other, 2)),
                      Plot.START)
                  .toJson());
      Event event =
          Event.first(
              run.tenant(),
              run.run(),
              kind,
              Jcs.digest(body.orElse(document)),
              Plot.START,
              Optional.empty());
      List<Digest> leaves = new ArrayList<>();
      for (int i = 0; i < BEFORE + BEHIND; i++) {
        leaves.add(Merkle.leafHash(new byte[] {(byte) i}));
      }
      leaves.add(BEFORE, Merkle.leafHash(event.toBytes()));
      NodeSource nodes = NodeSource.ofLeaves(leaves);
      Checkpoint root =
          Checkpoint.sign(INSTALLATION, leaves.size(), Merkle.root(leaves), TestKeys.key(rootKey));
      return JsonValue.object()
          .put("checkpoint", text(root))
          .putIfPresent("consistency", consistency, proof -> proof)
          .put("document", document)
          .put("event", event.toJson())
          .put("format", 1)
          .put("index", BEFORE)
          .put("path", Merkle.inclusionProof(nodes, BEFORE, leaves.size()).toJson())
          .build();
    }
  }

  private static String text(Checkpoint checkpoint) {
    return new String(checkpoint.toBytes(), StandardCharsets.UTF_8);
  }

  private static JsonValue.Obj with(JsonValue.Obj object, String member, JsonValue value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    members.put(member, value);
    return new JsonValue.Obj(members);
  }

  private static JsonValue.Obj without(JsonValue.Obj object, String member) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    members.remove(member);
    return new JsonValue.Obj(members);
  }

  private static String file(JsonValue.Obj proof) {
    return new String(Jcs.write(proof), StandardCharsets.UTF_8);
  }

  private JsonValue.Obj planned(Consumer<Plan> change) {
    Plan plan = new Plan();
    change.accept(plan);
    return plan.make();
  }

  private void add(String name, String about, String wanted, ObjectBuilder input, String proof) {
    made.add(Made.bundle("installation-" + name, about, wanted, input.put("installation", proof)));
  }

  private void add(String name, String about, String wanted, Consumer<Plan> change) {
    add(name, about, wanted, shown(), file(planned(change)));
  }

  /** The proof is made, and then changed. */
  private void spoiled(String name, String about, UnaryOperator<JsonValue.Obj> change) {
    add(name, about, "RPL-026", shown(), file(change.apply(planned(_ -> {}))));
  }

  private static ObjectBuilder shown() {
    return JsonValue.object().put("bundle_file", TWO_LOGS);
  }

  private void states() {
    add("states-this", "the installation states the log with this size and root", "ok", _ -> {});
    add(
        "states-more",
        "the installation states a larger log, which is shown to continue this one",
        "ok",
        plan -> {
          plan.stated = LogKeyVectors.kept("later");
          plan.consistency = Optional.of(toLater);
        });
    add(
        "states-another-root",
        "the installation states another root of this size",
        "RPL-027",
        plan -> plan.stated = signed(own.origin(), own.size(), Digest.sha256(), "log"));
    add(
        "states-another-log",
        "the installation states nothing of this log",
        "RPL-026",
        plan -> plan.stated = signed("other.example/log", own.size(), own.root(), "log"));
  }

  private static Checkpoint signed(String origin, long size, Digest root, String by) {
    return Checkpoint.sign(origin, size, root, TestKeys.key(by));
  }

  private void sizes() {
    add(
        "states-less",
        "the installation states the beginning of this log alone",
        "RPL-026",
        plan -> plan.stated = LogKeyVectors.kept("earlier"));
    add(
        "states-less-and-proves-it",
        "that this log continues the stated one does not make it stated",
        "RPL-026",
        plan -> {
          plan.stated = LogKeyVectors.kept("earlier");
          plan.consistency =
              Optional.of(
                  (JsonValue.Obj)
                      Jcs.parse(
                          Unpacked.entries(
                                  LogKeyVectors.files().get("bundle/consistent-with-earlier.writ"))
                              .get("log/consistency.json")));
        });
    add(
        "states-more-without-a-proof",
        "nothing shows that the larger log that is stated continues this one",
        "RPL-026",
        plan -> plan.stated = LogKeyVectors.kept("later"));
    add(
        "states-more-of-another-history",
        "the larger log that is stated does not continue this one",
        "RPL-026",
        plan -> {
          Checkpoint later = LogKeyVectors.kept("later");
          plan.stated = signed(later.origin(), later.size(), Digest.sha256(), "log");
          plan.consistency = Optional.of(toLater);
        });
    add(
        "proof-to-another-size",
        "the proof leads to another size than the stated one",
        "RPL-026",
        plan -> {
          Checkpoint later = LogKeyVectors.kept("later");
          plan.stated = signed(later.origin(), later.size() + 1, later.root(), "log");
          plan.consistency = Optional.of(toLater);
        });
    add(
        "proof-from-another-size",
        "the proof leads from another size than the bundle's",
        "RPL-026",
        plan -> {
          plan.stated = LogKeyVectors.kept("later");
          plan.consistency = Optional.of(with(toLater, "size1", JsonValue.of(own.size() - 1)));
        });
    add(
        "proof-of-no-use",
        "a proof is there where the stated size is the bundle's",
        "RPL-026",
        plan -> plan.consistency = Optional.of(toLater));
    add(
        "proof-of-one-size",
        "a proof is there from the stated size to itself",
        "RPL-026",
        plan ->
            plan.consistency =
                Optional.of(
                    JsonValue.object()
                        .putList("path", List.<Digest>of(), d -> JsonValue.of(d.toString()))
                        .put("size1", own.size())
                        .put("size2", own.size())
                        .build()));
  }

  private void signers() {
    add(
        "root-of-nobody",
        "a key that is not enrolled signed the installation's checkpoint",
        "RPL-040",
        plan -> plan.rootKey = "mallory");
    add(
        "cell-of-nobody",
        "a key that is not enrolled signed the cell's checkpoint",
        "RPL-040",
        plan -> plan.stated = signed(own.origin(), own.size(), own.root(), "mallory"));
    add(
        "root-of-another-log-key",
        "another key of the log, which is pinned, signed the installation's checkpoint",
        "ok",
        LogKeyVectors.pinned(shown(), "", key -> key),
        file(planned(plan -> plan.rootKey = "log2")));
    add(
        "root-of-a-key-pinned-as-revoked",
        "the key that signed the installation's checkpoint alone is pinned as revoked",
        "RPL-081",
        LogKeyVectors.pinned(shown(), "log2", TrustVectors.revoked(Plot.START)),
        file(planned(plan -> plan.rootKey = "log2")));
    add(
        "cell-of-a-key-pinned-as-revoked",
        "the key that signed the cell's checkpoint alone is pinned as revoked",
        "RPL-081",
        LogKeyVectors.pinned(shown(), "log2", TrustVectors.revoked(Plot.START)),
        file(planned(this::byTheOther)));
    add(
        "root-of-a-key-not-pinned",
        "the key that signed the installation's checkpoint is not pinned",
        "RPL-041",
        pinnedWithout("log2"),
        file(planned(plan -> plan.rootKey = "log2")));
    add(
        "cell-of-a-key-not-pinned",
        "the key that signed the cell's checkpoint is not pinned",
        "RPL-041",
        pinnedWithout("log2"),
        file(planned(this::byTheOther)));
  }

  private void byTheOther(Plan plan) {
    plan.stated = signed(own.origin(), own.size(), own.root(), "log2");
  }

  private ObjectBuilder pinnedWithout(String name) {
    JsonValue.Obj all = LogKeyVectors.pinned(shown(), "", key -> key).build();
    String kid = TrustVectors.kid(name);
    List<JsonValue> keys =
        ((JsonValue.Arr) all.get("keys"))
            .items().stream()
                .filter(key -> !TrustedKey.fromJson("key", key).kid().equals(kid))
                .toList();
    return shown().put("keys", JsonValue.of(keys));
  }

  private void inclusion() {
    spoiled(
        "another-hash",
        "a hash of the inclusion proof is another one",
        proof -> {
          List<JsonValue> path = new ArrayList<>(((JsonValue.Arr) proof.get("path")).items());
          path.set(0, JsonValue.of(Digest.sha256().toString()));
          return with(proof, "path", JsonValue.of(path));
        });
    spoiled(
        "a-hash-more",
        "the inclusion proof has a hash more",
        proof -> {
          List<JsonValue> path = new ArrayList<>(((JsonValue.Arr) proof.get("path")).items());
          path.add(JsonValue.of(Digest.sha256().toString()));
          return with(proof, "path", JsonValue.of(path));
        });
    spoiled(
        "another-place",
        "the statement is said to stand at another place",
        proof -> with(proof, "index", JsonValue.of(BEFORE + 1L)));
    spoiled(
        "outside",
        "the statement is said to stand behind the log",
        proof -> with(proof, "index", JsonValue.of(BEFORE + BEHIND + 1L)));
  }

  private void events() {
    add(
        "in-another-run",
        "the event stands in another run",
        "RPL-026",
        plan -> plan.run = new RunId("writ", "reads"));
    add(
        "of-another-tenant",
        "the event stands in a run of that name of a tenant",
        "RPL-026",
        plan -> plan.run = new RunId("acme", "cells"));
    add(
        "of-another-kind",
        "the event is of another kind",
        "RPL-026",
        plan -> plan.kind = EventKind.CONTENT_READ);
    add(
        "another-statement",
        "the event is of another statement",
        "RPL-026",
        plan -> plan.body = Optional.of(JsonValue.object().build()));
  }

  private static JsonValue.Obj first(JsonValue.Obj document) {
    return (JsonValue.Obj) ((JsonValue.Arr) document.get("cells")).items().getFirst();
  }

  /** The first entry is changed, and the event is of that. */
  private void entry(String name, String about, String member, JsonValue value) {
    add(
        name,
        about,
        "RPL-026",
        plan ->
            plan.statement =
                document -> {
                  List<JsonValue> cells =
                      new ArrayList<>(((JsonValue.Arr) document.get("cells")).items());
                  cells.set(0, with(first(document), member, value));
                  return with(document, "cells", JsonValue.of(cells));
                });
  }

  private void forms() {
    entry("cell-nought", "the system cell states itself", "cell", JsonValue.of(0L));
    entry("cell-too-great", "a cell that no installation has", "cell", JsonValue.of(256L));
    entry("cell-twice", "two entries are of one cell", "cell", JsonValue.of(2L));
    entry("no-incarnation", "an incarnation that is none", "incarnation", JsonValue.of(0L));
    entry("no-note", "a cell's checkpoint is no note", "checkpoint", JsonValue.of("a\nb\n"));
    entry("more-of-a-cell", "an entry has another member", "more", JsonValue.of(1L));
    add(
        "no-cells",
        "the statement names no cell",
        "RPL-026",
        plan -> plan.statement = document -> with(document, "cells", JsonValue.of(List.of())));
    add(
        "not-sorted",
        "the cells are not in order",
        "RPL-026",
        plan ->
            plan.statement =
                document ->
                    with(
                        document,
                        "cells",
                        JsonValue.of(((JsonValue.Arr) document.get("cells")).items().reversed())));
    add(
        "more-of-the-statement",
        "the statement has another member",
        "RPL-026",
        plan -> plan.statement = document -> with(document, "more", JsonValue.of(1L)));
    spoiled("format-two", "another format", proof -> with(proof, "format", JsonValue.of(2L)));
    spoiled("more", "another member", proof -> with(proof, "more", JsonValue.of(1L)));
    spoiled("no-path", "no inclusion proof", proof -> without(proof, "path"));
    spoiled("no-root", "no checkpoint", proof -> with(proof, "checkpoint", JsonValue.of("a\nb\n")));
    add(
        "not-canonical",
        "the file is not canonical",
        "RPL-026",
        shown(),
        file(planned(_ -> {})) + "\n");
  }
}
