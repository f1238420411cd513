package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.s3.error.ObjectStoreError;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;

/**
 * Where contents are, and how the store is reached (spec/storage-s3.md).
 *
 * @param prefix of all names of objects: empty, or with a slash at its end
 * @param endpoint of a store that is not Amazon's
 * @param isPathStyle whether the bucket is in the path of requests, and not in the host's name
 * @param patience how long a call goes on trying while the store does not answer
 * @param lock of an archive's bundles
 */
record S3Settings(
    String bucket,
    String prefix,
    String region,
    Optional<URI> endpoint,
    boolean isPathStyle,
    Duration patience,
    Optional<BundleLock> lock) {

  private static final Pattern ADDRESS =
      Pattern.compile(
          "s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([A-Za-z0-9_./-]{0,512}))?(?:\\?([^#]*))?");
  private static final Pattern REGION = Pattern.compile("[a-z0-9-]{1,40}");
  private static final Set<String> NAMES =
      Set.of("region", "endpoint", "style", "patience_s", "lock", "lock_days");
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  /**
   * Reads an address.
   *
   * @throws WritException {@code OBJ-001}
   */
  static S3Settings parse(String address) {
    S3Settings settings = parseArchive(address);
    if (settings.lock.isPresent()) {
      throw refused("only an archive has a lock");
    }
    return settings;
  }

  /**
   * Reads the address of an archive, which may say how bundles are locked.
   *
   * @throws WritException {@code OBJ-001}
   */
  static S3Settings parseArchive(String address) {
    // The address is in no message: somebody may have written a key into it.
    if (address.contains("@")) {
      throw refused("it has an @ in it; credentials belong into the environment");
    }
    Matcher whole = ADDRESS.matcher(address);
    if (!whole.matches()) {
      throw refused("it does not have this form");
    }
    SortedMap<String, String> parameters = parameters(whole.group(3));
    Optional<URI> endpoint = Optional.ofNullable(parameters.get("endpoint")).map(S3Settings::url);
    String region = parameters.getOrDefault("region", endpoint.isPresent() ? "us-east-1" : "");
    if (!REGION.matcher(region).matches()) {
      throw refused("region is missing, or no name of one");
    }
    String style = parameters.getOrDefault("style", endpoint.isPresent() ? "path" : "host");
    if (!style.equals("path") && !style.equals("host")) {
      throw refused("style is neither path nor host");
    }
    String patience = parameters.getOrDefault("patience_s", "30");
    if (!patience.matches("[1-9][0-9]{0,2}")) {
      throw refused("patience_s is not a number from 1 to 999");
    }
    return new S3Settings(
        whole.group(1),
        prefix(whole.group(2)),
        region,
        endpoint,
        style.equals("path"),
        Duration.ofSeconds(Integer.parseInt(patience)),
        lock(parameters));
  }

  private static Optional<BundleLock> lock(SortedMap<String, String> parameters) {
    String mode = parameters.get("lock");
    String days = parameters.get("lock_days");
    if (mode == null && days == null) {
      return Optional.empty();
    }
    if (mode == null || days == null) {
      throw refused("lock and lock_days belong together");
    }
    if (!mode.equals("compliance") && !mode.equals("governance")) {
      throw refused("lock is neither compliance nor governance");
    }
    if (!days.matches("[1-9][0-9]{0,4}") || Integer.parseInt(days) > BundleLock.DAYS_MAX) {
      throw refused("lock_days is not a number from 1 to " + BundleLock.DAYS_MAX);
    }
    return Optional.of(
        new BundleLock(
            mode.equals("compliance") ? ObjectLockMode.COMPLIANCE : ObjectLockMode.GOVERNANCE,
            Integer.parseInt(days)));
  }

  private static String prefix(String path) {
    String prefix = path == null ? "" : path.replaceAll("/+$", "");
    if (prefix.startsWith("/") || prefix.contains("//") || ("/" + prefix + "/").contains("/../")) {
      throw refused("the prefix has an empty part, or one of two dots");
    }
    return prefix.isEmpty() ? "" : prefix + "/";
  }

  private static URI url(String text) {
    try {
      URI url = URI.create(text);
      boolean isLocal = url.getHost() != null && LOOPBACK.contains(url.getHost());
      boolean isEncrypted = "https".equals(url.getScheme());
      boolean isPlain =
          url.getHost() != null
              && url.getQuery() == null
              && (url.getPath().isEmpty() || url.getPath().equals("/"));
      if (isPlain && (isEncrypted || isLocal && "http".equals(url.getScheme()))) {
        return url;
      }
    } catch (IllegalArgumentException e) {
      // Told below, without the text.
    }
    throw refused("endpoint is not https://HOST; http is for loopback alone");
  }

  private static SortedMap<String, String> parameters(String query) {
    SortedMap<String, String> parameters = new TreeMap<>();
    for (String each : query == null || query.isEmpty() ? new String[0] : query.split("&", -1)) {
      int equals = each.indexOf('=');
      String name = equals < 0 ? "" : each.substring(0, equals);
      if (!NAMES.contains(name)) {
        throw refused("it has a setting that is not known");
      }
      if (parameters.put(name, decoded(each.substring(equals + 1))) != null) {
        throw refused(name + " is given twice");
      }
    }
    return parameters;
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw refused("it has a percent sign without two digits behind it");
    }
  }

  private static WritException refused(String found) {
    return new WritException(ObjectStoreError.ADDRESS, found);
  }

  /** Names the store in messages, and for all who share it. */
  String location() {
    return "s3://"
        + bucket
        + (prefix.isEmpty() ? "" : "/" + prefix.substring(0, prefix.length() - 1));
  }
}
