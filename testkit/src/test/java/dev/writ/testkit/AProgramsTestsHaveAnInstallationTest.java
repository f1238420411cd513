package dev.writ.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.Outcome;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.TreeSet;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class AProgramsTestsHaveAnInstallationTest {
  private static final TreeSet<String> DIRECTORIES = new TreeSet<>();

  private final ScriptedTool mail = ScriptedTool.named("mail");

  @RegisterExtension private final WritExtension writ = WritExtension.with(mail);

  private Outcome send(String to) {
    return writ.run().ask(Effect.of("mail").param("to", to));
  }

  @Test
  void aScriptedToolGivesItsParamsBackAndRemembersTheCall() {
    assertThat(send("ada").text()).isEqualTo("{\"to\":\"ada\"}");
    assertThat(mail.calls())
        .singleElement()
        .satisfies(call -> {
          assertThat(call.text("to")).isEqualTo("ada");
          assertThat(call.scope().subject()).isEqualTo("researcher");
          assertThat(call.time()).isEqualTo(WritExtension.START);
        });
  }

  @Test
  void itDoesWhatTheTestSays() {
    mail.gives(JsonValue.of("sent"));
    assertThat(send("ada").text()).isEqualTo("\"sent\"");
    mail.fails("the server is down");
    assertThat(send("ada").status()).contains(Status.FAILED);
    assertThat(mail.calls()).hasSize(2);
  }

  @Test
  void whatIsDeniedNeverReachesTheTool() {
    Outcome denied = writ.run().ask(Effect.of("mail").operation("delete"));
    assertThat(denied.verdict()).isEqualTo(Verdict.DENY);
    assertThat(mail.calls()).isEmpty();
  }

  @Test
  void theClockStandsUntilItIsMoved() {
    assertThat(started()).isEqualTo(WritExtension.START);
    assertThat(started()).isEqualTo(WritExtension.START);
    writ.clock().advance(Duration.ofDays(40));
    assertThat(started()).isEqualTo(WritExtension.START.plus(Duration.ofDays(40)));
  }

  private Instant started() {
    return send("ada").receipt().orElseThrow().startedAt();
  }

  @RepeatedTest(2)
  void eachTestHasAnInstallationOfItsOwn() {
    assertThat(DIRECTORIES.add(writ.writ().directory().toString())).isTrue();
    assertThat(send("ada").receipt().orElseThrow().lamport()).isEqualTo(1);
  }

  /** Under a policy of the test's own. */
  @Nested
  class UnderAnotherPolicy {
    private final ScriptedTool pay = ScriptedTool.named("pay");

    @RegisterExtension
    private final WritExtension writ =
        WritExtension.with(pay)
            .policy(
                """
                writ_policy: 1
                name: payments
                version: 1
                limits: { request_age_max_s: 60, pending_max_s: 3600, request_bytes_max: 10000 }
                principals:
                  - { tenant: local, subject: researcher, roles: [clerk] }
                approvers:
                  - { tenant: local, subject: approver, roles: [treasurer] }
                roles:
                  clerk:
                    tools: [pay]
                    sandboxes: [host]
                    resources: { cpu_ms: 60000, memory_bytes: 1073741824, output_bytes: 1048576, wall_ms: 60000 }
                tools:
                {{tools}}
                budgets:
                  - { name: payments-a-day, scope: tenant, unit: calls, limit: 2, window_s: 86400 }
                requirements:
                  - effect: { tool: pay }
                    require:
                      any:
                        - cel: "params.amount <= 100"
                        - approvals: { role: treasurer, count: 1 }
                """);

    private Outcome pay(long amount) {
      return writ.run().ask(Effect.of("pay").param("amount", amount));
    }

    @Test
    void largeAmountsWaitForTheTreasurer() {
      assertThat(pay(100).succeeded()).isTrue();
      Outcome waiting = pay(101);
      assertThat(waiting.verdict()).isEqualTo(Verdict.ESCALATE);
      assertThat(pay.calls()).hasSize(1);
      writ.approver().approve(waiting);
      assertThat(writ.run().resubmit(waiting).succeeded()).isTrue();
      assertThat(pay.calls()).hasSize(2);
    }

    @Test
    void theBudgetIsThereAgainTheNextDay() {
      assertThat(pay(1).succeeded()).isTrue();
      assertThat(pay(2).succeeded()).isTrue();
      assertThat(pay(3).code()).contains("GRD-201");
      writ.clock().advance(Duration.ofDays(1));
      assertThat(pay(4).succeeded()).isTrue();
    }
  }
}
