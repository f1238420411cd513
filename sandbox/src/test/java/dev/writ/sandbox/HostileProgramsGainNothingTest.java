package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.testing.Attack;
import dev.writ.sandbox.testing.AttackRange;
import dev.writ.sandbox.testing.TestEngines;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every program of attacks.txt, on every engine: none may say ESCAPED, and nothing may be left. On
 * bubblewrap, the first choice, it is all of them; on runc some of each kind and all that the
 * filter ends, since another compiler made it; in containers, which take longer to start, some of
 * each kind. With {@code -Dwrit.attacks=true} it is all everywhere.
 */
class HostileProgramsGainNothingTest {
  private static final List<String> SOME =
      List.of(
          "fork-bomb-python",
          "memory-child",
          "disk-fill",
          "output-flood",
          "daemon",
          "spin-in-children",
          "ptrace",
          "mount",
          "clone-newuser",
          "become-root",
          "capabilities",
          "raw-socket",
          "make-device",
          "hidden-proc",
          "kill-all",
          "self-exe",
          "inherited-files",
          "leaked-directory",
          "other-sandbox",
          "loopback-host");

  private static AttackRange range;

  @BeforeAll
  static void open() throws Exception {
    range = new AttackRange();
  }

  @AfterAll
  static void close() throws Exception {
    range.close();
  }

  static List<Arguments> attacks() {
    List<Arguments> all = new ArrayList<>();
    for (String engine : TestEngines.allNames()) {
      Attack.all().stream()
          .filter(attack -> isChosen(engine, attack))
          .forEach(attack -> all.add(Arguments.of(engine, attack)));
    }
    return all;
  }

  private static boolean isChosen(String engine, Attack attack) {
    return engine.equals("bubblewrap")
        || Boolean.getBoolean("writ.attacks")
        || SOME.contains(attack.name())
        || engine.equals("runc") && attack.ends().contains(EndReason.SECCOMP_VIOLATION);
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("attacks")
  void gainsNothing(String engine, Attack attack) throws Exception {
    Ended ended = range.run(engine, attack);
    String out = new String(ended.stdout().bytes(), StandardCharsets.UTF_8);
    String err = new String(ended.stderr().bytes(), StandardCharsets.UTF_8);
    assertThat(out).as("%s %s", ended.reason(), err).doesNotContain("ESCAPED");
    if (attack.ends().isEmpty()) {
      assertThat(ended.succeeded()).as("%s %s %s", ended.reason(), ended.exitCode(), err).isTrue();
      assertThat(out).contains("HELD");
    } else {
      assertThat(ended.reason()).as("%s %s", ended.exitCode(), err).isIn(attack.ends());
    }
    attack.reached().ifPresent(reason -> assertThat(ended.reached()).contains(reason));
    assertThat(ended.usage().pidsPeak()).isLessThanOrEqualTo(attack.limits().pids());
    assertThat(ended.usage().memoryPeakBytes()).isLessThanOrEqualTo(attack.limits().memoryBytes());
    range.requireUntouched(engine);
  }
}
