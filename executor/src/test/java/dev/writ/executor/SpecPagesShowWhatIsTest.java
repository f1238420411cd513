package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.promises.FaultsSeam;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The examples of spec/receipt.md, spec/execution.md and spec/recovery.md are what a kernel signs;
 * {@code -Dwrit.update=true} writes them.
 */
class SpecPagesShowWhatIsTest {
  private static final Path SPEC = Path.of(System.getProperty("writ.root", "..")).resolve("spec");

  @TempDir Path dir;

  private TreeMap<String, Envelope> documents() {
    TreeMap<String, Envelope> documents = new TreeMap<>();
    try (TestHome home = TestHome.create(dir)) {
      home.clock.stepping(Duration.ofMillis(1));
      documents.put(
          "receipt", home.submit(home.ask("alice").tool("mail")).served().orElseThrow().envelope());
      Answer decided = home.decide(home.ask("alice").tool("mail").sign());
      documents.put("execution", home.order(decided.intent().orElseThrow().id(), "alice"));
      home.prohibit("mail", "1.0.0");
      assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-303");
      documents.put("refusal", body(home, EventKind.EFFECT_REFUSED));
      Envelope close = home.close("acme", "run-1", "alice");
      documents.put("run-close", close);
      home.kernel().closeRun(close);
      documents.put("run-closing", body(home, EventKind.RUN_CLOSED));
      home.restartWith(FaultsSeam::signingFailsAfterRecovery);
      Envelope sim = home.ask("alice").tool("sim").run("run-2").sign();
      assertThat(Refused.code(() -> home.submit(sim))).isEqualTo("EXE-801");
      home.restartWith(executor -> executor);
      Served doubtful = home.submit(sim).served().orElseThrow();
      documents.put("in-doubt", doubtful.envelope());
      documents.put("resolution", home.resolution(doubtful, Resolution.Found.HAPPENED));
    }
    return documents;
  }

  private static Envelope body(TestHome home, String kind) {
    return home.document(
        home.log().stream().filter(e -> e.kind().equals(kind)).findFirst().orElseThrow().body());
  }

  @Test
  void the_examples_are_what_a_kernel_signs() throws IOException {
    TreeMap<String, Envelope> documents = documents();
    for (String page : new String[] {"receipt.md", "execution.md", "recovery.md"}) {
      String text = Files.readString(SPEC.resolve(page));
      Matcher block =
          Pattern.compile("^```json writ:([a-z-]+)\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
              .matcher(text);
      StringBuilder updated = new StringBuilder();
      while (block.find()) {
        boolean inDoubt = page.equals("recovery.md") && block.group(1).equals("receipt");
        Envelope document = documents.remove(inDoubt ? "in-doubt" : block.group(1));
        assertThat(document).as(page + " " + block.group(1)).isNotNull();
        String is = new String(document.payload(), StandardCharsets.UTF_8) + "\n";
        if (Boolean.getBoolean("writ.update")) {
          block.appendReplacement(
              updated,
              Matcher.quoteReplacement("```json writ:" + block.group(1) + "\n" + is + "```"));
        } else {
          assertThat(block.group(2)).as(page + " " + block.group(1)).isEqualTo(is);
        }
      }
      if (Boolean.getBoolean("writ.update")) {
        Files.writeString(SPEC.resolve(page), block.appendTail(updated));
      }
    }
    assertThat(documents).as("every document has its example").isEmpty();
  }

  @Test
  void the_example_documents_can_be_read() {
    TreeMap<String, Envelope> documents = documents();
    assertThat(Receipt.read(documents.get("receipt").document()).toJson())
        .isEqualTo(documents.get("receipt").document());
    assertThat(Receipt.read(documents.get("in-doubt").document()).toJson())
        .isEqualTo(documents.get("in-doubt").document());
    assertThat(Refusal.read(documents.get("refusal").document()).toJson())
        .isEqualTo(documents.get("refusal").document());
    assertThat(RunClosing.read(documents.get("run-closing").document()).toJson())
        .isEqualTo(documents.get("run-closing").document());
    assertThat(Resolution.read(documents.get("resolution").document()).toJson())
        .isEqualTo(documents.get("resolution").document());
  }
}
