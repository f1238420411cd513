package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Lack;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Derived from the signed decision, its request, its tool and its policy, and from nothing else.
 */
class ADenialSaysWhatWouldHelpTest {
  private static Guidance guidance(Policy policy, World.RequestBuilder request, Envelope... said) {
    Admitted admitted = request.admit(policy);
    Decision decision =
        World.accounts(policy)
            .judge(admitted, World.circumstances(said), policy, World.trust(), World.NOW)
            .decision();
    // Read again, as from the ledger: nothing but what is signed goes into it.
    return Guide.of(
            admitted,
            World.manifest(),
            Policy.ofCanonical(policy.toJson()),
            Decision.read(decision.toJson()))
        .orElseThrow();
  }

  private static String fenced(String page, String info) throws IOException {
    Path spec = Path.of(System.getProperty("writ.root", "..")).resolve("spec");
    String text = Files.readString(spec.resolve(page));
    int begin = text.indexOf("```" + info + "\n") + info.length() + 4;
    return text.substring(begin, text.indexOf("```", begin));
  }

  @Test
  void theMessageOfThePageIsRead() throws IOException {
    String rules = fenced("policy.md", "yaml message");
    Policy policy =
        World.policy(World.POLICY.replaceFirst("(?s)requirements:.*(?=approvers:)", rules));
    assertThat(policy.rules().getFirst().message().orElseThrow()).startsWith("Programs are up to");
  }

  @Test
  void whatIsAllowedNeedsNone() {
    Policy policy = World.policy();
    Admitted admitted = World.request().admit(policy);
    assertThat(Guide.of(admitted, World.manifest(), policy, World.judge(policy, World.request())))
        .isEmpty();
  }

  /** spec/guidance.md, 9: the same is told of what policy only observes, marked as not enforced. */
  @Test
  void whatIsOnlyObservedIsToldLikeARefusalAndMarked() {
    String enforced =
        World.POLICY.replace(
            "{ cel: 'size(params.source) < 20000' }",
            "{ cel: 'size(params.source) < 3' }\n    message: Send less than three characters.");
    String observing = enforced.replace("name: test\n", "name: test\nmode: observe\n");
    World.RequestBuilder request = World.request().params("{\"source\":\"1+1\"}");
    Guidance refused = guidance(World.policy(enforced), request);
    Guidance let = guidance(World.policy(observing), request);
    assertThat(refused.observed()).isEmpty();
    assertThat(let.observed()).contains(Verdict.DENY);
    assertThat(let.missing()).isEqualTo(refused.missing()).isNotEmpty();
    assertThat(let.lines().getFirst())
        .isEqualTo(
            "Not enforced, since policy only observes; it would be denied (prg check, GRD-102): "
                + refused.reason()
                + ".");
    assertThat(let.lines().subList(1, let.lines().size())).isEqualTo(refused.lines());
    assertThat(let.toJson().get("observed")).isEqualTo(JsonValue.of("DENY"));
    assertThat(refused.toJson().members()).doesNotContainKey("observed");
  }

  @Test
  void anApprovalThatIsOnlyObservedIsToldAsOne() {
    Guidance told =
        guidance(
            World.policy(
                World.POLICY
                    .replace("name: test\n", "name: test\nmode: observe\n")
                    .replace(
                        "{ cel: 'size(params.source) < 20000' }",
                        "{ approvals: { role: reviewer, count: 2 } }")),
            World.request());
    assertThat(told.observed()).contains(Verdict.ESCALATE);
    assertThat(told.lines().getFirst()).contains("it would wait for an approval (prg check");
    assertThat(told.missing()).containsExactly(new Lack.Approvals("reviewer", 2, 0));
    assertThat(told.waitsUntil()).as("nothing waits").isEmpty();
  }

  /** A budget is enforced although the requirement before it is not: the budget refused it. */
  @Test
  void underAPolicyThatObservesTheCheckThatRefusedIsTheOneThatIsTold() {
    Guidance told =
        guidance(
            World.policy(
                World.POLICY
                    .replace("name: test\n", "name: test\nmode: observe\n")
                    .replace("{ cel: 'size(params.source) < 20000' }", "{ cel: 'false' }")
                    .replace("limit: 1000", "limit: 0")),
            World.request());
    assertThat(told.code()).isEqualTo("GRD-201");
    assertThat(told.check()).isEqualTo("budget");
    assertThat(told.observed()).isEmpty();
    assertThat(told.lines()).noneMatch(line -> line.contains("Not enforced"));
  }

  /** Rule 8 holds there as well. */
  @Test
  void ofAToolOutsideTheCallersRolesNothingMoreIsToldWhereItIsOnlyObserved() {
    Guidance told =
        guidance(
            World.policy(
                World.POLICY
                    .replace("name: test\n", "name: test\nmode: observe\n")
                    .replace("tools: [js]", "tools: [js/lint]")
                    .replace(
                        "{ cel: 'size(params.source) < 20000' }",
                        "{ cel: 'params.n == 1' }\n    message: Only the board may.")),
            World.request().params("{\"source\":\"1\"}"));
    assertThat(told.observed()).contains(Verdict.DENY);
    assertThat(told.message()).isEmpty();
    assertThat(told.missing()).isEmpty();
  }

  @Test
  void theMessageOfTheRequirementThatIsNotMetIsTold() {
    Policy policy =
        World.policyRequiring(
            "{ cel: 'size(params.source) < 3' }\n    message: Send less than three characters.");
    Guidance told = guidance(policy, World.request().params("{\"source\":\"1+1\"}"));
    assertThat(told.code()).isEqualTo("GRD-102");
    assertThat(told.message()).contains("Send less than three characters.");
    assertThat(told.missing())
        .containsExactly(
            new Lack.Argument(List.of("source"), "size(params.source) < 3", true, false));
    assertThat(told.lines())
        .containsExactly(
            "Send less than three characters.",
            "Look at the argument \"source\": policy requires size(params.source) < 3.");
    assertThat(told.retryAt()).isEmpty();
  }

  @Test
  void aMessageChangesNoPolicyThatHasNone() {
    Policy policy = World.policy();
    assertThat(policy.toJson().toString()).doesNotContain("message");
    Policy said =
        World.policyRequiring("{ cel: 'size(params.source) < 20000' }\n    message: Be short.");
    assertThat(said.digest()).isNotEqualTo(policy.digest());
    assertThat(Policy.ofCanonical(said.toJson()).rules().getFirst().message())
        .contains("Be short.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"\"", "\"  \"", "\"a\\nb\"", "\"a\\u202eb\"", "\"a\\u200bb\"", "7"})
  void aMessageIsALineThatIsSeenWhole(String message) {
    assertThatThrownBy(() -> World.policyRequiring("{ cel: 'true' }\n    message: " + message))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("/requirements/0/message");
  }

  /** The requirement comes first in the decision; the caller's own mistake comes first here. */
  @Test
  void anUnknownParameterIsToldFirstAndNamedWithTheOneThatWasMeant() {
    Guidance told = guidance(World.policy(), World.request().params("{\"suorce\":\"secret-1\"}"));
    assertThat(told.code()).isEqualTo("GRD-103");
    assertThat(told.lines().getFirst())
        .isEqualTo("params has no parameter \"suorce\"; did you mean \"source\"?");
    assertThat(told.lines().get(1)).isEqualTo("The parameter \"source\" is missing in params.");
    assertThat(told.toJson().toString()).doesNotContain("secret-1");
  }

  @Test
  void aValueThatDoesNotFitIsNamedByPlaceAndKeywordAndNeverShown() {
    Guidance told =
        guidance(World.policy(), World.request().params("{\"source\":\"1\",\"n\":\"secret-2\"}"));
    assertThat(told.code()).isEqualTo("GRD-403");
    assertThat(told.lines()).containsExactly("params/n does not fit the schema: type \"integer\".");
    assertThat(told.toJson().toString()).doesNotContain("secret-2");
  }

  @Test
  void aNameThatIsLikeNoneIsNotGuessed() {
    Guidance told =
        guidance(World.policy(), World.request().params("{\"source\":\"1\",\"zzz\":1}"));
    assertThat(told.parameters())
        .singleElement()
        .satisfies(fault -> {
          assertThat(fault.name()).contains("zzz");
          assertThat(fault.nearest()).isEmpty();
        });
  }

  /** Who may not use a tool learns nothing of its parameters, its requirement or its message. */
  @Test
  void ofAToolThatTheCallerMayNotUseNothingIsTold() {
    Policy policy =
        World.policy(
            World.POLICY
                .replace("tools: [js]", "tools: [js/lint]")
                .replace(
                    "{ cel: 'size(params.source) < 20000' }",
                    "{ cel: 'params.n == 1' }\n    message: Only the board may."));
    Guidance told = guidance(policy, World.request().params("{\"suorce\":\"1\"}"));
    assertThat(told.message()).isEmpty();
    assertThat(told.parameters()).isEmpty();
    assertThat(told.missing()).isEmpty();
    assertThat(told.lines()).hasSize(1);
  }

  @Test
  void approvalsThatAreMissingAreCountedByRole() {
    Policy policy = World.policyRequiring("{ approvals: { role: reviewer, count: 2 } }");
    Admitted admitted = World.request().admit(policy);
    Guidance told =
        guidance(
            policy,
            World.request(),
            World.approval(World.REVIEWER, "rita", admitted, policy, Approval.Verdict.APPROVE));
    assertThat(told.missing()).containsExactly(new Lack.Approvals("reviewer", 2, 1));
    assertThat(told.lines())
        .containsExactly(
            "It waits for 1 more of 2 approvals by approvers in the role \"reviewer\".",
            "Approvals count until 2026-11-22T12:00:00.000Z; after that, ask anew.");
    assertThat(told.toJson().get("waits_until"))
        .isEqualTo(JsonValue.of("2026-11-22T12:00:00.000Z"));
  }

  @Test
  void whereOneOfSeveralIsEnoughEachIsNamed() {
    Policy policy =
        World.policyRequiring(
            "{ any: [ { cel: 'has(params.n) && params.n > 3' },"
                + " { all: [ { cel: 'true' }, { approvals: { role: reviewer, count: 1 } } ] } ] }");
    Guidance told = guidance(policy, World.request());
    assertThat(told.code()).isEqualTo("GRD-104");
    assertThat(told.missing())
        .containsExactly(
            new Lack.OneOf(
                List.of(
                    new Lack.Argument(List.of("n"), "has(params.n) && params.n > 3", true, false),
                    new Lack.Approvals("reviewer", 1, 0))));
  }

  @Test
  void belowNoneItIsWhatHolds() {
    Policy policy =
        World.policyRequiring(
            "{ none: [ { cel: 'params[\"source\"] == \"1+1\"' }, { cel: 'false' } ] }");
    assertThat(guidance(policy, World.request()).missing())
        .containsExactly(
            new Lack.Argument(List.of("source"), "params[\"source\"] == \"1+1\"", false, false));
  }

  @Test
  void aBudgetSaysWhenItHasRoomAgainAsThePageShows() throws IOException {
    Policy policy = World.policy(World.POLICY.replace("limit: 1000", "limit: 0"));
    Guidance never = guidance(policy, World.request());
    assertThat(never.lines())
        .containsExactly(
            "The budget \"calls\" has no room (0 of 0 calls taken): its limit is less than what was"
                + " asked for.");

    Policy one = World.policy(World.POLICY.replace("limit: 1000", "limit: 1"));
    Accounts accounts = World.accounts(one);
    accounts.judge(
        World.request().admit(one), World.circumstances(), one, World.trust(), World.NOW);
    Admitted second = World.request().nonce("nonce-2").admit(one);
    Decision denied =
        accounts.judge(second, World.circumstances(), one, World.trust(), World.NOW).decision();
    Guidance told = Guide.of(second, World.manifest(), one, denied).orElseThrow();
    Instant midnight = Instant.parse("2026-11-22T00:00:00.000Z");
    assertThat(told.missing())
        .containsExactly(
            new Lack.Room(
                "budget",
                "calls",
                "calls",
                Optional.of(new Lack.Room.Taken(1, 1, 1)),
                Optional.of(midnight)));
    assertThat(told.retryAt()).contains(midnight);
    assertThat(told.toJson()).isEqualTo(World.json(fenced("guidance.md", "json")));
    assertThat(told.lines().getFirst())
        .endsWith("it has room again at 2026-11-22T00:00:00.000Z at the latest.");
  }

  /** What others took of an account that is shared is theirs: only its name and time are told. */
  @Test
  void ofAnAccountThatIsSharedNoNumbersAreTold() {
    Policy policy =
        World.policy(
            World.POLICY.replace(
                "budgets:\n",
                "budgets:\n"
                    + "  - { name: all, scope: tenant, unit: cpu_ms, limit: 1000, window_s: 3600"
                    + " }\n"));
    Accounts accounts = World.accounts(policy);
    accounts.judge(
        World.request().admit(policy), World.circumstances(), policy, World.trust(), World.NOW);
    Admitted second = World.request().nonce("nonce-2").admit(policy);
    Decision denied =
        accounts.judge(second, World.circumstances(), policy, World.trust(), World.NOW).decision();
    Guidance told = Guide.of(second, World.manifest(), policy, denied).orElseThrow();
    assertThat(told.lines())
        .containsExactly(
            "The budget \"all\" has no room; it has room again at 2026-11-21T13:00:00.000Z at the"
                + " latest.");
    assertThat(told.toJson().toString()).doesNotContain("taken\"").doesNotContain("limit\"");
  }

  @ParameterizedTest
  @CsvSource({"subject, 1, true, true", "tenant, 1, false, true", "subject, 0, true, false"})
  void aRateSaysWhenItHasRoomAgain(String scope, int limit, boolean numbers, boolean ever) {
    Policy policy =
        World.policy(
            World.POLICY
                + "temporal:\n  rates: [ { name: burst, scope: %s, limit: %d, per_s: 10 } ]\n"
                    .formatted(scope, limit));
    Accounts accounts = World.accounts(policy);
    accounts.judge(
        World.request().admit(policy), World.circumstances(), policy, World.trust(), World.NOW);
    Admitted second = World.request().nonce("nonce-2").admit(policy);
    Decision denied =
        accounts.judge(second, World.circumstances(), policy, World.trust(), World.NOW).decision();
    Guidance told = Guide.of(second, World.manifest(), policy, denied).orElseThrow();
    assertThat(told.code()).isEqualTo("GRD-303");
    assertThat(told.missing())
        .containsExactly(
            new Lack.Room(
                "rate",
                "burst",
                "calls",
                numbers ? Optional.of(new Lack.Room.Taken(1, limit, limit)) : Optional.empty(),
                ever ? Optional.of(World.NOW.plusSeconds(10)) : Optional.empty()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''            | [a, b, o]",
        "/o            | [x]",
        "/o/x          | [y]",
        "/b/0          | [x]",
        "/a/other      | [z]",
        "/a/other/z    | []",
        "/none/at/all  | []",
        "/o/x/y/~1~0   | []",
      })
  void theNamesAtAPlaceAreFoundThroughItemsAndReferences(String pointer, String names) {
    JsonValue.Obj schema =
        (JsonValue.Obj)
            World.json(
                """
                {"$defs":{"p":{"$ref":"#/$defs/q"},"q":{"properties":{"x":{"properties":{"y":true}}}},"n":7},
                 "properties":{"o":{"$ref":"#/$defs/p"},"b":{"items":{"$ref":"#/$defs/q"}},
                  "a":{"additionalProperties":{"properties":{"z":{"$ref":"#/elsewhere"}}}}}}
                """);
    assertThat(SchemaNames.at(schema, pointer).toString()).isEqualTo(names);
  }

  @Test
  void hoursSayWhenTheyBeginNext() {
    // 2026-11-21 is a Saturday.
    Policy policy =
        World.policy(
            World.POLICY
                + "temporal:\n"
                + "  hours:\n"
                + "    - { days: [mon, sat], from: \"08:00\", to: \"11:00\", offset: \"+01:00\""
                + " }\n");
    Guidance told = guidance(policy, World.request());
    assertThat(told.code()).isEqualTo("GRD-302");
    assertThat(told.retryAt()).contains(Instant.parse("2026-11-23T07:00:00.000Z"));
  }

  @Test
  void anOrderSaysWhatComesFirst() {
    Policy policy =
        World.policy(
            World.POLICY
                + "temporal:\n  order:\n    - { effect: { tool: js, operation: eval },"
                + " after: { tool: js, operation: lint } }\n");
    assertThat(guidance(policy, World.request()).missing())
        .containsExactly(new Lack.Before("js", "lint"));
  }

  @Test
  void aPathSaysWhereTheRoleMayWork() {
    Guidance told =
        guidance(World.policy(), World.request().params("{\"source\":\"1\",\"file\":\"etc/x\"}"));
    assertThat(told.lines()).containsExactly("Your role allows as path: data.");
    assertThat(new Lack.Allowed("path", List.of(".")).sentence())
        .as("two dots would be another path")
        .isEqualTo("Your role allows as path: . (and nothing else)");
  }

  @Test
  void withoutAnythingBetterTheCataloguesRemedyIsTold() {
    Policy policy = World.policy(World.POLICY.replace("operation: eval }", "operation: lint }"));
    Guidance told = guidance(policy, World.request());
    assertThat(told.code()).isEqualTo("GRD-101");
    assertThat(told.lines()).containsExactly("Add a requirement for it to the policy.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cpu_ms", "memory_bytes", "output_bytes", "wall_ms"})
  void aRoleDeclaresNoMoreThanItsCeiling(String limit) {
    String ceiling = World.POLICY.lines().filter(l -> l.contains("resources:")).findFirst().get();
    String declared = ceiling.replace("resources:", "declared:");
    assertThat(
            World.policy(World.POLICY.replace(ceiling, ceiling + "\n" + declared))
                .roles()
                .firstEntry()
                .getValue()
                .declared())
        .isPresent();
    String more = declared.replaceFirst(limit + ": (\\d+)", limit + ": 9$1");
    assertThat(more).isNotEqualTo(declared);
    assertThatThrownBy(() -> World.policy(World.POLICY.replace(ceiling, ceiling + "\n" + more)))
        .hasMessageContaining("GRD-505")
        .hasMessageContaining("declared");
  }

  /** Of several roles the reason names the one that came nearest; what helps is of that one. */
  @Test
  void whatIsAllowedIsThatOfTheRoleThatTheReasonNames() {
    String analyst =
        World.POLICY.substring(
            World.POLICY.indexOf("  analyst:"), World.POLICY.indexOf("tools:\n  - "));
    Policy policy =
        World.policy(
            World.POLICY
                .replace("roles: [analyst]", "roles: [analyst, writer]")
                .replace(
                    analyst,
                    analyst.replace("cpu_ms: 5000", "cpu_ms: 1")
                        + analyst.replace("analyst:", "writer:").replace("[wasm]", "[default]")));
    Guidance told = guidance(policy, World.request());
    assertThat(told.code()).isEqualTo("GRD-407");
    assertThat(told.reason()).contains("writer has [default]");
    assertThat(told.missing()).containsExactly(new Lack.Allowed("sandbox", List.of()));
  }

  /** What the tool's manifest refuses is no role's to allow. */
  @Test
  void aSandboxThatTheToolHasNotIsToldWithThoseOfARole() {
    World.RequestBuilder request = World.request();
    request.sandbox = "restricted";
    Guidance told = guidance(World.policy(), request);
    assertThat(told.code()).isEqualTo("GRD-407");
    assertThat(told.missing()).containsExactly(new Lack.Allowed("sandbox", List.of("wasm")));
  }
}
