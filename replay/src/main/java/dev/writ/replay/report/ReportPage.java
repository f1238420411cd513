package dev.writ.replay.report;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleManifest;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.SecondVerifier;
import dev.writ.verify.bundle.WitnessRequirement;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.stamp.Stamps;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
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
      List.of(
          "report.js",
          "summary.js",
          "sample.js",
          "controls.js",
          "paper.js",
          "overview.js",
          "page.js");

  private ReportPage() {}

  /**
   * Data beside the bundle, which the page marks as not verified by it.
   *
   * @param pinned keys that the maker of the page pins
   * @param replay the result of a replay, in the form of {@code ReplayResult.toJson}
   * @param selection of several runs: by what they were chosen
   * @param sample what the page draws
   * @param kept a checkpoint of the log, such as one that witnesses cosigned
   * @param witnesses who must have cosigned it
   * @param stamps time stamps of it; the page tells what they say as found by its maker
   */
  public record Options(
      Optional<Trust> pinned,
      Optional<JsonValue> replay,
      Optional<Selection> selection,
      Optional<Sampling> sample,
      Optional<Checkpoint> kept,
      WitnessRequirement witnesses,
      Stamps stamps) {
    public static final Options NONE = new Options(Optional.empty(), Optional.empty());

    /** Of one run, without a sample and a kept checkpoint. */
    public Options(Optional<Trust> pinned, Optional<JsonValue> replay) {
      this(pinned, replay, Optional.empty(), Optional.empty());
    }

    /** Without a kept checkpoint. */
    public Options(
        Optional<Trust> pinned,
        Optional<JsonValue> replay,
        Optional<Selection> selection,
        Optional<Sampling> sample) {
      this(
          pinned,
          replay,
          selection,
          sample,
          Optional.empty(),
          WitnessRequirement.NONE,
          Stamps.NONE);
    }
  }

  /**
   * A sample of effects that whoever has the seed draws again (spec/report.md, <em>Sampling</em>).
   *
   * @param size how many effects, at least 1
   * @param seed a text that nobody knew when the requests were made
   */
  public record Sampling(int size, String seed) {
    JsonValue toJson() {
      return JsonValue.object().put("seed", seed).put("size", size).build();
    }
  }

  /**
   * The runs of a tenant with an event in a period.
   *
   * @param from the first moment that is within
   * @param to the first moment that is not any more
   */
  public record Selection(String tenant, Optional<Instant> from, Optional<Instant> to) {
    JsonValue toJson() {
      return JsonValue.object()
          .put("tenant", tenant)
          .putIfPresent("from", from, time -> JsonValue.of(Timestamps.format(time)))
          .putIfPresent("to", to, time -> JsonValue.of(Timestamps.format(time)))
          .build();
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
      BundleVerifier.Verified verified = verified(opened, options);
      pack(
          List.of(() -> new ByteArrayInputStream(bundle)),
          extra(RequirementTrees.of(opened), options),
          out);
      return verified;
    }
  }

  /**
   * The same of files, which are read in pieces and must stay as they are meanwhile; of several,
   * the page adds up their runs.
   *
   * @return what verifying each gave, in the same order
   * @throws WritException as the other; {@code RPL-016} where one cannot be read, {@code RPL-061}
   *     where two have the same run
   */
  public static List<BundleVerifier.Verified> write(
      List<Path> files, Options options, OutputStream out) {
    requireBounds(files.stream().mapToLong(ReportPage::size).sum());
    List<BundleVerifier.Verified> verified = new ArrayList<>();
    TreeMap<String, JsonValue> trees = new TreeMap<>();
    TreeSet<Digest> runs = new TreeSet<>();
    List<Bytes> bundles = new ArrayList<>();
    for (Path file : files) {
      try (Bundle opened = Bundle.open(file)) {
        BundleVerifier.Verified one = verified(opened, options);
        if (!runs.add(identity(one.manifest()))) {
          throw new WritException(ReplayError.REPORT_RUN_TWICE, file + ": " + one.manifest().run());
        }
        verified.add(one);
        trees.putAll(RequirementTrees.of(opened).members());
      }
      bundles.add(() -> Files.newInputStream(file));
    }
    pack(bundles, extra(new JsonValue.Obj(trees), options), out);
    return verified;
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

  /** Reads a bundle from its beginning. */
  @FunctionalInterface
  private interface Bytes {
    InputStream open() throws IOException;
  }

  private static Digest identity(BundleManifest manifest) {
    return Jcs.digest(
        JsonValue.of(
            List.of(
                JsonValue.of(manifest.origin()),
                JsonValue.of(manifest.run().tenant()),
                JsonValue.of(manifest.run().run()))));
  }

  private static BundleVerifier.Verified verified(Bundle opened, Options options) {
    return BundleVerifier.verify(
        opened,
        new BundleVerifier.Options(
            options.pinned(), options.kept(), false, options.witnesses(), options.stamps()),
        _ -> {});
  }

  private static byte[] extra(JsonValue.Obj trees, Options options) {
    JsonValue.Obj extra =
        JsonValue.object()
            .put("trees", trees)
            .putIfPresent("trust", options.pinned(), Trust::toJson)
            .putIfPresent("replay", options.replay(), replay -> replay)
            .putIfPresent("sample", options.sample(), Sampling::toJson)
            .putIfPresent("selection", options.selection(), Selection::toJson)
            .putIfPresent(
                "checkpoint",
                options.kept(),
                kept -> JsonValue.of(new String(kept.toBytes(), StandardCharsets.UTF_8)))
            .putList("witnesses", options.witnesses().keys(), key -> JsonValue.of(key.toString()))
            .put("quorum", options.witnesses().quorum())
            .putList("stamps", stamped(options), JsonValue::of)
            .build();
    // Only a '<' could end a script element; in JSON it occurs only in strings.
    return new String(Jcs.write(extra), StandardCharsets.UTF_8)
        .replace("<", "\\u003c")
        .getBytes(StandardCharsets.UTF_8);
  }

  private static List<String> stamped(Options options) {
    return options
        .kept()
        .map(kept ->
            options.stamps().of(kept).stream()
                .map(stamp -> stamp.says(kept) + ", as writ report found")
                .toList())
        .orElse(List.of());
  }

  /** Each bundle is a line of its element. */
  private static void pack(List<Bytes> bundles, byte[] extra, OutputStream out) {
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
          for (Bytes bundle : bundles) {
            base64(bundle, out);
            out.write('\n');
          }
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
