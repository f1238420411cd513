package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.error.BackupError;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.SignedNote;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * The signed statement of one backup (spec/backup.md, "The folder").
 *
 * @param origin of the log
 * @param number from 1
 * @param made when
 * @param incarnation of the ledger
 * @param size how many events it has
 * @param root of the log at that size
 * @param files the list of files, as it is stored
 * @param objects the list of objects, as it is stored
 * @param recipients to whom it is encrypted
 * @param key that signed it
 */
record BackupNote(
    String origin,
    int number,
    Instant made,
    long incarnation,
    long size,
    Digest root,
    StoredBytes files,
    StoredBytes objects,
    List<String> recipients,
    NoteKey key) {
  private static final String FAMILY = "writ-backup/";
  private static final String FIRST = FAMILY + "1";
  private static final String RECIPIENT = "recipient ";
  private static final String KEY = "key ";

  BackupNote {
    recipients = List.copyOf(recipients);
  }

  /** The note's bytes, signed. */
  byte[] sign(SigningKey logKey) {
    List<String> lines = new ArrayList<>();
    lines.addAll(
        List.of(
            FIRST,
            "origin " + origin,
            "number " + number,
            "made " + Timestamps.format(made),
            "incarnation " + incarnation,
            "size " + size,
            "root " + root,
            "files " + files.digest() + " " + files.size(),
            "objects " + objects.digest() + " " + objects.size()));
    recipients.forEach(name -> lines.add(RECIPIENT + name));
    lines.add(KEY + key);
    return SignedNote.sign(String.join("\n", lines) + "\n", origin, logKey).toBytes();
  }

  /**
   * Reads a note and verifies its signature.
   *
   * @param file for messages
   * @param pinned the log key that the caller trusts, if any
   * @throws WritException {@code BAK-010} for another form, {@code BAK-017} for a later one, {@code
   *     BAK-012} where its own key did not sign it, or that is not the pinned one
   */
  static BackupNote read(byte[] bytes, String file, Optional<NoteKey> pinned) {
    SignedNote note;
    BackupNote read;
    try {
      note = SignedNote.parse(bytes);
      if (note.text().startsWith(FAMILY) && !note.text().startsWith(FIRST + "\n")) {
        throw new WritException(BackupError.FORMAT, file);
      }
      read = of(note.text());
    } catch (WritException e) {
      if (e.code() == BackupError.FORMAT) {
        throw e;
      }
      throw damaged(file, e);
    } catch (IllegalArgumentException e) {
      throw damaged(file, e);
    }
    NoteKey key = pinned.orElse(read.key);
    if (!key.equals(read.key)) {
      throw new WritException(BackupError.SIGNATURE, file + " is signed by " + read.key);
    }
    try {
      note.verify(key);
    } catch (WritException e) {
      throw new WritException(BackupError.SIGNATURE, file, e);
    }
    return read;
  }

  private static WritException damaged(String file, RuntimeException why) {
    return new WritException(BackupError.DAMAGED, file + " is no note of a backup", why);
  }

  private static BackupNote of(String text) {
    List<String> all = List.of(text.split("\n"));
    List<String> recipients =
        all.stream()
            .filter(line -> line.startsWith(RECIPIENT))
            .map(line -> line.substring(RECIPIENT.length()))
            .toList();
    Iterator<String> lines = all.iterator();
    value(lines, FIRST);
    BackupNote note =
        new BackupNote(
            value(lines, "origin "),
            Integer.parseInt(value(lines, "number ")),
            Timestamps.parse(value(lines, "made ")),
            Long.parseLong(value(lines, "incarnation ")),
            Long.parseLong(value(lines, "size ")),
            Digest.parse(value(lines, "root ")),
            stored(value(lines, "files ")),
            stored(value(lines, "objects ")),
            recipients(lines, recipients),
            NoteKey.parse(value(lines, KEY)));
    if (lines.hasNext() || note.number < 1 || !note.key.name().equals(note.origin)) {
      throw new IllegalArgumentException("further lines, or values that do not fit");
    }
    return note;
  }

  private static List<String> recipients(Iterator<String> lines, List<String> names) {
    names.forEach(name -> value(lines, RECIPIENT + name)); // they stand here, and nowhere else
    return names;
  }

  private static String value(Iterator<String> lines, String name) {
    String line = lines.hasNext() ? lines.next() : "";
    if (!line.startsWith(name)) {
      throw new IllegalArgumentException("a line is not: " + name);
    }
    return line.substring(name.length());
  }

  private static StoredBytes stored(String text) {
    List<String> parts = List.of(text.split(" "));
    if (parts.size() != 2) {
      throw new IllegalArgumentException("a list is not: digest, size");
    }
    return new StoredBytes(Digest.parse(parts.get(0)), Long.parseLong(parts.get(1)));
  }
}
