package dev.writ.s3;

import dev.writ.s3.S3Relay.Fault;
import dev.writ.s3.S3Relay.Message;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers as a bucket with object lock before a store that has none, with one version of each
 * object, or as one that leaves some of it out.
 */
final class LockingRelay implements Fault {
  /** What a store does not do. */
  enum Lack {
    /** The headers of a write say nothing to it. */
    HEADERS,
    /** The same of an object in parts alone, as in Ceph 16.2. */
    HEADERS_OF_PARTS,
    /** It says that it locked an object, and did not. */
    RETENTION,
    /** It removes what is locked. */
    PROTECTION
  }

  private static final Pattern HEADER =
      Pattern.compile("\r\nx-amz-object-lock-(mode|retain-until-date): ([^\r]+)");
  private static final Pattern ELEMENT = Pattern.compile("<(Mode|RetainUntilDate)>([^<]+)<");
  private static final String BEFORE =
      "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>";
  private final Set<Lack> lacks;
  private final String rule;
  private final Map<String, Map<String, String>> locks = new ConcurrentHashMap<>();
  private final Set<String> removed = ConcurrentHashMap.newKeySet();
  private final List<String> heads = new CopyOnWriteArrayList<>();

  /**
   * @param rule of the bucket's configuration, as XML; may be empty
   */
  LockingRelay(String rule, Lack... lacks) {
    this.rule = rule;
    this.lacks = Set.of(lacks);
  }

  /** The heads of the requests so far. */
  List<String> heads() {
    return heads;
  }

  @Override
  public Optional<Message> answer(Message request, S3Relay.Server server) throws IOException {
    heads.add(request.head());
    String[] line = request.line().split(" ");
    String method = line[0];
    String path = line[1].replaceFirst("\\?.*", "");
    String query = line[1].substring(path.length());
    if (query.startsWith("?object-lock")) {
      return Optional.of(ok("", BEFORE + rule + "</ObjectLockConfiguration>"));
    }
    if (query.startsWith("?retention")) {
      if (!lacks.contains(Lack.RETENTION)) {
        locks.put(path, found(ELEMENT, new String(request.body(), StandardCharsets.UTF_8)));
      }
      return Optional.of(ok("", ""));
    }
    if (method.equals("DELETE") && query.contains("versionId=")) {
      if (locks.containsKey(path) && !lacks.contains(Lack.PROTECTION)) {
        return Optional.of(S3Relay.answer(403, "AccessDenied"));
      }
      locks.remove(path);
      removed.add(path);
      return Optional.of(ok("", ""));
    }
    if (method.equals("HEAD") && query.contains("versionId=")) {
      return Optional.of(told(path, ok("", "")));
    }
    boolean isOfParts = query.startsWith("?uploads");
    boolean isHeard =
        !lacks.contains(Lack.HEADERS) && !(isOfParts && lacks.contains(Lack.HEADERS_OF_PARTS));
    Map<String, String> asked = found(HEADER, request.head());
    if (isHeard && !asked.isEmpty()) {
      locks.put(path, asked);
    }
    if (method.equals("PUT")) {
      removed.remove(path);
    }
    Message answer =
        removed.contains(path) ? S3Relay.answer(404, "NoSuchKey") : server.answer(request);
    return Optional.of(
        Set.of("GET", "HEAD").contains(method) && answer.line().contains(" 200 ")
            ? told(path, answer)
            : answer);
  }

  private Message told(String path, Message answer) {
    List<String> more = new ArrayList<>(List.of("x-amz-version-id: v1"));
    locks
        .getOrDefault(path, Map.of())
        .forEach((name, value) -> more.add("x-amz-object-lock-" + name + ": " + value));
    return new Message(
        answer.head().replaceFirst("\r\n", "\r\n" + String.join("\r\n", more) + "\r\n"),
        answer.body());
  }

  private static Map<String, String> found(Pattern pattern, String text) {
    Map<String, String> found = new TreeMap<>();
    Matcher each = pattern.matcher(text);
    while (each.find()) {
      String name =
          each.group(1).toLowerCase(Locale.ROOT).replace("retainuntildate", "retain-until-date");
      found.put(name, each.group(2));
    }
    return found;
  }

  static Message ok(String headers, String body) {
    return new Message(
        "HTTP/1.1 200 OK\r\n"
            + headers
            + "Content-Length: "
            + body.length()
            + "\r\nConnection: close\r\n\r\n",
        body.getBytes(StandardCharsets.UTF_8));
  }
}
