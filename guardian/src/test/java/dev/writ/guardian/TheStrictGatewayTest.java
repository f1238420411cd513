package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.profile.ExecuteAdmission;
import dev.writ.guardian.profile.ExecuteState;
import dev.writ.guardian.profile.ExecuteState.Seen;
import dev.writ.guardian.profile.Finding;
import dev.writ.guardian.profile.Profiles;
import dev.writ.guardian.profile.RejectionCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Seed 000: seven stages in their order, the first error wins, and the decision records it. */
class TheStrictGatewayTest {
  private static final ExecuteState EMPTY = ExecuteState.empty();

  /** One way to break the example. */
  private record Break(
      int stage, String code, String pointer, JsonValue value, ExecuteState state) {
    Break(int stage, String code, String pointer, JsonValue value) {
      this(stage, code, pointer, value, EMPTY);
    }

    String apply(String json) {
      return pointer.isEmpty() ? json : SeedZero.with(json, pointer, value);
    }

    @Override
    public String toString() {
      return code + " " + pointer;
    }
  }

  private static JsonValue text(String text) {
    return JsonValue.of(text);
  }

  private static JsonValue list(JsonValue... items) {
    return JsonValue.of(List.of(items));
  }

  private static final String OTHER = "99999999-9999-4999-8999-999999999999";

  private static final List<Break> BREAKS =
      List.of(
          new Break(1, "R-SCHEMA-002", "/surprise", text("x")),
          new Break(1, "R-SCHEMA-002", "/sandbox/seccomp", text("x")),
          new Break(1, "R-SCHEMA-003", "/execution_request_id", null),
          new Break(1, "R-SCHEMA-003", "/execution_request_id", text("not-a-uuid")),
          new Break(1, "R-SCHEMA-003", "/resources/timeout_ms", text("30000")),
          new Break(1, "R-SCHEMA-003", "/resources/timeout_ms", JsonValue.of(0)),
          new Break(1, "R-SCHEMA-003", "/resources/cpu", JsonValue.of(500)),
          new Break(1, "R-SCHEMA-003", "/resources/cpu", text("many")),
          new Break(1, "R-SCHEMA-003", "/resources/memory", text("0Mi")),
          new Break(1, "R-SCHEMA-003", "/audit/timestamp", text("yesterday")),
          new Break(1, "R-SCHEMA-003", "/context/tenant_id", JsonValue.NULL),
          new Break(1, "R-SCHEMA-003", "/context/workspace_id", null),
          new Break(1, "R-SCHEMA-003", "/execution_spec/executor", text("shell")),
          new Break(1, "R-SCHEMA-003", "/intent_ref", null),
          new Break(1, "R-SCHEMA-003", "/intent_ref/intent_version", text("")),
          new Break(1, "R-SCHEMA-003", "/intent_ref/intent_version", text("1".repeat(257))),
          new Break(1, "R-SCHEMA-003", "/intent_ref/intent_version", text("1\n")),
          new Break(1, "R-SCHEMA-003", "/intent_ref/intent_version", text("1\u007f")),
          new Break(1, "R-SCHEMA-003", "/execution_spec/target", text("")),
          new Break(1, "R-SCHEMA-003", "/execution_spec/target", text("echo\u0000hello")),
          new Break(1, "R-SCHEMA-003", "/resources/timeout_ms", new JsonValue.Num(0.5)),
          new Break(1, "R-SCHEMA-003", "/artifacts/output_files", text("a")),
          new Break(1, "R-SCHEMA-003", "/artifacts/output_files", list(JsonValue.of(1))),
          new Break(1, "R-SCHEMA-003", "/artifacts/output_files", list(text("a"), text(""))),
          new Break(1, "R-SCHEMA-003", "/audit/parent_trace_id", text("")),
          new Break(2, "R-CTX-001", "/context/tenant_id", null),
          new Break(2, "R-CTX-001", "/context/tenant_id", text("")),
          new Break(2, "R-CTX-002", "/context/subject_id", null),
          new Break(2, "R-CTX-003", "/context/trace_id", null),
          new Break(2, "R-CTX-003", "/intent_ref/trace_id", null),
          new Break(2, "R-CTX-004", "/context/workspace_id", text(OTHER)),
          new Break(2, "R-CTX-004", "/context/tenant_id", text(OTHER)),
          new Break(2, "R-CTX-004", "/context/subject_id", text(OTHER)),
          new Break(3, "R-INTENT-001", "/intent_ref/intent_id", null),
          new Break(3, "R-INTENT-002", "/intent_ref/intent_id", text(OTHER)),
          new Break(3, "R-INTENT-002", "/execution_spec/target", text("echo hello; id")),
          new Break(3, "R-INTENT-002", "/execution_spec/target", text("cat hello")),
          new Break(3, "R-INTENT-003", "/intent_ref/intent_version", text("1.1")),
          new Break(3, "R-INTENT-004", "/intent_ref/intent_id", text(SeedZero.CLOSED_ID)),
          new Break(4, "R-SEC-001", "/sandbox/network", text("enabled")),
          new Break(4, "R-SEC-002", "/sandbox/profile", text("privileged")),
          new Break(
              4,
              "R-SEC-003",
              "/execution_spec/parameters",
              JsonValue.object().put("db_password", "hunter2").build()),
          new Break(4, "R-SEC-003", "/execution_spec/target", text("echo /run/secrets/db")),
          new Break(5, "R-SBX-001", "/sandbox/profile", text("relaxed")),
          new Break(5, "R-SBX-001", "/sandbox/filesystem", text("persistent")),
          new Break(
              5,
              "R-SBX-002",
              "/intent_ref/intent_id",
              text("22222222-2222-4222-8222-0000000000e5")),
          new Break(6, "R-RES-001", "/resources/cpu", null),
          new Break(6, "R-RES-001", "/resources/cpu", text("")),
          new Break(6, "R-RES-002", "/resources/memory", text("")),
          new Break(6, "R-RES-002", "/resources/memory", null),
          new Break(6, "R-RES-003", "/resources/timeout_ms", null),
          new Break(6, "R-RES-004", "/resources/cpu", text("1001m")),
          new Break(6, "R-RES-004", "/resources/memory", text("257Mi")),
          new Break(6, "R-RES-004", "/resources/memory", text("999999999999E")),
          new Break(6, "R-RES-004", "/resources/timeout_ms", JsonValue.of(60_001)),
          new Break(7, "R-STATE-001", "", null, SeedZero.seen(Seen.DONE)),
          new Break(7, "R-STATE-002", "", null, SeedZero.seen(Seen.RUNNING)),
          new Break(7, "R-STATE-002", "/audit/timestamp", text("2026-11-21T11:54:59Z")),
          new Break(7, "R-STATE-002", "/audit/timestamp", text("2026-11-21T14:05:01+02:00")),
          new Break(7, "R-STATE-003", "", null, SeedZero.seen(Seen.OTHER_BODY)),
          new Break(7, "R-STATE-004", "/intent_ref/trace_id", text(OTHER)),
          new Break(7, "R-STATE-004", "", null, SeedZero.seen(Seen.NEW)));

  private static String code(ExecuteAdmission.Result result) {
    return result.finding().refusal().map(Finding.Refusal::code).orElse("accepted");
  }

  @Test
  void theSeedsOwnExampleIsAcceptedAndIsOneEffect() {
    ExecuteAdmission.Result result = SeedZero.check(SeedZero.EXAMPLE, EMPTY);
    assertThat(code(result)).isEqualTo("accepted");
    Effect effect = result.effect().orElseThrow();
    assertThat(effect.tool()).isEqualTo("js");
    assertThat(effect.params()).isEqualTo(World.json("{\"source\":\"echo 'hello'\"}"));
    assertThat(effect.resources())
        .as("half a processor for 30 s is 15 s of it; 128 Mi are bytes")
        .isEqualTo(new Resources(15_000, 128L << 20, 1_048_576, 30_000));
    Decision decision = SeedZero.judge(SeedZero.EXAMPLE, EMPTY);
    assertThat(decision.verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(decision.checks())
        .extracting(CheckOutcome::check)
        .containsExactly("profile", "prg", "budget", "temporal", "envelope");
  }

  @TestFactory
  Stream<DynamicTest> everyBreakGetsItsCodeFromTheProfileAndInTheDecision() {
    return BREAKS.stream()
        .map(one ->
            DynamicTest.dynamicTest(
                one.toString(),
                () -> {
                  String json = one.apply(SeedZero.EXAMPLE);
                  assertThat(code(SeedZero.check(json, one.state))).isEqualTo(one.code);
                  Decision decision = SeedZero.judge(json, one.state);
                  assertThat(decision.verdict()).isNotEqualTo(Verdict.ALLOW);
                  assertThat(decision.code()).contains(one.code);
                  assertThat(Decision.read(decision.toJson())).isEqualTo(decision);
                }));
  }

  @Test
  void whatIsNoJsonIsInvalidJson() {
    for (String body : List.of("", "{", "[1,2", "{\"a\":1,\"a\":2}", "\u0000", "nul")) {
      assertThat(code(SeedZero.check(body, EMPTY))).isEqualTo("R-SCHEMA-001");
      assertThat(SeedZero.judge(body, EMPTY).code()).contains("R-SCHEMA-001");
    }
    assertThat(code(SeedZero.check("[]", EMPTY))).isEqualTo("R-SCHEMA-003");
  }

  @Test
  void all24CodesAreProvoked() {
    TreeSet<String> provoked = new TreeSet<>(List.of("R-SCHEMA-001"));
    BREAKS.forEach(b -> provoked.add(b.code));
    assertThat(provoked)
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(RejectionCode.values()).map(RejectionCode::code).toList())
        .hasSize(24);
  }

  @Test
  void withSeveralErrorsTheEarliestStageWins() {
    long seed = Long.getLong("writ.seed", 20_261_122L);
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      List<Break> some = new ArrayList<>();
      String json = SeedZero.EXAMPLE;
      ExecuteState state = EMPTY;
      for (Break one : BREAKS) {
        boolean clash =
            some.stream()
                .anyMatch(other ->
                    other.pointer.equals(one.pointer)
                        || overlaps(other.pointer, one.pointer)
                        || other.state != EMPTY && one.state != EMPTY
                        || wasApproved(other, one));
        if (!clash && random.nextInt(12) == 0) {
          some.add(one);
        }
      }
      // Whole groups that are taken away go last: what was changed in them goes with them.
      for (Break one : some) {
        json = one.apply(json);
        state = one.state == EMPTY ? state : one.state;
      }
      if (!some.isEmpty()) {
        int first = some.stream().mapToInt(b -> b.stage).min().orElseThrow();
        String found = code(SeedZero.check(json, state));
        assertThat(some.stream().filter(b -> b.stage == first).map(b -> b.code))
            .as("seed %d, round %d, %s", seed, i, some)
            .contains(found);
      }
    }
  }

  /** What runs or ran under this very body was approved: then privileged is no error. */
  private static boolean wasApproved(Break first, Break then) {
    return first.code.equals("R-SEC-002") && then.state != EMPTY;
  }

  private static boolean overlaps(String a, String b) {
    return !a.isEmpty() && !b.isEmpty() && (a.startsWith(b + "/") || b.startsWith(a + "/"));
  }

  @Test
  void privilegedWaitsForItsApproversAndThenRuns() {
    String json = SeedZero.with("/sandbox/profile", "privileged");
    Policy policy = SeedZero.policy();
    Decision waits = SeedZero.judge(json, EMPTY);
    assertThat(waits.verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(waits.code()).contains("R-SEC-002");
    ExecuteAdmission.Result result = SeedZero.check(json, EMPTY);
    Admitted admitted =
        SeedZero.admitted(
            SeedZero.bytes(json),
            result.effect().orElseThrow(),
            result.request().requestId(),
            policy);
    Envelope yes =
        World.approval(World.REVIEWER, "rita", admitted, policy, Approval.Verdict.APPROVE);
    assertThat(SeedZero.judge(json, EMPTY, yes).verdict()).isEqualTo(Verdict.ALLOW);
    Envelope no = World.approval(World.REVIEWER, "rita", admitted, policy, Approval.Verdict.REJECT);
    assertThat(SeedZero.judge(json, EMPTY, no).verdict()).isEqualTo(Verdict.DENY);
  }

  @Test
  void privilegedWithALaterErrorNeverWaits() {
    String json =
        SeedZero.with(SeedZero.with("/sandbox/profile", "privileged"), "/resources/cpu", text("9"));
    Decision decision = SeedZero.judge(json, EMPTY);
    assertThat(decision.verdict()).isEqualTo(Verdict.DENY);
    assertThat(decision.code()).contains("R-SEC-002");
    assertThat(SeedZero.check(json, EMPTY).finding().beyond().orElseThrow().code())
        .isEqualTo("R-RES-004");
  }

  @Test
  void whatWaitedMayGoOnThoughItsTimestampIsOldByNow() {
    String json = SeedZero.with("/audit/timestamp", "2026-11-21T09:00:00Z");
    assertThat(code(SeedZero.check(json, SeedZero.seen(Seen.WAITING)))).isEqualTo("accepted");
  }

  @Test
  void aSurfaceThatVouchesForAnotherEffectIsRefused() {
    byte[] raw = SeedZero.bytes(SeedZero.EXAMPLE);
    Decision decision =
        SeedZero.judge(raw, SeedZero.anotherEffect(), Optional.of(SeedZero.REQUEST_ID), EMPTY);
    assertThat(decision.verdict()).isEqualTo(Verdict.DENY);
    assertThat(decision.code()).contains("GRD-702");
    Effect right = SeedZero.check(SeedZero.EXAMPLE, EMPTY).effect().orElseThrow();
    assertThat(SeedZero.judge(raw, right, Optional.empty(), EMPTY).code())
        .as("without the execution_request_id as its key it could run twice")
        .contains("GRD-702");
  }

  @Test
  void aSurfaceThatSkipsTheProfileIsRefused() {
    Policy policy = SeedZero.policy();
    Effect right = SeedZero.check(SeedZero.EXAMPLE, EMPTY).effect().orElseThrow();
    Admitted admitted =
        SeedZero.admitted(
            SeedZero.bytes(SeedZero.EXAMPLE), right, Optional.of(SeedZero.REQUEST_ID), policy);
    Decision decision =
        World.accounts(policy)
            .judge(
                admitted,
                SeedZero.circumstances(Optional.empty()),
                policy,
                SeedZero.trust(),
                World.NOW)
            .decision();
    assertThat(decision.verdict()).isEqualTo(Verdict.DENY);
    assertThat(decision.code()).contains("GRD-701");
    assertThatThrownBy(
            () -> Profiles.find(admitted.request(), SeedZero.bytes("{}"), policy, EMPTY, World.NOW))
        .isInstanceOf(WritException.class)
        .hasMessageStartingWith("GRD-701");
  }

  @Test
  void withoutASectionNothingIsAdmitted() {
    ExecuteAdmission.Result result =
        ExecuteAdmission.check(
            SeedZero.bytes(SeedZero.EXAMPLE),
            new ExecuteAdmission.Asker(World.TENANT, World.SUBJECT),
            World.policy(),
            EMPTY,
            World.NOW);
    assertThat(code(result)).isEqualTo("R-CTX-004");
  }

  @Test
  void noReasonQuotesThePayload() {
    String json =
        SeedZero.with(
            "/execution_spec/parameters",
            JsonValue.object().put("hunter2_token", "ghp_0123456789abcdefghij").build());
    String finding = SeedZero.check(json, EMPTY).finding().toJson().toString();
    assertThat(finding).doesNotContain("hunter2").doesNotContain("ghp_");
    assertThat(SeedZero.check("{\"hunter2\":1}", EMPTY).finding().toJson().toString())
        .doesNotContain("hunter2");
  }

  @Test
  void laterRefusalsAreToldInTheSeedsWords() {
    assertThat(RejectionCode.ofRefusal("GRD-201")).contains(RejectionCode.EXCEEDS_POLICY);
    assertThat(RejectionCode.ofRefusal("GRD-303")).contains(RejectionCode.EXCEEDS_POLICY);
    assertThat(RejectionCode.ofRefusal("GRD-302")).contains(RejectionCode.EXCEEDS_POLICY);
    assertThat(RejectionCode.ofRefusal("GRD-104")).contains(RejectionCode.PRIVILEGED);
    assertThat(RejectionCode.ofRefusal("GRD-102")).contains(RejectionCode.INTENT_UNKNOWN);
    assertThat(RejectionCode.ofRefusal("R-SBX-001")).contains(RejectionCode.PROFILE_INVALID);
    for (String code : List.of("EXE-301", "EXE-302", "EXE-303", "GRD-407")) {
      assertThat(RejectionCode.ofRefusal(code)).as(code).isPresent();
    }
    for (GuardianError refusal : GuardianError.values()) {
      assertThat(RejectionCode.ofRefusal(refusal.code()).isPresent())
          .as("%s is the request's fault, but for a clock that is far behind", refusal.code())
          .isEqualTo(refusal != GuardianError.JUDGED_LATE);
    }
    for (String ours : List.of("EXE-304", "EXE-305", "EXE-702", "EXE-904", "LED-023")) {
      assertThat(RejectionCode.ofRefusal(ours)).as("%s is no fault of the request", ours).isEmpty();
    }
  }
}
