package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.TrustVectors.kid;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.Remade;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle in which contents are missing: deleted by a rule of policy or
 * an operator's order, as a statement in the log says, or lost (spec/retention.md).
 */
final class RetentionVectors {
  private static final long KEPT_S = 3600;
  private static final Duration AHEAD = Duration.ofDays(1);
  private static final String LAST_LINE = "execute_for: [stand-in]\n";
  private static final Policy POLICY =
      Plot.policy(
          1,
          Optional.empty(),
          LAST_LINE,
          LAST_LINE
              + """
              retention:
                rules:
                  - { name: mail, contents: [outputs], match: { tool: mail }, keep_s: 3600 }
                  - { name: hour, contents: [outputs, observations], match: { tenant: acme }, keep_s: 3600 }
              """);

  private static final class Holder {
    static final byte[] DELETED = record();
  }

  private static final class Undispatched {
    static final byte[] DELETED = recordUndispatched();
  }

  private static final class Erased {
    static final byte[] CONTENTS = recordErased();
  }

  private static final class ErasedAfterTimeWentBack {
    static final byte[] CONTENTS = recordErasedAfterTimeWentBack();
  }

  private static final class Archived {
    static final byte[] RUN = recordArchived();
  }

  private static final List<TestParty> PARTIES =
      Plot.PARTIES.stream()
          .filter(party ->
              List.of("operator", "owner", "guardian", "executor", "log", "alice")
                  .contains(party.name()))
          .toList();

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    RetentionVectors vectors = new RetentionVectors();
    vectors.missing();
    vectors.statements();
    vectors.contents();
    vectors.holds();
    vectors.undispatched();
    vectors.erasures();
    vectors.archive();
    return vectors.made;
  }

  /** Two effects, whose run is closed; then their contents are deleted, by a rule each. */
  private static byte[] record() {
    TestTools tools = BundleVectors.tools();
    try (TestHome home = Scenario.setup(PARTIES, POLICY.toJson(), tools, Plot.START).found()) {
      BundleVectors.submit(home, ask("alice", "calc", "n-1"), "alice");
      BundleVectors.submit(home, ask("alice", "mail", "n-2"), "alice");
      BundleVectors.close(home, "run-1");
      home.clock.forward(Duration.ofSeconds(KEPT_S));
      home.kernel().contents().retain(home.kernel().now());
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }

  private static final Policy SEALED =
      Plot.policy(
          1,
          Optional.empty(),
          LAST_LINE,
          LAST_LINE
              + """
              retention: { rules: [], sealed: { contents: [outputs, observations], by: subject } }
              """);

  /** The same effects, erased by an order about their subject. */
  private static byte[] recordErased() {
    TestTools tools = BundleVectors.tools();
    try (TestHome home = Scenario.setup(PARTIES, SEALED.toJson(), tools, Plot.START).found()) {
      BundleVectors.submit(home, ask("alice", "calc", "n-1"), "alice");
      BundleVectors.submit(home, ask("alice", "mail", "n-2"), "alice");
      BundleVectors.close(home, "run-1");
      home.clock.forward(Duration.ofSeconds(KEPT_S));
      home.kernel().change(home.change(EventKind.CONTENTS_ERASED, ALICE.toJson()));
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }

  /** Time went a day ahead for an effect, and back before the order that covers it. */
  private static byte[] recordErasedAfterTimeWentBack() {
    TestTools tools = BundleVectors.tools();
    try (TestHome home = Scenario.setup(PARTIES, SEALED.toJson(), tools, Plot.START).found()) {
      BundleVectors.submitNow(home, "n-1");
      home.clock.leap(AHEAD);
      home.restart();
      BundleVectors.submitNow(home, "n-2");
      home.clock.leap(AHEAD.negated());
      home.clock.forward(Duration.ofSeconds(60));
      home.correctClock();
      BundleVectors.close(home, "run-1");
      home.kernel().change(home.change(EventKind.CONTENTS_ERASED, ALICE.toJson()));
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }

  /** The same effects, whose contents are moved to the archive an hour after the closing. */
  private static byte[] recordArchived() {
    TestTools tools = BundleVectors.tools();
    Policy policy =
        Plot.policy(
            1,
            Optional.empty(),
            LAST_LINE,
            LAST_LINE + "retention: { rules: [], archive_after_s: 3600 }\n");
    try (TestHome home = Scenario.setup(PARTIES, policy.toJson(), tools, Plot.START).found()) {
      BundleVectors.submit(home, ask("alice", "calc", "n-1"), "alice");
      BundleVectors.submit(home, ask("alice", "mail", "n-2"), "alice");
      BundleVectors.close(home, "run-1");
      byte[] whole = FullRun.export(home, tools, BundleExport.Options.WHOLE);
      DigestSet contents = new DigestSet();
      try (Bundle bundle = Bundle.of(whole)) {
        for (int entry = 0; entry < bundle.entries(); entry++) {
          if (bundle.entryName(entry).startsWith("blobs/")) {
            contents.add(Digest.parse("sha256:" + bundle.entryName(entry).substring(6)));
          }
        }
      }
      home.clock.forward(Duration.ofSeconds(KEPT_S));
      TreeMap<RunId, ArchivedBundle> run = new TreeMap<>();
      run.put(new RunId("acme", "run-1"), new ArchivedBundle(Digest.sha256(whole), contents));
      home.kernel()
          .contents()
          .archive(
              run,
              other -> {
                throw new IllegalStateException(other.toString());
              },
              home.kernel().now());
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }

  /** An effect, a denial and a request that waits for approval, each with an input of its own. */
  private static byte[] recordUndispatched() {
    TestTools tools = BundleVectors.tools();
    Policy policy =
        Plot.policy(
            1,
            Optional.empty(),
            LAST_LINE,
            LAST_LINE
                + """
                storage: { bytes_max: 100000, unnamed_s: 60 }
                retention: { rules: [ { name: hour, contents: [inputs], keep_s: 3600 } ] }
                """);
    try (TestHome home = Scenario.setup(PARTIES, policy.toJson(), tools, Plot.START).found()) {
      BundleVectors.submit(home, naming(home, ask("alice", "mail", "n-1")), "alice");
      Plot.Ask denied =
          ask("alice", "mail", "n-2").effect("params", Plot.json("{\"forbidden\":1}"));
      BundleVectors.submit(home, naming(home, denied), "alice");
      BundleVectors.submit(home, naming(home, ask("alice", "pay", "n-3")), "alice");
      home.clock.forward(Duration.ofSeconds(KEPT_S));
      home.kernel().contents().retain(home.kernel().now());
      return FullRun.export(home, tools, BundleExport.Options.WHOLE);
    }
  }

  /** The request with an input that is uploaded for it. */
  private static Plot.Ask naming(TestHome home, Plot.Ask ask) {
    byte[] content = ("an input of " + ask.document().get("nonce")).getBytes(UTF_8);
    Content put =
        home.kernel().contents().put("acme", new ByteArrayInputStream(content), "text/plain");
    JsonValue.Obj input =
        JsonValue.object()
            .put("digest", put.digest())
            .put("media_type", put.mediaType())
            .put("name", "f")
            .put("size", put.size())
            .build();
    return ask.effect("inputs", JsonValue.of(List.of(input)));
  }

  private void add(String name, String about, String wanted, Consumer<Remade> change) {
    add(Holder.DELETED, name, about, wanted, change);
  }

  private void add(
      byte[] recorded, String name, String about, String wanted, Consumer<Remade> change) {
    Remade remade = FullRun.remade(recorded);
    change.accept(remade);
    made.add(Made.bundle("retention-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  private static Remade.Step statement(Remade remade) {
    return remade.steps.stream()
        .filter(step -> step.kind.equals(EventKind.CONTENT_DELETED))
        .findFirst()
        .orElseThrow();
  }

  private static Deletion deletion(Remade remade) {
    return Deletion.read(remade.document(statement(remade).body));
  }

  private static UnaryOperator<JsonValue.Obj> set(String member, JsonValue value) {
    return document -> {
      TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
      members.put(member, value);
      return new JsonValue.Obj(members);
    };
  }

  private static void set(Remade remade, String member, JsonValue value) {
    remade.change(statement(remade).body, set(member, value));
  }

  private static void contents(Remade remade, List<Deletion.Item> items) {
    Deletion old = deletion(remade);
    JsonValue.Obj changed = new Deletion(old.of(), old.reason(), items, old.deletedAt()).toJson();
    set(remade, "contents", changed.get("contents"));
  }

  /** The same contents, and one more at the end. */
  private static void more(Remade remade, Deletion.Item item) {
    List<Deletion.Item> items = new ArrayList<>(deletion(remade).contents());
    items.add(item);
    contents(remade, items);
  }

  private static void at(Remade remade, Instant time) {
    statement(remade).at = time;
    set(remade, "deleted_at", JsonValue.of(Timestamps.format(time)));
  }

  private void missing() {
    add("by-rule", "contents are deleted, and a statement says so", "ok", _ -> {});
    add(
        "lost",
        "the same without the statement",
        "RPL-023",
        remade -> remade.steps.remove(statement(remade)));
    add(
        "one-not-stated",
        "one of the contents is in no statement",
        "RPL-023",
        remade -> {
          List<Deletion.Item> items = deletion(remade).contents();
          contents(remade, items.subList(0, items.size() - 1));
        });
    add(
        "another-class",
        "the statement names an output as an artifact",
        "EXE-961 or RPL-023",
        remade ->
            contents(
                remade,
                deletion(remade).contents().stream()
                    .map(item ->
                        item.content() == ContentClass.OUTPUTS
                            ? new Deletion.Item(
                                ContentClass.ARTIFACTS, item.digest(), item.seq(), item.size())
                            : item)
                    .sorted()
                    .toList()));
  }

  private void statements() {
    add(
        "by-the-guardian",
        "the statement is signed by the Guardian",
        "EXE-951",
        remade -> remade.signedBy(statement(remade).body, List.of(kid("guardian"))));
    add(
        "by-an-operator",
        "the statement is signed by an operator",
        "EXE-951",
        remade -> remade.signedBy(statement(remade).body, List.of(kid("operator"))));
    add(
        "too-early",
        "the contents are one millisecond younger than the rule's age",
        "EXE-961",
        remade -> at(remade, deletion(remade).deletedAt().minusMillis(1)));
    add(
        "another-time",
        "the statement's time is not that of its event",
        "EXE-953",
        remade -> statement(remade).at = statement(remade).at.plusMillis(1));
    add(
        "no-such-rule",
        "the policy in force has no rule of that name",
        "EXE-961",
        remade -> set(remade, "rule", JsonValue.of("day")));
    add(
        "another-rule",
        "the rule of that name does not cover the contents",
        "EXE-961",
        remade -> set(remade, "rule", JsonValue.of("mail")));
    add(
        "after-another-policy",
        "another policy was put in force before, which deletes nothing",
        "EXE-950",
        RetentionVectors::anotherPolicy);
    add(
        "no-such-policy",
        "the statement names a policy that was never in force",
        "EXE-950",
        remade -> set(remade, "policy", JsonValue.of(Digest.sha256(Plot.CODE).toString())));
    add(
        "in-another-run",
        "the event stands in the system run",
        "EXE-954",
        remade -> statement(remade).run = "system");
  }

  private static void anotherPolicy(Remade remade) {
    Policy next = Plot.policy(2, Optional.of(POLICY.digest()), LAST_LINE, LAST_LINE);
    Digest id = remade.bring(SystemState.POLICY_TYPE, next.toJson(), List.of(kid("owner")));
    int before = remade.steps.indexOf(statement(remade));
    remade.bringSystemEvent(before, statement(remade).at, EventKind.POLICY_ACTIVATED, id);
  }

  private void contents() {
    add(
        "a-receipt",
        "the statement names a receipt as an output",
        "EXE-961",
        remade -> {
          Remade.Step receipt =
              remade.steps.stream()
                  .filter(step -> step.kind.equals(EventKind.RECEIPT_SIGNED))
                  .reduce((_, last) -> last)
                  .orElseThrow();
          more(remade, new Deletion.Item(ContentClass.OUTPUTS, receipt.body, receipt.was.seq(), 1));
        });
    add(
        "of-no-event",
        "the statement names a content of an event that is not there",
        "EXE-961",
        remade -> {
          Deletion.Item last = deletion(remade).contents().getLast();
          more(remade, new Deletion.Item(last.content(), last.digest(), 99, last.size()));
        });
    add(
        "another-size",
        "the statement says another size than the receipt",
        "EXE-961",
        remade ->
            contents(
                remade,
                deletion(remade).contents().stream()
                    .map(item ->
                        item.content() == ContentClass.OUTPUTS
                            ? new Deletion.Item(
                                item.content(), item.digest(), item.seq(), item.size() + 1)
                            : item)
                    .toList()));
    add(
        "of-another-run",
        "the statement is about another run",
        "EXE-961 or RPL-023",
        remade -> set(remade, "run", JsonValue.of("run-2")));
  }

  /** The input of the run's nth request, as the event of its reception names it. */
  private static Deletion.Item received(Remade remade, int nth) {
    Remade.Step step =
        remade.steps.stream()
            .filter(s -> s.kind.equals(EventKind.REQUEST_RECEIVED))
            .skip(nth)
            .findFirst()
            .orElseThrow();
    Input input = Request.read(remade.document(step.body)).effect().inputs().getFirst();
    return new Deletion.Item(ContentClass.INPUTS, input.digest(), step.was.seq(), input.size());
  }

  private static Instant whenReceived(Remade remade, int nth) {
    return remade.steps.stream()
        .filter(s -> s.kind.equals(EventKind.REQUEST_RECEIVED))
        .skip(nth)
        .findFirst()
        .orElseThrow()
        .at;
  }

  private static void alsoReceived(Remade remade, int nth) {
    List<Deletion.Item> items = new ArrayList<>(deletion(remade).contents());
    items.add(received(remade, nth));
    contents(remade, items.stream().sorted().toList());
  }

  private void undispatched() {
    byte[] recorded = Undispatched.DELETED;
    add(recorded, "denied", "the input of a request that was denied is deleted", "ok", _ -> {});
    add(
        recorded,
        "waiting",
        "the input of a request that waits for approval is deleted",
        "EXE-961",
        remade -> alsoReceived(remade, 2));
    add(
        recorded,
        "waiting-at-the-last-moment",
        "the same at the last moment at which an intent of it could be executed",
        "EXE-961",
        remade -> {
          alsoReceived(remade, 2);
          at(remade, whenReceived(remade, 2).plusSeconds(86_400 + 360));
        });
    add(
        recorded,
        "waited-too-long",
        "the same a millisecond later",
        "ok",
        remade -> {
          alsoReceived(remade, 2);
          at(remade, whenReceived(remade, 2).plusSeconds(86_400 + 360).plusMillis(1));
        });
    add(
        recorded,
        "received-and-dispatched",
        "the reception of a request that was dispatched is stated to name its input",
        "EXE-961",
        remade -> alsoReceived(remade, 0));
  }

  private static final ErasureOrder ALICE =
      new ErasureOrder("acme", Optional.of("alice"), Optional.empty());
  private static final ErasureOrder RUN =
      new ErasureOrder("acme", Optional.empty(), Optional.of("run-1"));

  /** The statement follows from an order, which is given before it. */
  private static void ordered(Remade remade, ErasureOrder order) {
    Digest id = change(remade, EventKind.CONTENTS_ERASED, order.toJson());
    byOrder(remade, id);
  }

  private static void byOrder(Remade remade, Digest order) {
    remade.change(
        statement(remade).body,
        document -> {
          TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
          members.remove("policy");
          members.remove("rule");
          members.put("order", JsonValue.of(order.toString()));
          return new JsonValue.Obj(members);
        });
  }

  private void erasures() {
    byte[] recorded = Erased.CONTENTS;
    add(recorded, "by-order", "contents are erased by an operator's order", "ok", _ -> {});
    add(
        ErasedAfterTimeWentBack.CONTENTS,
        "by-order-after-time-went-back",
        "an effect before the order has a later time, since time went back in between",
        "ok",
        _ -> {});
    add(
        recorded,
        "by-order-of-run",
        "the order is about the run",
        "ok",
        remade -> ordered(remade, RUN));
    add(
        recorded,
        "by-order-of-another-subject",
        "the order is about another subject",
        "EXE-961",
        remade -> ordered(remade, new ErasureOrder("acme", Optional.of("bob"), Optional.empty())));
    add(
        recorded,
        "by-order-of-another-run",
        "the order is about another run",
        "EXE-961",
        remade ->
            ordered(remade, new ErasureOrder("acme", Optional.empty(), Optional.of("run-2"))));
    add(
        recorded,
        "by-order-of-another-tenant",
        "the order is about another tenant",
        "EXE-961",
        remade ->
            ordered(remade, new ErasureOrder("other", Optional.of("alice"), Optional.empty())));
    add(
        recorded,
        "by-no-order",
        "the statement names an order that was not given",
        "EXE-961",
        remade -> byOrder(remade, Digest.sha256(Plot.CODE)));
    add(
        recorded,
        "by-later-order",
        "the order is given after the statement",
        "EXE-961",
        remade -> {
          Remade.Step statement = statement(remade);
          Digest id = bring(remade, EventKind.CONTENTS_ERASED, RUN.toJson(), statement.at);
          remade.bringSystemEvent(
              remade.steps.indexOf(statement) + 1, statement.at, EventKind.CONTENTS_ERASED, id);
          byOrder(remade, id);
        });
    add(
        recorded,
        "by-order-under-hold",
        "a hold covers the tenant when the order is given",
        "EXE-962 or EXE-950",
        remade -> {
          hold(remade, new LegalHold("case-7", "acme", Optional.empty()));
          ordered(remade, ALICE);
        });
    add(
        recorded,
        "by-order-run-held",
        "a hold covers the run when the statement is made",
        "EXE-961",
        remade -> {
          ordered(remade, RUN);
          hold(remade, new LegalHold("case-7", "acme", Optional.of("run-1")));
        });
    add(
        recorded,
        "by-order-of-all",
        "the order names both a subject and a run",
        "CAN-023 or EXE-950",
        remade ->
            ordered(remade, new ErasureOrder("acme", Optional.of("alice"), Optional.of("run-1"))));
    add(
        recorded,
        "by-order-and-rule",
        "the statement names an order and a policy",
        "EXE-952 or RPL-023",
        remade -> set(remade, "policy", JsonValue.of(POLICY.digest().toString())));
    add(
        recorded,
        "by-order-too-early",
        "the order was given more than a minute before the contents were named",
        "EXE-961",
        remade -> {
          Remade.Step first =
              remade.steps.stream()
                  .filter(step -> step.kind.equals(EventKind.RUN_OPENED))
                  .filter(step -> step.run.equals("run-1"))
                  .findFirst()
                  .orElseThrow();
          Instant early = first.at.minusSeconds(61);
          Digest id = bring(remade, EventKind.CONTENTS_ERASED, ALICE.toJson(), early);
          remade.bringSystemEvent(
              remade.steps.indexOf(first), early, EventKind.CONTENTS_ERASED, id);
          byOrder(remade, id);
        });
  }

  private void archive() {
    byte[] recorded = Archived.RUN;
    add(recorded, "archived", "contents were moved to the archive of closed runs", "ok", _ -> {});
    add(
        recorded,
        "archived-too-early",
        "the same a millisecond before policy lets the run be archived",
        "EXE-961",
        remade -> at(remade, deletion(remade).deletedAt().minusMillis(1)));
    add(
        recorded,
        "archived-while-open",
        "the statement stands before the closing of the run",
        "EXE-961 or EXE-954",
        remade -> {
          Remade.Step statement = statement(remade);
          Remade.Step closing =
              remade.steps.stream()
                  .filter(step -> step.kind.equals(EventKind.RUN_CLOSED))
                  .findFirst()
                  .orElseThrow();
          remade.steps.remove(statement);
          remade.steps.add(remade.steps.indexOf(closing), statement);
          closing.at = statement.at;
        });
    add(
        recorded,
        "archived-under-hold",
        "a hold covers the run",
        "EXE-961",
        remade -> hold(remade, new LegalHold("case-7", "acme", Optional.of("run-1"))));
    add(
        recorded,
        "archived-into-another-bundle",
        "a second statement about the run names another bundle than the first",
        "EXE-961",
        RetentionVectors::otherBundle);
    add(
        recorded,
        "archived-without-leave",
        "the policy in force does not let runs be archived",
        "EXE-961 or EXE-950",
        remade -> {
          JsonValue previous = remade.document(statement(remade).body).get("policy");
          Policy next =
              Plot.policy(
                  2,
                  Optional.of(Digest.parse(((JsonValue.Str) previous).value())),
                  LAST_LINE,
                  LAST_LINE);
          Digest id = remade.bring(SystemState.POLICY_TYPE, next.toJson(), List.of(kid("owner")));
          remade.bringSystemEvent(
              remade.steps.indexOf(statement(remade)),
              statement(remade).at,
              EventKind.POLICY_ACTIVATED,
              id);
          set(remade, "policy", JsonValue.of(id.toString()));
        });
    add(
        recorded,
        "archived-under-another-policy",
        "the statement names a policy that was never in force",
        "EXE-950",
        remade -> set(remade, "policy", JsonValue.of(Digest.sha256(Plot.CODE).toString())));
    add(
        recorded,
        "archived-and-by-rule",
        "the statement names a bundle and a rule",
        "EXE-952 or RPL-023",
        remade -> set(remade, "rule", JsonValue.of("hour")));
    add(
        recorded,
        "archived-another-size",
        "the statement says another size than the receipt",
        "EXE-961",
        remade ->
            contents(
                remade,
                deletion(remade).contents().stream()
                    .map(item ->
                        item.content() == ContentClass.OUTPUTS
                            ? new Deletion.Item(
                                item.content(), item.digest(), item.seq(), item.size() + 1)
                            : item)
                    .toList()));
    add(
        recorded,
        "archived-in-part",
        "one of the contents is in no statement",
        "RPL-023",
        remade -> {
          List<Deletion.Item> items = deletion(remade).contents();
          contents(remade, items.subList(0, items.size() - 1));
        });
  }

  /** The last content gets a statement of its own. */
  private static void otherBundle(Remade remade) {
    Remade.Step first = statement(remade);
    Deletion all = deletion(remade);
    int last = all.contents().size() - 1;
    Deletion.Archived in = (Deletion.Archived) all.reason();
    Deletion second =
        new Deletion(
            all.of(),
            new Deletion.Archived(in.policy(), Digest.sha256(Plot.CODE)),
            all.contents().subList(last, last + 1),
            all.deletedAt());
    contents(remade, all.contents().subList(0, last));
    Digest id = remade.bring(Deletion.TYPE, second.toJson(), List.of(kid("executor")));
    Remade.Step other = first.copy();
    other.body = id;
    remade.steps.add(remade.steps.indexOf(first) + 1, other);
  }

  private static Digest bring(Remade remade, String kind, JsonValue.Obj detail, Instant time) {
    return remade.bring(
        SystemChange.TYPE, new SystemChange(kind, detail, time).toJson(), List.of(kid("operator")));
  }

  private static void hold(Remade remade, LegalHold hold) {
    change(remade, EventKind.HOLD_PLACED, hold.toJson());
  }

  private static Digest change(Remade remade, String kind, JsonValue.Obj detail) {
    Instant time = statement(remade).at;
    Digest id = bring(remade, kind, detail, time);
    remade.bringSystemEvent(remade.steps.indexOf(statement(remade)), time, kind, id);
    return id;
  }

  private static JsonValue.Obj named(String hold) {
    return JsonValue.object().put("name", hold).build();
  }

  private void holds() {
    LegalHold ofTenant = new LegalHold("case-7", "acme", Optional.empty());
    add("held", "a hold covers the tenant", "EXE-961", remade -> hold(remade, ofTenant));
    add(
        "held-run",
        "a hold covers the run",
        "EXE-961",
        remade -> hold(remade, new LegalHold("case-7", "acme", Optional.of("run-1"))));
    add(
        "held-elsewhere",
        "holds cover another run and another tenant",
        "ok",
        remade -> {
          hold(remade, new LegalHold("case-7", "acme", Optional.of("run-2")));
          hold(remade, new LegalHold("case-8", "other", Optional.empty()));
        });
    add(
        "released",
        "the hold was released before",
        "ok",
        remade -> {
          hold(remade, ofTenant);
          change(remade, EventKind.HOLD_RELEASED, named("case-7"));
        });
    add(
        "held-twice",
        "a hold of that name is placed already",
        "EXE-004 or EXE-950",
        remade -> {
          hold(remade, ofTenant);
          hold(remade, ofTenant);
        });
    add(
        "released-without-hold",
        "no hold of that name is placed",
        "EXE-004 or EXE-950",
        remade -> change(remade, EventKind.HOLD_RELEASED, named("case-7")));
  }
}
