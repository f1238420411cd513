package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.io.Reader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /** A file that a tool left behind, and a package that waits for its approvers. */
  @Test
  void norOfArtifactsAndPackages() throws Exception {
    Path sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    Map<String, String> environment = Map.of("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    try {
      done(environment, "init");
      Path input = Files.writeString(folder.resolve("hostile"), HOSTILE);
      Run left =
          done(
              environment,
              "run code_interpreter --param language=python --param-json artifacts=[\"*.txt\"]"
                  + " --json --param"
                  + " code=open('left.txt','wb').write(open('in/hostile','rb').read()) --input "
                  + input);
      JsonValue.Obj json = (JsonValue.Obj) Jcs.parse(left.out().getBytes(StandardCharsets.UTF_8));
      String artifact = "output " + text(json, "receipt_id") + " --artifact left.txt";
      assertThat(done(environment, artifact).out()).isEqualTo(HOSTILE);
      Run shown = done(environment, artifact, "out,err");
      assertThat(shown.out()).contains("owned");
      assertSteersNothing(shown.out() + shown.err(), artifact);

      done(environment, "key new publisher --role publisher");
      Path project = folder.resolve("word-stats");
      done(environment, "tool new python " + project);
      Path policy = folder.resolve("home/policy.yaml");
      Files.writeString(
          policy,
          "governance: { tools: [\"*\"], approvals: { reviewer: 1 }, approvers: { ada: [reviewer]"
              + " }, ceiling: { languages: [python], workspace: false, network: [], spawn: false,"
              + " resource_class: small } }\n",
          StandardOpenOption.APPEND);
      done(environment, "policy activate " + policy);
      // Its files cannot have such characters; what its manifest says can, as escapes of YAML.
      submit(environment, project);
      Run review = done(environment, "tool review word-stats", "out,err");
      assertSteersNothing(review.out() + review.err(), "tool review");
      assertThat(review.out()).contains("owned");
    } finally {
      Trees.remove(sandboxes);
    }
  }

  private void submit(Map<String, String> environment, Path project) throws IOException {
    Path manifest = project.resolve("tool.manifest");
    Files.writeString(
        manifest,
        Files.readString(manifest)
            .replaceFirst(
                "description: .*", "description: \"owned \\\\u202eb\\\\x9b31m\\\\e[2Jc\""));
    String file = folder.resolve("word-stats.tool").toString();
    for (String command :
        List.of("package " + project + " --out " + file, "sign " + file, "submit " + file)) {
      Run run = done(environment, "tool " + command, "out,err");
      assertSteersNothing(run.out() + run.err(), command);
    }
  }

  private Run run(Map<String, String> environment, String command, String terminals) {
    List<String> all = new ArrayList<>(List.of("--home", folder.resolve("home").toString()));
    all.addAll(List.of(command.split(" ")));
    return Run.on("", terminals, environment, Commands.ALL, all.toArray(String[]::new));
  }

  private Run done(Map<String, String> environment, String command, String... terminals) {
    Run run = run(environment, command, String.join(",", terminals));
    assertThat(run.status()).as(command + ": " + run.out() + run.err()).isZero();
    return run;
  }

  private static String text(JsonValue.Obj object, String name) {
    return ((JsonValue.Str) object.get(name)).value();
  }

  /** A terminal of its own: {@code argv} on it, what comes here typed into it. */
  private static final String ON_A_TERMINAL =
      """
      import os, pty, select, signal, sys
      pid, fd = pty.fork()
      if pid == 0:
          # A job in the background of a script ignores it, and so would all that it starts.
          signal.signal(signal.SIGINT, signal.SIG_DFL)
          os.execv(sys.argv[1], sys.argv[1:])
      typed = [0]
      while True:
          ready, _, _ = select.select([fd] + typed, [], [])
          try:
              if 0 in ready:
                  data = os.read(0, 65536)
                  if data: os.write(fd, data)
                  else: typed = []
              if fd in ready:
                  data = os.read(fd, 65536)
                  if not data: break
                  sys.stdout.buffer.write(data)
                  sys.stdout.buffer.flush()
          except OSError: break
      sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
      """;

  /** Through the launcher, on a real terminal. */
  @Test
  void norOnARealTerminal() throws Exception {
    Path json = Files.writeString(folder.resolve("hostile.json"), quoted(HOSTILE));
    String launcher = Path.of("..").toRealPath().resolve("writ").toString();
    String onTerminal = ran("python3", "-c", ON_A_TERMINAL, launcher, "canon", json.toString());
    assertThat(onTerminal).contains("owned");
    assertSteersNothing(onTerminal.replace("\r\n", "\n"), "canon");
    assertThat(ran(launcher, "canon", json.toString())).isEqualTo(quoted(HOSTILE));
  }

  /** A server whose log goes to the terminal that it was started on, until Ctrl-C. */
  @Test
  void norDoesTheLogOfAServer() throws Exception {
    assertThat(writ("", "init").status()).isZero();
    String launcher = Path.of("..").toRealPath().resolve("writ").toString();
    String home = folder.resolve("home").toString();
    Process terminal =
        new ProcessBuilder(
                "python3", "-c", ON_A_TERMINAL, launcher, "--home", home, "serve", "--port", "0")
            .start();
    StringBuilder shown = new StringBuilder();
    try (Reader out = terminal.inputReader(StandardCharsets.UTF_8)) {
      Matcher url = awaitOn(out, shown, Pattern.compile("http://([0-9.]+):(\\d+)\\s"));
      for (String hostile :
          List.of(HOSTILE, "/v1/effects", "/v1/runs/" + HOSTILE, "/%1b]0;owned%07%c2%9b31m")) {
        send(url.group(1), Integer.parseInt(url.group(2)), hostile.replace("\r", ""));
      }
      terminal.getOutputStream().write(3); // Ctrl-C
      terminal.getOutputStream().flush();
      awaitOn(out, shown, Pattern.compile("\\z.^")); // to its end
    }
    assertThat(terminal.waitFor()).isEqualTo(130);
    assertSteersNothing(shown.toString().replace("\r\n", "\n").replace("^C", ""), "serve");
    assertThat(shown).contains("/v1/effects", "\"event\":\"stopped\"");
  }

  private static void send(String host, int port, String hostile) throws IOException {
    String body = quoted(HOSTILE);
    try (Socket socket = new Socket(host, port)) {
      String head =
          "POST %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: %s\r\nContent-Type: application/json\r\n"
                  .formatted(hostile, host, port, hostile)
              + "traceparent: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                  .formatted(hostile, body.getBytes(StandardCharsets.UTF_8).length);
      socket.getOutputStream().write((head + body).getBytes(StandardCharsets.UTF_8));
      assertThat(socket.getInputStream().readAllBytes()).isNotEmpty();
    }
  }

  /** Reads until the pattern is there or the output ends. */
  private static Matcher awaitOn(Reader out, StringBuilder shown, Pattern pattern)
      throws IOException {
    Matcher matcher = pattern.matcher(shown);
    char[] some = new char[4096];
    while (!matcher.find(0)) {
      int n = out.read(some);
      if (n < 0) {
        break;
      }
      shown.append(some, 0, n);
      matcher = pattern.matcher(shown);
    }
    return matcher;
  }

  private static String ran(String... argv) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(argv).redirectInput(Path.of("/dev/null").toFile()).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(out).isZero();
    return out;
  }
}
