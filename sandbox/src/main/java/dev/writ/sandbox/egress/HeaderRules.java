package dev.writ.sandbox.egress;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Decides which header fields are forwarded in each direction. */
final class HeaderRules {

  /** Fields of one connection only (RFC 9110, section 7.6.1), or that the proxy writes itself. */
  private static final Set<String> OURS =
      new TreeSet<>(
          List.of(
              "connection",
              "content-length",
              "expect",
              "host",
              "http2-settings",
              "keep-alive",
              "te",
              "trailer",
              "transfer-encoding",
              "upgrade"));

  /** The fields that a request may have if the proxy adds a credential: none that asks for more. */
  private static final Set<String> REQUEST =
      new TreeSet<>(
          List.of(
              "accept",
              "accept-language",
              "cache-control",
              "content-encoding",
              "content-type",
              "git-protocol",
              "pragma",
              "user-agent"));

  /** The fields that its answer may have: no cookie, no redirect, no login. */
  private static final Set<String> ANSWER =
      new TreeSet<>(
          List.of("cache-control", "content-type", "date", "expires", "pragma", "retry-after"));

  /** The fields that a command may not send if the proxy adds a credential. */
  private static final Set<String> CREDENTIALS =
      new TreeSet<>(List.of("authorization", "cookie", "proxy-authorization"));

  private HeaderRules() {}

  static List<String> request(ProxyRequest request) {
    return kept(request.fields()).map(HeaderRules::line).toList();
  }

  static List<String> brokeredRequest(ProxyRequest request) {
    return listed(request.fields(), REQUEST);
  }

  static boolean hasCredential(ProxyRequest request) {
    return request.fields().stream().anyMatch(f -> CREDENTIALS.contains(f.name()));
  }

  static List<String> answer(HttpHead head) {
    return kept(head.fields()).map(HeaderRules::line).toList();
  }

  static List<String> brokeredAnswer(HttpHead head) {
    return listed(head.fields(), ANSWER);
  }

  /** The field for the new framing; empty if none is needed. */
  static List<String> framing(Framing framing) {
    return switch (framing) {
      case Framing.Length length -> List.of("Content-Length: " + length.bytes());
      case Framing.Chunked chunked -> List.of("Transfer-Encoding: chunked");
      case Framing.None none -> List.of();
      case Framing.UntilClose close -> List.of();
    };
  }

  private static Stream<HttpHead.Field> kept(List<HttpHead.Field> fields) {
    Set<String> dropped = new TreeSet<>(OURS);
    for (HttpHead.Field field : fields) {
      if (field.name().equals("connection")) {
        dropped.addAll(
            Arrays.stream(field.value().split(","))
                .map(n -> n.strip().toLowerCase(Locale.ROOT))
                .toList());
      }
    }
    return fields.stream()
        .filter(f -> !dropped.contains(f.name()) && !f.name().startsWith("proxy-"));
  }

  private static List<String> listed(List<HttpHead.Field> fields, Set<String> names) {
    List<String> lines = new ArrayList<>();
    for (HttpHead.Field field : fields) {
      if (names.contains(field.name())) {
        lines.add(line(field));
      }
    }
    return lines;
  }

  private static String line(HttpHead.Field field) {
    return field.name() + ": " + field.value();
  }
}
