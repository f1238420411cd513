package dev.writ.sinks.notice;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.LedgerView;
import dev.writ.sinks.feed.MessageFeed;
import dev.writ.sinks.feed.RecordReader;
import dev.writ.sinks.feed.SinkSettings;
import java.time.Duration;
import java.util.Arrays;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which notices a sink gets.
 *
 * @param roles of approvers, of which a notice has one at least; empty for all
 * @param giveUpAfter how long one is tried
 */
public record NoticeFeed(SortedSet<String> roles, Duration giveUpAfter) implements MessageFeed {
  /** What waited longer than this for its receiver is no news any more. */
  private static final long GIVE_UP_S = 86_400;

  /** Reads {@code roles} and {@code give_up_s}. */
  public static NoticeFeed of(SinkSettings settings) {
    TreeSet<String> roles = new TreeSet<>();
    settings.text("roles").ifPresent(text -> roles.addAll(Arrays.asList(text.split(" "))));
    return new NoticeFeed(roles, Duration.ofSeconds(settings.count("give_up_s").orElse(GIVE_UP_S)));
  }

  @Override
  public RecordReader reader(LedgerView ledger) {
    NoticeJournal journal = new NoticeJournal(ledger);
    return event -> journal.read(event).filter(found -> concerns(found.fields()));
  }

  private boolean concerns(JsonValue.Obj fields) {
    return roles.isEmpty()
        || ((JsonValue.Arr) fields.get("roles"))
            .items().stream().anyMatch(role -> roles.contains(((JsonValue.Str) role).value()));
  }
}
