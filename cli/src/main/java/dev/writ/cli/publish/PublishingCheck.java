package dev.writ.cli.publish;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.gateway.config.CheckpointSettings;
import dev.writ.gateway.config.CheckpointSettings.StampsAt;
import dev.writ.gateway.error.GatewayError;
import dev.writ.ledger.publish.PublicPlace;
import dev.writ.ledger.publish.PublicPlaceProvider;
import dev.writ.verify.stamp.StampAuthorities;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;

/** Whether a server could publish as its configuration says. Nobody is called. */
public final class PublishingCheck {
  private PublishingCheck() {}

  /**
   * Requires places and files that can be used.
   *
   * @throws WritException {@code GWY-002} for a folder that cannot be written to and an address
   *     that nobody knows, {@code GWY-007} for an authority that cannot be read, {@code OBJ-001},
   *     {@code RPL-089} for a file without certificates of authorities
   */
  public static void require(CheckpointSettings settings) {
    settings.folder().ifPresent(PublishingCheck::requireFolder);
    settings.bucket().ifPresent(PublishingCheck::bucket);
    settings.witnesses().forEach(w -> w.ca().ifPresent(PublishingCheck::requireAuthority));
    settings.stamps().forEach(one -> one.ca().ifPresent(PublishingCheck::requireAuthority));
    settings.stamps().forEach(PublishingCheck::believed);
  }

  private static void requireFolder(Path dir) {
    if (!Files.isDirectory(dir) || !Files.isWritable(dir)) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "checkpoints/folder: " + dir + " is no folder that the server may write to");
    }
  }

  private static void requireAuthority(Path file) {
    try {
      TlsAuthorities.trusting(Files.readAllBytes(file));
    } catch (IOException | CertificateException e) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE, "checkpoints: " + file + ": " + e.getMessage(), e);
    }
  }

  static StampAuthorities believed(StampsAt authority) {
    try {
      return StampAuthorities.parse(Files.readAllBytes(authority.tsaCa()));
    } catch (IOException e) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "checkpoints/stamps: " + authority.tsaCa() + ": " + e, e);
    }
  }

  /** The address is in no message: somebody may have written a key into it. */
  static PublicPlace bucket(URI address) {
    return PublicPlaceProvider.find(address)
        .orElseThrow(() ->
            new WritException(
                GatewayError.CONFIG_FIELD,
                "checkpoints/bucket: no address like s3://BUCKET/PREFIX"));
  }
}
