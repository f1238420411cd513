package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyAdvice;
import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions run in bounded steps, and whatever goes wrong in one is never a yes. */
class HostileExpressionsTest {

  private static Decision judge(String cel, String params) {
    Policy policy = World.policyRequiring("{ cel: '" + cel.replace("'", "''") + "' }");
    return World.judge(policy, World.request().params(params));
  }

  /** Doubles something forty times: 2^40 steps or bytes if nothing stopped it. */
  private static String doubled(String start, String step, String end) {
    return start + step.repeat(40) + end;
  }

  @Test
  void growthIsStoppedByTheCostLimitAndNotByTheClock() {
    for (String cel :
        new String[] {
          doubled("['ab']", ".map(x, x + x)", ".size() == 1"),
          doubled("[[1]]", ".map(x, [x, x])", ".size() == 1"),
          doubled("[[1]]", ".map(x, [x, x])", " == dyn([[1]])"),
          doubled("[[1, 2]]", ".map(x, x + x)", ".size() == 1"),
        }) {
      // The bound on time only ends the test where the limit failed; it is no measurement.
      Decision decision =
          Assertions.assertTimeoutPreemptively(
              Duration.ofSeconds(60), () -> judge(cel, "{\"source\":\"1\"}"));
      assertThat(decision.code()).as(cel).contains("GRD-103");
      assertThat(decision.checks().getFirst().detail()).contains("cost limit");
    }
  }

  @Test
  void nestedLoopsOverParamsAreStopped() {
    StringBuilder list = new StringBuilder("1");
    for (int i = 0; i < 2_000; i++) {
      list.append(",1");
    }
    Policy policy =
        World.policyRequiring(
            "{ cel: 'params.l.all(a, params.l.all(b, params.l.all(c, a == b && b == c)))' }");
    Decision decision =
        World.judge(policy, World.request().params("{\"source\":\"1\",\"l\":[" + list + "]}"));
    assertThat(decision.code()).contains("GRD-103");
  }

  @Test
  void patternsRunInLinearTime() {
    Decision decision =
        judge("params.source.matches(\"^(a+)+$\")", "{\"source\":\"" + "a".repeat(20_000) + "!\"}");
    assertThat(decision.code()).contains("GRD-102");
  }

  /** Linear, but in the program of the pattern as well: minutes of one request, if not counted. */
  @Test
  void whatPatternsTakeIsCounted() {
    String text = "{\"source\":\"" + "a".repeat(70_000) + "\"}";
    for (String pattern : new String[] {"([a-z]{1,400})b", "(.*a){100}b", "(a|aa|ab){1,60}b"}) {
      String tenTimes =
          "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(i, !params.source.matches(\"PATTERN\"))";
      Decision decision = judge(tenTimes.replace("PATTERN", pattern), text);
      assertThat(decision.code()).as(pattern).contains("GRD-103");
      assertThat(decision.checks().getFirst().detail()).contains("cost limit");
    }
    assertThat(judge("!params.source.matches(\".*password.*\")", text).verdict())
        .isEqualTo(Verdict.ALLOW);
    assertThat(judge("matches(params.source, \"^[a-z]+$\")", text).verdict())
        .isEqualTo(Verdict.ALLOW);
  }

  @Test
  void aPatternThatIsLargeOnlyOnceItIsCompiledIsNotCompiled() {
    String grown = "((a{1,1000}){1,1000}){1,1000}";
    for (String pattern :
        new String[] {grown, "(" + grown + ")\\\\Q\\\\E{1000}", "a{1,1000}b{2}"}) {
      Decision decision =
          judge("!params.source.matches(\"" + pattern + "\")", "{\"source\":\"1\"}");
      assertThat(decision.code()).as(pattern).contains("GRD-103");
      assertThat(decision.checks().getFirst().detail()).contains("invalid argument");
    }
    String date = "^([0-9]{1,4}-){2}[0-9]{2}(T([0-9]{2}:){2}[0-9]{2}Z)?$";
    assertThat(
            judge(
                    "params.source.matches(\"" + date + "\")",
                    "{\"source\":\"2026-11-21T12:00:00Z\"}")
                .verdict())
        .isEqualTo(Verdict.ALLOW);
  }

  @Test
  void aPatternThatCannotBeLookedForIsToldWhenThePolicyIsChecked() {
    for (String pattern : new String[] {"(", "((a{1,1000}){1,1000}){1,1000}"}) {
      Policy policy =
          World.policyRequiring("{ cel: 'params.name.matches(\"" + pattern + "\") || true' }");
      assertThat(PolicyAdvice.of(policy))
          .singleElement()
          .asString()
          .contains("the pattern " + pattern + " is none of RE2's");
    }
    assertThat(
            PolicyAdvice.of(
                World.policyRequiring(
                    "{ any: [{ cel: 'params.name.matches(\"a+\")' },"
                        + " { cel: 'size(params.name) < 2' }] }")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "params.missing == 1 && false",
        "!(params.missing == 1 && false)",
        "params.missing == 1 || true",
        "[1].all(x, params.missing == x && false) == false",
        "[1, 2].exists(x, params.missing == x || x == 2)",
        "params.source + 1 == 2 || true",
        "1 / (size(params.source) - 1) == 1 || true",
        "params.source.matches(\"(\") || true",
        "{\"a\": params.missing == 1 && false}.size() == 1",
        "effect.params.missing == 1 && false"
      })
  void anErrorOnTheLeftIsNeverSwallowed(String cel) {
    assertThat(judge(cel, "{\"source\":\"1\"}").code()).contains("GRD-103");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "false && params.missing == 1 || true",
        "!has(params.missing) || params.missing == 1",
        "has(params.source) && params.source == \"1\"",
        "time < timestamp(\"2026-11-21T12:00:00.001Z\") && time.getHours() == 12",
        "subject == \"researcher\" && tenant == \"acme\" && run == \"run-1\"",
        "effect.tool == \"js\" && effect.resources.cpu_ms == 1000 && effect.resources.cpu_ms <"
            + " 1000.5",
        "\"analyst\" in roles && request.retention == \"keep\" && request.charged == [subject]",
        "size(inputs) == 0 && size(consumes) == 0 && size(evidence) == 0 && size(artifacts) == 0"
      })
  void whatIsSaidRightHolds(String cel) {
    assertThat(judge(cel, "{\"source\":\"1\"}").verdict()).isEqualTo(Verdict.ALLOW);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "request.context.secret == 1",
        "params.n == 1.0 && dyn(params.n) == 1",
        "request.nothing"
      })
  void nobodyReadsTheContext(String cel) {
    if (cel.equals("request.nothing")) {
      assertThatThrownBy(() -> judge(cel, "{\"source\":\"1\"}"))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("GRD-509");
    } else {
      assertThat(judge(cel, "{\"source\":\"1\"}").code()).contains("GRD-103");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "now() > time",
        "google.protobuf.Struct{} == google.protobuf.Struct{}",
        "1",
        "\"yes\"",
        "time.getMonth(\"Europe/Berlin\") == 1",
        "true; false",
        ""
      })
  void whatCannotBeUsedIsRefusedWhenThePolicyIsRead(String cel) {
    assertThatThrownBy(() -> judge(cel, "{\"source\":\"1\"}"))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(GuardianError.POLICY_CEL));
  }

  @Test
  void anEndlessExpressionIsRefusedWhenThePolicyIsRead() {
    for (String cel :
        new String[] {
          "(".repeat(2_000) + "true" + ")".repeat(2_000),
          "[".repeat(500) + "]".repeat(500) + " == []",
          "true" + " && true".repeat(1_000)
        }) {
      assertThatThrownBy(() -> judge(cel, "{\"source\":\"1\"}"))
          .as(cel.substring(0, 12))
          .isInstanceOfSatisfying(
              WritException.class, e -> assertThat(e.code()).isEqualTo(GuardianError.POLICY_CEL));
    }
  }
}
