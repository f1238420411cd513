package dev.writ.bench;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;

/**
 * As the no-op tool, with text that follows from the parameters, and does not compress to less than
 * half.
 */
final class LettersDriver extends NoopDriver {
  private final int bytes;

  LettersDriver(int bytes) {
    this.bytes = bytes;
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    return invocation -> {
      StringBuilder text = new StringBuilder("{\"ok\":true,\"text\":\"");
      Digest next = Jcs.digest(invocation.params());
      while (text.length() < bytes - 66) {
        text.append(next.hex());
        next = Digest.sha256(next.bytes());
      }
      return DriverOutcome.succeeded(
          text.append("\"}").toString().getBytes(StandardCharsets.US_ASCII),
          "application/json",
          DriverOutcome.Metrics.NONE);
    };
  }
}
