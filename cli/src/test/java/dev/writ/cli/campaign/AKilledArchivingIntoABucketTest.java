package dev.writ.cli.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.Run;
import dev.writ.cli.campaign.ErasureHome.Keeping;
import dev.writ.s3.S3Server;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ archive run} into a bucket is killed at any call that concerns its files, and when
 * the bundle has come to the bucket. Every content is then in the ledger or in a whole bundle, and
 * the same command goes on.
 */
class AKilledArchivingIntoABucketTest {
  private static final int ROUNDS = Integer.getInteger("writ.campaign.rounds", 2);
  private static final long SEED = Long.getLong("writ.seed", 1);
  private static final List<String> CALLS =
      List.of("write", "sync", "open", "unlink", "rename", "link");

  /** What every run makes: it stays in the ledger until the last of them is archived. */
  private static final long SHARED = 7;

  private static final S3Server STORE = S3Server.shared();

  @TempDir Path dir;
  private final URI bucket = STORE.newArchive();
  private final Random random = new Random(SEED);
  private final TreeMap<String, String> outputs = new TreeMap<>();
  private final List<String> story = new ArrayList<>();
  private Path data;
  private ErasureHome home;
  private Faults faults;
  private int struck;

  @BeforeEach
  void fill() throws Exception {
    data = Files.createDirectory(dir.resolve("data"));
    faults = Faults.compile(dir, data);
    Map<String, String> environment =
        Map.of(
            "AWS_ACCESS_KEY_ID",
            S3Server.KEY_ID,
            "AWS_SECRET_ACCESS_KEY",
            S3Server.SECRET,
            "WRIT_JAVA_OPTS",
            "-Djava.io.tmpdir=" + Files.createDirectory(data.resolve("tmp")),
            "WRIT_SANDBOX_DIR",
            Files.createDirectory(data.resolve("sandboxes")).toString());
    home = new ErasureHome(data.resolve("home"), data, List.of(), environment);
    home.keep(Keeping.CLEAR);
    for (int run = 0; run <= ROUNDS; run++) {
      effect("run-" + run, 1000 + run, run % 2 == 0 ? 300 : 1);
      effect("run-" + run, SHARED, 1);
      home.done("close", "run-" + run);
    }
  }

  private void effect(String run, long number, int times) throws IOException {
    String said =
        home.done(
            "--json",
            "run",
            "js",
            "--run",
            run,
            "--output-kb",
            "400",
            "--param",
            "source=" + ErasureHome.source(number, times));
    JsonValue.Obj made = Installation.object(said.strip().getBytes(StandardCharsets.UTF_8));
    outputs.put(
        ((JsonValue.Str) made.get("receipt_id")).value(),
        new String(ErasureHome.output(number, times), StandardCharsets.UTF_8));
  }

  private Process start(String run, Map<String, String> more) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Server.LAUNCHER.toString(),
                "--home",
                home.dir().toString(),
                "archive",
                "run",
                run,
                "--to",
                bucket.toString())
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("said").toFile());
    builder.environment().putAll(home.environment());
    builder.environment().putAll(more);
    return builder.start();
  }

  private void killedAtACall(String run) throws Exception {
    int nth = (int) Math.pow(24, random.nextDouble());
    Faults.Plan plan = new Faults.Plan(CALLS.get(random.nextInt(CALLS.size())), nth, "kill", 0);
    story.add(run + " " + plan);
    int status = start(run, faults.environment(plan)).waitFor();
    struck += faults.struck();
    assertThat(status).as(story + Files.readString(dir.resolve("said"))).isIn(0, 137);
  }

  private void killedWhenTheBundleIsThere(String run) throws Exception {
    story.add(run + " killed when the bundle is there");
    long before = bundles().size();
    Process process = start(run, Map.of());
    while (bundles().size() == before) {
      assertThat(process.isAlive() || bundles().size() > before)
          .as(Files.readString(dir.resolve("said")))
          .isTrue();
    }
    process.destroyForcibly().waitFor();
  }

  private List<String> bundles() {
    return STORE.names(bucket).stream().filter(name -> name.startsWith("bundles/")).toList();
  }

  private void isSound() {
    for (String name : bundles()) {
      assertThat(name)
          .as("an object is there whole or not at all")
          .isEqualTo("bundles/" + Digest.sha256(STORE.get(bucket, name)).hex() + ".writ");
    }
    outputs.forEach((receipt, text) -> {
      Run output = home.attempt("output", receipt);
      assertThat(output.status()).as(story + output.err()).isZero();
      assertThat(output.out()).as(story.toString()).isEqualTo(text);
    });
    for (String check : List.of("fsck", "audit")) {
      Run run = home.attempt(check);
      assertThat(run.status()).as(story + run.out() + run.err()).isZero();
    }
  }

  private void isCarriedOut(String run) throws IOException {
    Run again = home.attempt("archive", "run", run, "--to", bucket.toString());
    assertThat(again.status()).as(story + again.out() + again.err()).isZero();
    assertThat(home.done("runs")).containsPattern("acme/" + run + " +archived");
  }

  @Test
  void every_content_is_in_the_ledger_or_in_a_whole_bundle() throws Exception {
    for (int round = 0; round <= ROUNDS; round++) {
      String run = "run-" + round;
      if (round == ROUNDS) {
        killedWhenTheBundleIsThere(run);
      } else {
        killedAtACall(run);
      }
      isSound();
      isCarriedOut(run);
    }
    isSound();
    assertThat(home.done("archive", "verify"))
        .contains(ROUNDS + 1 + " of " + (ROUNDS + 1) + " archived runs are sound");
    assertThat(bundles()).as("a run has one bundle").hasSize(ROUNDS + 1);
    try (var ledger = home.read()) {
      byte[] shared = ErasureHome.output(SHARED, 1);
      assertThat(ledger.hasBlob(Digest.sha256(shared))).isFalse();
    }
    assertThat(Files.list(data.resolve("home/ledger/blobs/new"))).isEmpty();
    assertThat(struck).as(story.toString()).isPositive();
    System.out.println(
        "AKilledArchivingIntoABucketTest: -Dwrit.seed="
            + SEED
            + "  "
            + struck
            + " killed at a call");
  }
}
