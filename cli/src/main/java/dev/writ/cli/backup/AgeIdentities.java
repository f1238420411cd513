package dev.writ.cli.backup;

import com.exceptionfactory.jagged.RecipientStanzaReader;
import com.exceptionfactory.jagged.framework.stream.StandardDecryptingChannelFactory;
import com.exceptionfactory.jagged.x25519.X25519RecipientStanzaReaderFactory;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.BackupError;
import java.io.IOException;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;

/** The private keys that decrypt backups. Their text is in no message. */
final class AgeIdentities {
  /** Of somebody who gave none. */
  static final AgeIdentities NONE = new AgeIdentities(List.of());

  private final List<RecipientStanzaReader> readers;

  private AgeIdentities(List<RecipientStanzaReader> readers) {
    this.readers = List.copyOf(readers);
  }

  /**
   * Reads what {@code age-keygen} writes: a key on each line that is not empty and no comment.
   *
   * @throws WritException {@code BAK-006} for any other line, and where there is no key
   */
  static AgeIdentities parse(byte[] file) {
    List<RecipientStanzaReader> readers = new ArrayList<>();
    int number = 0;
    for (String line : new String(file, StandardCharsets.UTF_8).lines().toList()) {
      number++;
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      try {
        readers.add(X25519RecipientStanzaReaderFactory.newRecipientStanzaReader(line.strip()));
      } catch (GeneralSecurityException | IllegalArgumentException e) {
        // Not as the cause: its message may repeat the line.
        throw new WritException(BackupError.RECIPIENT, "line " + number + " of the identities");
      }
    }
    if (readers.isEmpty()) {
      throw new WritException(BackupError.RECIPIENT, "there is no key in the identities");
    }
    return new AgeIdentities(readers);
  }

  boolean isEmpty() {
    return readers.isEmpty();
  }

  /**
   * A channel of what another one has encrypted.
   *
   * @throws WritException {@code BAK-013} where none of the keys opens it
   */
  ReadableByteChannel decrypting(ReadableByteChannel from) throws IOException {
    if (readers.isEmpty()) {
      throw new WritException(BackupError.IDENTITY, "there is no identity");
    }
    try {
      return new StandardDecryptingChannelFactory().newDecryptingChannel(from, readers);
    } catch (GeneralSecurityException e) {
      throw new WritException(BackupError.IDENTITY, e.getClass().getSimpleName(), e);
    }
  }
}
