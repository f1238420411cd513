package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.CliError;
import dev.writ.cli.Homes;
import dev.writ.replay.BundleVerifier;
import dev.writ.replay.Bundles;
import dev.writ.replay.Recording;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A bundle that verifies: what everything but {@code verify} reads.
 *
 * @param verified what of it was verified, with counts
 */
record BundleFile(Recording recording, List<String> verified) {
  private static final int BYTES_MAX = (1 << 30) + 1;

  /**
   * @throws WritException with the verifier's code where it does not verify
   */
  static BundleFile verified(String file, Optional<Trust> trust) {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      bytes = in.readNBytes(BYTES_MAX);
    } catch (IOException e) {
      throw new WritException(CliError.FILE_UNREADABLE, file + ": " + e.getMessage(), e);
    }
    Homes.expectSignatures(bytes.length / 1024); // about one for each KiB
    List<String> verified =
        BundleVerifier.verify(
                bytes, new BundleVerifier.Options(trust, Optional.empty(), false), _ -> {})
            .verified();
    return new BundleFile(Bundles.read(bytes), verified);
  }
}
