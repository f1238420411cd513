package dev.writ.cli.publish;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Posts to servers of others, and bounds how long they take and how much they answer. */
final class HttpPost implements AutoCloseable {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(10);

  /** From the first byte that is sent to the last one of the answer. */
  static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);

  private final HttpClient client;

  /**
   * @param authority PEM of the authority that is believed, in place of the JDK's
   * @throws WritException {@code CLI-002} where it cannot be read
   */
  HttpPost(Optional<Path> authority) {
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_WITHIN)
            .followRedirects(HttpClient.Redirect.NEVER);
    authority.ifPresent(file -> {
      try {
        builder.sslContext(TlsAuthorities.trusting(Files.readAllBytes(file)));
      } catch (IOException | CertificateException e) {
        throw new WritException(EmbedError.FILE_UNREADABLE, file + ": " + e.getMessage(), e);
      }
    });
    this.client = builder.build();
  }

  /**
   * Posts, and reads the whole answer.
   *
   * @param most bytes of the answer
   * @param within from the first byte that is sent to the last one of the answer
   * @throws IOException where there is no answer, a longer one, or one that takes too long
   */
  HttpResponse<byte[]> send(HttpRequest.Builder request, byte[] body, int most, Duration within)
      throws IOException {
    CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(
            request.POST(HttpRequest.BodyPublishers.ofByteArray(body)).build(),
            HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), most));
    try {
      return answer.get(within.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("no whole answer within " + ANSWER_WITHIN.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      answer.cancel(true);
    }
  }

  /** In a line of a log: what the JDK or {@link #send} says of it, where they say something. */
  static String why(IOException e) {
    String kind = e.getClass().getSimpleName();
    return e.getMessage() == null ? kind : kind + ": " + e.getMessage();
  }

  /** An address without what may be secret in it. */
  static String shown(URI url) {
    return url.getScheme() + "://" + url.getRawAuthority() + url.getRawPath();
  }

  /** Ends what is at work, too. */
  @Override
  public void close() {
    client.shutdownNow();
  }
}
