package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.testing.Leftovers;
import dev.writ.sandbox.testing.OtherJvm;
import dev.writ.sandbox.testing.TestEngines;
import dev.writ.tools.process.TestHosts;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code kill -9} of the server, and the next start: no worker, mount, cgroup or directory. */
class WaitingWorkersDieWithTheServerTest {
  static List<String> engines() {
    return TestEngines.names();
  }

  @ParameterizedTest
  @MethodSource("engines")
  void nothingOfThemIsLeft(String engine) throws Exception {
    Path directory = TestHosts.directory();
    Path state = directory.resolve("s");
    // What it has in its temporary directory is left there, as it is killed.
    List<String> env = List.of("env", "JAVA_TOOL_OPTIONS=-Djava.io.tmpdir=" + directory);
    try (OtherJvm jvm = new OtherJvm(env, WarmMain.class, engine, state.toString())) {
      String line = jvm.line();
      while (line != null && !line.startsWith("waiting")) {
        System.out.println(line);
        line = jvm.line();
      }
      assertThat(line).isNotNull();
      jvm.kill();
      try (Engines engines = Engines.open(SandboxSettings.in(state))) {
        assertThat(engines.reports()).isNotEmpty();
        assertThat(Leftovers.await(state, what -> false, List.of(jvm.pid()))).isEmpty();
      }
    } finally {
      Trees.remove(directory);
    }
  }
}
