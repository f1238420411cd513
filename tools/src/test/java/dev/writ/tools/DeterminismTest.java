package dev.writ.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/**
 * The same invocation gives the same bytes: again, among others, and on a host set up otherwise.
 */
class DeterminismTest {
  private static final String JS =
      """
      const words = inputs["w.csv"].text().split("\\n").sort((a, b) => a.localeCompare(b));
      console.log("words", words.length);
      ({ r: Math.random(), t: new Date().toString(), l: (1234567.891).toLocaleString(), words,
         i: "I".toLowerCase(), o: Object.keys({ b: 1, a: 2, 1: 3 }) })\
      """;
  private static final String SQL =
      "SELECT *, random(), datetime('now', 'localtime'), upper('i'), printf('%.3f', 0.5) FROM w"
          + " ORDER BY 1";
  private static final String INPUT = "word\nzebra\nApfel\nıİ\nécole\n";

  private static final List<IntFunction<Call>> TOOLS =
      List.of(
          seed -> TestTools.js(JS).input("w.csv", INPUT).seed(Call.seed(seed)),
          seed -> TestTools.sql(SQL).input("w.csv", INPUT).seed(Call.seed(seed)),
          seed -> TestTools.guest("random").seed(Call.seed(seed)),
          seed -> TestTools.metered("random").seed(Call.seed(seed)),
          seed ->
              TestTools.builtin("word-count", "count").input("text", INPUT).seed(Call.seed(seed)));

  @Test
  void fiftyRunsGiveTheSameBytes() {
    for (IntFunction<Call> tool : TOOLS) {
      Call call = tool.apply(1);
      String first = Call.show(call.run());
      assertThat(first).startsWith("SUCCEEDED ok");
      for (int i = 1; i < 50; i++) {
        assertThat(Call.show(call.run())).isEqualTo(first);
      }
    }
  }

  @Test
  void sixteenAtOnceWithOtherSeedsGiveWhatEachGivesAlone() throws Exception {
    for (IntFunction<Call> tool : TOOLS) {
      List<String> alone = new ArrayList<>();
      for (int seed = 0; seed < 16; seed++) {
        alone.add(Call.show(tool.apply(seed).run()));
      }
      List<String> together = new ArrayList<>();
      try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<DriverOutcome>> futures = new ArrayList<>();
        for (int seed = 0; seed < 16; seed++) {
          Call call = tool.apply(seed);
          futures.add(callers.submit(call::run));
        }
        for (Future<DriverOutcome> future : futures) {
          together.add(Call.show(future.get()));
        }
      }
      assertThat(together).isEqualTo(alone);
    }
  }

  @Test
  void hostileNeighboursChangeNothing() throws Exception {
    Call call = TestTools.js(JS).input("w.csv", INPUT);
    String alone = Call.show(call.run());
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<DriverOutcome>> neighbours =
          List.of(
              callers.submit(() -> TestTools.guest("endless").cpuMs(500).run()),
              callers.submit(() -> TestTools.guest("recurse").run()),
              callers.submit(() -> TestTools.js("for (;;);").cpuMs(500).run()),
              callers.submit(() -> TestTools.guest("grow").memoryBytes(64 << 20).run()));
      for (int i = 0; i < 10; i++) {
        assertThat(Call.show(call.run())).isEqualTo(alone);
      }
      for (Future<DriverOutcome> neighbour : neighbours) {
        assertThat(neighbour.get().end()).isNotEqualTo(DriverOutcome.End.SUCCEEDED);
      }
    }
  }

  @Test
  void theHostsLocaleAndTimeZoneChangeNothing() {
    List<String> before = TOOLS.stream().map(tool -> Call.show(tool.apply(1).run())).toList();
    Locale locale = Locale.getDefault();
    TimeZone zone = TimeZone.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag("tr-TR-u-nu-arab"));
      TimeZone.setDefault(TimeZone.getTimeZone("Asia/Kathmandu"));
      assertThat(TOOLS.stream().map(tool -> Call.show(tool.apply(1).run())).toList())
          .isEqualTo(before);
    } finally {
      Locale.setDefault(locale);
      TimeZone.setDefault(zone);
    }
  }

  /** Prints what each tool gives, for {@link #anotherJvmChangesNothing}. */
  public static final class OtherHost {
    private OtherHost() {}

    public static void main(String[] args) {
      StringBuilder all = new StringBuilder();
      TOOLS.forEach(tool -> all.append(Call.show(tool.apply(1).run())).append('\n'));
      all.append(Call.show(TestTools.guest("nans").run())).append('\n');
      all.append(Call.show(TestTools.js("const f = () => f(); f()").run())).append('\n');
      byte[] bytes = all.toString().getBytes(StandardCharsets.UTF_8);
      System.out.print("[" + HexFormat.of().formatHex(bytes) + "]");
      TestTools.DRIVERS.close();
    }
  }

  /** One JVM that only interprets, one that only compiles, with other charsets and places. */
  @Test
  void anotherJvmChangesNothing() throws Exception {
    String interpreted =
        otherJvm("-Xint", "-Dfile.encoding=ISO-8859-1", "-Duser.language=tr", "-Duser.country=TR");
    String compiled =
        otherJvm(
            "-Xshare:auto",
            "-XX:TieredStopAtLevel=1",
            "-Dfile.encoding=US-ASCII",
            "-Duser.timezone=Asia/Kathmandu");
    assertThat(interpreted)
        .isEqualTo(compiled)
        .contains(HexFormat.of().formatHex("SUCCEEDED".getBytes(StandardCharsets.UTF_8)));
    StringBuilder here = new StringBuilder();
    TOOLS.forEach(tool -> here.append(Call.show(tool.apply(1).run())).append('\n'));
    assertThat(new String(HexFormat.of().parseHex(interpreted), StandardCharsets.UTF_8))
        .startsWith(here.toString());
  }

  private static String otherJvm(String... flags) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(flags));
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), OtherHost.class.getName()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    assertThat(process.waitFor()).as(output).isZero();
    return output.substring(output.lastIndexOf('[') + 1, output.lastIndexOf(']'));
  }

  /**
   * Known bytes: they change only with the profile's digest, which names every version. The first
   * and the last were computed apart from this code, from spec/tool-wasm.md and spec/tool-js.md.
   */
  @Test
  void theBytesAreTheseOnEveryMachine() {
    String random =
        HexFormat.of().formatHex(TestTools.guest("random").run().output().orElseThrow().bytes());
    assertThat(
            List.of(
                TestTools.js("[Math.random(), Math.random()]").text(),
                TestTools.sql("SELECT random()").text(),
                random))
        .containsExactly(
            "[0.4143022895213563,0.7778363605019831]",
            "{\"columns\":[\"random()\"],\"rows\":[[\"-1623509722804938808\"]]}",
            "cf1125f1e3edf5521d213b1491a94fcd177053bc8779bcb95437ddc259d35555f3d2cdbabaf9124f");
  }
}
