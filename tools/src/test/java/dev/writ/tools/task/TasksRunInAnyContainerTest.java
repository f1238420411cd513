package dev.writ.tools.task;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** spec/task.md: the program that is built, by its documents, its exit status and its signals. */
class TasksRunInAnyContainerTest {
  private static final Path SOURCES =
      Path.of(System.getProperty("writ.root", "..")).resolve("agent-task");

  @TempDir private static Path built;
  private static Path program;
  private static Schema specs;
  private static Schema results;

  @TempDir private Path dir;
  @TempDir private Path asked;
  private Path result;

  @BeforeAll
  static void build() throws Exception {
    program = built.resolve("root/usr/bin/agent-task");
    Files.createDirectories(program.getParent());
    host(SOURCES.resolve("build.sh").toAbsolutePath().toString(), program.toString());
    specs = schema("task-spec.schema.json");
    results = schema("task-result.schema.json");
  }

  private static Schema schema(String file) throws IOException {
    return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
        .getSchema(Files.readString(SOURCES.resolve(file)), InputFormat.JSON);
  }

  private static void host(String... argv) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  @BeforeEach
  void place() {
    result = dir.resolve("task-result.json");
  }

  private static String spec(String more) {
    return "{\"task_spec\":1,\"role\":\"developer\",\"case_id\":\"case-123\"" + more + "}";
  }

  private String shell(String line, String more) {
    return spec(",\"argv\":[\"sh\",\"-c\",\"" + line + "\"],\"cwd\":\"" + dir + "\"" + more);
  }

  /** The specification is a file: a program that refuses to run may end before it reads any. */
  private Process start(String spec) throws IOException {
    Path file = Files.writeString(asked.resolve("task-spec.json"), spec);
    return new ProcessBuilder(program.toString(), "--result", result.toString())
        .redirectInput(file.toFile())
        .start();
  }

  private int run(String spec) throws Exception {
    Process process = start(spec);
    try (InputStream out = process.getInputStream();
        InputStream err = process.getErrorStream()) {
      out.readAllBytes();
      err.readAllBytes();
    }
    return process.waitFor();
  }

  /** The result, which is canonical and valid. */
  private JsonValue.Obj result() throws IOException {
    return result(Files.readAllBytes(result));
  }

  private static JsonValue.Obj result(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    assertThat(results.validate(text, InputFormat.JSON)).as(text).isEmpty();
    JsonValue.Obj read = (JsonValue.Obj) Jcs.parse(bytes);
    assertThat(Jcs.write(read)).as(text).isEqualTo(bytes);
    return read;
  }

  @Test
  void aTaskLeavesItsResult() throws Exception {
    String spec =
        shell(
            "cat; echo 1 passed; echo \\\"$A é\\\" >&2; echo x > junit.xml; mkdir d; echo y > d/f;"
                + " ln -s d/f link; exit 3",
            ",\"exec_id\":\"exec-7f1a\",\"subtask_id\":\"DEV-123\",\"timeout_sec\":50,"
                + "\"env\":{\"A\":\"b\"},\"limits\":{\"cpu\":1.0,\"mem_mb\":2048},"
                + "\"artifacts\":[\"junit.xml\",\"none.xml\",\"d\",\"d/f\",\"link\"]");
    assertThat(specs.validate(spec, InputFormat.JSON)).isEmpty();
    assertThat(run(spec)).isEqualTo(3);
    JsonValue.Obj found = result();
    assertThat(found.members())
        .containsEntry("case_id", JsonValue.of("case-123"))
        .containsEntry("ended", JsonValue.of("exited"))
        .containsEntry("exec_id", JsonValue.of("exec-7f1a"))
        .containsEntry("exit_code", JsonValue.of(3))
        .containsEntry("spec", JsonValue.of(digest(spec)))
        .containsEntry("stdout_tail", JsonValue.of("1 passed\n"))
        .containsEntry("stderr_tail", JsonValue.of("b é\n"))
        .containsEntry("subtask_id", JsonValue.of("DEV-123"))
        .containsEntry(
            "artifacts",
            Jcs.parse(
                ("[{\"digest\":\""
                        + digest("x\n")
                        + "\",\"path\":\"junit.xml\",\"size\":2,\"type\":\"junit_xml\"},{\"digest\":\""
                        + digest("y\n")
                        + "\",\"path\":\"d/f\",\"size\":2,\"type\":\"file\"}]")
                    .getBytes(StandardCharsets.UTF_8)));
    assertThat(dir.resolve("task-result.json.part")).doesNotExist();
  }

  private static String digest(String text) {
    return Digest.sha256(text.getBytes(StandardCharsets.UTF_8)).toString();
  }

  /** The schema and the program refuse the same, and each refusal leaves a result that says so. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",\"argv\":[]",
        ",\"argv\":[\"\"]",
        ",\"argv\":[\"true\",1]",
        ",\"argv\":\"true\"",
        ",\"argv\":[\"true\"],\"cmd\":\"true\"",
        ",\"argv\":[\"true\"],\"cwd\":\"relative\"",
        ",\"argv\":[\"true\"],\"exec_id\":\"\"",
        ",\"argv\":[\"true\"],\"timeout_sec\":0",
        ",\"argv\":[\"true\"],\"timeout_sec\":1.5",
        ",\"argv\":[\"true\"],\"timeout_sec\":2592001",
        ",\"argv\":[\"true\"],\"timeout_sec\":\"1\"",
        ",\"argv\":[\"true\"],\"env\":{\"A=B\":\"c\"}",
        ",\"argv\":[\"true\"],\"env\":{\"A\":1}",
        ",\"argv\":[\"true\"],\"limits\":{\"cpu\":0}",
        ",\"argv\":[\"true\"],\"limits\":{\"mem_mb\":1.5}",
        ",\"argv\":[\"true\"],\"limits\":{\"pids\":1}",
        ",\"argv\":[\"true\"],\"artifacts\":[\"/etc/passwd\"]",
        ",\"argv\":[\"true\"],\"artifacts\":[\"../x\"]",
        ",\"argv\":[\"true\"],\"artifacts\":[\"a/../x\"]",
        ",\"argv\":[\"true\"],\"artifacts\":[\"a/./x\"]",
        ",\"argv\":[\"true\"],\"artifacts\":[\"a//x\"]",
        ",\"argv\":[\"true\"],\"artifacts\":[\"a/\"]",
        ",\"argv\":[\"true\"],\"artifacts\":[\"\"]"
      })
  void aSpecThatIsNotValidIsRefused(String more) throws Exception {
    assertThat(specs.validate(spec(more), InputFormat.JSON)).isNotEmpty();
    assertThat(run(spec(more))).isEqualTo(125);
    JsonValue.Obj found = result();
    assertThat(found.get("ended")).isEqualTo(JsonValue.of("refused"));
    assertThat(((JsonValue.Obj) found.get("error")).get("code")).isEqualTo(JsonValue.of("TSK-003"));
    assertThat(found.get("spec")).isEqualTo(JsonValue.of(digest(spec(more))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",\"argv\":[\"true\"]",
        ",\"argv\":[\"true\",\"\"],\"timeout_sec\":1e1,\"env\":{},\"limits\":{}",
        ",\"argv\":[\"true\"],\"artifacts\":[\"...\",\".x/..y/z..\",\"a"
            + " b\"],\"limits\":{\"cpu\":0.5}"
      })
  void aSpecThatIsValidRuns(String more) throws Exception {
    assertThat(specs.validate(spec(more), InputFormat.JSON)).isEmpty();
    assertThat(run(spec(more))).isZero();
    assertThat(result().get("ended")).isEqualTo(JsonValue.of("exited"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[]|TSK-003|125",
        "{|TSK-002|125",
        "{} x|TSK-002|125",
        "{\"a\":1,\"a\":2}|TSK-002|125",
        "\"\\ud800\"|TSK-002|125",
        "{\"task_spec\":2,\"role\":\"r\",\"case_id\":\"c\",\"argv\":[\"true\"]}|TSK-003|125",
        "{\"task_spec\":1,\"role\":\"r\",\"case_id\":\"c\",\"argv\":[\"true\"],\"cwd\":\"/none\"}|TSK-004|125",
        "{\"task_spec\":1,\"role\":\"r\",\"case_id\":\"c\",\"argv\":[\"/etc\"]}|TSK-005|126",
        "{\"task_spec\":1,\"role\":\"r\",\"case_id\":\"c\",\"argv\":[\"no-such-program\"]}|TSK-005|127"
      })
  void eachRefusalHasItsCode(String spec, String code, int status) throws Exception {
    assertThat(run(spec)).isEqualTo(status);
    assertThat(((JsonValue.Obj) result().get("error")).get("code")).isEqualTo(JsonValue.of(code));
    String page = Files.readString(SOURCES.resolveSibling("spec/task.md"));
    assertThat(page).containsPattern("\\| " + code + " \\| [0-9, ]*" + status + "[0-9, ]* \\|");
  }

  /** None of its strings takes more memory than it is long. */
  @Test
  void aSpecMayHaveAsManyStringsAsFit() throws Exception {
    String many = "\"a\"" + ",\"a\"".repeat(200_000);
    assertThat(run(spec(",\"argv\":[\"true\"],\"artifacts\":[" + many + "]"))).isZero();
    assertThat(run(spec(",\"argv\":[\"true\"],\"artifacts\":[" + many + ",\"\\u00e9\\\"\"]")))
        .isZero();
  }

  @Test
  void aSpecOfMoreThanOneMebibyteIsNotRead() throws Exception {
    assertThat(run(" ".repeat(1 << 20) + spec(",\"argv\":[\"true\"]"))).isEqualTo(125);
    assertThat(((JsonValue.Obj) result().get("error")).get("code"))
        .isEqualTo(JsonValue.of("TSK-002"));
  }

  @Test
  void aResultThatHasNoPlaceIsRefusedBeforeAnythingRuns() throws Exception {
    Files.createSymbolicLink(result, dir.resolve("elsewhere"));
    assertThat(run(shell("echo ran > ran", ""))).isEqualTo(125);
    assertThat(dir.resolve("elsewhere")).doesNotExist();
    result = dir.resolve("none/task-result.json");
    assertThat(run(shell("echo ran > ran", ""))).isEqualTo(125);
    assertThat(dir.resolve("ran")).doesNotExist();
    for (List<String> arguments :
        List.of(List.<String>of(), List.of("--result"), List.of("--other", "x"))) {
      Process process =
          new ProcessBuilder(
                  Stream.concat(Stream.of(program.toString()), arguments.stream()).toList())
              .start();
      assertThat(new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
          .contains("TSK-001");
      assertThat(process.waitFor()).isEqualTo(125);
    }
  }

  @Test
  void theTimeIsOverForAllThatTheCommandStarted() throws Exception {
    assertThat(run(shell("sleep 40 & echo $!; sleep 50", ",\"timeout_sec\":1"))).isEqualTo(124);
    assertThat(result().get("ended")).isEqualTo(JsonValue.of("timeout"));
    awaitEnd(((JsonValue.Str) result().get("stdout_tail")).value());
  }

  private static void awaitEnd(String pid) {
    ProcessHandle.of(Long.parseLong(pid.strip()))
        .ifPresent(process -> process.onExit().orTimeout(60, TimeUnit.SECONDS).join());
  }

  @Test
  void whoeverEndsItEndsTheCommandAndGetsAResult() throws Exception {
    Process process = start(shell("echo started; exec sleep 50", ""));
    assertThat(new String(process.getInputStream().readNBytes(8), StandardCharsets.UTF_8))
        .isEqualTo("started\n");
    process.destroy(); // SIGTERM
    assertThat(process.waitFor()).isEqualTo(128 + 15);
    assertThat(result().get("ended")).isEqualTo(JsonValue.of("cancelled"));
    assertThat(run(shell("kill -9 $$", ""))).isEqualTo(128 + 9);
    assertThat(result().get("ended")).isEqualTo(JsonValue.of("signaled"));
  }

  /** Killed itself it leaves none, neither half of one nor that of an earlier task. */
  @Test
  void aResultIsWholeOrNotThere() throws Exception {
    Files.writeString(result, "{\"of\":\"an earlier task\"}");
    Files.writeString(dir.resolve("task-result.json.part"), "{\"half");
    Process process = start(shell("echo $$; exec sleep 50", ""));
    String pid;
    try (BufferedReader out = process.inputReader()) {
      pid = out.readLine();
      process.destroyForcibly().waitFor();
    }
    awaitEnd(pid);
    assertThat(dir.toFile().list()).isEmpty();
    assertThat(run(shell("true", ""))).isZero();
    assertThat(result().get("exit_code")).isEqualTo(JsonValue.of(0));
  }

  @Test
  void outputOfAnyBytesIsPassedOnAndToldByItsEnd() throws Exception {
    byte[] bytes = new byte[100_000];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i * 31 + i / 251);
    }
    Files.write(dir.resolve("big"), bytes);
    Process process = start(shell("cat big", ""));
    assertThat(process.getInputStream().readAllBytes()).isEqualTo(bytes);
    assertThat(process.waitFor()).isZero();
    assertThat(((JsonValue.Str) result().get("stdout_tail")).value().codePoints().count())
        .isEqualTo(4_000);
  }
}
