package dev.writ.cli.campaign;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.OwnProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** {@code ./writ serve} as operators start it: a process group of its own. */
final class Server {
  static final Path LAUNCHER = Path.of(System.getProperty("writ.root"), "writ");

  private static final long ENDS_WITHIN_S = 60;

  private final Process process;
  private final BufferedReader out;
  private final Path log;

  private Server(Process process, Path log) {
    this.process = process;
    this.out = process.inputReader(StandardCharsets.UTF_8);
    this.log = log;
  }

  /**
   * @param descriptors how many files it may open; 0: as many as the host lets it
   */
  static Server start(Path home, Path logs, Map<String, String> environment, int descriptors)
      throws IOException {
    Path log = Files.createTempFile(logs, "server-", ".log");
    List<String> command = new ArrayList<>(List.of("setsid"));
    if (descriptors > 0) {
      command.addAll(List.of("bash", "-c", "ulimit -n " + descriptors + "; exec \"$@\"", "-"));
    }
    command.add(LAUNCHER.toString());
    command.addAll(List.of("--home", home.toString(), "serve", "--json", "--port", "0"));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("WRIT_JAVA_OPTS", OwnProcess.COMPILER);
    builder.environment().putAll(environment);
    return new Server(builder.redirectError(log.toFile()).start(), log);
  }

  /** Its address, once it listens; absent where it ended before. */
  Optional<URI> awaitListening() throws IOException {
    String line = out.readLine();
    if (line == null) {
      return Optional.empty();
    }
    JsonValue.Obj said = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
    return Optional.of(URI.create(((JsonValue.Str) said.get("url")).value()));
  }

  /** Waits so long, or until it has ended. */
  boolean endsWithin(Duration most) throws InterruptedException {
    return process.waitFor(most.toMillis(), TimeUnit.MILLISECONDS);
  }

  boolean isAlive() {
    return process.isAlive();
  }

  long pid() {
    return process.pid();
  }

  void signal(String name) throws IOException, InterruptedException {
    Shell.signal(name, process.pid());
  }

  void signalGroup(String name) throws IOException, InterruptedException {
    Shell.signal(name, -process.pid());
  }

  /** What runs in sandboxes and beside them. */
  List<ProcessHandle> children() {
    return process.descendants().toList();
  }

  /** Kills it and waits until it and all that it started are gone. */
  void kill() throws IOException, InterruptedException {
    List<ProcessHandle> children = children();
    process.destroyForcibly();
    awaitEnd(children);
  }

  /** Its exit status. */
  int awaitEnd(List<ProcessHandle> children) throws IOException, InterruptedException {
    if (!process.waitFor(ENDS_WITHIN_S, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException("the server did not end within " + ENDS_WITHIN_S + " s");
    }
    for (ProcessHandle child : children) {
      try {
        child.onExit().get(ENDS_WITHIN_S, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        throw new IOException(
            "process " + child.pid() + " outlived its server: " + child.info(), e);
      }
    }
    return process.exitValue();
  }

  /** The end of what it logged. */
  String said() throws IOException {
    List<String> lines = Files.readAllLines(log);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 12), lines.size()));
  }
}
