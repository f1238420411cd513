package dev.writ.console.page;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Keycloak itself, from Maven Central, with the realm of {@code src/test/keycloak} in memory. It
 * listens to nothing but loopback. It is unpacked and built once, below {@code target}.
 */
final class KeycloakServer implements AutoCloseable {
  private static final Path POM = Path.of("src/test/keycloak/pom.xml");
  private static final Path REALM = Path.of("src/test/keycloak/acme-realm.json");
  private static final String GOAL =
      "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack-dependencies";
  private static final String VERSION = "keycloak-26.7.3";
  private static final List<String> BUILT = List.of("--db=dev-mem", "--health-enabled=false");

  private final int port = freePort();
  private final Path log;
  private final Process process;

  /**
   * Returns when it accepts connections, which is when its realm is there.
   *
   * @param dir for its log
   */
  KeycloakServer(Path dir) {
    log = dir.resolve("keycloak.log");
    try {
      Path home = built(dir);
      List<String> command = new ArrayList<>(List.of("start", "--optimized", "--import-realm"));
      command.add("--http-enabled=true");
      command.add("--http-host=127.0.0.1");
      command.add("--http-port=" + port);
      command.add("--hostname-strict=false");
      command.add("--cache=local");
      process = start(home, command);
      while (!accepts()) {
        if (process.waitFor(100, TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException("it ended: " + Files.readString(log));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** By a name that browsers take for another site than 127.0.0.1. */
  String issuer() {
    return "http://localhost:" + port + "/realms/acme";
  }

  private Process start(Path home, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("bash", "bin/kc.sh"));
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(home.toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("JAVA_OPTS_APPEND", "-XX:TieredStopAtLevel=1");
    return builder.start();
  }

  /** Where it is ready to start, which is later than its archive and its realm. */
  private Path built(Path dir) throws IOException, InterruptedException {
    Path module = Path.of(System.getProperty("writ.root"), "console");
    Path to = module.resolve("target/keycloak");
    Path home = to.resolve(VERSION);
    Path done = home.resolve("built");
    if (Files.exists(done)
        && Files.getLastModifiedTime(done).compareTo(Files.getLastModifiedTime(module.resolve(POM)))
            > 0) {
      return withRealm(module, home);
    }
    unpack(module.resolve(POM), to);
    List<String> command = new ArrayList<>(List.of("build"));
    command.addAll(BUILT);
    command.add("--cache=local");
    if (start(home, command).waitFor() != 0) {
      throw new IllegalStateException("it cannot be built: " + Files.readString(log));
    }
    Files.writeString(done, dir.getFileName().toString());
    return withRealm(module, home);
  }

  private static Path withRealm(Path module, Path home) throws IOException {
    Path imported = Files.createDirectories(home.resolve("data/import"));
    Files.write(imported.resolve("acme-realm.json"), Files.readAllBytes(module.resolve(REALM)));
    return home;
  }

  /** By Maven, which fetches what the local repository lacks. */
  private static void unpack(Path pom, Path to) throws IOException, InterruptedException {
    String said = "";
    for (List<String> online : List.of(List.of("-o"), List.<String>of())) {
      List<String> command = new ArrayList<>(List.of("mvn", "-q", "-B"));
      command.addAll(online);
      command.addAll(
          List.of(
              "-f",
              pom.toString(),
              GOAL,
              "-DoutputDirectory=" + to,
              "-DmarkersDirectory=" + to.resolve("markers")));
      Process maven = new ProcessBuilder(command).redirectErrorStream(true).start();
      said = new String(maven.getInputStream().readAllBytes());
      if (maven.waitFor() == 0) {
        return;
      }
    }
    throw new IllegalStateException(said);
  }

  private boolean accepts() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    kill();
  }

  /** Ends the script's server, and the script. */
  void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
