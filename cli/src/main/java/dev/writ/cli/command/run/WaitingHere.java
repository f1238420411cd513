package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.cli.base.Homes;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.InstalledTools;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.view.Waiting;
import dev.writ.gateway.view.WaitingView;
import dev.writ.ledger.LedgerView;
import dev.writ.tools.registry.ToolRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What waits for approval in a home, out of its ledger, also while a server runs on it. */
final class WaitingHere {
  private static final int PAGE = 1_000;

  private WaitingHere() {}

  /** Under the policy that is in force now. */
  static Waiting of(Home home, LedgerView ledger) {
    SystemState inForce = SystemState.read(ledger);
    InstalledTools tools = new InstalledTools(ToolRegistry.open(home.tools()), List.of());
    return new Waiting(ledger, () -> inForce, tools::manifest);
  }

  /** Everything that waits, of all tenants, what has waited longest first. */
  static List<WaitingView> all(Home home, LedgerView ledger) {
    Waiting waiting = of(home, ledger);
    Instant now = Homes.clock().instant();
    List<WaitingView> found = new ArrayList<>();
    for (String tenant : tenants(ledger)) {
      Optional<Digest> after = Optional.empty();
      do {
        Waiting.Page page = waiting.page(tenant, now, after, PAGE);
        found.addAll(page.waiting());
        after = page.next();
      } while (after.isPresent());
    }
    found.sort(Comparator.comparing(WaitingView::since).thenComparing(WaitingView::id));
    return found;
  }

  private static TreeSet<String> tenants(LedgerView ledger) {
    TreeSet<String> tenants = new TreeSet<>();
    ledger.scan(
        Tables.PENDING,
        "",
        (key, _) -> {
          tenants.add(Tables.firstPart(key));
          return true;
        });
    return tenants;
  }

  /** Whose word is asked for: {@code reviewer 0 of 1}. */
  static String needed(WaitingView view) {
    return view.requires().stream()
        .map(n -> n.role() + " " + n.approvers().size() + " of " + n.count())
        .collect(Collectors.joining(", "));
  }

  /** A length of time in its largest unit: {@code 45s}, {@code 3m}, {@code 2h}, {@code 5d}. */
  static String length(Duration time) {
    if (time.toMinutes() < 1) {
      return Math.max(0, time.toSeconds()) + "s";
    }
    if (time.toHours() < 1) {
      return time.toMinutes() + "m";
    }
    return time.toDays() < 1 ? time.toHours() + "h" : time.toDays() + "d";
  }
}
