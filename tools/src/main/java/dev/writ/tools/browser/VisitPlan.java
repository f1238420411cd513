package dev.writ.tools.browser;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.document.Input;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.MediaTypes;
import dev.writ.tools.process.ProcessCall;
import java.util.List;
import java.util.Optional;

/**
 * The plan of one call. The manifest's schema has validated the params; this adds the checks that a
 * schema cannot express.
 *
 * @param url the URL to open; empty if the caller gave the page
 * @param start the name of the file to open if there is no url; empty for {@code html}
 * @param html the page itself, if the caller gave it
 * @param script as in the params
 * @param egress destinations of the call: that of the url, and the params' network
 */
record VisitPlan(
    Optional<String> url,
    String start,
    Optional<String> html,
    List<JsonValue> script,
    List<String> results,
    JsonValue.Obj viewport,
    boolean fullPage,
    long timeoutMs,
    List<EgressRule> egress) {
  /** The place of the page in the sandbox, and the directory of the inputs. */
  static final String PAGE = "page/index.html";

  static final String INPUTS = "in";

  private static final String HTML = "text/html; charset=utf-8";
  private static final String UNKNOWN = "application/octet-stream";

  /**
   * @throws WritException {@code TOL-061}, and for what is no place of a network {@code SBX-029}
   */
  static VisitPlan read(ProcessCall call) {
    Fields fields = Fields.of("params", call.params());
    Optional<String> url = fields.optional("url", fields::string);
    Optional<String> html = fields.optional("html", fields::string);
    Optional<String> file = fields.optional("file", fields::string);
    List<JsonValue> script =
        fields.optional("script", k -> fields.list(k, (path, v) -> v)).orElse(List.of());
    List<String> results =
        fields.optional("results", k -> fields.list(k, Fields::stringItem)).orElse(List.of("text"));
    JsonValue.Obj viewport =
        fields
            .optional("viewport", fields::obj)
            .orElse(JsonValue.object().put("width", 1280).put("height", 720).build());
    boolean fullPage = fields.optional("full_page", fields::bool).orElse(false);
    long timeoutMs = fields.optional("timeout_ms", fields::count).orElse(10_000L);
    fields.optional("network", fields::value);
    fields.end();
    file.ifPresent(name -> requireInput(name, call.invocation().inputs()));
    VisitPlan plan =
        new VisitPlan(
            url,
            file.orElse(""),
            html,
            script,
            results,
            viewport,
            fullPage,
            timeoutMs,
            call.egress());
    plan.requireListed();
    return plan;
  }

  private static void requireInput(String name, List<Input> inputs) {
    if (inputs.stream().noneMatch(input -> input.name().equals(name))) {
      throw new WritException(ToolsError.BROWSER_PARAMS, "file names none of the inputs");
    }
  }

  /** Requires that a script navigates only to destinations that the envelope check has seen. */
  private void requireListed() {
    for (int i = 0; i < script.size(); i++) {
      JsonValue.Obj step = (JsonValue.Obj) script.get(i);
      boolean goes =
          step.get("action") instanceof JsonValue.Str action && action.value().equals("goto");
      if (!goes) {
        continue;
      }
      String target = step.get("url") instanceof JsonValue.Str text ? text.value() : "";
      boolean web = target.startsWith("http://") || target.startsWith("https://");
      if (!web || !egress.contains(ProcessCall.rule(target))) {
        throw new WritException(
            ToolsError.BROWSER_PARAMS,
            "script/" + i + " goes to a place that neither url nor network has");
      }
    }
  }

  /**
   * The input of the program in the sandbox.
   *
   * @param outputBytes that it may write
   */
  byte[] toStdin(List<Input> inputs, long outputBytes) {
    ObjectBuilder files = JsonValue.object();
    for (Input input : inputs) {
      files.put(input.name(), file("/workspace/" + INPUTS + "/" + input.name(), mediaType(input)));
    }
    if (html.isPresent()) {
      files.put("", file("/workspace/" + PAGE, HTML));
    }
    return Jcs.write(
        JsonValue.object()
            .putIfPresent("url", url, JsonValue::of)
            .put("start", start)
            .put("files", files.build())
            .put("script", JsonValue.of(script))
            .putList("results", results, JsonValue::of)
            .put("viewport", viewport)
            .put("full_page", fullPage)
            .put("timeout_ms", timeoutMs)
            .put("network", !egress.isEmpty())
            .put("console_bytes", outputBytes / 4)
            .put("text_bytes", outputBytes / 4)
            .build());
  }

  private static JsonValue.Obj file(String path, String mediaType) {
    return JsonValue.object().put("path", path).put("media_type", mediaType).build();
  }

  /**
   * The media type that the browser gets for a file; text is UTF-8 unless another encoding is
   * stated.
   */
  private static String mediaType(Input input) {
    String stated = input.mediaType();
    String type = stated.equals(UNKNOWN) ? MediaTypes.of(input.name()) : stated;
    return type.startsWith("text/") && !type.contains(";") ? type + "; charset=utf-8" : type;
  }
}
