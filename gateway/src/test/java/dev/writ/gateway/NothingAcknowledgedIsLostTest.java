package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.document.Receipt;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server in a process of its own is killed, or told to stop, under load. */
public class NothingAcknowledgedIsLostTest {
  private static final int CLIENTS = 8;
  private static final int REQUESTS_EACH = 400;

  @TempDir Path dir;

  /** What clients got. */
  private final Queue<String> receipts = new ConcurrentLinkedQueue<>();

  private final Queue<Integer> refusals = new ConcurrentLinkedQueue<>();
  private final CountDownLatch enough = new CountDownLatch(60);

  @Test
  void byKillMinus9() throws Exception {
    Process server = underLoad();
    server.destroyForcibly();
    server.waitFor();
    finish();
    readBack();
  }

  @Test
  void bySigterm() throws Exception {
    Process server = underLoad();
    server.destroy();
    assertThat(server.waitFor()).isEqualTo(143);
    finish();
    assertThat(refusals).allMatch(status -> status == 503);
    readBack();
  }

  private final List<Thread> clients = new ArrayList<>();

  private Process underLoad() throws Exception {
    List<List<byte[]>> requests = requests();
    Process server = child();
    BufferedReader says = server.inputReader(StandardCharsets.UTF_8);
    URI uri = URI.create("http://127.0.0.1:" + says.readLine() + "/v1/effects");
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    for (List<byte[]> share : requests) {
      clients.add(Thread.startVirtualThread(() -> share.forEach(body -> send(http, uri, body))));
    }
    enough.await();
    return server;
  }

  private List<List<byte[]>> requests() {
    try (TestHome home = TestGateway.newHome(dir)) {
      List<List<byte[]>> shares = new ArrayList<>();
      for (int c = 0; c < CLIENTS; c++) {
        List<byte[]> share = new ArrayList<>();
        for (int i = 0; i < REQUESTS_EACH; i++) {
          String tool = i % 2 == 0 ? "calc" : "mail";
          share.add(home.ask("alice").run("run-" + c).tool(tool).bytes());
        }
        shares.add(share);
      }
      return shares;
    }
  }

  private void send(HttpClient http, URI uri, byte[] body) {
    try {
      HttpResponse<byte[]> response =
          http.send(
              HttpRequest.newBuilder(uri)
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
      if (response.statusCode() == 200) {
        JsonValue.Obj json = (JsonValue.Obj) Jcs.parse(response.body());
        receipts.add(new String(Jcs.write(json.get("receipt")), StandardCharsets.UTF_8));
        enough.countDown();
      } else {
        refusals.add(response.statusCode());
      }
    } catch (IOException e) {
      // nothing was acknowledged
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void finish() throws InterruptedException {
    for (Thread client : clients) {
      client.join();
    }
    assertThat(receipts).hasSizeGreaterThanOrEqualTo(60);
    assertThat(receipts.size()).isLessThan(CLIENTS * REQUESTS_EACH);
  }

  /** Every receipt that a client holds is in the ledger, the same bytes, and verifies. */
  private void readBack() {
    try (TestHome home = TestHome.open(dir)) {
      for (String receipt : receipts) {
        Envelope held = Envelope.parse(receipt.getBytes(StandardCharsets.UTF_8));
        Digest id = held.id();
        assertThat(home.document(id).toBytes()).isEqualTo(held.toBytes());
        home.kernel().system().trust().verify(held, Receipt.TYPE, home.clock.instant());
      }
      assertThat(home.fsck().problems()).isEmpty();
    }
  }

  private Process child() throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            NothingAcknowledgedIsLostTest.class.getName(),
            dir.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** The child's side: it stops as `writ serve` does. */
  public static void main(String[] args) throws Exception {
    TestGateway gateway = TestGateway.open(Path.of(args[0]));
    Runtime.getRuntime()
        .addShutdownHook(
            Thread.ofPlatform()
                .unstarted(() -> {
                  gateway.server.drain(Duration.ofSeconds(30));
                  gateway.close();
                }));
    System.out.println(gateway.server.port());
    System.out.flush();
    new CountDownLatch(1).await();
  }
}
