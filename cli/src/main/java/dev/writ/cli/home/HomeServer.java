package dev.writ.cli.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.error.ClientError;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.gateway.http.server.CellChoice;
import dev.writ.guardian.document.AccessDocument;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;

/**
 * The server that has a home open, as the commands of that home use it. What they send is signed by
 * keys of the home; for what nobody signs, the token of {@code serving.json} says that it comes
 * from whoever may read the home. A refusal has the server's own code, so that a command says the
 * same whether a server runs or not.
 */
public final class HomeServer {
  private static final Duration ACCESS_LIFE = Duration.ofMinutes(1);
  private static final int CONNECT_WITHIN_MS = 10_000;
  private static final int ANSWER_BYTES_MAX = 64 << 20;
  private static final String PROBLEM = "application/problem+json";

  private final Home home;
  private final Serving.At at;
  private final Duration answerWithin;

  static {
    // The JDK would send a document again by itself where no answer comes.
    System.setProperty("sun.net.http.retryPost", "false");
  }

  private HomeServer(Home home, Serving.At at, Duration answerWithin) {
    this.home = home;
    this.at = at;
    this.answerWithin = answerWithin;
  }

  /** That of a home, if one runs. */
  public static Optional<HomeServer> of(Home home) {
    return Serving.of(home).map(at -> new HomeServer(home, at, Duration.ZERO));
  }

  /** The same, of which no answer is waited for longer than this. */
  public HomeServer within(Duration time) {
    return new HomeServer(home, at, time);
  }

  public Home home() {
    return home;
  }

  public URI url() {
    return at.url();
  }

  /** Whether it is the same start of a server: each has a token of its own. */
  public boolean isThatOf(HomeServer other) {
    return at.equals(other.at);
  }

  /** How to trust it, where it speaks TLS by itself. */
  public Optional<SSLContext> tls() {
    return at.certificate().map(PinnedTls::trusting);
  }

  /** Whether it takes connections: one that ends does not any more, and still has the home. */
  boolean listens() {
    int port = at.url().getPort();
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(at.url().getHost().replaceAll("[\\[\\]]", ""), port),
          CONNECT_WITHIN_MS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** The Authorization header of the home's token. */
  public String token() {
    return "Bearer " + at.token();
  }

  /** The Authorization header of an access document that a key signs, for a minute. */
  public static String access(Home home, String tenant, SigningKey key, Instant now) {
    return AccessDocument.header(
        Envelope.sign(
            AccessDocument.TYPE,
            new AccessDocument(tenant, home.installation(), now, now.plus(ACCESS_LIFE)).toJson(),
            key));
  }

  /**
   * Sends a signed document.
   *
   * @throws WritException with the server's own code, {@code GWY-061}, {@code GWY-062}
   */
  public JsonValue.Obj post(String path, Envelope signed) {
    return object(send("POST", path, Optional.empty(), signed.toBytes()));
  }

  /** The same, where the answer is no JSON. */
  public byte[] postForBytes(String path, Envelope signed) {
    return send("POST", path, Optional.empty(), signed.toBytes());
  }

  /** Has something done that nobody signs, by the home's token. */
  public JsonValue.Obj order(String path, byte[] body) {
    return order(path, body, token());
  }

  /** The same for another caller. */
  public JsonValue.Obj order(String path, byte[] body, String authorization) {
    return object(send("POST", path, Optional.of(authorization), body));
  }

  /** Reads JSON. */
  public JsonValue.Obj get(String path, String authorization) {
    return object(getBytes(path, authorization));
  }

  /** Reads what is no JSON. */
  public byte[] getBytes(String path, String authorization) {
    return send("GET", path, Optional.of(authorization), new byte[0]);
  }

  /**
   * Stores a file's content.
   *
   * @throws WritException also {@code CLI-002}
   */
  public void put(Path file, Digest digest, long size, String mediaType, String authorization) {
    exchange(
        "PUT",
        "/v1/blobs/" + digest,
        connection -> {
          connection.setRequestProperty("Authorization", authorization);
          connection.setRequestProperty("Content-Type", mediaType);
          connection.setFixedLengthStreamingMode(size);
          try (OutputStream out = connection.getOutputStream()) {
            try (InputStream in = Files.newInputStream(file)) {
              in.transferTo(out);
            }
          }
        });
  }

  private byte[] send(String method, String path, Optional<String> authorization, byte[] body) {
    return exchange(
        method,
        path,
        connection -> {
          authorization.ifPresent(value -> connection.setRequestProperty("Authorization", value));
          if (!method.equals("GET")) {
            connection.setRequestProperty("Content-Type", "application/json");
            try (OutputStream out = connection.getOutputStream()) {
              out.write(body);
            }
          }
        });
  }

  /** Writes the head and the body of a call. */
  private interface Sending {
    void to(HttpURLConnection connection) throws IOException;
  }

  /** Unless told otherwise it waits as long as the server works, whose limits end every effect. */
  private byte[] exchange(String method, String path, Sending sending) {
    URI url = at.url().resolve(path);
    try {
      HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection();
      if (connection instanceof HttpsURLConnection secure) {
        tls()
            .ifPresent(context -> {
              secure.setSSLSocketFactory(context.getSocketFactory());
              secure.setHostnameVerifier((_, _) -> true); // it is exactly this certificate
            });
      }
      connection.setConnectTimeout(CONNECT_WITHIN_MS);
      connection.setReadTimeout((int) answerWithin.toMillis()); // 0 is without end
      connection.setInstanceFollowRedirects(false);
      connection.setUseCaches(false);
      connection.setRequestMethod(method);
      connection.setDoOutput(!method.equals("GET"));
      if (home.cells() > 1) {
        connection.setRequestProperty(CellChoice.HEADER, String.valueOf(home.cell()));
      }
      sending.to(connection);
      return answer(connection);
    } catch (SSLHandshakeException e) {
      throw new WritException(ClientError.NO_ANSWER, at.url() + ": " + anotherCertificate(), e);
    } catch (IOException e) {
      throw new WritException(
          ClientError.NO_ANSWER, at.url() + ": " + e.getClass().getSimpleName(), e);
    }
  }

  /** As after each renewal, until the server is told of it. */
  private String anotherCertificate() {
    return at.certificate()
        .map(file ->
            "it does not have the certificate that is in "
                + file
                + " now; a server takes up a renewed one within a minute, or at SIGHUP")
        .orElse("it is not believed");
  }

  private static byte[] answer(HttpURLConnection connection) throws IOException {
    boolean failed = connection.getResponseCode() >= 400;
    byte[] body;
    try (InputStream in = failed ? connection.getErrorStream() : connection.getInputStream()) {
      body = in == null ? new byte[0] : in.readNBytes(ANSWER_BYTES_MAX);
    }
    if (failed && PROBLEM.equals(connection.getContentType())) {
      JsonValue.Obj problem = object(body);
      throw new WritException(
          new Told(text(problem, "code"), text(problem, "title"), text(problem, "remedy")),
          text(problem, "detail"));
    }
    return body; // also a denial, which is a signed decision
  }

  /** A refusal as the server states it. */
  private record Told(String code, String meaning, String remedy) implements ErrorCode {
    @Override
    public Entry entry() {
      return new Entry(code, meaning, remedy);
    }
  }

  private static JsonValue.Obj object(byte[] body) {
    try {
      if (Jcs.parse(body) instanceof JsonValue.Obj object) {
        return object;
      }
    } catch (WritException e) {
      throw new WritException(
          ClientError.ANSWER_REFUSED,
          "it is no JSON: "
              + new String(body, 0, Math.min(80, body.length), StandardCharsets.UTF_8),
          e);
    }
    throw new WritException(ClientError.ANSWER_REFUSED, "it is no object");
  }

  /** A member that is text; empty where there is none. */
  public static String text(JsonValue.Obj object, String name) {
    return object.get(name) instanceof JsonValue.Str text ? text.value() : "";
  }

  /**
   * The content of a file that is to be stored.
   *
   * @throws WritException {@code CLI-002}
   */
  public static Digest digest(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      var hash = Digest.newSha256();
      byte[] buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        hash.update(buffer, 0, n);
      }
      return Digest.ofBytes(hash.digest());
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
    }
  }
}
