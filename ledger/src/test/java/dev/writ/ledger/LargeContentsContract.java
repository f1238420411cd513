package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import dev.writ.ledger.rocks.RocksDatabase;
import dev.writ.ledger.storage.ContentPlace;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.LargeContents.Spooled;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What every store of large contents does, and what ledgers that share one do with it. */
abstract class LargeContentsContract {
  private static final int LARGE = Batch.BLOB_BYTES_MAX + 1;
  private static final SigningKey OTHER_KEY = Fixture.key(7);

  /** Of whose contents they are. */
  private static final byte[] MARK = {1};

  @TempDir Path dir;
  final CountedDatabase database = new CountedDatabase();
  URI address;

  /** The address of a store in which nothing is. */
  abstract URI newAddress() throws IOException;

  /** Changes a byte of what is stored, where that can be done behind the store's back. */
  abstract void damage(URI store, Digest digest, byte[] place) throws IOException;

  @BeforeEach
  void place() throws IOException {
    address = newAddress();
  }

  // The store

  static byte[] bytes(int size, long seed) {
    byte[] bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private Spooled spooled(byte[] content) throws IOException {
    Path file = Files.write(Files.createTempFile(dir, "spooled", ""), content);
    FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
    return new Spooled(Digest.sha256(content), content.length, channel, file);
  }

  private static Optional<byte[]> read(LargeContents store, byte[] content, byte[] place)
      throws IOException {
    Optional<InputStream> in = store.open(Digest.sha256(content), place, content.length);
    if (in.isEmpty()) {
      return Optional.empty();
    }
    try (InputStream open = in.get()) {
      return Optional.of(open.readAllBytes());
    }
  }

  @Test
  void whatIsKeptComesBackFromItsPlaceUntilItIsRemoved() throws IOException {
    byte[] content = bytes(LARGE, 1);
    Digest digest = Digest.sha256(content);
    try (LargeContents store = ContentPlaces.at(address)) {
      store.probe();
      store.claim(MARK);
      Spooled spooled = spooled(content);
      byte[] first = store.keep(spooled, 3);
      assertThat(spooled.file()).doesNotExist();
      byte[] second = store.keep(spooled(content), 3);
      assertThat(second).as("a place is not used twice").isNotEqualTo(first);
      assertThat(ContentPlace.epoch(first)).isEqualTo(3);
      assertThat(read(store, content, first)).contains(content);
      assertThat(store.has(digest, first, LARGE)).isTrue();
      assertThat(store.has(digest, first, LARGE - 1)).isFalse();
      List<String> visited = new ArrayList<>();
      store.visit((d, place, epoch) -> visited.add(d + " " + ContentPlace.text(place)));
      assertThat(visited)
          .containsExactlyInAnyOrder(
              digest + " " + ContentPlace.text(first), digest + " " + ContentPlace.text(second));
      store.remove(digest, first, () -> false);
      assertThat(store.has(digest, first, LARGE)).as("it is in use").isTrue();
      store.remove(digest, first, () -> true);
      store.remove(digest, first, () -> true);
      assertThat(read(store, content, first)).isEmpty();
      assertThat(store.has(digest, first, LARGE)).isFalse();
      assertThat(read(store, content, second)).contains(content);
    }
  }

  @Test
  void aContentMovedThereIsAtThePlaceThatItsRowNames() throws IOException {
    byte[] content = bytes(LARGE, 2);
    try (LargeContents store = ContentPlaces.at(address)) {
      store.claim(MARK);
      store.keepAt(spooled(content), LargeContents.NO_PLACE);
      store.keepAt(spooled(content), LargeContents.NO_PLACE); // a move that is repeated
      assertThat(read(store, content, LargeContents.NO_PLACE)).contains(content);
      List<Long> epochs = new ArrayList<>();
      store.visit((digest, place, epoch) -> epochs.add(epoch));
      assertThat(epochs).containsExactly(0L);
    }
  }

  @Test
  void ofManyThatKeepTheSameContentAtOnceEachHasIt() throws Exception {
    byte[] content = bytes(LARGE, 3);
    try (LargeContents store = ContentPlaces.at(address);
        ExecutorService threads = Executors.newFixedThreadPool(8)) {
      store.claim(MARK);
      List<Future<byte[]>> kept = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Spooled spooled = spooled(content);
        kept.add(threads.submit(() -> store.keep(spooled, 1)));
      }
      for (Future<byte[]> each : kept) {
        assertThat(read(store, content, each.get())).contains(content);
      }
    }
  }

  @Test
  void oneInstallationHasItAndAnotherIsRefused() {
    byte[] ours = ContentPlaces.marker("ours");
    try (LargeContents store = ContentPlaces.at(address)) {
      assertThatThrownBy(() -> store.requireClaimed(ours)).isInstanceOf(WritException.class);
      assertThat(store.claim(ours)).isTrue();
      assertThat(store.claim(ours)).as("again").isFalse();
      store.requireClaimed(ours);
      byte[] theirs = ContentPlaces.marker("theirs");
      assertThatThrownBy(() -> store.claim(theirs)).isInstanceOf(WritException.class);
      assertThatThrownBy(() -> store.requireClaimed(theirs)).isInstanceOf(WritException.class);
      store.unclaim();
      assertThat(store.claim(theirs)).isTrue();
    }
  }

  // Ledgers over it

  LedgerConfig config(String home) {
    return Fixture.config(dir.resolve(home));
  }

  Ledger create(String home) {
    return Ledger.create(config(home), database, address);
  }

  /** Another gateway's home, made from nothing but the addresses; then it takes the log over. */
  Ledger takeOver(String home) throws IOException {
    LedgerConfig config = config(home);
    if (!Files.exists(config.dir())) {
      Files.createDirectories(config.dir().getParent());
      config.files().createDirectory(config.dir());
      Blobs.create(config.files(), ContentPlaces.home(config.dir()));
      ContentPlaces.write(config.files(), config.dir(), address);
      Format.write(config.files(), config.dir());
      try (LedgerView view = Ledger.openReadOnly(config.dir(), database)) {
        new Anchor(view.origin(), view.incarnation(), view.treeSize(), view.root(), Fixture.AT)
            .write(config.files(), config.anchor());
      }
    }
    return Ledger.open(config, database);
  }

  static Digest put(Ledger ledger, byte[] content) throws IOException {
    try (BlobSink sink = ledger.newBlob()) {
      sink.write(content);
      BlobRef ref = sink.finish();
      ledger.append(new Batch().blob(ref)).await();
      return ref.digest();
    }
  }

  private byte[] placeOf(Ledger ledger, Digest digest) {
    return ledger.blobs.at(digest).orElseThrow().place();
  }

  private List<String> stored() throws IOException {
    List<String> stored = new ArrayList<>();
    try (LargeContents store = ContentPlaces.at(address)) {
      store.visit(
          (digest, place, epoch) -> stored.add(digest.hex() + " " + ContentPlace.text(place)));
    }
    return stored;
  }

  @Test
  void whatOneGatewayStoresTheOthersRead() throws IOException {
    byte[] first = bytes(LARGE, 10);
    byte[] second = bytes(3 * LARGE, 11);
    try (Ledger one = create("one")) {
      Digest digest = put(one, first);
      assertThat(put(one, first)).as("again").isEqualTo(digest);
      assertThat(stored()).as("stored once").hasSize(1);
      assertThat(config("one").dir().resolve("blobs/new")).isEmptyDirectory();
    }
    try (Ledger two = takeOver("two")) {
      assertThat(two.blob(Digest.sha256(first), LARGE)).isEqualTo(first);
      put(two, second);
      try (LedgerView one = Ledger.openReadOnly(config("one").dir(), database);
          InputStream in = one.openBlob(Digest.sha256(second))) {
        assertThat(in.readAllBytes()).isEqualTo(second);
      }
    }
    assertThat(config("one").dir().resolve("blobs").toFile().list()).containsExactly("new");
  }

  @Test
  void aFormerOwnerThatRemovesLateRemovesNothingOfItsSuccessor() throws IOException {
    byte[] content = bytes(LARGE, 12);
    Ledger one = create("one");
    Digest digest = put(one, content);
    Blobs.At late = one.blobs.at(digest).orElseThrow();
    assertThat(one.delete(List.of(digest), one.treeSize(), Instant.MAX, deletion(one))).isEmpty();
    assertThat(stored()).isEmpty();
    try (Ledger two = takeOver("two")) {
      put(two, content);
      one.blobs.contents().remove(digest, late.place(), () -> true);
      assertThat(two.blob(digest, LARGE)).isEqualTo(content);
    }
    closeFenced(one);
  }

  /** It may find at its end that others have gone on. */
  static void closeFenced(Ledger ledger) {
    try {
      ledger.close();
    } catch (WritException e) {
      assertThat(e.code()).isEqualTo(LedgerError.ANCHOR_MOVED);
    }
  }

  private static Ledger.Deletion deletion(Ledger ledger) {
    return new Ledger.Deletion(
        new Batch().event(Fixture.first("deletions")).document(Fixture.document("deletions")),
        enqueue -> enqueue.get());
  }

  @Test
  void whatEarlierOwnersLeftWithoutARowIsSweptAndNothingElse() throws IOException {
    byte[] named = bytes(LARGE, 13);
    byte[] crashed = bytes(LARGE, 14);
    byte[] unfinished = bytes(LARGE, 15);
    try (Ledger one = create("one")) {
      put(one, named);
      try (BlobSink sink = one.newBlob()) {
        sink.write(crashed);
        sink.finish();
      }
      assertThat(one.collect(Instant.MAX, 10, List.of())).isEqualTo(Ledger.Collected.NOTHING);
      assertThat(stored()).as("its own are left").hasSize(2);
    }
    try (Ledger two = takeOver("two")) {
      BlobRef ref;
      try (BlobSink sink = two.newBlob()) {
        sink.write(unfinished);
        ref = sink.finish();
      }
      two.collect(Instant.MAX, 10, List.of());
      two.append(new Batch().blob(ref)).await();
      assertThat(stored()).hasSize(2).noneMatch(n -> n.contains(Digest.sha256(crashed).hex()));
      assertThat(two.blob(ref.digest(), LARGE)).isEqualTo(unfinished);
      assertThat(two.blob(Digest.sha256(named), LARGE)).isEqualTo(named);
    }
  }

  @Test
  void changedAndLostContentsAreToldAndNeverServed() throws IOException {
    byte[] content = bytes(LARGE, 16);
    try (Ledger one = create("one")) {
      Digest digest = put(one, content);
      damage(address, digest, placeOf(one, digest));
      Refused.with(LedgerError.BLOB_CORRUPT, () -> one.blob(digest, LARGE));
      assertThat(fsck("one").problems()).singleElement().asString().contains("calculated digest");
      one.blobs.contents().remove(digest, placeOf(one, digest), () -> true);
      Refused.with(LedgerError.BLOB_CORRUPT, () -> one.blob(digest, LARGE));
      assertThat(fsck("one").problems()).singleElement().asString().contains("missing");
      put(one, content);
      assertThat(one.blob(digest, LARGE)).as("stored again").isEqualTo(content);
      assertThat(fsck("one").problems()).isEmpty();
    }
  }

  FsckReport fsck(String home) {
    LedgerConfig config = config(home);
    return Fsck.check(Fsck.Options.of(config.dir()).withAnchor(config.anchor()), database);
  }

  @Test
  void twoInstallationsAreNotLetOntoOneStore() {
    create("one").close();
    LedgerConfig other =
        new LedgerConfig(
            dir.resolve("two/data"),
            dir.resolve("two/anchor.json"),
            "another.example/log",
            OTHER_KEY,
            config("two").clock());
    assertThatThrownBy(() -> Ledger.create(other, new CountedDatabase(), address))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("nother installation");
    assertThat(other.dir()).doesNotExist();
    try (Ledger one = Ledger.open(config("one"), database)) {
      assertThat(one.treeSize()).isZero();
    }
  }

  @Test
  void aHomeThatNamesAnotherPlaceThanTheLogIsRefused() throws IOException {
    create("one").close();
    LedgerConfig config = config("one");
    ContentPlaces.writeHome(config.files(), config.dir());
    Refused.with(LedgerError.CONTENTS_OTHER, () -> Ledger.open(config, database));
    Refused.with(LedgerError.CONTENTS_OTHER, () -> Ledger.openReadOnly(config.dir(), database));
    ContentPlaces.write(config.files(), config.dir(), newAddress());
    assertThatThrownBy(() -> Ledger.open(config, database)).isInstanceOf(WritException.class);
    ContentPlaces.write(config.files(), config.dir(), URI.create("ftp://store"));
    Refused.with(LedgerError.CONTENTS_UNKNOWN, () -> Ledger.open(config, database));
  }

  @Test
  void aDatabaseThatCountsNoWritersIsRefusedAndNothingIsLeft() throws IOException {
    LedgerConfig config = config("one");
    Refused.with(
        LedgerError.CONTENTS_NEED_EPOCHS,
        () ->
            Ledger.create(
                config, new RocksDatabase(config.files(), config.dir().resolve("db")), address));
    assertThat(config.dir()).doesNotExist();
    try (LargeContents store = ContentPlaces.at(address)) {
      assertThat(store.claim(ContentPlaces.marker("another"))).as("it is free again").isTrue();
    }
  }
}
