package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What the files of TLS hold, read at one time and not looked into yet. */
public record TlsContents(Buffer certificate, Buffer key, Optional<Buffer> authority) {

  /**
   * @throws WritException {@code GWY-007} for a file that cannot be read
   */
  public static TlsContents read(Listen.Protection.Tls tls) {
    return new TlsContents(
        bytes(tls.certificate()),
        bytes(tls.key()),
        tls.clients().map(clients -> bytes(clients.authority())));
  }

  private static Buffer bytes(Path file) {
    try {
      return Buffer.buffer(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE, file + ": " + e.getClass().getSimpleName(), e);
    }
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "TlsContents";
  }
}
