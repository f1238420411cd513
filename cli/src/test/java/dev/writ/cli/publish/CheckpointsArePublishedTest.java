package dev.writ.cli.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.Run;
import dev.writ.cli.StampServer;
import dev.writ.cli.WitnessHere;
import dev.writ.cli.base.Homes;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.ops.Metrics;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.Cosignature;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.s3.S3Server;
import dev.writ.verify.stamp.StampRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The checkpoints of a server, its witnesses and its places (spec/witness.md, "Publishing"). */
class CheckpointsArePublishedTest {
  @TempDir Path dir;
  private Path home;
  private Path folder;
  private final List<String> lines = new ArrayList<>();

  @BeforeEach
  void installation() throws IOException {
    home = dir.resolve("data");
    folder = Files.createDirectory(dir.resolve("public"));
    ok("--home", home.toString(), "init");
  }

  private static String ok(String... args) {
    Run run = Run.of(args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run.out();
  }

  private static void work(Path home, String run) {
    ok("--home", home.toString(), "run", "js", "--run", run, "--param", "source=6*7");
  }

  private WitnessHere witness(String name) throws IOException {
    String log = ok("--home", home.toString(), "checkpoint", "--vkey").strip();
    return new WitnessHere(dir.resolve(name), "--name", name + ".example/w", "--log", log);
  }

  private static String asked(WitnessHere witness) {
    return "{ url: \"" + witness.url + "\", key: \"" + witness.key + "\" }";
  }

  private static GatewayConfig config(String checkpoints) {
    return GatewayConfig.parse(
        ("writ_gateway: 1\ncheckpoints: { " + checkpoints + " }\n")
            .getBytes(StandardCharsets.UTF_8),
        "test.yaml",
        Map.of());
  }

  private String inFolder() {
    return "folder: \"" + folder + "\"";
  }

  private static OpenHome open(Path dir) {
    Home home = Home.existing(dir, () -> null);
    return OpenHome.open(home, Opening.of(Homes.clock(), SandboxPlace.host(home, Map.of())));
  }

  /** One turn of a server that was just started. */
  private Publication turn(Path of, String checkpoints) {
    try (OpenHome open = open(of);
        CheckpointPublisher publisher = publisher(open, checkpoints)) {
      publisher.round();
      return publisher.state();
    }
  }

  private CheckpointPublisher publisher(OpenHome open, String checkpoints) {
    return new CheckpointPublisher(
        config(checkpoints).extras().checkpoints().orElseThrow(),
        new OwnLog(open.kernel()),
        new PublishingLog(line -> lines.add(text(line)), Homes.clock()),
        Homes.clock());
  }

  private static String text(JsonValue.Obj line) {
    return new String(Jcs.write(line), StandardCharsets.UTF_8);
  }

  private Map<String, String> codes(Publication state) {
    return Map.copyOf(
        state.troubles().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().code())));
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private Path copy() throws IOException {
    Path other = dir.resolve("second");
    try (Stream<Path> all = Files.walk(home)) {
      for (Path file : all.toList()) {
        Files.copy(file, other.resolve(home.relativize(file)));
      }
    }
    Files.copy(Path.of(home + ".anchor"), Path.of(other + ".anchor"));
    return other;
  }

  @Test
  void eachSizeIsPublishedOnceWithTheWitnessesThatSawIt() throws Exception {
    try (WitnessHere one = witness("one");
        WitnessHere two = witness("two")) {
      String all = inFolder() + ", witnesses: [" + asked(one) + ", " + asked(two) + "]";
      Publication first = turn(home, all);
      assertThat(codes(first)).isEmpty();
      assertThat(first.wholeAt()).isPresent();
      Checkpoint note = first.checkpoint().orElseThrow();
      Path file = folder.resolve(note.size() + ".txt");
      byte[] bytes = Files.readAllBytes(file);
      assertThat(bytes).isEqualTo(note.toBytes());
      assertThat(folder.resolve("latest.txt")).hasBinaryContent(bytes);
      for (WitnessHere w : List.of(one, two)) {
        assertThat(Cosignature.of(Checkpoint.parse(bytes), WitnessKey.parse(w.key))).isPresent();
      }
      // A server that was started again neither asks again nor writes anything else.
      Publication again = turn(home, all);
      assertThat(again.checkpoint().orElseThrow().toBytes()).isEqualTo(bytes);
      assertThat(file).hasBinaryContent(bytes);
      work(home, "more");
      Checkpoint larger = turn(home, all).checkpoint().orElseThrow();
      assertThat(larger.size()).isGreaterThan(note.size());
      assertThat(names())
          .containsExactlyInAnyOrder(note.size() + ".txt", larger.size() + ".txt", "latest.txt");
      assertThat(folder.resolve("latest.txt")).hasBinaryContent(larger.toBytes());
      assertThat(lines).anyMatch(line -> line.contains("\"checkpoint-published\""));
    }
  }

  @Test
  void whatTooFewCosignedIsNotPublishedAndIsTriedAgain() throws Exception {
    String key;
    String dead;
    try (WitnessHere gone = witness("gone")) {
      key = gone.key;
      dead = asked(gone);
    }
    try (WitnessHere one = witness("one");
        OpenHome open = open(home)) {
      String both = ", witnesses: [" + asked(one) + ", " + dead + "]";
      try (CheckpointPublisher publisher = publisher(open, inFolder() + both)) {
        publisher.round();
        publisher.round();
        assertThat(codes(publisher.state()))
            .containsEntry("witness gone.example/w", "CLI-103")
            .containsEntry("witnesses", "CLI-103");
        assertThat(names()).isEmpty();
        assertThat(publisher.state().wholeAt()).isEmpty();
        assertThat(lines)
            .as("told once")
            .filteredOn(line -> line.contains("checkpoint-not-published"))
            .hasSize(2);
      }
      try (CheckpointPublisher enough = publisher(open, inFolder() + both + ", quorum: 1")) {
        enough.round();
        enough.round();
        assertThat(codes(enough.state()))
            .as("it is published, and who did not cosign is not forgotten")
            .isEqualTo(Map.of("witness gone.example/w", "CLI-103"));
        assertThat(Cosignature.of(enough.state().checkpoint().orElseThrow(), WitnessKey.parse(key)))
            .isEmpty();
      }
      assertThat(names()).hasSize(2);
    }
  }

  @Test
  void aSecondHistoryIsPublishedNowhere() throws Exception {
    URI bucket = S3Server.shared().newAddress();
    String both = inFolder() + ", bucket: \"" + bucket + "\"";
    Path other = copy();
    work(home, "shown");
    Checkpoint shown = turn(home, inFolder()).checkpoint().orElseThrow();

    // It is behind what was published: as a ledger that was put back is.
    assertThat(codes(turn(other, both))).isEqualTo(Map.of("folder", "CLI-104"));
    work(other, "hidden"); // as long, and another run
    assertThat(codes(turn(other, both))).isEqualTo(Map.of("folder", "CLI-104"));
    work(other, "hidden-too");
    assertThat(codes(turn(other, both))).isEqualTo(Map.of("folder", "CLI-104"));
    assertThat(names()).containsExactlyInAnyOrder(shown.size() + ".txt", "latest.txt");
    assertThat(folder.resolve("latest.txt")).hasBinaryContent(shown.toBytes());
    assertThat(S3Server.shared().names(bucket)).isEmpty();
  }

  @Test
  void aWitnessOfAnotherHistoryOutweighsTheQuorum() throws Exception {
    try (WitnessHere honest = witness("one");
        WitnessHere other = witness("two")) {
      Path second = copy();
      work(home, "shown");
      turn(home, inFolder() + ", witnesses: [" + asked(honest) + "]");
      Path elsewhere = Files.createDirectory(dir.resolve("elsewhere"));
      String both = asked(other) + ", " + asked(honest);
      Publication state =
          turn(second, "quorum: 1, folder: \"" + elsewhere + "\", witnesses: [" + both + "]");
      assertThat(codes(state))
          .isEqualTo(Map.of("witness one.example/w", "CLI-101", "witnesses", "CLI-101"));
      assertThat(elsewhere).isEmptyDirectory();
    }
  }

  @Test
  void whatSomebodyElsePutThereIsInTheWayAtThatPlaceAlone() throws Exception {
    URI bucket = S3Server.shared().newAddress();
    String both = inFolder() + ", bucket: \"" + bucket + "\"";
    Files.writeString(folder.resolve("latest.txt"), "nothing of ours\n");
    Publication state = turn(home, both);
    assertThat(codes(state)).isEqualTo(Map.of("folder", "CLI-105"));
    long size = state.checkpoint().orElseThrow().size();
    assertThat(S3Server.shared().names(bucket))
        .containsExactlyInAnyOrder(size + ".txt", "latest.txt");
    assertThat(names()).containsExactly("latest.txt");
    // A checkpoint of that size, but of a log of another key.
    Path stranger = dir.resolve("stranger");
    ok("--home", stranger.toString(), "init");
    Files.writeString(
        folder.resolve("latest.txt"), ok("--home", stranger.toString(), "checkpoint"));
    assertThat(codes(turn(home, both))).isEqualTo(Map.of("folder", "CLI-105"));
    // Once it is gone the folder gets the bytes that the bucket has.
    Files.delete(folder.resolve("latest.txt"));
    assertThat(codes(turn(home, both))).isEmpty();
    assertThat(folder.resolve(size + ".txt"))
        .hasBinaryContent(S3Server.shared().get(bucket, size + ".txt"));
  }

  /** Somebody who may write to the folder, and got a checkpoint from the server. */
  @Test
  void nobodyGetsACheckpointPastTheWitnesses() throws Exception {
    try (WitnessHere one = witness("one")) {
      String asking = ", witnesses: [" + asked(one) + "]";
      Checkpoint bare = turn(home, inFolder()).checkpoint().orElseThrow();
      Publication state = turn(home, inFolder() + asking);
      assertThat(codes(state)).isEqualTo(Map.of("folder", "CLI-105"));
      assertThat(state.checkpoint()).isEmpty();
      assertThat(folder.resolve(bare.size() + ".txt")).hasBinaryContent(bare.toBytes());
      work(home, "more");
      assertThat(codes(turn(home, inFolder() + asking))).isEmpty();
      assertThat(names()).hasSize(3);
    }
  }

  @Test
  void whatIsPublishedIsStampedOnceAtEachPlace() throws Exception {
    URI bucket = S3Server.shared().newAddress();
    try (StampServer server = new StampServer(dir.resolve("tsa"))) {
      String stamped =
          inFolder()
              + ", bucket: \""
              + bucket
              + "\""
              + ", stamps: [{ name: one, url: \""
              + server.url()
              + "\", tsa_ca: \""
              + server.certificate()
              + "\" }]";
      Publication state = turn(home, stamped);
      assertThat(codes(state)).isEmpty();
      long size = state.checkpoint().orElseThrow().size();
      assertThat(state.stamps().get("one").by()).isEqualTo("CN=tsa.example");
      String name = size + ".one.tsr";
      assertThat(names()).containsExactlyInAnyOrder(size + ".txt", "latest.txt", name);
      assertThat(folder.resolve(name)).hasBinaryContent(S3Server.shared().get(bucket, name));
      assertThat(
              server.authority.run(
                  "openssl ts -verify -data "
                      + folder.resolve(size + ".txt")
                      + " -in "
                      + folder.resolve(name)
                      + " -CAfile ca.pem"))
          .contains("Verification: OK");
      assertThat(codes(turn(home, stamped))).isEmpty(); // after a restart
      assertThat(server.asked).hasValue(1);

      // An authority that is away, or answers something else, takes nothing from the checkpoint.
      work(home, "more");
      byte[] other = StampRequest.of(Digest.sha256(new byte[1]), new byte[] {1}).toBytes();
      server.answering(_ -> other);
      try (OpenHome open = open(home);
          CheckpointPublisher publisher = publisher(open, stamped)) {
        lines.clear();
        publisher.round();
        publisher.round();
        assertThat(codes(publisher.state())).isEqualTo(Map.of("stamp one", "RPL-088"));
        assertThat(names()).hasSize(4);
        assertThat(lines).as("each is told once").hasSize(2);
        server.answering(request -> request);
        publisher.round();
        assertThat(codes(publisher.state())).isEmpty();
        assertThat(names()).hasSize(5);
      }
    }
  }

  /** A witness that accepts and never answers. */
  @Test
  void nothingWaitsForAWitnessThatIsSilent() throws Exception {
    String key = "witness.example/w1+3a7c4813+BCCCi/XFvcrLaEhjM2wgL7VZnaSL5VlmFXQhcHBb7Kn3";
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        OpenHome open = open(home)) {
      ServedCheckpoints served =
          new ServedCheckpoints(
              open.kernel(), line -> lines.add(text(line)), Homes.clock(), OptionalInt.empty());
      Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
      served.measure(metrics);
      String age = "writ_checkpoints_age_seconds ";
      assertThat(metrics.text()).as("nothing is to be published").contains(age + "NaN");
      String url = "http://127.0.0.1:" + silent.getLocalPort();
      served.use(
          config(inFolder() + ", witnesses: [{ url: \"" + url + "\", key: \"" + key + "\" }]"));
      try (var asked = silent.accept()) {
        assertThat(asked.getInputStream().read()).as("it is being asked").isEqualTo('P');
        assertThat(open.kernel().checkpoint().size()).isPositive();
        assertThat(served.view().orElseThrow().note()).isEmpty();
        assertThat(metrics.text()).containsPattern(age + "[0-9]"); // an alarm sees that it is old
        served.use(config("folder: \"" + folder + "\"")); // SIGHUP
        served.close();
      }
      assertThat(served.view().orElseThrow().witnesses()).isEmpty();
    }
  }

  /** Such as where a witness has begun with a new key, and the configuration has the former one. */
  @Test
  void aWitnessThatSignsWithAnotherKeyIsNamed() throws Exception {
    SigningKey former = SigningKey.generateEd25519(new SecureRandom());
    String key = new WitnessKey("two.example/w", former.verifyingKey()).toString();
    try (WitnessHere one = witness("one");
        WitnessHere two = witness("two")) {
      String other = "{ url: \"" + two.url + "\", key: \"" + key + "\" }";
      Publication state =
          turn(home, inFolder() + ", quorum: 1, witnesses: [" + asked(one) + ", " + other + "]");
      assertThat(codes(state)).isEqualTo(Map.of("witness two.example/w", "CLI-103"));
      assertThat(state.checkpoint()).isPresent();
      assertThat(state.wholeAt()).isEmpty();
      assertThat(lines).anyMatch(line -> line.contains("no cosignature by " + key));
    }
  }

  /** Each of these answers only when the others were asked, too. */
  @Test
  void allWitnessesAreAskedAtOnce() throws Exception {
    CountDownLatch toBeAsked = new CountDownLatch(3);
    HttpServer bad = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    try (WitnessHere good = witness("good");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      bad.setExecutor(threads);
      bad.createContext(
          "/",
          call -> {
            toBeAsked.countDown();
            try {
              toBeAsked.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            call.sendResponseHeaders(500, -1);
            call.close();
          });
      bad.start();
      String url = "http://127.0.0.1:" + bad.getAddress().getPort();
      List<String> all = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        SigningKey signer = SigningKey.generateEd25519(new SecureRandom());
        String key = new WitnessKey("bad" + i + ".example/w", signer.verifyingKey()).toString();
        all.add("{ url: \"" + url + "\", key: \"" + key + "\" }");
      }
      all.add(asked(good));
      Publication state = turn(home, inFolder() + ", quorum: 1, witnesses: " + all);
      assertThat(codes(state))
          .containsOnly(
              Map.entry("witness bad0.example/w", "CLI-102"),
              Map.entry("witness bad1.example/w", "CLI-102"),
              Map.entry("witness bad2.example/w", "CLI-102"));
      assertThat(state.checkpoint()).isPresent();
    } finally {
      bad.stop(0);
    }
  }

  @Test
  void theSectionIsCheckedWithoutCallingAnybody() throws Exception {
    for (String wrong :
        List.of(
            "every_s: 300",
            inFolder() + ", every_s: 0",
            inFolder() + ", witnesses: [{ url: \"ftp://w\", key: \"w\" }]",
            inFolder() + ", witnesses: [{ url: \"https://me:secret@w.example\", key: \"w\" }]",
            inFolder() + ", witnesses: [{ url: \"https://w.example/?token=secret\", key: \"w\" }]",
            inFolder() + ", quorum: 1",
            inFolder() + ", colour: green")) {
      assertThatThrownBy(() -> config(wrong))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("GWY-002")
          .hasMessageNotContaining("secret");
    }
    for (String wrong :
        List.of(
            "folder: \"" + dir.resolve("none") + "\"",
            "bucket: \"ftp://a/b\"",
            "bucket: \"s3://key:secret@b/p\"",
            inFolder()
                + ", witnesses: [{ url: \"https://w.example\", ca: none.pem, key:"
                + " \"witness.example/w1+3a7c4813+BCCCi/XFvcrLaEhjM2wgL7VZnaSL5VlmFXQhcHBb7Kn3\""
                + " }]")) {
      Path file = dir.resolve("gateway.yaml");
      Files.writeString(file, "writ_gateway: 1\ncheckpoints: { " + wrong + " }\n");
      Run run = Run.of("--home", home.toString(), "config", "check", file.toString());
      assertThat(run.status()).as(wrong).isNotZero();
      assertThat(run.err()).containsAnyOf("GWY-002", "GWY-007", "OBJ-001").doesNotContain("secret");
    }
  }
}
