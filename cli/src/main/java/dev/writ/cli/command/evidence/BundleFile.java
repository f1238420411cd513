package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Homes;
import dev.writ.embed.error.EmbedError;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A bundle that was verified when it was opened. All commands but {@code verify} read bundles so.
 * The file must stay as it is until this is closed.
 *
 * @param verified what was verified in it, with counts
 */
record BundleFile(Bundle recording, List<String> verified) implements AutoCloseable {

  /**
   * @throws WritException with the verifier's code where it does not verify
   */
  static BundleFile verified(String file, Optional<Trust> trust) {
    Path path = Path.of(file);
    if (!Files.isRegularFile(path)) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file + " is no file");
    }
    try {
      Homes.expectSignatures(Files.size(path) / 1024); // about one for each KiB
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file + ": " + e.getMessage(), e);
    }
    Bundle bundle = Bundle.open(path);
    try {
      return new BundleFile(
          bundle,
          BundleVerifier.verify(
                  bundle, new BundleVerifier.Options(trust, Optional.empty(), false), _ -> {})
              .verified());
    } catch (RuntimeException e) {
      bundle.close();
      throw e;
    }
  }

  @Override
  public void close() {
    recording.close();
  }
}
