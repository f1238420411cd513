package dev.writ.kms;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.SignerError;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The URI of a key of AWS KMS (spec/keys.md, "Keys in a cloud's KMS").
 *
 * @param arn the key's
 * @param region the ARN's
 * @param endpoint in place of that of the region
 * @param patience the longest time for one call, with all that is tried again
 */
record AwsKeyUri(String arn, String region, Optional<URI> endpoint, Duration patience) {
  static final String PREFIX = "awskms:";

  private static final Pattern FORM =
      Pattern.compile(
          "awskms:(arn:aws[a-z-]{0,20}:kms:([a-z0-9-]{1,40}):[0-9]{12}:key/[A-Za-z0-9-]{1,64})"
              + "(?:\\?([^#]*))?");
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

  /**
   * @throws WritException {@code SGN-020}
   */
  static AwsKeyUri parse(String text) {
    Matcher whole = FORM.matcher(text);
    if (!whole.matches()) {
      // The text is in no message: somebody may have written a secret into it.
      throw refused("what stands behind awskms: is no ARN of a key");
    }
    TreeMap<String, String> settings = new TreeMap<>();
    for (String each : whole.group(3) == null ? new String[0] : whole.group(3).split("&", -1)) {
      int equals = each.indexOf('=');
      String name = equals < 0 ? "" : each.substring(0, equals);
      if (!name.equals("endpoint") && !name.equals("patience_s")) {
        throw refused("it has a setting that is neither endpoint nor patience_s");
      }
      if (settings.put(name, each.substring(equals + 1)) != null) {
        throw refused(name + " is given twice");
      }
    }
    String patience = settings.getOrDefault("patience_s", "10");
    if (!patience.matches("[1-9][0-9]?")) {
      throw refused("patience_s is not a number from 1 to 99");
    }
    return new AwsKeyUri(
        whole.group(1),
        whole.group(2),
        Optional.ofNullable(settings.get("endpoint")).map(AwsKeyUri::url),
        Duration.ofSeconds(Integer.parseInt(patience)));
  }

  private static URI url(String text) {
    try {
      URI url = URI.create(text);
      boolean isLocal = url.getHost() != null && LOOPBACK.contains(url.getHost());
      boolean isPlain =
          url.getHost() != null
              && url.getUserInfo() == null
              && url.getQuery() == null
              && (url.getPath().isEmpty() || url.getPath().equals("/"));
      if (isPlain
          && ("https".equals(url.getScheme()) || isLocal && "http".equals(url.getScheme()))) {
        return url;
      }
    } catch (IllegalArgumentException e) {
      // Told below, without the text.
    }
    throw refused("endpoint is not https://HOST; http is for loopback alone");
  }

  private static WritException refused(String what) {
    return new WritException(SignerError.SERVICE_URI, what);
  }
}
