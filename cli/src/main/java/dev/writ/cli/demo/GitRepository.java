package dev.writ.cli.demo;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A repository with one commit, which anybody who reaches it may read and push to, served by the
 * host's git over HTTP: {@code git http-backend}, a CGI program (RFC 3875).
 */
final class GitRepository {
  static final String NAME = "app.git";

  private static final Path GIT = Path.of("/usr/bin/git");

  private final Path root;

  private GitRepository(Path root) {
    this.root = root;
  }

  /** Makes it in a directory of its own; empty where the host has no git. */
  static Optional<GitRepository> make(Path root) throws IOException {
    if (!Files.isExecutable(GIT)) {
      return Optional.empty();
    }
    GitRepository repository = new GitRepository(Files.createDirectory(root));
    Path work = Files.createDirectory(root.resolve("work"));
    Files.writeString(work.resolve("greet.py"), "print('Hello from Railway')\n");
    repository.git(root, "init", "--quiet", "--bare", "--initial-branch=main", NAME);
    repository.git(root.resolve(NAME), "config", "http.receivepack", "true");
    repository.git(work, "init", "--quiet", "--initial-branch=main");
    repository.git(work, "add", "greet.py");
    repository.git(work, "commit", "--quiet", "--message=The first commit");
    repository.git(work, "push", "--quiet", root.resolve(NAME).toString(), "main");
    return Optional.of(repository);
  }

  private void git(Path directory, String... arguments) throws IOException {
    List<String> argv = new ArrayList<>(List.of(GIT.toString()));
    argv.addAll(List.of(arguments));
    Processes.requireSuccess(process(argv).directory(directory.toFile()));
  }

  /** With nothing of the user's own settings. */
  private ProcessBuilder process(List<String> argv) {
    ProcessBuilder builder = new ProcessBuilder(argv);
    Map<String, String> environment = builder.environment();
    environment.clear();
    environment.put("PATH", "/usr/bin:/bin");
    environment.put("HOME", "/nonexistent");
    environment.put("GIT_CONFIG_NOSYSTEM", "1");
    environment.put("GIT_AUTHOR_NAME", "Writ");
    environment.put("GIT_AUTHOR_EMAIL", "demo@writ.invalid");
    environment.put("GIT_COMMITTER_NAME", "Writ");
    environment.put("GIT_COMMITTER_EMAIL", "demo@writ.invalid");
    return builder;
  }

  /** Answers one request; only for the repository itself. */
  void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      if (!path.startsWith("/" + NAME + "/")) {
        exchange.sendResponseHeaders(404, -1);
        return;
      }
      ProcessBuilder builder =
          process(List.of(GIT.toString(), "http-backend"))
              .redirectError(ProcessBuilder.Redirect.DISCARD);
      Map<String, String> environment = builder.environment();
      Headers headers = exchange.getRequestHeaders();
      environment.put("GIT_PROJECT_ROOT", root.toString());
      environment.put("GIT_HTTP_EXPORT_ALL", "1");
      environment.put("PATH_INFO", path);
      environment.put("REQUEST_METHOD", exchange.getRequestMethod());
      put(environment, "QUERY_STRING", exchange.getRequestURI().getRawQuery());
      put(environment, "CONTENT_TYPE", headers.getFirst("Content-Type"));
      put(environment, "HTTP_CONTENT_ENCODING", headers.getFirst("Content-Encoding"));
      put(environment, "GIT_PROTOCOL", headers.getFirst("Git-Protocol"));
      Process backend = builder.start();
      try (OutputStream in = backend.getOutputStream()) {
        exchange.getRequestBody().transferTo(in);
      }
      send(exchange, backend.getInputStream());
    }
  }

  /** The program's answer: lines of a head, an empty one, and the body. */
  private static void send(HttpExchange exchange, InputStream out) throws IOException {
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

  private static void put(Map<String, String> environment, String name, String value) {
    environment.put(name, value == null ? "" : value);
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
}
