package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real processes under a clock that libfaketime sets, as a user meets it in a terminal. */
class AClockThatLeapsIsToldAndCorrectedTest {
  private static final String DAYS_80 = "+80d";
  private static final String FIVE_YEARS = "+1825d";

  @TempDir Path dir;

  private record Ended(int status, String out, String err) {}

  /**
   * A process of its own, whose wall clock stands that far off; its monotonic clock is the host's.
   */
  private Ended at(String offset, String... args) {
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of(
            "faketime",
            "-m",
            "-f",
            offset,
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "--home",
            dir.resolve("data").toString()));
    command.addAll(List.of(args));
    Path out = dir.resolve("out");
    Path err = dir.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().put("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    builder
        .environment()
        .put("FAKETIME_FORCE_MONOTONIC_FIX", "0"); // else timed waits return at once
    try {
      int status = builder.start().waitFor();
      return new Ended(status, read(out), read(err));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }

  /** The same in this process, whose clock is right. */
  private Run writ(String... args) {
    String[] all = new String[args.length + 2];
    all[0] = "--home";
    all[1] = dir.resolve("data").toString();
    System.arraycopy(args, 0, all, 2, args.length);
    return Run.of(all);
  }

  private Run effect() {
    return writ("run", "js", "--param", "source=6*7");
  }

  private Ended effect(String offset) {
    return at(offset, "run", "js", "--param", "source=6*7");
  }

  @Test
  void ahead_is_refused_and_a_ledger_that_ran_ahead_is_corrected() {
    assertThat(writ("init").status()).isZero();
    assertThat(effect().out()).contains("42");

    Ended ahead = effect(FIVE_YEARS);
    assertThat(ahead.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(ahead.err())
        .matches(
            "(?s)writ: EXE-980 the clock is further ahead of the ledger's time than policy"
                + " allows: clock 20\\S+Z, ledger 20\\S+Z; policy lets an installation stand"
                + " idle for 7776000 s\\. Set the clock; nothing is decided or dispatched until"
                + " then\\. If the clock is right, start again, or sign for it with `writ clock"
                + " correct`\\.\\s+");
    assertThat(effect().out()).as("nothing was moved").contains("42");

    assertThat(effect(DAYS_80).out()).as("within the bounds").contains("42");
    Run behind = effect();
    assertThat(behind.status()).isEqualTo(ExitCode.REFUSED.status());
    assertThat(behind.err()).contains("EXE-904", "clock 20", "ledger 20", "writ clock correct");
    assertThat(writ("doctor").out()).contains("ahead of the clock");
    Run asked = writ("clock", "correct");
    assertThat(asked.status()).isEqualTo(1);
    assertThat(asked.out())
        .contains("the ledger is 79 days ahead of the clock", "Nothing is signed yet. With --yes");
    Run corrected = writ("clock", "correct", "--yes");
    assertThat(corrected.err()).isEmpty();
    assertThat(corrected.out()).contains("signed: the log's time goes on from", "incarnation 2");
    assertThat(effect().out()).contains("42");
    assertThat(writ("clock", "status").out()).contains("the clock fits the ledger");
    assertThat(writ("clock", "correct", "--yes").err()).contains("EXE-983");
    assertThat(writ("fsck").status()).isZero();
    Run audit = writ("--json", "audit");
    assertThat(audit.out()).contains("\"problems\":[]");
  }
}
