package dev.writ.tools.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.seed.CommandLimits;
import dev.writ.sandbox.testing.PodmanService;
import dev.writ.tools.Call;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 002's images by command: in the very image that policy names, or not at all. */
class PolicySaysInWhichImageACommandRunsTest {
  /** Says what it sees, leaves a report, and tries to run itself from the workspace. */
  private static final String PROGRAM =
      """
      #include <stdio.h>
      #include <stdlib.h>
      #include <sys/stat.h>
      #include <unistd.h>
      int main(int argc, char **argv) {
        if (argc > 2) { puts("ESCAPED"); return 9; }
        FILE *report = fopen("report.xml", "w");
        fputs("<testsuite tests='3' failures='1'/>", report);
        fclose(report);
        FILE *self = fopen("/usr/bin/checker", "r"), *copy = fopen("copy", "w");
        for (int c; (c = fgetc(self)) != EOF;) fputc(c, copy);
        fclose(copy);
        chmod("copy", 0755);
        char *again[] = {"copy", "run", "again", 0};
        printf("%s %d %d %s\\n", argv[1], access("/usr/bin/env", F_OK), access("copy", X_OK),
               getenv("MODE"));
        fflush(stdout);
        execv("copy", again);
        return 5;
      }
      """;

  @TempDir private static Path work;
  private static TestHosts hosts;
  private static String image;

  @BeforeAll
  static void open() throws Exception {
    PodmanService service = PodmanService.shared();
    hosts =
        TestHosts.open(
            s -> s.withContainers(service.socket()).rooted(work),
            SecretStore.none(),
            Optional.empty());
    Path program = Files.createDirectories(work.resolve("root/usr/bin")).resolve("checker");
    Path source = Files.writeString(work.resolve("checker.c"), PROGRAM);
    host("gcc", "-static", "-O1", "-o", program.toString(), source.toString());
    Path tar = work.resolve("image.tar");
    host("tar", "-C", work + "/root", "-cf", tar.toString(), "usr");
    service.podman(
        "import",
        "-q",
        "--change",
        "ENV PATH=/usr/bin",
        tar.toString(),
        "localhost/writ-test-exec:latest");
    image =
        service.podman(
            "image", "inspect", "--format", "{{index .RepoDigests 0}}", "writ-test-exec");
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  private static void host(String... argv) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(argv).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  private static Call call(String params) {
    return call(hosts, params);
  }

  private static Call call(TestHosts where, String params) {
    ToolManifest manifest = BuiltinTools.manifest("exec", "1.0.0").orElseThrow();
    JsonValue.Obj object =
        (JsonValue.Obj) Jcs.parse(params.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    ToolSchemas.of(manifest).requireInput("run", object);
    return new Call(new ExecDriver(where.host()).prepare(manifest, "run", file -> new byte[0]))
        .sandbox("restricted")
        .params(object);
  }

  private static JsonValue.Obj output(DriverOutcome outcome) {
    assertThat(outcome.reason()).as(outcome.message()).isEqualTo("ok");
    JsonValue.Obj output = (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
    ToolSchemas.of(BuiltinTools.manifest("exec", "1.0.0").orElseThrow())
        .requireOutput("run", output);
    return output;
  }

  private static final String CHECKER = "{'argv':['checker','given'],'commands':['checker']";

  @Test
  void inTheImageThereIsNothingOfTheHostAndTheWorkspaceIsTheRuns() {
    DriverOutcome outcome =
        call(CHECKER + ",'artifacts':['*.xml'],'env':{'MODE':'x'}}").image("checker", image).run();
    JsonValue.Obj output = output(outcome);
    assertThat(output.get("stdout")).isEqualTo(JsonValue.of("given -1 -1 x\n"));
    assertThat(output.get("exit_code")).as("nothing runs from there").isEqualTo(JsonValue.of(5));
    assertThat(output.get("image")).isEqualTo(JsonValue.of(image));
    assertThat(output.get("tests")).isNotNull();
    assertThat(outcome.artifacts())
        .extracting(DriverOutcome.Artifact::name)
        .containsExactly("report.xml");
    assertThat(outcome.observations().get("image")).isEqualTo(JsonValue.of(image));
    assertThat(outcome.observations().get("programs")).isNull();
    assertThat(new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8))
        .contains("\"engine\":\"docker ", image);
    // The next call has an image for another program, and so runs on the host.
    DriverOutcome next =
        call("{'argv':['sh','-c','cat report.xml'],'commands':['sh']}")
            .image("checker", image)
            .run();
    assertThat(output(next).get("stdout").toString()).contains("testsuite");
    assertThat(output(next).get("image")).isNull();
  }

  /** Seed 002's container: the image, the mounted directory, its limits. */
  @Test
  void inTheImageADirectoryOfTheHostIsTheWorkspaceAndPolicysLimitsHold() {
    DriverOutcome outcome =
        call(CHECKER + ",'mount':'repo','env':{'MODE':'x'}}")
            .image("checker", image)
            .limits(CommandLimits.DEFAULT)
            .run();
    assertThat(output(outcome).get("image")).isEqualTo(JsonValue.of(image));
    assertThat(work.resolve("repo/report.xml")).content().contains("testsuite");
  }

  /** The host's program never runs in place of an image, also where none can be told from a tag. */
  @Test
  void aTagIsNotRunAndTheAnswerSaysHowToPinIt() {
    DriverOutcome outcome =
        call("{'shell':'echo ESCAPED','commands':['sh']}").image("sh", "debian:12-slim").run();
    assertThat(outcome.reason()).isEqualTo("refused");
    assertThat(outcome.message())
        .startsWith("SBX-034")
        .contains("debian:12-slim", "writ image pin");
    notRun(outcome);
  }

  /** What a shell says of a program that is not there. */
  private static void notRun(DriverOutcome outcome) {
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
    JsonValue.Obj output = (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
    ToolSchemas.of(BuiltinTools.manifest("exec", "1.0.0").orElseThrow())
        .requireOutput("run", output);
    assertThat(output.get("exit_code")).isEqualTo(JsonValue.of(127));
    assertThat(output.get("stderr")).isEqualTo(JsonValue.of(outcome.message() + "\n"));
  }

  @Test
  void whatIsNotInTheImageIsNotThere() {
    DriverOutcome outcome =
        call("{'argv':['other'],'commands':['other']}").image("other", image).run();
    assertThat(outcome.reason()).isEqualTo("command-not-found");
    assertThat(outcome.message()).contains("not in the image " + image);
    notRun(outcome);
    DriverOutcome line = call("{'shell':'echo x','commands':['sh']}").image("sh", image).run();
    assertThat(line.reason()).as("the host has a shell").isEqualTo("command-not-found");
    // As the seed chose: by the first word of the line, where that is one of the commands.
    for (String asked : List.of("'shell':'checker a > b'", "'argv':['sh','-c','checker a > b']")) {
      Call both = call("{" + asked + ",'commands':['checker','sh']}").image("checker", image);
      assertThat(both.run().message()).contains("not in the image " + image);
      Call one = call("{" + asked + ",'commands':['sh']}").image("checker", image);
      assertThat(output(one.run()).get("exit_code")).as("on the host").isEqualTo(JsonValue.of(127));
    }
  }

  /** The guardian judges the names of programs; an image is no way around it. */
  @Test
  void aProgramThatIsNotNamedHasNoImage() {
    DriverOutcome outcome =
        call("{'argv':['checker','x'],'commands':['sh']}").image("checker", image).run();
    assertThat(outcome.reason()).isEqualTo("command-not-found");
    assertThat(outcome.message()).contains("not among the commands");
    notRun(outcome);
  }

  @Test
  void anImageThatCannotBeUsedIsARefusalAndNeverTheHost() {
    String sh = "{'shell':'echo ESCAPED','commands':['sh']}";
    for (List<String> one :
        List.of(
            List.of("localhost/writ-test-exec@sha256:" + "0".repeat(64), "SBX-035"),
            List.of("debian@sha256:12", "SBX-034"),
            List.of("debian:12@" + image.substring(image.indexOf("sha256:")), "SBX-034"))) {
      DriverOutcome outcome = call(sh).image("sh", one.getFirst()).run();
      assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
      assertThat(outcome.reason()).isEqualTo("refused");
      assertThat(outcome.message()).contains(one.getLast());
      notRun(outcome);
    }
    try (TestHosts without =
        TestHosts.open(
            s -> s.withContainers(Path.of("/nowhere")), SecretStore.none(), Optional.empty())) {
      DriverOutcome outcome = call(without, sh).image("sh", image).run();
      assertThat(outcome.reason()).isEqualTo("refused");
      assertThat(outcome.message()).contains("SBX-002");
    }
  }
}
