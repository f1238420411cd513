package dev.writ.ledger;

import static dev.writ.ledger.Fixture.AT;
import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.fsck.Fsck;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SortedSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeletedContentIsGoneFromTheDiskTest {
  private static final RunId DELETIONS = new RunId("writ", "retention");
  private static final Instant LATER = AT.plusSeconds(1);
  private static final int LARGE = Batch.BLOB_BYTES_MAX + 5;

  /** How much of a content is looked for: more than a chance, less than a block of a log. */
  private static final int PIECE = 64;

  @TempDir Path home;
  private Ledger ledger;
  private final Random random = new Random(15);

  @BeforeEach
  void create() {
    ledger = Ledger.create(config(home));
    ledger.append(Fixture.opening("r")).await();
  }

  @AfterEach
  void close() {
    ledger.close();
  }

  /** Random bytes, so that a compressed table holds them as they are. */
  private byte[] content(int size) {
    byte[] content = new byte[size];
    random.nextBytes(content);
    return content;
  }

  private Digest store(byte[] content) throws IOException {
    try (BlobSink sink = ledger.newBlob()) {
      new ByteArrayInputStream(content).transferTo(sink);
      BlobRef ref = sink.finish();
      ledger.append(new Batch().blob(ref)).await();
      return ref.digest();
    }
  }

  /** States the deletion, as the first event or the next of its run. */
  private static Batch statement(Ledger of, List<Digest> contents) {
    Envelope document = Fixture.document("deleted " + contents);
    Event event =
        of.head(DELETIONS)
            .map(head -> head.next("content.deleted", document.id(), AT, Optional.empty()))
            .orElseGet(() ->
                Event.first(
                    DELETIONS.tenant(),
                    DELETIONS.run(),
                    "content.deleted",
                    document.id(),
                    AT,
                    Optional.empty()));
    Batch batch = new Batch().event(event).document(document);
    contents.forEach(content ->
        batch.put(Ledger.DELETED, content.hex() + Keys.SEPARATOR + "r", document.id().bytes()));
    return batch;
  }

  private SortedSet<Digest> delete(Digest... contents) {
    return delete(ledger, ledger.treeSize(), contents);
  }

  private static SortedSet<Digest> delete(Ledger of, long searchedTo, Digest... contents) {
    List<Digest> all = List.of(contents);
    return of.delete(
        all, searchedTo, LATER, new Ledger.Deletion(statement(of, all), enqueue -> enqueue.get()));
  }

  /**
   * The files below a directory in which a piece of the content is. RocksDB removes files in the
   * background: where one goes while we look, we look again.
   */
  private static List<String> filesWith(Path dir, byte[] content) throws IOException {
    while (true) {
      try {
        return lookFor(content, dir);
      } catch (NoSuchFileException gone) {
        assertThat(dir).exists();
      } catch (UncheckedIOException e) {
        assertThat(e).hasCauseInstanceOf(NoSuchFileException.class);
        assertThat(dir).exists();
      }
    }
  }

  private static List<String> lookFor(byte[] content, Path dir) throws IOException {
    String piece = new String(Arrays.copyOf(content, PIECE), StandardCharsets.ISO_8859_1);
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(dir)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        if (bytes.contains(piece)) {
          found.add(file.getFileName().toString());
        }
      }
    }
    return found;
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.walkFileTree(
        from,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes)
              throws IOException {
            Files.createDirectories(to.resolve(from.relativize(dir).toString()));
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.copy(file, to.resolve(from.relativize(file).toString()));
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private static List<String> problems(Path home) {
    return Fsck.check(Fsck.Options.of(home.resolve("data"))).problems().stream()
        .map(Object::toString)
        .toList();
  }

  @Test
  void no_file_has_a_byte_of_it_after_the_purge_and_everything_else_is_there() throws IOException {
    byte[] small = content(40_000);
    byte[] large = content(LARGE);
    byte[] other = content(40_000);
    Digest smallId = store(small);
    Digest largeId = store(large);
    Digest otherId = store(other);
    Path data = home.resolve("data");
    assertThat(filesWith(data, small)).isNotEmpty();
    assertThat(filesWith(data, large)).containsExactly(largeId.hex());
    assertThat(delete(smallId, largeId)).isEmpty();
    assertThat(ledger.hasBlob(smallId)).isFalse();
    assertThat(filesWith(data, small)).as("of a row that is deleted").isNotEmpty();
    assertThat(filesWith(data, large)).isEmpty();
    assertThat(ledger.isPurgePending()).isTrue();
    ledger.purge();
    assertThat(ledger.isPurgePending()).isFalse();
    assertThat(filesWith(data, small)).isEmpty();
    assertThat(filesWith(data, other)).isNotEmpty();
    assertThat(data.resolve("db/LOG")).as("RocksDB's own log is one of them").exists();
    // Logs that were cut off are used again; what they hold then is read after a crash.
    byte[] after = content(30_000);
    Digest afterId = store(after);
    copy(data, home.resolve("crashed/data"));
    Files.copy(home.resolve("anchor.json"), home.resolve("crashed/anchor.json"));
    try (Ledger reopened = Ledger.open(config(home.resolve("crashed")))) {
      assertThat(reopened.blob(afterId, LARGE)).isEqualTo(after);
      assertThat(reopened.blob(otherId, LARGE)).isEqualTo(other);
      assertThat(reopened.head(DELETIONS)).isPresent();
    }
    assertThat(problems(home.resolve("crashed"))).isEmpty();
  }

  @Test
  void content_in_every_log_that_is_kept_for_use_again_is_cut_off() throws IOException {
    byte[] first = content(40_000);
    Digest firstId = store(first);
    for (int round = 0; round < 3; round++) {
      Digest passing = store(content(30_000));
      delete(passing);
      ledger.purge();
    }
    assertThat(filesWith(home.resolve("data"), first)).as("in a table").isNotEmpty();
    delete(firstId);
    ledger.purge();
    assertThat(filesWith(home.resolve("data"), first)).isEmpty();
    ledger.append(Fixture.step(ledger, run("r"), "it goes on")).await();
  }

  @Test
  void content_in_a_log_that_stayed_when_the_ledger_was_opened_is_gone_too() throws IOException {
    byte[] first = content(40_000);
    Digest firstId = store(first);
    for (int opening = 0; opening < 3; opening++) {
      ledger.close();
      ledger = Ledger.open(config(home));
      ledger.append(Fixture.step(ledger, run("r"), "opening " + opening)).await();
    }
    assertThat(filesWith(home.resolve("data"), first))
        .singleElement()
        .matches(name -> name.endsWith(".log"));
    delete(firstId);
    ledger.purge();
    assertThat(filesWith(home.resolve("data"), first)).isEmpty();
    ledger.append(Fixture.step(ledger, run("r"), "it goes on")).await();
    ledger.close();
    assertThat(problems(home)).isEmpty();
    ledger = Ledger.open(config(home));
  }

  @Test
  void a_log_that_is_taken_up_again_keeps_nothing_behind_its_end() throws IOException {
    byte[] first = content(40_000);
    Digest firstId = store(first);
    ledger.store.forgetDeleted(); // the log with it is kept, and is the next one to be used
    delete(firstId);
    ledger.purge();
    assertThat(filesWith(home.resolve("data"), first)).isEmpty();
  }

  @Test
  void what_something_needs_stays_and_no_statement_is_written() throws IOException {
    Digest pinned = store(content(100));
    try (Ledger.Pin _ = ledger.pin(List.of(pinned))) {
      assertThat(delete(pinned)).containsExactly(pinned);
    }
    Digest mentioned = store(content(100));
    long size = ledger.treeSize();
    ledger.append(Fixture.step(ledger, run("r"), "about " + mentioned)).await();
    Digest free = store(content(100));
    assertThat(delete(ledger, size, free, mentioned)).containsExactly(mentioned);
    byte[] uploaded = content(100);
    try (BlobSink sink = ledger.newUpload("acme", 1 << 20)) {
      sink.write(uploaded);
      ledger.append(new Batch().upload("acme", sink.finish(), LATER)).await();
    }
    assertThat(delete(Digest.sha256(uploaded))).containsExactly(Digest.sha256(uploaded));
    assertThat(List.of(pinned, mentioned, free, Digest.sha256(uploaded))).allMatch(ledger::hasBlob);
    assertThat(ledger.head(DELETIONS)).isEmpty();
    assertThat(ledger.isPurgePending()).isFalse();
    assertThat(delete(free)).as("without what is needed").isEmpty();
    assertThat(ledger.head(DELETIONS).orElseThrow().seq()).isZero();
    ledger.append(Fixture.step(ledger, run("r"), "it goes on")).await();
  }

  @Test
  void content_that_comes_again_after_its_deletion_is_there_again() throws IOException {
    byte[] small = content(500);
    byte[] large = content(LARGE);
    Digest smallId = store(small);
    Digest largeId = store(large);
    delete(smallId, largeId);
    assertThat(store(small)).isEqualTo(smallId);
    assertThat(store(large)).isEqualTo(largeId);
    ledger.purge();
    assertThat(ledger.blob(smallId, LARGE)).isEqualTo(small);
    assertThat(ledger.blob(largeId, LARGE)).isEqualTo(large);
  }

  @Test
  void after_a_crash_at_any_step_it_is_repeated_to_its_end() throws IOException {
    byte[] small = content(40_000);
    byte[] large = content(LARGE);
    Digest smallId = store(small);
    Digest largeId = store(large);
    Path data = home.resolve("data");
    copy(data, home.resolve("before/data"));
    Files.copy(home.resolve("anchor.json"), home.resolve("before/anchor.json"));
    delete(smallId, largeId);
    copy(data, home.resolve("stated/data"));
    Files.copy(home.resolve("anchor.json"), home.resolve("stated/anchor.json"));
    try (Ledger before = Ledger.open(config(home.resolve("before")))) {
      assertThat(before.hasBlob(smallId)).isTrue();
      assertThat(before.hasBlob(largeId)).isTrue();
      assertThat(before.head(DELETIONS)).isEmpty();
      // What recovery read out of the log went into tables, and the log is kept.
      assertThat(delete(before, before.treeSize(), smallId, largeId)).isEmpty();
      before.purge();
      assertThat(filesWith(home.resolve("before"), small)).isEmpty();
      assertThat(filesWith(home.resolve("before"), large)).isEmpty();
    }
    // The statement is on disk, the file was not removed yet, nothing was purged.
    Path file = home.resolve("stated/data/blobs").resolve(largeId.hex().substring(0, 2));
    Files.createDirectories(file);
    Files.write(file.resolve(largeId.hex()), large);
    try (Ledger stated = Ledger.open(config(home.resolve("stated")))) {
      assertThat(stated.head(DELETIONS)).isPresent();
      assertThat(stated.hasBlob(smallId)).isFalse();
      assertThat(stated.isPurgePending()).isTrue();
      assertThat(filesWith(home.resolve("stated"), large)).isEmpty();
      stated.purge();
      assertThat(filesWith(home.resolve("stated"), small)).isEmpty();
      stated.purge();
    }
    assertThat(problems(home.resolve("stated"))).isEmpty();
  }

  @Test
  void fsck_beside_a_writer_that_deletes_finds_nothing_wrong() throws IOException {
    Digest large = store(content(LARGE));
    Digest damaged = store(content(LARGE));
    Fsck.Options deleting =
        Fsck.Options.of(home.resolve("data"))
            .withProgress((step, _) -> {
              if (step.equals("documents") && ledger.hasBlob(large)) {
                delete(large);
              }
            });
    assertThat(Fsck.check(deleting).problems()).isEmpty();
    assertThat(ledger.hasBlob(large)).isFalse();
    Files.delete(home.resolve("data/blobs/" + damaged.hex().substring(0, 2) + "/" + damaged.hex()));
    assertThat(problems(home)).singleElement().asString().contains(damaged.toString());
  }

  @Test
  void a_reader_of_a_content_that_is_deleted_at_this_moment_is_told_that_it_is_missing()
      throws IOException {
    Digest large = store(content(LARGE));
    long size = ledger.blobSize(large);
    delete(large);
    assertThatThrownBy(() -> ledger.blobs.openLarge(large, Keys.number(size)))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("LED-030");
  }

  @Test
  void fsck_tells_a_body_that_a_document_says_is_deleted_from_one_that_is_lost()
      throws IOException {
    byte[] observed = content(200);
    Digest body = store(observed);
    Event head = ledger.pendingHead(run("r")).orElseThrow();
    ledger
        .append(new Batch().event(head.next("effect.finished", body, AT, Optional.empty())))
        .await();
    delete(body);
    ledger.close();
    assertThat(problems(home)).isEmpty();
    ledger = Ledger.open(config(home));
    ledger.append(new Batch().delete(Ledger.DELETED, body.hex() + Keys.SEPARATOR + "r")).await();
    ledger.close();
    assertThat(problems(home)).singleElement().asString().contains(body.toString());
    ledger = Ledger.open(config(home));
  }
}
