package dev.writ.tools.git;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.writ.sandbox.testing.TestTls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/** A real git server: git's own http-backend behind TLS and a password. */
public final class GitServer implements AutoCloseable {
  public static final String HOST = "git.test";
  public static final String USER = "robot";
  public static final String PASSWORD = "tok3n-of-the-robot/with+signs";

  private final Path root;
  private final String host;
  private final HttpsServer server;
  private final Queue<String> requests = new ConcurrentLinkedQueue<>();
  private volatile Runnable onRequest = () -> {};

  private GitServer(Path root, String host, HttpsServer server) {
    this.root = root;
    this.host = host;
    this.server = server;
  }

  public static GitServer open(Path root, TestTls tls, String host) {
    try {
      HttpsServer server =
          HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setHttpsConfigurator(new HttpsConfigurator(tls.server()));
      server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      GitServer git = new GitServer(root, host, server);
      server.createContext("/", git::handle);
      server.start();
      return git;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public int port() {
    return server.getAddress().getPort();
  }

  public String url(String name) {
    return "https://" + host + ":" + port() + "/" + name;
  }

  /** What a secret holds for this server. */
  public String secret() {
    return "https://" + USER + ":tok3n-of-the-robot%2Fwith%2Bsigns@" + host + ":" + port() + "\n";
  }

  /** Method, path and query of each request, with {@code !} where the password was missing. */
  public List<String> requests() {
    return List.copyOf(requests);
  }

  public Path directory(String name) {
    return root.resolve(name);
  }

  /** Makes an empty repository that may be pushed to. */
  public Path make(String name) {
    Path directory = directory(name);
    git(root, "init", "--quiet", "--bare", "--initial-branch=main", directory.toString());
    git(directory, "config", "http.receivepack", "true");
    return directory;
  }

  /** Runs the host's git, for what the server has and for what hostile people would make. */
  public static String git(Path directory, String... arguments) {
    return git(directory, new byte[0], arguments);
  }

  static String git(Path directory, byte[] stdin, String... arguments) {
    try {
      List<String> argv = Stream.concat(Stream.of("git"), Stream.of(arguments)).toList();
      ProcessBuilder builder =
          new ProcessBuilder(argv).directory(directory.toFile()).redirectErrorStream(true);
      environment(builder);
      Process process = builder.start();
      try (OutputStream out = process.getOutputStream()) {
        out.write(stdin);
      }
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(argv + ": " + said);
      }
      return said.strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void environment(ProcessBuilder builder) {
    var all = builder.environment();
    all.clear();
    all.put("PATH", "/usr/bin:/bin");
    all.put("HOME", "/nonexistent");
    all.put("GIT_CONFIG_NOSYSTEM", "1");
    all.put("GIT_AUTHOR_NAME", "Mallory");
    all.put("GIT_AUTHOR_EMAIL", "m@evil.test");
    all.put("GIT_COMMITTER_NAME", "Mallory");
    all.put("GIT_COMMITTER_EMAIL", "m@evil.test");
    all.put("GIT_AUTHOR_DATE", "@1700000000 +0000");
    all.put("GIT_COMMITTER_DATE", "@1700000000 +0000");
    all.put("GIT_CONFIG_COUNT", "1");
    all.put("GIT_CONFIG_KEY_0", "safe.directory");
    all.put("GIT_CONFIG_VALUE_0", "*");
  }

  /** What is done while a client waits for its answer. */
  void onRequest(Runnable look) {
    onRequest = look;
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      onRequest.run();
      String given = exchange.getRequestHeaders().getFirst("Authorization");
      String wanted =
          "Basic "
              + Base64.getEncoder()
                  .encodeToString((USER + ":" + PASSWORD).getBytes(StandardCharsets.UTF_8));
      boolean open = exchange.getRequestURI().getPath().startsWith("/public/");
      boolean known = wanted.equals(given);
      requests.add(
          (known ? "" : "!") + exchange.getRequestMethod() + " " + exchange.getRequestURI());
      if (!known && !open) {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"git\"");
        exchange.sendResponseHeaders(401, -1);
        return;
      }
      backend(exchange, known);
    }
  }

  /** RFC 3875, as much as git needs. */
  private void backend(HttpExchange exchange, boolean known) throws IOException {
    ProcessBuilder builder = new ProcessBuilder("/usr/lib/git-core/git-http-backend");
    environment(builder);
    var all = builder.environment();
    String query = exchange.getRequestURI().getRawQuery();
    all.put("GIT_PROJECT_ROOT", root.toString());
    all.put("GIT_HTTP_EXPORT_ALL", "1");
    all.put("PATH_INFO", exchange.getRequestURI().getPath());
    all.put("QUERY_STRING", query == null ? "" : query);
    all.put("REQUEST_METHOD", exchange.getRequestMethod());
    var headers = exchange.getRequestHeaders();
    put(all, "CONTENT_TYPE", headers.getFirst("Content-Type"));
    put(all, "HTTP_CONTENT_ENCODING", headers.getFirst("Content-Encoding"));
    put(all, "GIT_PROTOCOL", headers.getFirst("Git-Protocol"));
    put(all, "REMOTE_USER", known ? USER : null);
    Process process = builder.start();
    try (OutputStream in = process.getOutputStream()) {
      exchange.getRequestBody().transferTo(in);
    }
    InputStream out = process.getInputStream();
    int status = 200;
    for (String line = line(out); !line.isEmpty(); line = line(out)) {
      String[] field = line.split(": ", 2);
      if (field[0].equals("Status")) {
        status = Integer.parseInt(field[1].substring(0, 3));
      } else {
        exchange.getResponseHeaders().set(field[0], field[1]);
      }
    }
    exchange.sendResponseHeaders(status, 0);
    out.transferTo(exchange.getResponseBody());
  }

  private static void put(Map<String, String> all, String name, String value) {
    if (value != null) {
      all.put(name, value);
    }
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
      if (b != '\r') {
        line.write(b);
      }
    }
    return line.toString(StandardCharsets.US_ASCII);
  }

  /** Writes a file, and the directories above it. */
  static void put(Path repository, String path, String text) {
    try {
      Path file = repository.resolve(path);
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
