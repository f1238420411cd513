package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The accounts against the plain definition of a sliding rate and a fixed window. */
class RatesAgainstTheDefinitionTest {
  private static final Policy POLICY =
      World.policy(
          World.POLICY
              .replace("limit: 1000, window_s: 86400", "limit: 7, window_s: 30")
              .replace(
                  "requirements:",
                  "temporal:\n  rates: [ { name: burst, scope: subject, limit: 3, per_s: 5 } ]\n"
                      + "requirements:"));

  @Test
  void everyAnswerIsTheOneThatCountingGives() {
    long seed = Long.getLong("writ.seed", 20261121L);
    System.out.println("writ.seed=" + seed);
    for (int round = 0; round < 10; round++) {
      Random random = new Random(seed + round);
      Accounts accounts = World.accounts(POLICY);
      List<Instant> allowed = new ArrayList<>();
      Instant now = World.NOW;
      int denials = 0;
      for (int i = 0; i < 120; i++) {
        now = now.plusMillis(random.nextInt(10) == 0 ? 5_000 : random.nextInt(2_500));
        String expected = expected(allowed, now);
        var decision =
            accounts
                .judge(admitted(i, now), World.circumstances(), POLICY, World.trust(), now)
                .decision();
        assertThat(decision.code().orElse(""))
            .as("round " + round + " step " + i)
            .isEqualTo(expected);
        if (decision.verdict() == Verdict.ALLOW) {
          allowed.add(now);
        } else {
          denials++;
        }
      }
      assertThat(denials).isBetween(1, 119);
    }
  }

  private static String expected(List<Instant> allowed, Instant now) {
    long window = Math.floorDiv(now.toEpochMilli(), 30_000L);
    long inWindow =
        allowed.stream().filter(t -> Math.floorDiv(t.toEpochMilli(), 30_000L) == window).count();
    long inSpan = allowed.stream().filter(t -> t.isAfter(now.minusMillis(5_000))).count();
    return inWindow >= 7 ? "GRD-201" : inSpan >= 3 ? "GRD-303" : "";
  }

  private static Admitted admitted(int number, Instant at) {
    World.RequestBuilder request = World.request().nonce("n" + number);
    request.at = at;
    return new Admitted(
        World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER),
        request.request(),
        Digest.sha256(("r" + number).getBytes(StandardCharsets.UTF_8)),
        World.keys().getFirst(),
        List.of(World.SUBJECT),
        at);
  }
}
