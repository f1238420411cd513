package dev.writ.testkit;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.JavaTool;
import java.util.ArrayList;
import java.util.List;

/**
 * A tool that does what a test says and remembers each call. It accepts any object as its
 * parameters and returns any JSON; by default it returns its parameters. Thread safe.
 */
public final class ScriptedTool {
  private static final String ANY_OBJECT = "{\"type\":\"object\"}";
  private static final String ANYTHING = "{}";

  private final JavaTool tool;
  private final List<JavaTool.Call> calls = new ArrayList<>();
  private JavaTool.Handler handler = JavaTool.Call::params;

  private ScriptedTool(String name, String input, String output) {
    this.tool = JavaTool.of(name, "1.0.0", input, output, this::call);
  }

  /** One of that name. */
  public static ScriptedTool named(String name) {
    return new ScriptedTool(name, ANY_OBJECT, ANYTHING);
  }

  /** A tool of that name, with JSON Schemas of its parameters and its result. */
  public static ScriptedTool named(String name, String input, String output) {
    return new ScriptedTool(name, input, output);
  }

  private JsonValue call(JavaTool.Call call) throws Exception {
    JavaTool.Handler now;
    synchronized (this) {
      calls.add(call);
      now = handler;
    }
    return now.call(call);
  }

  /** From now on it does this. */
  public synchronized void does(JavaTool.Handler behaviour) {
    handler = behaviour;
  }

  /** From now on it gives this. */
  public void gives(JsonValue result) {
    does(_ -> result);
  }

  /** From now on it fails with this message. */
  public void fails(String message) {
    does(_ -> {
      throw new IllegalStateException(message);
    });
  }

  /** Every call so far, in the order in which they began. */
  public synchronized List<JavaTool.Call> calls() {
    return List.copyOf(calls);
  }

  /** For an installation: {@code Writ.inMemory().tool(mail.tool())}. */
  public JavaTool tool() {
    return tool;
  }
}
