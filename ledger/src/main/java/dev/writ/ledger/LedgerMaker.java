package dev.writ.ledger;

import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Names;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Makes the directory of a ledger, its anchor, and what it has in a database or a store elsewhere.
 * Where it fails, nothing of that is left behind.
 */
public final class LedgerMaker {
  private LedgerMaker() {}

  /**
   * Makes the directory and the anchor of a further server for a ledger that is in a database
   * already; nothing is changed there.
   *
   * @param contents the address of the store of large contents, which all its servers share
   * @throws WritException as {@link Ledger#create(LedgerConfig)}, {@code LED-009} where the
   *     database has another log, {@code LED-082} where its large contents are in one home, {@code
   *     LED-083} where they are in another store, and what the providers refuse
   */
  public static void join(LedgerConfig config, URI address, Optional<URI> contents) {
    if (contents.isEmpty()) {
      throw new WritException(LedgerError.CONTENTS_NOT_SHARED, "the other home names no store");
    }
    Path dir = config.dir();
    Database database = Databases.at(config.files(), dir, address);
    if (Files.exists(config.anchor())) {
      throw new WritException(LedgerError.EXISTS, "the anchor " + config.anchor());
    }
    boolean empty = isEmptyDirectory(dir);
    try {
      if (empty) {
        DurableFiles.restrict(dir);
      } else {
        config.files().createDirectory(dir);
      }
      Blobs.create(config.files(), ContentPlaces.home(dir));
      Databases.write(config.files(), dir, address);
      ContentPlaces.write(config.files(), dir, contents.get());
      Format.write(config.files(), dir);
      try (LargeContents store = ContentPlaces.at(contents.get())) {
        LedgerPlaces.requireShared(store, config.origin());
      }
      try (LedgerView view = Ledger.openReadOnly(dir, database)) {
        if (!view.origin().equals(config.origin())) {
          throw new WritException(
              LedgerError.ORIGIN, "it is " + view.origin() + ", not " + config.origin());
        }
        anchorOf(view, config).write(config.files(), config.anchor());
      }
    } catch (IOException e) {
      removeLayout(dir, empty);
      throw Failures.of("making " + dir, e);
    } catch (WritException e) {
      removeLayout(dir, empty);
      throw e;
    }
  }

  static void make(
      LedgerConfig config, Database database, Optional<URI> address, Optional<URI> contents) {
    Path dir = config.dir();
    if (Files.exists(config.anchor())) {
      throw new WritException(LedgerError.EXISTS, "the anchor " + config.anchor());
    }
    boolean empty = isEmptyDirectory(dir);
    try {
      if (empty) {
        DurableFiles.restrict(dir);
      } else {
        config.files().createDirectory(dir);
      }
      layOut(config, database, address, contents);
    } catch (IOException e) {
      removeLayout(dir, empty);
      throw Failures.of("making " + dir, e);
    } catch (WritException e) {
      removeLayout(dir, empty);
      throw e;
    }
  }

  /** Whether the directory is empty or missing; refuses anything else. */
  @Nondeterministic("only whether there is anything counts")
  private static boolean isEmptyDirectory(Path dir) {
    if (!Files.exists(dir)) {
      return false;
    }
    if (!Files.isDirectory(dir)) {
      throw new WritException(LedgerError.EXISTS, dir + " is not a directory");
    }
    try (DirectoryStream<Path> children = Files.newDirectoryStream(dir)) {
      if (children.iterator().hasNext()) {
        throw new WritException(LedgerError.EXISTS, dir + " is not empty");
      }
      return true;
    } catch (IOException e) {
      throw Failures.of("looking into " + dir, e);
    }
  }

  private static void layOut(
      LedgerConfig config, Database database, Optional<URI> address, Optional<URI> contents)
      throws IOException {
    Path dir = config.dir();
    Blobs.create(config.files(), ContentPlaces.home(dir));
    if (address.isPresent()) {
      Databases.write(config.files(), dir, address.get());
    }
    if (contents.isEmpty()) {
      layOut(config, database, Optional.empty());
      return;
    }
    ContentPlaces.write(config.files(), dir, contents.get());
    try (LargeContents store = ContentPlaces.at(contents.get())) {
      store.probe();
      if (!store.claim(ContentPlaces.marker(config.origin()))) {
        throw new WritException(LedgerError.EXISTS, "contents in " + store.location());
      }
      try {
        layOut(config, database, Optional.of(store));
      } catch (IOException | RuntimeException e) {
        undo(store, e);
        throw e;
      }
    }
  }

  private static void undo(LargeContents store, Exception why) {
    try {
      store.unclaim();
    } catch (WritException e) {
      why.addSuppressed(e);
    }
  }

  private static void layOut(
      LedgerConfig config, Database database, Optional<LargeContents> contents) throws IOException {
    Path dir = config.dir();
    Storage store = database.create();
    try {
      begin(store, config, contents);
      if (config.anchor().getParent() != null) {
        config.files().createDirectories(config.anchor().getParent());
      }
      Format.write(config.files(), dir);
      try (LedgerView view = Ledger.openReadOnly(dir, database)) {
        Anchor anchor = anchorOf(view, config);
        anchor.write(config.files(), config.anchor());
        Optional<SharedAnchor> shared = contents.flatMap(LargeContents::anchor);
        shared.ifPresent(SharedAnchor::read);
        new Anchors(config.files(), config.anchor(), shared)
            .moveShared(anchor, other -> other.verify(view));
      }
    } catch (IOException | RuntimeException e) {
      Databases.undoCreation(database, e);
      throw e;
    }
  }

  private static void begin(Storage store, LedgerConfig config, Optional<LargeContents> contents) {
    try (store;
        Write rows = store.newWrite()) {
      if (contents.isPresent()) {
        ContentPlaces.requireEpochs(store);
        rows.put(
            Family.DEFAULT,
            MetaRow.CONTENTS.key(),
            contents.get().location().getBytes(StandardCharsets.UTF_8));
      }
      rows.put(Family.DEFAULT, MetaRow.ORIGIN.key(), Names.utf8("origin", config.origin()));
      rows.put(Family.DEFAULT, MetaRow.INCARNATION.key(), Keys.number(1));
      rows.put(Family.DEFAULT, MetaRow.HIGH_WATER.key(), Keys.number(0));
      rows.put(Family.DEFAULT, MetaRow.ONE_NODE_FROM.key(), Keys.number(0));
      store.write(rows, 0, 0);
    }
  }

  @Nondeterministic("everything is removed, in whatever order")
  private static void removeLayout(Path dir, boolean keepDirectory) {
    try (DirectoryStream<Path> children = Files.newDirectoryStream(dir)) {
      for (Path child : children) {
        DurableFiles.deleteTree(child);
      }
      if (!keepDirectory) {
        Files.delete(dir);
      }
    } catch (NoSuchFileException e) {
      // It was not even made.
    } catch (IOException e) {
      throw Failures.of("removing what was half made in " + dir, e);
    }
  }

  private static Anchor anchorOf(LedgerView view, LedgerConfig config) {
    return new Anchor(
        view.origin(), view.incarnation(), view.treeSize(), view.root(), config.clock().instant());
  }
}
