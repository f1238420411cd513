package dev.writ.tools.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.hostile.HostileWorkers.Case;
import dev.writ.tools.language.LanguageDrivers;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Through a whole kernel: whatever a worker does, its effect ends in one signed receipt with the
 * right end, and nothing of it is left. All of them run first, several at a time.
 */
class AHostileWorkerEndsInAReceiptTest {
  private static final List<Case> CASES = HostileWorkers.all();
  private static final int AT_ONCE = 3;

  @TempDir static Path dir;
  private static TestHosts hosts;
  private static TestHome home;
  private static final TreeMap<String, Answer> ANSWERS = new TreeMap<>();

  static List<Case> cases() {
    return CASES;
  }

  private static String tool(int number) {
    return "hostile-" + number;
  }

  private static String operation(Case one) {
    return one.language().equals("java") ? "run" : "do"; // which is a word of Java's
  }

  private static ToolManifest register(Case one, int number) throws IOException {
    Path folder = dir.resolve(tool(number));
    Templates.make(Language.named(one.language()).orElseThrow(), tool(number), folder);
    Path manifest = folder.resolve("tool.manifest");
    String text = Files.readString(manifest);
    String schemas =
        "operations:\n  "
            + operation(one)
            + ":\n    input: { type: object }\n    output:\n      type: object\n"
            + "      properties: { ok: { type: boolean } }\n      required: [ok]\n"
            + "      additionalProperties: false\ncapabilities:";
    Files.writeString(
        manifest,
        text.replaceAll("(?s)operations:.*capabilities:", schemas)
            .replace("resource_class: small", "resource_class: medium"));
    ToolProject project = ToolProject.open(folder);
    Files.writeString(folder.resolve(project.source().entry()), one.code());
    ToolProject whole = ToolProject.open(folder);
    home.tools.register(whole.manifest(), file -> whole.files().get(file.path()));
    return whole.manifest();
  }

  @BeforeAll
  static void run() throws Exception {
    hosts = TestHosts.open();
    home = TestHome.create(Files.createDirectory(dir.resolve("home")));
    home.drivers.addAll(LanguageDrivers.all(hosts.host()));
    home.restart();
    List<ToolManifest> tools = new ArrayList<>();
    StringBuilder requirements = new StringBuilder("requirements:\n");
    StringBuilder names = new StringBuilder("[calc");
    for (int i = 0; i < CASES.size(); i++) {
      tools.add(register(CASES.get(i), i));
      names.append(", ").append(tool(i));
      requirements
          .append("  - { effect: { tool: ")
          .append(tool(i))
          .append(" }, require: { cel: 'true' } }\n");
    }
    home.activate(
        TestPolicy.YAML
            .replace("[calc", names)
            .replace("[box, missing-box]", "[box, missing-box, default, restricted]")
            .replace("requirements:\n", requirements));
    List<Future<Answer>> answers = new ArrayList<>();
    try (ExecutorService callers = Executors.newFixedThreadPool(AT_ONCE)) {
      for (int i = 0; i < CASES.size(); i++) {
        answers.add(submit(callers, CASES.get(i), i, tools.get(i)));
      }
    }
    for (int i = 0; i < CASES.size(); i++) {
      ANSWERS.put(CASES.get(i).toString(), answers.get(i).get());
    }
  }

  private static Future<Answer> submit(
      ExecutorService callers, Case one, int number, ToolManifest manifest) {
    boolean hangs = one.reason().equals("timed-out");
    boolean burns = one.reason().equals("cpu-limit");
    boolean java = one.language().equals("java");
    Resources resources =
        new Resources(
            burns ? (java ? 2_500 : 500) : 10_000,
            java ? 256L << 20 : 64L << 20,
            1L << 20,
            hangs ? 700 : 60_000);
    byte[] request =
        home.ask("alice")
            .run("run-" + number)
            .tool(manifest.name())
            .operation(operation(one))
            .params("{}")
            .resources(resources)
            .sandbox(manifest.sandboxes().getFirst())
            .bytes();
    return callers.submit(() -> home.kernel().submit(request, List.of()));
  }

  @AfterAll
  static void close() {
    home.close();
    hosts.close();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theReceiptSaysHowItEnded(Case one) {
    Answer answer = ANSWERS.get(one.toString());
    assertThat(answer.decision().verdict())
        .as(answer.decision().toString())
        .isEqualTo(Verdict.ALLOW);
    Served served = answer.served().orElseThrow();
    assertThat(served.receipt().status().text() + " " + served.receipt().reason())
        .as(served.receipt().message())
        .isEqualTo(one.status() + " " + one.reason());
    assertThat(served.receipt().message().length()).isLessThanOrEqualTo(2_000);
    home.kernel().system().trust().verify(served.envelope(), Receipt.TYPE, home.clock.instant());
  }

  @Test
  void thereAreAsManyReceiptsAsHostileWorkersAndNothingElseIsLeft() throws IOException {
    assertThat(CASES).extracting(Case::toString).doesNotHaveDuplicates().hasSizeGreaterThan(70);
    for (int i = 0; i < CASES.size(); i++) {
      assertThat(home.kinds(TestKeys.TENANT, "run-" + i))
          .containsOnlyOnce("effect.dispatched", "effect.finished", "receipt.signed");
    }
    assertThat(hosts.settings().stateDirectory().resolve("live").toFile().list()).isEmpty();
    home.stop();
    assertThat(home.fsck().problems()).isEmpty();
    home.restart();
  }
}
