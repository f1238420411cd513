package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Random requests under random requirements: what must hold for all of them. */
class JudgementIsPureTest {
  private static final long SEED = Long.getLong("writ.seed", 20261121L);
  private static final int ROUNDS = Integer.getInteger("writ.rounds", 60);

  /** A random requirement, as a policy writes it. */
  private static String requirement(Random random, int depth, boolean approvals) {
    int kind = random.nextInt(depth > 2 ? 3 : 6);
    return switch (kind) {
      case 0 -> "{ cel: '" + cel(random) + "' }";
      case 1 ->
          approvals
              ? "{ approvals: { role: reviewer, count: " + (1 + random.nextInt(2)) + " } }"
              : "{ cel: '" + cel(random) + "' }";
      case 2 -> "{ artifact: { type: application/vnd.example.report+json, role: attestor } }";
      case 3 -> "{ all: " + children(random, depth, approvals) + " }";
      case 4 -> "{ any: " + children(random, depth, approvals) + " }";
      default -> "{ none: " + children(random, depth, false) + " }";
    };
  }

  private static String children(Random random, int depth, boolean approvals) {
    List<String> children = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      children.add(requirement(random, depth + 1, approvals));
    }
    return "[ " + String.join(", ", children) + " ]";
  }

  private static String cel(Random random) {
    List<String> some =
        List.of(
            "true",
            "false",
            "params.n > 3",
            "has(params.n)",
            "size(params.source) < 4",
            "params.missing == 1 && false",
            "subject == \"researcher\"",
            "\"analyst\" in roles",
            "time.getHours() < 13",
            "size(artifacts) == 1");
    return some.get(random.nextInt(some.size()));
  }

  private static World.RequestBuilder request(Random random) {
    World.RequestBuilder request =
        World.request()
            .nonce("n" + random.nextInt())
            .params(
                "{\"source\":\""
                    + "x".repeat(random.nextInt(8))
                    + "\""
                    + (random.nextBoolean() ? ",\"n\":" + random.nextInt(8) : "")
                    + (random.nextInt(5) == 0 ? ",\"file\":\"data/x\"" : "")
                    + "}");
    request.resources =
        new Resources(random.nextInt(8_000), random.nextInt(1_000), 1, random.nextInt(6_000));
    return request;
  }

  @Test
  void theSameInputsGiveTheSameBytesHoweverTheyWereBuilt() {
    System.out.println("writ.seed=" + SEED);
    int allowed = 0;
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(SEED + round);
      Policy policy = World.policyRequiring(requirement(random, 0, true));
      Admitted a = request(random).admit(policy);
      Envelope rita = World.approval(World.REVIEWER, "rita", a, policy, Approval.Verdict.APPROVE);
      Envelope roy = World.approval(World.REVIEWER2, "roy", a, policy, Approval.Verdict.APPROVE);
      Decision one = judge(policy, a, rita, roy);
      assertThat(bytes(judge(policy, a, roy, rita, rita)))
          .as("round " + round + ": the order of approvals says nothing")
          .isEqualTo(bytes(one));
      Policy rebuilt = Policy.ofCanonical(Jcs.parse(Jcs.write(policy.toJson())));
      Decision read = Decision.read(Jcs.parseCanonical(Jcs.write(one.toJson()), Limits.DEFAULT));
      Admitted again = Admission.admit(a.envelope(), World.trust(), rebuilt, World.NOW);
      ToolManifest manifest = ToolManifest.read(World.manifest().toJson());
      Decision two =
          Judge.judge(
              again,
              manifest,
              rebuilt,
              JudgeInputs.read(read.inputs()),
              read.snapshot(),
              read.supersedes());
      assertThat(bytes(two)).as("round " + round).isEqualTo(bytes(one));
      allowed += one.verdict() == Verdict.ALLOW ? 1 : 0;
    }
    assertThat(allowed).as("the generator reaches both answers").isBetween(1, ROUNDS - 1);
  }

  @Test
  void approvalsOnlyEverHelpUnlessTheyReject() {
    System.out.println("writ.seed=" + SEED);
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(SEED + round);
      Policy policy = World.policyRequiring(requirement(random, 0, true));
      Admitted a = request(random).admit(policy);
      Envelope rita = World.approval(World.REVIEWER, "rita", a, policy, Approval.Verdict.APPROVE);
      Envelope roy = World.approval(World.REVIEWER2, "roy", a, policy, Approval.Verdict.APPROVE);
      int none = rank(judge(policy, a));
      int one = rank(judge(policy, a, rita));
      int two = rank(judge(policy, a, rita, roy));
      // An escalation may turn out a denial by a later check; a denial never was an escalation.
      if (none == 2) {
        assertThat(one).as("round " + round).isEqualTo(2);
      }
      if (one == 2) {
        assertThat(two).as("round " + round).isEqualTo(2);
      }
      if (none == 0) {
        assertThat(two).as("round " + round + ": a denial cannot be approved").isZero();
      }
      Envelope reject = World.approval(World.REVIEWER2, "roy", a, policy, Approval.Verdict.REJECT);
      Decision rejected = judge(policy, a, rita, reject);
      assertThat(rejected.verdict()).isEqualTo(Verdict.DENY);
      assertThat(rejected.code()).contains("GRD-105");
    }
  }

  @Test
  void whatIsNotRecordedIsUnknownAndNeverZero() {
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(SEED + round);
      Policy policy =
          World.policy(
              World.POLICY.replace(
                  "requirements:",
                  "temporal:\n  rates: [ { name: burst, scope: tenant, limit: 9, per_s: 10 } ]\n"
                      + "requirements:"));
      World.RequestBuilder builder = request(random);
      builder.resources = new Resources(1, 1, 1, 1);
      Decision decision = judge(policy, builder.params("{\"source\":\"1\"}").admit(policy));
      assertThat(decision.verdict()).isEqualTo(Verdict.ALLOW);
      for (String list : List.of("balances", "rates")) {
        var members = new TreeMap<>(decision.inputs().members());
        members.put(list, JsonValue.of(List.of()));
        Decision unknown =
            Judge.judge(
                builder.admit(policy),
                World.manifest(),
                policy,
                JudgeInputs.read(new JsonValue.Obj(members)),
                World.SNAPSHOT,
                Optional.empty());
        assertThat(unknown.code()).contains(list.equals("rates") ? "GRD-304" : "GRD-202");
      }
    }
  }

  private static int rank(Decision decision) {
    return switch (decision.verdict()) {
      case DENY -> 0;
      case ESCALATE -> 1;
      case ALLOW -> 2;
    };
  }

  private static Decision judge(Policy policy, Admitted a, Envelope... approvals) {
    return World.accounts(policy)
        .judge(a, World.circumstances(approvals), policy, World.trust(), World.NOW)
        .decision();
  }

  private static byte[] bytes(Decision decision) {
    return Jcs.write(decision.toJson());
  }

  @Test
  void theDocumentsReadBackAsTheyWereWritten() {
    for (int round = 0; round < ROUNDS; round++) {
      Request request = request(new Random(SEED + round)).request();
      assertThat(Request.read(request.toJson()).toJson()).isEqualTo(request.toJson());
    }
  }
}
