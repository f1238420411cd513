package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContentsMoveToAnotherPlaceTest {
  private static final int LARGE = Batch.BLOB_BYTES_MAX + 1;

  @TempDir Path dir;
  private final CountedDatabase database = new CountedDatabase();
  private final List<byte[]> contents = new ArrayList<>();
  private LedgerConfig config;
  private Path folder;
  private Optional<URI> store;

  @BeforeEach
  void make() throws IOException {
    config = Fixture.config(dir.resolve("home"));
    folder = Files.createDirectory(dir.resolve("store"));
    store = Optional.of(URI.create("file://" + folder));
    Ledger.create(config, database).close();
    add();
    add();
  }

  private void add() throws IOException {
    byte[] content = new byte[LARGE + contents.size()];
    new Random(contents.size()).nextBytes(content);
    try (Ledger ledger = Ledger.open(config, database);
        BlobSink sink = ledger.newBlob()) {
      sink.write(content);
      ledger.append(new Batch().blob(sink.finish())).await();
    }
    contents.add(content);
  }

  private void areAllThere() {
    try (Ledger ledger = Ledger.open(config, database)) {
      for (byte[] content : contents) {
        assertThat(ledger.blob(Digest.sha256(content), content.length)).isEqualTo(content);
      }
    }
    assertThat(
            Fsck.check(Fsck.Options.of(config.dir()).withAnchor(config.anchor()), database)
                .problems())
        .isEmpty();
  }

  private long move(Optional<URI> to) {
    return ContentsMigration.move(config, database, to, _ -> {});
  }

  private Path inHome(byte[] content) {
    String hex = Digest.sha256(content).hex();
    return config.dir().resolve("blobs/" + hex.substring(0, 2) + "/" + hex);
  }

  @Test
  void thereAndBackAndThereAgain() throws IOException {
    assertThat(move(store)).isEqualTo(2);
    Files.delete(inHome(contents.getFirst())); // nothing reads what is left there
    areAllThere();
    add();
    assertThat(inHome(contents.getLast())).doesNotExist();
    Refused.with(LedgerError.EXISTS, () -> move(store));
    assertThat(move(Optional.empty())).isEqualTo(3);
    assertThat(ContentPlaces.address(config.dir())).isEmpty();
    areAllThere();
    add();
    Refused.with(LedgerError.EXISTS, () -> move(Optional.empty()));
    assertThat(move(store)).isEqualTo(4);
    areAllThere();
  }

  @Test
  void aMoveThatBreaksOffChangesNothing() throws IOException {
    byte[] damaged = contents.getLast();
    Files.write(inHome(damaged), new byte[damaged.length]);
    Refused.with(LedgerError.BLOB_CORRUPT, () -> move(store));
    assertThat(ContentPlaces.address(config.dir())).isEmpty();
    Files.write(inHome(damaged), damaged);
    areAllThere();
    assertThat(config.dir().resolve("blobs/new")).isEmptyDirectory();
    assertThat(move(store)).isEqualTo(2);
    areAllThere();
  }

  @Test
  void whatACrashLeftIsFinishedByTheSameCommand() throws IOException {
    Path underWay = config.dir().resolve("contents.next");
    Files.writeString(underWay, store.get() + "\n");
    areAllThere(); // the row was not written yet
    assertThat(move(store)).isEqualTo(2);
    assertThat(underWay).doesNotExist();
    // As after a crash between the row and the file.
    Files.writeString(underWay, store.get() + "\n");
    ContentPlaces.writeHome(config.files(), config.dir());
    Refused.with(LedgerError.CONTENTS_OTHER, () -> Ledger.open(config, database));
    Refused.with(LedgerError.CONTENTS_OTHER, () -> move(Optional.empty()));
    assertThat(move(store)).isZero();
    areAllThere();
    assertThat(underWay).doesNotExist();
    // And on the way back.
    assertThat(move(Optional.empty())).isEqualTo(2);
    Files.writeString(underWay, "home\n");
    ContentPlaces.write(config.files(), config.dir(), store.get());
    Refused.with(LedgerError.CONTENTS_OTHER, () -> Ledger.open(config, database));
    assertThat(move(Optional.empty())).isZero();
    areAllThere();
  }

  @Test
  void anotherInstallationsStoreIsRefusedAndNothingIsMoved() throws IOException {
    Files.write(folder.resolve("installation"), ContentPlaces.marker("another"));
    Refused.with(LedgerError.CONTENTS_FOLDER, () -> move(store));
    areAllThere();
    assertThat(folder.toFile().list()).containsExactly("installation");
  }

  @Test
  void rowsDoNotMoveToADatabaseThatCountsNoWriters() {
    LedgerConfig onRocks = Fixture.config(dir.resolve("rocks"));
    Ledger.create(onRocks).close();
    assertThatThrownBy(() -> ContentsMigration.move(onRocks, store, _ -> {}))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code()).isEqualTo(LedgerError.CONTENTS_NEED_EPOCHS));
    assertThat(folder).isEmptyDirectory();
    Ledger.open(onRocks).close();
  }

  @Test
  void severalServersAreRefusedWhileContentsLieInAHome() {
    Refused.with(
        LedgerError.CONTENTS_NOT_SHARED,
        () -> LedgerPlaces.requireSharedContents(config.dir(), config.origin()));
    assertThat(LedgerPlaces.probeContents(config.dir(), config.origin())).isEmpty();
    move(store);
    LedgerPlaces.requireSharedContents(config.dir(), config.origin());
    assertThat(LedgerPlaces.probeContents(config.dir(), config.origin())).isPresent();
  }
}
