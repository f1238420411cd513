package dev.writ.sinks.file;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.replay.export.FileFormat;
import dev.writ.sinks.feed.SinkSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Where a file is, and what its lines are; or a folder, and its files.
 *
 * @param format what became of every request, as one of {@link #FORMATS}; empty for what the tool
 *     gateway executed and denied
 * @param key signs statements, where the format has some
 * @param hasReceipts whether statements have receipts of the log in them
 */
public record FileSettings(
    Path path, Optional<String> format, Optional<SigningKey> key, boolean hasReceipts) {
  /** Statements as lines. */
  public static final String IN_TOTO = "in-toto";

  /** Statements as files. */
  public static final String SCITT = FileFormat.SCITT;

  /** Proofs as files. */
  public static final String TLOG_PROOF = FileFormat.TLOG_PROOF;

  /** The formats that a sink writes (spec/sinks.md, 9a). */
  public static final List<String> FORMATS =
      List.of("cloudevents", FileFormat.COSE_RECEIPT, IN_TOTO, "ocsf", SCITT, TLOG_PROOF);

  private static final List<String> SIGNED = List.of(IN_TOTO, SCITT);

  /**
   * @param folder to which the settings {@code path} and {@code key} are relative
   * @param passphrase of the key, if its file is encrypted
   * @throws WritException {@code GWY-002}; the codes of key files
   */
  public static FileSettings of(SinkSettings settings, Path folder, Supplier<char[]> passphrase) {
    // Two spellings of one path are one target.
    Path path = folder.resolve(settings.required("path")).toAbsolutePath().normalize();
    Optional<String> format = settings.text("format");
    if (format.isPresent() && !FORMATS.contains(format.get())) {
      throw settings.wrong(
          "format", "\"" + format.get() + "\" is none of " + String.join(", ", FORMATS));
    }
    boolean isSigned = format.filter(SIGNED::contains).isPresent();
    if (!isSigned && settings.text("key").isPresent()) {
      throw settings.wrong(
          "key", "signs nothing: only " + String.join(", ", SIGNED) + " are signed");
    }
    Optional<SigningKey> key =
        isSigned
            ? Optional.of(KeyFiles.read(folder.resolve(settings.required("key")), passphrase))
            : Optional.empty();
    boolean hasReceipts = hasReceipts(settings, format);
    settings.end();
    return new FileSettings(path, format, key, hasReceipts);
  }

  private static boolean hasReceipts(SinkSettings settings, Optional<String> format) {
    Optional<String> receipts = settings.text("receipts");
    if (receipts.isPresent() && !format.equals(Optional.of(SCITT))) {
      throw settings.wrong("receipts", "is of the format " + SCITT + " alone");
    }
    if (receipts.isPresent() && !List.of("true", "false").contains(receipts.get())) {
      throw settings.wrong("receipts", "is neither true nor false");
    }
    return receipts.equals(Optional.of("true"));
  }

  /**
   * The format whose records it takes: where receipts are put into statements, that of receipts.
   */
  public Optional<String> records() {
    return hasReceipts ? Optional.of(FileFormat.COSE_RECEIPT) : format;
  }

  /** Whether it is a folder, with a file for each outcome. */
  public boolean isFolder() {
    return format.filter(FileFormat.NAMES::contains).isPresent();
  }

  /** For people, and as the name of the target. */
  @Override
  public String toString() {
    return path.toString();
  }
}
