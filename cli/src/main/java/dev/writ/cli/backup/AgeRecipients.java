package dev.writ.cli.backup;

import com.exceptionfactory.jagged.RecipientStanzaWriter;
import com.exceptionfactory.jagged.framework.stream.StandardEncryptingChannelFactory;
import com.exceptionfactory.jagged.x25519.X25519RecipientStanzaWriterFactory;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.BackupError;
import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;

/**
 * To whom backups are encrypted, by age (https://age-encryption.org/v1).
 *
 * @param names public keys, {@code age1…}; where there are none, nothing is encrypted
 */
record AgeRecipients(List<String> names) {
  private static final String PREFIX = "age1";

  /**
   * @throws WritException {@code BAK-006} for what is no X25519 recipient
   */
  AgeRecipients {
    names = List.copyOf(names);
    writers(names);
  }

  boolean isEmpty() {
    return names.isEmpty();
  }

  private static List<RecipientStanzaWriter> writers(List<String> names) {
    List<RecipientStanzaWriter> writers = new ArrayList<>();
    for (String name : names) {
      try {
        if (!name.startsWith(PREFIX)) {
          throw new WritException(BackupError.RECIPIENT, "a recipient that is no " + PREFIX + "…");
        }
        writers.add(X25519RecipientStanzaWriterFactory.newRecipientStanzaWriter(name));
      } catch (GeneralSecurityException | IllegalArgumentException e) {
        throw new WritException(BackupError.RECIPIENT, name, e);
      }
    }
    return writers;
  }

  /** A channel whose closing ends the encryption and closes the other one. */
  WritableByteChannel encrypting(WritableByteChannel to) throws IOException {
    if (names.isEmpty()) {
      return to;
    }
    try {
      return new StandardEncryptingChannelFactory().newEncryptingChannel(to, writers(names));
    } catch (GeneralSecurityException e) {
      throw new WritException(BackupError.RECIPIENT, e.getClass().getSimpleName(), e);
    }
  }
}
