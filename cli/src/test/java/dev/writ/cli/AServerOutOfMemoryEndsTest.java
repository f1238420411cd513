package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server that was configured to take more than its heap holds: it does not live on with whatever
 * thread the lack of memory left it. Its supervisor sees the status and starts it again.
 */
class AServerOutOfMemoryEndsTest {
  private static final int BODIES = 60;
  private static final int BODY_BYTES = 3 << 20;

  @TempDir Path dir;

  @Test
  void with_a_status_of_its_own_and_a_ledger_that_is_sound() throws Exception {
    String home = dir.resolve("home").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        "writ_gateway: 1\nlimits: { memory_max: 1099511627776 }\n");
    Process server = serve(home, "-Xmx64m -XX:MaxDirectMemorySize=1g");
    List<Socket> callers = new ArrayList<>();
    try {
      URI url = url(server);
      for (int i = 0; i < BODIES; i++) {
        send(url, callers);
      }
      assertThat(server.waitFor()).isEqualTo(3);
    } finally {
      for (Socket caller : callers) {
        caller.close();
      }
      server.destroyForcibly();
    }
    assertThat(Run.of("--home", home, "fsck").status()).isZero();
    Run again = Run.of("--home", home, "run", "js", "--param", "source=6*7");
    assertThat(again.out()).as(again.err()).contains("42");
  }

  /** All of a body but its end, so that it is held; the server may be gone before it has it. */
  private static void send(URI url, List<Socket> callers) {
    String head =
        "POST /v1/effects HTTP/1.1\r\nHost: "
            + url.getAuthority()
            + "\r\nContent-Type: application/json\r\nContent-Length: "
            + (BODY_BYTES + 1)
            + "\r\n\r\n";
    try {
      Socket caller = new Socket(url.getHost(), url.getPort());
      callers.add(caller);
      caller.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      caller.getOutputStream().write(" ".repeat(BODY_BYTES).getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      // What this test is about.
    }
  }

  /** Memory of the network's buffers, which is none of the heap: the JVM does not end for it. */
  @Test
  void also_where_the_memory_is_not_the_heap() throws Exception {
    String home = dir.resolve("home").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
    Process server = serve(home, "-Dio.netty.maxDirectMemory=65536");
    try {
      URI url = url(server);
      List<Socket> callers = new ArrayList<>();
      send(url, callers);
      assertThat(server.waitFor()).isEqualTo(3);
      for (Socket caller : callers) {
        caller.close();
      }
    } finally {
      server.destroyForcibly();
    }
    assertThat(Run.of("--home", home, "fsck").status()).isZero();
  }

  private Process serve(String home, String options) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of("..").toRealPath().resolve("writ").toString(),
            "--home",
            home,
            "serve",
            "--json",
            "--port",
            "0");
    builder.environment().put("WRIT_JAVA_OPTS", options);
    return builder.redirectError(dir.resolve("log").toFile()).start();
  }

  private URI url(Process server) throws IOException {
    String line = server.inputReader(StandardCharsets.UTF_8).readLine();
    assertThat(line).as(Files.readString(dir.resolve("log"))).isNotNull();
    JsonValue.Obj said = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
    return URI.create(((JsonValue.Str) said.get("url")).value());
  }
}
