package dev.writ.cli.demo;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Shell commands that sign requests of seed 001 and send them.
 *
 * @param dir where the bodies are written
 * @param secret the file of the shared secret
 * @param url of the surface
 * @param tenant in which it asks
 */
public record DemoLogline(Path dir, Path secret, String url, String tenant) {
  private static final String RUN = "run_123";

  /** Stands in a file in place of the run that the command names; its last request ends it. */
  private static final String ENDING_RUN = "run_124";

  private static final String CODE = "code_interpreter";

  /** The seed's example, with its own names. */
  public String example() {
    return command(
        CODE,
        JsonValue.object()
            .put("language", "python")
            .put("code", "print('Hello from Railway')")
            .build());
  }

  /** Opens the demo's page and fills a field; the settings name what to take of it. */
  public String visit(String page) {
    return command(
        "web_browser",
        JsonValue.object()
            .put("url", page)
            .putList(
                "script",
                List.of(
                    step("fill").put("selector", "input").put("text", "ada").build(),
                    step("click").put("selector", "text=Find").build(),
                    step("wait").put("selector", "text=forty cards").build()),
                step -> step)
            .put("timeout_ms", 20_000)
            .build());
  }

  private static ObjectBuilder step(String action) {
    return JsonValue.object().put("action", action);
  }

  /** Clones the demo's repository, changes a file of it, commits and pushes that. */
  public String change(String repository) {
    return "r=run_$(date +%s%N); "
        + String.join(
            "; echo; ",
            command(ENDING_RUN, "git_cli", git("clone").put("url", repository).build(), false),
            command(
                ENDING_RUN,
                "code_in_workspace",
                JsonValue.object()
                    .put("language", "python")
                    .put("code", "open('app/greet.py', 'a').write(\"print('and goodbye')\\n\")")
                    .build(),
                false),
            command(
                ENDING_RUN,
                "git_cli",
                git("commit").put("message", "Say goodbye, too").build(),
                false),
            command(
                ENDING_RUN,
                "git_cli",
                git("push").put("url", repository).put("ref", "main").build(),
                true));
  }

  private static ObjectBuilder git(String operation) {
    return JsonValue.object().put("operation", operation).put("path", "app");
  }

  /** One request in the run of the seed's example. */
  public String command(String tool, JsonValue.Obj input) {
    return command(RUN, tool, input, false);
  }

  private String command(String run, String tool, JsonValue.Obj input, boolean ends) {
    var context = JsonValue.object().put("run_id", run).put("tenant_id", tenant);
    if (ends) {
      context.put("end", true);
    }
    Path body =
        body(
            input.get("operation") instanceof JsonValue.Str operation ? operation.value() : tool,
            JsonValue.object()
                .put("tool_id", tool)
                .put("input", input)
                .put("context", context.build())
                .build());
    String read = run.equals(RUN) ? "cat FILE" : "sed \"s/" + ENDING_RUN + "/$r/\" FILE";
    return ("b=$(READ); t=$(date +%s); s=$(printf %s \"$t.$b\" | openssl dgst -sha256 -r"
            + " -hmac \"$(cat SECRET)\" | cut -d' ' -f1); "
            + "curl -sS -H 'Content-Type: application/json' -H 'X-LogLine-Tool-Id: TOOL'"
            + " -H \"X-LogLine-Timestamp: $t\" -H \"X-LogLine-Signature: sha256=$s\""
            + " URL --data-binary \"$b\"")
        .replace("READ", read)
        .replace("FILE", body.toString())
        .replace("SECRET", secret.toString())
        .replace("TOOL", tool)
        .replace("URL", url);
  }

  private Path body(String name, JsonValue json) {
    try {
      return Files.write(dir.resolve("logline-" + name + ".json"), Jcs.write(json));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, dir.toString(), e);
    }
  }
}
