package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/**
 * A port of another host, over TLS 1.3 or 1.2. The service's certificate has to be for the host's
 * name; before that is proved nothing is sent.
 */
final class TlsAddress extends ServiceAddress {
  private static final int CONNECT_MS = 10_000;
  private static final int MOST_WORDS = 300;

  private final String host;
  private final int port;
  private final SSLContext context;

  TlsAddress(String host, int port, SSLContext context) {
    this.host = host;
    this.port = port;
    this.context = context;
  }

  @Override
  ApiConnection open() throws IOException {
    Socket plain = new Socket();
    try {
      plain.setTcpNoDelay(true);
      plain.connect(new InetSocketAddress(host, port), CONNECT_MS);
      return secured(plain);
    } catch (IOException | RuntimeException e) {
      plain.close();
      throw e;
    }
  }

  private ApiConnection secured(Socket plain) throws IOException {
    SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, host, port, true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    parameters.setProtocols(new String[] {"TLSv1.3", "TLSv1.2"});
    socket.setSSLParameters(parameters);
    plain.setSoTimeout(CONNECT_MS);
    try {
      socket.startHandshake();
    } catch (IOException e) {
      throw refused(e); // also a reset: it may have come before the alert that says why
    }
    plain.setSoTimeout(0); // each step has a deadline of its own
    // Closing the connection below TLS cannot wait for the other side.
    return new ApiConnection(
        this, socket.getInputStream(), socket.getOutputStream(), socket::shutdownOutput, plain);
  }

  /** With TLS 1.3 a service refuses our certificate only after the handshake, by an alert. */
  @Override
  boolean isRefusal(IOException failure) {
    return failure instanceof SSLException
        && String.valueOf(failure.getMessage()).contains("alert");
  }

  @Override
  WritException refused(IOException e) {
    String words = String.valueOf(e.getMessage()).replaceAll("[\\p{Cntrl}]+", " ");
    return new WritException(
        SandboxError.SERVICE_TLS,
        this + ": " + words.substring(0, Math.min(words.length(), MOST_WORDS)),
        e);
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
