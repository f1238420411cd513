package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.embed.error.EmbedError;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerMaker;
import dev.writ.ledger.LedgerPlaces;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Makes the home of a further gateway of an installation whose ledger is in a database: with the
 * keys, the policy, the tools and the secrets of the first one, and an anchor of its own.
 */
public final class HomeJoiner {
  /** What is taken over whole, beside {@link #files}. */
  static final List<String> FOLDERS = List.of("keys", "tools", "secrets");

  private HomeJoiner() {}

  static List<Path> files(Home first) {
    return List.of(
        first.settings(),
        first.policyFile(),
        first.trustFile(),
        first.gatewaysSecret(),
        first.dir().resolve(HomeArchive.FILE));
  }

  /**
   * @param first the home of another gateway, a copy of it, or what {@link JoinFile#unpack} made
   * @param home to be made
   * @param database the address of the database, where it is not the first one's
   * @param contents the address of the store of large contents, where it is not the first one's
   * @throws WritException {@code CLI-010} where there is no first one, {@code CLI-011} where
   *     something exists in the other's place, {@code LED-082} where large contents are in one
   *     home, and what the database and the store refuse
   */
  public static void join(
      Home first, Home home, Optional<URI> database, Optional<URI> contents, InstantSource clock) {
    Umask.ownersAlone();
    first.requireExisting();
    GatewaysSecret.read(first);
    int cells = first.cells();
    HomeMaker.requireFree(home, cells);
    Path parts = home.dir().resolveSibling(home.dir().getFileName() + ".partial");
    HalfMade making;
    try {
      making = HalfMade.at(parts);
    } catch (FileAlreadyExistsException e) { // perhaps it is at work: nothing of it is removed
      throw new WritException(EmbedError.HOME_EXISTS, parts + ", left by another start", e);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, parts + ": " + e.getMessage(), e);
    }
    HomeMaker.requireStillFree(home, cells, parts, making);
    boolean whole = false;
    Home made = home.at(parts);
    try {
      HomeMaker.removeAnchors(home, cells);
      HomeMaker.removeAnchors(made, cells);
      for (String folder : FOLDERS) {
        copy(first.dir().resolve(folder), parts.resolve(folder));
      }
      for (Path file : files(first)) {
        copy(file, parts.resolve(file.getFileName()));
      }
      if (cells > 1) {
        DurableFiles.REAL.createDirectory(parts.resolve("cells"));
      }
      for (int cell = 0; cell < cells; cell++) {
        int number = cell;
        Home of = made.inCell(cell);
        Path same = first.inCell(cell).ledger();
        LedgerMaker.join(
            new LedgerConfig(of.ledger(), of.anchor(), of.origin(), made.key("log"), clock),
            database
                .map(address -> CellAddress.database(address, number))
                .orElseGet(() -> LedgerPlaces.database(same)),
            contents
                .map(store -> CellAddress.contents(store, number, cells))
                .or(() -> LedgerPlaces.contents(same)));
      }
      making.requireWhole();
      HomeMaker.name(made, home, cells);
      whole = true;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, parts + ": " + e.getMessage(), e);
    } finally {
      try (making) {
        if (!whole) {
          HomeMaker.removeAnchors(home, cells);
          HomeMaker.removeAnchors(made, cells);
          HomeMaker.remove(parts);
        }
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    if (!Files.exists(from)) {
      return;
    }
    try (Stream<Path> all = Files.walk(from)) {
      for (Path each : all.sorted().toList()) {
        Path target = to.resolve(from.relativize(each).toString());
        if (Files.isDirectory(each)) {
          DurableFiles.REAL.createDirectory(target);
        } else if (Files.isRegularFile(each)) {
          DurableFiles.REAL.write(target, Files.readAllBytes(each));
          Files.setPosixFilePermissions(target, Files.getPosixFilePermissions(each));
        }
      }
    }
  }
}
