package dev.writ.tools.http;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One request of an API.
 *
 * @param parameters in the order of the file
 * @param credentials names of the secrets that it sends
 * @param idempotent whether the author declares that doing it twice is as doing it once
 * @param retries how often it may be sent again; 0 unless it is idempotent
 * @param idempotencyKey the header field for the effect's own key
 * @param success statuses that are a success
 * @param failuresAsOutput whether every other status is an output, too
 * @param headers fields of the answer that the output shows, in lower case, sorted
 * @param bytesMax bytes of the answer's content, also once it is decompressed
 */
public record HttpOperation(
    String name,
    String method,
    PathTemplate path,
    List<Parameter> parameters,
    Optional<Body> body,
    List<String> credentials,
    boolean idempotent,
    int retries,
    Optional<String> idempotencyKey,
    Redirects redirects,
    List<Integer> success,
    boolean failuresAsOutput,
    List<String> headers,
    long bytesMax) {

  public HttpOperation {
    parameters = List.copyOf(parameters);
    credentials = List.copyOf(credentials);
    success = List.copyOf(success);
    headers = List.copyOf(headers);
  }

  /** Where a parameter stands. */
  public enum In {
    PATH,
    QUERY,
    HEADER;

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * A param of the effect that becomes a part of the request.
   *
   * @param property its name in the effect's params
   * @param name its name in the request
   * @param explode whether a list in the query becomes a parameter for each item; otherwise, and
   *     everywhere else, items are joined by commas
   */
  public record Parameter(String property, In in, String name, boolean explode) {}

  /**
   * The request's content.
   *
   * @param property of the effect's params
   * @param mediaType {@code application/json} and types that end with {@code +json}; {@code
   *     application/x-www-form-urlencoded}, for an object of plain values; any other for text
   */
  public record Body(String property, String mediaType) {
    public boolean isJson() {
      return mediaType.equals("application/json") || mediaType.endsWith("+json");
    }

    public boolean isForm() {
      return mediaType.equals("application/x-www-form-urlencoded");
    }
  }

  /** Which redirects are followed. */
  public enum Redirects {
    NONE,
    /** To the same scheme, host and port. */
    SAME_HOST,
    /** Also to those that the package lists, without credentials. */
    LISTED;

    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** What is sent where, in a line for people. */
  String line(Server server) {
    StringBuilder line = new StringBuilder(method + " " + server.text() + path.text());
    for (Parameter parameter : parameters) {
      if (parameter.in() != In.PATH) {
        line.append(", ").append(parameter.in().text()).append(' ').append(parameter.name());
      }
    }
    body.ifPresent(content -> line.append(", content ").append(content.mediaType()));
    idempotencyKey.ifPresent(field -> line.append(", key in ").append(field));
    if (!credentials.isEmpty()) {
      line.append(", with ").append(String.join(", ", credentials));
    }
    if (idempotent) {
      line.append(", idempotent, retries ").append(retries);
    }
    return line.append(", redirects ").append(redirects.text()).toString();
  }

  /** Whether the method changes nothing (RFC 9110, 9.2.1). */
  public boolean safe() {
    return List.of("GET", "HEAD", "OPTIONS").contains(method);
  }

  /**
   * Whether it does not matter if it was done, since a new request may just do it. One that is
   * idempotent by its key alone is not: a new request has a key of its own.
   */
  public boolean repeatable() {
    return safe() || idempotent && idempotencyKey.isEmpty();
  }

  /** Whether a status is a success. */
  public boolean succeeds(int status) {
    return success.isEmpty() ? status >= 200 && status <= 299 : success.contains(status);
  }
}
