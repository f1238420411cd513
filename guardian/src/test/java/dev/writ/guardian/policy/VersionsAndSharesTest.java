package dev.writ.guardian.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which version is greater, and which runs a share takes. */
class VersionsAndSharesTest {
  /** From the least to the greatest: what semver.org, 11 lists is in the middle. */
  private static final List<String> RISING =
      List.of(
          "",
          "latest",
          "v1",
          "0.9",
          "1.0.0-alpha",
          "1.0.0-alpha.1",
          "1.0.0-alpha.beta",
          "1.0.0-beta",
          "1.0.0-beta.2",
          "1.0.0-beta.11",
          "1.0.0-rc.1",
          "1.0.0",
          "1.0.0+build",
          "1.0.1",
          "1.9.0",
          "1.10.0",
          "2",
          "10.0.0");

  @Test
  void versionsCompareByValueAndInATotalOrder() {
    long seed = Long.getLong("writ.seed", 5);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 100; round++) {
      List<String> versions = new ArrayList<>(RISING);
      Collections.shuffle(versions, random);
      versions.sort(VersionRule.ORDER);
      assertThat(versions).isEqualTo(RISING);
    }
    assertThat(VersionRule.ORDER.compare("1.2", "1.2.0")).isNegative();
    assertThat(VersionRule.ORDER.compare("1.2.0", "1.2")).isPositive();
    assertThat(VersionRule.ORDER.compare("1.2", "1.2")).isZero();
  }

  @Test
  void aShareTakesAboutSoManyRunsAndAGreaterOneKeepsThem() {
    List<String> runs = IntStream.range(0, 4000).mapToObj(i -> "run-" + i).toList();
    List<String> before = List.of();
    for (int percent : new int[] {0, 1, 10, 50, 99, 100}) {
      Canary canary = new Canary(List.of(), percent);
      List<String> met =
          runs.stream().filter(run -> canary.includes("t", "1.0.0", "acme", run)).toList();
      assertThat(met).containsAll(before);
      assertThat(met.size()).isBetween(4000 * percent / 100 - 160, 4000 * percent / 100 + 160);
      before = met;
    }
    assertThat(before).hasSize(4000);
    assertThat(new Canary(List.of(), 0).includes("t", "1.0.0", "acme", "run-1")).isFalse();
    // Of another version other runs are taken, so that no run is always the one to try things.
    long same =
        runs.stream()
            .filter(run -> new Canary(List.of(), 50).includes("t", "1.0.0", "acme", run))
            .filter(run -> new Canary(List.of(), 50).includes("t", "1.0.1", "acme", run))
            .count();
    assertThat(same).isBetween(850L, 1150L);
  }

  @Test
  void onlyWhatRunsIsChosen() {
    List<ApprovedTool> versions = new ArrayList<>();
    for (RolloutStage stage : RolloutStage.ALL) {
      Optional<Canary> canary =
          stage == RolloutStage.CANARY
              ? Optional.of(new Canary(List.of("acme"), 0))
              : Optional.empty();
      versions.add(
          ApprovedTool.of(
              "t",
              (9 - stage.ordinal()) + ".0",
              new GovernedTool(Digest.sha256(), stage, canary, false)));
    }
    assertThat(chosen(versions, "acme")).contains("8.0");
    assertThat(chosen(versions, "other")).contains("7.0");
    versions.removeIf(v -> v.stage().equals("active"));
    assertThat(chosen(versions, "other")).isEmpty();
    List<String> running =
        versions.stream()
            .filter(v -> VersionRule.mayRun(v, "acme", "run-1"))
            .map(ApprovedTool::stage)
            .toList();
    assertThat(running).containsExactly("canary", "deprecated");
  }

  private static Optional<String> chosen(List<ApprovedTool> versions, String tenant) {
    return VersionRule.choose(versions, tenant, "run-1").map(t -> t.ref().version());
  }
}
