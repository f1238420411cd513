package dev.writ.gateway.http;

import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.HttpAnswer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * One method on one path, and its handler.
 *
 * @param path literal segments and {@code {name}} for one segment each, for example {@code
 *     /v1/runs/{run}/events}; {@code {+name}} at the end for one segment or more
 * @param access who may call
 * @param body how its body reaches the handler
 * @param when a further condition on the headers, for surfaces that share a path
 * @param headCheck refuses faults that the head shows, before anything of the body is kept
 * @param handler called on a virtual thread; may block
 */
public record Route(
    String method,
    String path,
    Access access,
    Body body,
    Predicate<Headers> when,
    HeadCheck headCheck,
    Handler handler) {

  /** A route without a condition on the head. */
  public Route(
      String method,
      String path,
      Access access,
      Body body,
      Predicate<Headers> when,
      Handler handler) {
    this(method, path, access, body, when, (_, _) -> {}, handler);
  }

  /** Who may call a route. */
  public enum Access {
    /** Anybody, without authentication by the server. */
    PUBLIC,
    /** A caller that the server authenticated, as {@link HttpCall#caller()}. */
    CALLER,
    /**
     * The signer of the document in the body. A credential in the head is not needed; if there is
     * one it must be valid, and the memory of the body counts as that caller's.
     */
    DOCUMENT,
    /** The surface authenticates by itself, from headers and raw body (HMAC). */
    SURFACE
  }

  /** How a body reaches the handler. */
  public sealed interface Body {
    /** Must be empty. */
    record None() implements Body {}

    /** Whole in memory before the handler runs, so that a slow sender holds no thread. */
    record Whole(int bytesMax) implements Body {}

    /** As a stream that the handler reads. */
    record Streamed(long bytesMax) implements Body {}
  }

  /** Looks at a head. */
  @FunctionalInterface
  public interface HeadCheck {
    void require(Headers headers, Instant now);
  }

  /** Answers one call. */
  @FunctionalInterface
  public interface Handler {
    HttpAnswer handle(HttpCall call);
  }

  /** A route without a body. */
  public static Route get(String path, Access access, Handler handler) {
    return new Route("GET", path, access, new Body.None(), _ -> true, handler);
  }

  /** A route with a body of at most so many bytes, held in memory. */
  public static Route post(String path, Access access, int bytesMax, Handler handler) {
    return new Route("POST", path, access, new Body.Whole(bytesMax), _ -> true, handler);
  }

  /** The same route, under a further condition on the headers. */
  public Route when(Predicate<Headers> condition) {
    return new Route(method, path, access, body, when.and(condition), headCheck, handler);
  }

  /** The same route, with a check of the head before the body is read. */
  public Route checking(HeadCheck check) {
    return new Route(method, path, access, body, when, check, handler);
  }

  /** The values of the path's parameters, if a call's path matches. */
  Optional<SortedMap<String, String>> match(List<String> segments) {
    List<String> own = segments(path);
    boolean open = own.getLast().startsWith("{+");
    if (open ? own.size() > segments.size() : own.size() != segments.size()) {
      return Optional.empty();
    }
    SortedMap<String, String> values = new TreeMap<>();
    for (int i = 0; i < own.size(); i++) {
      String pattern = own.get(i);
      if (pattern.startsWith("{+")) {
        values.put(
            pattern.substring(2, pattern.length() - 1),
            String.join("/", segments.subList(i, segments.size())));
      } else if (pattern.startsWith("{")) {
        values.put(pattern.substring(1, pattern.length() - 1), segments.get(i));
      } else if (!pattern.equals(segments.get(i))) {
        return Optional.empty();
      }
    }
    return Optional.of(values);
  }

  /** The parts of an absolute path between its slashes. */
  static List<String> segments(String path) {
    List<String> parts = new ArrayList<>(List.of(path.split("/", -1)));
    parts.removeFirst();
    return parts;
  }
}
