package dev.writ.sandbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.testing.TestEngines;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * On a host with shared mounts, as systemd makes them, what others unmount goes away in a new
 * namespace too, while bubblewrap goes through the mounts there.
 */
class MountsThatGoAwayStopNoStartTest {
  /** Mounts and unmounts below a shared mount until its standard input ends. */
  private static final String CHURN =
      """
      import ctypes, os, select, subprocess, sys
      top = sys.argv[1]
      libc = ctypes.CDLL(None)
      subprocess.run(["mount", "-t", "tmpfs", "shared", top], check=True)
      subprocess.run(["mount", "--make-shared", top], check=True)
      names = [os.path.join(top, name) for name in "abcdefgh"]
      for name in names:
          os.mkdir(name)
      print("ready", flush=True)
      while not select.select([sys.stdin], [], [], 0)[0]:
          for name in names:
              libc.mount(b"none", name.encode(), b"tmpfs", 0, None)
          for name in names:
              libc.umount2(name.encode(), 2)
      subprocess.run(["umount", "-R", top], check=True)
      """;

  @TempDir Path shared;

  @Test
  void aCommandWithANetworkStartsWhileMountsComeAndGo() throws Exception {
    Process churn =
        new ProcessBuilder("/usr/bin/python3", "-c", CHURN, shared.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (TestEngines engines = TestEngines.open()) {
      assertThat(churn.inputReader().readLine()).isEqualTo("ready");
      try (Sandbox sandbox =
          engines
              .named("bubblewrap")
              .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")))) {
        for (int i = 0; i < 25; i++) {
          Ended ended =
              sandbox.exec(
                  Command.of("/bin/sh", "-c", "echo out; echo err >&2; exit 7")
                      .withEgress(List.of(EgressRule.of("nowhere.test", 80))));
          assertThat(ended.reason()).isEqualTo(EndReason.EXITED);
          assertThat(ended.exitCode()).hasValue(7);
          assertThat(new String(ended.stdout().bytes(), UTF_8)).isEqualTo("out\n");
          assertThat(new String(ended.stderr().bytes(), UTF_8)).isEqualTo("err\n");
        }
      }
    } finally {
      churn.getOutputStream().close();
      assertThat(churn.waitFor()).isZero();
    }
  }
}
