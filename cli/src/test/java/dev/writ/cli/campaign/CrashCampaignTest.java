package dev.writ.cli.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Installations at work are killed, starved and lied to by their disks and clocks, at random points
 * of every kind of work. Afterwards every acknowledged receipt is there byte for byte, nothing was
 * done twice outside, and fsck, audit, both verifiers and replay find nothing.
 *
 * <p>{@code ./check campaign MINUTES} is the long form; {@code -Dwrit.seed=N} repeats the life of
 * one installation.
 */
class CrashCampaignTest {
  /** Every life ends with every checker over all that it did, which takes longer than a round. */
  private static final int ROUNDS_OF_A_LIFE = Integer.getInteger("writ.campaign.life", 12);

  /** What every test run does: one fault of each family. */
  private static final List<Life.Round> SHORT =
      List.of(
          new Life.Round(Strike.KILL_AT_A_CALL, Work.OUTSIDE),
          new Life.Round(Strike.POWER_CUT, Work.INPUT),
          new Life.Round(Strike.COMMAND_KILLED, Work.SMALL),
          new Life.Round(Strike.ONE_CALL_FAILS, Work.APPROVAL));

  @TempDir Path dir;

  @Test
  void nothingAcknowledgedIsLostAndNothingIsDoneTwice() throws Exception {
    long minutes = Long.getLong("writ.campaign.minutes", 0);
    Long repeated = Long.getLong("writ.seed");
    Integer asked = Integer.getInteger("writ.campaign.rounds");
    boolean isShort = minutes == 0 && asked == null && repeated == null;
    int rounds = isShort ? SHORT.size() : minutes > 0 ? Integer.MAX_VALUE : ROUNDS_OF_A_LIFE;
    rounds = asked != null ? asked : rounds;
    long seed = repeated != null ? repeated : minutes > 0 ? System.nanoTime() : 1;
    long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
    Tally tally = new Tally();
    List<String> findings = new ArrayList<>();
    while (tally.rounds() < rounds && (minutes == 0 || System.nanoTime() < until)) {
      Path work = Files.createTempDirectory(dir, "life-");
      System.out.println("CrashCampaignTest: -Dwrit.seed=" + seed + "  " + tally);
      try (Life life = new Life(seed, work, tally, isShort ? SHORT : List.of())) {
        int most = Math.min(rounds - tally.rounds(), ROUNDS_OF_A_LIFE);
        for (int i = 0; i < most && life.findings().isEmpty(); i++) {
          life.round();
        }
        life.conclude();
        life.findings().forEach(System.out::println);
        findings.addAll(life.findings());
      }
      seed++;
    }
    System.out.println("CrashCampaignTest: " + tally);
    assertThat(findings).isEmpty();
  }
}
