package dev.writ.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Names, ports, contents and variables of the images, and the compose file, as the seeds have them.
 */
class TheImagesAreTheSeedsTest {
  private static Map<?, ?> compose() {
    return Project.documents(Project.read("docker/tools/docker-compose.tools.yml")).getFirst();
  }

  private static Map<?, ?> service(String name) {
    return (Map<?, ?>) ((Map<?, ?>) compose().get("services")).get(name);
  }

  @ParameterizedTest
  @CsvSource({
    "nz-execution-gateway, execute, 8080",
    "logline-executor, logline, 8080",
    "tool-gateway, tools, 8088"
  })
  void eachGatewayHasItsNameAndItsPortAndRunsAsNobodyElse(String image, String folder, int port) {
    String file = Project.read("docker/" + folder + "/Dockerfile");
    Map<?, ?> gateway =
        Project.documents(Project.read("docker/" + folder + "/gateway.yaml")).getFirst();

    assertThat(file.lines())
        .contains(
            "FROM scratch",
            "ADD target/images/" + image + "/root.tar /",
            "USER 65532:65532",
            "EXPOSE " + port)
        .as("sandboxes are on the volume, since nothing else is there to be written to")
        .anyMatch(line -> line.contains(" WRIT_SANDBOX_DIR=/var/lib/writ/"));
    assertThat(((Map<?, ?>) gateway.get("listen")).get("port")).isEqualTo(port);
  }

  @Test
  void theExecutorOfSeedOneHasItsPrograms() {
    assertThat(Project.read("images/locks/logline-executor").lines())
        .extracting(line -> line.split(" ")[0])
        .contains("nodejs", "python3", "git", "chromium")
        .doesNotContain("systemd", "dbus-daemon", "npm");
    // Its secret has no place in the image: the variable of that name has it.
    assertThat(Project.read("docker/logline/gateway.yaml")).contains("LOGLINE_SHARED_SECRET");
    assertThat(Project.read("docker/logline/Dockerfile")).doesNotContain("LOGLINE_SHARED_SECRET");
  }

  @Test
  void theComposeFileHasTheSeedsService() {
    Map<?, ?> gateway = service("tool-gateway");

    assertThat(((Map<?, ?>) gateway.get("build")).get("dockerfile"))
        .isEqualTo("deploy/docker/tools/Dockerfile");
    assertThat((List<?>) gateway.get("environment"))
        .anySatisfy(variable -> assertThat((String) variable).startsWith("REDIS_URL=${REDIS_URL"))
        .anySatisfy(variable -> assertThat((String) variable).startsWith("WORKSPACE_ROOT="));
    assertThat((List<?>) gateway.get("volumes"))
        .anySatisfy(volume -> assertThat((String) volume).startsWith("${WORKSPACE_ROOT"))
        .noneSatisfy(volume -> assertThat((String) volume).contains("docker.sock"));
    assertThat(gateway.get("ports")).isEqualTo(List.of("127.0.0.1:8088:8088"));
  }

  @Test
  void bothServicesAreConfinedAndKeepTheirData() {
    for (String name : List.of("tool-gateway", "redis")) {
      Map<?, ?> service = service(name);
      assertThat(service.get("read_only")).as(name).isEqualTo(true);
      assertThat(service.get("cap_drop")).as(name).isEqualTo(List.of("ALL"));
      assertThat(((List<?>) service.get("security_opt")).contains("no-new-privileges"))
          .as(name)
          .isTrue();
      assertThat(service.get("restart")).as(name).isEqualTo("unless-stopped");
      assertThat(((Map<?, ?>) compose().get("volumes")).containsKey(name)).as(name).isTrue();
      assertThat(((List<?>) service.get("volumes")).toString())
          .as(name)
          .contains(name + ":/var/lib/");
    }
  }

  @Test
  void aStopLeavesTheGatewayTheTimeThatItTakesToDrain() {
    Map<?, ?> configuration =
        Project.documents(Project.read("docker/tools/gateway.yaml")).getFirst();

    assertThat(seconds(service("tool-gateway").get("stop_grace_period")))
        .isGreaterThan((int) configuration.get("drain_s"));
  }

  private static int seconds(Object duration) {
    assertThat((String) duration).matches("[0-9]+s");
    return Integer.parseInt(((String) duration).replace("s", ""));
  }

  @Test
  void aRuntimeIsNotRootAndStartsNothing() {
    assertThat(Project.read("docker/runtime/Dockerfile").lines())
        .contains("FROM scratch", "USER 65534:65534", "WORKDIR /workspace")
        .noneMatch(line -> line.startsWith("ENTRYPOINT") || line.startsWith("CMD"));
  }
}
