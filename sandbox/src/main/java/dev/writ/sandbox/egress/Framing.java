package dev.writ.sandbox.egress;

import java.util.Optional;

/**
 * How the end of a message's content is found (RFC 9112, section 6.3); ambiguous framing is
 * refused.
 */
sealed interface Framing {

  /** There is no content, and no field states a length. */
  record None() implements Framing {}

  record Length(long bytes) implements Framing {}

  record Chunked() implements Framing {}

  /** A response whose content ends with the connection. */
  record UntilClose() implements Framing {}

  static Framing ofRequest(HttpHead head) throws Malformed {
    return of(head).orElse(new None());
  }

  /**
   * @param method the method of the request
   */
  static Framing ofResponse(HttpHead head, int status, String method) throws Malformed {
    Framing said = of(head).orElse(new UntilClose());
    boolean empty = method.equals("HEAD") || status == 204 || status == 304;
    return empty ? new None() : said;
  }

  private static Optional<Framing> of(HttpHead head) throws Malformed {
    Optional<String> coding = head.one("transfer-encoding");
    Optional<String> length = head.one("content-length");
    if (coding.isPresent()) {
      if (length.isPresent() || !coding.get().equalsIgnoreCase("chunked")) {
        throw new Malformed("a Transfer-Encoding other than chunked, or with a Content-Length");
      }
      return Optional.of(new Chunked());
    }
    if (length.isEmpty()) {
      return Optional.empty();
    }
    if (!length.get().matches("[0-9]{1,15}")) {
      throw new Malformed("the Content-Length");
    }
    return Optional.of(new Length(Long.parseLong(length.get())));
  }
}
