package dev.writ.tools.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.guardian.policy.engine.ResourceClasses;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.remote.RemoteDockerEngine;
import dev.writ.sandbox.remote.testing.OtherHost;
import dev.writ.tools.Call;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import dev.writ.tools.registry.BuiltinTools;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tool exec, with the engine of a container service that is reached over TLS. */
@Timeout(300)
class PolicysImageRunsOnAnotherHostTest {
  private static final String PARAMS =
      "{\"argv\":[\"sh\",\"-c\",\"echo '<testsuite/>' > report.xml; echo $MODE; exit 5\"],"
          + "\"commands\":[\"sh\"],\"artifacts\":[\"*.xml\"],\"env\":{\"MODE\":\"x\"}}";

  private static Call call(TestHosts hosts, List<String> waived) {
    ToolManifest manifest = BuiltinTools.manifest("exec", "1.0.0").orElseThrow();
    JsonValue.Obj params = (JsonValue.Obj) Jcs.parse(PARAMS.getBytes(StandardCharsets.UTF_8));
    HostTerms terms =
        new HostTerms(waived, new TreeMap<>(), Optional.empty(), ResourceClasses.DEFAULT);
    return new Call(
            new ExecDriver(hosts.host()).prepare(manifest, "run", file -> new byte[0], terms))
        .sandbox("restricted")
        .waiving(waived)
        .params(params);
  }

  @Test
  void whatItDidComesBackAndWhatTheEngineLacksIsWaivedByNameOrRefused() throws Exception {
    try (OtherHost other = new OtherHost();
        TestHosts hosts =
            TestHosts.open(
                s -> s.remotely(RemoteDockerEngine.opener(other::settings)),
                SecretStore.none(),
                Optional.of("docker-remote"))) {
      List<String> waived = OtherHost.WAIVED.stream().map(Guarantee::text).toList();
      DriverOutcome outcome = call(hosts, waived).image("sh", other.image.toString()).run();
      JsonValue.Obj output = (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
      assertThat(outcome.message()).isEmpty();
      assertThat(output.get("stdout")).isEqualTo(JsonValue.of("x\n"));
      assertThat(output.get("exit_code")).isEqualTo(JsonValue.of(5));
      assertThat(output.get("image")).isEqualTo(JsonValue.of(other.image.toString()));
      assertThat(outcome.artifacts())
          .extracting(DriverOutcome.Artifact::name)
          .containsExactly("report.xml");
      assertThat(new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8))
          .contains("\"engine\":\"docker-remote ", "container writ-", "\"shortfalls\":[");
      assertThatThrownBy(() -> call(hosts, List.of()))
          .hasMessageStartingWith("SBX-003")
          .hasMessageContaining("cpu-limit");
      assertThat(other.left()).isEmpty();
    }
  }
}
