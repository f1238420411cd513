package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/** Where a service of the Docker Engine API is reached. */
public abstract sealed class ServiceAddress permits UnixAddress, TlsAddress {
  ServiceAddress() {}

  /** A Unix socket of this host. */
  public static ServiceAddress of(Path socket) {
    return new UnixAddress(socket);
  }

  /**
   * A port of another host, over TLS and never without it.
   *
   * @param host the name or address that the service's certificate must be for
   * @param context the authorities that are trusted, and the certificate that is shown
   */
  public static ServiceAddress of(String host, int port, SSLContext context) {
    return new TlsAddress(host, port, context);
  }

  /**
   * A new connection.
   *
   * @throws WritException {@code SBX-051} where TLS fails
   */
  abstract ApiConnection open() throws IOException;

  /** Whether the other side ended the connection since it does not accept ours, by TLS. */
  boolean isRefusal(IOException failure) {
    return false;
  }

  /** The refusal for such a failure. */
  WritException refused(IOException failure) {
    return new WritException(SandboxError.ENGINE_ANSWER, "the connection broke", failure);
  }
}
