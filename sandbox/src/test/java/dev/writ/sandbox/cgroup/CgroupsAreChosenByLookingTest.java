package dev.writ.sandbox.cgroup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hosts as directories of plain files: what is written where, and what is read. */
class CgroupsAreChosenByLookingTest {
  @TempDir Path root;

  private void file(String path, String text) {
    try {
      Path file = root.resolve(path);
      Files.createDirectories(file.getParent());
      Files.writeString(file, text, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String text(String path) throws IOException {
    return Files.readString(root.resolve(path), StandardCharsets.US_ASCII);
  }

  private String mount(String directory, String type, String options) {
    return type + " " + root.resolve(directory) + " " + type + " rw," + options + " 0 0\n";
  }

  private static final CgroupLimits LIMITS =
      CgroupLimits.STANDARD.withMemoryBytes(64 << 20).withPids(17).withCpuMilli(250);

  @Test
  void aHostOfVersionOne() throws IOException {
    file("memory/writ/u1.1/memory.memsw.limit_in_bytes", "");
    file("memory/memory.kmem.tcp.limit_in_bytes", "9223372036854771712");
    file("pids/x", "");
    file("cpu,cpuacct/x", "");
    String mounts =
        mount("memory", "cgroup", "memory")
            + mount("pids", "cgroup", "pids")
            + mount("cpu,cpuacct", "cgroup", "cpu,cpuacct");
    Cgroups cgroups = Cgroups.detect(mounts, "", 0);
    assertThat(cgroups.describe()).startsWith("cgroup v1 (cpu, cpuacct, memory, pids)");
    assertThat(cgroups.limitsMemory() && cgroups.limitsPids() && cgroups.limitsCpu()).isTrue();
    Cgroup cgroup = cgroups.create("u1.1", LIMITS);
    // All of it together is the 64 MiB that were declared.
    assertThat(text("memory/writ/u1.1/memory.limit_in_bytes")).isEqualTo("62914560");
    assertThat(text("memory/writ/u1.1/memory.memsw.limit_in_bytes")).isEqualTo("62914560");
    assertThat(text("memory/writ/u1.1/memory.kmem.tcp.limit_in_bytes")).isEqualTo("4194304");
    assertThat(text("pids/writ/u1.1/pids.max")).isEqualTo("17");
    assertThat(text("cpu,cpuacct/writ/u1.1/cpu.cfs_quota_us")).isEqualTo("25000");
    assertThat(cgroup.joinFiles()).hasSize(3);
    file("cpu,cpuacct/writ/u1.1/cpuacct.usage", "1234567890\n");
    file("memory/writ/u1.1/memory.max_usage_in_bytes", "4096\n");
    file("memory/writ/u1.1/memory.kmem.tcp.max_usage_in_bytes", "8192\n");
    file("memory/writ/u1.1/memory.kmem.tcp.usage_in_bytes", "100\n");
    file("memory/writ/u1.1/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    file("pids/writ/u1.1/pids.events", "max 5\n");
    file("pids/writ/u1.1/pids.peak", "9\n");
    assertThat(cgroup.counters()).isEqualTo(new Counters(1234, 12_288, 3, 5, 9, 100));
    assertThat(cgroups.names()).containsExactly("u1.1");
  }

  @Test
  void aKernelThatCannotLimitSocketsLimitsNoMemory() throws IOException {
    file("memory/x", "");
    Cgroups cgroups = Cgroups.detect(mount("memory", "cgroup", "memory"), "", 0);
    assertThat(cgroups.limitsMemory()).isFalse();
  }

  @Test
  void whatTheKernelWasToldNotToCountIsSeen() {
    assertThat(Cgroups.uncounted("quiet splash", true)).isEmpty();
    assertThat(Cgroups.uncounted("quiet cgroup.memory=nosocket\n", true))
        .isEqualTo("cgroup.memory=nosocket");
    assertThat(Cgroups.uncounted("quiet cgroup.memory=nosocket\n", false)).isEmpty();
    assertThat(Cgroups.uncounted("cgroup.memory=nobpf,nokmem x", false))
        .isEqualTo("cgroup.memory=nobpf,nokmem");
  }

  @Test
  void aHostOfVersionTwo() throws IOException {
    file("cgroup.subtree_control", "cpu memory pids");
    file("cgroup.controllers", "cpu io memory pids");
    file("writ/cgroup.controllers", "cpu memory pids");
    file("writ/cgroup.subtree_control", "cpu memory pids");
    file("writ/u1.1/memory.swap.max", "max");
    file("writ/u1.1/cgroup.kill", "");
    Cgroups cgroups = Cgroups.detect(mount("", "cgroup2", "nsdelegate"), "0::/init.scope\n", 0);
    assertThat(cgroups.describe()).contains("cgroup v2 (cpu, memory, pids)");
    assertThat(cgroups.limitsMemory() && cgroups.limitsPids() && cgroups.limitsCpu()).isTrue();
    Cgroup cgroup = cgroups.create("u1.1", LIMITS);
    assertThat(text("writ/u1.1/memory.max")).isEqualTo("67108864");
    assertThat(text("writ/u1.1/memory.swap.max")).isEqualTo("0");
    assertThat(text("writ/u1.1/pids.max")).isEqualTo("17");
    assertThat(text("writ/u1.1/cpu.max")).isEqualTo("25000 100000");
    assertThat(cgroup.joinFiles()).containsExactly(root.resolve("writ/u1.1/cgroup.procs"));
    file("writ/u1.1/cpu.stat", "usage_usec 2500000\nuser_usec 1\n");
    file("writ/u1.1/memory.peak", "8192\n");
    file("writ/u1.1/memory.events", "low 0\nmax 7\noom 1\noom_kill 1\n");
    file("writ/u1.1/pids.events", "max 2\n");
    file("writ/u1.1/pids.peak", "4\n");
    assertThat(cgroup.counters()).isEqualTo(new Counters(2500, 8192, 1, 2, 4, 0));
  }

  @Test
  void aDelegatedCgroupOfVersionTwo() throws IOException {
    String self = Long.toString(ProcessHandle.current().pid());
    file("cgroup.type", "domain");
    file("service/cgroup.procs", self + "\n");
    file("service/cgroup.controllers", "memory pids");
    file("service/cgroup.subtree_control", "");
    file("service/writ/cgroup.controllers", "memory pids");
    file("service/writ/cgroup.subtree_control", "memory pids");
    Cgroups cgroups = Cgroups.detect(mount("", "cgroup2", "x"), "0::/service\n", 0);
    assertThat(text("service/writ-self/cgroup.procs")).isEqualTo(self);
    assertThat(cgroups.limitsMemory()).isTrue();
    assertThat(cgroups.limitsCpu()).isFalse();
    assertThat(cgroups.describe()).contains("(memory, pids)").contains("service");
  }

  @Test
  void aHostThatGivesUsNone() {
    assertThat(Cgroups.detect("", "", 0).limitsMemory()).isFalse();
    // Version 2, but nothing of it was delegated to us.
    file("cgroup.type", "domain");
    Cgroups none = Cgroups.detect(mount("", "cgroup2", "x"), "0::/\n", 0);
    assertThat(none.measures()).isFalse();
    assertThat(none.names()).isEmpty();
    assertThatThrownBy(() -> none.create("x", LIMITS)).hasMessageContaining("SBX-007");
  }

  @Test
  void theKernelOfThisHostIsOneOfThem() {
    Cgroups here = Cgroups.detect();
    assertThat(here.limitsMemory()).as(here.describe()).isTrue();
    assertThat(here.limitsPids()).isTrue();
    assertThat(here.limitsCpu()).isTrue();
  }
}
