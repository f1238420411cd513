package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.OwnProcess;
import dev.writ.cli.Run;
import dev.writ.fixture.Await;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replicas of a container that share one installation, each with a volume of its own: by the script
 * that images start with, whose folders are elsewhere here.
 */
class AReplicaOfAnImageJoinsTest {
  private static final PostgresServer SERVER = PostgresServer.shared();

  @TempDir Path dir;
  private final List<Process> processes = new ArrayList<>();
  private final HttpClient http = HttpClient.newHttpClient();

  @BeforeEach
  void makeInstallation() throws IOException {
    for (String folder : List.of("contents", "join", "bin", "tmp", "s")) {
      Files.createDirectory(dir.resolve(folder));
    }
    Path first = dir.resolve("first");
    String database = SERVER.newAddress().toString().replace("cell=", "schema=replicas");
    String contents = dir.resolve("contents").toUri().toString();
    done(first, "init", "--database", database, "--contents", contents, "--cells", "3");
    done(first, "cells", "invite", dir.resolve("join/gateway.join").toString());
    Files.writeString(dir.resolve("join/pgpass"), "*:*:*:writ:secret\n");
    Path writ = dir.resolve("bin/writ");
    Files.writeString(
        writ,
        OwnProcess.writ().stream()
            .map(word -> "'" + word.replace("'", "'\\''") + "'")
            .collect(Collectors.joining(" ", "#!/bin/sh\nexec ", " \"$@\"\n")));
    Files.setPosixFilePermissions(writ, PosixFilePermissions.fromString("rwx------"));
  }

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private static void done(Path home, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--home", home.toString()));
    all.addAll(List.of(arguments));
    Run run = Run.of(all.toArray(String[]::new));
    assertThat(run.status()).as(String.join(" ", arguments) + run.err() + run.out()).isZero();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** One replica with its volume, its configuration, and what it said. */
  private record Replica(Path volume, int port, int hop, Path log, Process process) {
    String said() {
      try {
        return Files.readString(log);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private Replica start(String name, int port, int hop, String tokens) throws IOException {
    Path volume = Files.createDirectories(dir.resolve(name));
    Path configuration = Files.createDirectories(dir.resolve(name + "-etc"));
    Files.writeString(
        configuration.resolve("gateway.yaml"),
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1, port: PORT }
        cells: { port: HOP, address: "CELL_ADDRESS", lease_ms: 2000, margin_ms: 500 }
        """
                .replace("PORT", String.valueOf(port))
                .replace("HOP", String.valueOf(hop))
            + tokens);
    Path script = dir.resolve(name + "-start");
    Files.writeString(
        script,
        Files.readString(Path.of("../deploy/images/start"))
            .replace("/var/lib/writ", volume.toString())
            .replace("/etc/writ/", configuration + "/")
            .replace("/usr/bin/writ", dir.resolve("bin/writ").toString())
            .replace("/tmp/answered", volume + ".answered"));
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    ProcessBuilder builder = new ProcessBuilder(script.toString(), "serve");
    builder.environment().put("PATH", dir.resolve("bin") + ":/usr/bin:/bin");
    builder.environment().put("HOME", volume.toString());
    builder.environment().put("WRIT_HOME", volume.resolve("data").toString());
    builder.environment().put("WRIT_JOIN", dir.resolve("join").toString());
    builder.environment().put("WRIT_CELL_ADDRESS", "127.0.0.1:" + hop);
    builder.environment().put("WRIT_SANDBOX_DIR", dir.resolve("s").resolve(name).toString());
    builder.environment().put("WRIT_WARM_UP_S", "0");
    Path log = dir.resolve(name + ".log");
    Process process =
        builder
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    processes.add(process);
    return new Replica(volume, port, hop, log, process);
  }

  private String cells(Replica replica) {
    Path serving = replica.volume().resolve("data/serving.json");
    try {
      String token = Files.readString(serving).replaceFirst("(?s).*\"token\":\"([^\"]+)\".*", "$1");
      return http.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + replica.port() + "/v1/cells"))
                  .header("Authorization", "Bearer " + token)
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int owned(String cells, Replica by) {
    return cells.split("\"owner\":\"127.0.0.1:" + by.hop() + "\"", -1).length - 1;
  }

  private void awaitShares(Replica asked, Replica one, int ofOne, Replica other, int ofOther) {
    Await.until(() -> {
      assertThat(asked.process().isAlive()).as(asked::said).isTrue();
      String cells = cells(asked);
      return owned(cells, one) == ofOne && owned(cells, other) == ofOther;
    });
  }

  @Test
  void theyShareTheCellsAndOneTakesOverWhatTheOtherHad() throws Exception {
    Replica one = start("one", freePort(), freePort(), "");
    awaitShares(one, one, 3, one, 3);
    Replica two = start("two", freePort(), freePort(), "");
    Await.until(
        () -> owned(cells(two), one) + owned(cells(two), two) == 3 && owned(cells(two), two) > 0);

    Path password = two.volume().resolve(".pgpass");
    assertThat(password).hasContent("*:*:*:writ:secret");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(password)))
        .isEqualTo("rw-------");
    assertThat(two.volume().resolve("token")).doesNotExist();
    assertThat(two.volume().resolve("making")).doesNotExist();

    one.process().destroyForcibly().waitFor();
    awaitShares(two, two, 3, one, 0);
    byte[] settings = Files.readAllBytes(one.volume().resolve("data/writ.json"));
    Replica again = start("one", one.port(), one.hop(), "");
    Await.until(() -> owned(cells(again), again) > 0);
    assertThat(one.volume().resolve("data/writ.json")).hasBinaryContent(settings);
  }

  /** It would be another one in each of them. */
  @Test
  void aTokenThatEachWouldMakeForItselfIsRefused() throws Exception {
    String token =
        "tokens: [ { name: first, digest: FIRST_TOKEN, tenant: local, subject: agent } ]\n";
    Replica one = start("one", freePort(), freePort(), token);
    assertThat(one.process().waitFor()).isEqualTo(2);
    assertThat(one.said()).contains("FIRST_TOKEN would be another token in each gateway");
    assertThat(one.volume().resolve("token")).doesNotExist();
  }

  /** What a first start began and did not end is made again. */
  @Test
  void aStartThatWasKilledIsBegunAgain() throws Exception {
    Path volume = Files.createDirectories(dir.resolve("one"));
    Files.writeString(volume.resolve("making"), "");
    Files.createDirectories(volume.resolve("data.partial/keys"));
    Files.writeString(volume.resolve("data.anchor.1"), "half");
    Files.createDirectories(volume.resolve(".data.join123/keys"));
    Replica one = start("one", freePort(), freePort(), "");
    awaitShares(one, one, 3, one, 3);
    assertThat(volume.resolve("data.partial")).doesNotExist();
    assertThat(volume.resolve(".data.join123")).doesNotExist();
  }
}
