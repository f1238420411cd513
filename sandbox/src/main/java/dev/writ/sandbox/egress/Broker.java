package dev.writ.sandbox.egress;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Requests that the proxy sends on behalf of a command, over TLS, with a credential that the
 * command never sees. It sends only the listed requests, so that the credential cannot be used for
 * anything else.
 *
 * @param credential absent for a public destination, whose requests are restricted nevertheless
 * @param requests each a method and an exact target
 */
public record Broker(Optional<Credential> credential, List<Request> requests) {

  /**
   * One request that may be sent.
   *
   * @param method {@code GET}, {@code POST}, …
   * @param target path with query, exactly as it stands in the request line
   */
  public record Request(String method, String target) {
    public Request {
      if (!method.matches("[A-Z]{1,16}") || !target.matches("/[!-~]{0,4000}")) {
        throw new WritException(SandboxError.BROKER, "a request's method or target is not plain");
      }
      if (target.contains("#") || method.equals("CONNECT")) {
        throw new WritException(SandboxError.BROKER, "a fragment, or CONNECT");
      }
    }

    /** The target without its query, for logs. */
    String path() {
      int query = target.indexOf('?');
      return query < 0 ? target : target.substring(0, query);
    }
  }

  /** The value of an Authorization header, and the strings in it that an answer must not repeat. */
  public static final class Credential {
    private static final int LEAST = 8;

    private final String authorization;
    private final List<byte[]> hidden;

    private Credential(String authorization, List<String> hidden) {
      this.authorization = authorization;
      this.hidden = hidden.stream().map(s -> s.getBytes(StandardCharsets.UTF_8)).toList();
    }

    /**
     * User and password (RFC 7617).
     *
     * @throws WritException {@code SBX-030} for a password of less than 8 bytes, control characters
     *     or a colon in the user's name
     */
    public static Credential basic(String user, String password) {
      requireVisible(user);
      requireSecret(password);
      if (user.contains(":")) {
        throw new WritException(SandboxError.BROKER, "a colon in the name of the user");
      }
      String base64 =
          Base64.getEncoder()
              .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
      return new Credential("Basic " + base64, List.of(password, base64));
    }

    /**
     * A token (RFC 6750).
     *
     * @throws WritException {@code SBX-030}
     */
    public static Credential bearer(String token) {
      requireSecret(token);
      if (!token.matches("[A-Za-z0-9._~+/-]+=*")) {
        throw new WritException(SandboxError.BROKER, "a token holds what no bearer token may");
      }
      String base64 = Base64.getEncoder().encodeToString(token.getBytes(StandardCharsets.UTF_8));
      return new Credential("Bearer " + token, List.of(token, base64));
    }

    private static void requireSecret(String text) {
      requireVisible(text);
      if (text.getBytes(StandardCharsets.UTF_8).length < LEAST) {
        throw new WritException(
            SandboxError.BROKER, "a credential of less than " + LEAST + " bytes");
      }
    }

    private static void requireVisible(String text) {
      if (text.codePoints().anyMatch(c -> c < 0x20 || c == 0x7f || c >= 0xD800 && c <= 0xDFFF)) {
        throw new WritException(SandboxError.BROKER, "a control character in a credential");
      }
    }

    String authorization() {
      return authorization;
    }

    List<byte[]> hidden() {
      return hidden;
    }

    @Override
    public String toString() {
      return "Credential";
    }
  }

  public Broker {
    Objects.requireNonNull(credential);
    requests = List.copyOf(requests);
    if (requests.isEmpty()) {
      throw new WritException(SandboxError.BROKER, "it lists no request");
    }
  }

  boolean sends(String method, String target) {
    return requests.stream().anyMatch(r -> r.method().equals(method) && r.target().equals(target));
  }

  /** What answers may not hold. */
  List<byte[]> hidden() {
    return credential.map(Credential::hidden).orElse(List.of());
  }
}
