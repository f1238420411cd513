package dev.writ.executor.governance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.SystemState;
import dev.writ.fixture.TestGovernance;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random histories by everybody who may say something, most of it out of order: whatever comes of
 * them, a version that runs was validated without a finding and approved by as many distinct
 * approvers as policy asks for, none of whom published it or had its key revoked by then; what is
 * refused writes nothing; and the ledger adds up to the same again.
 */
class NoToolRunsWithoutValidationAndApprovalsTest {
  private static final int STEPS = Integer.getInteger("writ.governance.steps", 400);
  private static final List<String> APPROVERS = List.of("ada", "ben", "cyd", "dan", "pub");

  @TempDir Path dir;
  private TestHome home;
  private TestGovernance governance;
  private Random random;
  private final List<Envelope> sent = new ArrayList<>();

  /** What was said of a package since it was submitted last: kept apart from the code. */
  private static final class Record {
    boolean passed;
    boolean rejected;
    final TreeMap<String, String> roles = new TreeMap<>();
  }

  private final TreeMap<String, Record> said = new TreeMap<>();
  private final TreeSet<String> revokedKeys = new TreeSet<>();
  private final TreeSet<String> retired = new TreeSet<>();

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void whatever_is_said_in_whatever_order(long first) {
    long seed = Long.getLong("writ.seed", first);
    System.out.println("writ.seed=" + seed);
    random = new Random(seed);
    home = TestHome.create(dir, TestGovernance.YAML);
    home.clock.stepping(Duration.ofMillis(2));
    governance = new TestGovernance(home).enrol();
    int running = 0;
    int refused = 0;
    try (TestHome _ = home) {
      for (int step = 0; step < STEPS; step++) {
        refused += step() ? 0 : 1;
        running += holds() ? 1 : 0;
      }
      assertThat(running).as("steps with a version that runs").isPositive();
      assertThat(refused).isPositive();
      assertThat(SystemState.read(home.ledger()).governance())
          .isEqualTo(home.kernel().system().governance());
    }
    assertThat(home.fsck().problems()).isEmpty();
  }

  private <T> T any(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  private ToolRef tool() {
    ToolRef tool = governance.registered(any(List.of("1.0.0", "1.1.0", "2.0.0", "2.1.0")));
    return random.nextInt(25) == 0 ? TestGovernance.other(tool) : tool;
  }

  /** The next thing on the way of a version, so that histories get far. */
  private boolean onward(ToolRef tool) {
    Optional<Submitted> known =
        home.kernel().system().governance().version(tool.name(), tool.version());
    if (known.isEmpty()) {
      return take(governance.submission(tool), () -> said.put(key(tool), new Record()));
    }
    if (known.get().validation().isEmpty()) {
      return take(governance.validation(tool), () -> said.get(key(tool)).passed = true);
    }
    String approver = any(List.of("ada", "ben", "cyd", "dan"));
    String role = approver.equals("cyd") ? "security" : "tool-reviewer";
    return known.get().words().size() < 3
        ? take(
            governance.approval(tool, approver, role),
            () -> said.get(key(tool)).roles.put(approver, role))
        : take(
            governance.staging(tool, RolloutStage.ACTIVE), () -> staged(tool, RolloutStage.ACTIVE));
  }

  /** One thing that somebody says; whether it was taken. */
  private boolean step() {
    ToolRef tool = tool();
    if (random.nextInt(4) == 0) {
      return onward(tool);
    }
    String approver = any(APPROVERS);
    String role =
        random.nextInt(4) == 0 || approver.equals("pub")
            ? any(List.of("tool-reviewer", "security"))
            : approver.equals("cyd") ? "security" : "tool-reviewer";
    boolean rejects = random.nextInt(40) == 0;
    RolloutStage stage = any(RolloutStage.ALL);
    boolean finds = random.nextInt(5) == 0;
    ToolValidation.Finding finding = new ToolValidation.Finding("TOL-211", "tool.py", "socket");
    return switch (random.nextInt(24)) {
      case 0, 1, 2 -> take(governance.submission(tool), () -> said.put(key(tool), new Record()));
      case 3 -> take(governance.submission(tool, any(List.of("ada", "operator", "eve"))), null);
      case 4, 5, 6, 7 ->
          take(
              finds ? governance.validation(tool, finding) : governance.validation(tool),
              () -> said.get(key(tool)).passed = !finds);
      case 8, 9, 10, 11, 12, 13, 14, 15 ->
          take(
              governance.word(
                  tool,
                  approver,
                  role,
                  rejects ? Approval.Verdict.REJECT : Approval.Verdict.APPROVE),
              () -> {
                said.get(key(tool)).rejected |= rejects;
                said.get(key(tool)).roles.put(approver, rejects ? "" : role);
              });
      case 16, 17, 18, 19 -> take(governance.staging(tool, stage), () -> staged(tool, stage));
      case 20, 21 ->
          take(
              governance.canary(tool, List.of("acme"), random.nextInt(101)),
              () -> staged(tool, RolloutStage.CANARY));
      case 22 -> !sent.isEmpty() && random.nextInt(3) > 0 && takeAgain();
      default -> random.nextInt(60) == 0 && revoke(approver);
    };
  }

  private void staged(ToolRef tool, RolloutStage stage) {
    assertThat(retired).doesNotContain(key(tool));
    if (stage == RolloutStage.RETIRED) {
      retired.add(key(tool));
    }
  }

  private boolean revoke(String approver) {
    if (approver.equals("pub") || !revokedKeys.add(approver)) {
      return false;
    }
    home.revoke(approver);
    return true;
  }

  /** A document that was taken before is sent again; nothing may come of that. */
  private boolean takeAgain() {
    Governance before = home.kernel().system().governance();
    take(any(sent), () -> {});
    Governance after = home.kernel().system().governance();
    // A validation may be repeated while nobody spoke; it says the same of the same package.
    before
        .versions()
        .forEach((key, version) ->
            assertThat(after.versions().get(key).stage()).isEqualTo(version.stage()));
    return false;
  }

  private boolean take(Envelope document, Runnable taken) {
    long size = home.ledger().treeSize();
    Governance before = home.kernel().system().governance();
    try {
      governance.take(document);
    } catch (WritException refused) {
      assertThat(home.ledger().treeSize()).isEqualTo(size);
      assertThat(home.kernel().system().governance()).isSameAs(before);
      return false;
    }
    assertThat(taken).as("it may not be taken: " + document.document()).isNotNull();
    taken.run();
    sent.add(document);
    return true;
  }

  private static String key(ToolRef tool) {
    return tool.version() + " " + tool.packageDigest();
  }

  /** Whether some version runs; what runs is as it must be. */
  private boolean holds() {
    boolean any = false;
    for (ApprovedTool tool : home.policy().tools()) {
      if (tool.governed().isEmpty()) {
        continue;
      }
      any = true;
      Record record = said.get(key(tool.ref()));
      assertThat(record.passed).as(tool.toString()).isTrue();
      assertThat(record.rejected).isFalse();
      assertThat(record.roles).doesNotContainKey("pub");
      assertThat(count(record, "tool-reviewer")).isGreaterThanOrEqualTo(2);
      assertThat(count(record, "security")).isGreaterThanOrEqualTo(1);
      Optional<Submitted> version =
          home.kernel().system().governance().version("words", tool.ref().version());
      assertThat(version.orElseThrow().stage().runs()).isTrue();
      assertThat(retired).doesNotContain(key(tool.ref()));
    }
    return any;
  }

  private static long count(Record record, String role) {
    return record.roles.values().stream().filter(role::equals).count();
  }
}
