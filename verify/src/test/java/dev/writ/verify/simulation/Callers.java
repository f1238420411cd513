package dev.writ.verify.simulation;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.SystemDocuments;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.simulation.disk.MemoryDisk.Operation;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/** Who calls the kernel, what they were told, and whether it still holds. */
final class Callers {
  /** More than stays in the database (spec/storage.md). */
  private static final int LARGE = 66_000;

  /** What was acknowledged lately and is looked at again by the next life. */
  private static final int RECENT = 6;

  private final Simulation simulation;
  private final SplittableRandom random;
  private final TreeMap<Digest, byte[]> acknowledged = new TreeMap<>();
  private final List<Served> recent = new ArrayList<>();
  private final List<Envelope> requests = new ArrayList<>();
  private final List<Answer> decided = new ArrayList<>();
  private final List<Content> uploads = new ArrayList<>();
  private final TreeMap<String, SigningKey> keyFiles = new TreeMap<>();
  private boolean writesKey;
  private int names;

  /** Of different ages and classes, one of them up to a size. */
  private static final List<String> RULES =
      List.of(
          """
          storage: { bytes_max: 10000000, unnamed_s: 60 }
          retention:
            rules:
              - { name: large, contents: [outputs], match: { tool: mail }, keep_s: 0, bytes_max: 200000 }
              - { name: all, contents: [inputs, outputs, observations], keep_s: 10 }
          """,
          "retention: { rules: [ { name: now, contents: [outputs, observations], keep_s: 0 } ] }\n",
          "retention: { rules: [ { name: later, contents: [inputs], keep_s: 3600 } ] }\n",
          sealed("subject"),
          sealed("subject"),
          sealed("run"));

  private static String sealed(String by) {
    return """
    retention:
      rules: [ { name: old, contents: [observations], keep_s: 60 } ]
      sealed: { contents: [inputs, outputs, observations, artifacts], by: %s }
    """
        .formatted(by);
  }

  Callers(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random;
  }

  static boolean isLarge(JsonValue.Obj params) {
    return params.members().containsKey("large");
  }

  static byte[] large(String what) {
    byte[] content = new byte[LARGE];
    Arrays.fill(content, (byte) '.');
    byte[] head = what.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(head, 0, content, 0, head.length);
    return content;
  }

  void call() {
    simulation.counts.calls++;
    if (simulation.focus == Focus.DELETION && random.nextInt(3) == 0) {
      deletion();
      return;
    }
    int dice = simulation.focus.turn(random.nextInt(100), random);
    if (dice < 8) {
      twins();
    } else if (dice < 30) {
      attempt("submit", () -> submit(fresh()));
    } else if (dice < 48) {
      attempt("repeat", () -> submit(random.nextBoolean() ? newest() : any(requests)));
    } else if (dice < 57) {
      attempt("decide", () -> decide(random.nextBoolean() ? fresh() : any(requests)));
    } else if (dice < 67) {
      attempt("execute", this::execute);
    } else if (dice < 76) {
      attempt("approve", this::approve);
    } else if (dice < 81) {
      attempt("resolve", this::resolveTwice);
    } else if (dice < 85) {
      attempt("close", this::close);
    } else if (dice < 88) {
      attempt("activate", this::activate);
    } else if (dice < 90) {
      attempt("enrol", this::enrol);
    } else if (dice < 96) {
      aimed(() -> simulation.faults().aimAtBlobs(sync()));
      simulation.begin(() -> attempt("put", this::put));
      attempt("put", this::put);
    } else if (dice < 98) {
      attempt("collect", this::collect);
    } else if (dice < 99) {
      attempt("key", this::key);
    } else {
      attempt("intrude", simulation::intrude);
    }
  }

  /**
   * Rules are put in force and applied, and subjects and runs erased, by two at once perhaps; holds
   * come and go.
   */
  private void deletion() {
    int dice = random.nextInt(10);
    if (dice < 2) {
      attempt("rules", () -> activate(TestPolicy.YAML + RULES.get(random.nextInt(RULES.size()))));
    } else if (dice < 4) {
      attempt("hold", this::hold);
    } else if (dice < 6) {
      attempt("erase", this::erase);
    } else {
      attempt("submit", () -> submit(fresh()));
      if (dice == 9) {
        simulation.begin(() -> attempt("retain", this::retain));
      } else if (dice == 8) {
        simulation.begin(() -> attempt("carry out", this::carryOut));
      }
      attempt("retain", this::retain);
    }
  }

  private void retain() {
    ContentRetention.Run run = simulation.kernel().contents().retain(simulation.clock().now());
    if (run.deleted().contents() > 0) {
      simulation.counts.outcome("contents deleted");
    }
  }

  /** Orders that a subject or a run be erased, while others are at work. */
  private void erase() {
    String agent = random.nextBoolean() ? "alice" : "bob";
    boolean ofRun = random.nextInt(3) == 0;
    simulation
        .kernel()
        .change(
            SystemDocuments.change(
                EventKind.CONTENTS_ERASED,
                new ErasureOrder(
                        TestKeys.TENANT,
                        ofRun ? Optional.empty() : Optional.of(agent),
                        ofRun ? Optional.of(agent + random.nextInt(2)) : Optional.empty())
                    .toJson(),
                simulation.clock().now()));
  }

  /** Carries out the orders; each that nothing keeps it from is carried out then. */
  void carryOut() {
    Kernel kernel = simulation.kernel();
    SortedSet<Digest> given = new TreeSet<>(kernel.contents().erasures().keySet());
    given.removeAll(kernel.contents().erase(simulation.clock().now()).waiting().keySet());
    for (Digest order : given) {
      if (kernel.contents().erasures().get(order).isEmpty()) {
        simulation.wrong.add("nothing keeps it, and it is not carried out: " + order);
      }
      simulation.counts.outcome("carried out");
    }
  }

  /** Places the one hold, or releases it. */
  private void hold() {
    boolean placed = !simulation.kernel().system().holds().isEmpty();
    simulation
        .kernel()
        .change(
            SystemDocuments.change(
                placed ? EventKind.HOLD_RELEASED : EventKind.HOLD_PLACED,
                placed
                    ? JsonValue.object().put("name", "case").build()
                    : new LegalHold("case", TestKeys.TENANT, Optional.of("alice0")).toJson(),
                simulation.clock().now()));
  }

  /** Two calls with one request at once, as of a client that loses patience. */
  private void twins() {
    Envelope request = fresh();
    simulation.begin(() -> attempt("twin", () -> submit(request)));
    attempt("twin", () -> submit(request));
  }

  private void attempt(String what, Runnable action) {
    try {
      action.run();
      simulation.counts.outcome(what + " ok");
    } catch (WritException e) {
      simulation.refused(what, e);
    }
  }

  private <T> T any(List<T> list) {
    if (list.isEmpty()) {
      throw new WritException(ExecutorError.UNKNOWN_ID, "nothing yet");
    }
    return list.get(random.nextInt(list.size()));
  }

  /** Which somebody else may just be about to send. */
  private Envelope newest() {
    any(requests);
    return requests.getLast();
  }

  private Envelope fresh() {
    String agent = random.nextBoolean() ? "alice" : "bob";
    int number = names++;
    TestRequest request =
        new TestRequest(TestKeys.TENANT, agent, "nonce-" + (number % 40), simulation.clock().now())
            .run(agent + random.nextInt(2))
            .tool(List.of("calc", "sim", "mail", "mail", "pay").get(random.nextInt(5)))
            .params("{\"n\":" + number + "}");
    if (random.nextInt(6) == 0) {
      String key = "key" + random.nextInt(3);
      request.key(key).tool("mail").params("{\"key\":\"" + agent + key + "\"}");
    } else if (random.nextInt(8) == 0) {
      request.tool("mail").operation("text").params("{\"large\":" + number + "}");
    }
    if (random.nextInt(5) == 0) {
      byte[] nowhere = {1};
      request.input("data", Digest.sha256(nowhere), 1);
    } else if (!uploads.isEmpty() && random.nextInt(5) == 0) {
      Content content = any(uploads);
      request.input("data", content.digest(), content.size());
    }
    Envelope signed = request.sign();
    requests.add(signed);
    return signed;
  }

  private void submit(Envelope request) {
    note(simulation.kernel().submit(request.toBytes(), List.of()));
  }

  private void decide(Envelope request) {
    note(simulation.kernel().decide(request.toBytes(), List.of()));
  }

  private void note(Answer answer) {
    if (answer.intent().isPresent()) {
      decided.add(answer);
    }
    answer.served().ifPresent(this::note);
  }

  /** A receipt that was handed out is the one of its request for good, and so is its output. */
  private void note(Served served) {
    Receipt receipt = served.receipt();
    byte[] bytes = served.envelope().toBytes();
    byte[] before = acknowledged.putIfAbsent(receipt.request(), bytes);
    if (before == null) {
      recent.add(served);
    } else if (!Arrays.equals(before, bytes)) {
      simulation.wrong.add("another receipt of " + receipt.request());
    }
    served
        .output()
        .filter(output ->
            !Digest.sha256(output).equals(receipt.output().map(Content::digest).orElse(null)))
        .ifPresent(_ -> simulation.wrong.add("another output of " + receipt.request()));
  }

  private void execute() {
    Answer answer = any(decided);
    String agent = answer.decision().scope().subject();
    Envelope intent = answer.intent().orElseThrow();
    note(
        simulation
            .kernel()
            .execute(
                answer.decisionEnvelope(),
                intent,
                Envelope.sign(
                    ExecutionOrder.TYPE,
                    new ExecutionOrder(TestKeys.TENANT, intent.id(), simulation.clock().now())
                        .toJson(),
                    TestKeys.key(agent))));
  }

  private void approve() {
    Envelope request = any(requests);
    Request read = Request.read(request.document());
    note(
        simulation
            .kernel()
            .approve(
                Envelope.sign(
                    Approval.TYPE,
                    new Approval(
                            read.scope().tenant(),
                            "rita",
                            "reviewer",
                            request.id(),
                            read.effect().digest(),
                            simulation.kernel().system().policyInForce().digest(),
                            Approval.Verdict.APPROVE,
                            simulation.clock().now(),
                            simulation.clock().now().plusSeconds(3600))
                        .toJson(),
                    TestKeys.key("rita"))));
  }

  /** Now and then a fault goes to the very operation that is about to begin. */
  private void aimed(Runnable fault) {
    if (random.nextInt(simulation.focus.aimsOneIn) == 0) {
      fault.run();
    }
  }

  private Operation sync() {
    return random.nextInt(4) == 0 ? Operation.SYNC_DIRECTORY : Operation.SYNC;
  }

  /** Two operators at once, of whom only one can be right. */
  private void resolveTwice() {
    Digest doubt = any(doubts());
    aimed(() -> simulation.faults().aimAtStore());
    simulation.begin(() -> attempt("resolve", () -> resolve(doubt)));
    resolve(doubt);
  }

  private List<Digest> doubts() {
    List<Digest> doubts = new ArrayList<>();
    simulation
        .kernel()
        .ledger()
        .scan(
            Tables.DOUBT,
            "",
            (key, value) -> {
              if (value.length == 0) {
                doubts.add(Digest.parse("sha256:" + key));
              }
              return true;
            });
    return doubts;
  }

  private void resolve(Digest doubt) {
    simulation
        .kernel()
        .resolve(
            Envelope.sign(
                Resolution.TYPE,
                new Resolution(
                        TestKeys.TENANT,
                        doubt,
                        Resolution.Found.CANNOT_BE_KNOWN,
                        "looked",
                        List.of(),
                        simulation.clock().now())
                    .toJson(),
                TestKeys.key("operator")));
  }

  private void close() {
    String agent = random.nextBoolean() ? "alice" : "bob";
    simulation
        .kernel()
        .closeRun(
            Envelope.sign(
                RunClose.TYPE,
                new RunClose(TestKeys.TENANT, agent + random.nextInt(2), simulation.clock().now())
                    .toJson(),
                TestKeys.key(agent)));
  }

  private void activate() {
    activate(
        random.nextBoolean()
            ? TestPolicy.YAML
            : TestPolicy.YAML
                .replace("window_s: 86400", "window_s: 60")
                .replace("request_age_max_s: 300", "request_age_max_s: 30"));
  }

  private void activate(String yaml) {
    Policy before = simulation.kernel().system().policyInForce();
    simulation
        .kernel()
        .activate(
            SystemDocuments.policy(TestPolicy.after(before, yaml, Simulation.TOOLS).toJson()));
  }

  void enrol() {
    enrol(simulation.kernel());
  }

  void enrol(Kernel kernel) {
    kernel.change(
        SystemDocuments.enrolment(
            TestKeys.trusted("extra-" + names++, KeyRole.OPERATOR, Optional.empty()),
            simulation.clock().now()));
  }

  /** The same contents come again and again, from several at once. */
  private void put() {
    byte[] content = large("upload " + random.nextInt(12));
    uploads.add(
        simulation
            .kernel()
            .contents()
            .put(TestKeys.TENANT, "alice", new ByteArrayInputStream(content), "text/plain"));
  }

  private void collect() {
    simulation.kernel().contents().collect(simulation.clock().now());
  }

  /** One at a time: another's failing sync of the directory would take this name with it. */
  private void key() {
    if (writesKey) {
      throw new WritException(ExecutorError.UNKNOWN_ID, "another key is being written");
    }
    writesKey = true;
    try {
      writeKey();
    } finally {
      writesKey = false;
    }
  }

  private void writeKey() {
    String name = "key-" + names++;
    SigningKey key = TestKeys.key("extra-" + random.nextInt(20));
    KeyFiles.write(simulation.keys().resolve(name), key, null, null);
    keyFiles.put(name, key);
  }

  // Whether what they were told still holds.

  /** Of the last life: what it handed out is there when the next one has begun. */
  void recheck() {
    int size = recent.size();
    List.copyOf(recent.subList(Math.max(0, size - RECENT), size))
        .forEach(served -> note(simulation.kernel().receipt(TestKeys.TENANT, served.id())));
  }

  /** The same by the rows alone: every receipt is there. */
  void recheck(LedgerView ledger) {
    for (Served served : recent) {
      if (ledger.get(Tables.SERVED, Tables.key(served.receipt().request())).isEmpty()) {
        simulation.wrong.add("an acknowledged receipt is gone: " + served.id());
      }
    }
  }

  /** What is looked at again from now on is handed out from now on. */
  void forget() {
    recent.clear();
    writesKey = false;
  }

  /** Whatever the ledger knows is answered, and no receipt is another one. */
  void answered() {
    LedgerView ledger = simulation.kernel().ledger();
    for (Envelope request : requests) {
      boolean known = ledger.get(Tables.REQUEST, Tables.key(request.id())).isPresent();
      boolean served = ledger.get(Tables.SERVED, Tables.key(request.id())).isPresent();
      if (acknowledged.containsKey(request.id()) && !served) {
        simulation.wrong.add("an acknowledged receipt is gone, of " + request.id());
      }
      try {
        Answer answer = simulation.kernel().decide(request.toBytes(), List.of());
        answer.served().ifPresent(this::note);
        simulation.counts.inDoubt +=
            answer.served().filter(s -> s.receipt().reason().equals("in-doubt")).isPresent()
                ? 1
                : 0;
        if (!known && answer.decision().verdict() == Verdict.ALLOW) {
          simulation.wrong.add("judged a day later: " + request.id());
        }
      } catch (WritException e) {
        boolean unseen = e.code() == GuardianError.REQUEST_NEVER_SEEN;
        boolean lapsed = known && !served;
        if (unseen == known || served || !unseen && !lapsed) {
          simulation.wrong.add(
              e.getMessage() + (known ? ", known" : ", unknown") + (served ? ", served" : ""));
        }
      }
    }
    keyFiles.forEach(this::requireKey);
    simulation.counts.acknowledged = acknowledged.size();
  }

  private void requireKey(String name, SigningKey key) {
    Path file = simulation.keys().resolve(name);
    try {
      if (!KeyFiles.read(file, () -> null).verifyingKey().equals(key.verifyingKey())) {
        simulation.wrong.add(file + " holds another key");
      }
    } catch (WritException e) {
      simulation.wrong.add("a key file is lost: " + e);
    }
  }
}
