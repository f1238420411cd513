package dev.writ.tools.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.CallLimits;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.tools.Call;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What policy's resource classes say of a call is what its sandbox is told. */
class PolicySetsTheLimitsOfACallTest {
  private static ProcessCall call(Call call) {
    ProcessHost none = ProcessHost.missing(new WritException(SandboxError.HOST, "no host"));
    return new ProcessCall(none, ToolManifest.unregistered("x", "1"), call.invocation());
  }

  @Test
  void graceFilesAndProcessesAreThePolicysWhereItSaysThem() {
    CallLimits set =
        new CallLimits(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(8_192L),
            Optional.of(1L << 30),
            Optional.empty(),
            Optional.of(400L),
            Optional.of(0L));
    CgroupLimits limits = call(new Call(null).limits(set)).limits();
    assertThat(limits.tmpBytes()).isEqualTo(8_192);
    assertThat(limits.graceMs()).isZero();
    assertThat(limits.fileBytes()).isEqualTo(1L << 30);
    assertThat(limits.pids()).isEqualTo(400);
    CgroupLimits without = call(new Call(null)).limits();
    assertThat(without.tmpBytes()).isEqualTo(64 << 20);
    assertThat(without.graceMs()).isEqualTo(1_000);
    assertThat(without.fileBytes()).isEqualTo(64 << 20);
    assertThat(without.pids()).isEqualTo(64);
  }
}
