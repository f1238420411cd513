package dev.writ.guardian;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.PolicyTest.CaseResult;
import dev.writ.guardian.policy.Policy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any file of cases whatever: at least one case, judged the same each time, or a refusal. */
class PolicyCasesFuzzTest {
  private static final Policy POLICY = World.policy();

  private static final String CASES =
      """
      writ_policy_cases: 1
      cases:
        - name: small
          request:
            tenant: acme
            subject: researcher
            tool: js
            operation: eval
            params: { source: "1+1" }
            resources: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 }
            sandbox: wasm
          state:
            time: "2026-11-21T12:00:00.000Z"
            balances: [{ budget: calls, used: 999 }]
            approvals: [{ approver: rita, role: reviewer }]
          expect: { verdict: ALLOW }
      """;

  static Stream<byte[]> seeds() throws IOException {
    return Stream.of(CASES.getBytes(StandardCharsets.UTF_8), PolicyFuzzTest.examples().getLast());
  }

  private static List<CaseResult> run(byte[] bytes) {
    return PolicyTest.run(POLICY, bytes, "cases.yaml", _ -> Optional.of(World.manifest()));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsJudgedIsJudgedTheSameAgain(byte[] bytes) {
    List<CaseResult> results;
    try {
      results = run(bytes);
    } catch (WritException refused) {
      return;
    }
    List<CaseResult> again = run(bytes);
    if (results.isEmpty() || results.size() != again.size()) {
      throw new AssertionError("cases without a result");
    }
    for (int i = 0; i < results.size(); i++) {
      if (!results.get(i).explain().decision().equals(again.get(i).explain().decision())) {
        throw new AssertionError("two decisions on one case");
      }
    }
  }
}
