package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
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
final class Databases {
  private static final String FILE = "database";
  private static final int ADDRESS_BYTES_MAX = 4096;

  private Databases() {}

  /**
   * @throws WritException {@code LED-006} for a file that holds no address, {@code LED-075} where
   *     nobody knows its kind, and what its provider refuses
   */
  static Database of(DurableFiles files, Path dir) {
    Path file = dir.resolve(FILE);
    return Files.exists(file) ? at(read(file)) : new RocksDatabase(files, dir.resolve("db"));
  }

  /** Says in the directory of a ledger where its database is. */
  static void write(DurableFiles files, Path dir, URI address) throws IOException {
    files.write(dir.resolve(FILE), (address + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /**
   * @throws WritException {@code LED-075}, and what the provider refuses
   */
  static Database at(URI address) {
    for (DatabaseProvider provider : ServiceLoader.load(DatabaseProvider.class)) {
      if (provider.scheme().equals(address.getScheme())) {
        return provider.at(address);
      }
    }
    throw new WritException(
        LedgerError.DATABASE_UNKNOWN, address.getScheme() == null ? "none" : address.getScheme());
  }

  private static URI read(Path file) {
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
