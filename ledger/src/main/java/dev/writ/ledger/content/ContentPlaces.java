package dev.writ.ledger.content;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.LargeContentsProvider;
import dev.writ.ledger.storage.Storage;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Where the large contents of a ledger are: in its directory, unless the file {@code contents}
 * there has the address of a store elsewhere (spec/storage.md, "Large contents elsewhere").
 */
public final class ContentPlaces {
  public static final String CONTENTS = "contents";

  private static final String FILE = CONTENTS;
  private static final int ADDRESS_BYTES_MAX = 4096;

  private ContentPlaces() {}

  /** The file of a ledger's directory that has the address. */
  public static Path file(Path dir) {
    return dir.resolve(FILE);
  }

  /** The folder of contents in a ledger's directory. */
  public static Path home(Path dir) {
    return dir.resolve("blobs");
  }

  /**
   * @throws WritException {@code LED-006} for a file that holds no address, and as {@link #at}
   */
  public static LargeContents of(DurableFiles files, FailStop failStop, Path dir) {
    Optional<URI> address = address(dir);
    return address.isPresent() ? at(address.get()) : new HomeContents(home(dir), files, failStop);
  }

  /**
   * The store at an address.
   *
   * @throws WritException {@code LED-081} where nobody knows its kind, and what its provider
   *     refuses
   */
  public static LargeContents at(URI address) {
    if (FolderContents.SCHEME.equals(address.getScheme())) {
      return FolderContents.at(address);
    }
    for (LargeContentsProvider provider : ServiceLoader.load(LargeContentsProvider.class)) {
      if (provider.scheme().equals(address.getScheme())) {
        return provider.at(address);
      }
    }
    throw new WritException(
        LedgerError.CONTENTS_UNKNOWN,
        address.getScheme() == null ? "the address names none" : address.getScheme());
  }

  /** Says in the directory of a ledger where its large contents are. */
  public static void write(DurableFiles files, Path dir, URI address) throws IOException {
    files.write(file(dir), (address + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Says that they are in the directory itself. */
  public static void writeHome(DurableFiles files, Path dir) throws IOException {
    Files.deleteIfExists(file(dir));
    files.syncDirectory(dir);
  }

  /**
   * The address in the directory, if it has one.
   *
   * @throws WritException {@code LED-006}
   */
  public static Optional<URI> address(Path dir) {
    Path file = file(dir);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      if (Files.size(file) > ADDRESS_BYTES_MAX) {
        throw new WritException(LedgerError.CORRUPT, file + " is too long");
      }
      return Optional.of(new URI(Files.readString(file).strip()));
    } catch (URISyntaxException e) {
      throw new WritException(LedgerError.CORRUPT, file + " holds no address", e);
    } catch (IOException e) {
      throw Failures.of("reading " + file, e);
    }
  }

  /** What marks a store as that of one installation. */
  public static byte[] marker(String origin) {
    return Jcs.write(JsonValue.object().put("origin", origin).put("writ_contents", 1).build());
  }

  /**
   * @param location as the log's row says it
   * @throws WritException {@code LED-083} where the log's contents are elsewhere than the directory
   *     says
   */
  public static void requireSame(Optional<String> location, LargeContents contents) {
    String named = contents.isShared() ? contents.location() : "";
    String stored = location.orElse("");
    if (!named.equals(stored)) {
      throw new WritException(
          LedgerError.CONTENTS_OTHER,
          "the log's are in " + words(stored) + ", this home's in " + words(named));
    }
  }

  private static String words(String location) {
    return location.isEmpty() ? "a home" : location;
  }

  /** Where the log says that they are; empty for a home. */
  public static Optional<String> location(Storage store) {
    return store
        .get(Family.DEFAULT, MetaRow.CONTENTS.key())
        .map(row -> new String(row, StandardCharsets.UTF_8));
  }

  /**
   * A writer's number makes places that no other writer makes.
   *
   * @throws WritException {@code LED-084} where the database does not count its writers
   */
  public static void requireEpochs(Storage store) {
    if (store.epoch().isEmpty()) {
      throw new WritException(LedgerError.CONTENTS_NEED_EPOCHS, "");
    }
  }
}
