package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.v1.Reader;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.event.RunId;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Receipts, outputs and bundles as resources; unknown and foreign ones get the same refusal. */
final class McpResources {
  static final String RECEIPT = "writ://receipts/{id}";
  static final String OUTPUT = "writ://receipts/{id}/output";
  static final String BUNDLE = "writ://runs/{run}/bundle";

  /** How many receipts are listed: the session's latest. */
  private static final int LISTED_MAX = 100;

  /** Larger ones must be fetched from the native API. */
  private static final int BYTES_MAX = 8 << 20;

  /** How many bundles may be in memory at once while they are made. */
  private final Semaphore making = new Semaphore(2, true);

  private static final Pattern RECEIPT_URI =
      Pattern.compile("writ://receipts/(sha256:[0-9a-f]{64})(/output)?");
  private static final Pattern BUNDLE_URI = Pattern.compile("writ://runs/([^/?#]{1,768})/bundle");

  private final Kernel kernel;
  private final Reader reader;
  private final RunBundle bundles;

  McpResources(Kernel kernel, RunBundle bundles) {
    this.kernel = kernel;
    this.reader = new Reader(kernel);
    this.bundles = bundles;
  }

  static String outputUri(Digest receipt) {
    return OUTPUT.replace("{id}", receipt.toString());
  }

  static List<McpSchema.ResourceTemplate> templates() {
    return List.of(
        template(RECEIPT, "receipt", "A signed receipt (DSSE envelope).", "application/json"),
        template(OUTPUT, "output", "What an effect gave.", "application/octet-stream"),
        template(
            BUNDLE,
            "bundle",
            "A whole run with its proofs, for `writ verify`.",
            RunBundle.MEDIA_TYPE));
  }

  private static McpSchema.ResourceTemplate template(
      String uri, String name, String description, String mediaType) {
    return McpSchema.ResourceTemplate.builder(uri, name)
        .description(description)
        .mimeType(mediaType)
        .build();
  }

  /** The session's own resources: its run's bundle and its latest receipts. */
  List<McpSchema.Resource> list(McpSession session) {
    RunId run = new RunId(session.caller().tenant(), session.run());
    List<McpSchema.Resource> resources = new ArrayList<>();
    if (kernel.ledger().head(run).isPresent()) {
      String name = URLEncoder.encode(session.run(), StandardCharsets.UTF_8);
      resources.add(
          McpSchema.Resource.builder(BUNDLE.replace("{run}", name), "bundle of this session")
              .mimeType(RunBundle.MEDIA_TYPE)
              .build());
    }
    latest(session)
        .forEach(id ->
            resources.add(
                McpSchema.Resource.builder(
                        RECEIPT.replace("{id}", id.toString()),
                        "receipt " + id.hex().substring(0, 12))
                    .mimeType("application/json")
                    .build()));
    return resources;
  }

  /** The latest receipts of the session's run, in the order of the run. */
  List<Digest> latest(McpSession session) {
    ArrayDeque<Digest> latest = new ArrayDeque<>();
    kernel
        .ledger()
        .scan(
            Tables.RECEIPTS,
            Tables.prefix(session.caller().tenant(), session.run()),
            (_, value) -> {
              latest.addLast(Digest.ofBytes(value));
              if (latest.size() > LISTED_MAX) {
                latest.removeFirst();
              }
              return true;
            });
    return List.copyOf(latest);
  }

  /**
   * @throws McpError -32002, for whatever is not there for this caller
   */
  McpSchema.ReadResourceResult read(Caller caller, String uri) {
    try {
      return McpSchema.ReadResourceResult.builder(List.of(find(caller, uri))).build();
    } catch (WritException e) {
      if (Reader.isUnknown(e)) {
        throw McpError.RESOURCE_NOT_FOUND.apply(uri);
      }
      throw McpError.builder(McpSchema.ErrorCodes.INVALID_PARAMS)
          .message(e.getMessage())
          .data(Map.of("code", e.code().code()))
          .build();
    }
  }

  private McpSchema.ResourceContents find(Caller caller, String uri) {
    Matcher receipt = RECEIPT_URI.matcher(uri);
    if (receipt.matches()) {
      Digest id = Digest.parse(receipt.group(1));
      Envelope envelope = reader.document(caller, id, Receipt.TYPE);
      reader
          .records()
          .effect(
              caller,
              Receipt.read(envelope.document()).scope(),
              id,
              receipt.group(2) == null ? ReadClass.PARAMETERS : ReadClass.OUTPUTS);
      return receipt.group(2) == null
          ? McpSchema.TextResourceContents.builder(
                  uri, new String(envelope.toBytes(), StandardCharsets.UTF_8))
              .mimeType("application/json")
              .build()
          : output(caller, id, uri);
    }
    Matcher bundle = BUNDLE_URI.matcher(uri);
    if (bundle.matches()) {
      return bundle(caller, bundle.group(1), uri);
    }
    throw new WritException(GatewayError.UNKNOWN_ID, "");
  }

  private McpSchema.ResourceContents output(Caller caller, Digest id, String uri) {
    Served served = kernel.receipt(caller.tenant(), id);
    Optional<Content> content = served.receipt().output();
    if (content.isEmpty() || served.output().isEmpty()) {
      throw new WritException(GatewayError.UNKNOWN_ID, "");
    }
    String mediaType = content.get().mediaType();
    byte[] bytes = served.output().get();
    boolean text = mediaType.startsWith("text/") || mediaType.endsWith("json");
    return text
        ? McpSchema.TextResourceContents.builder(uri, new String(bytes, StandardCharsets.UTF_8))
            .mimeType(mediaType)
            .build()
        : blob(uri, mediaType, bytes);
  }

  private McpSchema.ResourceContents bundle(Caller caller, String encoded, String uri) {
    String run;
    try {
      run = URLDecoder.decode(encoded, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new WritException(GatewayError.UNKNOWN_ID, "", e);
    }
    if (run.length() > 256 || run.chars().anyMatch(c -> c < 0x20 || c == 0x7f)) {
      throw new WritException(GatewayError.UNKNOWN_ID, "");
    }
    reader.run(caller, run);
    reader.records().runs(caller, List.of(run), ReadClass.BUNDLES);
    making.acquireUninterruptibly();
    try {
      byte[] bytes =
          bundles
              .bytes(kernel, new RunId(caller.tenant(), run), BYTES_MAX)
              .orElseThrow(() ->
                  new WritException(
                      GatewayError.PARAMETER,
                      "the bundle has more than "
                          + BYTES_MAX
                          + " bytes: take it from /v1/runs/{run}/bundle"));
      return blob(uri, RunBundle.MEDIA_TYPE, bytes);
    } finally {
      making.release();
    }
  }

  private static McpSchema.ResourceContents blob(String uri, String mediaType, byte[] bytes) {
    return McpSchema.BlobResourceContents.builder(uri, Base64.getEncoder().encodeToString(bytes))
        .mimeType(mediaType)
        .build();
  }
}
