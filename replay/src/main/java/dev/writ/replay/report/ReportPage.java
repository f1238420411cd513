package dev.writ.replay.report;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.ledger.Checkpoint;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.SecondVerifier;
import dev.writ.verify.bundle.Witnesses;
import dev.writ.verify.error.BundleError;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
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

  /** Bytes that are encoded at a time: a multiple of three, so that only the last is padded. */
  private static final int PIECE = 3 << 14;

  private static final Pattern PLACE = Pattern.compile("@(POLICY|STYLE|BUNDLE|EXTRA|SCRIPT)@");

  /** The page's own scripts; the last one begins the work. */
  private static final List<String> SCRIPTS =
      List.of("report.js", "summary.js", "paper.js", "page.js");

  private ReportPage() {}

  /**
   * Data beside the bundle, which the page marks as not verified by it.
   *
   * @param pinned keys that the maker of the page pins
   * @param replay the result of a replay, in the form of {@code ReplayResult.toJson}
   * @param kept a checkpoint of the log, such as one that witnesses cosigned
   * @param witnesses who must have cosigned it
   */
  public record Options(
      Optional<Trust> pinned,
      Optional<JsonValue> replay,
      Optional<Checkpoint> kept,
      Witnesses witnesses) {
    public static final Options NONE = new Options(Optional.empty(), Optional.empty());

    /** Without a kept checkpoint. */
    public Options(Optional<Trust> pinned, Optional<JsonValue> replay) {
      this(pinned, replay, Optional.empty(), Witnesses.NONE);
    }
  }

  /**
   * Verifies the bundle and writes its page.
   *
   * @throws WritException {@code RPL-060} where it is too large for a page; what {@link
   *     BundleVerifier#verify} throws for an invalid bundle
   */
  public static BundleVerifier.Verified write(byte[] bundle, Options options, OutputStream out) {
    requireBounds(bundle.length);
    try (Bundle opened = Bundle.of(bundle)) {
      return write(opened, () -> new ByteArrayInputStream(bundle), options, out);
    }
  }

  /**
   * The same of a file, which is read in pieces and must stay as it is meanwhile.
   *
   * @throws WritException as the other, {@code RPL-016} where it cannot be read
   */
  public static BundleVerifier.Verified write(Path file, Options options, OutputStream out) {
    requireBounds(size(file));
    try (Bundle opened = Bundle.open(file)) {
      return write(opened, () -> Files.newInputStream(file), options, out);
    }
  }

  private static void requireBounds(long bytes) {
    if (bytes > BUNDLE_MAX) {
      throw new WritException(ReplayError.REPORT_BOUNDS, bytes + " bytes, at most " + BUNDLE_MAX);
    }
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private static WritException failed(IOException e) {
    return new WritException(BundleError.STORAGE, String.valueOf(e.getMessage()), e);
  }

  /** Reads the bundle from its beginning. */
  @FunctionalInterface
  private interface Bytes {
    InputStream open() throws IOException;
  }

  private static BundleVerifier.Verified write(
      Bundle opened, Bytes bundle, Options options, OutputStream out) {
    BundleVerifier.Verified verified =
        BundleVerifier.verify(
            opened,
            new BundleVerifier.Options(
                options.pinned(), options.kept(), false, options.witnesses()),
            _ -> {});
    pack(bundle, extra(opened, options), out);
    return verified;
  }

  private static byte[] extra(Bundle bundle, Options options) {
    JsonValue.Obj extra =
        JsonValue.object()
            .put("trees", RequirementTrees.of(bundle))
            .putIfPresent("trust", options.pinned(), Trust::toJson)
            .putIfPresent("replay", options.replay(), replay -> replay)
            .putIfPresent(
                "checkpoint",
                options.kept(),
                kept -> JsonValue.of(new String(kept.toBytes(), StandardCharsets.UTF_8)))
            .putList("witnesses", options.witnesses().keys(), key -> JsonValue.of(key.toString()))
            .put("quorum", options.witnesses().quorum())
            .build();
    // Only a '<' could end a script element; in JSON it occurs only in strings.
    return new String(Jcs.write(extra), StandardCharsets.UTF_8)
        .replace("<", "\\u003c")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static void pack(Bytes bundle, byte[] extra, OutputStream out) {
    byte[] script = script();
    byte[] style = resource("report.css");
    TreeMap<String, byte[]> parts = new TreeMap<>();
    parts.put("SCRIPT", script);
    parts.put("STYLE", style);
    parts.put("EXTRA", extra);
    parts.put("POLICY", policy(script, style).getBytes(StandardCharsets.UTF_8));
    String template = new String(resource("report.html"), StandardCharsets.UTF_8);
    try {
      Matcher place = PLACE.matcher(template);
      int from = 0;
      while (place.find()) {
        out.write(template.substring(from, place.start()).getBytes(StandardCharsets.UTF_8));
        if (place.group(1).equals("BUNDLE")) {
          base64(bundle, out);
        } else {
          out.write(parts.get(place.group(1)));
        }
        from = place.end();
      }
      out.write(template.substring(from).getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private static void base64(Bytes bundle, OutputStream out) throws IOException {
    byte[] piece = new byte[PIECE];
    try (InputStream in = bundle.open()) {
      for (int n = in.readNBytes(piece, 0, PIECE); n > 0; n = in.readNBytes(piece, 0, PIECE)) {
        out.write(Base64.getEncoder().encode(n == PIECE ? piece : Arrays.copyOf(piece, n)));
      }
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

  /**
   * One script, since the page allows one: the verifier, then each file in the order of its needs.
   */
  private static byte[] script() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(SecondVerifier.source());
    for (String name : SCRIPTS) {
      out.write('\n');
      out.writeBytes(resource(name));
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
