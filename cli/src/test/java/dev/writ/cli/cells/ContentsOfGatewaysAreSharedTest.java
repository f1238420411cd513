package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.cli.OneHome;
import dev.writ.cli.Run;
import dev.writ.postgres.PostgresServer;
import dev.writ.s3.S3Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Large contents lie where every gateway of an installation reads them, or it is no gateway. */
class ContentsOfGatewaysAreSharedTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final S3Server STORE = S3Server.shared();
  private static final Map<String, String> CREDENTIALS =
      Map.of("AWS_ACCESS_KEY_ID", S3Server.KEY_ID, "AWS_SECRET_ACCESS_KEY", S3Server.SECRET);

  @TempDir Path dir;

  private Run writ(String home, String... arguments) {
    return new OneHome(dir.resolve(home)).writ(arguments);
  }

  private Run done(String home, String... arguments) {
    return new OneHome(dir.resolve(home)).done(arguments);
  }

  private void refused(String code, String home, String... arguments) {
    Run run = writ(home, arguments);
    assertThat(run.status()).as(run.out()).isNotZero();
    assertThat(run.err()).contains(code);
  }

  /** Its output is a large content. */
  private void works(String home, char letter) {
    String out =
        done(
                home,
                "run",
                "js",
                "--output-kb",
                "400",
                "--param",
                "source='" + letter + "'.repeat(200000)")
            .out();
    assertThat(out).contains(String.valueOf(letter).repeat(200_000));
  }

  private static long contents(URI address) {
    return STORE.names(address).stream().filter(name -> name.startsWith("contents/")).count();
  }

  private void isVerified(String home) throws IOException {
    done(home, "fsck");
    done(home, "audit");
    done(home, "checkpoint");
    Path bundle = Files.createTempFile(dir, "run", ".writ");
    Files.delete(bundle);
    done(home, "export", "main", "-o", bundle.toString());
    String trust = dir.resolve(home).resolve("trust.jwks").toString();
    done(home, "verify", bundle.toString(), "--trust", trust);
    assertThat(done(home, "replay", bundle.toString(), "--trust", trust).out())
        .contains("COMPLETE");
  }

  /** Its anchor did not see what an operator did in another home; nothing was lost. */
  @Test
  void anotherHomesIncarnationIsNoLoss() throws IOException {
    URI contents = Files.createDirectory(dir.resolve("contents")).toUri();
    done(
        "one",
        "init",
        "--database",
        SERVER.newAddress().toString(),
        "--contents",
        "file://" + contents.getPath().replaceAll("/$", ""));
    done("two", "init", "--join", dir.resolve("one").toString());
    works("two", 'a');
    done("one", "fsck", "--restored");
    assertThat(done("two", "fsck").out()).contains("sound:").doesNotContain("PROBLEM");
    done("two", "run", "js", "--run", "next", "--param", "source=1");
    isVerified("two");
    done("one", "run", "js", "--run", "back", "--param", "source=1");
  }

  @Test
  void aGatewayWhoseContentsLieInItsHomeIsRefusedUntilTheyAreMoved() throws IOException {
    done("one", "init", "--database", SERVER.newAddress().toString());
    works("one", 'a');
    refused("LED-082", "two", "init", "--join", dir.resolve("one").toString());
    assertThat(dir.resolve("two")).doesNotExist();
    Path configuration = dir.resolve("one/gateway.yaml");
    Files.writeString(configuration, "writ_gateway: 1\ncells: { port: 0 }\n");
    refused("LED-082", "one", "config", "check", configuration.toString());
    refused("LED-082", "one", "serve");

    URI address = STORE.newAddress();
    assertThat(done("one", "migrate", "--contents", address.toString()).out())
        .contains("large contents to " + address);
    assertThat(contents(address)).isPositive();
    done("one", "config", "check", configuration.toString());
    assertThat(writ("one", "doctor").out()).containsPattern("ok +contents +s3://writ/t");
    works("one", 'b');
    isVerified("one");
    done("two", "init", "--join", dir.resolve("one").toString());
    works("two", 'c');
    isVerified("two");
    works("one", 'd');
    assertThat(dir.resolve("two/ledger/blobs").toFile().list()).containsExactly("new");
    refused("LED-084", "one", "migrate", "rocksdb");

    done("one", "migrate", "--contents", "home");
    refused("LED-083", "two", "receipts");
    works("one", 'e');
    isVerified("one");
    done("one", "migrate", "rocksdb");
    isVerified("one");
  }

  @Test
  void aStoreThatCannotBeUsedIsRefusedAndNothingIsLeft() {
    String database = SERVER.newAddress().toString();
    URI taken = STORE.newAddress();
    done("first", "init", "--database", database, "--contents", taken.toString());
    String other = SERVER.newAddress().toString();
    refused("OBJ-009", "other", "init", "--database", other, "--contents", taken.toString());
    Run secret = writ("other", "init", "--database", other, "--contents", "s3://id:hunter2@writ/a");
    assertThat(secret.err()).contains("OBJ-001").doesNotContain("hunter2");
    refused(
        "OBJ-005",
        "other",
        "init",
        "--database",
        other,
        "--contents",
        taken.toString().replace("s3://writ/", "s3://no-such-bucket/"));
    refused("LED-081", "other", "init", "--database", other, "--contents", "ftp://store");
    refused("CLI-001", "other", "init", "--contents", taken.toString());
    assertThat(dir.resolve("other")).doesNotExist();
    assertThat(dir.resolve("other.partial")).doesNotExist();
    URI free = STORE.newAddress();
    done("other", "init", "--database", other, "--contents", free.toString());
    works("first", 'a');
    works("other", 'b');
    String unreachable =
        free.toString().replaceFirst("127.0.0.1:[0-9]+&patience_s=20", "127.0.0.1:1&patience_s=1");
    write(dir.resolve("other/ledger/contents"), unreachable);
    Run sick = writ("other", "doctor");
    assertThat(sick.status()).isEqualTo(6);
    assertThat(sick.out()).containsPattern("bad +contents").contains("OBJ-002");
    refused("OBJ-002", "other", "serve");
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void whatOneGatewayKeepsAnotherServesAfterIt() throws Exception {
    URI address = STORE.newAddress();
    int port = SERVER.newAddress().getPort();
    try (CountingServer outside = new CountingServer(dir.resolve("ca.pem"));
        Gateways gateways =
            new Gateways(SERVER, dir, outside, address.toString(), CREDENTIALS, port, port);
        HttpClient http = HttpClient.newHttpClient()) {
      byte[] first = bytes(1);
      byte[] second = bytes(2);
      gateways.start(0);
      int owner = gateways.awaitOwner();
      gateways.start(1);
      put(http, gateways, 1, first); // it forwards
      long before = contents(address);
      assertThat(before).isPositive();
      gateways.kill(owner);
      assertThat(gateways.awaitOwnerOtherThan(owner)).isEqualTo(1);
      assertThat(get(http, gateways, 1, first)).isEqualTo(first);
      put(http, gateways, 1, second);
      assertThat(contents(address)).isEqualTo(before + 1);
      gateways.start(0);
      assertThat(get(http, gateways, 0, second)).isEqualTo(second);
      gateways.stop(1);
      gateways.stop(0);
      for (int i = 0; i < 2; i++) {
        gateways.done(i, "fsck");
        assertThat(gateways.home(i).resolve("ledger/blobs").toFile().list()).containsExactly("new");
        assertThat(gateways.said(i)).doesNotContain(S3Server.SECRET);
      }
    }
  }

  private static byte[] bytes(long seed) {
    byte[] bytes = new byte[300_000];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static HttpRequest.Builder blob(Gateways gateways, int gateway, byte[] content)
      throws IOException {
    return HttpRequest.newBuilder(
            gateways.url(gateway).resolve("/v1/blobs/" + Digest.sha256(content)))
        .header("Authorization", "Bearer " + gateways.token(gateway));
  }

  private static void put(HttpClient http, Gateways gateways, int gateway, byte[] content)
      throws Exception {
    HttpResponse<String> answer =
        http.send(
            blob(gateways, gateway, content)
                .PUT(HttpRequest.BodyPublishers.ofByteArray(content))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 204);
  }

  private static byte[] get(HttpClient http, Gateways gateways, int gateway, byte[] content)
      throws Exception {
    return http.send(
            blob(gateways, gateway, content).build(), HttpResponse.BodyHandlers.ofByteArray())
        .body();
  }
}
