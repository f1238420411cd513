package dev.writ.s3;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Stands before a server of S3, one request for each connection, and does to them what it is told.
 */
final class S3Relay implements AutoCloseable {
  private static final Pattern LENGTH =
      Pattern.compile("\r\ncontent-length: *([0-9]+)", Pattern.CASE_INSENSITIVE);

  /** A request or an answer. */
  record Message(String head, byte[] body) {
    /** The first line, such as {@code PUT /writ/t1/anchor HTTP/1.1}. */
    String line() {
      return head.substring(0, head.indexOf("\r\n"));
    }

    private byte[] bytes() {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
      out.writeBytes(body);
      return out.toByteArray();
    }
  }

  /** The way to the server. */
  interface Server {
    Message answer(Message request) throws IOException;
  }

  /** Decides what a client gets. */
  interface Fault {
    /** Empty cuts the connection off. */
    Optional<Message> answer(Message request, Server server) throws IOException;
  }

  static final Fault NONE = (request, server) -> Optional.of(server.answer(request));

  private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final int serverPort;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private volatile Fault fault = NONE;

  S3Relay(int serverPort) throws IOException {
    this.serverPort = serverPort;
    Thread.ofPlatform().daemon().name("s3-relay").start(this::accept);
  }

  /** An address behind it. */
  URI address(URI direct) {
    return S3Server.address(direct.getHost() + direct.getPath(), listening.getLocalPort());
  }

  /** From now on. */
  void does(Fault next) {
    lines.clear();
    fault = next;
  }

  /** The first lines of the requests since the fault was set. */
  List<String> lines() {
    return lines;
  }

  static Message answer(int status, String code) {
    return answered(status, "<Error><Code>" + code + "</Code><Message>no</Message></Error>");
  }

  /** A page of XML. */
  static Message page(String xml) {
    return answered(200, xml);
  }

  private static Message answered(int status, String xml) {
    byte[] body = ("<?xml version=\"1.0\"?>" + xml).getBytes(StandardCharsets.US_ASCII);
    return new Message(
        "HTTP/1.1 "
            + status
            + " no\r\nContent-Type: application/xml\r\nContent-Length: "
            + body.length
            + "\r\nConnection: close\r\n\r\n",
        body);
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Thread.ofVirtual().start(() -> serve(client));
      } catch (IOException e) {
        return; // it was closed
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      Message request = read(new BufferedInputStream(client.getInputStream()));
      lines.add(request.line());
      Optional<Message> answer = fault.answer(request, this::ask);
      if (answer.isEmpty()) {
        client.setSoLinger(true, 0); // a reset, at once
        return;
      }
      client.getOutputStream().write(answer.get().bytes());
      client.getOutputStream().flush();
    } catch (IOException e) {
      // The client hung up.
    } catch (RuntimeException e) {
      throw new UncheckedIOException(new IOException(e));
    }
  }

  private Message ask(Message request) throws IOException {
    try (Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort)) {
      Message once =
          new Message(
              request
                  .head()
                  .replaceFirst("(?i)\r\nconnection: [^\r]*", "")
                  .replaceFirst("\r\n", "\r\nConnection: close\r\n"),
              request.body());
      server.getOutputStream().write(once.bytes());
      server.getOutputStream().flush();
      return parse(server.getInputStream().readAllBytes());
    }
  }

  private static Message parse(byte[] all) {
    String text = new String(all, StandardCharsets.ISO_8859_1);
    int end = text.indexOf("\r\n\r\n") + 4;
    byte[] body = Arrays.copyOfRange(all, end, all.length);
    return new Message(text.substring(0, end), body);
  }

  private static Message read(InputStream in) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("the client hung up");
      }
      head.append((char) next);
    }
    Matcher length = LENGTH.matcher(head);
    int size = length.find() ? Integer.parseInt(length.group(1)) : 0;
    return new Message(head.toString(), in.readNBytes(size));
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
