package dev.writ.guardian.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which version is greater, and whom a share takes. */
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

  private static CanaryDraw subject(String name) {
    return new CanaryDraw("acme", "run-1", name);
  }

  private static CanaryDraw run(String name) {
    return new CanaryDraw("acme", name, "alice");
  }

  @Test
  void aShareTakesAboutSoManySubjectsAndAGreaterOneKeepsThem() {
    List<CanaryDraw> subjects =
        IntStream.range(0, 4000).mapToObj(i -> subject("subject-" + i)).toList();
    List<CanaryDraw> before = List.of();
    for (int percent : new int[] {0, 1, 10, 50, 99, 100}) {
      Canary canary = new Canary(List.of(), percent, true);
      List<CanaryDraw> met =
          subjects.stream().filter(who -> canary.includes("t", "1.0.0", who)).toList();
      assertThat(met).containsAll(before);
      assertThat(met.size()).isBetween(4000 * percent / 100 - 160, 4000 * percent / 100 + 160);
      before = met;
    }
    assertThat(before).hasSize(4000);
    // Of another version others are taken, so that nobody is always the one to try things.
    Canary half = new Canary(List.of(), 50, true);
    long same =
        subjects.stream()
            .filter(who -> half.includes("t", "1.0.0", who))
            .filter(who -> half.includes("t", "1.0.1", who))
            .count();
    assertThat(same).isBetween(850L, 1150L);
  }

  @Test
  void noNameOfARunGetsASubjectIntoAShareOrOutOfIt() {
    for (int percent : new int[] {0, 1, 50, 99, 100}) {
      Canary canary = new Canary(List.of(), percent, true);
      boolean met = canary.includes("t", "1.0.0", run(""));
      assertThat(
              IntStream.range(0, 200)
                  .mapToObj(i -> canary.includes("t", "1.0.0", run("run-" + i)))
                  .distinct())
          .containsExactly(met);
      assertThat(canary.isChosenByCallers()).isFalse();
    }
  }

  @Test
  void aDocumentFromBeforeIsAShareOfRuns() {
    List<CanaryDraw> runs = IntStream.range(0, 200).mapToObj(i -> run("run-" + i)).toList();
    Canary few = new Canary(List.of(), 5, false);
    assertThat(runs.stream().filter(run -> few.includes("t", "1.0.0", run)).count())
        .isBetween(1L, 30L);
    assertThat(few.isChosenByCallers()).isTrue();
    assertThat(new Canary(List.of(), 0, false).isChosenByCallers()).isFalse();
    assertThat(new Canary(List.of(), 100, false).isChosenByCallers()).isFalse();
  }

  @Test
  void onlyWhatRunsIsChosen() {
    List<ApprovedTool> versions = new ArrayList<>();
    for (RolloutStage stage : RolloutStage.ALL) {
      Optional<Canary> canary =
          stage == RolloutStage.CANARY
              ? Optional.of(new Canary(List.of("acme"), 0, true))
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
            .filter(v -> VersionRule.mayRun(v, run("run-1")))
            .map(ApprovedTool::stage)
            .toList();
    assertThat(running).containsExactly("canary", "deprecated");
  }

  private static Optional<String> chosen(List<ApprovedTool> versions, String tenant) {
    return VersionRule.choose(versions, new CanaryDraw(tenant, "run-1", "alice"))
        .map(t -> t.ref().version());
  }
}
