package dev.writ.sandbox.egress;

import java.util.List;
import java.util.Locale;

/**
 * The head of a request to a proxy (RFC 9112): {@code CONNECT host:port}, or a method with an
 * absolute {@code http} URI.
 *
 * @param method {@code CONNECT} for a tunnel
 * @param target path and query; empty for CONNECT
 * @param authority host and port as they stood in the URI
 * @param framing of its content
 * @param modern whether the client speaks HTTP/1.1, so that it understands chunks
 */
record ProxyRequest(
    String method,
    String host,
    int port,
    String target,
    String authority,
    List<HttpHead.Field> fields,
    Framing framing,
    boolean modern) {

  boolean tunnel() {
    return method.equals("CONNECT");
  }

  static ProxyRequest of(HttpHead head) throws Malformed {
    String[] first = head.first().split(" ", -1);
    boolean plain =
        first.length == 3
            && first[0].matches("[A-Z]{1,20}")
            && first[1].matches("[!-~]+")
            && first[2].matches("HTTP/1\\.[01]");
    if (!plain) {
      throw new Malformed("the request line");
    }
    boolean modern = first[2].endsWith("1");
    if (first[0].equals("CONNECT")) {
      return to(first[1], -1, "CONNECT", "", List.of(), new Framing.None(), modern);
    }
    if (!first[1].toLowerCase(Locale.ROOT).startsWith("http://") || first[1].contains("#")) {
      throw new Malformed("no absolute http URI");
    }
    Framing framing = Framing.ofRequest(head);
    if (!modern && framing instanceof Framing.Chunked) {
      throw new Malformed("chunks in HTTP/1.0");
    }
    String rest = first[1].substring("http://".length());
    int slash = rest.indexOf('/');
    int query = rest.indexOf('?');
    int end = slash < 0 ? query : query < 0 ? slash : Math.min(slash, query);
    String authority = end < 0 ? rest : rest.substring(0, end);
    String path =
        end < 0 ? "/" : rest.charAt(end) == '?' ? "/" + rest.substring(end) : rest.substring(end);
    return to(authority, 80, first[0], path, head.fields(), framing, modern);
  }

  private static ProxyRequest to(
      String authority,
      int standard,
      String method,
      String target,
      List<HttpHead.Field> fields,
      Framing framing,
      boolean modern)
      throws Malformed {
    int bracket = authority.lastIndexOf(']');
    int colon = authority.indexOf(':', Math.max(0, bracket));
    String host = colon < 0 ? authority : authority.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    host = host.toLowerCase(Locale.ROOT);
    if (host.endsWith(".")) {
      host = host.substring(0, host.length() - 1);
    }
    String port = colon < 0 ? Integer.toString(standard) : authority.substring(colon + 1);
    if (!host.matches("[a-z0-9._:-]{1,253}") || !port.matches("[0-9]{1,5}")) {
      throw new Malformed("the host or the port");
    }
    int number = Integer.parseInt(port);
    if (number < 1 || number > 65_535) {
      throw new Malformed("the port");
    }
    return new ProxyRequest(method, host, number, target, authority, fields, framing, modern);
  }
}
