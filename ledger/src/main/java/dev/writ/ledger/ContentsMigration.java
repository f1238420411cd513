package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.content.HomeContents;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.LargeContents.Spooled;
import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Copies the large contents of a ledger to another place, which is read from then on
 * (spec/storage.md, Large contents elsewhere). Those of before are left where they are.
 *
 * <p>The row that names the place is written last but for the file in the ledger's directory that
 * does; a file that says what is under way lets a repeat finish what a crash left between these
 * two.
 */
public final class ContentsMigration {
  private static final byte[] ALL = {};
  private static final String UNDER_WAY = "contents.next";
  private static final String HOME = "home";

  private final LedgerConfig config;
  private final Database database;
  private final Optional<URI> address;
  private final LongConsumer progress;
  private final DurableFiles files;
  private long copied;

  private ContentsMigration(
      LedgerConfig config, Database database, Optional<URI> address, LongConsumer progress) {
    this.config = config;
    this.database = database;
    this.address = address;
    this.progress = progress;
    this.files = config.files();
  }

  /**
   * Moves the contents while no writer is at work.
   *
   * @param address of a store that no other installation uses; empty for the ledger's directory
   * @param progress is told how many contents were copied so far
   * @return how many were copied
   * @throws WritException as {@link Ledger#open}, {@code LED-001} where they are there already,
   *     {@code LED-031} where one is not what its digest says, {@code LED-084} where the database
   *     counts no writers, and what the stores refuse; they are read where they were then
   */
  public static long move(LedgerConfig config, Optional<URI> address, LongConsumer progress) {
    return move(config, Databases.of(config.files(), config.dir()), address, progress);
  }

  /** Whether the directory says that they are at that address, or in itself where it is empty. */
  public static boolean isAt(LedgerConfig config, Optional<URI> address) {
    return ContentPlaces.address(config.dir()).equals(address);
  }

  /** With a database that the directory need not name. */
  static long move(
      LedgerConfig config, Database database, Optional<URI> address, LongConsumer progress) {
    ContentsMigration migration = new ContentsMigration(config, database, address, progress);
    try {
      boolean isFinished = migration.finish();
      if (!isFinished) {
        migration.run();
      }
      return migration.copied;
    } catch (IOException e) {
      throw Failures.of("moving contents", e);
    }
  }

  private LargeContents target() {
    return address.isPresent()
        ? ContentPlaces.at(address.get())
        : new HomeContents(ContentPlaces.home(config.dir()), files, new FailStop());
  }

  private Path underWay() {
    return config.dir().resolve(UNDER_WAY);
  }

  private String addressed() {
    return address.map(URI::toString).orElse(HOME);
  }

  /** Ends a move to the same place that wrote its row; forgets any other that was broken off. */
  private boolean finish() throws IOException {
    if (!Files.exists(underWay())) {
      return false;
    }
    boolean isSame = Files.readString(underWay()).strip().equals(addressed());
    try (Storage store = database.openReader();
        LargeContents target = target()) {
      boolean isWritten =
          ContentPlaces.location(store)
              .equals(Optional.of(target.location()).filter(_ -> target.isShared()));
      if (isSame && isWritten) {
        nameInDirectory();
        return true;
      }
    }
    return false;
  }

  private void run() throws IOException {
    try (Ledger ledger = Ledger.open(config, database);
        LargeContents target = target()) {
      LargeContents now = ledger.blobs.contents();
      if (now.location().equals(target.location())) {
        String otherWay =
            "; another way to there, or a copy of a shared folder, is written into the file "
                + ContentPlaces.CONTENTS
                + " of each home's ledger";
        throw new WritException(
            LedgerError.EXISTS,
            "the contents are in "
                + now.location()
                + (isAt(config, address) ? " already" : otherWay));
      }
      if (target.isShared()) {
        ContentPlaces.requireEpochs(ledger.store);
        target.probe();
        target.claim(ContentPlaces.marker(ledger.origin()));
      }
      copy(ledger, target);
      Optional<SharedAnchor> shared = target.anchor();
      shared.ifPresent(SharedAnchor::read);
      new Anchors(files, config.anchor(), shared)
          .moveShared(
              new Anchor(
                  ledger.origin(),
                  ledger.incarnation(),
                  ledger.treeSize(),
                  ledger.root(),
                  config.clock().instant()),
              other -> other.verify(ledger));
      files.write(underWay(), (addressed() + "\n").getBytes(StandardCharsets.UTF_8));
      nameInRow(ledger, target);
    }
    nameInDirectory();
  }

  private void copy(Ledger ledger, LargeContents target) {
    ledger.store.scan(
        Family.FILES,
        ALL,
        ALL,
        (key, row) -> {
          try {
            copy(ledger, target, Digest.ofBytes(key), row);
          } catch (IOException e) {
            throw Failures.of("copying blob " + Digest.ofBytes(key), e);
          }
          progress.accept(++copied);
          return true;
        });
  }

  private void copy(Ledger ledger, LargeContents target, Digest digest, byte[] row)
      throws IOException {
    Path file = ledger.blobs.fresh();
    try (FileChannel channel = files.createFile(file)) {
      try (InputStream in = ledger.blobs.openLarge(digest, row)) {
        byte[] buffer = new byte[1 << 16];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          files.write(channel, ByteBuffer.wrap(buffer, 0, n), file);
        }
      }
      target.keepAt(new Spooled(digest, Keys.number(row), channel, file), Blobs.place(row));
    } finally {
      Files.deleteIfExists(file);
    }
  }

  private static void nameInRow(Ledger ledger, LargeContents target) {
    try (Write write = ledger.store.newWrite()) {
      if (target.isShared()) {
        write.put(
            Family.DEFAULT,
            MetaRow.CONTENTS.key(),
            target.location().getBytes(StandardCharsets.UTF_8));
      } else {
        write.delete(Family.DEFAULT, MetaRow.CONTENTS.key());
      }
      ledger.store.write(write, ledger.treeSize(), ledger.treeSize());
    }
  }

  private void nameInDirectory() throws IOException {
    if (address.isPresent()) {
      ContentPlaces.write(files, config.dir(), address.get());
    } else {
      ContentPlaces.writeHome(files, config.dir());
    }
    Files.deleteIfExists(underWay());
  }
}
