package dev.writ.cli.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/**
 * The places that the demo's policy lets tools reach: a web page and, where the host has git, a
 * repository. Both are on free ports of 127.0.0.1 and go with the demo.
 */
public final class DemoPlaces implements AutoCloseable {
  private final HttpServer pages;
  private final Optional<HttpServer> git;
  private final ExecutorService threads;
  private final Path authority;

  private DemoPlaces(
      HttpServer pages, Optional<HttpServer> git, ExecutorService threads, Path authority) {
    this.pages = pages;
    this.git = git;
    this.threads = threads;
    this.authority = authority;
  }

  /**
   * @param dir the demo's own directory
   */
  public static DemoPlaces start(Path dir) {
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    InetSocketAddress free = new InetSocketAddress(InetAddress.ofLiteral(LoopbackTls.ADDRESS), 0);
    try (InputStream in = DemoPlaces.class.getResourceAsStream("page.html")) {
      byte[] page = in.readAllBytes();
      LoopbackTls tls = LoopbackTls.make();
      Path authority = Files.write(dir.resolve("demo-ca.pem"), tls.authority());
      HttpServer pages = HttpServer.create(free, 0);
      pages.createContext("/", exchange -> page(exchange, page));
      pages.setExecutor(threads);
      pages.start();
      Optional<GitRepository> repository = GitRepository.make(dir.resolve("git"));
      Optional<HttpServer> git = Optional.empty();
      if (repository.isPresent()) {
        HttpsServer server = HttpsServer.create(free, 0);
        server.setHttpsConfigurator(new HttpsConfigurator(tls.server()));
        server.createContext("/", repository.get()::answer);
        server.setExecutor(threads);
        server.start();
        git = Optional.of(server);
      }
      return new DemoPlaces(pages, git, threads, authority);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, dir.toString(), e);
    }
  }

  private static void page(HttpExchange exchange, byte[] page) throws IOException {
    try (exchange) {
      boolean there = exchange.getRequestURI().getPath().equals("/");
      exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
      exchange.sendResponseHeaders(there ? 200 : 404, there ? page.length : -1);
      if (there) {
        exchange.getResponseBody().write(page);
      }
    }
  }

  /** The places as policy names them: an address that is written out may be a private one. */
  public List<String> network() {
    return Stream.concat(Stream.of(pages), git.stream()).map(DemoPlaces::place).toList();
  }

  private static String place(HttpServer server) {
    return LoopbackTls.ADDRESS + ":" + server.getAddress().getPort();
  }

  public String pageUrl() {
    return "http://" + place(pages) + "/";
  }

  /** Absent where the host has no git. */
  public Optional<String> repositoryUrl() {
    return git.map(server -> "https://" + place(server) + "/" + GitRepository.NAME);
  }

  /** What the egress proxy has to trust for the repository, in PEM. */
  public Path authority() {
    return authority;
  }

  @Override
  public void close() {
    pages.stop(0);
    git.ifPresent(server -> server.stop(0));
    threads.shutdownNow();
  }
}
