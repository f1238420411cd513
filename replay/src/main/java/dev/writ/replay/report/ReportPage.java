package dev.writ.replay.report;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.SecondVerifier;
import dev.writ.verify.error.BundleError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The report of a run (spec/report.md): one page that contains the bundle and the second verifier.
 * When it is opened it verifies the bundle, and shows only what it has verified. So this class
 * states nothing about the run; it only packs the page.
 */
public final class ReportPage {
  /** Browsers hold a text of about 512 MiB; base64 takes four bytes for three. */
  public static final long BUNDLE_MAX = 256L << 20;

  private static final Pattern PLACE = Pattern.compile("@(POLICY|STYLE|BUNDLE|EXTRA|SCRIPT)@");

  private ReportPage() {}

  /**
   * Data beside the bundle, which the page marks as not verified by it.
   *
   * @param pinned keys that the maker of the page pins
   * @param replay the result of a replay, in the form of {@code ReplayResult.toJson}
   */
  public record Options(Optional<Trust> pinned, Optional<JsonValue> replay) {
    public static final Options NONE = new Options(Optional.empty(), Optional.empty());
  }

  /**
   * Verifies the bundle and writes its page.
   *
   * @throws WritException {@code RPL-060} where it is too large for a page; what {@link
   *     BundleVerifier#verify} throws for an invalid bundle
   */
  public static BundleVerifier.Verified write(byte[] bundle, Options options, OutputStream out) {
    if (bundle.length > BUNDLE_MAX) {
      throw new WritException(
          ReplayError.REPORT_BOUNDS, bundle.length + " bytes, at most " + BUNDLE_MAX);
    }
    try (Bundle opened = Bundle.of(bundle)) {
      BundleVerifier.Verified verified =
          BundleVerifier.verify(
              opened,
              new BundleVerifier.Options(options.pinned(), Optional.empty(), false),
              _ -> {});
      pack(bundle, extra(opened, options), out);
      return verified;
    }
  }

  private static byte[] extra(Bundle bundle, Options options) {
    JsonValue.Obj extra =
        JsonValue.object()
            .put("trees", RequirementTrees.of(bundle))
            .putIfPresent("trust", options.pinned(), Trust::toJson)
            .putIfPresent("replay", options.replay(), replay -> replay)
            .build();
    // Only a '<' could end a script element; in JSON it occurs only in strings.
    return new String(Jcs.write(extra), StandardCharsets.UTF_8)
        .replace("<", "\\u003c")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static void pack(byte[] bundle, byte[] extra, OutputStream out) {
    byte[] script = join(SecondVerifier.source(), new byte[] {'\n'}, resource("report.js"));
    byte[] style = resource("report.css");
    TreeMap<String, byte[]> parts = new TreeMap<>();
    parts.put("SCRIPT", script);
    parts.put("STYLE", style);
    parts.put("EXTRA", extra);
    parts.put("POLICY", policy(script, style).getBytes(StandardCharsets.UTF_8));
    parts.put("BUNDLE", Base64.getEncoder().encode(bundle));
    String template = new String(resource("report.html"), StandardCharsets.UTF_8);
    try {
      Matcher place = PLACE.matcher(template);
      int from = 0;
      while (place.find()) {
        out.write(template.substring(from, place.start()).getBytes(StandardCharsets.UTF_8));
        out.write(parts.get(place.group(1)));
        from = place.end();
      }
      out.write(template.substring(from).getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new WritException(BundleError.STORAGE, String.valueOf(e.getMessage()), e);
    }
  }

  /** Nothing is loaded, no other script runs, and no text becomes markup. */
  private static String policy(byte[] script, byte[] style) {
    return "default-src 'none'; script-src "
        + source(script)
        + "; style-src "
        + source(style)
        + "; img-src data:; base-uri 'none'; form-action 'none';"
        + " require-trusted-types-for 'script'; trusted-types 'none'";
  }

  private static String source(byte[] content) {
    MessageDigest hash = Digest.newSha256();
    return "'sha256-" + Base64.getEncoder().encodeToString(hash.digest(content)) + "'";
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private static byte[] resource(String name) {
    try (InputStream in = ReportPage.class.getResourceAsStream(name)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
