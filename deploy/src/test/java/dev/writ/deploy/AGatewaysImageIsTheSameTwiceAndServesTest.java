package dev.writ.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The image of seed 000's gateway, made by {@code deploy/images/build} of programs of this host in
 * place of Debian's packages, with Java and Writ's jars mounted: a form of {@code ./check images}
 * that takes seconds. It has a store of images of its own.
 */
class AGatewaysImageIsTheSameTwiceAndServesTest {
  private static final Path TOP = Project.deploy().getParent();
  private static final String NAME = "nz-execution-gateway";

  @TempDir private Path dir;
  private Map<String, String> environment;

  @BeforeEach
  void storeOfItsOwn() throws IOException {
    Path storage =
        Files.writeString(
            dir.resolve("storage.conf"),
            """
            [storage]
            driver = "overlay"
            graphroot = "%1$s/images"
            runroot = "%1$s/run"
            """
                .formatted(dir));
    Path engine =
        Files.writeString(
            dir.resolve("containers.conf"),
            """
            [containers]
            default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
            [engine]
            cgroup_manager = "cgroupfs"
            events_logger = "file"
            runtime = "runc"
            tmp_dir = "%1$s/tmp"
            volume_path = "%1$s/volumes"
            """
                .formatted(dir));
    environment =
        Map.of("CONTAINERS_STORAGE_CONF", storage.toString(), "CONTAINERS_CONF", engine.toString());
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    run("podman", "rm", "--all", "--force", "--time", "0");
    // The store mounts itself onto itself.
    run(
        "bash",
        "-euc",
        "while read -r _ place _; do"
            + " case $place in \"$1\"/*) umount --lazy \"$place\" ;; esac;"
            + " done </proc/self/mounts",
        "bash",
        dir.toString());
  }

  private ProcessBuilder builder(String... command) {
    ProcessBuilder builder = new ProcessBuilder(command).directory(TOP.toFile());
    builder.environment().putAll(environment);
    return builder;
  }

  /** What a command that has to succeed prints. */
  private String run(String... command) throws Exception {
    return given("", command);
  }

  private String given(String input, String... command) throws Exception {
    Process process = builder(command).redirectErrorStream(true).start();
    process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(String.join(" ", command) + "\n" + said).isZero();
    return said;
  }

  /** Builds it in a folder of its own: its digest. */
  private String built(Path root, String folder) throws Exception {
    Path place = Files.createDirectory(dir.resolve(folder));
    run("env", "WRIT_IMAGES=" + place, "deploy/images/build", "of", root.toString(), NAME);
    return Files.readString(place.resolve("target/images/" + NAME + "/digest"));
  }

  @Test
  void itIsBuiltTwiceScannedStartedAskedAndStartedAgain() throws Exception {
    Path root = dir.resolve("root");
    try (InputStream script = getClass().getResourceAsStream("small-root")) {
      given(
          new String(script.readAllBytes(), StandardCharsets.UTF_8), "bash", "-s", root.toString());
    }
    String digest = built(root, "one");
    assertThat(digest).matches("sha256:[0-9a-f]{64}");
    assertThat(built(root, "a-folder-with-another-name")).isEqualTo(digest);
    run(
        "deploy/images/scan",
        dir.resolve("one/target/images/" + NAME + "/root.tar").toString(),
        "sh",
        "dash");

    Process first = started();
    String token = run("podman", "exec", "gateway", "cat", "/var/lib/writ/token").strip();
    assertThat(readiness()).startsWith("HTTP/1.1 200").contains("\"ready\":true");
    run("podman", "exec", "gateway", "/usr/bin/writ-start", "alive", "8080");
    run("podman", "exec", "gateway", "sh", "-c", "! /usr/bin/writ-start alive 8081");
    String example = example(1);
    assertThat(answerTo("POST /execute", token, example))
        .startsWith("HTTP/1.1 200")
        .contains("\"status\":\"success\"", "\"exit_code\":0", "\"stdout\":\"hello\\n\"");
    assertThat(run("podman", "exec", "gateway", "cat", "/proc/self/status"))
        .containsPattern("Uid:\t65532\t65532")
        .containsPattern("CapBnd:\t0{16}")
        .containsPattern("NoNewPrivs:\t1");
    assertThat(run("podman", "exec", "gateway", "sh", "-c", "! mkdir /usr/x 2>&1"))
        .contains("Read-only file system");
    run("podman", "stop", "--time", "60", "gateway");
    assertThat(first.waitFor()).isEqualTo(143);

    Process second = started();
    assertThat(answerTo("POST /execute", token, example(2))).contains("\"stdout\":\"hello\\n\"");
    assertThat(answerTo("POST /execute", token, example))
        .as("what was done before the stop is known")
        .contains("\"status\":\"rejected\"", "R-STATE-00");
    run("podman", "kill", "--signal", "INT", "gateway");
    assertThat(second.waitFor()).as("as by Ctrl-C").isEqualTo(130);
  }

  /** The container, once it serves; confined as the page says. */
  private Process started() throws Exception {
    Path jars = TOP.resolve("cli/target/writ");
    List<String> command =
        new ArrayList<>(List.of("podman", "run", "--rm", "--name", "gateway", "--network", "none"));
    // No more than docker and Kubernetes give: podman by itself adds a /var/tmp for everybody.
    command.addAll(List.of("--read-only", "--read-only-tmpfs=false", "--tmpfs", "/tmp"));
    command.addAll(List.of("--cap-drop", "ALL"));
    command.addAll(List.of("--security-opt", "no-new-privileges", "--security-opt", "unmask=ALL"));
    command.addAll(List.of("--security-opt", "seccomp=deploy/docker/seccomp.json"));
    command.addAll(List.of("--memory", "1g", "--pids-limit", "512"));
    command.addAll(List.of("--volume", "gateway:/var/lib/writ"));
    command.addAll(List.of("--volume", System.getProperty("java.home") + ":/opt/java:ro"));
    String current = Files.readString(jars.resolve("current")).strip();
    command.addAll(List.of("--volume", jars.resolve(current + "/lib") + ":/opt/writ/lib:ro"));
    command.add("localhost/" + NAME);
    Process process = builder(command.toArray(String[]::new)).redirectErrorStream(true).start();
    BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
    List<String> said = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      said.add(line);
      if (line.contains("\"event\":\"listening\"")) {
        Thread.ofVirtual().start(() -> lines.lines().forEach(_ -> {}));
        return process;
      }
    }
    throw new AssertionError("it ended with " + process.waitFor() + ": " + said);
  }

  /** What it says once it does not warm up any more. */
  private String readiness() throws Exception {
    String answer = answerTo("GET /ready", "", "");
    while (answer.contains("\"why\":\"warming\"")) {
      answer = answerTo("GET /ready", "", "");
    }
    return answer;
  }

  private String answerTo(String what, String token, String body) throws Exception {
    String authorization = token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n";
    return given(
        what
            + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + authorization
            + "Content-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body,
        "podman",
        "exec",
        "-i",
        "gateway",
        "socat",
        "-,ignoreeof", // the end of the request is not the end of the caller
        "TCP4:127.0.0.1:8080");
  }

  /** Seed 000's request, of now. */
  private static String example(int n) {
    return """
    {"execution_request_id":"11111111-1111-4111-8111-%012d","execution_request_version":"1.0",
     "intent_ref":{"intent_id":"22222222-2222-4222-8222-222222222222","intent_version":"1.0",
      "trace_id":"33333333-3333-4333-8333-333333333333"},
     "execution_spec":{"executor":"execution","target":"echo 'hello'","parameters":{}},
     "context":{"tenant_id":"44444444-4444-4444-8444-444444444444",
      "subject_id":"55555555-5555-4555-8555-555555555555",
      "workspace_id":"66666666-6666-4666-8666-666666666666",
      "trace_id":"33333333-3333-4333-8333-333333333333"},
     "sandbox":{"profile":"default","network":"disabled","filesystem":"ephemeral"},
     "resources":{"cpu":"500m","memory":"128Mi","timeout_ms":30000},
     "artifacts":{"capture_stdout":true,"capture_stderr":true,"output_files":[],"persist":false},
     "audit":{"execution_trace_id":"77777777-7777-4777-8777-%012d",
      "parent_trace_id":"88888888-8888-4888-8888-888888888888",
      "requested_by":"orchestrator","timestamp":"%s"}}
    """
        .formatted(n, n, Instant.now().truncatedTo(ChronoUnit.SECONDS));
  }
}
