package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.TrustVectors.kid;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.reads.ReadLog;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.Remade;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The part of golden-vectors/bundle in which the log states what people read of the run
 * (spec/read-event.md).
 */
final class ReadVectors {
  private static final String LAST_LINE = "execute_for: [stand-in]\n";
  private static final Policy POLICY = recording("bundles, outputs");

  private static final List<TestParty> PARTIES =
      Plot.PARTIES.stream()
          .filter(party ->
              List.of("operator", "owner", "guardian", "executor", "log", "alice")
                  .contains(party.name()))
          .toList();

  private static final class Holder {
    static final byte[] READ = record(POLICY);
  }

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    ReadVectors vectors = new ReadVectors();
    vectors.stated();
    vectors.statements();
    vectors.forms();
    vectors.ofThePolicy();
    return vectors.made;
  }

  private static Policy recording(String words) {
    return Plot.policy(
        1,
        Optional.empty(),
        LAST_LINE,
        LAST_LINE + "reads: [ { tenant: acme, what: [" + words + "] } ]\n");
  }

  /** An effect, whose run is closed; then its output is read, and the run's bundle. */
  private static byte[] record(Policy policy) {
    TestTools tools = BundleVectors.tools();
    try (TestHome home = Scenario.setup(PARTIES, policy.toJson(), tools, Plot.START).found()) {
      BundleVectors.submit(home, ask("alice", "calc", "n-1"), "alice");
      Digest receipt = home.last("acme", "run-1").orElseThrow().body();
      BundleVectors.close(home, "run-1");
      home.clock.forward(Duration.ofSeconds(60));
      read(home, ReadEvent.Thing.of("run-1", receipt), ReadClass.OUTPUTS);
      read(home, ReadEvent.Thing.ofRun("run-1"), ReadClass.BUNDLES);
      home.kernel().checkpoint();
      return FullRun.export(home, tools, BundleExport.Options.WHOLE.withReads());
    }
  }

  private static void read(TestHome home, ReadEvent.Thing thing, ReadClass what) {
    home.kernel()
        .recordRead(
            new ReadLog.Look(
                "a session",
                new ReadEvent.Person("acme", "otto", "session"),
                List.of(thing),
                List.of(what)));
  }

  private void add(String name, String about, String wanted, Consumer<Remade> change) {
    add(Holder.READ, name, about, wanted, change);
  }

  private void add(byte[] read, String name, String about, String wanted, Consumer<Remade> change) {
    Remade remade = FullRun.remade(read);
    change.accept(remade);
    made.add(Made.bundle("reads-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  private static Remade.Step statement(Remade remade) {
    return remade.steps.stream()
        .filter(step -> step.kind.equals(EventKind.CONTENT_READ))
        .findFirst()
        .orElseThrow();
  }

  private static void set(Remade remade, String member, Optional<JsonValue> value) {
    remade.change(
        statement(remade).body,
        document -> {
          TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
          members.remove(member);
          value.ifPresent(v -> members.put(member, v));
          return new JsonValue.Obj(members);
        });
  }

  private static void set(Remade remade, String member, String value) {
    set(remade, member, Optional.of(JsonValue.of(value)));
  }

  private static void what(Remade remade, String... words) {
    List<JsonValue> values = new ArrayList<>();
    for (String word : words) {
      values.add(JsonValue.of(word));
    }
    set(remade, "what", Optional.of(JsonValue.of(values)));
  }

  private void stated() {
    add("stated", "two reads of the run are stated", "ok", _ -> {});
    add(
        "left-out",
        "one of them is not in the bundle, which cannot show that",
        "ok",
        remade -> remade.steps.remove(statement(remade)));
    add(
        "two-words",
        "one statement about two things that policy has recorded",
        "ok",
        remade -> what(remade, "bundles", "outputs"));
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
        "another-time",
        "the statement's time is not that of its event",
        "EXE-953",
        remade -> statement(remade).at = statement(remade).at.plusMillis(1));
    add(
        "with-a-seed",
        "the event has a seed",
        "EXE-953",
        remade -> statement(remade).seed = Optional.of("0f".repeat(32)));
    add(
        "no-such-policy",
        "the statement names a policy that was never in force",
        "EXE-950",
        remade -> set(remade, "policy", Digest.sha256(Plot.CODE).toString()));
    add(
        "after-another-policy",
        "another policy was put in force before, which has nothing recorded",
        "EXE-950",
        ReadVectors::anotherPolicy);
    add(
        "not-recorded",
        "policy does not have that recorded",
        "EXE-954",
        remade -> what(remade, "parameters"));
    add(
        "one-not-recorded",
        "policy has one of two things recorded",
        "EXE-954",
        remade -> what(remade, "outputs", "parameters"));
    add(
        "of-another-tenant",
        "policy has nothing of that tenant recorded",
        "EXE-954",
        remade -> set(remade, "tenant", "other"));
    add(
        "of-another-run",
        "the statement is about another run",
        "EXE-953",
        remade -> set(remade, "run", "run-2"));
    add(
        "of-no-run",
        "the statement names a content and no run",
        "EXE-953",
        remade -> set(remade, "run", Optional.empty()));
    add(
        "in-another-run",
        "the event stands in the run of deletions",
        "EXE-954",
        remade -> statement(remade).run = "retention");
  }

  private static void anotherPolicy(Remade remade) {
    Policy next = Plot.policy(2, Optional.of(POLICY.digest()), LAST_LINE, LAST_LINE);
    Digest id = remade.bring(SystemState.POLICY_TYPE, next.toJson(), List.of(kid("owner")));
    int before = remade.steps.indexOf(statement(remade));
    remade.bringSystemEvent(before, statement(remade).at, EventKind.POLICY_ACTIVATED, id);
  }

  private void forms() {
    add(
        "no-word",
        "the statement says nothing of what was read",
        "EXE-952",
        remade -> what(remade));
    add(
        "not-sorted",
        "what was read is not sorted",
        "EXE-952",
        remade -> what(remade, "outputs", "bundles"));
    add(
        "twice",
        "a word stands there twice",
        "EXE-952",
        remade -> what(remade, "outputs", "outputs"));
    add("no-such-word", "a word that is none", "EXE-952", remade -> what(remade, "everything"));
    add(
        "nothing",
        "the statement names neither a run nor a digest",
        "EXE-952",
        remade -> {
          set(remade, "run", Optional.empty());
          set(remade, "id", Optional.empty());
        });
  }

  /** Where reads of the policy itself are recorded, too; they are about no run. */
  private void ofThePolicy() {
    byte[] read = record(recording("bundles, outputs, policy"));
    add(
        read,
        "policy-has-the-word",
        "policy has reads of itself recorded beside others",
        "ok",
        _ -> {});
    add(
        read,
        "policy-in-a-bundle",
        "a statement about the policy, which is of no run",
        "EXE-953",
        remade -> {
          what(remade, "policy");
          set(remade, "run", Optional.empty());
        });
    add(
        read,
        "policy-of-a-run",
        "the policy is said to be of a run",
        "EXE-952",
        remade -> what(remade, "policy"));
    add(
        read,
        "policy-and-outputs",
        "one statement about the policy and about an output",
        "EXE-952",
        remade -> {
          what(remade, "outputs", "policy");
          set(remade, "run", Optional.empty());
        });
  }
}
