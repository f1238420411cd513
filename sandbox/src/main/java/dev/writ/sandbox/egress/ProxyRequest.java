package dev.writ.sandbox.egress;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The head of a request to a proxy (RFC 9112): {@code CONNECT host:port}, or a method with an
 * absolute {@code http} URI.
 *
 * @param tunnel whether it is CONNECT
 * @param head what goes to the origin in its place; empty for CONNECT
 */
record ProxyRequest(boolean tunnel, String host, int port, byte[] head) {

  /** A request that cannot be understood. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String what) {
      super(what);
    }
  }

  /**
   * @param text all up to and including the empty line, in ISO 8859-1
   */
  static ProxyRequest parse(String text) throws Malformed {
    String[] lines = text.split("\r\n", -1);
    for (String line : lines) {
      // A line feed alone ends a line for some servers: to them it would be one that nobody
      // checked.
      if (line.chars().anyMatch(c -> c < ' ' && c != '\t' || c == 0x7f)) {
        throw new Malformed("a control character");
      }
    }
    String[] first = lines[0].split(" ", -1);
    if (first.length != 3 || !first[2].matches("HTTP/1\\.[01]") || !first[0].matches("[A-Z]+")) {
      throw new Malformed("the request line");
    }
    if (first[0].equals("CONNECT")) {
      return authority(first[1], -1, true, new byte[0]);
    }
    if (!first[1].toLowerCase(Locale.ROOT).startsWith("http://")) {
      throw new Malformed("no absolute http URI");
    }
    String rest = first[1].substring("http://".length());
    int slash = rest.indexOf('/');
    int query = rest.indexOf('?');
    int end = slash < 0 ? query : query < 0 ? slash : Math.min(slash, query);
    String authority = end < 0 ? rest : rest.substring(0, end);
    String path =
        end < 0 ? "/" : rest.charAt(end) == '?' ? "/" + rest.substring(end) : rest.substring(end);
    ProxyRequest target = authority(authority, 80, false, new byte[0]);
    return new ProxyRequest(
        false, target.host(), target.port(), head(first[0], path, authority, lines));
  }

  /** The Host is that of the URI, whatever the command wrote; one request for each connection. */
  private static byte[] head(String method, String path, String authority, String[] lines)
      throws Malformed {
    List<String> out = new ArrayList<>();
    out.add(method + " " + path + " HTTP/1.1");
    out.add("Host: " + authority);
    for (int i = 1; i < lines.length && !lines[i].isEmpty(); i++) {
      int colon = lines[i].indexOf(':');
      if (colon < 1 || !lines[i].substring(0, colon).matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
        throw new Malformed("a header line");
      }
      String name = lines[i].substring(0, colon).toLowerCase(Locale.ROOT);
      boolean ours =
          name.equals("host")
              || name.equals("connection")
              || name.equals("keep-alive")
              || name.equals("upgrade")
              || name.startsWith("proxy-");
      if (!ours) {
        out.add(lines[i]);
      }
    }
    out.add("Connection: close");
    return (String.join("\r\n", out) + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
  }

  private static ProxyRequest authority(String text, int standard, boolean tunnel, byte[] head)
      throws Malformed {
    int bracket = text.lastIndexOf(']');
    int colon = text.indexOf(':', Math.max(0, bracket));
    String host = colon < 0 ? text : text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    host = host.toLowerCase(Locale.ROOT);
    if (host.endsWith(".")) {
      host = host.substring(0, host.length() - 1);
    }
    String port = colon < 0 ? Integer.toString(standard) : text.substring(colon + 1);
    if (!host.matches("[a-z0-9._:-]{1,253}") || !port.matches("[0-9]{1,5}")) {
      throw new Malformed("the host or the port");
    }
    int number = Integer.parseInt(port);
    if (number < 1 || number > 65_535) {
      throw new Malformed("the port");
    }
    return new ProxyRequest(tunnel, host, number, head);
  }
}
