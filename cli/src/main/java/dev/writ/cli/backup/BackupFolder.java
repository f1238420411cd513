package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.BackupError;
import dev.writ.embed.error.EmbedError;
import dev.writ.ledger.note.NoteKey;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder with the backups of one installation (spec/backup.md, "The folder"), for reading.
 * {@link BackupWriter} writes into it.
 */
final class BackupFolder {
  static final String SETTINGS = "writ-backup.json";
  private static final int FORMAT = 1;
  private static final Pattern NOTE = Pattern.compile("([0-9]{6,9})\\.note");

  private final Path dir;
  private final String origin;
  private final AgeRecipients recipients;

  private BackupFolder(Path dir, String origin, AgeRecipients recipients) {
    this.dir = dir;
    this.origin = origin;
    this.recipients = recipients;
  }

  /**
   * @throws WritException {@code BAK-001} where there are no backups, {@code BAK-017} where they
   *     have a later format
   */
  static BackupFolder existing(Path dir) {
    return find(dir).orElseThrow(() -> new WritException(BackupError.NONE, "in " + dir));
  }

  /** The same, if it is one. */
  static Optional<BackupFolder> find(Path dir) {
    Path file = dir.resolve(SETTINGS);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      Fields fields = Fields.of(SETTINGS, Jcs.parse(Files.readAllBytes(file)));
      long format = fields.count("format");
      if (format != FORMAT) {
        throw new WritException(BackupError.FORMAT, SETTINGS + " has format " + format);
      }
      BackupFolder folder =
          new BackupFolder(
              dir,
              fields.name("origin"),
              new AgeRecipients(fields.list("recipients", Fields::stringItem)));
      fields.end();
      return Optional.of(folder);
    } catch (IOException e) {
      throw unreadable(file, e);
    } catch (WritException e) {
      if (e.code() == BackupError.FORMAT) {
        throw e;
      }
      throw new WritException(BackupError.DAMAGED, SETTINGS + ": " + e.getMessage(), e);
    }
  }

  /**
   * Makes one.
   *
   * @throws WritException {@code BAK-002} where something else is in its place
   */
  static BackupFolder make(DurableFiles files, Path dir, String origin, AgeRecipients recipients)
      throws IOException {
    if (Files.exists(dir)) {
      try (Stream<Path> children = Files.list(dir)) {
        // What a first backup left that ended early.
        List<String> own = List.of("objects", "backups", "new", BackupWriter.LOCK);
        if (!children.allMatch(child -> own.contains(child.getFileName().toString()))) {
          throw new WritException(BackupError.FOREIGN, dir + " is not empty");
        }
      }
    }
    for (String part : List.of("objects", "backups", "new")) {
      files.createDirectories(dir.resolve(part));
    }
    files.write(
        dir.resolve(SETTINGS),
        Jcs.write(
            JsonValue.object()
                .put("format", FORMAT)
                .put("origin", origin)
                .putList("recipients", recipients.names(), JsonValue::of)
                .build()));
    return new BackupFolder(dir, origin, recipients);
  }

  Path dir() {
    return dir;
  }

  String origin() {
    return origin;
  }

  AgeRecipients recipients() {
    return recipients;
  }

  boolean isEncrypted() {
    return !recipients.isEmpty();
  }

  /** The numbers of its backups. */
  TreeSet<Integer> numbers() {
    TreeSet<Integer> numbers = new TreeSet<>();
    try (Stream<Path> files = Files.list(dir.resolve("backups"))) {
      files.forEach(file -> {
        Matcher name = NOTE.matcher(file.getFileName().toString());
        if (name.matches()) {
          numbers.add(Integer.parseInt(name.group(1)));
        }
      });
    } catch (NoSuchFileException e) {
      return numbers;
    } catch (IOException e) {
      throw unreadable(dir, e);
    }
    return numbers;
  }

  /**
   * The backup of a number, or the latest one.
   *
   * @throws WritException {@code BAK-001} where there is none
   */
  int number(Optional<Integer> wanted) {
    TreeSet<Integer> numbers = numbers();
    if (wanted.isPresent() ? !numbers.contains(wanted.get()) : numbers.isEmpty()) {
      throw new WritException(
          BackupError.NONE, wanted.map(number -> number + " in ").orElse("in ") + dir);
    }
    return wanted.orElseGet(numbers::last);
  }

  /**
   * The statement of a backup.
   *
   * @param pinned as {@link BackupNote#read}
   */
  BackupNote note(int number, Optional<NoteKey> pinned) {
    Path file = note(number);
    BackupNote note = BackupNote.read(readAll(file), name(file), pinned);
    if (note.number() != number || !note.origin().equals(origin)) {
      throw new WritException(
          BackupError.DAMAGED,
          name(file) + " states backup " + note.number() + " of " + note.origin());
    }
    return note;
  }

  /**
   * The objects that a backup needs.
   *
   * @throws WritException {@code BAK-010} where the list is not the stated one
   */
  StoredObjects objects(BackupNote note) {
    Path file = objects(note.number());
    byte[] bytes = readAll(file);
    require(file, new StoredBytes(Digest.sha256(bytes), bytes.length), note.objects());
    return StoredObjects.parse(bytes, name(file));
  }

  /** A file's bytes, decrypted where they are encrypted, refused at their end if they differ. */
  InputStream open(Path file, StoredBytes stated, AgeIdentities identities) throws IOException {
    try {
      return BackupStream.open(this, file, stated, identities);
    } catch (NoSuchFileException e) {
      throw missing(file, e);
    }
  }

  /**
   * Reads a file as it lies there, and requires that it is the stated one.
   *
   * @throws WritException {@code BAK-010} or {@code BAK-011}
   */
  void requireStored(Path file, StoredBytes stated) throws IOException {
    try {
      require(file, BackupStream.read(file), stated);
    } catch (NoSuchFileException e) {
      throw missing(file, e);
    }
  }

  void require(Path file, StoredBytes found, StoredBytes stated) {
    if (!found.equals(stated)) {
      throw new WritException(
          BackupError.DAMAGED,
          name(file)
              + " has "
              + found.size()
              + " bytes, "
              + found.digest()
              + ", not "
              + stated.size()
              + " bytes, "
              + stated.digest());
    }
  }

  private byte[] readAll(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw missing(file, e);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  private WritException missing(Path file, IOException e) {
    return new WritException(BackupError.MISSING, name(file), e);
  }

  static WritException unreadable(Path file, IOException e) {
    return new WritException(EmbedError.FILE_UNREADABLE, file + ": " + e.getMessage(), e);
  }

  /** A file's name in messages. */
  String name(Path file) {
    return dir.relativize(file).toString();
  }

  Path note(int number) {
    return listed(number, "note");
  }

  Path files(int number) {
    return listed(number, "files");
  }

  Path objects(int number) {
    return listed(number, "objects");
  }

  private Path listed(int number, String kind) {
    return dir.resolve("backups").resolve(String.format(Locale.ROOT, "%06d.%s", number, kind));
  }

  Path object(Digest name) {
    return dir.resolve("objects").resolve(name.hex().substring(0, 2)).resolve(name.hex());
  }
}
