package dev.writ.cli.command;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import java.util.Optional;

/**
 * An operator's statement that is in force now. It is applied also where it names nothing that is
 * known here, since that may come; so a name that was mistyped is told.
 *
 * @param words what was done, for people
 * @param next what to do next, for people
 * @param doubt why the name may be mistyped, or what else may not have been meant
 */
public record StatedChange(
    String kind, JsonValue.Obj detail, String words, Optional<String> next, Optional<String> doubt)
    implements Report {
  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .put("kind", kind)
        .put("detail", detail)
        .putList("warnings", doubt.stream().toList(), JsonValue::of)
        .build();
  }

  /** Prints what the change states. */
  public void show(Session session) {
    session.show(this, StatedChange::print);
  }

  private static void print(StatedChange stated, Terminal terminal) {
    terminal.err().println(Text.printable(stated.words()));
    stated.doubt().ifPresent(text -> terminal.err().println(Text.printable("warning: " + text)));
    stated.next().ifPresent(text -> terminal.err().println(Text.printable("next: " + text)));
  }
}
