package dev.writ.replay.proposal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.PolicyTest;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Role;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A proposed policy allows each call that it was made from, and not the next worse one. */
class WhatWasSeenIsAllowedTest {
  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private Optional<ToolManifest> manifest(ToolRef ref) {
    return home.tools.manifest(ref.name(), ref.version());
  }

  private ToolManifest tool(String name) {
    return home.tools.manifest(name, "1.0.0").orElseThrow();
  }

  private Decision ask(String tool, String params) {
    TestRequest request = home.ask("alice").tool(tool).params(params);
    return Decision.read(home.decide(request.sign()).decisionEnvelope().document());
  }

  private void seen(String tool, String... params) {
    for (String one : params) {
      assertThat(ask(tool, one).verdict()).as(one).isEqualTo(Verdict.ALLOW);
    }
  }

  private Proposal propose() {
    Policy inForce = home.policy();
    return PolicyProposal.of(inForce, SeenCall.read(home.ledger(), _ -> true), this::manifest);
  }

  private Proposal inForce() {
    Proposal proposal = propose();
    home.kernel().activate(home.signed(proposal.policy().following(home.policy())));
    return proposal;
  }

  private static JsonValue value(Random random, int depth) {
    return switch (random.nextInt(depth > 3 ? 7 : 10)) {
      case 0 -> JsonValue.NULL;
      case 1 -> JsonValue.of(random.nextBoolean());
      case 2 -> JsonValue.of(random.nextInt(-1000, 1000));
      case 3 -> new JsonValue.Num(random.nextDouble() * 1e6);
      case 4 -> JsonValue.of("word-" + random.nextInt(4));
      case 5 -> JsonValue.of("https://" + "abc".charAt(random.nextInt(3)) + ".example.com/x?y=1");
      case 6 -> JsonValue.of(text(random));
      case 7, 8 -> {
        List<JsonValue> items = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          items.add(value(random, depth + 1));
        }
        yield JsonValue.of(items);
      }
      default -> object(random, depth + 1);
    };
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(40); i > 0; i--) {
      text.appendCodePoint(
          switch (random.nextInt(5)) {
            case 0 -> "\"'\\`${}/.".charAt(random.nextInt(9));
            case 1 -> random.nextInt(1, 0x20);
            case 2 -> 0x1f600 + random.nextInt(0x40);
            case 3 -> 0x202e;
            default -> 'a' + random.nextInt(26);
          });
    }
    return text.toString();
  }

  private static JsonValue.Obj object(Random random, int depth) {
    TreeMap<String, JsonValue> members = new TreeMap<>();
    for (String name : List.of("path", "if", "a b", "in", "x", "\u00e9\"", "query", "type")) {
      if (random.nextInt(3) > 0) {
        members.put(name, value(random, depth));
      }
    }
    return new JsonValue.Obj(members);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void whateverTheArgumentsWere(long seed) {
    Random random = new Random(seed);
    List<String> all = new ArrayList<>();
    for (int i = random.nextInt(1, 12); i > 0; i--) {
      all.add(new String(Jcs.write(object(random, 1)), StandardCharsets.UTF_8));
    }
    seen("calc", all.toArray(String[]::new));
    Proposal proposal = inForce();
    assertThat(
            PolicyTest.run(
                proposal.policy(),
                proposal.cases().getBytes(StandardCharsets.UTF_8),
                "cases",
                this::manifest))
        .allMatch(PolicyTest.CaseResult::passed);
    for (String params : all) {
      Decision decision = ask("calc", params);
      assertThat(decision.verdict()).as(params + "\n" + decision.toJson()).isEqualTo(Verdict.ALLOW);
    }
    TreeMap<String, JsonValue> more = new TreeMap<>(object(random, 1).members());
    more.put("never", JsonValue.NULL);
    assertThat(
            ask("calc", new String(Jcs.write(new JsonValue.Obj(more)), StandardCharsets.UTF_8))
                .code())
        .contains("GRD-102");
  }

  /** Records at the bounds of what is described. */
  static Stream<List<String>> records() {
    String many =
        IntStream.range(0, 65)
            .mapToObj(i -> "\"n" + i + "\":" + i)
            .collect(Collectors.joining(",", "{", "}"));
    String long63 =
        IntStream.range(0, 63)
            .mapToObj(i -> "\"name-that-is-rather-long-" + "x".repeat(40) + i + "\":1")
            .collect(Collectors.joining(",", "{\"o\":{", "}}"));
    return Stream.of(
        List.of(many),
        List.of(long63),
        IntStream.range(0, 17).mapToObj(i -> "{\"u\":\"https://h" + i + ".example/\"}").toList(),
        IntStream.range(0, 20).mapToObj(i -> "{\"w\":\"word" + i + "\"}").toList(),
        List.of("{\"n\":1}", "{\"n\":1.5}", "{\"n\":-300}", "{\"n\":9007199254740991}"),
        List.of("{\"n\":1e300}"),
        List.of("{\"b\":true}", "{\"b\":false}", "{\"b\":true}"),
        List.of("{\"l\":[]}", "{\"l\":[[[[1]]]]}", "{\"l\":[[[{\"a\":{\"b\":{\"c\":1}}}]]]}"),
        List.of("{\"o\":{\"a\":{\"b\":{\"c\":{\"d\":1}}}}}", "{\"o\":{}}"),
        List.of("{\"p\":\"a/b/c\"}", "{\"p\":\"a/d\"}"),
        List.of("{\"p\":\"a/b\"}", "{\"p\":\"c/d\"}"),
        List.of("{\"p\":\"/etc/x\"}", "{\"p\":\"/var/y\"}"),
        List.of("{\"p\":\"a/../b\"}"),
        List.of("{\"p\":\"a//b\"}"),
        List.of("{\"p\":\"a b/c\"}"),
        List.of("{\"u\":\"ftp://x/y\"}"),
        List.of("{\"u\":\"https://u@h/\"}"),
        List.of("{\"u\":\"http:///y z\"}"),
        List.of("{\"\\u202e\":1}"));
  }

  @ParameterizedTest
  @MethodSource("records")
  void atTheBoundsOfWhatIsDescribed(List<String> all) {
    seen("calc", all.toArray(String[]::new));
    inForce();
    for (String params : all) {
      Decision decision = ask("calc", params);
      assertThat(decision.verdict()).as(params + decision.toJson()).isEqualTo(Verdict.ALLOW);
    }
  }

  @Test
  void aRoleGetsThePlacesThatWereUsed() {
    seen(
        "calc",
        "{\"file\":\"docs/a.txt\",\"env\":{\"LANG\":\"C\"},\"url\":\"https://a.example/\",\"run\":[\"git\",\"sh\"]}",
        "{\"file\":\"top.txt\",\"env\":7,\"url\":\"nowhere\"}");
    ToolManifest plain = tool("calc");
    ToolManifest able =
        new ToolManifest(
            plain.name(),
            plain.version(),
            plain.driver(),
            plain.determinism(),
            plain.operations(),
            new ToolManifest.Capabilities(
                List.of("/file"),
                List.of("/env"),
                List.of("/url"),
                List.of("/run"),
                List.of(),
                List.of("b.example:443"),
                List.of(),
                false),
            plain.resourcesMax(),
            plain.sandboxes(),
            plain.files());
    Role worker =
        PolicyProposal.of(
                home.policy(), SeenCall.read(home.ledger(), _ -> true), _ -> Optional.of(able))
            .policy()
            .roles()
            .get("worker");
    assertThat(worker.paths()).containsExactly(".", "docs");
    assertThat(worker.environment()).containsExactly("LANG");
    assertThat(worker.network()).containsExactly("a.example:443", "b.example:443");
    assertThat(worker.commands()).containsExactly("git", "sh");
    assertThat(worker.tools()).containsExactly("calc/do");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // what was seen, three times the same | what is refused then
        "'{\"url\":\"https://a.example/x\"}' | '{\"url\":\"https://a.example.evil/x\"}'",
        "'{\"url\":\"https://a.example/x\"}' | '{\"url\":\"https://a.example@evil.example/\"}'",
        "'{\"url\":\"https://a.example/x\"}' | '{\"url\":\"http://a.example/x\"}'",
        "'{\"url\":\"https://a.example/x\"}' | '{\"url\":\"https://axexample/x\"}'",
        "'{\"url\":\"https://a.example/x\"}' | '{\"url\":\"https://a.example:8443/x\"}'",
        "'{\"at\":\"docs/a/b.txt\"}' | '{\"at\":\"docs/a/../../etc/passwd\"}'",
        "'{\"at\":\"docs/a/b.txt\"}' | '{\"at\":\"docs/b/b.txt\"}'",
        "'{\"at\":\"docs/a/b.txt\"}' | '{\"at\":\"docs/ab/b.txt\"}'",
        "'{\"how\":\"fast\"}' | '{\"how\":\"slow\"}'",
        "'{\"how\":\"fast\"}' | '{\"how\":1}'",
        "'{\"how\":\"fast\"}' | '{}'",
        "'{\"force\":false}' | '{\"force\":true}'",
        "'{\"n\":70}' | '{\"n\":101}'",
        "'{\"n\":70}' | '{\"n\":-1}'",
        "'{\"n\":70}' | '{\"n\":7.5}'",
        "'{\"l\":[1,2]}' | '{\"l\":[1,2,3]}'",
        "'{\"l\":[1,2]}' | '{\"l\":[1,\"2\"]}'",
        "'{\"o\":{\"a\":1}}' | '{\"o\":{\"a\":1,\"b\":1}}'",
        "'{\"o\":{\"a\":1}}' | '{\"o\":{}}'",
      })
  void theNextWorseCallIsNot(String good, String bad) {
    seen("calc", good, good, good);
    inForce();
    assertThat(ask("calc", good).verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(ask("calc", bad).verdict()).isEqualTo(Verdict.DENY);
  }

  @Test
  void whatNobodyCalledIsNot() {
    seen("calc", "{}");
    Proposal proposal = inForce();
    assertThat(proposal.calls()).isEqualTo(1);
    assertThat(ask("sim", "{}").code()).contains("GRD-101");
    assertThat(
            Decision.read(
                    home.decide(home.ask("alice").tool("calc").operation("text").sign())
                        .decisionEnvelope()
                        .document())
                .code())
        .contains("GRD-101");
    assertThat(proposal.policy().tools()).hasSize(1);
    assertThat(proposal.policy().roles().get("stand-in").tools()).isEmpty();
  }

  @Test
  void whatWasDeniedStaysDeniedAndApprovalsStayAsked() {
    assertThat(ask("mail", "{\"forbidden\":1}").verdict()).isEqualTo(Verdict.DENY);
    seen("mail", "{\"to\":\"a\"}");
    TestRequest paid = home.ask("alice").tool("pay");
    home.submit(paid);
    home.approve(paid.sign(), "rita");
    Proposal proposal = inForce();
    assertThat(proposal.text()).contains("approvals: { role: reviewer, count: 1 }");
    assertThat(ask("mail", "{\"forbidden\":1}").verdict()).isEqualTo(Verdict.DENY);
    assertThat(ask("pay", "{}").verdict()).isEqualTo(Verdict.ESCALATE);
  }

  private static Envelope delegated(Request request) {
    Envelope link =
        Envelope.sign(
            Delegation.TYPE,
            new Delegation(
                    TestKeys.TENANT,
                    TestKeys.key("boss").kid(),
                    TestKeys.key("alice").kid(),
                    List.of("calc"),
                    TestHome.START,
                    TestHome.START.plusSeconds(3600),
                    0)
                .toJson(),
            TestKeys.key("boss"));
    JsonValue.Obj said =
        PolicyDocument.with(
            request.toJson(), "delegations", _ -> JsonValue.of(List.of(link.toJson())));
    return Envelope.sign(Request.TYPE, said, TestKeys.key("alice"));
  }

  /** What a call was judged by beside its arguments is in its case, which would not hold else. */
  @Test
  void casesHaveDelegatorsInputsEvidenceApprovalsAndWhatCameBefore() {
    home.enrol(TestKeys.trusted("boss", KeyRole.PRINCIPAL, Optional.of(TestKeys.TENANT)));
    String type = "application/vnd.example.tests+json";
    home.activate(
        TestPolicy.YAML
            .replace(
                "  - { tenant: acme, subject: bob,",
                "  - { tenant: acme, subject: boss, roles: [worker] }\n"
                    + "  - { tenant: acme, subject: bob,")
            .replace(
                "{ cel: '!has(params.forbidden)' }",
                "{ artifact: { type: " + type + ", role: attestor } }")
            .replace(
                "requirements:",
                "temporal:\n  order:\n    - { effect: { tool: sim, operation: do },"
                    + " after: { tool: calc, operation: do } }\nrequirements:"));
    Request shared = home.ask("alice").tool("calc").request();
    assertThat(home.submit(delegated(shared)).decision().verdict()).isEqualTo(Verdict.ALLOW);
    Content put =
        home.kernel()
            .contents()
            .put(TestKeys.TENANT, new ByteArrayInputStream(new byte[] {'x'}), "text/plain");
    assertThat(
            home.submit(home.ask("alice").tool("sim").input("a", put.digest(), put.size()))
                .decision()
                .verdict())
        .isEqualTo(Verdict.ALLOW);
    Envelope tested =
        Envelope.sign(type, JsonValue.object().put("passed", true).build(), TestKeys.key("ci"));
    assertThat(
            home.kernel()
                .submit(
                    home.ask("alice").tool("mail").evidence(List.of(tested.id())).bytes(),
                    List.of(tested))
                .decision()
                .verdict())
        .isEqualTo(Verdict.ALLOW);
    TestRequest paid = home.ask("alice").tool("pay");
    home.submit(paid);
    home.approve(paid.sign(), "rita");
    Proposal proposal = propose();
    assertThat(proposal.calls()).isEqualTo(4);
    assertThat(proposal.cases())
        .contains(
            "delegators:", "inputs:", "artifacts:", "approvals:", "succeeded:", "boss", "rita");
    assertThat(
            PolicyTest.run(
                proposal.policy(),
                proposal.cases().getBytes(StandardCharsets.UTF_8),
                "cases",
                this::manifest))
        .allMatch(PolicyTest.CaseResult::passed);
  }

  @Test
  void observingLetsThroughAndCountsForTheProposal() {
    assertThat(ask("pay", "{}").verdict()).isEqualTo(Verdict.ESCALATE);
    Policy before = home.policy();
    String text = ObservingPolicy.of(before, List.of(tool("pay"), tool("calc")));
    Policy observing = Policy.parse(text.getBytes(StandardCharsets.UTF_8), "observing");
    home.kernel().activate(home.signed(observing.following(before)));
    for (int i = 0; i < 30; i++) {
      seen("pay", "{}");
    }
    seen("mail", "{\"forbidden\":1}");
    Proposal proposal = inForce();
    assertThat(proposal.policy().observes()).isFalse();
    assertThat(proposal.policy().rates().get("seen-calls-a-minute").limit()).isEqualTo(62);
    assertThat(proposal.policy().budgets().get("seen-calls-a-day").limit()).contains(62L);
    assertThat(proposal.text()).contains("# 30 calls, by alice; this rule was there");
    assertThat(ask("pay", "{}").verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(ask("mail", "{\"forbidden\":1}").verdict()).isEqualTo(Verdict.ALLOW);
  }
}
