package dev.writ.gateway.http;

import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.HttpAnswer;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Web pages of other origins that may call the server from a browser (WHATWG Fetch, 3.2), listed
 * one by one. If none is listed, a browser lets only pages of the server's own origin call. They
 * present only credentials that they were given: the cookie of a session is not for them.
 */
public final class Origins {
  private static final List<Map.Entry<String, String>> PREFLIGHT =
      List.of(
          Map.entry("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT"),
          Map.entry(
              "Access-Control-Allow-Headers",
              "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Range, traceparent,"
                  + " tracestate"),
          Map.entry("Access-Control-Max-Age", "600"));
  private static final String EXPOSED =
      "Accept-Ranges, Content-Range, ETag, Retry-After, Writ-Cell, Writ-Decision,"
          + " Writ-Former-Cells, Writ-Media-Type, Writ-Receipt, Writ-Request";

  private final List<String> allowed;

  public Origins(List<String> allowed) {
    this.allowed = List.copyOf(allowed);
  }

  private Optional<String> origin(Headers headers) {
    List<String> origins = headers.all("origin");
    return origins.size() == 1 ? Optional.of(origins.getFirst()) : Optional.empty();
  }

  /** The answer to a browser's preflight request; empty for any other request. */
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

  /** Adds the headers that let a page of the call's origin read the answer. */
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
