package dev.writ.tools.language;

import dev.writ.sandbox.SandboxSettings;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretStore;
import java.nio.file.Path;
import java.util.Optional;

/** Has workers wait, says so, and waits to be killed: ENGINE and the state directory. */
final class WarmMain {
  private WarmMain() {}

  public static void main(String[] args) throws Exception {
    ProcessHost host =
        ProcessHost.open(
            SandboxSettings.in(Path.of(args[1])), SecretStore.none(), Optional.of(args[0]));
    WarmLab lab = new WarmLab(host, PoolSettings.ofMiB(1_024));
    WarmLab.Tool tool = lab.python("def count(input, context):\n    return {}\n");
    tool.asIs("x").run();
    tool.asIs("x").run();
    tool.asIs("x").run();
    if (!lab.pool.await(f -> f.ready() >= 2, 60_000)) {
      throw new AssertionError(lab.pool.figures());
    }
    System.out.println("waiting " + lab.pool.figures().ready());
    Thread.sleep(Long.MAX_VALUE);
  }
}
