package dev.writ.ledger.rocks;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.DatabaseProvider;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;

/**
 * Where a ledger's database is: RocksDB in its directory, unless the file {@code database} there
 * has the address of another (spec/storage.md, "The database below").
 */
public final class Databases {
  /** RocksDB in the ledger's directory. */
  public static final URI ROCKSDB = URI.create("rocksdb:db");

  public static final String DIRECTORY = "db";
  private static final String FILE = "database";
  private static final int ADDRESS_BYTES_MAX = 4096;

  private Databases() {}

  /** The file of a ledger's directory that has the address. */
  public static Path file(Path dir) {
    return dir.resolve(FILE);
  }

  /**
   * @throws WritException {@code LED-006} for a file that holds no address, {@code LED-075} where
   *     nobody knows its kind, and what its provider refuses
   */
  public static Database of(DurableFiles files, Path dir) {
    return at(files, dir, address(dir));
  }

  /**
   * @param dir of the ledger
   * @throws WritException {@code LED-075}, and what the provider refuses
   */
  public static Database at(DurableFiles files, Path dir, URI address) {
    if (address.equals(ROCKSDB)) {
      return new RocksDatabase(files, dir.resolve(DIRECTORY));
    }
    for (DatabaseProvider provider : ServiceLoader.load(DatabaseProvider.class)) {
      if (provider.scheme().equals(address.getScheme())) {
        return provider.at(address);
      }
    }
    throw new WritException(
        LedgerError.DATABASE_UNKNOWN, address.getScheme() == null ? "none" : address.getScheme());
  }

  /** Removes what was made in a database for a ledger that could not be made. */
  public static void undoCreation(Database database, Exception why) {
    try {
      database.undoCreation();
    } catch (WritException e) {
      why.addSuppressed(e);
    }
  }

  /** Says in the directory of a ledger where its database is. */
  public static void write(DurableFiles files, Path dir, URI address) throws IOException {
    files.write(file(dir), (address + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Where the database of the ledger in this directory is.
   *
   * @throws WritException {@code LED-006}
   */
  public static URI address(Path dir) {
    Path file = file(dir);
    if (!Files.exists(file)) {
      return ROCKSDB;
    }
    try {
      if (Files.size(file) > ADDRESS_BYTES_MAX) {
        throw new WritException(LedgerError.CORRUPT, file + " is too long");
      }
      return new URI(Files.readString(file).strip());
    } catch (URISyntaxException e) {
      throw new WritException(LedgerError.CORRUPT, file + " holds no address", e);
    } catch (IOException e) {
      throw Failures.of("reading " + file, e);
    }
  }
}
