package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What agents and tools wrote comes to a terminal without what would steer it, by every command;
 * into a pipe or a file it comes byte for byte.
 */
class WhatOthersWroteSteersNoTerminalTest {
  /** A title, a cleared screen, C1's introducer, a reversal, a bare carriage return, a bell. */
  private static final String HOSTILE =
      "a\u001b]0;owned\u0007b\u001b[2Jc\u009b31md\u202ee\u2066f\rg\bh\u0085i\u001b[8mj";

  @TempDir Path folder;

  private Run writ(String terminals, String... args) {
    List<String> all = new ArrayList<>(List.of("--home", folder.resolve("home").toString()));
    all.addAll(List.of(args));
    return Run.on("", terminals, Map.of(), Commands.ALL, all.toArray(String[]::new));
  }

  private static String plain(String shown) {
    return shown.replaceAll("\u001b\\[(0|1|2|31|32|33|36)?m", "").replace("\r\u001b[K", "");
  }

  private static void assertSteersNothing(String shown, String what) {
    assertThat(plain(shown))
        .as(what)
        .doesNotContainPattern(
            "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]");
  }

  private static String quoted(String text) {
    return new String(Jcs.write(JsonValue.of(text)), StandardCharsets.UTF_8);
  }

  @Test
  void noCommandLetsItThrough() {
    assertThat(writ("", "init").status()).isZero();
    String source = quoted(HOSTILE);
    Run run = writ("", "run", "js", "--param", "source=" + source, "--run", "hostile", "--json");
    assertThat(run.status()).as(run.err()).isZero();
    Run failed = writ("out,err", "run", "js", "--param", "source=throw new Error(" + source + ")");
    assertSteersNothing(failed.out() + failed.err(), "run, failing");
    JsonValue.Obj json = (JsonValue.Obj) Jcs.parse(run.out().getBytes(StandardCharsets.UTF_8));
    String receipt = ((JsonValue.Str) json.get("receipt_id")).value();
    String bundle = folder.resolve("b.writ").toString();
    List<List<String>> commands =
        List.of(
            List.of("run", "js", "--param", "source=" + source),
            List.of("output", receipt),
            List.of("receipts"),
            List.of("receipts", "--json"),
            List.of("runs"),
            List.of("show", receipt),
            List.of("policy", "explain", receipt),
            List.of("audit"),
            List.of("fsck"),
            List.of("export", "hostile", "-o", bundle),
            List.of("verify", bundle),
            List.of("replay", bundle),
            List.of("diff", bundle, bundle),
            List.of("show", HOSTILE),
            List.of(HOSTILE));
    for (List<String> command : commands) {
      Run shown = writ("out,err", command.toArray(String[]::new));
      assertSteersNothing(shown.out() + shown.err(), String.join(" ", command));
    }
    assertThat(writ("out", "output", receipt).out()).contains("owned", "\ufffd");
    // Redirected, it is what it is.
    assertThat(writ("err", "output", receipt).out()).isEqualTo(quoted(HOSTILE));
  }

  /** Through the launcher, on a real terminal. */
  @Test
  void norOnARealTerminal() throws Exception {
    Path json = Files.writeString(folder.resolve("hostile.json"), quoted(HOSTILE));
    String python =
        "import os, pty, sys\n"
            + "pid, fd = pty.fork()\n"
            + "if pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n"
            + "while True:\n"
            + "    try: data = os.read(fd, 65536)\n"
            + "    except OSError: break\n"
            + "    if not data: break\n"
            + "    sys.stdout.buffer.write(data)\n"
            + "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n";
    String launcher = Path.of("..").toRealPath().resolve("writ").toString();
    String onTerminal = ran("python3", "-c", python, launcher, "canon", json.toString());
    assertThat(onTerminal).contains("owned");
    assertSteersNothing(onTerminal.replace("\r\n", "\n"), "canon");
    assertThat(ran(launcher, "canon", json.toString())).isEqualTo(quoted(HOSTILE));
  }

  private static String ran(String... argv) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(argv).redirectInput(Path.of("/dev/null").toFile()).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(out).isZero();
    return out;
  }
}
