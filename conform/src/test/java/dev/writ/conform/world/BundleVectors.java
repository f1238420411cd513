package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.SystemDocuments;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.Batch;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.Unpacked;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Makes golden-vectors/bundle, and what of golden-vectors/adversarial attacks bundles: small runs
 * of an installation, whole and changed in one way.
 */
final class BundleVectors {
  /** Within what an installation may stand idle. */
  private static final Duration AHEAD = Duration.ofDays(80);

  private final List<Made> made = new ArrayList<>();
  private byte[] closed;
  private byte[] open;
  private byte[] longer;
  private byte[] other;
  private String note;

  static List<Made> all() {
    BundleVectors vectors = new BundleVectors();
    vectors.record();
    vectors.whole();
    vectors.archive();
    vectors.entries();
    vectors.journals();
    vectors.documents();
    vectors.statements();
    vectors.attacks();
    vectors.corrections();
    return vectors.made;
  }

  // ---- recordings

  static TestTools tools() {
    TestTools tools = new TestTools();
    Plot.TOOLS.forEach(tools::register);
    return tools;
  }

  static void submit(TestHome home, Plot.Ask ask, String signer) {
    home.kernel()
        .submit(
            Envelope.sign(Request.TYPE, ask.document(), TestKeys.key(signer)).toBytes(), List.of());
  }

  static void close(TestHome home, String run) {
    home.kernel()
        .closeRun(
            Envelope.sign(
                RunClose.TYPE,
                new RunClose("acme", run, home.clock.instant()).toJson(),
                TestKeys.key("alice")));
  }

  static byte[] export(TestHome home, String run, BundleExport.Packages packages) {
    return BundleExport.of(
        home.kernel().ledger(), new RunId("acme", run), packages, BundleExport.Options.WHOLE);
  }

  static BundleExport.Packages packages(TestTools tools) {
    return BundleExport.Packages.of(tools);
  }

  private void record() {
    TestTools tools = tools();
    try (TestHome home =
        Scenario.setup(Plot.PARTIES, Plot.policy().toJson(), tools, Plot.START).found()) {
      submit(home, ask("alice", "mail", "n-1"), "alice");
      home.kernel().checkpoint();
      open = export(home, "run-1", packages(tools));
      close(home, "run-1");
      closed = export(home, "run-1", packages(tools));
      submit(home, ask("alice", "calc", "n-2").with("run", "run-2"), "alice");
      submit(home, ask("alice", "mail", "n-3").with("run", "run-2"), "alice");
      close(home, "run-2");
      longer = export(home, "run-2", packages(tools));
      note = new String(home.kernel().checkpoint().toBytes(), StandardCharsets.UTF_8);
    }
    TestTools again = tools();
    try (TestHome home =
        Scenario.setup(Plot.PARTIES, Plot.policy().toJson(), again, Plot.START.plusSeconds(1))
            .found()) {
      submit(home, ask("alice", "mail", "n-1"), "alice");
      close(home, "run-1");
      other = export(home, "run-1", packages(again));
    }
  }

  // ---- vectors

  private static ObjectBuilder bundle(byte[] file) {
    return JsonValue.object().put("bundle_b64", StrictBase64.encode(file));
  }

  private static ObjectBuilder pinned(byte[] file) {
    return bundle(file)
        .putList(
            "keys",
            List.of(
                new TestParty("log", KeyRole.LOG, Optional.empty()),
                new TestParty("operator", KeyRole.OPERATOR, Optional.empty())),
            party -> party.trusted().toJson());
  }

  private void add(String name, String about, String wanted, ObjectBuilder input) {
    made.add(Made.bundle(name, about, wanted, input));
  }

  private void attack(String name, long promise, String about, String wanted, ObjectBuilder input) {
    made.add(
        new Made(
            "adversarial/" + name,
            about,
            Optional.of(promise),
            "bundle.verify",
            input.build(),
            List.of(wanted)));
  }

  private static byte[] forge(byte[] bundle, Consumer<TreeMap<String, byte[]>> change) {
    TreeMap<String, byte[]> entries = Unpacked.entries(bundle);
    change.accept(entries);
    return Unpacked.pack(entries);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static UnaryOperator<byte[]> text(UnaryOperator<String> change) {
    return bytes -> utf8(change.apply(new String(bytes, StandardCharsets.UTF_8)));
  }

  /** Changes the lines of a journal. */
  private static Consumer<TreeMap<String, byte[]>> lines(
      String journal, UnaryOperator<List<String>> change) {
    return entries ->
        entries.computeIfPresent(
            "journal/" + journal + ".jsonl",
            (_, bytes) -> {
              List<String> lines =
                  new ArrayList<>(new String(bytes, StandardCharsets.UTF_8).lines().toList());
              StringBuilder out = new StringBuilder();
              change.apply(lines).forEach(line -> out.append(line).append('\n'));
              return utf8(out.toString());
            });
  }

  static void submitNow(TestHome home, String nonce) {
    submit(
        home,
        ask("alice", "mail", nonce).with("requested_at", Timestamps.format(home.clock.instant())),
        "alice");
  }

  /** A ledger that ran ahead, and whose clock is right again. */
  private static TestHome ahead(TestTools tools) {
    TestHome home = Scenario.setup(Plot.PARTIES, Plot.policy().toJson(), tools, Plot.START).found();
    submitNow(home, "n-1");
    home.clock.leap(AHEAD);
    home.restart();
    submitNow(home, "n-2");
    home.clock.leap(AHEAD.negated());
    home.clock.forward(Duration.ofSeconds(60));
    return home;
  }

  /** A run that was under way when the clock was corrected. */
  static byte[] corrected() {
    TestTools tools = tools();
    try (TestHome home = ahead(tools)) {
      home.correctClock();
      submitNow(home, "n-3");
      close(home, "run-1");
      return export(home, "run-1", packages(tools));
    }
  }

  /** Time goes back, and this is what says so. */
  private static byte[] back(String kind, Function<ClockCorrection, Envelope> document) {
    TestTools tools = tools();
    try (TestHome home = ahead(tools)) {
      Trust stated = home.kernel().system().trust();
      Instant to = home.clock.instant();
      try (LedgerView view =
          home.restartTime((ledger, incarnation) -> {
            Envelope change =
                document.apply(
                    new ClockCorrection(
                        ledger.highWater(), to, ledger.treeSize(), Optional.of(incarnation)));
            Event head = ledger.head(SystemState.RUN).orElseThrow();
            return new Batch()
                .document(change)
                .event(head.next(kind, change.id(), to, Optional.empty()));
          })) {
        return Unpacked.forged(view, new RunId("acme", "run-1"), packages(tools), stated);
      }
    }
  }

  private static byte[] corrected(UnaryOperator<ClockCorrection> change, String signer) {
    return back(
        EventKind.CLOCK_CORRECTED, c -> SystemDocuments.correction(change.apply(c), signer));
  }

  private void corrections() {
    add("clock-corrected", "time goes back where an operator signed it", "ok", bundle(corrected()));
    add(
        "clock-corrected-by-the-owner",
        "the policy's owner corrects no clock",
        "CAN-053",
        bundle(corrected(c -> c, "owner")));
    add(
        "clock-corrected-by-a-stranger",
        "the key is enrolled nowhere",
        "CAN-052",
        bundle(corrected(c -> c, "stranger")));
    add(
        "clock-corrected-elsewhere",
        "the correction is for another place of the log",
        "EXE-981",
        bundle(
            corrected(
                c -> new ClockCorrection(c.from(), c.to(), c.treeSize() + 1, c.incarnation()),
                "operator")));
    add(
        "clock-corrected-to-another-time",
        "time goes on from an earlier one than the operator signed",
        "EXE-981",
        bundle(
            corrected(
                c ->
                    new ClockCorrection(
                        c.from(), c.to().plusSeconds(1), c.treeSize(), c.incarnation()),
                "operator")));
    add(
        "clock-corrected-from-another-time",
        "the log was further ahead than the operator signed",
        "EXE-981",
        bundle(
            corrected(
                c ->
                    new ClockCorrection(
                        c.to().plusSeconds(1), c.to(), c.treeSize(), c.incarnation()),
                "operator")));
    add(
        "clock-back-without-a-correction",
        "time goes back and nobody signed it",
        "EXE-982",
        bundle(
            back(
                EventKind.TOOL_REVOKED,
                c ->
                    Envelope.sign(
                        SystemChange.TYPE,
                        new SystemChange(
                                EventKind.TOOL_REVOKED,
                                JsonValue.object()
                                    .put("tool", "calc")
                                    .put("version", "9.9.9")
                                    .build(),
                                c.to())
                            .toJson(),
                        TestKeys.key("operator")))));
  }

  private void whole() {
    add("closed", "the bundle of a closed run, its signers not pinned", "ok", bundle(closed));
    add("closed-pinned", "operator and log are pinned", "ok", pinned(closed));
    add("open", "the bundle of an open run", "ok", pinned(open));
    add("consumes-nothing", "two effects", "ok", pinned(longer));
    add(
        "open-where-closed-is-asked-for",
        "an open run's tail can be missing unseen",
        "RPL-035",
        pinned(open).put("closed", true));
    add("closed-as-asked-for", "a closed run", "ok", pinned(closed).put("closed", true));
    add(
        "not-pinned",
        "another operator is pinned",
        "RPL-041",
        bundle(closed)
            .putList(
                "keys",
                List.of(new TestParty("mallory", KeyRole.OPERATOR, Optional.empty())),
                party -> party.trusted().toJson()));
    add(
        "kept-checkpoint-of-another-size",
        "a kept checkpoint that no proof connects: verified without it",
        "ok",
        pinned(closed).put("checkpoint", note));
  }

  private void archive() {
    add("empty", "no bytes", "RPL-011", bundle(new byte[0]));
    add(
        "cut-short",
        "the last byte is missing",
        "RPL-011",
        bundle(Arrays.copyOf(closed, closed.length - 1)));
    add(
        "byte-behind",
        "a byte behind the archive",
        "RPL-010 or RPL-011",
        bundle(Arrays.copyOf(closed, closed.length + 1)));
    byte[] before = new byte[closed.length + 1];
    System.arraycopy(closed, 0, before, 1, closed.length);
    add("byte-before", "a byte before the archive", "RPL-010", bundle(before));
    for (int at : List.of(4, 10, 14, 30)) {
      byte[] flipped = closed.clone();
      flipped[at] ^= 1;
      add(
          "flipped-" + at,
          "bit 0 of byte " + at + " is flipped",
          at == 14 ? "RPL-010 or RPL-015" : "RPL-010",
          bundle(flipped));
    }
    byte[] middle = closed.clone();
    int inside = indexOf(closed, utf8("\"run.opened\""));
    middle[inside + 2] ^= 1;
    add("flipped-content", "a bit of an event is flipped", "RPL-015", bundle(middle));
    zip64(new Zip64Forms(closed));
  }

  /**
   * A bundle has 64-bit fields where it needs them alone; no vector is so large as to need them.
   */
  private void zip64(Zip64Forms forms) {
    add(
        "zip64-records",
        "a ZIP64 end record and its locator, which no number needs",
        "RPL-010",
        bundle(forms.records()));
    add(
        "zip64-records-for-the-offset",
        "the directory's offset is in a ZIP64 end record, which it does not need",
        "RPL-010",
        bundle(forms.recordsForTheOffset()));
    add(
        "zip64-no-records",
        "the directory's offset is to be in a ZIP64 end record, and there is none",
        "RPL-010",
        bundle(forms.noRecords()));
    add(
        "zip64-field",
        "the first central header has its offset in a ZIP64 field, which it does not need",
        "RPL-010",
        bundle(forms.field()));
    add(
        "zip64-sizes",
        "the first local header has its sizes in a ZIP64 field, which no local header has",
        "RPL-010",
        bundle(forms.sizes()));
  }

  private static int indexOf(byte[] all, byte[] part) {
    for (int i = 0; i + part.length <= all.length; i++) {
      if (Arrays.equals(all, i, i + part.length, part, 0, part.length)) {
        return i;
      }
    }
    throw new IllegalStateException("not there");
  }

  private static String nameOf(TreeMap<String, byte[]> entries, String type) {
    return entries.entrySet().stream()
        .filter(e ->
            e.getKey().startsWith("documents/")
                && Envelope.parse(e.getValue()).payloadType().equals(type))
        .findFirst()
        .orElseThrow()
        .getKey();
  }

  private void entries() {
    add(
        "document-missing",
        "the receipt is not there",
        "RPL-023",
        bundle(forge(closed, e -> e.remove(nameOf(e, Receipt.TYPE)))));
    add(
        "document-added",
        "a document that nothing names",
        "RPL-024",
        bundle(
            forge(
                closed,
                e -> {
                  Envelope more =
                      Envelope.sign(
                          Receipt.TYPE, JsonValue.object().build(), TestKeys.key("executor"));
                  e.put("documents/" + more.id().hex() + ".json", more.toBytes());
                })));
    add(
        "blob-missing",
        "an output is not there",
        "RPL-023",
        bundle(forge(closed, e -> e.remove(e.ceilingKey("blobs/")))));
    add(
        "blob-added",
        "content that nothing names",
        "RPL-024",
        bundle(forge(closed, e -> e.put("blobs/" + Digest.sha256(utf8("x")).hex(), utf8("x")))));
    add(
        "blob-changed",
        "content that is not what its name says",
        "RPL-022",
        bundle(forge(closed, e -> e.put(e.ceilingKey("blobs/"), utf8("x")))));
    add(
        "trust-changed",
        "the trust file is not what the system run adds up to",
        "RPL-025",
        bundle(
            forge(
                closed,
                e ->
                    e.put(
                        "trust.jwks",
                        Jcs.write(
                            JsonValue.object()
                                .putList("keys", List.<JsonValue>of(), k -> k)
                                .build())))));
  }

  private void journals() {
    add("run-empty", "no event", "RPL-030", bundle(forge(closed, lines("run", _ -> List.of()))));
    add(
        "run-cut",
        "the last event is missing",
        "RPL-034",
        bundle(forge(closed, lines("run", l -> l.subList(0, l.size() - 1)))));
    add(
        "event-dropped",
        "an event in the middle is missing",
        "RPL-032",
        bundle(
            forge(
                closed,
                lines(
                    "run",
                    l -> {
                      l.remove(2);
                      return l;
                    }))));
    add(
        "event-twice",
        "an event stands there twice",
        "RPL-032",
        bundle(
            forge(
                closed,
                lines(
                    "run",
                    l -> {
                      l.add(2, l.get(2));
                      return l;
                    }))));
    add(
        "events-swapped",
        "two events are swapped",
        "RPL-032",
        bundle(
            forge(
                closed,
                lines(
                    "run",
                    l -> {
                      l.add(2, l.remove(3));
                      return l;
                    }))));
    add(
        "no-event",
        "a line that is no event",
        "RPL-031",
        bundle(
            forge(
                closed,
                lines(
                    "run",
                    l -> {
                      l.set(1, "{}");
                      return l;
                    }))));
    add(
        "event-not-canonical",
        "a line with a space",
        "RPL-031",
        bundle(
            forge(
                closed,
                lines("run", l -> l.stream().map(s -> s.replace("{\"", "{ \"")).toList()))));
    add(
        "system-cut",
        "the last event of the system run is missing",
        "RPL-033",
        bundle(forge(closed, lines("system", l -> l.subList(0, l.size() - 1)))));
  }

  private void documents() {
    add(
        "signatures-stripped",
        "the receipt's signature is gone",
        "CAN-023",
        bundle(
            forge(
                closed,
                e ->
                    e.compute(
                        nameOf(e, Receipt.TYPE),
                        (_, bytes) -> {
                          TreeMap<String, JsonValue> members =
                              new TreeMap<>(((JsonValue.Obj) Jcs.parse(bytes)).members());
                          members.put("signatures", JsonValue.of(List.of()));
                          return Jcs.write(new JsonValue.Obj(members));
                        }))));
    add(
        "signed-by-another",
        "the receipt is signed by the agent",
        "EXE-951",
        bundle(
            forge(
                closed,
                e ->
                    e.compute(
                        nameOf(e, Receipt.TYPE),
                        (_, bytes) -> {
                          Envelope old = Envelope.parse(bytes);
                          return Envelope.signBytes(
                                  old.payloadType(), old.payload(), TestKeys.key("alice"))
                              .toBytes();
                        }))));
    add(
        "payload-changed",
        "the receipt says something else under its old name and signature",
        "RPL-022",
        bundle(
            forge(
                closed,
                e ->
                    e.compute(
                        nameOf(e, Receipt.TYPE),
                        (_, bytes) -> {
                          Envelope old = Envelope.parse(bytes);
                          String payload =
                              new String(old.payload(), StandardCharsets.UTF_8)
                                  .replace("\"reason\":\"ok\"", "\"reason\":\"no\"");
                          TreeMap<String, JsonValue> members =
                              new TreeMap<>(old.toJson().members());
                          members.put("payload", JsonValue.of(StrictBase64.encode(utf8(payload))));
                          return Jcs.write(new JsonValue.Obj(members));
                        }))));
  }

  private void statement(String name, String about, String wanted, String from, String to) {
    add(
        name,
        about,
        wanted,
        bundle(
            forge(
                closed,
                e ->
                    e.compute(
                        "bundle.json",
                        (_, bytes) -> text(s -> s.replace(from, to)).apply(bytes)))));
  }

  private void statements() {
    statement(
        "stated-open", "a closed run is said to be open", "RPL-034", "\"closed\"", "\"open\"");
    statement(
        "stated-run", "another run is named", "RPL-032", "\"run\":\"run-1\"", "\"run\":\"run-2\"");
    statement("stated-tenant", "another tenant is named", "RPL-032", "\"acme\"", "\"other\"");
    statement(
        "stated-origin",
        "another log is named",
        "RPL-025",
        "writ.example/log",
        "writ.example/other");
    statement("stated-size", "another size is named", "RPL-025", "\"size\":", "\"size\":1");
    statement(
        "stated-incarnation",
        "another incarnation is named",
        "EXE-950",
        "\"incarnation\":1",
        "\"incarnation\":2");
    statement(
        "stated-without-blobs",
        "blobs are said to be left out and are there",
        "RPL-024",
        "\"blobs\":\"included\"",
        "\"blobs\":\"left-out\"");
    statement(
        "stated-more", "an unknown member", "CAN-021", "\"format\":2", "\"format\":2,\"g\":1");
    add(
        "checkpoint-of-another-key",
        "the checkpoint is signed by a key that is not enrolled for the log",
        "RPL-040",
        bundle(
            forge(
                closed,
                e ->
                    e.compute(
                        "log/checkpoint.txt",
                        (_, bytes) -> {
                          Checkpoint c = Checkpoint.parse(bytes);
                          return Checkpoint.sign(
                                  c.origin(), c.size(), c.root(), TestKeys.key("mallory"))
                              .toBytes();
                        }))));
    add(
        "checkpoint-of-another-root",
        "the log's key signed another root",
        "RPL-033",
        bundle(
            forge(
                closed,
                e ->
                    e.compute(
                        "log/checkpoint.txt",
                        (_, bytes) -> {
                          Checkpoint c = Checkpoint.parse(bytes);
                          return Checkpoint.sign(
                                  c.origin(), c.size(), Digest.sha256(), TestKeys.key("log"))
                              .toBytes();
                        }))));
    add(
        "inclusion-hash-changed",
        "a hash of the proof is another",
        "RPL-033",
        bundle(
            forge(
                longer,
                e ->
                    e.compute(
                        "log/inclusion.json",
                        (_, bytes) ->
                            text(s ->
                                    s.replaceFirst(
                                        "sha256:[0-9a-f]{64}", Digest.sha256().toString()))
                                .apply(bytes)))));
  }

  private void attacks() {
    attack(
        "downgrade-bundle-format",
        6,
        "a bundle that says it is of format 1",
        "RPL-020",
        pinned(
            forge(
                closed,
                e ->
                    e.compute(
                        "bundle.json",
                        (_, bytes) ->
                            text(s -> s.replace("\"format\":2", "\"format\":1")).apply(bytes)))));
    attack(
        "replay-tampering-event-grafted",
        7,
        "an event of another run between those of this one",
        "RPL-032",
        pinned(
            forge(
                closed,
                lines(
                    "run",
                    l -> {
                      l.set(
                          2,
                          new String(
                                  Unpacked.entries(longer).get("journal/run.jsonl"),
                                  StandardCharsets.UTF_8)
                              .lines()
                              .toList()
                              .get(2));
                      return l;
                    }))));
    attack(
        "replay-tampering-time",
        7,
        "the clock reading of an event is another, and the chain behind it is not mended",
        "RPL-032",
        pinned(
            forge(
                closed,
                lines(
                    "run",
                    l -> {
                      l.set(1, l.get(1).replace("12:00:00.000Z", "12:00:00.001Z"));
                      return l;
                    }))));
    attack(
        "replay-tampering-last-time",
        7,
        "the clock reading of the last event is another: nothing behind it, but it is not in the"
            + " log",
        "RPL-033",
        pinned(
            forge(
                closed,
                lines(
                    "run",
                    l -> {
                      l.set(l.size() - 1, l.getLast().replace("12:00:00.000Z", "12:00:00.001Z"));
                      return l;
                    }))));
    attack(
        "replay-tampering-output",
        7,
        "an output is exchanged for another",
        "RPL-022",
        pinned(forge(closed, e -> e.put(e.ceilingKey("blobs/"), utf8("{\"ok\":true}")))));
    attack(
        "fork-two-bundles",
        7,
        "the same run of a fork: the checkpoint that the auditor kept has another root",
        "RPL-042",
        pinned(other).put("checkpoint", checkpointOf(closed)));
    attack(
        "fork-none-of-two-bundles",
        7,
        "the checkpoint of this very log, so that the other is not refused for something else",
        "ok",
        pinned(closed).put("checkpoint", checkpointOf(closed)));
    attack(
        "graft-system-run-of-another-installation",
        7,
        "the run of one installation under the keys of another",
        "RPL-033",
        pinned(
            forge(
                closed,
                e ->
                    e.put(
                        "journal/system.jsonl",
                        Unpacked.entries(other).get("journal/system.jsonl")))));
    attack(
        "truncation-of-a-closed-run",
        7,
        "the closing is cut off and the bundle says that the run is open",
        "RPL-033",
        pinned(
            forge(
                closed,
                e -> {
                  lines("run", l -> l.subList(0, l.size() - 1)).accept(e);
                  e.compute(
                      "bundle.json",
                      (_, bytes) -> text(s -> s.replace("\"closed\"", "\"open\"")).apply(bytes));
                })));
  }

  private static String checkpointOf(byte[] bundle) {
    return new String(Unpacked.entries(bundle).get("log/checkpoint.txt"), StandardCharsets.UTF_8);
  }
}
