package dev.writ.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.cgroup.Cgroups;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.host.Owners;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.testing.OtherJvm;
import dev.writ.sandbox.testing.RootlessMain;
import dev.writ.sandbox.testing.TestEngines;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WhatIsMissingIsRefusedTest {
  private static EngineReport report(boolean there, Guarantee... notHeld) {
    TreeMap<Guarantee, EngineReport.Holding> holdings = new TreeMap<>();
    for (Guarantee one : Guarantee.values()) {
      holdings.put(one, new EngineReport.Holding(!List.of(notHeld).contains(one), "how"));
    }
    return new EngineReport(
        "x",
        "1",
        there ? List.of() : List.of(new EngineReport.Missing("x", "x-package")),
        holdings);
  }

  private static ConfiningEngine engine(EngineReport report) {
    return new ConfiningEngine(report, null, null, null, null, null, null, null);
  }

  private static Engines engines(EngineReport... reports) {
    return Engines.of(Stream.of(reports).map(r -> engine(r)).toList());
  }

  @Test
  void noEngineIsAClearRefusalWithTheInstallCommand() {
    assertThatThrownBy(() -> engines(report(false)).choose(List.of()))
        .hasMessageContaining("SBX-001")
        .hasMessageContaining("apt-get install bubblewrap");
    assertThatThrownBy(() -> engines(report(false)).named("x"))
        .hasMessageContaining("SBX-002")
        .hasMessageContaining("apt-get install x-package");
    assertThatThrownBy(() -> engines(report(true)).named("y")).hasMessageContaining("SBX-002");
    SandboxSpec spec = SandboxSpec.of("a", Profile.named("default"));
    assertThatThrownBy(() -> engine(report(false)).create(spec))
        .hasMessageContaining("SBX-002")
        .hasMessageContaining("apt-get install x-package");
  }

  @Test
  void aShortfallIsWaivedByItsNameOrRefused() {
    Engines short1 = engines(report(true, Guarantee.MEMORY_LIMIT, Guarantee.LANDLOCK));
    assertThatThrownBy(() -> short1.choose(List.of()))
        .hasMessageContaining("SBX-003")
        .hasMessageContaining("memory-limit")
        .matches(e -> !e.getMessage().contains("landlock"));
    assertThatThrownBy(() -> short1.choose(List.of(Guarantee.PIDS_LIMIT)))
        .hasMessageContaining("SBX-003");
    assertThat(short1.choose(List.of(Guarantee.MEMORY_LIMIT)).name()).isEqualTo("x");
    assertThatThrownBy(() -> short1.named("x", List.of(Guarantee.PIDS_LIMIT)))
        .hasMessageContaining("SBX-003");
    assertThat(short1.named("x", List.of(Guarantee.MEMORY_LIMIT)).name()).isEqualTo("x");
    SandboxSpec spec = SandboxSpec.of("a", Profile.named("default"));
    for (Guarantee one : Guarantee.values()) {
      ConfiningEngine engine = engine(report(true, one));
      if (one.required()) {
        assertThatThrownBy(() -> engine.create(spec))
            .hasMessageContaining("SBX-003")
            .hasMessageContaining(one.text());
      }
    }
  }

  @Test
  void theRefusalSaysWhatAPolicyWouldHaveToSay() {
    Engines engines = engines(report(true, Guarantee.MEMORY_LIMIT, Guarantee.PIDS_LIMIT));
    assertThatThrownBy(() -> engines.choose(List.of(Guarantee.PIDS_LIMIT)))
        .hasMessageContaining("x does not hold [memory-limit]")
        .hasMessageContaining("sandbox: { waived: [memory-limit, pids-limit] }");
  }

  @Test
  void whatConfinesIsWaivedByNobody() {
    List<Guarantee> all = List.of(Guarantee.values());
    for (Guarantee one : all) {
      Engines engines = engines(report(true, one));
      if (one.waivable() || !one.required()) {
        assertThat(engines.choose(all).name()).isEqualTo("x");
      } else {
        assertThatThrownBy(() -> engines.choose(all))
            .hasMessageContaining("SBX-003")
            .hasMessageContaining("no policy can accept that it lacks [" + one.text() + "]");
        SandboxSpec spec = SandboxSpec.of("a", Profile.named("default")).without(all);
        assertThatThrownBy(() -> engine(report(true, one)).create(spec))
            .hasMessageContaining("SBX-003");
      }
      if (one.waivable()) {
        assertThat(Guarantee.waivable(one.text())).isEqualTo(one);
      } else {
        assertThatThrownBy(() -> Guarantee.waivable(one.text())).hasMessageContaining("SBX-003");
      }
    }
    assertThat(all.stream().filter(g -> g.required() && !g.waivable()))
        .containsExactly(
            Guarantee.NAMESPACES,
            Guarantee.READ_ONLY_ROOT,
            Guarantee.NO_CAPABILITIES,
            Guarantee.NO_NEW_USERNS,
            Guarantee.SECCOMP);
  }

  @Test
  void thereAreOnlySoManySandboxes() throws Exception {
    try (TestEngines outer = TestEngines.open()) {
      Path state = outer.directory().resolve("two");
      SandboxSettings settings = new SandboxSettings(state, ownUids(), 2, name -> List.of());
      try (Engines engines = Engines.open(settings)) {
        Engine engine = engines.choose(List.of());
        Sandbox one = engine.create(SandboxSpec.of("one", Profile.named("default")));
        engine.create(SandboxSpec.of("two", Profile.named("default")));
        SandboxSpec three = SandboxSpec.of("three", Profile.named("default"));
        assertThatThrownBy(() -> engine.create(three)).hasMessageContaining("SBX-008");
        one.destroy();
        engine.create(three);
      }
    }
  }

  /** Four user ids that no other run of this test has, on the same machine at the same time. */
  private static long ownUids() {
    return 2_100_000_000L + 10 * (ProcessHandle.current().pid() % 4_000_000);
  }

  @Test
  void rulesForEgressAreHostAndPort() {
    for (String bad : List.of("", "A.test", "a b", "*", "*.", "a/b", "x".repeat(254))) {
      assertThatThrownBy(() -> EgressRule.of(bad, 80)).as(bad).hasMessageContaining("SBX-029");
    }
    assertThatThrownBy(() -> EgressRule.of("a.test", 0)).hasMessageContaining("SBX-029");
    assertThatThrownBy(() -> EgressRule.of("a.test", 65_536)).hasMessageContaining("SBX-029");
  }

  @Test
  void aUserWithoutRootIsToldWhatDoesNotHold() throws Exception {
    assertThat(rootless(65_534))
        .containsExactly(
            "shortfalls [distinct-uid, memory-limit, pids-limit, cpu-limit, measured, disk-limit,"
                + " tmp-noexec]",
            "choose SBX-003",
            "some SBX-003",
            "create SBX-003",
            "65534",
            "CapEff:\t0000000000000000",
            "Seccomp:\t2",
            "no",
            "timed-out",
            "memory exited OptionalInt[1]",
            "reserved",
            "forwarders 1",
            "forwarders left 0",
            "secret SBX-003",
            "docker SBX-002",
            "runc SBX-003",
            "end");
  }

  @Test
  void aUserWithoutRootHasLimitsWhereCgroupsWereGivenToHim() throws Exception {
    if (!Files.isDirectory(Path.of("/sys/fs/cgroup/memory"))) {
      assertThat(Cgroups.detect().describe()).doesNotContain("v1"); // there it is another way
      return;
    }
    long uid = ownUids();
    List<Path> given = new ArrayList<>();
    try {
      for (String controller : List.of("memory", "pids", "cpu", "cpuacct")) {
        Path mount = Path.of("/sys/fs/cgroup", controller).toRealPath();
        Path directory = mount.resolve("writ-" + uid);
        if (!given.contains(directory)) {
          Files.createDirectory(directory);
          given.add(directory);
          Owners.give(directory, uid);
        }
      }
      assertThat(rootless(uid))
          .startsWith("shortfalls [distinct-uid, disk-limit, tmp-noexec]", "choose SBX-003")
          .contains("timed-out", "memory out-of-memory OptionalInt.empty", "forwarders left 0")
          .endsWith("end");
      for (Path directory : given) {
        try (Stream<Path> left = Files.list(directory)) {
          assertThat(left.filter(Files::isDirectory)).isEmpty();
        }
      }
    } finally {
      for (Path directory : given) {
        Files.delete(directory);
      }
    }
  }

  /** What {@link RootlessMain} says as a user. */
  private static List<String> rootless(long uid) throws Exception {
    Path directory = Files.createTempDirectory(Path.of("/tmp"), "sbx");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    List<String> path = new ArrayList<>();
    for (Class<?> one : List.of(Digest.class, Engine.class, RootlessMain.class)) {
      path.add(
          copy(
              Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI()), directory));
    }
    String id = Long.toString(uid);
    List<String> before =
        List.of("setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--inh-caps=-all");
    try (OtherJvm jvm =
        new OtherJvm(
            before,
            String.join(":", path),
            RootlessMain.class,
            directory.resolve("s").toString())) {
      return jvm.lines();
    } finally {
      Trees.remove(directory);
    }
  }

  /** To where every user may read it: the build may be below a home. */
  private static String copy(Path from, Path directory) throws Exception {
    Path to = directory.resolve("p" + Math.abs(from.hashCode()));
    if (Files.exists(to)) {
      return to.toString();
    }
    if (Files.isRegularFile(from)) {
      Files.copy(from, to);
      return to.toString();
    }
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : all.toList()) {
        Path target = to.resolve(from.relativize(path).toString());
        if (!path.toString().contains("Inputs")) {
          Files.copy(path, target);
        }
      }
    }
    return to.toString();
  }
}
