package dev.writ.surfaces.logline;

import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Who calls the surface with a secret of its own. Each call has another timestamp, since a
 * signature is accepted once.
 */
record LoglineCaller(SeedServer server, String name, AtomicLong calls) {

  static LoglineCaller of(SeedServer server, String name) {
    return new LoglineCaller(server, name, new AtomicLong());
  }

  /** The secret of that name, for one subject of the tests' tenant. */
  static LoglineConfig.Secret secret(String name, String subject) {
    TreeMap<String, String> subjects = new TreeMap<>();
    subjects.put("acme", subject);
    return new LoglineConfig.Secret(name, key(name), subjects);
  }

  private static byte[] key(String name) {
    return ("a secret of sufficient length for " + name).getBytes(StandardCharsets.UTF_8);
  }

  /** Has a tool executed. */
  Reply execute(String tool, String body) {
    return send(
        "POST",
        "/execute",
        body,
        BodyPublishers.ofString(body),
        new String[] {"X-LogLine-Tool-Id", tool});
  }

  /** A call without a body, signed as the specification says. */
  Reply call(String method, String path) {
    return send(method, path, method + " " + path, BodyPublishers.noBody());
  }

  /** A call without a body, with the signature of something else. */
  Reply signing(String signed, String method, String path) {
    return send(method, path, signed, BodyPublishers.noBody());
  }

  private Reply send(
      String method, String path, String signed, BodyPublisher body, String... headers) {
    String at =
        String.valueOf(server.home.clock.instant().toEpochMilli() + calls.incrementAndGet());
    byte[] hmac =
        LoglineAuthentication.hmac(key(name), at, signed.getBytes(StandardCharsets.UTF_8));
    HttpRequest.Builder request =
        server
            .to(path)
            .header("X-LogLine-Timestamp", at)
            .header("X-LogLine-Signature", "sha256=" + HexFormat.of().formatHex(hmac));
    return server.send(
        (headers.length == 0 ? request : request.headers(headers)).method(method, body));
  }
}
