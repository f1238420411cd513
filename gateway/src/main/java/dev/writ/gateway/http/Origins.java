package dev.writ.gateway.http;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Web pages of other origins that may call the server from a browser (WHATWG Fetch, 3.2), named one
 * by one; where none is named, a browser lets pages of the server's own origin do so and no other.
 * There are no cookies, so a page shows a credential that it was given, or none.
 */
final class Origins {
  private static final List<Map.Entry<String, String>> PREFLIGHT =
      List.of(
          Map.entry("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT"),
          Map.entry(
              "Access-Control-Allow-Headers",
              "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Range, traceparent,"
                  + " tracestate"),
          Map.entry("Access-Control-Max-Age", "600"));
  private static final String EXPOSED =
      "Accept-Ranges, Content-Range, ETag, Retry-After, Writ-Decision, Writ-Media-Type,"
          + " Writ-Receipt, Writ-Request";

  private final List<String> allowed;

  Origins(List<String> allowed) {
    this.allowed = List.copyOf(allowed);
  }

  private Optional<String> origin(Headers headers) {
    List<String> origins = headers.all("origin");
    return origins.size() == 1 ? Optional.of(origins.getFirst()) : Optional.empty();
  }

  /** The answer to a browser that asks first; empty where this is no such question. */
  Optional<HttpAnswer> preflight(String method, Headers headers) {
    boolean asks =
        method.equals("OPTIONS")
            && headers.has("access-control-request-method")
            && origin(headers).filter(allowed::contains).isPresent();
    if (!asks) {
      return Optional.empty();
    }
    HttpAnswer answer = new HttpAnswer(204, PREFLIGHT, new HttpAnswer.Body.Bytes(new byte[0]));
    return Optional.of(answer);
  }

  /** An answer as a page of the call's origin may read it. */
  HttpAnswer with(HttpAnswer answer, Headers headers) {
    if (allowed.isEmpty()) {
      return answer;
    }
    HttpAnswer varied = answer.with("Vary", "Origin");
    return origin(headers)
        .filter(allowed::contains)
        .map(origin ->
            varied
                .with("Access-Control-Allow-Origin", origin)
                .with("Access-Control-Expose-Headers", EXPOSED))
        .orElse(varied);
  }
}
