package dev.writ.embed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.EffectDraft;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ToolsWrittenInJavaTest {
  private static final String INPUT =
      """
      {"type":"object","properties":{"city":{"type":"string","maxLength":40}},
       "required":["city"],"additionalProperties":false}\
      """;
  private static final String OUTPUT =
      """
      {"type":"object","properties":{"celsius":{"type":"integer"}},"required":["celsius"]}\
      """;

  private static JavaTool weather(JavaTool.Handler handler) {
    return JavaTool.of("weather", "1.0.0", INPUT, OUTPUT, handler);
  }

  private static Writ with(JavaTool tool) {
    return Writ.inMemory().tool(tool).withoutProcesses().open();
  }

  private static Outcome ask(Writ writ, EffectDraft draft) {
    return writ.agent("researcher").run("main").ask(draft);
  }

  private static JsonValue celsius(long value) {
    return JsonValue.object().put("celsius", value).build();
  }

  @Test
  void aLambdaWithASchemaIsAToolLikeAnyOther() {
    AtomicInteger calls = new AtomicInteger();
    try (Writ writ =
        with(
            weather(call -> {
              calls.incrementAndGet();
              return celsius(call.text("city").length());
            }))) {
      Outcome outcome = ask(writ, Effect.of("weather").param("city", "Bergen"));
      assertThat(outcome.text()).isEqualTo("{\"celsius\":6}");
      assertThat(outcome.receipt().orElseThrow().tool().name()).isEqualTo("weather");
      assertThat(calls).hasValue(1);
      Outcome denied = ask(writ, Effect.of("weather").param("town", "Bergen"));
      assertThat(denied.verdict()).isEqualTo(Verdict.DENY);
      assertThat(calls).hasValue(1);
    }
  }

  /** The policy that two of one name would make is a file that the program never wrote. */
  @Test
  void theNameOfABuiltInToolIsRefusedWhereItIsGiven() {
    JavaTool js = JavaTool.of("js", "9.0.0", INPUT, OUTPUT, _ -> celsius(0));
    assertThatThrownBy(() -> with(js))
        .hasMessageContaining("TOL-028")
        .hasMessageContaining("\"js\" has the name of a built-in one");
  }

  @Test
  void ofTwoToolsOfOneNameAndVersionNoneIsTakenForTheOther() {
    assertThatThrownBy(() ->
            Writ.inMemory()
                .tool(weather(_ -> celsius(1)))
                .tool(weather(_ -> celsius(2)))
                .withoutProcesses()
                .open())
        .hasMessageContaining("TOL-028")
        .hasMessageContaining("two tools are \"weather\" 1.0.0");
  }

  @Test
  void twoVersionsOfOneToolAreTwoTools() {
    JavaTool later = JavaTool.of("weather", "2.0.0", INPUT, OUTPUT, _ -> celsius(2));
    try (Writ writ =
        Writ.inMemory().tool(weather(_ -> celsius(1))).tool(later).withoutProcesses().open()) {
      Outcome outcome = ask(writ, Effect.of("weather").param("city", "Bergen"));
      assertThat(outcome.text()).isEqualTo("{\"celsius\":2}");
    }
  }

  @Test
  void whatIsPutIsNeverNull() {
    try (Writ writ = with(weather(_ -> celsius(0)))) {
      AgentRun run = writ.agent("researcher").run("main");
      assertThatThrownBy(() -> run.put("a.txt", null, InputStream.nullInputStream()))
          .isInstanceOf(NullPointerException.class)
          .hasMessage("mediaType");
    }
  }

  @Test
  void aStreamThatCannotBeReadIsNoFailureOfTheStore() {
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("the cable is out");
          }
        };
    try (Writ writ = with(weather(_ -> celsius(0)))) {
      AgentRun run = writ.agent("researcher").run("main");
      assertThatThrownBy(() -> run.put("a.txt", "text/plain", broken))
          .hasMessageContaining("CLI-002")
          .hasMessageContaining("a.txt: java.io.IOException: the cable is out");
    }
  }

  @Test
  void anExceptionIsAFailureOfTheToolWithItsMessage() {
    try (Writ writ =
        with(
            weather(_ -> {
              throw new IllegalStateException("the station does not answer");
            }))) {
      Outcome outcome = ask(writ, Effect.of("weather").param("city", "Bergen"));
      assertThat(outcome.status()).contains(Status.FAILED);
      assertThat(outcome.reason())
          .isEqualTo("exception: java.lang.IllegalStateException: the station does not answer");
    }
  }

  @Test
  void aResultThatItsSchemaDoesNotAllowIsRefused() {
    try (Writ writ = with(weather(_ -> JsonValue.object().put("celsius", "warm").build()))) {
      Outcome outcome = ask(writ, Effect.of("weather").param("city", "Bergen"));
      assertThat(outcome.status()).contains(Status.FAILED);
      assertThat(outcome.code()).contains("ERR_CONNECTOR_CONTRACT_DRIFT");
      assertThatThrownBy(outcome::text).hasMessageContaining("CLI-019");
    }
  }

  @Test
  void aHandlerThatTakesTooLongIsInterrupted() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    try (Writ writ =
        with(
            weather(_ -> {
              try {
                never.await();
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
              return celsius(0);
            }))) {
      Outcome outcome =
          ask(
              writ,
              Effect.of("weather")
                  .param("city", "Bergen")
                  .resources(
                      new EffectDraft.Declared(
                          Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(50L))));
      assertThat(outcome.status()).contains(Status.TIMED_OUT);
      interrupted.await();
    }
  }

  @Test
  void policyHasToApproveThisVeryTool(@TempDir Path dir) {
    Path home = dir.resolve("w");
    try (Writ writ = Writ.at(home).withoutProcesses().open()) {
      assertThat(writ.tools()).noneMatch(tool -> tool.name().equals("weather"));
    }
    try (Writ writ = Writ.at(home).tool(weather(_ -> celsius(1))).withoutProcesses().open()) {
      Outcome outcome = ask(writ, Effect.of("weather").param("city", "Bergen"));
      assertThat(outcome.verdict()).isEqualTo(Verdict.DENY);
      assertThat(outcome.reason()).contains("GRD-101");
    }
  }

  @Test
  void aNameOrSchemaThatNoToolCanHaveIsRefusedBeforeAnythingIsMade(@TempDir Path dir) {
    Path home = dir.resolve("w");
    for (String name : new String[] {"", "Weather", "a b", "x }\n  - { name: js", "../x"}) {
      JavaTool tool = JavaTool.of(name, "1.0.0", INPUT, OUTPUT, _ -> celsius(1));
      assertThatThrownBy(() -> Writ.at(home).tool(tool).withoutProcesses().open())
          .hasMessageContaining("TOL-021");
    }
    JavaTool odd =
        JavaTool.of("weather", "1.0.0", "{\"type\":\"objekt\"}", OUTPUT, _ -> celsius(1));
    assertThatThrownBy(() -> Writ.at(home).tool(odd).withoutProcesses().open())
        .hasMessageContaining("GRD-42");
    assertThatThrownBy(() -> JavaTool.of("weather", "1.0.0", "[]", OUTPUT, _ -> celsius(1)))
        .hasMessageContaining("TOL-028");
    assertThat(home).doesNotExist();
  }
}
