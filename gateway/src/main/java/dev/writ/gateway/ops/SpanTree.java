package dev.writ.gateway.ops;

import dev.writ.gateway.http.message.TraceContext;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The spans within one call, or within one work in the background. Of one thread alone. */
public final class SpanTree {
  /** The most spans that are kept of one call. */
  private static final int SPANS_MAX = 128;

  private final List<Node> nodes = new ArrayList<>();
  private final ArrayDeque<Node> open = new ArrayDeque<>();

  /** A span. Times are by the machine's monotonic clock, in nanoseconds. */
  public static final class Node {
    final String name;
    final Optional<Node> parent;
    final long begin;
    final Optional<String> spanId;
    final TreeMap<String, String> attributes = new TreeMap<>();
    private Optional<TraceContext> trace = Optional.empty();
    private long end;
    private Optional<String> error = Optional.empty();

    private Node(String name, Optional<Node> parent, long begin, Optional<String> spanId) {
      this.name = name;
      this.parent = parent;
      this.begin = begin;
      this.spanId = spanId;
    }

    private boolean isCalled(String word) {
      return name.equals(word) || name.startsWith(word + " ");
    }

    /** Puts it, and what is within it, into another trace than that of the call. */
    void in(TraceContext other) {
      trace = Optional.of(other);
    }

    /** The trace that begins with it; absent if it belongs to that of its parent. */
    Optional<TraceContext> trace() {
      return trace;
    }

    long nanos() {
      return end - begin;
    }

    /** A code, or the driver's word for the cause. */
    Optional<String> error() {
      return error;
    }
  }

  Node open(String name) {
    return open(name, System.nanoTime(), Optional.empty());
  }

  /**
   * Begins a span within the one that is open.
   *
   * @param spanId its id, if something depends on it
   */
  Node open(String name, long begin, Optional<String> spanId) {
    Node node = new Node(name, Optional.ofNullable(open.peek()), begin, spanId);
    if (nodes.size() < SPANS_MAX) {
      nodes.add(node);
    }
    open.push(node);
    return node;
  }

  /**
   * Ends the innermost span of that name, or that begins with that word, and those within it.
   *
   * @return absent if there is none
   */
  Optional<Node> close(String name, Optional<String> error) {
    if (open.stream().noneMatch(node -> node.isCalled(name))) {
      return Optional.empty();
    }
    long now = System.nanoTime();
    while (true) {
      Node node = open.pop();
      node.end = now;
      if (node.isCalled(name)) {
        node.error = error;
        return Optional.of(node);
      }
    }
  }

  /** A span that has just ended. */
  void add(String name, long nanos, Optional<String> error) {
    open(name, System.nanoTime() - nanos, Optional.empty());
    close(name, error);
  }

  /** The innermost open span. */
  Optional<Node> current() {
    return Optional.ofNullable(open.peek());
  }

  /** Each after the one that it is in. What is still open ends now. */
  List<Node> nodes() {
    long now = System.nanoTime();
    while (!open.isEmpty()) {
      open.pop().end = now;
    }
    return List.copyOf(nodes);
  }
}
