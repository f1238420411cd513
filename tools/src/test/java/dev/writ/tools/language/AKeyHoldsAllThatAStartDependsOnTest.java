package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Reproducible;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressRule;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Each field of what a start is made of: part of the key, of the call, or a reason to start cold.
 */
class AKeyHoldsAllThatAStartDependsOnTest {
  private static final Digest PACKAGE = Digest.sha256(new byte[] {1});
  private static final CgroupLimits LIMITS = CgroupLimits.STANDARD;
  private static final Command COMMAND =
      Command.of("python3", "worker.py").withExecutables(List.of("/usr/bin/python3"));

  private static Optional<WarmKey> key(Command command) {
    return WarmKey.of(PACKAGE, "bubblewrap", "restricted", List.of(), Optional.empty(), command);
  }

  /** Every component of a command, each changed alone; a new component fails here. */
  @Test
  void everyFieldOfACommandIsDecided() {
    TreeMap<String, Command> changed = new TreeMap<>();
    changed.put(
        "argv",
        new Command(
            List.of("python3", "other.py"),
            COMMAND.stdin(),
            COMMAND.environment(),
            COMMAND.directory(),
            COMMAND.limits(),
            COMMAND.binds(),
            COMMAND.secrets(),
            COMMAND.executables(),
            COMMAND.egress(),
            COMMAND.reproducible()));
    changed.put("stdin", COMMAND.withStdin("call".getBytes(StandardCharsets.UTF_8)));
    changed.put("environment", COMMAND.withEnvironment("A", "b"));
    changed.put("directory", COMMAND.withDirectory("/tmp"));
    changed.put("limits", COMMAND.withLimits(LIMITS.withPids(9)));
    changed.put("binds", COMMAND.withBinds(List.of(new Bind(Path.of("/usr"), "/tool"))));
    changed.put("secrets", COMMAND.withSecrets(List.of(new SecretFile("a", new byte[] {1}))));
    changed.put("executables", COMMAND.withExecutables(List.of("/usr/bin/node")));
    changed.put("egress", COMMAND.withEgress(List.of(EgressRule.of("example.com", 443))));
    changed.put("reproducible", COMMAND.reproducibly(new Reproducible(Instant.EPOCH, 1)));
    assertThat(changed.keySet()).isEqualTo(components(Command.class));

    TreeSet<String> ofTheCall = new TreeSet<>(List.of("stdin"));
    TreeSet<String> cold = new TreeSet<>(List.of("secrets", "egress", "reproducible"));
    changed.forEach((field, command) -> {
      assertThat(key(command).isEmpty()).as(field).isEqualTo(cold.contains(field));
      assertThat(key(command).equals(key(COMMAND))).as(field).isEqualTo(ofTheCall.contains(field));
    });
    assertThat(key(COMMAND.withExecutables(List.of()))).isNotEqualTo(key(COMMAND));
  }

  /** The kernel's limits are there from the start; the elapsed time is the call's. */
  @Test
  void everyLimitButTheElapsedTimeIsPartOfIt() {
    Object[] values = values(LIMITS);
    RecordComponent[] components = CgroupLimits.class.getRecordComponents();
    for (int i = 0; i < components.length; i++) {
      Object[] other = values.clone();
      other[i] = (long) other[i] + 512;
      Command command = COMMAND.withLimits(limits(other));
      assertThat(key(command).equals(key(COMMAND)))
          .as(components[i].getName())
          .isEqualTo(components[i].getName().equals("wallMs"));
    }
  }

  private static Object[] values(CgroupLimits limits) {
    return new Object[] {
      limits.wallMs(),
      limits.graceMs(),
      limits.cpuMs(),
      limits.cpuMilli(),
      limits.memoryBytes(),
      limits.pids(),
      limits.openFiles(),
      limits.fileBytes(),
      limits.tmpBytes(),
      limits.outputBytes()
    };
  }

  private static CgroupLimits limits(Object[] v) {
    return new CgroupLimits(
        (long) v[0],
        (long) v[1],
        (long) v[2],
        (long) v[3],
        (long) v[4],
        (long) v[5],
        (long) v[6],
        (long) v[7],
        (long) v[8],
        (long) v[9]);
  }

  @Test
  void packageEngineProfileAndWhatIsWaivedArePartOfIt() {
    WarmKey key = key(COMMAND).orElseThrow();
    Digest other = Digest.sha256(new byte[] {2});
    List<Guarantee> waived = List.of(Guarantee.MEMORY_LIMIT);
    for (Optional<WarmKey> changed :
        List.of(
            WarmKey.of(other, "bubblewrap", "restricted", List.of(), Optional.empty(), COMMAND),
            WarmKey.of(PACKAGE, "runc", "restricted", List.of(), Optional.empty(), COMMAND),
            WarmKey.of(PACKAGE, "bubblewrap", "default", List.of(), Optional.empty(), COMMAND),
            WarmKey.of(PACKAGE, "bubblewrap", "restricted", waived, Optional.empty(), COMMAND),
            WarmKey.of(
                PACKAGE, "bubblewrap", "restricted", List.of(), Optional.of(1L << 30), COMMAND))) {
      assertThat(changed.orElseThrow()).isNotEqualTo(key);
    }
    assertThat(
            WarmKey.of(PACKAGE, "bubblewrap", "restricted", List.of(), Optional.empty(), COMMAND))
        .contains(key);
  }

  /**
   * What a worker is started with comes from the key alone, and is what a cold start would have.
   */
  @Test
  void aWorkerIsStartedFromNothingElse() {
    WarmKey key =
        WarmKey.of(
                PACKAGE,
                "runc",
                "default",
                List.of(Guarantee.MEMORY_LIMIT),
                Optional.empty(),
                COMMAND)
            .orElseThrow();
    assertThat(key(key.command())).isEqualTo(key(COMMAND));
    assertThat(key.command().stdin()).isEmpty();
    assertThat(key.sandbox("a"))
        .isEqualTo(
            SandboxSpec.of("a", Profile.named("default")).without(List.of(Guarantee.MEMORY_LIMIT)));
  }

  private static TreeSet<String> components(Class<?> type) {
    TreeSet<String> names = new TreeSet<>();
    Arrays.stream(type.getRecordComponents()).forEach(c -> names.add(c.getName()));
    return names;
  }
}
