package dev.writ.tools.browser;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.tools.wasm.Texts;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The report of the program in the sandbox. A hostile page may have taken over that program, so
 * nothing in the report is trusted: its size is limited by the sandbox, and any other form is
 * refused. If the program ended too early, the lines before count.
 *
 * @param reason {@code ok}, or why it stopped; empty if its last line is missing
 * @param navigated the last URL that the page went to
 */
record VisitReport(
    Optional<JsonValue.Obj> browser,
    List<JsonValue> console,
    Optional<JsonValue.Obj> page,
    Optional<String> reason,
    String message,
    Optional<JsonValue.Obj> counts,
    String navigated) {
  private static final List<String> COUNTS =
      List.of("console_dropped", "dialogs", "downloads", "popups", "requests", "steps");
  private static final List<String> REASONS =
      List.of(
          "ok",
          "browser-failed",
          "navigation-failed",
          "page-closed",
          "page-crashed",
          "page-unresponsive",
          "result-failed",
          "step-failed",
          "too-many-dialogs",
          "too-many-downloads",
          "too-many-popups");

  /** Reads line by line; an unfinished or a strange line ends the reading. */
  static VisitReport read(byte[] stdout) {
    Reader reader = new Reader();
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try {
      for (byte b : stdout) {
        if (b != '\n') {
          line.write(b);
          continue;
        }
        reader.take(Fields.of("event", Jcs.parse(line.toByteArray())));
        line.reset();
      }
    } catch (WritException e) {
      // The rest cannot be trusted, so the report counts as unfinished.
      reader.reason = Optional.empty();
    }
    return reader.report();
  }

  private static final class Reader {
    private Optional<JsonValue.Obj> browser = Optional.empty();
    private final List<JsonValue> console = new ArrayList<>();
    private Optional<JsonValue.Obj> page = Optional.empty();
    private Optional<String> reason = Optional.empty();
    private String message = "";
    private Optional<JsonValue.Obj> counts = Optional.empty();
    private String navigated = "";

    void take(Fields event) {
      switch (event.string("event")) {
        case "browser" -> browser = Optional.of(members(event, "chromium", "node"));
        case "console" -> console.add(members(event, "type", "text"));
        case "page" -> page = Optional.of(page(event));
        default -> end(event);
      }
    }

    private static JsonValue.Obj members(Fields event, String one, String other) {
      JsonValue.Obj members =
          JsonValue.object().put(one, event.string(one)).put(other, event.string(other)).build();
      event.end();
      return members;
    }

    private static JsonValue.Obj page(Fields event) {
      ObjectBuilder page =
          JsonValue.object()
              .put("final_url", event.string("final_url"))
              .put("title", event.string("title"))
              .put("status", event.count("status"));
      for (String what : List.of("html", "text")) {
        page.putIfPresent(what, event.optional(what, event::string), JsonValue::of);
        String cut = what + "_truncated";
        page.putIfPresent(cut, event.optional(cut, event::bool), JsonValue::of);
      }
      page.putIfPresent(
          "png_truncated", event.optional("png_truncated", event::bool), JsonValue::of);
      event.end();
      return page.build();
    }

    /** What went wrong, without the driver's log of what it tried. */
    private static String plain(String text) {
      int log = text.indexOf("Call log:");
      String said = log < 0 ? text : text.substring(0, log);
      return said.replaceAll("\\p{Cntrl}+", " ").strip();
    }

    private void end(Fields event) {
      event.oneOf("event", List.of("end"), e -> e);
      final String word = event.oneOf("reason", REASONS, r -> r);
      message = Texts.message(plain(event.string("message")));
      navigated = event.string("navigated");
      Fields all = event.fields("counts");
      ObjectBuilder object = JsonValue.object();
      COUNTS.forEach(name -> object.put(name, all.count(name)));
      all.end();
      event.end();
      counts = Optional.of(object.build());
      reason = Optional.of(word);
    }

    VisitReport report() {
      return new VisitReport(browser, console, page, reason, message, counts, navigated);
    }
  }
}
