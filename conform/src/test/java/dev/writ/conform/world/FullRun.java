package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.document.ToolApproval;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.Remade;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One run with whatever a verifier has an opinion on: approvals, a delegation, evidence, a receipt
 * of another run, a governed tool on its whole way, denials and repeats. After it is closed two of
 * its signers' keys are revoked. For forgers: vectors, mutants, and the fuzzer of whole bundles.
 */
final class FullRun {
  static final List<TestParty> PARTIES = new ArrayList<>(Plot.GOVERNING);

  static {
    PARTIES.add(new TestParty("boss", KeyRole.PRINCIPAL, Optional.of(Plot.TENANT)));
    PARTIES.add(new TestParty("ci", KeyRole.ATTESTOR, Optional.of(Plot.TENANT)));
  }

  private static final String BOB =
      "{\"roles\":[\"worker\"],\"subject\":\"bob\",\"surfaces\":[],\"tenant\":\"acme\"}";

  static final Policy POLICY =
      Policy.ofCanonical(
          Plot.json(
              new String(Jcs.write(Plot.GOVERNED.toJson()), StandardCharsets.UTF_8)
                  .replace(BOB, BOB + "," + BOB.replace("bob", "boss"))));

  private static final String EVIDENCE = "application/vnd.example.tests+json";

  /** Secrets by key id. */
  private static final TreeMap<String, SigningKey> KEYS = new TreeMap<>();

  static {
    PARTIES.forEach(
        party -> KEYS.put(TestKeys.key(party.name()).kid(), TestKeys.key(party.name())));
    for (String name : List.of("mallory", OtherRuns.SURFACE.name())) {
      KEYS.put(TestKeys.key(name).kid(), TestKeys.key(name));
    }
  }

  /** The run when it was closed. */
  final byte[] closed;

  /** The same at the end, when alice's key and ada's are revoked. */
  final byte[] latest;

  /** In the middle of it, open. */
  final byte[] open;

  private static final class Holder {
    static final FullRun MADE = new FullRun(false);
    static final FullRun LEAN = new FullRun(true);
  }

  static FullRun made() {
    return Holder.MADE;
  }

  /** The same with four requests alone: by delegation, with evidence, with approval, governed. */
  static FullRun lean() {
    return Holder.LEAN;
  }

  private FullRun(boolean lean) {
    TestTools tools = BundleVectors.tools();
    tools.register(Plot.WORDS);
    try (TestHome home = Scenario.setup(PARTIES, POLICY.toJson(), tools, Plot.START).found()) {
      govern(home);
      home.clock.forward(Duration.ofSeconds(120));
      if (!lean) {
        work(home);
      }
      brought(home);
      stages(home);
      home.kernel().checkpoint();
      open = export(home, tools, BundleExport.Options.WHOLE);
      change(home, EventKind.TOOL_REVOKED, Plot.json("{\"tool\":\"words\",\"version\":\"1.0.0\"}"));
      home.clock.forward(Duration.ofSeconds(180));
      if (!lean) {
        submit(home, ask("alice", "words", "n-9").at(240));
      }
      BundleVectors.close(home, "run-1");
      closed = export(home, tools, BundleExport.Options.WHOLE);
      home.clock.forward(Duration.ofSeconds(3600));
      for (String name : List.of("alice", "ada")) {
        change(
            home,
            EventKind.KEY_REVOKED,
            JsonValue.object().put("kid", TestKeys.key(name).kid()).build());
      }
      home.kernel().checkpoint();
      latest = export(home, tools, BundleExport.Options.WHOLE.atLatest());
    }
  }

  /** Its bundle in the hands of who holds every key. */
  static Remade remade(byte[] bundle) {
    return Remade.of(bundle, FullRun::key, TestKeys.key("log"));
  }

  /** The secret of a party's key; of none else. */
  static SigningKey key(String kid) {
    SigningKey key = KEYS.get(kid);
    if (key == null) {
      throw new IllegalArgumentException("whose is " + kid);
    }
    return key;
  }

  static byte[] export(TestHome home, TestTools tools, BundleExport.Options options) {
    return BundleExport.of(
        home.kernel().ledger(), new RunId("acme", "run-1"), BundleVectors.packages(tools), options);
  }

  static Answer submit(TestHome home, Plot.Ask ask, Envelope... evidence) {
    Answer answer =
        home.kernel()
            .submit(
                Envelope.sign(Request.TYPE, ask.document(), TestKeys.key("alice")).toBytes(),
                List.of(evidence));
    home.clock.forward(Duration.ofSeconds(1));
    return answer;
  }

  static void change(TestHome home, String kind, JsonValue.Obj detail) {
    home.kernel()
        .change(
            Envelope.sign(
                SystemChange.TYPE,
                new SystemChange(kind, detail, home.clock.instant()).toJson(),
                TestKeys.key("operator")));
    home.clock.forward(Duration.ofSeconds(1));
  }

  static void govern(TestHome home) {
    var words = Plot.WORDS.ref();
    home.kernel()
        .change(
            Envelope.sign(
                ToolSubmission.TYPE,
                new ToolSubmission(words, home.clock.instant()).toJson(),
                TestKeys.key("pub")));
    change(home, EventKind.TOOL_VALIDATED, new ToolValidation(words, "v", List.of()).toJson());
    for (String approver : List.of("ada", "ben")) {
      home.kernel()
          .change(
              Envelope.sign(
                  ToolApproval.TYPE,
                  new ToolApproval(
                          words,
                          approver,
                          "tool-reviewer",
                          Approval.Verdict.APPROVE,
                          home.clock.instant())
                      .toJson(),
                  TestKeys.key(approver)));
    }
    change(
        home,
        EventKind.TOOL_STAGED,
        new ToolStaging(
                words, RolloutStage.CANARY, Optional.of(new Canary(List.of("acme"), 0, false)))
            .toJson());
  }

  private static JsonValue list(JsonValue... items) {
    return JsonValue.of(List.of(items));
  }

  private static Envelope delegation(TestHome home) {
    return Envelope.sign(
        Delegation.TYPE,
        new Delegation(
                "acme",
                TestKeys.key("boss").kid(),
                TestKeys.key("alice").kid(),
                List.of("calc", "mail"),
                Plot.START,
                Plot.START.plusSeconds(3600),
                0)
            .toJson(),
        TestKeys.key("boss"));
  }

  private static void work(TestHome home) {
    submit(home, ask("alice", "calc", "n-1"));
    Answer other = submit(home, ask("alice", "calc", "n-2").with("run", "run-2"));
    submit(
        home,
        ask("alice", "mail", "n-3")
            .with("consumes", list(JsonValue.of(other.served().orElseThrow().id().toString()))));
    submit(home, ask("alice", "mail", "n-4").params("{\"forbidden\":1}"));
    byte[] input = "some input".getBytes(StandardCharsets.UTF_8);
    Digest put =
        home.kernel()
            .contents()
            .put("acme", new ByteArrayInputStream(input), "text/plain")
            .digest();
    submit(
        home,
        ask("alice", "sim", "n-6")
            .with("delegations", list())
            .effect(
                "inputs",
                list(
                    JsonValue.object()
                        .put("digest", put)
                        .put("media_type", "text/plain")
                        .put("name", "a.txt")
                        .put("size", (long) input.length)
                        .build())));
  }

  /** With documents that others signed. */
  private static void brought(TestHome home) {
    submit(home, ask("alice", "mail", "n-7").with("delegations", list(delegation(home).toJson())));
    Envelope tests =
        Envelope.sign(EVIDENCE, JsonValue.object().put("passed", true).build(), TestKeys.key("ci"));
    submit(
        home,
        ask("alice", "mail", "n-8").with("evidence", list(JsonValue.of(tests.id().toString()))),
        tests);
    pay(home);
  }

  static void stages(TestHome home) {
    submit(home, ask("alice", "words", "n-5"));
    change(
        home,
        EventKind.TOOL_STAGED,
        new ToolStaging(Plot.WORDS.ref(), RolloutStage.ACTIVE, Optional.empty()).toJson());
  }

  private static void pay(TestHome home) {
    Envelope pay =
        Envelope.sign(Request.TYPE, ask("alice", "pay", "n-10").document(), TestKeys.key("alice"));
    home.kernel().submit(pay.toBytes(), List.of());
    SystemState system = home.kernel().system();
    home.kernel()
        .approve(
            Envelope.sign(
                Approval.TYPE,
                new Approval(
                        "acme",
                        "rita",
                        "reviewer",
                        pay.id(),
                        Request.read(pay.document()).effect().digest(),
                        system.policyInForce().digest(),
                        Approval.Verdict.APPROVE,
                        home.clock.instant(),
                        home.clock.instant().plusSeconds(3600))
                    .toJson(),
                TestKeys.key("rita")));
    home.kernel().submit(pay.toBytes(), List.of());
    home.clock.forward(Duration.ofSeconds(1));
  }
}
