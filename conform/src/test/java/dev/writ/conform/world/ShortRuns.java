package dev.writ.conform.world;

import static dev.writ.conform.world.OtherRuns.vouched;
import static dev.writ.conform.world.Plot.again;
import static dev.writ.conform.world.Plot.approve;
import static dev.writ.conform.world.Plot.ask;
import static dev.writ.conform.world.Plot.clock;
import static dev.writ.conform.world.Plot.close;
import static dev.writ.conform.world.Plot.ref;
import static dev.writ.conform.world.Plot.step;
import static dev.writ.conform.world.Plot.tool;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.verify.bundle.Remade;
import dev.writ.verify.bundle.Unpacked;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Closed runs of few parties and few effects, so that a vector in which one is forged is small. */
final class ShortRuns {
  /** An operator of the tenant. */
  static final TestParty WARDEN =
      new TestParty("warden", KeyRole.OPERATOR, Optional.of(Plot.TENANT));

  /** A second key of alice's, whose id comes before that of her first. */
  static final SigningKey QUANTUM = quantum(TestKeys.key("alice").kid());

  private static final List<TestParty> SIX =
      FullRun.PARTIES.stream()
          .filter(party ->
              List.of("operator", "owner", "guardian", "executor", "log", "alice")
                  .contains(party.name()))
          .toList();

  /** One effect of the tool calc. */
  static final Supplier<byte[]> SERVED =
      once(() -> run(Plot.policy(), ask("alice", "calc", "n-1").submit()));

  /** One effect, under a policy that has every section. */
  static final Supplier<byte[]> EVERY_SECTION =
      once(() -> run(Plot.EVERY_SECTION, ask("alice", "calc", "n-1").submit()));

  /**
   * One effect of calc, then denials: of calc by its manifest, by a rule, by the manifest of a tool
   * that nothing else uses, and of a tool that no policy has.
   */
  static final Supplier<byte[]> DENIED =
      once(() ->
          run(
              Plot.policy(),
              ask("alice", "calc", "n-1").submit(),
              ask("alice", "calc", "n-2").effect("operation", "nothing").submit(),
              ask("alice", "mail", "n-3").params("{\"forbidden\":1}").submit(),
              ask("alice", "sim", "n-4").effect("operation", "nothing").submit(),
              ask("alice", "words", "n-5").submit()));

  /** A denial by a requirement that says what callers are told. */
  static final Supplier<byte[]> TOLD =
      once(() ->
          run(
              Plot.policy(
                  1,
                  Optional.empty(),
                  "'!has(params.forbidden)' } }",
                  "'!has(params.forbidden)' }, message: \"Leave out what is forbidden.\" }"),
              ask("alice", "calc", "n-1").submit(),
              ask("alice", "mail", "n-2").params("{\"forbidden\":1}").submit()));

  /** What is denied is the only call of its tool, which is not in the bundle. */
  static final Supplier<byte[]> OBSERVED_APART =
      once(() ->
          run(
              observing(Plot.policy()),
              ask("alice", "calc", "n-1").submit(),
              ask("alice", "sim", "n-2").effect("operation", "nothing").submit()));

  /**
   * Under a policy that only observes: what a rule would deny, what would wait for an approval, and
   * what the tool's own manifest denies all the same.
   */
  static final Supplier<byte[]> OBSERVED =
      once(() ->
          run(
              observing(Plot.policy()),
              ask("alice", "calc", "n-1").submit(),
              ask("alice", "mail", "n-2").params("{\"forbidden\":1}").submit(),
              ask("alice", "pay", "n-3").submit(),
              ask("alice", "calc", "n-4").effect("operation", "nothing").submit()));

  private static Policy observing(Policy policy) {
    ObjectBuilder document = JsonValue.object();
    policy.toJson().members().forEach(document::put);
    return Policy.ofCanonical(document.put("mode", "observe").build());
  }

  /** An intent that is refused for its sandbox, and a denial of the same tool by its manifest. */
  static final Supplier<byte[]> LAPSED =
      once(() ->
          OtherRuns.bundle(
              SIX,
              Plot.TOOLS,
              List.of("EXE-305"),
              Plot.policy().toJson(),
              ask("alice", "odd", "n-1").effect("sandbox", "missing-box").submit(),
              ask("alice", "odd", "n-2")
                  .effect("sandbox", "missing-box")
                  .effect("operation", "nothing")
                  .submit(),
              close("run-1", "alice")));

  /** Two effects with the same input; the second consumes the first and one of another run. */
  static final Supplier<byte[]> CONSUMING = once(ShortRuns::consuming);

  /** What is paid after an approval, and what is rejected. */
  static final Supplier<byte[]> APPROVED =
      once(() ->
          OtherRuns.bundle(
              with("rita"),
              Plot.TOOLS,
              List.of(),
              Plot.policy().toJson(),
              ask("alice", "pay", "n-1").submit(),
              approve(1, "rita", "approve"),
              again(1),
              ask("alice", "pay", "n-2").submit(),
              approve(4, "rita", "reject"),
              close("run-1", "alice")));

  /** A doubt in a workspace, which an operator of the tenant resolves, and an effect after it. */
  static final Supplier<byte[]> DOUBTED = once(ShortRuns::doubted);

  /** By delegation, and denied. */
  static final Supplier<byte[]> DELEGATED =
      once(() ->
          OtherRuns.bundle(
              with("boss"),
              Plot.TOOLS,
              List.of(),
              FullRun.POLICY.toJson(),
              ask("alice", "mail", "n-1")
                  .params("{\"forbidden\":1}")
                  .with("delegations", JsonValue.of(List.of(delegation().toJson())))
                  .submit(),
              close("run-1", "alice")));

  /** A surface asks for alice. */
  static final Supplier<byte[]> VOUCHED =
      once(() ->
          OtherRuns.bundle(
              with(OtherRuns.SURFACE),
              Plot.TOOLS,
              List.of(),
              OtherRuns.sharing(Plot.policy()),
              vouched("alice", "calc", "n-1"),
              close("run-1", "mcp")));

  /** A surface asks for two, of whom who opened the run meets a canary and the other does not. */
  static final Supplier<byte[]> CANARY = once(ShortRuns::canary);

  private ShortRuns() {}

  private static <T> Supplier<T> once(Supplier<T> make) {
    return new Supplier<>() {
      private Optional<T> made = Optional.empty();

      @Override
      public synchronized T get() {
        made = made.or(() -> Optional.of(make.get()));
        return made.get();
      }
    };
  }

  private static List<TestParty> with(String... names) {
    return Stream.concat(
            SIX.stream(),
            FullRun.PARTIES.stream().filter(party -> List.of(names).contains(party.name())))
        .toList();
  }

  private static List<TestParty> with(TestParty... more) {
    return Stream.concat(SIX.stream(), Stream.of(more)).toList();
  }

  private static byte[] run(Policy policy, ObjectBuilder... steps) {
    List<ObjectBuilder> all = new ArrayList<>(Arrays.asList(steps));
    all.add(close("run-1", "alice"));
    List<ToolManifest> tools = Stream.concat(Plot.TOOLS.stream(), Stream.of(Plot.WORDS)).toList();
    return OtherRuns.bundle(
        SIX, tools, List.of(), policy.toJson(), all.toArray(ObjectBuilder[]::new));
  }

  /** Payments under mandates. */
  static byte[] mandated(List<ObjectBuilder> steps) {
    return OtherRuns.bundle(
        SIX, Plot.TOOLS, List.of(), Plot.MANDATED.toJson(), steps.toArray(ObjectBuilder[]::new));
  }

  private static byte[] consuming() {
    JsonValue input = ExecutorVectors.input("some input");
    return run(
        Plot.policy(),
        step("put")
            .put("tenant", Plot.TENANT)
            .put("content_b64", StrictBase64.encode(ExecutorVectors.bytes("some input")))
            .put("media_type", "text/plain"),
        ask("alice", "calc", "n-0").with("run", "run-2").submit(),
        ask("alice", "calc", "n-1").effect("inputs", input).submit(),
        ask("alice", "mail", "n-2")
            .effect("inputs", input)
            .with("consumes", JsonValue.of(List.of(ref("receipt", 2), ref("receipt", 3))))
            .submit());
  }

  private static byte[] doubted() {
    return OtherRuns.bundle(
        with(WARDEN),
        Plot.IN_WORKSPACES,
        List.of(),
        Plot.WORKSHOP.toJson(),
        tool("desk", "{\"does\":\"crash\"}"),
        ask("alice", "desk", "n-1").submit(),
        again(2),
        tool(
            "desk",
            "{\"appends_b64\":\"YQ==\",\"does\":\"end\",\"end\":\"succeeded\","
                + "\"media_type\":\"application/json\",\"message\":\"\","
                + "\"output_b64\":\"eyJvayI6dHJ1ZX0=\",\"reason\":\"ok\"}"),
        step("resolve").put("receipt", 3).put("found", "happened").put("signer", "warden"),
        ask("alice", "desk", "n-2").submit(),
        close("run-1", "alice"));
  }

  private static Envelope delegation() {
    return Envelope.sign(
        Delegation.TYPE,
        new Delegation(
                Plot.TENANT,
                TestKeys.key("boss").kid(),
                TestKeys.key("alice").kid(),
                List.of("mail"),
                Plot.START,
                Plot.START.plusSeconds(3600),
                0)
            .toJson(),
        TestKeys.key("boss"));
  }

  private static int place(String subject) {
    CanaryDraw draw = new CanaryDraw(Plot.TENANT, "run-1", subject);
    int share = 0;
    while (!new Canary(List.of(), share, true).includes("words", "1.0.0", draw)) {
      share++;
    }
    return share - 1;
  }

  private static byte[] canary() {
    ToolRef words = Plot.WORDS.ref();
    boolean alice = place("alice") < place("bob");
    String owner = alice ? "alice" : "bob";
    int percent = place(owner) + 1;
    List<TestParty> parties =
        Stream.concat(with("bob", "pub", "ada", "ben").stream(), Stream.of(OtherRuns.SURFACE))
            .toList();
    return OtherRuns.bundle(
        parties,
        List.of(Plot.WORDS),
        List.of(),
        OtherRuns.sharing(Plot.GOVERNED),
        says(EventKind.TOOL_SUBMITTED, named(words), "pub"),
        says(
            EventKind.TOOL_VALIDATED,
            new ToolValidation(words, "v", List.of()).toJson(),
            "operator"),
        approves(words, "ada"),
        approves(words, "ben"),
        says(
            EventKind.TOOL_STAGED,
            new ToolStaging(
                    words, RolloutStage.CANARY, Optional.of(new Canary(List.of(), percent, true)))
                .toJson(),
            "operator"),
        clock(120),
        vouched(owner, "words", "n-1"),
        vouched(alice ? "bob" : "alice", "words", "n-2"),
        close("run-1", "mcp"));
  }

  private static ObjectBuilder says(String kind, JsonValue.Obj detail, String signer) {
    return step("change").put("kind", kind).put("detail", detail).put("signer", signer);
  }

  private static JsonValue.Obj named(ToolRef tool) {
    return JsonValue.object()
        .put("tool", tool.name())
        .put("version", tool.version())
        .put("package", tool.packageDigest())
        .build();
  }

  private static ObjectBuilder approves(ToolRef tool, String approver) {
    JsonValue.Obj said =
        TrustVectors.set("approver", approver)
            .andThen(TrustVectors.set("role", "tool-reviewer"))
            .andThen(TrustVectors.set("verdict", "approve"))
            .apply(named(tool));
    return says(EventKind.TOOL_APPROVED, said, approver);
  }

  private static SigningKey quantum(String before) {
    for (int i = 0; ; i++) {
      SigningKey key =
          SigningKey.mlDsa65(
              Digest.sha256(("alice, ML-DSA-65, " + i).getBytes(StandardCharsets.UTF_8)).bytes());
      if (key.kid().compareTo(before) < 0) {
        return key;
      }
    }
  }

  /** In the hands of who holds every key. */
  static Remade remade(byte[] bundle) {
    return Remade.of(bundle, ShortRuns::key, TestKeys.key("log"));
  }

  private static SigningKey key(String kid) {
    if (kid.equals(QUANTUM.kid())) {
      return QUANTUM;
    }
    return kid.equals(TestKeys.key(WARDEN.name()).kid())
        ? TestKeys.key(WARDEN.name())
        : FullRun.key(kid);
  }

  /** As if it had been exported without tools. */
  static byte[] withoutTools(Remade remade) {
    remade.manifest = TrustVectors.set("tools", "left-out");
    TreeMap<String, byte[]> entries = remade.entries();
    entries.keySet().removeIf(name -> name.startsWith("tools/"));
    return Unpacked.pack(entries);
  }

  /** How many bytes the envelope of a document has, which is not changed. */
  static long size(Remade remade, Digest id) {
    return remade.entries().get("documents/" + id.hex() + ".json").length;
  }
}
