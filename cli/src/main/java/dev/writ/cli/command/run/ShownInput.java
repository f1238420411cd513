package dev.writ.cli.command.run;

import dev.writ.guardian.document.Input;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * An input of an effect that somebody is asked to approve.
 *
 * @param text its content; absent where it is no text in UTF-8, is not there, or has more than
 *     {@link #SHOWN_MAX} bytes
 */
record ShownInput(Input input, Optional<String> text) {
  static final long SHOWN_MAX = 16 << 10;

  static ShownInput read(LedgerView ledger, Input input) {
    if (input.size() > SHOWN_MAX
        || !ledger.hasBlob(input.digest())
        || ledger.blobSize(input.digest()) != input.size()) {
      return new ShownInput(input, Optional.empty());
    }
    try (InputStream content = ledger.openBlob(input.digest())) {
      return new ShownInput(input, text(content.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Optional<String> text(byte[] content) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }
}
