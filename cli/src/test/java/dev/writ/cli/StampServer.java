package dev.writ.cli;

import com.sun.net.httpserver.HttpServer;
import dev.writ.verify.stamp.OpensslAuthority;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** An authority of OpenSSL behind HTTP, as RFC 3161, 3.4 has it. */
public final class StampServer implements AutoCloseable {
  public final OpensslAuthority authority;

  /** How often it was asked. */
  public final AtomicInteger asked = new AtomicInteger();

  private final HttpServer server;
  private volatile UnaryOperator<byte[]> request = bytes -> bytes;

  public StampServer(Path dir) throws IOException {
    authority = new OpensslAuthority(dir, "tsa.example");
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/tsr",
        call -> {
          asked.incrementAndGet();
          byte[] reply = authority.reply(request.apply(call.getRequestBody().readAllBytes()));
          boolean isQuery =
              "application/timestamp-query"
                  .equals(call.getRequestHeaders().getFirst("Content-Type"));
          call.getResponseHeaders().set("Content-Type", "application/timestamp-reply");
          call.sendResponseHeaders(isQuery ? 200 : 415, reply.length);
          call.getResponseBody().write(reply);
          call.close();
        });
    server.start();
  }

  /** Answers another request than it is asked. */
  public void answering(UnaryOperator<byte[]> other) {
    request = other;
  }

  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/tsr";
  }

  public String certificate() {
    return authority.certificate().toString();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
