package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The result of a call, for the model that made it; ids for verification are in _meta. */
final class Results {
  /** Larger outputs are not in the result, but a resource. */
  static final int INLINE_BYTES_MAX = 1 << 20;

  static final String META = "dev.writ/";

  /** What a model can act on; the denial behind it is written for who keeps the policy. */
  private static final String NOT_LISTED =
      "No tool of this name is listed for you: call one of those that tools/list has.";

  private static final int PARTIAL_BYTES_MAX = 64 << 10;

  /** How many events back from a run's end a receipt's event is searched. */
  private static final int EVENTS_LOOKED_AT_MAX = 256;

  private static final McpJsonMapper MAPPER = McpJsonDefaults.getMapper();

  private final Kernel kernel;
  private final McpTools tools;

  Results(Kernel kernel, McpTools tools) {
    this.kernel = kernel;
    this.tools = tools;
  }

  /** Of that view: where our own tool is not listed it is not named. */
  CallToolResult of(Answer answer, McpView view) {
    Map<String, Object> meta = meta(answer);
    if (answer.served().isPresent()) {
      return served(answer.served().get(), meta);
    }
    return answer.decision().verdict() == Verdict.ESCALATE
        ? error(told(answer, escalated(answer, view)), meta)
        : error(told(answer, denied(answer)), meta);
  }

  /** Refused before judging: nothing is signed, since nothing was admitted. */
  CallToolResult refused(WritException e) {
    Map<String, Object> meta = new TreeMap<>();
    meta.put(META + "code", e.code().code());
    return error(
        "REFUSED "
            + e.code().code()
            + ": "
            + e.code().meaning()
            + (e.found().isEmpty() ? "" : ": " + e.found())
            + ". "
            + e.code().remedy(),
        meta);
  }

  /** The Guardian's denial of a call that cannot be read. */
  CallToolResult malformed(CallToolResult denied) {
    return behind(
        McpRefusal.CALL.code() + ": " + McpRefusal.CALL.meaning() + ". " + McpRefusal.CALL.remedy(),
        denied);
  }

  /** The Guardian's denial of a tool that this caller is not shown, whether there is one or not. */
  CallToolResult notListed(CallToolResult denied) {
    return behind(NOT_LISTED, denied);
  }

  private static CallToolResult behind(String sentence, CallToolResult denied) {
    CallToolResult.Builder result =
        CallToolResult.builder().addTextContent(sentence).isError(true).meta(denied.meta());
    denied.content().forEach(result::addContent);
    return result.build();
  }

  private static CallToolResult error(String text, Map<String, Object> meta) {
    return CallToolResult.builder().addTextContent(text).isError(true).meta(meta).build();
  }

  private static String denied(Answer answer) {
    return "DENIED "
        + why(answer.decision())
        + " Signed denial: "
        + answer.decisionEnvelope().id()
        + ".";
  }

  private static String escalated(Answer answer, McpView view) {
    return "WAITS FOR APPROVAL, nothing was done: "
        + why(answer.decision())
        + " A person approves exactly this request with\n  writ approve "
        + answer.request()
        + "\nAfterwards call this tool again with the same arguments"
        + (view.server().isEmpty() ? ", or " + OutcomeTool.NAME + " with this request" : "")
        + ": it is executed then, once.";
  }

  /** A sentence in a line: faults of the arguments first, behind the finding what would help. */
  private String told(Answer answer, String finding) {
    Optional<Guidance> guidance = kernel.explanations().guidance(answer);
    return Stream.of(
            guidance.map(Guidance::faults).orElse(List.of()),
            List.of(finding),
            guidance.map(Guidance::further).orElse(List.of()))
        .flatMap(List::stream)
        .collect(Collectors.joining("\n"));
  }

  /** The check that refused, its code, and its finding. */
  private static String why(Decision decision) {
    Optional<CheckOutcome> check = decision.refusing();
    return decision.code().orElse("")
        + check.map(c -> " (" + c.check() + " check): " + c.detail()).orElse("")
        + ".";
  }

  private CallToolResult served(Served served, Map<String, Object> meta) {
    Receipt receipt = served.receipt();
    CallToolResult.Builder result = CallToolResult.builder().meta(meta);
    if (receipt.status() != Status.SUCCEEDED) {
      result.isError(true).addTextContent(failed(served));
      Optional<List<McpSchema.Content>> own = served.rawOutput().flatMap(raw -> own(receipt, raw));
      own.ifPresentOrElse(
          blocks -> blocks.forEach(result::addContent),
          () -> partial(served).ifPresent(result::addTextContent));
      return result.build();
    }
    result.isError(false);
    if (receipt.output().isEmpty() || served.output().isEmpty()) {
      return result.addTextContent("Done; its output was not kept.").build();
    }
    byte[] output = served.output().get();
    Optional<List<McpSchema.Content>> own = own(receipt, output);
    if (own.isPresent()) {
      own.get().forEach(result::addContent);
      if (object(output).orElseThrow().get("structuredContent") instanceof JsonValue structured) {
        result.structuredContent(PlainJson.of(structured));
      }
      return result.build();
    }
    put(result, served.id(), receipt.output().get(), output);
    return result.build();
  }

  /** The blocks of content of a server's own result, unless they are too large for a result. */
  private Optional<List<McpSchema.Content>> own(Receipt receipt, byte[] output) {
    boolean ofServer =
        output.length <= INLINE_BYTES_MAX
            && tools
                .manifest(receipt.tool())
                .filter(manifest -> manifest.driver().equals(Catalogue.OF_A_SERVER))
                .isPresent();
    return ofServer ? object(output).flatMap(Results::blocks) : Optional.empty();
  }

  /** The blocks of a result of tools/call, as the SDK writes them. */
  static Optional<List<McpSchema.Content>> blocks(JsonValue.Obj result) {
    return result.get("content") instanceof JsonValue.Arr content
        ? Optional.of(
            content.items().stream()
                .map(block -> MAPPER.convertValue(PlainJson.of(block), McpSchema.Content.class))
                .toList())
        : Optional.empty();
  }

  private static String failed(Served served) {
    Receipt receipt = served.receipt();
    String text =
        receipt.status().name().replace('_', ' ')
            + receipt.code().map(code -> " " + code).orElse("")
            + ": "
            + receipt.reason()
            + (receipt.message().isEmpty() ? "" : ": " + receipt.message().replaceFirst("\\.$", ""))
            + ". Receipt: "
            + served.id()
            + ".";
    return receipt.status() == Status.IN_DOUBT
        ? text + " Whether it was done, nobody knows; an operator resolves it. Do not repeat it."
        : text;
  }

  /** The end of the tool's output before it failed. */
  private static Optional<String> partial(Served served) {
    return served
        .rawOutput()
        .filter(bytes -> bytes.length > 0)
        .map(bytes -> {
          int from = Math.max(0, bytes.length - PARTIAL_BYTES_MAX);
          return new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8);
        });
  }

  private static void put(
      CallToolResult.Builder result, Digest receipt, Content content, byte[] bytes) {
    String mediaType = content.mediaType();
    boolean json = mediaType.equals("application/json") || mediaType.endsWith("+json");
    String uri = McpResources.outputUri(receipt);
    if (json && object(bytes).isPresent()) {
      result.structuredContent(PlainJson.object(object(bytes).get()));
    }
    if (bytes.length > INLINE_BYTES_MAX) {
      result.addTextContent(bytes.length + " bytes of " + mediaType + ": read " + uri);
      return;
    }
    Optional<String> text = json || mediaType.startsWith("text/") ? text(bytes) : Optional.empty();
    result.addContent(
        text.<McpSchema.Content>map(t -> McpSchema.TextContent.builder(t).build())
            .orElseGet(() -> media(uri, mediaType, Base64.getEncoder().encodeToString(bytes))));
  }

  /** The bytes as UTF-8 text; empty if they are not, and then the bytes are returned. */
  private static Optional<String> text(byte[] bytes) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  /** Media without a content kind in the protocol become a resource with embedded content. */
  private static McpSchema.Content media(String uri, String mediaType, String base64) {
    if (mediaType.startsWith("image/")) {
      return McpSchema.ImageContent.builder(base64, mediaType).build();
    }
    if (mediaType.startsWith("audio/")) {
      return McpSchema.AudioContent.builder(base64, mediaType).build();
    }
    return McpSchema.EmbeddedResource.builder(
            McpSchema.BlobResourceContents.builder(uri, base64).mimeType(mediaType).build())
        .build();
  }

  private static Optional<JsonValue.Obj> object(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != '{') {
      return Optional.empty(); // canonical JSON begins with the brace
    }
    try {
      return Jcs.parse(bytes, new Limits(Integer.MAX_VALUE - 8, Limits.DEFAULT.depthMax()))
              instanceof JsonValue.Obj object
          ? Optional.of(object)
          : Optional.empty();
    } catch (WritException e) {
      return Optional.empty(); // deeper than our documents may be: returned as text only
    }
  }

  private Map<String, Object> meta(Answer answer) {
    Map<String, Object> meta = new TreeMap<>();
    Decision decision = answer.decision();
    meta.put(META + "request", answer.request().toString());
    meta.put(META + "decision", answer.decisionEnvelope().id().toString());
    meta.put(META + "verdict", decision.verdict().name());
    meta.put(META + "run", decision.scope().run());
    meta.put(META + "log", kernel.ledger().origin());
    decision.code().ifPresent(code -> meta.put(META + "code", code));
    kernel
        .explanations()
        .guidance(answer)
        .ifPresent(guidance -> meta.put(META + "guidance", PlainJson.object(guidance.toJson())));
    answer.intent().ifPresent(intent -> meta.put(META + "intent", intent.id().toString()));
    answer
        .served()
        .ifPresent(served -> {
          Receipt receipt = served.receipt();
          meta.put(META + "receipt", served.id().toString());
          meta.put(META + "status", receipt.status().text());
          meta.put(META + "lamport", receipt.lamport());
          meta.put(META + "repeated", served.repeated());
          receipt.code().ifPresent(code -> meta.put(META + "code", code));
          receipt
              .output()
              .ifPresent(output -> meta.put(META + "output", output.digest().toString()));
          index(receipt, served.id()).ifPresent(index -> meta.put(META + "log_index", index));
        });
    return meta;
  }

  /** The position of the receipt's event in the log. */
  private OptionalLong index(Receipt receipt, Digest id) {
    LedgerView ledger = kernel.ledger();
    RunId run = new RunId(receipt.scope().tenant(), receipt.scope().run());
    long last = ledger.head(run).map(Event::seq).orElse(-1L);
    for (long seq = last; seq >= Math.max(0, last - EVENTS_LOOKED_AT_MAX); seq--) {
      if (ledger.event(run, seq).filter(event -> event.body().equals(id)).isPresent()) {
        return ledger.indexOf(run, seq);
      }
    }
    return OptionalLong.empty();
  }
}
