package dev.writ.cli.publish;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import dev.writ.verify.stamp.StampAuthorities;
import dev.writ.verify.stamp.StampRequest;
import dev.writ.verify.stamp.TimeStamp;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;

/** Asks time stamp authorities over HTTP (RFC 3161, 3.4). */
public final class StampCaller implements AutoCloseable {
  private static final int NONCE_BYTES = 16;

  private final HttpPost post;
  private final SecureRandom random = new SecureRandom();

  /**
   * @param authority PEM of the authority of its server that is believed, in place of the JDK's
   * @throws WritException {@code CLI-002} where it cannot be read
   */
  public StampCaller(Optional<Path> authority) {
    this.post = new HttpPost(authority);
  }

  /** A reply that holds. */
  public record Stamped(byte[] reply, TimeStamp stamp) {}

  /** What an authority is asked, with a fresh nonce. */
  public static StampRequest request(Digest stamped, SecureRandom random) {
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    return StampRequest.of(stamped, nonce);
  }

  /**
   * Has something stamped.
   *
   * @throws WritException {@code CLI-106} without an answer of the protocol, and where its reply
   *     does not hold, as {@link TimeStamp#verify}
   */
  public Stamped ask(URI url, Digest stamped, StampAuthorities authorities) {
    StampRequest request = request(stamped, random);
    HttpResponse<byte[]> response;
    try {
      response =
          post.send(
              HttpRequest.newBuilder(url).header("Content-Type", StampRequest.TYPE),
              request.toBytes(),
              TimeStamp.BYTES_MAX,
              HttpPost.ANSWER_WITHIN);
    } catch (IOException e) {
      throw unanswered(url, HttpPost.why(e), e);
    }
    String type = response.headers().firstValue("Content-Type").orElse("");
    if (response.statusCode() != 200 || !type.startsWith(StampRequest.REPLY_TYPE)) {
      throw unanswered(url, "it answered " + response.statusCode(), null);
    }
    return new Stamped(
        response.body(),
        TimeStamp.verify(response.body(), stamped, Optional.of(request), authorities));
  }

  private static WritException unanswered(URI url, String what, Exception cause) {
    return new WritException(CliError.STAMP_UNANSWERED, HttpPost.shown(url) + ": " + what, cause);
  }

  @Override
  public void close() {
    post.close();
  }
}
