package dev.writ.postgres;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A line to a PostgreSQL server that is cut at a chosen point of the protocol. */
final class WireProxy implements AutoCloseable {
  /** When a connection is cut, seen from a request of the client. */
  enum Cut {
    /** The server sees nothing of it. */
    BEFORE_IT,
    /** The server gets half of its bytes. */
    IN_ITS_MIDDLE,
    /** The server has it, and may or may not have done it. */
    BEHIND_IT,
    /** The server has done it, and the client does not hear of it. */
    BEFORE_ITS_ANSWER
  }

  /**
   * What is cut once.
   *
   * @param statement how a statement in the request begins
   */
  record Fault(String statement, Cut cut) {}

  /** Codes of the packets before a startup packet, which asks for encryption. */
  private static final Set<Integer> NO_STARTUP = Set.of(80_877_103, 80_877_104);

  private final int target;
  private final ServerSocket listening;
  private final Deque<Fault> faults = new ArrayDeque<>();
  private final Set<Socket> sockets = new HashSet<>();
  private int cuts;
  private int requests;
  private int accepted;
  private boolean refusing;

  WireProxy(int target) {
    this.target = target;
    try {
      listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /** Adds a fault, which waits for those before it. */
  synchronized void add(Fault fault) {
    faults.add(fault);
  }

  /** Whether new connections are ended at once. */
  synchronized void refuse(boolean refused) {
    refusing = refused;
  }

  private synchronized boolean isRefusing() {
    return refusing;
  }

  /** How many connections were cut because of a fault. */
  synchronized int cuts() {
    return cuts;
  }

  /** How many round trips: the driver does not wait for the answer to a BEGIN. */
  synchronized int requests() {
    return requests;
  }

  /** How many connections were begun. */
  synchronized int accepted() {
    return accepted;
  }

  /** Ends all connections. */
  synchronized void cutAll() {
    sockets.forEach(WireProxy::close);
    sockets.clear();
  }

  private synchronized void keep(Socket client, Socket server) {
    sockets.add(client);
    sockets.add(server);
    accepted++;
  }

  /** Takes the next fault, if it concerns one of these statements. */
  private synchronized Cut fault(List<String> statements) {
    if (!statements.equals(List.of("BEGIN"))) {
      requests++;
    }
    Fault next = faults.peek();
    if (next == null || statements.stream().noneMatch(text -> text.startsWith(next.statement()))) {
      return null;
    }
    faults.remove();
    cuts++;
    return next.cut();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        if (isRefusing()) {
          client.close();
          continue;
        }
        Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        keep(client, server);
        Line line = new Line(client, server);
        Thread.ofVirtual().start(line::requests);
        Thread.ofVirtual().start(line::answers);
      } catch (IOException e) {
        // The proxy is closed, or the server is down.
      }
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private final class Line {
    private final Socket client;
    private final Socket server;
    private final Map<String, String> prepared = new HashMap<>();
    private volatile boolean swallowing;

    Line(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    private void cut() {
      WireProxy.close(client);
      WireProxy.close(server);
    }

    /** From the client, request by request. */
    void requests() {
      try {
        DataInputStream in = new DataInputStream(client.getInputStream());
        OutputStream out = server.getOutputStream();
        int code;
        do {
          int length = in.readInt();
          byte[] packet = in.readNBytes(length - 4);
          code = ByteBuffer.wrap(packet).getInt();
          out.write(ByteBuffer.allocate(length).putInt(length).put(packet).array());
        } while (NO_STARTUP.contains(code));
        while (true) {
          request(in, out);
        }
      } catch (IOException e) {
        cut();
      }
    }

    /** Messages up to one that the server answers. */
    private void request(DataInputStream in, OutputStream out) throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      List<String> statements = new ArrayList<>();
      byte type;
      do {
        type = in.readByte();
        int length = in.readInt();
        byte[] body = in.readNBytes(length - 4);
        bytes.writeBytes(ByteBuffer.allocate(5).put(type).putInt(length).array());
        bytes.writeBytes(body);
        String[] texts = new String(body, StandardCharsets.ISO_8859_1).split("\0", 3);
        switch (type) {
          case 'P' -> prepared.put(texts[0], texts[1]);
          case 'B' -> statements.add(prepared.getOrDefault(texts[1], ""));
          case 'Q' -> statements.add(texts[0]);
          default -> {}
        }
      } while (type != 'S' && type != 'Q' && type != 'p' && type != 'X' && type != 'H');
      byte[] all = bytes.toByteArray();
      switch (fault(statements)) {
        case null -> out.write(all);
        case BEFORE_IT -> cut();
        case IN_ITS_MIDDLE -> {
          out.write(all, 0, all.length / 2);
          cut();
        }
        case BEHIND_IT -> {
          out.write(all);
          cut();
        }
        case BEFORE_ITS_ANSWER -> {
          swallowing = true;
          out.write(all);
        }
      }
    }

    void answers() {
      try {
        InputStream in = server.getInputStream();
        OutputStream out = client.getOutputStream();
        byte[] block = new byte[8192];
        for (int read = in.read(block); read >= 0 && !swallowing; read = in.read(block)) {
          out.write(block, 0, read);
        }
      } catch (IOException e) {
        // One of the two is gone; so is the other.
      }
      cut();
    }
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cutAll();
  }
}
