package dev.writ.cli.campaign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.cli.Run;
import dev.writ.cli.campaign.ErasureHome.Keeping;
import dev.writ.s3.CephServer;
import dev.writ.s3.S3Server;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;
import software.amazon.awssdk.services.s3.model.ObjectLockRetentionMode;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Runs in an archive that Ceph locks in compliance mode: nobody removes them, not with the key of
 * the buckets' owner either, and they are listed, verified and replayed from there, also where
 * somebody hid or overwrote them. It needs Ceph, and so its name does not end as those of tests
 * that are always run (spec/testing.md): {@code -Dwrit.s3=ceph}.
 */
class AnArchiveUnderObjectLock {
  private static final int RUNS = Integer.getInteger("writ.archived.runs", 4);
  private static final S3Server STORE = S3Server.shared();

  @TempDir Path dir;
  private final S3Client owner = STORE.client();
  private final URI archive = STORE.newArchive();
  private ErasureHome home;
  private String pins;

  @BeforeEach
  void init() throws Exception {
    Map<String, String> environment =
        Map.of("AWS_ACCESS_KEY_ID", S3Server.KEY_ID, "AWS_SECRET_ACCESS_KEY", S3Server.SECRET);
    home = new ErasureHome(dir.resolve("home"), dir, List.of(), environment);
    home.keep(Keeping.CLEAR);
    pins = home.dir().resolve("trust.jwks").toString();
  }

  private void fill(int runs) throws Exception {
    for (int run = 0; run < runs; run++) {
      home.done(
          "run",
          "js",
          "--run",
          "run-" + run,
          "--param",
          "source=" + ErasureHome.source(run + 1, 1));
      home.done("close", "run-" + run);
    }
  }

  private List<ObjectVersion> versions() {
    String prefix = archive.getPath().substring(1) + "/";
    return owner
        .listObjectVersionsPaginator(b -> b.bucket(CephServer.LOCKED).prefix(prefix))
        .versions()
        .stream()
        .toList();
  }

  private List<ObjectVersion> bundles() {
    return versions().stream().filter(one -> one.key().contains("/bundles/")).toList();
  }

  private static void forbidden(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            S3Exception.class, e -> assertThat(e.statusCode()).as(e.getMessage()).isEqualTo(403));
  }

  private void cannotBeRemoved(ObjectVersion one) {
    String version = one.versionId();
    forbidden(() ->
        owner.deleteObject(b -> b.bucket(CephServer.LOCKED).key(one.key()).versionId(version)));
    forbidden(() ->
        owner.deleteObject(b ->
            b.bucket(CephServer.LOCKED)
                .key(one.key())
                .versionId(version)
                .bypassGovernanceRetention(true)));
    for (ObjectLockRetentionMode mode :
        List.of(ObjectLockRetentionMode.COMPLIANCE, ObjectLockRetentionMode.GOVERNANCE)) {
      forbidden(() ->
          owner.putObjectRetention(b ->
              b.bucket(CephServer.LOCKED)
                  .key(one.key())
                  .versionId(version)
                  .bypassGovernanceRetention(true)
                  .retention(r -> r.mode(mode).retainUntilDate(Instant.now().plusSeconds(60)))));
    }
  }

  private void isWholeFor(String run) throws Exception {
    assertThat(home.done("verify", run, "--trust", pins)).contains("verified: the run is closed");
    assertThat(home.done("replay", run, "--trust", pins)).contains("COMPLETE  " + run);
  }

  @Test
  void runs_are_archived_and_nobody_can_take_them_away() throws Exception {
    fill(RUNS);
    Instant before = Instant.now();
    String moved = home.done("archive", "run", "--older-than", "0s", "--to", archive.toString());
    System.out.println("AnArchiveUnderObjectLock: " + moved.lines().toList().getLast());
    System.out.println(
        "AnArchiveUnderObjectLock: "
            + RUNS
            + " runs, "
            + bundles().stream().mapToLong(ObjectVersion::size).sum()
            + " bytes in "
            + Duration.between(before, Instant.now()).toMillis()
            + " ms");
    assertThat(bundles()).hasSize(RUNS);
    for (ObjectVersion bundle : bundles()) {
      HeadObjectResponse head =
          owner.headObject(b -> b.bucket(CephServer.LOCKED).key(bundle.key()));
      assertThat(head.objectLockMode()).isEqualTo(ObjectLockMode.COMPLIANCE);
      assertThat(head.objectLockRetainUntilDate())
          .isBetween(
              before.plus(Duration.ofDays(1)).minusSeconds(2),
              Instant.now().plus(Duration.ofDays(1)));
    }
    cannotBeRemoved(bundles().getFirst());
    List<ObjectVersion> all = versions();
    assertThat(home.done("archive", "run", "run-0", "run-1")).contains("moved 0 contents");
    assertThat(versions()).as("a second time changes nothing").isEqualTo(all);
    assertThat(home.done("doctor"))
        .contains(
            "locks bundles in compliance mode for 1 days; a locked object could not be removed; of "
                + Math.min(RUNS, 100));
    assertThat(versions()).as("nor does doctor").isEqualTo(all);

    TreeMap<String, String> names = new TreeMap<>();
    for (ObjectVersion bundle : bundles()) {
      names.put(bundle.key(), bundle.versionId());
    }
    List<String> keys = new ArrayList<>(names.keySet());
    String hidden = keys.get(0);
    String overwritten = keys.get(1);
    owner.deleteObject(b -> b.bucket(CephServer.LOCKED).key(hidden));
    for (int times = 0; times < 3; times++) {
      owner.putObject(
          b -> b.bucket(CephServer.LOCKED).key(overwritten), RequestBody.fromString("another"));
    }
    assertThat(home.done("archive", "list")).doesNotContain("missing");
    assertThat(home.done("archive", "verify"))
        .contains(RUNS + " of " + RUNS + " archived runs are sound");
    for (int run = 0; run < Math.min(RUNS, 4); run++) {
      isWholeFor("run-" + run);
    }
    home.done("fsck");
    home.done("audit");
  }

  @Test
  void a_bundle_in_parts_is_locked_too() throws Exception {
    for (int each = 0; each < 3; each++) {
      home.done(
          "run",
          "js",
          "--run",
          "large",
          "--output-kb",
          "8192",
          "--param",
          "source=" + ErasureHome.source(7 + each, 25_000));
    }
    home.done("close", "large");
    home.done("archive", "run", "large", "--to", archive.toString());
    assertThat(bundles())
        .hasSize(1)
        .first()
        .satisfies(one -> assertThat(one.size()).isGreaterThan(16L << 20));
    cannotBeRemoved(bundles().getFirst());
    isWholeFor("large");
    byte[] there =
        owner
            .getObjectAsBytes(b -> b.bucket(CephServer.LOCKED).key(bundles().getFirst().key()))
            .asByteArray();
    assertThat(bundles().getFirst().key()).contains(Digest.sha256(there).hex());
  }

  @Test
  void in_a_bucket_without_object_lock_nothing_leaves_the_ledger() throws Exception {
    fill(1);
    String open = STORE.newAddress() + "&lock=governance&lock_days=1";
    Run refused = home.attempt("archive", "run", "run-0", "--to", open);
    assertThat(refused.status()).as(refused.err()).isNotZero();
    assertThat(refused.err()).contains("OBJ-013");
    assertThat(home.done("runs")).doesNotContain("archived");
    assertThat(home.dir().resolve("archive.address")).doesNotExist();
    home.done("archive", "run", "run-0", "--to", archive.toString());
    assertThat(home.done("runs")).containsPattern("acme/run-0 +archived");
  }
}
