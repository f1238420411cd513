package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.storage.ContentPlace;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContentsInAFolderTest extends LargeContentsContract {
  private int made;

  @Override
  URI newAddress() throws IOException {
    return URI.create("file://" + Files.createDirectory(dir.resolve("store" + made++)));
  }

  @Override
  void damage(URI store, Digest digest, byte[] place) throws IOException {
    Path file =
        Path.of(store.getPath(), digest.hex().substring(0, 2))
            .resolve(digest.hex() + "." + ContentPlace.text(place));
    byte[] bytes = Files.readAllBytes(file);
    bytes[100] ^= 1;
    Files.write(file, bytes);
  }

  @Test
  void aFolderThatIsNotMountedIsRefused() throws IOException {
    URI store = newAddress();
    CountedDatabase database = new CountedDatabase();
    Ledger.create(Fixture.config(dir.resolve("home")), database, store).close();
    Path folder = Path.of(store.getPath());
    Files.move(folder, dir.resolve("unmounted"));
    Files.createDirectory(folder);
    Refused.with(
        LedgerError.CONTENTS_FOLDER,
        () -> Ledger.open(Fixture.config(dir.resolve("home")), database));
    assertThat(folder).isEmptyDirectory();
  }

  /** What was written there would be hidden by the next mount; what is missing is not damaged. */
  @Test
  void oneThatIsUnmountedWhileALedgerIsOpenTakesAndTellsNothing() throws IOException {
    URI store = newAddress();
    Path folder = Path.of(store.getPath());
    try (Ledger ledger =
        Ledger.create(Fixture.config(dir.resolve("home")), new CountedDatabase(), store)) {
      Digest kept = put(ledger, bytes(1 << 20, 1));
      Files.move(folder, dir.resolve("unmounted"));
      Files.createDirectory(folder);
      Refused.with(LedgerError.CONTENTS_FOLDER, () -> put(ledger, bytes(1 << 20, 2)));
      Refused.with(LedgerError.CONTENTS_FOLDER, () -> ledger.blob(kept, 1 << 20));
      assertThat(folder).isEmptyDirectory();
      Files.delete(folder);
      Files.move(dir.resolve("unmounted"), folder);
      put(ledger, bytes(1 << 20, 2));
      assertThat(ledger.blob(kept, 1 << 20)).isEqualTo(bytes(1 << 20, 1));
    }
  }

  /** What is not looked at is not damaged: `fsck` says that it could not look. */
  @Test
  void fsckOfAFolderThatIsNotMountedIsNoVerdict() throws IOException {
    URI store = newAddress();
    CountedDatabase database = new CountedDatabase();
    LedgerConfig config = Fixture.config(dir.resolve("home"));
    try (Ledger ledger = Ledger.create(config, database, store)) {
      put(ledger, bytes(1 << 20, 1));
    }
    Fsck.Options options = Fsck.Options.of(config.dir());
    assertThat(Fsck.check(options, database).isSound()).isTrue();
    Path folder = Path.of(store.getPath());
    Files.move(folder, dir.resolve("unmounted"));
    Files.createDirectory(folder);
    Refused.with(LedgerError.CONTENTS_FOLDER, () -> Fsck.check(options, database));
    Files.delete(folder);
    Files.move(dir.resolve("unmounted"), folder);
    assertThat(Fsck.check(options, database).isSound()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"file:relative", "file://host/folder", "file:///a?b=c", "file:///nowhere/at/all"})
  void whatIsNoFolderIsRefused(String address) {
    Refused.with(
        LedgerError.CONTENTS_FOLDER,
        () ->
            Ledger.create(
                Fixture.config(dir.resolve("home")), new CountedDatabase(), URI.create(address)));
    assertThat(dir.resolve("home/data")).doesNotExist();
  }
}
