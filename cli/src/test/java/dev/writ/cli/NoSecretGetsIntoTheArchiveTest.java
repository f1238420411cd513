package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ doctor --archive} (spec/doctor.md): a helper sees enough, and nothing that is secret.
 */
class NoSecretGetsIntoTheArchiveTest {
  /** Where each is planted, so that one that gets out says how. */
  private static final String OF_ENVIRONMENT = "planted-in-the-environment";

  private static final String OF_PLAIN_VARIABLE = "planted-in-a-variable-named-otherwise";
  private static final String OF_URL = "planted-in-an-address";
  private static final String OF_TOOL = "planted-as-a-secret-of-tools";
  private static final String OF_FILE = "planted-in-a-file-of-the-configuration";
  private static final String OF_ARGUMENT = "planted-in-an-argument";
  private static final String OF_OUTPUT = "planted-in-an-output";
  private static final String OF_CONFIGURATION = "planted_as_a_name_1";
  private static final String OF_TOKEN = "planted-as-a-token-of-the-server";
  private static final String OF_LOG = "planted-in-the-log";

  private static final List<String> ALL =
      List.of(
          OF_ENVIRONMENT,
          OF_PLAIN_VARIABLE,
          OF_URL,
          OF_TOOL,
          OF_FILE,
          OF_ARGUMENT,
          OF_OUTPUT,
          OF_CONFIGURATION,
          OF_TOKEN,
          OF_LOG);

  @TempDir Path dir;
  private Path data;
  private OneHome home;

  @BeforeEach
  void plant() throws IOException {
    data = dir.resolve("data");
    home =
        new OneHome(
            data,
            Map.of(
                "HOME",
                dir.toString(),
                "WRIT_PASSPHRASE",
                OF_ENVIRONMENT,
                "PROXY",
                "http://ann:" + OF_PLAIN_VARIABLE + "@proxy.example"));
    home.done("init");
    Run put = Run.withInput(OF_TOOL, "--home", data.toString(), "secret", "put", "npm");
    assertThat(put.status()).as(put.err()).isZero();
    home.done("run", "js", "--param", "source='" + OF_ARGUMENT + "'.replace('argument','output')");
    Files.writeString(data.resolve("neo4j.txt"), OF_FILE);
    Files.writeString(
        data.resolve("gateway.yaml"),
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1, port: 8443 }
        tokens:
          - { name: %1$s, digest: "sha256:%2$s", tenant: acme, subject: ann-smith, roles: [developer] }
        sinks:
          audit: { kind: redis, url: "redis://ann:%3$s@cache.example:6379/%3$s", maxlen: 1000 }
          graph: { kind: neo4j, url: "bolt://graph.example:7687", user: neo4j, secret: neo4j.txt, token_pin: 918273645 }
        surfaces:
          tools: { keys: { %1$s: %4$s } }
        """
            .formatted(OF_CONFIGURATION, "ab".repeat(32), OF_URL, OF_FILE));
    Files.writeString(
        data.resolve("serving.json"),
        "{\"pid\":"
            + ProcessHandle.current().pid()
            + ",\"token\":\""
            + OF_TOKEN
            + "\",\"url\":\"http://127.0.0.1:1\"}");
  }

  private Path log() throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add(
        "Nov 28 12:00:00 host writ[1]: {\"at\":\"2026-11-28T12:00:00.000Z\",\"code\":\"GRD-714\","
            + "\"correlationId\":\"%1$s\",\"event\":\"execution\",\"level\":\"info\",\"outcome\":\"denied\",\"request\":\"sha256:%2$s\",\"subject\":\"%1$s\",\"toolId\":\"%1$s\",\"language\":\"1"
            + " %1$s\"}");
    lines.add(
        "{\"at\":\"2026-11-28T12:00:01.000Z\",\"code\":\"%1$s\",\"detail\":\"%1$s\",\"event\":\"reload\",\"level\":\"error\"}");
    lines.add(
        "{\"at\":\"2026-11-28T12:00:02.000Z\",\"event\":\"invented\",\"level\":\"info\",\"surface\":\"%1$s\"}");
    lines.add(
        "{\"at\":\"2026-11-28T12:00:03.000Z\",\"event\":\"call\",\"status\":{\"%1$s\":1},\"micros\":417}");
    lines.add("java.lang.IllegalStateException: %1$s");
    return Files.writeString(
        dir.resolve("writ.log"),
        String.join("\n", lines).formatted(OF_LOG, "cd".repeat(32)) + "\n");
  }

  private static TreeMap<String, String> read(Path archive) throws IOException {
    TreeMap<String, String> entries = new TreeMap<>();
    List<String> order = new ArrayList<>();
    try (InputStream file = Files.newInputStream(archive);
        ZipInputStream zip = new ZipInputStream(file)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        order.add(entry.getName());
        entries.put(entry.getName(), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    assertThat(order).isSorted();
    return entries;
  }

  @Test
  void whatWasPlantedAnywhereIsNowhereInIt() throws IOException {
    Path archive = dir.resolve("diagnosis.zip");
    home.done("doctor", "--archive", archive.toString(), "--log", log().toString());
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)))
        .isEqualTo("rw-------");
    TreeMap<String, String> entries = read(archive);
    assertThat(entries.keySet())
        .containsExactly(
            "README.txt",
            "configuration.json",
            "environment.txt",
            "findings.json",
            "log.jsonl",
            "metrics.txt",
            "sizes.json",
            "versions.json");

    String all = String.join("\n", entries.values());
    assertThat(all).doesNotContain(ALL).doesNotContain("918273645", "ann-smith", "cache.example");
    for (Path key : Files.list(data.resolve("keys")).toList()) {
      for (String line : Files.readAllLines(key)) {
        if (!line.startsWith("-----")) {
          assertThat(all).as(key.toString()).doesNotContain(line);
        }
      }
    }

    assertThat(entries.get("configuration.json"))
        .contains(
            "\"port\":8443",
            "\"kind\":\"redis\"",
            "\"maxlen\":1000",
            "(an address: bolt://…:7687)",
            "\"host\":\"127.0.0.1\"");
    assertThat(entries.get("environment.txt")).isEqualTo("HOME\nPROXY\nWRIT_PASSPHRASE\n");
    assertThat(entries.get("log.jsonl"))
        .contains(
            "{\"at\":\"2026-11-28T12:00:00.000Z\",\"code\":\"GRD-714\",\"event\":\"execution\",\"level\":\"info\",\"outcome\":\"denied\",\"request\":\"sha256:"
                + "cd".repeat(32)
                + "\"}",
            "{\"at\":\"2026-11-28T12:00:01.000Z\",\"event\":\"reload\",\"level\":\"error\"}",
            "\"micros\":417",
            "{\"lines_left_out\":2}");
    assertThat(entries.get("sizes.json")).contains("\"ledger/db\":{\"bytes\":");
    assertThat(entries.get("findings.json")).contains("\"what\":\"rocksdb\"");
    assertThat(entries.get("metrics.txt")).as("that the server is not there").startsWith("# ");
  }

  @Test
  void nothingIsWrittenOver() throws IOException {
    Path archive = Files.writeString(dir.resolve("diagnosis.zip"), "of somebody else");
    Run run = home.writ("doctor", "--archive", archive.toString());
    assertThat(run.err()).contains("CLI-023");
    assertThat(archive).hasContent("of somebody else");
  }

  @Test
  void aFolderThatIsNotThereIsSaidOnce() {
    String archive = dir.resolve("none").resolve("diagnosis.zip").toString();
    Run run = home.writ("doctor", "--archive", archive);
    assertThat(run.err()).startsWith("writ: CLI-003 ");
    assertThat(run.err().split(Pattern.quote(archive), -1)).hasSize(2);
  }

  @Test
  void theSameContentsAreTheSameFile() throws IOException {
    Path one = dir.resolve("one.zip");
    Path two = dir.resolve("two.zip");
    home.done("doctor", "--archive", one.toString(), "--log", log().toString());
    home.done("doctor", "--archive", two.toString(), "--log", log().toString());
    TreeMap<String, String> first = read(one);
    TreeMap<String, String> second = read(two);
    first.keySet().removeAll(List.of("sizes.json", "findings.json")); // free bytes change
    second.keySet().removeAll(List.of("sizes.json", "findings.json"));
    assertThat(first).isEqualTo(second).hasSize(6);
  }

  /** A secret that has the form of what is shown: then there is no archive at all. */
  @Test
  void aSecretThatLooksLikeWhatIsShownEndsIt() throws IOException {
    Path log =
        Files.writeString(
            dir.resolve("writ.log"),
            "{\"at\":\"2026-11-28T12:00:00.000Z\",\"event\":\"call\",\"surface\":\""
                + OF_ENVIRONMENT
                + "\"}\n");
    Path archive = dir.resolve("diagnosis.zip");
    Run run = home.writ("doctor", "--archive", archive.toString(), "--log", log.toString());
    assertThat(run.status()).isNotZero();
    assertThat(run.err()).contains("CLI-109", "log.jsonl").doesNotContain(OF_ENVIRONMENT);
    assertThat(archive).doesNotExist();
  }

  /** A server that runs: what it measures and logs is in it, and what opens it is not. */
  @Test
  void whatAServerMeasuresAndLogsIsInIt() throws Exception {
    OneHome served = new OneHome(dir.resolve("served"), Map.of());
    served.done("init");
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", served.home().toString(), "serve", "--json", "--port", "0"));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    Path log = dir.resolve("served.log");
    Process server = builder.redirectError(log.toFile()).start();
    Path archive = dir.resolve("served.zip");
    String serving;
    try (var out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).contains("url");
      served.done("run", "js", "--param", "source='" + OF_ARGUMENT + "'");
      serving = Files.readString(served.home().resolve("serving.json"));
      served.done("doctor", "--archive", archive.toString(), "--log", log.toString());
    } finally {
      server.destroy();
      assertThat(server.waitFor(1, TimeUnit.MINUTES)).isTrue();
    }
    TreeMap<String, String> entries = read(archive);
    assertThat(entries.get("metrics.txt")).contains("writ_http_connections_max ", "writ_log_size ");
    assertThat(entries.get("log.jsonl"))
        .contains("\"event\":\"execution\"", "\"outcome\":\"success\"", "\"event\":\"call\"");
    String token = serving.replaceAll("(?s).*\"token\":\"([^\"]+)\".*", "$1");
    assertThat(token).hasSizeGreaterThan(20);
    assertThat(String.join("\n", entries.values())).doesNotContain(token, OF_ARGUMENT);
  }
}
