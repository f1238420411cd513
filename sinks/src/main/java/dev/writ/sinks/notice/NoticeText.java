package dev.writ.sinks.notice;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sinks.feed.SinkRecord;
import dev.writ.sinks.feed.SinkSettings;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A notice for people to read. Names come from callers, so whatever is invisible in them, or turns
 * the direction of text, is written as an escape.
 *
 * @param console address of the console without a slash at its end; absent: no link
 * @param names how a name is written where it is shown
 */
public record NoticeText(Optional<String> console, UnaryOperator<String> names) {
  private static final String FORM = "https?://[A-Za-z0-9.:\\[\\]-]{1,250}";
  private static final Pattern INVISIBLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

  /** Reads {@code console}. */
  public static NoticeText of(SinkSettings settings, UnaryOperator<String> names) {
    Optional<String> console = settings.text("console");
    if (console.filter(text -> !text.matches(FORM)).isPresent()) {
      throw settings.wrong("console", "is no origin such as https://gate.example");
    }
    return new NoticeText(console, names);
  }

  /** One line. */
  public String subject(SinkRecord notice) {
    String what = named(notice, "toolId") + "/" + named(notice, "operation");
    return named(notice, "tenantId")
        + ": "
        + what
        + switch (notice.text("kind")) {
          case "allowed" -> " was approved";
          case "denied" -> " was refused";
          default -> " waits for an approval";
        };
  }

  /** The whole, a line each. */
  public List<String> lines(SinkRecord notice) {
    boolean waits = notice.text("kind").equals("waiting");
    List<String> lines = new ArrayList<>();
    lines.add(
        named(notice, "subject")
            + (waits ? " asks for " : " asked for ")
            + named(notice, "toolId")
            + "/"
            + named(notice, "operation")
            + " ("
            + named(notice, "toolId")
            + " "
            + named(notice, "toolVersion")
            + ") in the run "
            + named(notice, "run")
            + ".");
    if (waits) {
      lines.add("It waits for an approval by: " + String.join(", ", roles(notice)) + ".");
    }
    link(notice)
        .ifPresent(link -> {
          lines.add("");
          lines.add(waits ? "See exactly what would be done, and decide:" : "What became of it:");
          lines.add(link.toString());
          lines.add("The link carries no right: whoever opens it has to sign in.");
        });
    lines.add("");
    lines.add("request " + notice.request());
    lines.add("decision " + notice.evidence());
    return lines;
  }

  /** Where the console shows it; empty without the console's address. */
  public Optional<URI> link(SinkRecord notice) {
    String page = notice.text("kind").equals("waiting") ? "approvals" : "effects";
    return console.map(origin -> URI.create(origin + "/#/" + page + "/" + notice.request()));
  }

  private List<String> roles(SinkRecord notice) {
    return ((JsonValue.Arr) notice.fields().get("roles"))
        .items().stream().map(role -> visible(((JsonValue.Str) role).value())).toList();
  }

  private String named(SinkRecord notice, String field) {
    return visible(notice.text(field));
  }

  private String visible(String text) {
    return names.apply(
        INVISIBLE
            .matcher(text)
            .replaceAll(found ->
                Matcher.quoteReplacement(
                    "\\u{" + Integer.toHexString(found.group().codePointAt(0)) + "}")));
  }
}
